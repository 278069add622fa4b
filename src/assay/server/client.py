"""Asking a reward server: the calls of `assay` itself, over HTTP.

    with Client("http://127.0.0.1:8700") as rewards:
        rewards.score("math_equal_reward", final_response="1/2", answer="0.5")
        for score in rewards.score_batch("qa_f1_reward", rows): ...

Scoring changes nothing on the server, so a request is sent again when the connection fails or the
server is full or restarting. What it refuses for good is a `ServerError`. An abstention is an
`Abstained`, as everywhere.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import deque
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Iterator,
    Mapping,
    Sequence,
)
from typing import Any, Generic, Self, TypeVar

import httpx

from assay.errors import ServerError
from assay.resources.backoff import Backoff, retry_after_s
from assay.resources.loopback import is_loopback
from assay.schema.episode import Step
from assay.schema.score import Score
from assay.schema.step_score import StepScore
from assay.server import client_protocol as protocol
from assay.server.client_protocol import ServerCall
from assay.server.models import RewardRecord, Status

T = TypeVar("T")
H = TypeVar("H", httpx.Client, httpx.AsyncClient)
W = TypeVar("W", None, Awaitable[None])
"""What waiting returns."""

BATCH_ROWS = 512
JSON = {"content-type": "application/json"}


class _Connection(Generic[H, W]):
    """What both clients know of the server, and when they send a request again."""

    _http_type: type[H]
    _default_sleep: Callable[[float], W]

    def __init__(
        self,
        url: str,
        *,
        token: str | None = None,
        timeout_s: float = 120.0,
        retries: int = 5,
        sleep: Callable[[float], W] | None = None,
        rng: random.Random | None = None,
    ) -> None:
        self.url = protocol.check_url(url)
        self._backoff = Backoff(attempts=retries + 1, base_s=0.25, cap_s=30.0)
        self._rng = rng or random.Random()
        self._sleep: Callable[[float], W] = sleep or self._default_sleep
        self._http: H = self._http_type(
            base_url=self.url,
            headers=protocol.auth_headers(token),
            timeout=httpx.Timeout(timeout_s, connect=min(10.0, timeout_s)),
            # A proxy of the environment is for other machines, and would read token and rows.
            trust_env=not is_loopback(httpx.URL(self.url).host),
        )

    def _wait_s(self, sent: int, outcome: httpx.Response | httpx.TransportError) -> float:
        """How long to wait before the request is sent again, after so many attempts.

        `Retry-After` is a lower bound. Raises `ServerError` if it is not to be sent again.
        """
        minimum_s = 0.0
        if isinstance(outcome, httpx.TransportError):
            error = self._unreachable(outcome)
        else:
            error = protocol.server_error(outcome.status_code, outcome.content)
            if outcome.status_code not in protocol.RETRY_STATUSES:
                raise error
            minimum_s = retry_after_s(outcome.headers) or 0.0
        if sent >= self._backoff.attempts:
            raise error
        return min(self._backoff.cap_s, minimum_s) + self._backoff.wait_s(sent, self._rng)

    def _unreachable(self, error: httpx.TransportError) -> ServerError:
        return ServerError(f"{self.url} cannot be asked: {error!r:.200}")


class Client(_Connection[httpx.Client, None]):
    """A reward server; every call waits for its answer."""

    _http_type = httpx.Client
    _default_sleep = staticmethod(time.sleep)

    def score(
        self, reward: str, /, *, params: Mapping[str, Any] | None = None, **columns: Any
    ) -> Score:
        """The score of one finished answer, as `assay.score` returns it."""
        (score,) = self.score_batch(reward, [columns], params=params)
        return score

    def score_batch(
        self,
        reward: str,
        rows: Any,
        *,
        params: Mapping[str, Any] | None = None,
        columns: Mapping[str, str] | None = None,
        batch_rows: int = BATCH_ROWS,
    ) -> Iterator[Score]:
        """The score of every row, in order, as a stream; `rows` may be endless.

        `rows` and `columns` are as in `assay.score_batch`. A row that cannot be sent abstains.
        """
        for batch in protocol.batches(rows, batch_rows):
            yield from self._ask(protocol.score_call(batch, reward, params, columns))

    def steps(self, steps: Sequence[Step | Mapping[str, Any]]) -> list[StepScore | None]:
        """The score of each recorded step; `None` where there is nothing to score."""
        return self._ask(protocol.steps_call(steps))

    def rewards(self) -> list[RewardRecord]:
        """The rewards that the server answers for."""
        return self._ask(protocol.REWARDS_CALL)

    def health(self) -> Status:
        """Whether the server is ready; asked once, without retries."""
        try:
            response = self._http.get("/readyz")
        except httpx.TransportError as error:
            raise self._unreachable(error) from error
        return protocol.read_status(response.status_code, response.content)

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _ask(self, call: ServerCall[T]) -> T:
        sent = 0
        while True:
            sent += 1
            outcome: httpx.Response | httpx.TransportError
            try:
                outcome = self._http.request(
                    call.method, call.path, content=call.body, headers=JSON
                )
                if outcome.is_success:
                    return call.read(outcome.content)
            except httpx.TransportError as error:
                outcome = error
            self._sleep(self._wait_s(sent, outcome))


class AsyncClient(_Connection[httpx.AsyncClient, Awaitable[None]]):
    """A reward server, for an event loop."""

    _http_type = httpx.AsyncClient
    _default_sleep = staticmethod(asyncio.sleep)

    async def score(
        self, reward: str, /, *, params: Mapping[str, Any] | None = None, **columns: Any
    ) -> Score:
        """The score of one finished answer, as `assay.score_async` returns it."""
        (batch,) = protocol.batches([columns], 1)
        (score,) = await self._ask(protocol.score_call(batch, reward, params, None))
        return score

    async def score_batch(
        self,
        reward: str,
        rows: Any,
        *,
        params: Mapping[str, Any] | None = None,
        columns: Mapping[str, str] | None = None,
        batch_rows: int = BATCH_ROWS,
        concurrency: int = 4,
    ) -> AsyncIterator[Score]:
        """The score of every row, in order, as a stream; a few requests are under way at a time."""
        under_way: deque[asyncio.Task[list[Score]]] = deque()
        try:
            for batch in protocol.batches(rows, batch_rows):
                call = protocol.score_call(batch, reward, params, columns)
                under_way.append(asyncio.create_task(self._ask(call)))
                if len(under_way) >= max(1, concurrency):
                    for score in await under_way.popleft():
                        yield score
            while under_way:
                for score in await under_way.popleft():
                    yield score
        finally:
            for task in under_way:
                task.cancel()
            await asyncio.gather(*under_way, return_exceptions=True)

    async def steps(self, steps: Sequence[Step | Mapping[str, Any]]) -> list[StepScore | None]:
        """The score of each recorded step; `None` where there is nothing to score."""
        return await self._ask(protocol.steps_call(steps))

    async def rewards(self) -> list[RewardRecord]:
        """The rewards that the server answers for."""
        return await self._ask(protocol.REWARDS_CALL)

    async def health(self) -> Status:
        """Whether the server is ready; asked once, without retries."""
        try:
            response = await self._http.get("/readyz")
        except httpx.TransportError as error:
            raise self._unreachable(error) from error
        return protocol.read_status(response.status_code, response.content)

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _ask(self, call: ServerCall[T]) -> T:
        sent = 0
        while True:
            sent += 1
            outcome: httpx.Response | httpx.TransportError
            try:
                outcome = await self._http.request(
                    call.method, call.path, content=call.body, headers=JSON
                )
                if outcome.is_success:
                    return call.read(outcome.content)
            except httpx.TransportError as error:
                outcome = error
            await self._sleep(self._wait_s(sent, outcome))
