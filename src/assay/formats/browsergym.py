"""Results of BrowserGym and AgentLab.

One folder for each episode, with `summary_info.json` in it; the folder of those is a study, and a
run. The summary says neither the task nor the answer. The task, the agent and the seed come from
the folder's name; the actions, the agent's thoughts and with them the answer come from
`experiment.log`, where the default log level writes them. The reference is nowhere. Pickles are not
opened unless `unpickle=True` (see `pickles`): then the pages, the prompts, the chat and the model
are there too.

Folders whose name begins with `_` are attempts that AgentLab repeated and hid: they become
attempts that a later one replaced, and stay visible.
"""

from __future__ import annotations

import ast
import csv
import io
import re
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from assay.errors import BadRecord, UsageError
from assay.formats import foreign
from assay.formats.foreign import ForeignRun, ReadProblems, ReportedScore, StoreArtifact
from assay.formats.lines import finite_number, load_record
from assay.formats.pickles import attribute, plain, read_pickle
from assay.schema.episode import (
    NO_FAULT_OF_THE_AGENT,
    Episode,
    Failure,
    Step,
    StopReason,
    Trajectory,
)
from assay.schema.evidence import PageEvidence
from assay.schema.message import Message
from assay.schema.score import Abstained, Score, Scored
from assay.schema.task import Task
from assay.schema.usage import Usage

SCORER = "browsergym_cum_reward@1"
"""The sum of what the environment paid, as `summary_info.json` has it."""
FILE_BYTES = 64 * 2**20
"""No file is read further than this."""
ANSWER_CHARS = 1_000_000
EPISODE_FILES = ("summary_info.json", "exp_args.pkl")
"""A folder with one of these is an episode."""
PAGES = ("axtree_txt", "pruned_html", "dom_txt", "html")
"""Where an agent's preprocessing leaves the text that it saw of a page, most usual first."""
MODEL_NAMES = (("chat_model_args", "model_name"), ("model_args", "model_name"), ("model_name",))
"""Where the arguments of an agent name its model."""
ELAPSED = ("stats.cum_step_elapsed", "stats.cum_agent_elapsed")
"""The seconds of the environment, and those of the agent."""

_FOLDER = re.compile(
    r"(?P<hidden>_*)(?P<date>\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d)_"
    r"(?P<agent>.+?)_on_(?P<task>.+?)_(?P<seed>\d+|None)(?:_(?P<tag>\d{1,3}))?",
    re.DOTALL,
)
_HEAD = re.compile(
    r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} - (?:\d+ - )?(?P<logger>[\w.]+)(?::\d+)? - "
    r"(?P<level>[A-Z]+) - ",
    re.MULTILINE,
)


class LoggedAction(NamedTuple):
    """One logged action of the agent; the text `None` means that the agent gave up."""

    text: str
    think: str


class _Folder(NamedTuple):
    path: Path
    hidden: bool
    date: str
    agent: str
    task: str
    seed: int | None

    @property
    def started_at(self) -> str:
        """The start time of the episode in the unknown time zone of its machine."""
        try:
            return datetime.strptime(self.date, "%Y-%m-%d_%H-%M-%S").isoformat()  # noqa: DTZ007
        except ValueError:
            return ""


class _Content(NamedTuple):
    summary: dict[str, Any] | None
    actions: tuple[LoggedAction, ...]
    problem: str
    """Why there is no summary."""
    pickle_problem: str = ""
    """Why there is less than the pickles hold."""
    steps: tuple[Any, ...] = ()
    """The pickled ones, as `pickles` reads them."""


def logs(path: Path) -> list[Path]:
    """The study folders under the path; a folder of one episode is also a study."""
    if not path.is_dir():
        return []
    if any((path / name).is_file() for name in EPISODE_FILES):
        return [path]
    return sorted({file.parent.parent for name in EPISODE_FILES for file in path.rglob(name)})


