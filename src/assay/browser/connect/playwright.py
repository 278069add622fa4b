"""Score the steps of a Playwright page that your own code drives: `assay.watch(page)`."""

from __future__ import annotations

import inspect
from collections.abc import Coroutine, Mapping
from pathlib import Path
from time import monotonic
from typing import Any, Protocol, Self, overload

from assay.browser.chromium.shared import playwright_error
from assay.browser.observe.patience import Patience
from assay.browser.observe.transport import BlockingTransport, PlaywrightTransport, run_at_once
from assay.browser.outcome.watch import PageWatch
from assay.browser.step_records import ClosableStepLogView, StepLog, StepLogView, logged_faults
from assay.browser.steps import Contract
from assay.schema.outcome import Gate


class SyncPage(Protocol):
    """A page of Playwright's synchronous API."""

    def title(self) -> str: ...


class AsyncPage(Protocol):
    """A page of Playwright's asynchronous API."""

    def title(self) -> Coroutine[Any, Any, str]: ...


class PageStep:
    """One step of a watched page, for `with` or `async with`; errors in the block pass through."""

    def __init__(
        self, page: PageWatch, log: StepLog, tool: str, gate: Gate, arguments: Mapping[str, Any]
    ) -> None:
        self._page, self._log = page, log
        self._tool, self._gate, self._arguments = tool, gate, arguments
        self._began = monotonic()

    async def _begin(self) -> None:
        self._began = monotonic()
        with logged_faults():
            between = await self._page.begin(self._tool, self._arguments)
            if between is not None:
                self._log.record("", between, arguments={})

    async def _end(self, error: BaseException | None) -> None:
        if error is not None and not isinstance(error, Exception):
            # The whole program ends, rather than the step.
            return
        # What a tool raised; an assertion of the caller is no failed step.
        failure = error if isinstance(error, (playwright_error(), TimeoutError)) else None
        action = self._tool and f"{self._tool}({', '.join(self._arguments)})"
        with logged_faults():
            seen = await self._page.end(failure, gate=self._gate)
            elapsed_s = monotonic() - self._began
            self._log.record(action, seen, arguments=self._arguments, elapsed_s=elapsed_s)

    def __enter__(self) -> None:
        run_at_once(self._begin())

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        run_at_once(self._end(error))

    async def __aenter__(self) -> None:
        await self._begin()

    async def __aexit__(self, _: object, error: BaseException | None, __: object) -> None:
        await self._end(error)


class _PageSteps(StepLogView):
    def __init__(self, page: PageWatch, contract: Contract | None, steps: str | Path | None):
        self._page = page
        self._log = StepLog(contract, steps=steps)
        self._log.record("", page.first, arguments={})

    def step(self, tool: str, *, gate: Gate = "unknown", **arguments: Any) -> PageStep:
        """Return a step for `with` or `async with`, which scores the actions in its block."""
        return PageStep(self._page, self._log, tool, gate, arguments)

    async def _close(self) -> None:
        with logged_faults():
            await self._page.close()
        self._log.close()


class Watch(_PageSteps, ClosableStepLogView):
    """A watch over a page of Playwright's synchronous API."""

    def close(self) -> None:
        """Stop observing the page, and complete the steps file."""
        run_at_once(self._close())


class AsyncWatch(_PageSteps):
    """A watch over a page of Playwright's asynchronous API."""

    async def close(self) -> None:
        """Stop observing the page, and complete the steps file."""
        await self._close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


@overload
def watch(
    page: SyncPage, *, contract: Contract | None = None, steps: str | Path | None = None
) -> Watch: ...
@overload
def watch(
    page: AsyncPage, *, contract: Contract | None = None, steps: str | Path | None = None
) -> Coroutine[Any, Any, AsyncWatch]: ...
def watch(
    page: Any, *, contract: Contract | None = None, steps: str | Path | None = None
) -> Watch | Coroutine[Any, Any, AsyncWatch]:
    """Watch a Playwright page; with Playwright's asynchronous API, the result must be awaited.

    `steps` is a file that `assay steps` scores again; `contract` says what is to be achieved.
    """
    if inspect.iscoroutinefunction(page.title):
        return _open_async(page, contract, steps)
    session = page.context.new_cdp_session(page)
    transport = BlockingTransport(session, page, timeout_s=Patience().answer_s)
    return Watch(run_at_once(PageWatch.open(transport)), contract, steps)


async def _open_async(page: Any, contract: Contract | None, steps: str | Path | None) -> AsyncWatch:
    session = await page.context.new_cdp_session(page)
    transport = PlaywrightTransport(session, page, timeout_s=Patience().answer_s)
    return AsyncWatch(await PageWatch.open(transport), contract, steps)
