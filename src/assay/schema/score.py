"""Scores: a finite number with its reason, or an abstention with its reason.

Both read like the dictionaries that reward functions usually return, so
`score["reward"]`, `score["f1"]` and `dict(score)` work; in an abstention every number is `None`
and asking for a float raises. Nothing here imports more than the standard library: scores are
made millions of times.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import isfinite
from types import MappingProxyType
from typing import Any, Self, TypeAlias

from assay.errors import NoScore

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

_EMPTY: Mapping[str, Any] = MappingProxyType({})
_put = object.__setattr__


class _FrozenScore(Mapping[str, Any]):
    """A mapping whose fields cannot be set or deleted; `_state` is what it is made of."""

    __slots__ = ()

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a score is frozen; {name!r} cannot be set")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a score is frozen; {name!r} cannot be deleted")

    def _state(self) -> tuple[Any, ...]:
        raise NotImplementedError

    def __reduce__(self) -> tuple[type[Self], tuple[Any, ...]]:
        return type(self), self._state()


class Scored(_FrozenScore):
    """What a reward returned: a finite value, why, and its fixed parts."""

    __slots__ = ("because", "notes", "params", "parts", "scorer", "value")

    value: float
    because: str
    """One sentence for a person."""
    parts: Mapping[str, float | None]
    """Numbers under the reward's fixed names; `None` where one has no meaning for this row."""
    notes: Mapping[str, str]
    """Text beside the numbers, such as the extracted answer or an environment's output."""
    scorer: str
    """`name@version`, set where the reward ran; empty when it was called directly."""
    params: Mapping[str, Json]
    """The configuration that the reward ran with, where it differs from the defaults."""

    def __init__(
        self,
        value: float,
        because: str = "",
        parts: Mapping[str, float | None] = _EMPTY,
        notes: Mapping[str, str] = _EMPTY,
        scorer: str = "",
        params: Mapping[str, Json] = _EMPTY,
    ) -> None:
        number = float(value)
        if not isfinite(number):
            raise ValueError(f"a score is a finite number, not {value!r}; abstain instead")
        for part in parts.values():
            if part is not None and not isfinite(part):
                raise ValueError(f"every part is a finite number or None, not {dict(parts)!r}")
        _put_value(self, number)
        _put_because(self, because)
        _put_parts(self, parts)
        _put_notes(self, notes)
        _put_scorer(self, scorer)
        _put_params(self, params)

    @property
    def abstained(self) -> bool:
        return False

    def sign(self, scorer: str, params: Mapping[str, Json]) -> Scored:
        """The same score, carrying the identity of the reward that gave it."""
        twin = Scored.__new__(Scored)
        _put_value(twin, self.value)
        _put_because(twin, self.because)
        _put_parts(twin, self.parts)
        _put_notes(twin, self.notes)
        _put_scorer(twin, scorer)
        _put_params(twin, params)
        return twin

    def __float__(self) -> float:
        return self.value

    def __getitem__(self, key: str) -> Any:
        if key == "reward":
            return self.value
        if key in self.parts:
            return self.parts[key]
        return self.notes[key]

    def __iter__(self) -> Iterator[str]:
        yield "reward"
        yield from self.parts
        yield from self.notes

    def __len__(self) -> int:
        return 1 + len(self.parts) + len(self.notes)

    def _state(self) -> tuple[Any, ...]:
        return (
            self.value,
            self.because,
            dict(self.parts),
            dict(self.notes),
            self.scorer,
            dict(self.params),
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scored) and self._state() == other._state()

    def __hash__(self) -> int:
        return hash((self.value, self.because, self.scorer))

    def __repr__(self) -> str:
        parts = f", parts={dict(self.parts)!r}" if self.parts else ""
        notes = f", notes={dict(self.notes)!r}" if self.notes else ""
        return f"Scored({self.value!r}, {self.because!r}{parts}{notes})"


