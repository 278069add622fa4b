"""BrowserGym as an environment; BrowserGym runs in a separate process."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar, Final

from assay.browser.chromium.shared import find_chromium, launch_flags
from assay.browser.drive.miniwob.pages import find_pages
from assay.browser.outcome.classify import classify_error
from assay.errors import BadParameter, DeadResource, MissingExtra
from assay.isolation import frames
from assay.isolation.child import STANDALONE, ChildProcess
from assay.isolation.frames import BadFrame, PipeClosed
from assay.resources.own_process import OwnProcessEnvironment
from assay.resources.pool import PoolLimits
from assay.schema.evidence import WorldEvidence
from assay.schema.observation import Observation
from assay.schema.outcome import ToolOutcome
from assay.schema.task import Task

VARIABLE: Final = "ASSAY_BROWSERGYM_PYTHON"
INSTALL: Final = (
    "BrowserGym pins an old Playwright, so it lives in a virtual environment of its own: "
    "`python3.11 -m venv .venv-browsergym && .venv-browsergym/bin/pip install browsergym-core "
    "browsergym-miniwob` (or `make browsergym` in a clone), then name its interpreter in "
    f"{VARIABLE} or the option `python`"
)
BRIDGE: Final = Path(__file__).with_name("bridge_child.py")
ANSWER_BYTES: Final = 50_000_000
ACTIONS: Final = ("chat", "infeas", "bid", "coord", "nav", "tab")


class BrowserGym(OwnProcessEnvironment):
    """A BrowserGym task with BrowserGym's own observation, action syntax and reward.

    `Task.id` is BrowserGym's id; the seed is in the metadata, or after a slash:
    `miniwob.click-link/7`. A call that exceeds its limit, or is cancelled, ends the process.
    `imports` are modules that register further tasks; `options` go to `gymnasium.make`.
    """

    name: str = "browsergym"
    title = "BrowserGym"
    failures = (BadFrame, PipeClosed, OSError)
    limits: ClassVar[PoolLimits] = PoolLimits(cap=4, acquire_timeout_s=600.0)

    def __init__(
        self,
        *,
        python: str = "",
        imports: Sequence[str] = (),
        actions: Sequence[str] = ACTIONS,
        options: Mapping[str, Any] | None = None,
        environment: Mapping[str, str] | None = None,
        chars: int = 100_000,
        reset_s: float = 120.0,
        step_s: float = 60.0,
    ) -> None:
        self._child = ChildProcess(
            [find_python(python), "-u", str(BRIDGE)],
            environment=_variables({**os.environ, **_pages(), **(environment or {})}),
            longest_frame=ANSWER_BYTES,
        )
        super().__init__(self._child)
        self._imports = list(imports)
        self._actions = list(actions)
        self._options = {"headless": True, **(options or {})}
        self._chars = chars
        self._reset_s = reset_s
        self._step_s = step_s
        self._broken = ""
        self._steps = 0
        self._seed = 0

    async def check_run(self, tasks: Sequence[Task]) -> None:
        """Check each task's name and seed; BrowserGym itself checks that the task exists."""
        for task in tasks:
            _read_task(task)

    async def reset(self, task: Task) -> Observation:
        self._evidence, self._broken, self._steps = None, "", 0
        name, self._seed = _read_task(task)
        chromium = ""
        with suppress(MissingExtra):
            # For a BrowserGym without its own.
            chromium = find_chromium()
        question = {
            "call": "reset",
            "task": name,
            "seed": self._seed,
            "imports": self._imports,
            "actions": self._actions,
            "options": self._options,
            "chars": self._chars,
            "chromium": chromium,
            "flags": launch_flags(),
        }
        answer = await self._ask("reset", question, self._reset_s)
        if not answer["ok"]:
            raise _refusal(task.id, answer)
        return self._observe(task.id, answer, None)

    async def step(self, action: str) -> Observation:
        evidence = self.evidence()
        if evidence.done:
            return Observation(
                "the episode is over", evidence, reward=0.0, raw_reward=0.0, done=True
            )
        self._steps += 1
        question = {"call": "step", "action": action.encode("utf-8", "replace").decode()}
        answer = await self._ask("a step", question, self._step_s)
        if not answer["ok"]:
            self._broken = f"the task's own check failed: {answer['message']}"
            raise DeadResource(f"{evidence.task_id!r}: {self._broken}\n{answer.get('trace', '')}")
        problem = str(answer["last_action_error"])
        tool = action.partition("(")[0].strip()[:40] or "none"
        error = classify_error(problem) if problem else None
        outcome = ToolOutcome(tool, ok=not problem, error=error)
        return self._observe(evidence.task_id, answer, outcome)

    def _observe(
        self, task_id: str, answer: Mapping[str, Any], outcome: ToolOutcome | None
    ) -> Observation:
        before = self._evidence.progress if self._evidence else {"reward": 0.0, "raw_reward": 0.0}
        reward = float(answer["reward"])
        raw = reward if answer["raw_reward"] is None else float(answer["raw_reward"])
        done = bool(answer["terminated"] or answer["truncated"])
        total, raw_total = before["reward"] + reward, before["raw_reward"] + raw
        progress = {
            "reward": total,
            "raw_reward": raw_total,
            "terminated": answer["terminated"],
            "truncated": answer["truncated"],
            "seed": self._seed,
            "steps": self._steps,
        }
        won = total >= 1.0 if done else None
        self._evidence = WorldEvidence(self.name, task_id, raw_total, done, won, progress)
        cut = answer["page_chars"] > len(answer["page"])
        return Observation(
            _render(answer),
            self._evidence,
            reward=reward,
            raw_reward=raw,
            done=done,
            outcome=outcome,
            truncated=cut,
        )

    def evidence(self) -> WorldEvidence:
        if self._broken:
            raise DeadResource(self._broken)
        return super().evidence()

    def forget(self) -> None:
        self._evidence, self._broken = None, ""

    async def close(self) -> None:
        self._broken = ""
        await super().close()

    def _describe(self, error: Exception) -> str:
        tail = self._child.stderr_tail()
        output = f"its error output ends with: {tail}" if tail else "it left no message"
        return f": {error}; {output}"

    async def _ask(self, what: str, question: Mapping[str, Any], limit_s: float) -> dict[str, Any]:
        deadline = time.monotonic() + limit_s
        return await self._run(what, lambda: self._exchange(question, deadline), limit_s)

    def _exchange(self, question: Mapping[str, Any], deadline: float) -> dict[str, Any]:
        """Send a question and wait for the answer; the first question starts the process."""
        with self._child.lock:
            self._child.start()
            if self._cause_of_death:
                # Closed or cancelled while the process was being started.
                self._child.close()
                raise PipeClosed("the process was closed before it started")
            self._child.send(question, deadline)
            return frames.decode_object(self._child.receive_bytes(deadline))


