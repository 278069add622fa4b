"""Validate the messages of a child process, and read results of calls from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, Final, get_args

from assay.audit.findings import CallResult, Status
from assay.isolation.frames import BadFrame

THREADS: Final = 8
"""Threads that may be at work at once."""
LONGEST_TEXT: Final = 1_000
MOST_PARTS: Final = 1_000
MOST_EVENTS: Final = 200
FACTS: Final[Mapping[str, tuple[type, ...]]] = {
    "shape": (str, type(None)), "name": (str,), "parts": (list, type(None)), "parameters": (list,),
    "is_async": (bool,), "picklable": (bool,), "pickle_error": (str, type(None)),
    "source": (str, type(None)), "summary": (str,), "python": (str,), "kind": (str, type(None)),
    "accepts": (dict,),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class MeasuredResult:
    """The result of one call, with measurements of memory and time."""

    result: CallResult
    growth_mb: float = 0.0
    """Peak memory during the call beyond what the process held before."""
    lag_s: float = 0.0
    """The longest time that the event loop stood still."""
    changed: tuple[str, ...] = ()
    """Names of the arguments that the call changed."""


@dataclass(slots=True)
class BatchProgress:
    """Progress of a batch of calls, according to the accepted messages."""

    count: int
    parallel: bool = False
    ended: bool = False
    events: list[tuple[str, str]] = field(default_factory=list)
    """Side effects of the target: a kind of event, and its detail."""
    _started: dict[int, float] = field(default_factory=dict)
    _results: dict[int, MeasuredResult] = field(default_factory=dict)

    @property
    def running(self) -> int:
        """Number of calls that have started and have no result yet."""
        return len(self._started) - len(self._results)

    def take(self, frame: Mapping[str, Any], now: float) -> None:
        """Accept one message; raise `BadFrame` if it is invalid or out of order."""
        if "start" in frame:
            self._start(frame["start"], now)
        elif "done" in frame:
            self._finish(frame["done"], frame.get("reply"), now)
        elif "end" in frame:
            self._end(frame.get("seen"))
        else:
            raise BadFrame("the message has an unknown type")

    def all_results(self) -> list[MeasuredResult]:
        return [self._results[number] for number in range(self.count)]

    def results_with(self, ended: CallResult) -> list[MeasuredResult]:
        """Return the results so far, and `ended` for the call that ended the process.

        Between two calls that is the first: what ended the process was left running by it.
        """
        if self.parallel:
            return [self._results.get(n, MeasuredResult(ended)) for n in range(self.count)]
        finished = [self._results[n] for n in range(self.count) if n in self._results]
        return [*(finished if self.running else finished[:-1]), MeasuredResult(ended)]

    def _start(self, number: Any, now: float) -> None:
        most = THREADS if self.parallel else 1
        if type(number) is not int or not 0 <= number < self.count or number in self._started:
            raise BadFrame("the process started a call that was not requested")
        if not self.parallel and number != len(self._started):
            raise BadFrame("the process started a call out of order")
        if self.running >= most:
            raise BadFrame("the process started a call before the previous call ended")
        self._started[number] = now

    def _finish(self, number: Any, reply: Any, now: float) -> None:
        if type(number) is not int or number not in self._started or number in self._results:
            raise BadFrame("a result arrived for a call that is not running")
        self._results[number] = _result(reply, seconds=now - self._started[number])

    def _end(self, seen: Any) -> None:
        if len(self._results) < self.count:
            raise BadFrame("the batch ended before every call had a result")
        if not isinstance(seen, list) or len(seen) > MOST_EVENTS:
            raise BadFrame("the final message has no valid list of events")
        for event in seen:
            if not isinstance(event, list) or len(event) != 2:
                raise BadFrame("an event is not a pair of texts")
            what, detail = (_text(part) for part in event)
            self.events.append((what, detail))
        self.ended = True


def read_facts(frame: Mapping[str, Any]) -> dict[str, Any]:
    """Read the facts about a reward from the first message; raise `BadFrame` if invalid."""
    facts = frame.get("facts")
    if not isinstance(facts, dict) or facts.keys() != FACTS.keys():
        raise BadFrame("the facts about the reward are missing")
    for name, types in FACTS.items():
        if not isinstance(facts[name], types):
            raise BadFrame(f"{name} is of type {type(facts[name]).__name__}")
    texts = [*facts["parameters"], *(facts["parts"] or []), *facts["accepts"].values()]
    if not all(isinstance(one, str) for one in texts):
        raise BadFrame("a parameter, part or reason is not a text")
    return facts


def _result(reply: Any, *, seconds: float) -> MeasuredResult:
    """Read a result from a reply; the time is measured by our own clock."""
    if not isinstance(reply, dict):
        raise BadFrame("the reply is not a JSON object")
    status, parts = reply.get("status"), reply.get("parts")
    if not isinstance(status, str) or status not in get_args(Status):
        raise BadFrame(f"a result of status {status!r:.100}")
    if not isinstance(parts, dict) or len(parts) > MOST_PARTS:
        raise BadFrame("the metrics are not a JSON object")
    value = _number(reply.get("value"))
    if status == "scored" and value is None:
        raise BadFrame("the score has no number")
    changed = reply.get("changed", [])
    if not isinstance(changed, list):
        raise BadFrame("the changed arguments are not a list")
    result = CallResult(
        status,  # type: ignore[arg-type]  # one of `Status`, as was just checked
        value,
        _text(reply.get("because")),
        {_text(name): _number(number) for name, number in parts.items()},
        seconds,
        _text(reply.get("raw_type")),
    )
    growth, lag = (_amount(reply.get(name, 0.0)) for name in ("growth_mb", "lag"))
    return MeasuredResult(result, growth, lag, tuple(map(_text, changed)))


def _number(value: Any) -> float | None:
    """Read a number, which may be NaN or infinite, or `None`."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise BadFrame(f"expected a number, but got {type(value).__name__}")
    try:
        return float(value)
    except OverflowError as error:
        raise BadFrame("the number is too large for a float") from error


def _amount(value: Any) -> float:
    """Read a measurement, which must be finite and not negative."""
    number = _number(value)
    if number is None or not isfinite(number) or number < 0:
        raise BadFrame("the measurement is not a finite number of at least 0")
    return number


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise BadFrame(f"expected a text, but got {type(value).__name__}")
    return value[:LONGEST_TEXT]
