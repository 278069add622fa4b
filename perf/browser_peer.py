"""The other half of perf/browser.py: the same walk in browsergym-core, under its interpreter.

Reads one word a line, answers with one line of JSON: `open` N makes N environments, `walk` plays an
episode in each, `close` ends them. Needs browsergym-core and the standard library.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import sys
import time
from pathlib import Path
from typing import Any

WALK = json.loads(os.environ["WALK"])
OPTIONS = json.loads(os.environ["OPTIONS"])
START_URL = os.environ["START_URL"]
CHROMIUM = os.environ["CHROMIUM"]
FLAGS = json.loads(os.environ["FLAGS"])
IGNORED_ROLES = ["LineBreak", "InlineTextBox"]


def use_chromium() -> None:
    """Both browsers of BrowserGym are the one that ours uses."""
    kind: Any = importlib.import_module("playwright.sync_api").BrowserType
    launch = kind.launch

    def with_ours(self: Any, **options: Any) -> Any:
        if not Path(self.executable_path).is_file():
            options.setdefault("executable_path", CHROMIUM)
        return launch(self, **{**options, "args": [*(options.get("args") or ()), *FLAGS]})

    kind.launch = with_ours


def make() -> Any:
    """One environment on the start page."""
    gymnasium = importlib.import_module("gymnasium")
    actions = importlib.import_module("browsergym.core.action.highlevel")
    mapping = actions.HighLevelActionSet(["bid", "coord", "nav"], multiaction=False)
    return gymnasium.make(
        "browsergym/openended",
        task_kwargs={"start_url": START_URL, "goal": "Look around."},
        headless=True,
        action_mapping=mapping.to_python_code,
        **OPTIONS,
    )


def read(observation: dict[str, Any]) -> str:
    """What an agent reads; making it is part of a step."""
    flatten = importlib.import_module("browsergym.utils.obs").flatten_axtree_to_str
    return str(flatten(observation["axtree_object"], ignored_roles=IGNORED_ROLES))


def action(step: list[str], text: str) -> str:
    """BrowserGym's words for one step of the walk."""
    verb, name, argument = step
    if verb in ("click", "fill"):
        found = re.search(rf"\[(\w+)\] \w+ '{re.escape(name)}'", text)
        if found is None:
            sys.exit(f"nothing is called {name!r} in:\n{text[:2_000]}")
        more = f", {argument!r}" if argument else ""
        return f"{verb}('{found[1]}'{more})"
    return {"goto": f"goto({START_URL!r})", "scroll": "scroll(0, 600)"}[verb]


def walk(env: Any) -> dict[str, Any]:
    """The times of one episode."""
    started = time.perf_counter()
    observation, _ = env.reset()
    text = read(observation)
    reset_s = time.perf_counter() - started
    steps, failed = [], 0
    for step in WALK:
        told = action(step, text)
        started = time.perf_counter()
        observation = env.step(told)[0]
        text = read(observation)
        # On a busy machine its limit of half a second for a click runs out now and then.
        if observation["last_action_error"]:
            failed += 1
        else:
            steps.append(time.perf_counter() - started)
    return {"reset_s": reset_s, "steps_s": steps, "failed": failed}


def main() -> None:
    importlib.import_module("browsergym.core")
    use_chromium()
    wire = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    envs: list[Any] = []
    for line in sys.stdin:
        word, _, number = line.strip().partition(" ")
        answer: list[dict[str, Any]] = []
        if word == "open":
            envs = [make() for _ in range(int(number))]
        elif word == "walk":
            answer = [walk(env) for env in envs]
        else:
            for env in envs:
                env.close()
        wire.write(json.dumps(answer) + "\n")
        wire.flush()


if __name__ == "__main__":
    main()
