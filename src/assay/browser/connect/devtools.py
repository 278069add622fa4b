"""Score the steps of a browser that any program drives, through its DevTools port.

with watch_browser("http://127.0.0.1:9222", steps="steps.jsonl") as watch:
    ...                              # the other program acts, and each step is scored as seen
    with watch.step("click", target="Save"):
        ...                          # or reported, with a name and its error
    print(watch.score, watch.status)
"""

from __future__ import annotations

from collections.abc import Coroutine, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Self, TypeVar

from assay.browser.chromium.cdp import ProtocolError
from assay.browser.connect.follower import BrowserFollower, SeenStep
from assay.browser.step_records import ClosableStepLogView, StepLog, logged_faults
from assay.browser.steps import Contract
from assay.browser.steps.redaction import redact
from assay.errors import BadParameter, DeadResource, MissingExtra
from assay.resources.threads import LoopThread, watching_loop
from assay.schema.action import ActionCall
from assay.schema.observation import Observation

T = TypeVar("T")
CONNECT_S: Final = 10.0


class FollowedBrowser:
    """Follows a browser that another program drives, for callers on any thread.

    `begin` and `end` have time limits. A browser that restarts at its address is followed again.
    """

    def __init__(
        self,
        address: str,
        *,
        timeout_s: float | None = None,
        begin_s: float = 1.5,
        end_s: float = 6.0,
        **options: Any,
    ) -> None:
        """`address` is that of the debugging port: `http://127.0.0.1:9222` or `ws://…`."""
        self.loop = watching_loop()
        self._address = address
        self._begin_s, self._end_s = begin_s, end_s
        self.changed: Observation | None = None
        """The page that the latest step began on, if that is another than the one seen last."""
        self._options = {"on_change": self._note_change, **options}
        self.follower = self.loop.wait(BrowserFollower.open(address, **self._options), timeout_s)

    def _note_change(self, seen: Observation) -> None:
        self.changed = seen

    @property
    def first(self) -> Observation:
        """The first observation of the page."""
        return self.follower.first

    def begin(self, tool: str, arguments: Mapping[str, Any], url: str | None) -> bool:
        """Begin a step on the page at `url`, and return whether the step is watched."""
        return self._ask(self._begin(tool, arguments, url), self._begin_s) is True

    def end(self, error: str | None) -> Observation | None:
        """End the step and return its observation; `None` if the page does not answer."""
        return self._ask(self._end(error), self._end_s)

    def close(self) -> None:
        self._ask(self.follower.close(), CONNECT_S)

    def _ask(self, work: Coroutine[Any, Any, T], timeout_s: float) -> T | None:
        with suppress(TimeoutError, ProtocolError, DeadResource, MissingExtra):
            return self.loop.wait(work, timeout_s)
        return None

    async def _begin(self, tool: str, arguments: Mapping[str, Any], url: str | None) -> bool:
        if self.follower.closed:
            self.follower = await BrowserFollower.open(self._address, **self._options)
        self.changed = None
        await self.follower.begin(tool, arguments, url=url)
        return True

    async def _end(self, error: str | None) -> Observation | None:
        if not self.follower.reporting:
            return None
        return (await self.follower.end(error, tell=False)).observation


def follow_browser(address: str) -> FollowedBrowser:
    """Follow the browser at `address`; raise `BadParameter` if no browser answers there."""
    try:
        return FollowedBrowser(address, timeout_s=CONNECT_S)
    except (DeadResource, TimeoutError) as error:
        raise BadParameter(
            f"no browser answers at {address!r:.200}: {error!s:.200}; start the "
            "browser with --remote-debugging-port, and give the MCP server the same address"
        ) from error


class StepContext:
    """A step that an agent reports by `with` or `async with`; errors in the block pass through."""

    def __init__(
        self, loop: LoopThread, follower: BrowserFollower, tool: str, arguments: Mapping[str, Any]
    ) -> None:
        self._loop, self._follower = loop, follower
        self._tool, self._arguments = tool, arguments

    async def _begin(self) -> None:
        with logged_faults():
            await self._follower.begin(self._tool, self._arguments)

    async def _end(self, error: BaseException | str | None) -> None:
        with logged_faults():
            await self._follower.end(error)

    async def begin(self) -> None:
        await self._loop.run(self._begin())

    async def end(self, error: BaseException | str | None = None) -> None:
        """End the step, with its error if it failed."""
        await self._loop.run(self._end(error))

    async def __aenter__(self) -> Self:
        await self.begin()
        return self

    async def __aexit__(self, _: object, error: BaseException | None, __: object) -> None:
        if error is None or isinstance(error, Exception):
            await self.end(error)

    def __enter__(self) -> Self:
        self._loop.wait(self._begin())
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if error is None or isinstance(error, Exception):
            self._loop.wait(self._end(error))


class BrowserWatch(ClosableStepLogView):
    """The scored steps of a browser, as `watch_browser` returns them, for use on any thread."""

    def __init__(self, address: str, contract: Contract | None, steps: str | Path | None) -> None:
        self._browser = FollowedBrowser(address, on_step=self._record, on_change=self._record_page)
        self._log = StepLog(contract, steps=steps)
        self._record_page(self._browser.first)

    def _record_page(self, seen: Observation) -> None:
        self._log.record("", seen, arguments={})

    def _record(self, step: SeenStep) -> None:
        values = tuple(str(value) for value in redact(step.arguments).values())
        action = ActionCall(step.tool, values).text
        self._log.record(action, step.observation, arguments=step.arguments)

    def step(self, tool: str, **arguments: Any) -> StepContext:
        """Return a step that is scored under the name `tool`."""
        return StepContext(self._browser.loop, self._browser.follower, tool, arguments)

    def close(self) -> None:
        """Score the last step, and stop following the browser."""
        self._browser.loop.wait(self._finish())

    async def aclose(self) -> None:
        await self._browser.loop.run(self._finish())

    async def _finish(self) -> None:
        await self._browser.follower.flush()
        await self._browser.follower.close()
        self._log.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


def watch_browser(
    address: str, *, contract: Contract | None = None, steps: str | Path | None = None
) -> BrowserWatch:
    """Watch the browser whose DevTools port is `address`; raise `DeadResource` if none answers."""
    return BrowserWatch(address, contract, steps)
