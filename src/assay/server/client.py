"""Client of a reward server: the scoring functions of `assay` over HTTP.

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
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, Self, TypeVar

import httpx
import orjson

from assay.errors import BadParameter, BadRecord, ServerError
from assay.formats.tables import read_table
from assay.resources.backoff import Backoff, retry_after_s
from assay.resources.loopback import is_loopback
from assay.schema.episode import Step
from assay.schema.score import Abstained, Score, score_from_record
from assay.schema.step_score import StepScore, step_score_from_record
from assay.schema.values import describe, plain
from assay.server.models import Readiness, RewardRecord, RewardsResponse, Status
from assay.web.address import fits_header
from assay.web.strict_json import read_json, write_json

T = TypeVar("T")
H = TypeVar("H", httpx.Client, httpx.AsyncClient)
W = TypeVar("W", None, Awaitable[None])
"""What waiting returns."""

BATCH_ROWS = 512
JSON = {"content-type": "application/json"}
RETRY_STATUSES = frozenset({429, 502, 503, 504})
"""These say nothing about the request itself, so it may be sent again."""
BATCH_BYTES = 4 * 1024 * 1024
READ_ERRORS = (BadRecord, AttributeError, KeyError, TypeError, ValueError)
"""What reading an answer of another shape raises."""


@dataclass(frozen=True, slots=True)
class ServerCall(Generic[T]):
    """An HTTP request, and a function that reads its response."""

    method: str
    path: str
    reader: Callable[[bytes], T]
    body: bytes | None = None

    def read(self, body: bytes) -> T:
        """Read the response; raise `ServerError` if it is not from a reward server."""
        try:
            return self.reader(body)
        except READ_ERRORS as error:
            raise ServerError(
                f"the response is not from a reward server: {error!r:.200}"
            ) from error


class RequestBatch(NamedTuple):
    """Rows encoded as JSON that fit into one request."""

    first: int
    """The number of the first row among all."""
    rows: list[orjson.Fragment]
    problems: dict[int, str]
    """Why a row could not be sent, by its place in the batch; null stands in for it."""


def batches(rows: Any, max_rows: int) -> Iterator[RequestBatch]:
    """Split the rows of a table into batches that fit into one request."""
    batch, size = RequestBatch(1, [], {}), 0
    for number, row in enumerate(read_table(rows).rows, start=1):
        encoded, problem = _encode(row, number)
        if batch.rows and (len(batch.rows) >= max_rows or size + len(encoded) > BATCH_BYTES):
            yield batch
            batch, size = RequestBatch(number, [], {}), 0
        if problem:
            batch.problems[len(batch.rows)] = problem
        batch.rows.append(orjson.Fragment(encoded))
        size += len(encoded)
    if batch.rows:
        yield batch


def _encode(row: Any, number: int) -> tuple[bytes, str]:
    """Encode a row as JSON; if that fails, return null and the reason."""
    try:
        return write_json(dict(row), default=_to_json), ""
    except Exception as error:  # noqa: BLE001 - a row's objects may fail at anything
        return b"null", f"row {number} cannot be sent as JSON: {error!s:.200}"


def _to_json(value: Any) -> Any:
    converted = plain(value)
    if converted is value:
        raise TypeError(f"it holds {describe(value)}")
    return converted


def score_call(
    batch: RequestBatch,
    reward: str,
    params: Mapping[str, Any] | None,
    columns: Mapping[str, str] | None,
) -> ServerCall[list[Score]]:
    """Build the request that scores every row of a batch."""
    options = {"reward": reward, "params": dict(params or {}), "columns": dict(columns or {})}
    body = orjson.dumps({**options, "first": batch.first, "rows": batch.rows})

    def read(answer: bytes) -> list[Score]:
        results = [result["scores"].values() for result in read_json(answer)["results"]]
        scores = [score_from_record(record) for (record,) in results]
        if len(scores) != len(batch.rows):
            raise ServerError(f"the server sent {len(scores)} results for {len(batch.rows)} rows")
        for place, problem in batch.problems.items():
            score = scores[place]
            parts, scorer = tuple(score.parts), score.scorer
            scores[place] = Abstained("bad_row", problem, parts, {}, scorer, score.params)
        return scores

    return ServerCall("POST", "/v1/score", read, body)


def steps_call(steps: Sequence[Step | Mapping[str, Any]]) -> ServerCall[list[StepScore | None]]:
    """Build the request that scores recorded steps; steps without an outcome get `None`."""
    body = [step.model_dump() if isinstance(step, Step) else dict(step) for step in steps]

    def read(answer: bytes) -> list[StepScore | None]:
        records = [step["score"] for step in read_json(answer)["steps"]]
        return [None if record is None else step_score_from_record(record) for record in records]

    return ServerCall("POST", "/v1/steps", read, write_json({"steps": body}))


REWARDS_CALL: ServerCall[list[RewardRecord]] = ServerCall(
    "GET", "/v1/rewards", lambda answer: RewardsResponse.model_validate_json(answer).rewards
)


def read_status(status: int, body: bytes) -> Status:
    """Read the server status from a `/readyz` response."""
    try:
        return Readiness.model_validate_json(body).status
    except ValueError as error:
        raise server_error(status, body) from error


def server_error(status: int, body: bytes) -> ServerError:
    """Build the error for a response that is not a success."""
    try:
        error = read_json(body)["error"]
        code, message = str(error["code"]), str(error["message"])
    except (BadRecord, KeyError, TypeError):
        code, message = "", "the response is not from a reward server"
    return ServerError(f"{status} {code}: {message}", status=status, code=code)


class _Connection(Generic[H, W]):
    """Common part of both clients: the connection, and the rules for retries."""

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
        if not url.startswith(("http://", "https://")):
            raise BadParameter(
                f"{url!r} is not a server address; use an address with http:// or https://"
            )
        if token is not None and not fits_header(token):
            raise BadParameter(
                "the token has characters that an HTTP header cannot hold, such as a line break; "
                "remove these characters"
            )
        self.url = url.rstrip("/")
        self._backoff = Backoff(attempts=retries + 1, base_s=0.25, cap_s=30.0)
        self._rng = rng or random.Random()
        self._sleep: Callable[[float], W] = sleep or self._default_sleep
        self._http: H = self._http_type(
            base_url=self.url,
            headers={} if token is None else {"authorization": f"Bearer {token}"},
            timeout=httpx.Timeout(timeout_s, connect=min(10.0, timeout_s)),
            # A proxy of the environment is for other machines, and would read token and rows.
            trust_env=not is_loopback(httpx.URL(self.url).host),
        )

    def _wait_s(self, sent: int, outcome: httpx.Response | httpx.TransportError) -> float:
        """Seconds to wait before the request is sent again.

        `Retry-After` is a lower bound. Raises `ServerError` if it is not to be sent again.
        """
        minimum_s = 0.0
        if isinstance(outcome, httpx.TransportError):
            error = self._unreachable(outcome)
        else:
            error = server_error(outcome.status_code, outcome.content)
            if outcome.status_code not in RETRY_STATUSES:
                raise error
            minimum_s = retry_after_s(outcome.headers) or 0.0
        if sent >= self._backoff.attempts:
            raise error
        return min(self._backoff.cap_s, minimum_s) + self._backoff.wait_s(sent, self._rng)

    def _unreachable(self, error: httpx.TransportError) -> ServerError:
        return ServerError(f"{self.url} cannot be asked: {error!r:.200}")


class Client(_Connection[httpx.Client, None]):
    """Synchronous client of a reward server; every call waits for the response."""

    _http_type = httpx.Client
    _default_sleep = staticmethod(time.sleep)

    def score(
        self, reward: str, /, *, params: Mapping[str, Any] | None = None, **columns: Any
    ) -> Score:
        """Score one finished answer, as `assay.score` does."""
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
        """Yield the score of each row, in order; `rows` may be endless.

        `rows` and `columns` are as in `assay.score_batch`. A row that cannot be sent abstains.
        """
        for batch in batches(rows, batch_rows):
            yield from self._ask(score_call(batch, reward, params, columns))

    def steps(self, steps: Sequence[Step | Mapping[str, Any]]) -> list[StepScore | None]:
        """Score recorded steps; a step without an outcome gets `None`."""
        return self._ask(steps_call(steps))

    def rewards(self) -> list[RewardRecord]:
        """List the rewards that the server offers."""
        return self._ask(REWARDS_CALL)

    def health(self) -> Status:
        """Ask once, without retries, whether the server is ready."""
        try:
            response = self._http.get("/readyz")
        except httpx.TransportError as error:
            raise self._unreachable(error) from error
        return read_status(response.status_code, response.content)

    def close(self) -> None:
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
    """Asynchronous client of a reward server, for an event loop."""

    _http_type = httpx.AsyncClient
    _default_sleep = staticmethod(asyncio.sleep)

    async def score(
        self, reward: str, /, *, params: Mapping[str, Any] | None = None, **columns: Any
    ) -> Score:
        """Score one finished answer, as `assay.score_async` does."""
        (batch,) = batches([columns], 1)
        (score,) = await self._ask(score_call(batch, reward, params, None))
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
        """Yield the score of each row, in order; `concurrency` requests run at once."""
        under_way: deque[asyncio.Task[list[Score]]] = deque()
        try:
            for batch in batches(rows, batch_rows):
                call = score_call(batch, reward, params, columns)
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
        """Score recorded steps; a step without an outcome gets `None`."""
        return await self._ask(steps_call(steps))

    async def rewards(self) -> list[RewardRecord]:
        """List the rewards that the server offers."""
        return await self._ask(REWARDS_CALL)

    async def health(self) -> Status:
        """Ask once, without retries, whether the server is ready."""
        try:
            response = await self._http.get("/readyz")
        except httpx.TransportError as error:
            raise self._unreachable(error) from error
        return read_status(response.status_code, response.content)

    async def close(self) -> None:
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
