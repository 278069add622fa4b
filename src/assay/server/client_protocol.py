"""What the clients send and how they read the answers, apart from how it is sent."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

import orjson

from assay.errors import BadParameter, BadRecord, ServerError
from assay.formats.tables import read_table
from assay.schema.episode import Step
from assay.schema.score import Abstained, Score, score_from_record
from assay.schema.step_score import StepScore, step_score_from_record
from assay.schema.values import describe, plain
from assay.server.models import Readiness, RewardRecord, RewardsResponse, Status
from assay.server.strict_json import read_json, write_json
from assay.web.address import fits_header

T = TypeVar("T")

RETRY_STATUSES = frozenset({429, 502, 503, 504})
"""These say nothing about the request itself, so it may be sent again."""
BATCH_BYTES = 4 * 1024 * 1024
READ_ERRORS = (BadRecord, AttributeError, KeyError, TypeError, ValueError)
"""What reading an answer of another shape raises."""


@dataclass(frozen=True, slots=True)
class ServerCall(Generic[T]):
    """A request, and how to read its answer; a reader raises one of `READ_ERRORS`."""

    method: str
    path: str
    reader: Callable[[bytes], T]
    body: bytes | None = None

    def read(self, body: bytes) -> T:
        """What the server answered; raises `ServerError` if this is no answer of one."""
        try:
            return self.reader(body)
        except READ_ERRORS as error:
            raise ServerError(
                f"the answer is not one of a reward server: {error!r:.200}"
            ) from error


class RowBatch(NamedTuple):
    """Rows as JSON, few enough for one request."""

    first: int
    """The number of the first row among all."""
    rows: list[orjson.Fragment]
    problems: dict[int, str]
    """Why a row could not be sent, by its place in the batch; null stands in for it."""


def batches(rows: Any, max_rows: int) -> Iterator[RowBatch]:
    """The rows of a table in order, cut where a request would become too large."""
    batch, size = RowBatch(1, [], {}), 0
    for number, row in enumerate(read_table(rows).rows, start=1):
        encoded, problem = _encode(row, number)
        if batch.rows and (len(batch.rows) >= max_rows or size + len(encoded) > BATCH_BYTES):
            yield batch
            batch, size = RowBatch(number, [], {}), 0
        if problem:
            batch.problems[len(batch.rows)] = problem
        batch.rows.append(orjson.Fragment(encoded))
        size += len(encoded)
    if batch.rows:
        yield batch


def _encode(row: Any, number: int) -> tuple[bytes, str]:
    """The row as JSON; null, and why, if it cannot be sent."""
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
    batch: RowBatch,
    reward: str,
    params: Mapping[str, Any] | None,
    columns: Mapping[str, str] | None,
) -> ServerCall[list[Score]]:
    """Asks for the score of each row of the batch."""
    options = {"reward": reward, "params": dict(params or {}), "columns": dict(columns or {})}
    body = orjson.dumps({**options, "first": batch.first, "rows": batch.rows})

    def read(answer: bytes) -> list[Score]:
        scores = [_only_score(result) for result in read_json(answer)["results"]]
        if len(scores) != len(batch.rows):
            raise ServerError(f"the answer has {len(scores)} results for {len(batch.rows)} rows")
        for place, problem in batch.problems.items():
            score = scores[place]
            parts, scorer = tuple(score.parts), score.scorer
            scores[place] = Abstained("bad_row", problem, parts, {}, scorer, score.params)
        return scores

    return ServerCall("POST", "/v1/score", read, body)


def _only_score(result: Mapping[str, Any]) -> Score:
    (record,) = result["scores"].values()
    return score_from_record(record)


def steps_call(steps: Sequence[Step | Mapping[str, Any]]) -> ServerCall[list[StepScore | None]]:
    """Asks for the score of each step; `None` for the reset and for a step without an outcome."""
    records = [step.model_dump() if isinstance(step, Step) else dict(step) for step in steps]
    return ServerCall("POST", "/v1/steps", _read_steps, write_json({"steps": records}))


def _read_steps(answer: bytes) -> list[StepScore | None]:
    records = [step["score"] for step in read_json(answer)["steps"]]
    return [None if record is None else step_score_from_record(record) for record in records]


REWARDS_CALL: ServerCall[list[RewardRecord]] = ServerCall(
    "GET", "/v1/rewards", lambda answer: RewardsResponse.model_validate_json(answer).rewards
)


def read_status(status: int, body: bytes) -> Status:
    """What `/readyz` answered, with 200 or 503."""
    try:
        return Readiness.model_validate_json(body).status
    except ValueError as error:
        raise server_error(status, body) from error


def server_error(status: int, body: bytes) -> ServerError:
    """The error that an answer stands for."""
    try:
        error = read_json(body)["error"]
        code, message = str(error["code"]), str(error["message"])
    except (BadRecord, KeyError, TypeError):
        code, message = "", "the answer is not one of a reward server"
    return ServerError(f"{status} {code}: {message}", status=status, code=code)


def check_url(url: str) -> str:
    """The address without a slash at its end; raises `BadParameter` if it is none."""
    if not url.startswith(("http://", "https://")):
        raise BadParameter(f"{url!r} is no address of a server; it begins with http:// or https://")
    return url.rstrip("/")


def auth_headers(token: str | None) -> dict[str, str]:
    """The headers of every request; a token that no header can hold is refused, and not shown."""
    if token is None:
        return {}
    if not fits_header(token):
        raise BadParameter(
            "the token holds characters that a header cannot, perhaps the end of a line; strip it"
        )
    return {"authorization": f"Bearer {token}"}
