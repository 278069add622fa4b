"""Whatever a reward function returned, as a score whose fields are plain Python values."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from numbers import Real
from typing import Any

from assay.schema.score import Abstained, Score, Scored

_NUMBERS = frozenset({float, int, type(None)})
SCORES: frozenset[Any] = frozenset({Scored, Abstained})


def to_score(result: Any) -> Score:
    """Whatever a reward function returned, as a score.

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
    raise TypeError(f"returned {result!r:.200}; a reward is a number, a mapping or a Score")


def _with_plain_fields(score: Score) -> Score:
    """The score itself; if somebody else's objects are in it, an equal one without them."""
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
        raise ValueError(
            f"returned {name}={number!r}; a score is finite, an abstention has no number"
        )
    return number


def _text(value: Any) -> str:
    """The value as a text of the class `str` itself."""
    return str.__str__(value if isinstance(value, str) else str(value))
