"""A BrowserGym of a few lines, for an interpreter whose PYTHONPATH names this folder.

Its one environment does what the action says, so that every way in which a real one can end is a
line of a test. The bridge's child runs on it unchanged.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from types import ModuleType
from typing import Any


class Env:
    """Obeys; see `step`."""

    def __init__(self, task: str, **options: Any) -> None:
        self._task = task
        self._options = options

    def reset(self, seed: int | None = None) -> tuple[dict[str, Any], dict[str, Any]]:
        if self._task.endswith("unreachable"):
            raise ConnectionError("net::ERR_CONNECTION_REFUSED at the start page")
        return self._see(f"seed {seed}, options {sorted(self._options)}"), {"task_info": {}}

    def step(self, action: str) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        word = action.partition("(")[0]
        page, error = "an empty page", ""
        if word == "hang":
            time.sleep(3600)
        elif word == "exit":
            sys.stderr.write("the gym burned down\n")
            sys.stderr.flush()
            os._exit(3)
        elif word == "break_check":
            raise ValueError("the task's check met a list")
        elif word == "chatter":
            print('{"ok": true} and other noise')
        elif word == "spawn":
            # As Chromium, in a group of its own.
            child = subprocess.Popen(["sleep", "3600"], start_new_session=True)
            page = f"spawned {child.pid}"
        elif word == "long":
            page = "x" * 500_000
        elif word not in ("win", "lose", "look"):
            error = f"NameError: name {word!r} is not defined"
        raw = {"win": 1.0, "lose": -1.0}.get(word, 0.0)
        info = {"task_info": {"RAW_REWARD_GLOBAL": raw}}
        return self._see(page, error), float(raw > 0), raw != 0, word == "look", info

    def close(self) -> None:
        """Nothing is open."""

    def _see(self, page: str, error: str = "") -> dict[str, Any]:
        return {
            "goal_object": [{"type": "text", "text": "Do as told."}, {"type": "image_url"}],
            "url": "http://fake/",
            "open_pages_titles": ["Fake"],
            "active_page_index": [0],
            "axtree_object": page,
            "last_action_error": error,
        }


def flatten(tree: str, *, ignored_roles: list[str]) -> str:
    """The tree, and what the bridge asked to leave out."""
    return f"{tree}\nwithout {' '.join(ignored_roles)}"


class ActionSet:
    """Takes the options that the real one takes."""

    def __init__(self, *, subsets: list[str], multiaction: bool) -> None:
        self.subsets = subsets

    def to_python_code(self, action: str) -> str:
        return action


class BrowserType:
    """Launches nothing."""

    executable_path = "/nonexistent"

    def launch(self, **options: Any) -> None:
        raise AssertionError("the fake starts no browser")


def _install(name: str, **contents: Any) -> None:
    module = ModuleType(name)
    module.__path__ = []
    vars(module).update(contents)
    sys.modules[name] = module


_install(
    "gymnasium",
    make=Env,
    registry={"browsergym/fake.obey": None, "browsergym/fake.unreachable": None},
)
_install("browsergym")
_install("browsergym.core")
_install("browsergym.core.action")
_install("browsergym.core.action.highlevel", HighLevelActionSet=ActionSet)
_install("browsergym.utils")
_install("browsergym.utils.obs", flatten_axtree_to_str=flatten)
_install("playwright")
_install("playwright.sync_api", BrowserType=BrowserType)