# The slots' own setters: a score is made in half the time that `object.__setattr__` takes.
_put_value = Scored.__dict__["value"].__set__
_put_because = Scored.__dict__["because"].__set__
_put_parts = Scored.__dict__["parts"].__set__
_put_notes = Scored.__dict__["notes"].__set__
_put_scorer = Scored.__dict__["scorer"].__set__
_put_params = Scored.__dict__["params"].__set__


class Abstained(_FrozenScore):
    """A reward that could not score: a machine-readable reason, and a sentence."""

    __slots__ = ("because", "notes", "params", "parts", "reason", "scorer")

    reason: str
    """A stable code: `grader_error`, `missing_reference`, `unparseable_reference`, `bad_row`, …"""
    because: str
    parts: Mapping[str, None]
    """The reward's fixed part names, every one of them `None`."""
    notes: Mapping[str, str]
    """Text beside the reason; `traceback` when the reward raised."""
    scorer: str
    params: Mapping[str, Json]

    def __init__(
        self,
        reason: str,
        because: str = "",
        parts: Iterable[str] = (),
        notes: Mapping[str, str] = _EMPTY,
        scorer: str = "",
        params: Mapping[str, Json] = _EMPTY,
    ) -> None:
        if not reason:
            raise ValueError("an abstention names its reason; got an empty one")
        _put(self, "reason", reason)
        _put(self, "because", because)
        _put(self, "parts", dict.fromkeys(parts))
        _put(self, "notes", notes)
        _put(self, "scorer", scorer)
        _put(self, "params", params)

    @property
    def abstained(self) -> bool:
        return True

    def sign(self, scorer: str, params: Mapping[str, Json]) -> Abstained:
        """The same abstention, carrying the identity of the reward that gave it."""
        return Abstained(self.reason, self.because, self.parts, self.notes, scorer, params)

    def __float__(self) -> float:
        raise NoScore(
            f"{self.scorer or 'the reward'} abstained ({self.reason}: {self.because}); "
            "an abstention has no number: test `score.abstained` first"
        )

    def __getitem__(self, key: str) -> Any:
        if key == "reward":
            return None
        if key == "abstained":
            return self.reason
        if key in self.parts:
            return None
        return self.notes[key]

    def __iter__(self) -> Iterator[str]:
        yield "reward"
        yield from self.parts
        yield "abstained"
        yield from self.notes

    def __len__(self) -> int:
        return 2 + len(self.parts) + len(self.notes)

    def _state(self) -> tuple[Any, ...]:
        return (
            self.reason,
            self.because,
            tuple(self.parts),
            dict(self.notes),
            self.scorer,
            dict(self.params),
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Abstained) and self._state() == other._state()

    def __hash__(self) -> int:
        return hash((self.reason, self.because, self.scorer))

    def __repr__(self) -> str:
        return f"Abstained({self.reason!r}, {self.because!r})"


Score: TypeAlias = Scored | Abstained


def score_to_record(score: Score) -> dict[str, Any]:
    """The score as plain JSON values; `value` is null exactly when it abstained."""
    record: dict[str, Any] = {
        "scorer": score.scorer,
        "value": None if isinstance(score, Abstained) else score.value,
        "because": score.because,
    }
    if isinstance(score, Abstained):
        record["abstained"] = score.reason
    record["parts"] = dict(score.parts)
    if score.notes:
        record["notes"] = dict(score.notes)
    if score.params:
        record["params"] = dict(score.params)
    return record


def score_from_record(record: Mapping[str, Any]) -> Score:
    """The score that `score_to_record` wrote."""
    shared: dict[str, Any] = {
        "because": record.get("because", ""),
        "parts": record.get("parts", {}),
        "notes": record.get("notes", {}),
        "scorer": record.get("scorer", ""),
        "params": record.get("params", {}),
    }
    reason = record.get("abstained")
    if reason is not None:
        return Abstained(reason, **shared)
    return Scored(record["value"], **shared)