def read(path: Path, *, agent: str | None = None, unpickle: bool = False) -> ForeignRun:
    """Read all episodes of the study at `path` as a run.

    A run has one agent: where there are several, `agent` says which. `unpickle` also reads the
    pickled steps, without running them: exact actions, rewards of each step, pages, prompts, the
    goal.
    """
    folders = _find(path, agent)
    numbered = _numbered(folders)
    names = sorted({folder.task for folder in folders})
    model = _model(folders) if unpickle else None
    settings = {"name": folders[0].agent, "options": {} if model is None else {"model": model}}
    manifest = foreign.manifest_of(
        "+".join(sorted({_domain(name) for name in names})),
        folders[0].agent,
        {**foreign.origin(path, "browsergym", _reported(path)), "unpickle": unpickle},
        {"agent": settings},
        versions=_package_versions(folders),
        rewards=(SCORER,),
        created_at=min((folder.started_at for folder in folders if folder.date), default=""),
    )

    def episodes(store: StoreArtifact, problems: ReadProblems) -> Iterator[Episode]:
        for folder, repeat in numbered:
            content = _read(folder, unpickle=unpickle)
            if content.pickle_problem:
                problems.add(f"{folder.path.name}: {content.pickle_problem}")
            yield _episode(store, folder, repeat, content)

    files = (file for folder in folders for file in sorted(folder.path.iterdir()))
    regular = tuple(file for file in files if file.is_file() and not file.is_symlink())
    return ForeignRun(manifest, regular, episodes)


def _model(folders: Sequence[_Folder]) -> str | None:
    for folder in folders:
        try:
            arguments = read_pickle(folder.path / "exp_args.pkl")
        except BadRecord:
            continue
        for names in MODEL_NAMES:
            model = attribute(arguments, "agent_args", *names)
            if isinstance(model, str) and model:
                return model
    return None


def _reported(study: Path) -> Iterator[ReportedScore]:
    """The mean reward in AgentLab's last result table."""
    for table in sorted(study.glob("summary_df*.csv"), reverse=True)[:1]:
        rows = list(csv.DictReader(io.StringIO(_text(table))))
        if len(rows) == 1:
            with suppress(KeyError, ValueError, TypeError):
                yield ReportedScore("avg_reward", float(rows[0]["avg_reward"]))


def _find(root: Path, agent: str | None) -> list[_Folder]:
    """The folders of one agent's episodes, sorted by date."""
    if not root.is_dir():
        raise BadRecord(f"there is no folder {str(root)!r}")
    paths = {path.parent for name in EPISODE_FILES for path in root.rglob(name)}
    folders = sorted((_parse(path) for path in paths), key=lambda f: (f.date, f.path.name))
    agents = sorted({folder.agent for folder in folders})
    if not folders:
        raise BadRecord(
            f"{str(root)!r} has no BrowserGym results: no summary_info.json, no exp_args.pkl"
        )
    if agent is None and len(agents) > 1:
        raise UsageError(
            f"{str(root)!r} has results of {len(agents)} agents; name one agent: {agents[:10]}"
        )
    chosen = [folder for folder in folders if agent in (None, folder.agent)]
    if not chosen:
        raise UsageError(f"no results of agent {agent!r} in {str(root)!r}; agents: {agents[:10]}")
    return chosen


def _parse(path: Path) -> _Folder:
    match = _FOLDER.fullmatch(path.name)
    if match is None:
        return _Folder(path, path.name.startswith("_"), "", "browsergym", path.name, None)
    seed = None if match["seed"] == "None" else int(match["seed"][:18])
    return _Folder(path, bool(match["hidden"]), match["date"], match["agent"], match["task"], seed)


def _domain(task: str) -> str:
    return task.split(".")[0]


def _numbered(folders: Sequence[_Folder]) -> list[tuple[_Folder, int]]:
    """Each folder with the number of its repeat; visible folders are counted.

    A hidden folder belongs to the next visible one with the same seed, which replaced it.
    """
    repeats: dict[Path, int] = {}
    counted: Counter[str] = Counter()
    for folder in folders:
        if not folder.hidden:
            repeats[folder.path] = foreign.next_repeat(folder.task, counted)
    successors: dict[tuple[str, int | None], int] = {}
    for folder in reversed(folders):
        key = (folder.task, folder.seed)
        if folder.hidden:
            repeats[folder.path] = successors.get(key, counted[folder.task])
        else:
            successors[key] = repeats[folder.path]
    return [(folder, repeats[folder.path]) for folder in folders]


def _package_versions(folders: Sequence[_Folder]) -> dict[str, str]:
    texts = (_text(folder.path / "package_versions.txt") for folder in folders)
    lines = next(filter(None, texts), "").splitlines()
    pairs = (line.strip().partition("==") for line in lines)
    return {name: version for name, equals, version in pairs if equals}


