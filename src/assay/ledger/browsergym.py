"""Results of BrowserGym and AgentLab, taken into the ledger.

One folder for each episode, with `summary_info.json` in it. That file says neither the task nor
the answer. The task, the agent and the seed come from the folder's name; the actions, the agent's
thoughts and with them the answer come from `experiment.log`, where the default log level writes
them. The gold answer is nowhere. Pickles are not opened unless `unpickle=True` (see `pickles`).

Folders whose name begins with `_` are attempts that AgentLab repeated and hid: they become
attempts that a later one replaced, and stay visible.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from math import isfinite
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from assay.errors import BadRecord, UsageError
from assay.ledger.browsergym_log import LoggedAction, answer_of, logged_actions
from assay.ledger.layout import safe_name
from assay.ledger.lines import load_record
from assay.ledger.pickles import attribute, read_pickle
from assay.ledger.provenance import installed_versions, new_run_id, task_set_hash, utc_now
from assay.ledger.run import Run
from assay.ledger.writer import RunWriter
from assay.resources.files import sync
from assay.schema.episode import Episode, Failure, Step, StopReason, Trajectory
from assay.schema.manifest import RunManifest
from assay.schema.score import Abstained, Score, Scored
from assay.schema.task import Task

SCORER = "browsergym_cum_reward@1"
"""The sum of what the environment paid, as `summary_info.json` has it."""
FILE_BYTES = 64 * 2**20
"""No file is read further than this."""

_FOLDER = re.compile(
    r"(?P<hidden>_*)(?P<date>\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d)_"
    r"(?P<agent>.+?)_on_(?P<task>.+?)_(?P<seed>\d+|None)(?:_(?P<tag>\d{1,3}))?",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class _Folder:
    """What the name of an episode's folder says."""

    path: Path
    hidden: bool
    date: str
    agent: str
    task: str
    seed: int | None

    @property
    def started_at(self) -> str:
        """As the clock of that machine showed it; its time zone is not recorded."""
        try:
            return datetime.strptime(self.date, "%Y-%m-%d_%H-%M-%S").isoformat()  # noqa: DTZ007
        except ValueError:
            return ""


@dataclass(frozen=True, slots=True)
class _Found:
    """Everything that one episode's folder holds."""

    summary: dict[str, Any] | None
    actions: tuple[LoggedAction, ...]
    problem: str
    """Why there is no summary."""
    pickle_problem: str = ""
    """Why there is less than the pickles could have given."""
    rewards: tuple[tuple[float | None, float | None], ...] = ()
    """Of each step, reward and raw reward."""
    goal: str = ""


def import_browsergym(
    path: str | Path,
    runs_dir: str | Path,
    *,
    agent: str | None = None,
    unpickle: bool = False,
    run_id: str | None = None,
    now: datetime | None = None,
) -> Run:
    """A new run with every episode found under `path`, there whole or not at all.

    A run has one agent: where there are several, `agent` says which. `unpickle` also reads the
    pickled steps, without running them: exact actions, rewards of each step, the goal.
    """
    folders = _find(Path(path), agent)
    tasks = [Task(id=name, metadata={"domain": name.split(".")[0]}) for name in _names(folders)]
    manifest = RunManifest(
        run_id=run_id or new_run_id(now),
        benchmark=_benchmark(folders),
        agent=folders[0].agent,
        config={"imported_from": Path(path).name, "format": "browsergym", "unpickle": unpickle},
        versions={**_their_versions(folders), **installed_versions()},
        rewards=(SCORER,),
        task_set=task_set_hash(tasks),
        n_tasks=len(tasks),
        repeats=max(repeat for _, repeat in _numbered(folders)) + 1,
        created_at=utc_now(now),
    )
    place = Path(runs_dir) / safe_name(manifest.run_id, "run id")
    if place.exists():
        raise BadRecord(f"{str(place)!r} exists already; take another id")
    place.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=runs_dir, prefix=".import-") as draft:
        with RunWriter.create(draft, manifest) as writer:
            pending = [
                writer.submit(_episode(writer, folder, repeat, unpickle=unpickle))
                for folder, repeat in _numbered(folders)
            ]
            for future in pending:
                future.result()
        writer.path.rename(place)
        sync(place.parent)
    return Run(place)


