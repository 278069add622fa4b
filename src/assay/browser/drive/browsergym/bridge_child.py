"""The script that runs BrowserGym, and answers requests in JSON frames.

It needs only the standard library, browsergym and Assay's `isolation/frames.py`.
"""

from __future__ import annotations

import importlib
import os
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.isolation import frames
else:
    from assay_isolation import frames

IGNORED_ROLES = ["LineBreak", "InlineTextBox"]
"""Newer Chromium lists each line of a text again as an InlineTextBox."""
MESSAGE_CHARS = 4_000


class RequestFailed(Exception):
    """A request to the BrowserGym process failed; `kind` names the failure."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class BrowserGymSession:
    """The one BrowserGym environment of this process."""

    def __init__(self) -> None:
        self._env: Any = None
        self._goal = ""
        self._chars = 0

    def reset(self, request: dict[str, Any]) -> dict[str, Any]:
        """Close the old environment, and make a new one for the task."""
        self.close()
        make = _registered(request["task"], request["imports"])
        _use_chromium(request["chromium"], request["flags"])
        actions = importlib.import_module("browsergym.core.action.highlevel")
        mapping = actions.HighLevelActionSet(subsets=request["actions"], multiaction=False)
        try:
            name, options = f"browsergym/{request['task']}", request["options"]
            self._env = make(name, action_mapping=mapping.to_python_code, **options)
            observation, info = self._env.reset(seed=request["seed"])
        except Exception as error:  # whatever a task of another project raises: no episode began
            raise RequestFailed("setup", f"{type(error).__name__}: {error}") from error
        self._chars = request["chars"]
        parts = observation.get("goal_object") or ()
        texts = [str(part.get("text", "")) for part in parts if part.get("type") == "text"]
        self._goal = "\n".join(texts) or str(observation.get("goal", ""))
        return self._answer(observation, info, reward=0.0, terminated=False, truncated=False)

    def step(self, request: dict[str, Any]) -> dict[str, Any]:
        if self._env is None:
            raise RequestFailed("step", "there is no episode; reset first")
        try:
            result = self._env.step(request["action"])
        except Exception as error:  # of the task's own check: those of the action are observed
            raise RequestFailed("step", f"{type(error).__name__}: {error}") from error
        observation, reward, terminated, truncated, info = result
        ends = {"terminated": bool(terminated), "truncated": bool(truncated)}
        return self._answer(observation, info, reward=float(reward), **ends)

    def close(self) -> None:
        env, self._env = self._env, None
        if env is not None:
            env.close()

    def _answer(
        self, observation: dict[str, Any], info: dict[str, Any], **outcome: Any
    ) -> dict[str, Any]:
        flatten = importlib.import_module("browsergym.utils.obs").flatten_axtree_to_str
        page = str(flatten(observation["axtree_object"], ignored_roles=IGNORED_ROLES))
        titles = list(observation.get("open_pages_titles") or [""])
        active = int(next(iter(observation.get("active_page_index", [0])), 0))
        return {
            "ok": True,
            "goal": self._goal,
            "url": str(observation.get("url", "")),
            "title": str(titles[active] if active < len(titles) else ""),
            "page": page[: self._chars],
            "page_chars": len(page),
            "last_action_error": str(observation.get("last_action_error") or "")[:MESSAGE_CHARS],
            "raw_reward": _raw_reward(info),
            **outcome,
        }


def _registered(task: str, imports: list[str]) -> Any:
    """Import the modules that register the task, and return `gymnasium.make`."""
    try:
        gymnasium = importlib.import_module("gymnasium")
        importlib.import_module("browsergym.core")
        for name in imports:
            importlib.import_module(name)
        family = task.partition(".")[0]
        if f"browsergym/{task}" not in gymnasium.registry and family.isidentifier():
            _import_family(f"browsergym.{family}")
    except ImportError as error:
        raise RequestFailed("missing", f"{sys.executable}: {error}") from error
    if f"browsergym/{task}" not in gymnasium.registry:
        count = sum(str(name).startswith("browsergym/") for name in gymnasium.registry)
        problem = f"none of the {count} registered tasks is called {task!r}"
        raise RequestFailed("unknown_task", problem)
    return gymnasium.make


def _import_family(name: str) -> None:
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        # A family that is not installed has no tasks; one that lacks something says what.
        if error.name != name:
            raise


def _raw_reward(info: dict[str, Any]) -> float | None:
    """The task's raw reward from `task_info`, which BrowserGym's own loop does not find."""
    raw = (info.get("task_info") or {}).get("RAW_REWARD_GLOBAL")
    return float(raw) if isinstance(raw, (int, float)) else None


def _use_chromium(path: str, flags: list[str]) -> None:
    """Make BrowserGym start the Chromium at `path` if Playwright has no browser of its own."""
    kind: Any = importlib.import_module("playwright.sync_api").BrowserType
    if getattr(kind.launch, "from_assay", False):
        return
    launch = kind.launch

    def with_ours(self: Any, **options: Any) -> Any:
        if path and not Path(self.executable_path).is_file():
            options.setdefault("executable_path", path)
        return launch(self, **{**options, "args": [*(options.get("args") or ()), *flags]})

    with_ours.from_assay = True  # type: ignore[attr-defined]  # a mark against patching twice
    kind.launch = with_ours


def _answer(gym: BrowserGymSession, request: dict[str, Any]) -> dict[str, Any]:
    try:
        return gym.reset(request) if request["call"] == "reset" else gym.step(request)
    except RequestFailed as error:
        message, trace = str(error)[:MESSAGE_CHARS], traceback.format_exc()[-MESSAGE_CHARS:]
        return {"ok": False, "kind": error.kind, "message": message, "trace": trace}


def main() -> None:
    """Answer requests until the pipe closes."""
    read_fd, write_fd = frames.inherited_pipes(sys.argv)
    # What libraries print is kept with the error output, for messages.
    os.dup2(2, 1)
    gym = BrowserGymSession()
    try:
        while True:
            frames.send(write_fd, _answer(gym, frames.receive(read_fd)))
    except frames.PipeClosed:
        sys.exit(1)


if __name__ == "__main__":
    main()