def _episode(store: StoreArtifact, folder: _Folder, repeat: int, content: _Content) -> Episode:
    summary = content.summary or {}
    goal = _text_in(next(iter(content.steps), None), "obs", "goal")
    task = Task(id=folder.task, goal=goal, metadata={"domain": _domain(folder.task)})
    stop_reason, broken = _ending(folder, content)
    # The messages between user and agent, as BrowserGym keeps them.
    last = plain(attribute(next(reversed(content.steps), None), "obs", "chat_messages"))
    chat = [each for each in last or () if isinstance(each, dict)]
    log = _text(folder.path / "experiment.log")
    return Episode(
        task=task,
        repeat=repeat,
        trajectory=Trajectory(
            messages=_conversation(content.steps),
            steps=_steps(store, folder, content),
            stop_reason=stop_reason,
        ),
        final_response=_answer(content),
        scores=(_score(summary, stop_reason),),
        n_steps=foreign.count_of(summary.get("n_steps")),
        cum_reward=finite_number(summary.get("cum_reward")) or 0.0,
        cum_raw_reward=finite_number(summary.get("cum_raw_reward")) or 0.0,
        usage=_usage(summary),
        started_at=folder.started_at,
        elapsed_s=sum(finite_number(summary.get(key)) or 0.0 for key in ELAPSED),
        failure=broken,
        metadata={
            "imported_from": folder.path.name,
            "hidden": folder.hidden,
            "seed": folder.seed,
            "summary_info": content.summary,
            "unpickle_problem": content.pickle_problem or None,
            "chat": chat if content.steps else None,
            "experiment_log": store(log) if log else None,
        },
    )


def _read(folder: _Folder, *, unpickle: bool) -> _Content:
    summary, problem = None, ""
    data = _content(folder.path / "summary_info.json")
    try:
        summary = load_record(data)
    except BadRecord as error:
        missing = "there is no summary_info.json: the episode never ended, or lost its summary"
        problem = f"summary_info.json: {error}" if data else missing
    actions = logged_actions(_text(folder.path / "experiment.log"))
    if not unpickle:
        return _Content(summary, actions, problem)
    try:
        steps = tuple(read_pickle(file) for _, file in _by_step(folder.path, "step_*.pkl.gz"))
    except BadRecord as error:
        return _Content(summary, actions, problem, pickle_problem=str(error))
    pickled = (
        LoggedAction(_text_in(step, "action"), _text_in(step, "agent_info", "think"))
        for step in steps
    )
    return _Content(summary, tuple(pickled) or actions, problem, steps=steps)


def _prompt(messages: Any) -> tuple[Message, ...]:
    """The prompt messages of the agent, from a list or from AgentLab's `Discussion`."""
    listed = plain(messages)
    if isinstance(listed, dict):
        listed = listed.get("messages")
    if not isinstance(listed, list):
        return ()
    return tuple(
        Message(role=str(each["role"]), content=_prompt_text(each.get("content")))
        for each in listed
        if isinstance(each, dict) and each.get("role")
    )


def _prompt_text(content: Any) -> str:
    parts = content if isinstance(content, list) else [content]
    texts = (each.get("text") if isinstance(each, dict) else each for each in parts)
    return "\n".join(text for text in texts if isinstance(text, str))


def _conversation(steps: Sequence[Any]) -> tuple[Message, ...]:
    """The conversation of all steps; a continued prompt adds only its new messages."""
    messages: list[Message] = []
    before: tuple[Message, ...] = ()
    for step in steps:
        prompt = _prompt(attribute(step, "agent_info", "chat_messages"))
        messages += prompt[len(before) :] if prompt[: len(before)] == before else prompt
        before = prompt or before
    return tuple(messages)


def _text_in(step: Any, *names: str) -> str:
    text = attribute(step, *names)
    return text if isinstance(text, str) else ""


def _raw_reward(step: Any) -> float | None:
    """The raw reward of a step, from the place where BrowserGym 0.14 stores it."""
    inner = finite_number(attribute(step, "task_info", "RAW_REWARD_GLOBAL"))
    return finite_number(attribute(step, "raw_reward")) if inner is None else inner


def _ending(folder: _Folder, content: _Content) -> tuple[StopReason, Failure | None]:
    """The stop reason of an episode, and its failure if there is one.

    Without the actions, only tasks of AssistantBench are known to end with an answer and nothing
    else; of the others it is only known that the environment ended them.
    """
    summary = content.summary or {}
    if summary.get("terminated"):
        spoke = _answer(content) is not None or folder.task.startswith("assistantbench")
        return "answered" if spoke else "finished", None
    if summary.get("truncated"):
        gave_up = content.actions and content.actions[-1].text == "None"
        return "gave_up" if gave_up else "step_limit", None
    broken = foreign.failure(
        summary.get("err_msg") or content.problem,
        summary.get("stack_trace"),
        # An agent that raises leaves `false`; a reset or a grader that does leaves nothing.
        otherwise="agent_error" if summary.get("terminated") is False else "env_error",
    )
    return "env_error" if summary.get("terminated") is not False else broken.kind, broken


