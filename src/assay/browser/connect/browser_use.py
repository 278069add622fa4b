"""Record and score every step of a browser-use agent.

    from browser_use import Agent
    from assay.browser.connect.browser_use import run_watched

    history = await run_watched(Agent(task="…", llm=llm), steps="steps.jsonl")

In a run of Assay, `run_watched(agent, browser=browser)` reports the steps to the run instead.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Protocol

from assay.browser.connect.devtools import BrowserWatch, watch_browser
from assay.browser.steps import Contract

TOOLS: Final[Mapping[str, str]] = {
    "navigate": "goto",
    "go_back": "back",
    "input": "fill",
    "select_dropdown": "select",
    "send_keys": "press",
}
"""What the rules call an action of browser-use, where that is another name."""
ARGUMENTS: Final[Mapping[str, str]] = {"text": "value", "keys": "key"}
_GONE: Final = re.compile(r"Element index \d+ not available")


class StepReceiver(Protocol):
    """The protocol of an object to which a driver reports its steps."""

    def step(self, tool: str, **arguments: Any) -> Any:
        """Return a step that the caller begins and ends."""


class StepReporter:
    """Reports each step of a browser-use agent; `run_watched` connects it to the agent's hooks."""

    def __init__(self, reporting: StepReceiver) -> None:
        self._reporting = reporting
        self._step: Any = None

    async def on_new_step(self, _state: Any, output: Any, _number: int) -> None:
        """Begin a step when the model has chosen its actions, before they are carried out."""
        await self._end("the step did not end")
        # The action `done` is the answer, and no step.
        calls = [call for call in map(call_of, output.action) if call[0] != "done"]
        if not calls:
            return
        tool, arguments = calls[-1]
        if len(calls) > 1:
            arguments = {**arguments, "calls": [[name, values] for name, values in calls]}
        self._step = self._reporting.step(tool, **arguments)
        await self._step.begin()

    async def on_step_end(self, agent: Any) -> None:
        """End the step after its actions were carried out or have failed."""
        results = agent.state.last_result or ()
        errors = [error for error in map(error_of, results) if error]
        await self._end(errors[-1] if errors else None)

    async def _end(self, error: str | None) -> None:
        step, self._step = self._step, None
        if step is not None:
            await step.end(error)


def call_of(action: Any) -> tuple[str, dict[str, Any]]:
    """Return an action's name and arguments under the names that the rules use."""
    fields = action.model_dump(exclude_unset=True) if hasattr(action, "model_dump") else action
    name, values = next((item for item in fields.items() if item[1] is not None), ("none", {}))
    parameters = values if isinstance(values, Mapping) else {"value": values}
    arguments = {ARGUMENTS.get(key, key): value for key, value in parameters.items()}
    return TOOLS.get(name, name), arguments


def error_of(result: Any) -> str | None:
    """Return a result's error; browser-use reports a missing element as plain content."""
    if getattr(result, "error", None):
        return str(result.error)
    content = str(getattr(result, "extracted_content", None) or "")
    return content[:300] if _GONE.match(content) else None


async def run_watched(
    agent: Any,
    *,
    browser: StepReceiver | None = None,
    steps: str | Path | None = None,
    contract: Contract | None = None,
    **options: Any,
) -> Any:
    """Run a browser-use agent, report each step to `browser`, and return the agent's history.

    Without `browser`, the agent's own browser is watched, and `steps` is the file that is written.
    """
    watch: BrowserWatch | None = None
    if browser is None:
        session = agent.browser_session
        await session.start()
        browser = watch = watch_browser(session.cdp_url, contract=contract, steps=steps)
    reporter = StepReporter(browser)
    before, hook = agent.register_new_step_callback, options.pop("on_step_end", None)

    async def on_new_step(*values: Any) -> None:
        await reporter.on_new_step(*values)
        await _call(before, *values)

    async def on_step_end(agent: Any) -> None:
        await reporter.on_step_end(agent)
        await _call(hook, agent)

    agent.register_new_step_callback = on_new_step
    try:
        return await agent.run(on_step_end=on_step_end, **options)
    finally:
        agent.register_new_step_callback = before
        if watch is not None:
            await watch.aclose()


async def _call(callback: Any, *values: Any) -> None:
    if callback is not None:
        result = callback(*values)
        if inspect.isawaitable(result):
            await result