def _find(root: Path, agent: str | None) -> list[_Folder]:
    """The episodes' folders in the order of their dates, those of one agent."""
    if not root.is_dir():
        raise BadRecord(f"there is no folder {str(root)!r}")
    names = ("summary_info.json", "exp_args.pkl")
    paths = {path.parent for name in names for path in root.rglob(name)}
    found = sorted((_parse(path) for path in paths), key=lambda f: (f.date, f.path.name))
    agents = sorted({folder.agent for folder in found})
    if not found:
        raise BadRecord(
            f"{str(root)!r} holds no BrowserGym results: no summary_info.json, no exp_args.pkl"
        )
    if agent is None and len(agents) > 1:
        raise UsageError(
            f"{str(root)!r} holds results of {len(agents)} agents; name one: {agents[:10]}"
        )
    chosen = [folder for folder in found if agent in (None, folder.agent)]
    if not chosen:
        raise UsageError(f"no results of agent {agent!r} in {str(root)!r}; there are {agents[:10]}")
    return chosen


def _parse(path: Path) -> _Folder:
    match = _FOLDER.fullmatch(path.name)
    if match is None:
        return _Folder(path, path.name.startswith("_"), "", "browsergym", path.name, None)
    seed = None if match["seed"] == "None" else int(match["seed"][:18])
    return _Folder(path, bool(match["hidden"]), match["date"], match["agent"], match["task"], seed)


def _names(folders: Sequence[_Folder]) -> list[str]:
    return sorted({folder.task for folder in folders})


def _benchmark(folders: Sequence[_Folder]) -> str:
    return "+".join(sorted({folder.task.split(".")[0] for folder in folders}))[:200]


def _numbered(folders: Sequence[_Folder]) -> list[tuple[_Folder, int]]:
    """Each folder with its repeat: every visible folder of a task is one of its own.

    A hidden folder belongs to the next visible one with the same seed, which replaced it.
    """
    repeats: dict[Path, int] = {}
    counted: dict[str, int] = {}
    for folder in folders:
        if not folder.hidden:
            repeats[folder.path] = counted.get(folder.task, 0)
            counted[folder.task] = repeats[folder.path] + 1
    for position, folder in enumerate(folders):
        if folder.hidden:
            successor = next((f for f in folders[position:] if _replaces(f, folder)), None)
            repeats[folder.path] = (
                repeats[successor.path] if successor else counted.get(folder.task, 0)
            )
    return [(folder, repeats[folder.path]) for folder in folders]


def _replaces(later: _Folder, hidden: _Folder) -> bool:
    return not later.hidden and (later.task, later.seed) == (hidden.task, hidden.seed)


def _their_versions(folders: Sequence[_Folder]) -> dict[str, str]:
    """The packages that the first episode ran with."""
    for folder in folders:
        text = _text(folder.path / "package_versions.txt")
        if text:
            pairs = (line.strip().partition("==") for line in text.splitlines())
            return {name: version for name, found, version in pairs if found}
    return {}


def _episode(writer: RunWriter, folder: _Folder, repeat: int, *, unpickle: bool) -> Episode:
    found = _read(folder, unpickle=unpickle)
    summary = found.summary or {}
    task = Task(id=folder.task, goal=found.goal, metadata={"domain": folder.task.split(".")[0]})
    stop_reason = _ending(folder, found)
    log = _text(folder.path / "experiment.log")
    return Episode(
        attempt=writer.new_attempt(task, repeat),
        task=task,
        repeat=repeat,
        trajectory=Trajectory(steps=_steps(writer, folder, found), stop_reason=stop_reason),
        final_response=_answer(found),
        scores=(_score(summary, stop_reason),),
        n_steps=_count(summary.get("n_steps")),
        cum_reward=_number(summary.get("cum_reward")) or 0.0,
        cum_raw_reward=_number(summary.get("cum_raw_reward")) or 0.0,
        started_at=folder.started_at,
        elapsed_s=_elapsed(summary),
        failure=_failure(found, stop_reason),
        metadata={
            "imported_from": folder.path.name,
            "hidden": folder.hidden,
            "seed": folder.seed,
            "summary_info": found.summary,
            "unpickle_problem": found.pickle_problem or None,
            "experiment_log": writer.artifact(log) if log else None,
        },
    )


def _read(folder: _Folder, *, unpickle: bool) -> _Found:
    summary, problem = None, ""
    content = _content(folder.path / "summary_info.json")
    try:
        summary = load_record(content)
    except BadRecord as error:
        problem = f"summary_info.json: {error}"
    if not content:
        problem = "there is no summary_info.json: the episode never ended, or lost its summary"
    actions = logged_actions(_text(folder.path / "experiment.log"))
    if not unpickle:
        return _Found(summary, actions, problem)
    try:
        steps = [read_pickle(file) for _, file in _by_step(folder.path, "step_*.pkl.gz")]
    except BadRecord as error:
        return _Found(summary, actions, problem, pickle_problem=str(error))
    return _Found(
        summary,
        tuple(map(_pickled_action, steps)) if steps else actions,
        problem,
        rewards=tuple((_number(attribute(s, "reward")), _raw_reward(s)) for s in steps),
        goal=_goal(steps),
    )