def _answer(content: _Content) -> str | None:
    for action in reversed(content.actions):
        if action.text:
            return answer_of(action.text)
    return None


def _score(summary: dict[str, Any], stop_reason: StopReason) -> Score:
    reward = finite_number(summary.get("cum_reward"))
    if stop_reason == "model_error":
        return Abstained("model_error", "the model could not be asked", scorer=SCORER)
    if stop_reason in NO_FAULT_OF_THE_AGENT or reward is None:
        return Abstained("no_reward", "the environment recorded no verdict", scorer=SCORER)
    return Scored(reward, "cum_reward of summary_info.json", scorer=SCORER)


def _usage(summary: dict[str, Any]) -> Usage:
    """The tokens and the cost from AgentLab; a cost of 0 is taken as unknown."""
    return foreign.usage_of(
        summary.get("stats.cum_input_tokens"),
        summary.get("stats.cum_output_tokens"),
        cost=finite_number(summary.get("stats.cum_cost")) or None,
    )


def _steps(store: StoreArtifact, folder: _Folder, content: _Content) -> tuple[Step, ...]:
    """The reset and one step for each action, each with the screenshot after it."""
    pictures = dict(_by_step(folder.path, "screenshot_step_*"))
    actions = [action for action in content.actions if action.text not in ("", "None")]
    last = max([len(actions), *pictures, 0 if (actions or pictures) else -1])
    steps: list[Step] = []
    for index in range(last + 1):
        action = actions[index - 1] if 0 < index <= len(actions) else LoggedAction("", "")
        pickled = content.steps[index] if index < len(content.steps) else None
        picture, url = pictures.get(index), _text_in(pickled, "obs", "url")
        pages = (_text_in(pickled, "obs", name) for name in PAGES)
        page = next(filter(None, pages), "")
        steps.append(
            Step(
                index=index,
                action=action.text,
                think=action.think,
                reward=finite_number(attribute(pickled, "reward")),
                raw_reward=_raw_reward(pickled),
                observation=store(page) if page else "",
                observation_chars=len(page),
                evidence=PageEvidence(url=url) if url else None,
                # What the environment said of the action before this step.
                error=_text_in(pickled, "obs", "last_action_error"),
                screenshot=store(_content(picture)) if picture else "",
            )
        )
    return tuple(steps)


def _by_step(folder: Path, pattern: str) -> list[tuple[int, Path]]:
    files: list[tuple[int, Path]] = []
    for path in folder.glob(pattern):
        number = re.fullmatch(r"(?:screenshot_)?step_(\d{1,4})\.(?:png|jpg|pkl\.gz)", path.name)
        if number and not path.is_symlink():
            files.append((int(number[1]), path))
    return sorted(files)


def _content(path: Path) -> bytes:
    if path.is_symlink() or not path.is_file():
        return b""
    with path.open("rb") as stream:
        return stream.read(FILE_BYTES)


def _text(path: Path) -> str:
    return _content(path).decode("utf-8", "replace")


def logged_actions(log: str) -> tuple[LoggedAction, ...]:
    """The actions in an episode's log, in their order.

    The loop logs each one as the agent's thought, an empty line, `action:`, and the action. A
    thought that quotes this form looks the same; the last one in a message counts.
    """
    heads = list(_HEAD.finditer(log))
    ends = [head.start() for head in heads[1:]] + [len(log)]
    actions: list[LoggedAction] = []
    for head, end in zip(heads, ends, strict=False):
        if head["level"] != "INFO" or not head["logger"].endswith("experiments.loop"):
            continue
        think, marker, action = ("\n" + log[head.end() : end]).rpartition("\naction:\n")
        if marker:
            actions.append(LoggedAction(action.strip("\n"), think.strip("\n")))
    return tuple(actions)


def answer_of(action: str) -> str | None:
    """The text of the last `send_msg_to_user("…")` in an action, or `None`."""
    if "send_msg_to_user" not in action or len(action) > ANSWER_CHARS:
        return None
    try:
        with warnings.catch_warnings():
            # Of an invalid escape in the agent's text.
            warnings.simplefilter("ignore")
            statements = ast.parse(action.strip()).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    answers = (_message(statement) for statement in reversed(statements))
    return next((answer for answer in answers if answer is not None), None)


def _message(statement: ast.stmt) -> str | None:
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        return None
    texts = [*call.args, *(keyword.value for keyword in call.keywords)]
    if call.func.id != "send_msg_to_user" or len(texts) != 1:
        return None
    text = texts[0].value if isinstance(texts[0], ast.Constant) else None
    return None if text is None else str(text)
