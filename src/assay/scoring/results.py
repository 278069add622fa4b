"""Convert what a reward returned to a score, and what it raised to text.

A trainer keeps no reasons, so the first failure of each kind of a reward is logged wherever it
runs.
"""

from __future__ import annotations

import logging
import threading
import traceback
from collections.abc import Mapping
from math import isfinite
from numbers import Real
from typing import Any

from assay.errors import RewardStopped, printable
from assay.schema.score import Abstained, Score, Scored

_NUMBERS = frozenset({float, int, type(None)})
SCORES: frozenset[Any] = frozenset({Scored, Abstained})


def to_score(result: Any) -> Score:
    """Convert the return value of a reward function to a score.

    A number, a mapping with a `reward` key (its other numbers become parts, its texts notes), or
    a score. Anything else, `None` and NaN included, is an error: it does not say what it means.
    Objects that are made to fail raise what they like.
    """
    # A score is a mapping, and asking for the class of one by `isinstance` takes a microsecond.
    if type(result) in SCORES or isinstance(result, (Scored, Abstained)):
        return _with_plain_fields(result)
    if isinstance(result, Mapping):
        return _from_mapping(result)
    if isinstance(result, Real):
        return Scored(_finite(result, "reward"))
    number = getattr(result, "item", None)
    if callable(number):
        return to_score(number())
    raise TypeError(f"returned {result!r:.200}; return a number, a mapping or a Score")


def _with_plain_fields(score: Score) -> Score:
    """Return the score with plain values; values of other classes are converted."""
    if type(score) in SCORES and _has_plain_fields(score):
        return score
    because = _text(score.because)
    notes = {_text(name): _text(note) for name, note in score.notes.items()}
    if isinstance(score, Abstained):
        return Abstained(_text(score.reason), because, map(_text, score.parts), notes)
    parts = {
        _text(name): None if part is None else _finite(part, _text(name))
        for name, part in score.parts.items()
    }
    return Scored(_finite(score.value, "reward"), because, parts, notes)


def _has_plain_fields(score: Score) -> bool:
    if type(score.because) is not str:
        return False
    if type(score) is Abstained and type(score.reason) is not str:
        return False
    for name, part in score.parts.items():
        if type(name) is not str or type(part) not in _NUMBERS:
            return False
    for name, note in score.notes.items():
        if type(name) is not str or type(note) is not str:
            return False
    return True


def _from_mapping(result: Mapping[Any, Any]) -> Score:
    if "reward" not in result:
        raise ValueError(
            f"returned a mapping without 'reward'; its keys: {sorted(map(str, result))}"
        )
    value = result["reward"]
    if value is None:
        reason = result.get("abstained") or "unscored"
        return Abstained(_text(reason), "the reward function returned no number")
    parts: dict[str, float | None] = {}
    notes: dict[str, str] = {}
    for key, item in result.items():
        if key == "reward":
            continue
        if item is None:
            parts[_text(key)] = None
        elif isinstance(item, Real):
            parts[_text(key)] = _finite(item, _text(key))
        else:
            notes[_text(key)] = _text(item) if isinstance(item, str) else _text(repr(item))
    return Scored(_finite(value, "reward"), "", parts, notes)


def _finite(value: Any, name: str) -> float:
    try:
        number = float(value)
    except OverflowError as error:
        raise ValueError(f"returned {name}, a number too large for a float") from error
    if not isfinite(number):
        raise ValueError(f"returned {name}={number!r}; a score must be a finite number")
    return number


def _text(value: Any) -> str:
    """Convert the value to a plain `str`, and not to a subclass."""
    return str.__str__(value if isinstance(value, str) else str(value))


LOGGER = logging.getLogger("assay")
TRACEBACK_LIMIT = 4_000
"""Characters kept of a reward's traceback; the end of it names the cause."""
MESSAGE_LIMIT = 300
LOGGED_KINDS = 1_000
"""Kinds that are remembered; what comes after them is no longer logged."""

PASSED = (KeyboardInterrupt, RewardStopped)
"""What is raised into a reward from outside, and passes the boundary."""


def message_of(error: BaseException) -> str:
    """The exception as `Name: message`, even if the exception fails to describe itself."""
    name = type(error).__name__
    try:
        message = str(error)[:MESSAGE_LIMIT]
    except PASSED:
        raise
    except BaseException:  # noqa: BLE001 - an exception may fail at describing itself
        message = "its message cannot be read"
    return f"{name}: {message}" if message else name


def traceback_of(error: BaseException) -> str:
    """The end of the traceback."""
    try:
        return "".join(traceback.format_exception(error))[-TRACEBACK_LIMIT:]
    except PASSED:
        raise
    except BaseException:  # noqa: BLE001 - an exception may fail at describing itself
        return message_of(error)


class FirstFailureLogger:
    """Logs the first failure of each kind: same reward, same exception, same place."""

    def __init__(self) -> None:
        self._kinds: set[tuple[str, ...]] = set()
        self._lock = threading.Lock()

    def add(self, scorer: str, error: BaseException, place: str = "") -> None:
        """Log the exception, unless a failure of the same kind is already logged."""
        if not place:
            frames = list(traceback.walk_tb(error.__traceback__))
            place = f"{frames[-1][0].f_code.co_filename}:{frames[-1][1]}" if frames else "nowhere"
        kind = (scorer, type(error).__name__, place)
        with self._lock:
            if kind in self._kinds or len(self._kinds) >= LOGGED_KINDS:
                return
            self._kinds.add(kind)
        LOGGER.warning(
            "%s abstained (grader_error) at %s: %s; further ones of this kind are not logged",
            scorer,
            place,
            printable(message_of(error)),
        )


FAILURES = FirstFailureLogger()
"""One for the process, as loggers are: a scorer may live for one row."""
