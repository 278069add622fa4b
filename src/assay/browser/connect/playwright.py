"""`assay.watch(page)`: step scores for a Playwright page that your own code drives.

It observes and never touches: no dialog is answered, no pop-up closed, no request held back, and
no listener added to your page. A fault of the observation never reaches your code; it is logged,
and the step has no score.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import AsyncIterator, Coroutine, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from time import monotonic
from typing import Any, Protocol, Self, overload

from assay.browser.chromium.shared import playwright_error
from assay.browser.observe.transport import BlockingTransport, PlaywrightTransport, run_at_once
from assay.browser.outcome.watch import ANSWER_S, PageWatch
from assay.browser.step_records import StepScoring
from assay.browser.steps import Contract, status
from assay.browser.steps.status import AgentStatus
from assay.ledger.steps import StepsWriter
from assay.schema.observation import Observation
from assay.schema.outcome import Gate
from assay.schema.step_score import StepScore

_log = logging.getLogger(__name__)


class SyncPage(Protocol):
    """A page of Playwright's synchronous API."""

    def title(self) -> str: ...


class AsyncPage(Protocol):
    """A page of Playwright's asynchronous API."""

    def title(self) -> Coroutine[Any, Any, str]: ...


class _Record:
    """The scores of one page so far, and the file that they are written to."""

    def __init__(self, contract: Contract | None, steps: str | Path | None) -> None:
        self._scoring = StepScoring(contract)
        self._writer = None if steps is None else StepsWriter(steps)
        self._began = monotonic()

    @property
    def score(self) -> StepScore | None:
        """The score of the latest step; `None` before the first one."""
        return self._scoring.score

    @property
    def status(self) -> AgentStatus:
        """Where the agent stands: running, stuck, blocked, recovered or done."""
        return status(self._scoring.history)

    def write(
        self, tool: str, seen: Observation, arguments: Mapping[str, Any], elapsed_s: float = 0.0
    ) -> None:
        action = tool and f"{tool}({', '.join(arguments)})"
        step = self._scoring.record(action, seen, arguments=arguments, elapsed_s=elapsed_s)
        if self._writer is not None:
            self._writer.write(step)

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()


class _Scored:
    """What a watch says of the page that it records."""

    _record: _Record

    @property
    def score(self) -> StepScore | None:
        """The score of the latest step; `None` before the first one."""
        return self._record.score

    @property
    def status(self) -> AgentStatus:
        """Where the agent stands: running, stuck, blocked, recovered or done."""
        return self._record.status


class Watch(_Scored):
    """A watch over a page of Playwright's synchronous API."""

    def __init__(self, page: Any, contract: Contract | None, steps: str | Path | None) -> None:
        session = page.context.new_cdp_session(page)
        self._page = run_at_once(
            PageWatch.open(BlockingTransport(session, page, timeout_s=ANSWER_S))
        )
        self._record = _Record(contract, steps)
        self._record.write("", self._page.first, {})

    @contextmanager
    def step(self, tool: str, *, gate: Gate = "unknown", **arguments: Any) -> Iterator[None]:
        """Score what is done in the block as one step; what it raises passes through."""
        began = monotonic()
        with _logged():
            between = run_at_once(self._page.begin(tool, arguments))
            if between is not None:
                self._record.write("", between, {})
        error: BaseException | None = None
        try:
            yield
        except BaseException as raised:
            error = raised
            raise
        finally:
            if _is_over(error):
                with _logged():
                    seen = run_at_once(self._page.end(_of_tool(error), gate=gate))
                    self._record.write(tool, seen, arguments, monotonic() - began)

    def close(self) -> None:
        """The page is observed no more, and the steps file is complete."""
        with _logged():
            run_at_once(self._page.close())
        self._record.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncWatch(_Scored):
    """A watch over a page of Playwright's asynchronous API."""

    def __init__(self, page: PageWatch, record: _Record) -> None:
        self._page = page
        self._record = record

    @classmethod
    async def open(
        cls, page: Any, contract: Contract | None, steps: str | Path | None
    ) -> AsyncWatch:
        """A watch over the page, from now on."""
        session = await page.context.new_cdp_session(page)
        watch = await PageWatch.open(PlaywrightTransport(session, page, timeout_s=ANSWER_S))
        record = _Record(contract, steps)
        record.write("", watch.first, {})
        return cls(watch, record)

    @asynccontextmanager
    async def step(
        self, tool: str, *, gate: Gate = "unknown", **arguments: Any
    ) -> AsyncIterator[None]:
        """Score what is done in the block as one step; what it raises passes through."""
        began = monotonic()
        with _logged():
            between = await self._page.begin(tool, arguments)
            if between is not None:
                self._record.write("", between, {})
        error: BaseException | None = None
        try:
            yield
        except BaseException as raised:
            error = raised
            raise
        finally:
            if _is_over(error):
                with _logged():
                    seen = await self._page.end(_of_tool(error), gate=gate)
                    self._record.write(tool, seen, arguments, monotonic() - began)

    async def close(self) -> None:
        """The page is observed no more, and the steps file is complete."""
        with _logged():
            await self._page.close()
        self._record.close()

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
    """A watch over a Playwright page of yours; to be awaited if the page is an asynchronous one.

    `steps` is a file that is written as the steps happen and that `assay steps` scores again;
    `contract` says what the agent is to achieve.
    """
    if inspect.iscoroutinefunction(page.title):
        return AsyncWatch.open(page, contract, steps)
    return Watch(page, contract, steps)


def _of_tool(error: BaseException | None) -> BaseException | None:
    """The error if a tool raised it; an assertion of the caller is no failed step."""
    return error if isinstance(error, (playwright_error(), TimeoutError)) else None


def _is_over(error: BaseException | None) -> bool:
    """Whether the step has ended, rather than the whole program."""
    return error is None or isinstance(error, Exception)


@contextmanager
def _logged() -> Iterator[None]:
    try:
        yield
    except Exception:  # noqa: BLE001 - an observer must not disturb what it observes
        _log.warning("a step could not be scored", exc_info=True)
