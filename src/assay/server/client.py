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
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from types import TracebackType
from typing import Any, Literal, Self

import httpx

from assay.errors import ServerError
from assay.schema.episode import Step
from assay.schema.score import Score
from assay.schema.step_score import StepScore
from assay.server.client_protocol import (
    RETRY_STATUSES,
    Batch,
    Retries,
    auth_headers,
    batches,
    check_url,
    read_rewards,
    read_scores,
    read_steps,
    refusal,
    steps_body,
)
from assay.server.models import Readiness, RewardRecord

BATCH_ROWS = 512
JSON = {"content-type": "application/json"}


class _Connection:
    """What both clients know of the server, and how they take its answers."""

    def __init__(
        self, url: str, token: str | None, timeout_s: float, retries: int, rng: random.Random
    ) -> None:
        self.url = check_url(url)
        self._retries = Retries(retries)
        self._dice = rng
        self._options: dict[str, Any] = {
            "base_url": self.url,
            "headers": auth_headers(token),
            "timeout": httpx.Timeout(timeout_s, connect=min(10.0, timeout_s)),
        }

    def _taken(self, sent: int, outcome: httpx.Response | httpx.TransportError) -> bytes | float:
        """The body of a good answer, or how long to wait before asking again."""
        if isinstance(outcome, httpx.TransportError):
            error = ServerError(f"{self.url} cannot be asked: {outcome!r:.200}")
            pause_s = self._retries.pause_s(sent, None, self._dice)
        elif outcome.is_success:
            return outcome.content
        else:
            error = refusal(outcome.status_code, outcome.content)
            if outcome.status_code not in RETRY_STATUSES:
                raise error
            after = outcome.headers.get("retry-after")
            pause_s = self._retries.pause_s(sent, after, self._dice)
        if pause_s is None:
            raise error
        return pause_s


class Client(_Connection):
    """A reward server, asked and waited for."""

    def __init__(
        self,
        url: str,
        *,
        token: str | None = None,
        timeout_s: float = 120.0,
        retries: int = 5,
        sleep: Callable[[float], None] = time.sleep,
        rng: random.Random | None = None,
    ) -> None:
        super().__init__(url, token, timeout_s, retries, rng or random.Random())
        self._sleep = sleep
        self._http = httpx.Client(**self._options)

    def score(
        self, reward: str, /, *, params: Mapping[str, Any] | None = None, **columns: Any
    ) -> Score:
        """What one finished answer is worth, as `assay.score` says it."""
        (score,) = self.score_batch(reward, [columns], params=params)
        return score

    def score_batch(
        self,
        reward: str,
        rows: Iterable[Mapping[str, Any]],
        *,
        params: Mapping[str, Any] | None = None,
        columns: Mapping[str, str] | None = None,
        batch_rows: int = BATCH_ROWS,
    ) -> Iterator[Score]:
        """The score of every row, in order, as a stream; `rows` may be endless."""
        for batch in batches(rows, batch_rows):
            body = self._ask("POST", "/v1/score", batch.body(reward, params, columns))
            yield from read_scores(body, len(batch.rows))

    def steps(self, steps: Sequence[Step | Mapping[str, Any]]) -> list[StepScore | None]:
        """What each recorded step is worth; `None` where there is nothing to scorer."""
        return read_steps(self._ask("POST", "/v1/steps", steps_body(steps)))

    def rewards(self) -> list[RewardRecord]:
        """The rewards that the server answers for."""
        return read_rewards(self._ask("GET", "/v1/rewards"))

    def health(self) -> Literal["ready", "starting", "draining"]:
        """Where the server stands; asked once, without retries."""
        try:
            return _standing(self._http.get("/readyz"))
        except httpx.TransportError as error:
            raise ServerError(f"{self.url} cannot be asked: {error!r:.200}") from error

    def close(self) -> None:
        """The connections are closed."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _ask(self, method: str, path: str, body: bytes | None = None) -> bytes:
        sent = 0
        while True:
            outcome: httpx.Response | httpx.TransportError
            try:
                outcome = self._http.request(method, path, content=body, headers=JSON)
            except httpx.TransportError as error:
                outcome = error
            sent += 1
            taken = self._taken(sent, outcome)
            if isinstance(taken, bytes):
                return taken
            self._sleep(taken)


class AsyncClient(_Connection):
    """A reward server, asked from an event loop."""

    def __init__(
        self,
        url: str,
        *,
        token: str | None = None,
        timeout_s: float = 120.0,
        retries: int = 5,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        rng: random.Random | None = None,
    ) -> None:
        super().__init__(url, token, timeout_s, retries, rng or random.Random())
        self._sleep = sleep
        self._http = httpx.AsyncClient(**self._options)

    async def score(
        self, reward: str, /, *, params: Mapping[str, Any] | None = None, **columns: Any
    ) -> Score:
        """What one finished answer is worth, as `assay.score_async` says it."""
        (batch,) = batches([columns], 1)
        return (await self._score(batch, reward, params, None))[0]

    async def score_batch(
        self,
        reward: str,
        rows: Iterable[Mapping[str, Any]],
        *,
        params: Mapping[str, Any] | None = None,
        columns: Mapping[str, str] | None = None,
        batch_rows: int = BATCH_ROWS,
        concurrency: int = 4,
    ) -> AsyncIterator[Score]:
        """The score of every row, in order, as a stream; a few requests are under way at a time."""
        under_way: deque[asyncio.Task[list[Score]]] = deque()
        try:
            for batch in batches(rows, batch_rows):
                asking = self._score(batch, reward, params, columns)
                under_way.append(asyncio.create_task(asking))
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
        """What each recorded step is worth; `None` where there is nothing to scorer."""
        return read_steps(await self._ask("POST", "/v1/steps", steps_body(steps)))

    async def rewards(self) -> list[RewardRecord]:
        """The rewards that the server answers for."""
        return read_rewards(await self._ask("GET", "/v1/rewards"))

    async def health(self) -> Literal["ready", "starting", "draining"]:
        """Where the server stands; asked once, without retries."""
        try:
            return _standing(await self._http.get("/readyz"))
        except httpx.TransportError as error:
            raise ServerError(f"{self.url} cannot be asked: {error!r:.200}") from error

    async def close(self) -> None:
        """The connections are closed."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    async def _score(
        self,
        batch: Batch,
        reward: str,
        params: Mapping[str, Any] | None,
        columns: Mapping[str, str] | None,
    ) -> list[Score]:
        body = await self._ask("POST", "/v1/score", batch.body(reward, params, columns))
        return read_scores(body, len(batch.rows))

    async def _ask(self, method: str, path: str, body: bytes | None = None) -> bytes:
        sent = 0
        while True:
            outcome: httpx.Response | httpx.TransportError
            try:
                outcome = await self._http.request(method, path, content=body, headers=JSON)
            except httpx.TransportError as error:
                outcome = error
            sent += 1
            taken = self._taken(sent, outcome)
            if isinstance(taken, bytes):
                return taken
            await self._sleep(taken)


def _standing(answer: httpx.Response) -> Literal["ready", "starting", "draining"]:
    try:
        return Readiness.model_validate_json(answer.content).status
    except ValueError as error:
        raise refusal(answer.status_code, answer.content) from error
