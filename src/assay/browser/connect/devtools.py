"""Step scores for a browser that any program drives, over its DevTools port.

    with watch_browser("http://127.0.0.1:9222", steps="steps.jsonl") as watch:
        ...                              # the other program acts, and each step is scored as seen
        with watch.step("click", target="Save"):
            ...                          # or reported, with a name and its error
        print(watch.score, watch.status)

It observes and never touches: no dialog is answered, no tab closed, no request held back.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from assay.browser.connect.follower import BrowserFollower, ReportedStep, SeenStep
from assay.browser.step_records import StepScoring
from assay.browser.steps import Contract, status
from assay.browser.steps.status import AgentStatus
from assay.browser.steps.telemetry import redact
from assay.ledger.steps import StepsWriter
from assay.resources.threads import watching_loop
from assay.schema.action import ActionCall
from assay.schema.observation import Observation
from assay.schema.step_score import StepScore


class BrowserWatch:
    """The scored steps of a browser; `watch_browser` makes one. For any thread or event loop."""

    def __init__(self, address: str, contract: Contract | None, steps: str | Path | None) -> None:
        self._loop = watching_loop()
        self._scoring = StepScoring(contract)
        self._follower = self._loop.wait(BrowserFollower.open(address, on_step=self._record))
        self._writer = None if steps is None else StepsWriter(steps)
        self._write("", self._follower.first, {})

    def _record(self, step: SeenStep) -> None:
        values = tuple(str(value) for value in redact(step.arguments).values())
        self._write(ActionCall(step.tool, values).text, step.observation, step.arguments)

    def _write(self, action: str, seen: Observation, arguments: Mapping[str, Any]) -> None:
        step = self._scoring.record(action, seen, arguments=arguments)
        if self._writer is not None:
            self._writer.write(step)

    @property
    def score(self) -> StepScore | None:
        """The score of the latest step; `None` before the first one."""
        return self._scoring.score

    @property
    def status(self) -> AgentStatus:
        """Where the agent stands: running, stuck, blocked, recovered or done."""
        return status(self._scoring.history)

    def step(self, tool: str, **arguments: Any) -> ReportedStep:
        """A step that is scored under this name, as one; for `with` and for `async with`.

        Without it, what is done in the browser is scored as it is seen.
        """
        return ReportedStep(self._loop, self._follower, tool, arguments)

    def close(self) -> None:
        """What was seen last is scored, and the browser is watched no more; it goes on."""
        self._loop.wait(self._finish())

    async def aclose(self) -> None:
        """As `close`, on an event loop."""
        await self._loop.run(self._finish())

    async def _finish(self) -> None:
        await self._follower.flush()
        await self._follower.close()
        if self._writer is not None:
            self._writer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


def watch_browser(
    address: str, *, contract: Contract | None = None, steps: str | Path | None = None
) -> BrowserWatch:
    """A watch over the browser that speaks the DevTools protocol at this address.

    `steps` is a file that is written as the steps happen and that `assay steps` scores again.
    Raises `MissingExtra` without the package `websockets`, `DeadResource` if no browser answers.
    """
    return BrowserWatch(address, contract, steps)