def _pickled_action(step: Any) -> LoggedAction:
    action, think = attribute(step, "action"), attribute(step, "agent_info", "think")
    return LoggedAction(
        action if isinstance(action, str) else "", think if isinstance(think, str) else ""
    )


def _raw_reward(step: Any) -> float | None:
    """BrowserGym 0.14 looks for it at the wrong level, so that its own field is always empty."""
    inner = _number(attribute(step, "task_info", "RAW_REWARD_GLOBAL"))
    return _number(attribute(step, "raw_reward")) if inner is None else inner


def _goal(steps: Sequence[Any]) -> str:
    goal = attribute(steps[0], "obs", "goal") if steps else None
    return goal if isinstance(goal, str) else ""


def _ending(folder: _Folder, found: _Found) -> StopReason:
    """How the episode ended, as far as the summary tells.

    Without the actions, only tasks of AssistantBench are known to end with an answer and nothing
    else; of the others it is only known that the environment ended them.
    """
    summary = found.summary
    if summary is None:
        return "env_error"
    if summary.get("terminated"):
        spoke = _answer(found) is not None or folder.task.startswith("assistantbench")
        return "answered" if spoke else "finished"
    if summary.get("truncated"):
        return "gave_up" if found.actions and found.actions[-1].text == "None" else "step_limit"
    # An agent that raises leaves `false`; a reset or a grader that does leaves nothing.
    return "agent_error" if summary.get("terminated") is False else "env_error"


def _answer(found: _Found) -> str | None:
    for action in reversed(found.actions):
        if action.text:
            return answer_of(action.text)
    return None


def _score(summary: dict[str, Any], stop_reason: StopReason) -> Score:
    reward = _number(summary.get("cum_reward"))
    if stop_reason == "env_error" or reward is None:
        return Abstained("no_reward", "the environment recorded no verdict", scorer=SCORER)
    return Scored(reward, "cum_reward of summary_info.json", scorer=SCORER)


def _failure(found: _Found, stop_reason: StopReason) -> Failure | None:
    if stop_reason not in ("agent_error", "env_error"):
        return None
    summary = found.summary or {}
    return Failure(
        kind="agent_error" if stop_reason == "agent_error" else "env_error",
        message=str(summary.get("err_msg") or found.problem or "no cause was recorded"),
        traceback=str(summary.get("stack_trace") or ""),
    )


def _steps(writer: RunWriter, folder: _Folder, found: _Found) -> tuple[Step, ...]:
    """The reset and one step for each action, each with the picture that came after it."""
    pictures = dict(_by_step(folder.path, "screenshot_step_*"))
    taken = [action for action in found.actions if action.text not in ("", "None")]
    last = max([len(taken), *pictures, 0 if (taken or pictures) else -1])
    steps: list[Step] = []
    for index in range(last + 1):
        action = taken[index - 1] if 0 < index <= len(taken) else LoggedAction("", "")
        reward, raw_reward = found.rewards[index] if index < len(found.rewards) else (None, None)
        picture = pictures.get(index)
        steps.append(
            Step(
                index=index,
                action=action.text,
                think=action.think,
                reward=reward,
                raw_reward=raw_reward,
                screenshot=writer.artifact(_content(picture)) if picture else "",
            )
        )
    return tuple(steps)


def _by_step(folder: Path, pattern: str) -> list[tuple[int, Path]]:
    """The files of the steps, in their order; a number out of reason is not a step."""
    found: list[tuple[int, Path]] = []
    for path in folder.glob(pattern):
        number = re.fullmatch(r"(?:screenshot_)?step_(\d{1,4})\.(?:png|jpg|pkl\.gz)", path.name)
        if number and not path.is_symlink():
            found.append((int(number[1]), path))
    return sorted(found)


def _elapsed(summary: dict[str, Any]) -> float:
    parts = (summary.get("stats.cum_step_elapsed"), summary.get("stats.cum_agent_elapsed"))
    return sum(_number(part) or 0.0 for part in parts)


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if isfinite(number) else None


def _count(value: Any) -> int:
    number = _number(value)
    return int(number) if number is not None and 0 <= number < 1e9 else 0


def _content(path: Path) -> bytes:
    """The content of one of the episode's own files, its beginning if it is very large."""
    if path.is_symlink() or not path.is_file():
        return b""
    with path.open("rb") as stream:
        return stream.read(FILE_BYTES)


def _text(path: Path) -> str:
    return _content(path).decode("utf-8", "replace")
