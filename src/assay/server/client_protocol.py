"""What a client says and understands, apart from how it is sent: bodies, batches, retries."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import orjson

from assay.errors import BadParameter, BadRecord, ServerError
from assay.schema.episode import Step
from assay.schema.score import Score, score_from_record
from assay.schema.step_score import StepScore, step_score_from_record
from assay.server.models import RewardRecord, RewardsResponse
from assay.server.strict_json import read_json, write_json
from assay.web.address import fits_header

RETRY_STATUSES = frozenset({429, 502, 503, 504})
"""Answers that say nothing about the request itself: it may be sent again."""
BATCH_BYTES = 4 * 1024 * 1024
READ_ERRORS = (BadRecord, AttributeError, KeyError, TypeError, ValueError)
"""What reading an answer of another shape raises."""


@dataclass(frozen=True, slots=True)
class Retries:
    """How often a request is sent again, and after how long."""

    count: int = 5
    first_s: float = 0.25
    """Before the first; each further one waits up to twice as long."""
    most_s: float = 30.0

    def pause_s(self, sent: int, retry_after: str | None, rng: random.Random) -> float | None:
        """How long to wait after so many were sent; `None`: no longer.

        The server's own wish is a lower bound. The rest is chance, so that clients which were
        refused together do not come back together.
        """
        if sent > self.count:
            return None
        longest_s = min(self.most_s, self.first_s * 2.0 ** (sent - 1))
        wished_s = _seconds(retry_after)
        return min(self.most_s, wished_s) + longest_s * rng.uniform(0.5, 1.0)


def _seconds(retry_after: str | None) -> float:
    try:
        seconds = float(retry_after or 0)
    except ValueError:
        return 0.0
    return seconds if math.isfinite(seconds) and seconds > 0 else 0.0


class Batch(NamedTuple):
    """Rows as JSON, few enough for one request."""

    first: int
    """The number of the first row among all."""
    rows: list[orjson.Fragment]

    def body(
        self, reward: str, params: Mapping[str, Any] | None, columns: Mapping[str, str] | None
    ) -> bytes:
        """The request that asks for their scores."""
        wanted = {"reward": reward, "params": dict(params or {}), "columns": dict(columns or {})}
        return orjson.dumps({**wanted, "first": self.first, "rows": self.rows})


def batches(rows: Iterable[Mapping[str, Any]], most_rows: int) -> Iterator[Batch]:
    """The rows in order, cut where a request would become too large."""
    held: list[orjson.Fragment] = []
    first, size = 1, 0
    for number, row in enumerate(rows, start=1):
        encoded = _encode(row, number)
        if held and (len(held) >= most_rows or size + len(encoded) > BATCH_BYTES):
            yield Batch(first, held)
            held, first, size = [], number, 0
        held.append(orjson.Fragment(encoded))
        size += len(encoded)
    if held:
        yield Batch(first, held)


def _encode(row: Mapping[str, Any], number: int) -> bytes:
    try:
        return write_json(dict(row), default=None)
    except (TypeError, ValueError) as error:
        raise BadRecord(f"row {number} cannot be sent as JSON: {error}") from error


def read_scores(body: bytes, rows: int) -> list[Score]:
    """The scores of an answer, one for each row."""
    try:
        scores = [_only_score(result) for result in read_json(body)["results"]]
    except READ_ERRORS as error:
        raise _foreign(error) from error
    if len(scores) != rows:
        raise ServerError(f"the answer has {len(scores)} results for {rows} rows")
    return scores


def _only_score(result: Mapping[str, Any]) -> Score:
    (record,) = result["scores"].values()
    return score_from_record(record)


def steps_body(steps: Sequence[Step | Mapping[str, Any]]) -> bytes:
    """The request that asks for the worth of steps."""
    records = [step.model_dump() if isinstance(step, Step) else dict(step) for step in steps]
    return write_json({"steps": records})


def read_steps(body: bytes) -> list[StepScore | None]:
    """The worth of each step; `None` for the reset and for a step without an outcome."""
    try:
        found = [step["score"] for step in read_json(body)["steps"]]
        return [None if record is None else step_score_from_record(record) for record in found]
    except READ_ERRORS as error:
        raise _foreign(error) from error


def read_rewards(body: bytes) -> list[RewardRecord]:
    """The rewards of an answer."""
    try:
        return RewardsResponse.model_validate_json(body).rewards
    except READ_ERRORS as error:
        raise _foreign(error) from error


def _foreign(error: Exception) -> ServerError:
    return ServerError(f"the answer is not one of a reward server: {error!r:.200}")


def refusal(status: int, body: bytes) -> ServerError:
    """The error that an answer stands for."""
    try:
        error = read_json(body)["error"]
        code, message = str(error["code"]), str(error["message"])
    except (BadRecord, KeyError, TypeError):
        code, message = "", "the answer is not one of a reward server"
    return ServerError(f"{status} {code}: {message}", status=status, code=code)


def check_url(url: str) -> str:
    """The address without a slash at its end."""
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