def _variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Add the folder of the frames module to the end of PYTHONPATH."""
    places = filter(None, (environment.get("PYTHONPATH", ""), STANDALONE))
    return {**environment, "PYTHONPATH": os.pathsep.join(places)}


def find_python(path: str = "") -> str:
    """Find the interpreter that has BrowserGym: `path`, or else ASSAY_BROWSERGYM_PYTHON."""
    choice = path or os.environ.get(VARIABLE, "")
    if not choice:
        raise MissingExtra(INSTALL)
    program = shutil.which(choice)
    if program is None:
        raise MissingExtra(f"the interpreter {choice!r} was not found. {INSTALL}")
    return program


def _read_task(task: Task) -> tuple[str, int]:
    name, _, after = task.id.removeprefix("browsergym/").partition("/")
    seed = task.metadata.get("seed", int(after) if after.isdecimal() else 0)
    if not name or type(seed) is not int or (after and not after.isdecimal()):
        raise BadParameter(
            f"BrowserGym has no task {task.id!r} with the seed {seed!r}; a task is named "
            "'miniwob.click-link', or 'miniwob.click-link/7' with its seed"
        )
    return name, seed


def _refusal(task_id: str, answer: Mapping[str, Any]) -> Exception:
    message = str(answer["message"])
    if answer["kind"] == "unknown_task":
        return BadParameter(f"BrowserGym has no task {task_id!r}: {message}")
    if answer["kind"] == "missing":
        return MissingExtra(f"{message}. {INSTALL}")
    return DeadResource(f"{task_id!r} could not be set up: {message}")


def _render(answer: Mapping[str, Any]) -> str:
    lines = [f"goal: {answer['goal']}", f"url: {answer['url']}", f"title: {answer['title']}"]
    if answer["last_action_error"]:
        lines.append(f"error: {answer['last_action_error']}")
    lines += ["", answer["page"]]
    cut = answer["page_chars"] - len(answer["page"])
    if cut > 0:
        lines.append(f"… {cut:,} characters not shown")
    return "\n".join(lines)


def _pages() -> dict[str, str]:
    """The address of the MiniWoB pages for BrowserGym, unless MINIWOB_URL is set."""
    with suppress(MissingExtra):
        if "MINIWOB_URL" not in os.environ:
            return {"MINIWOB_URL": f"{(find_pages() / 'miniwob').as_uri()}/"}
    return {}
