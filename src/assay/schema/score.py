"""A score is a finite number with a reason, or an abstention with a reason.

Both read like the dictionaries that reward functions usually return, so
`score["reward"]`, `score["f1"]` and `dict(score)` work; in an abstention every number is `None`
and asking for a float raises. Nothing here imports more than the standard library: scores are
made millions of times.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from math import isfinite
from types import MappingProxyType
from typing import Any, ClassVar, Self, TypeAlias

from assay.errors import NoScore

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

_EMPTY: Mapping[str, Any] = MappingProxyType({})


class CannotScore(Exception):
    """A reward raises this error to abstain from scoring a row."""

    def __init__(self, reason: str, because: str) -> None:
        super().__init__(reason, because)
        self.reason, self.because = reason, because

    def abstain(self, parts: Iterable[str]) -> Abstained:
        """Return the abstention for a reward that has these part names."""
        return Abstained(self.reason, self.because, parts)


class _FrozenScore(Mapping[str, Any]):
    """The immutable mapping behind `Scored` and `Abstained`; `_main` names its main field."""

    __slots__ = ("because", "notes", "params", "parts", "scorer")

    because: str
    """One sentence for a person."""
    parts: Mapping[str, float | None]
    """Numbers under the reward's fixed names; `None` where one has no meaning for this row."""
    notes: Mapping[str, str]
    """Text, such as the extracted answer or the traceback of an error."""
    scorer: str
    """`name@version`, set where the reward ran; empty when it was called directly."""
    params: Mapping[str, Json]
    """The configuration that the reward ran with, where it differs from the defaults."""

    _main: ClassVar[str]
    _text_keys: ClassVar[tuple[str, ...]] = ()
    """Keys that stand between the parts and the notes."""

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a score is immutable; its field {name!r} cannot be set")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a score is immutable; its field {name!r} cannot be deleted")

    def __iter__(self) -> Iterator[str]:
        return chain(("reward",), self.parts, self._text_keys, self.notes)

    def __len__(self) -> int:
        return 1 + len(self.parts) + len(self._text_keys) + len(self.notes)

    @property
    def name(self) -> str:
        """The reward's name without its version, or `score` if no name was recorded."""
        return self.scorer.partition("@")[0] or "score"

    def _state(self) -> tuple[Any, ...]:
        """The constructor arguments that create an equal score."""
        parts, notes, params = dict(self.parts), dict(self.notes), dict(self.params)
        return getattr(self, self._main), self.because, parts, notes, self.scorer, params

    def __reduce__(self) -> tuple[type[Self], tuple[Any, ...]]:
        return type(self), self._state()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and self._state() == other._state()

    def __hash__(self) -> int:
        return hash((getattr(self, self._main), self.because, self.scorer))


class Scored(_FrozenScore):
    """The result of a reward: a finite value, the reason and the named parts."""

    __slots__ = ("value",)
    _main = "value"
    abstained: ClassVar[bool] = False

    value: float

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
            raise ValueError(f"a score must be finite, not {value!r}; abstain instead")
        for part in parts.values():
            if part is not None and not isfinite(part):
                raise ValueError(f"every part must be a finite number or None, not {dict(parts)!r}")
        _put_value(self, number)
        _put_shared(self, because, parts, notes, scorer, params)

    def sign(self, scorer: str, params: Mapping[str, Json]) -> Scored:
        """A copy of the score that records the reward's name, version and options."""
        twin = Scored.__new__(Scored)
        _put_value(twin, self.value)
        _put_shared(twin, self.because, self.parts, self.notes, scorer, params)
        return twin

    def __float__(self) -> float:
        return self.value

    def __getitem__(self, key: str) -> Any:
        if key == "reward":
            return self.value
        return self.parts[key] if key in self.parts else self.notes[key]

    def __repr__(self) -> str:
        parts = f", parts={dict(self.parts)!r}" if self.parts else ""
        notes = f", notes={dict(self.notes)!r}" if self.notes else ""
        return f"Scored({self.value!r}, {self.because!r}{parts}{notes})"


class Abstained(_FrozenScore):
    """The result of a reward that could not score: a reason code and a sentence."""

    __slots__ = ("reason",)
    _main = "reason"
    abstained: ClassVar[bool] = True
    _text_keys = ("abstained",)

    reason: str
    """A stable code: `grader_error`, `missing_reference`, `unparseable_reference`, `bad_row`, …"""
    parts: Mapping[str, None]
    """The reward's fixed part names."""

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
            raise ValueError("an abstention needs a reason; the given reason is empty")
        object.__setattr__(self, "reason", reason)
        _put_shared(self, because, dict.fromkeys(parts), notes, scorer, params)

    def sign(self, scorer: str, params: Mapping[str, Json]) -> Abstained:
        """A copy of the abstention that records the reward's name, version and options."""
        return Abstained(self.reason, self.because, self.parts, self.notes, scorer, params)

    def __float__(self) -> float:
        raise NoScore(
            f"{self.scorer or 'the reward'} abstained ({self.reason}: {self.because}); "
            "an abstention has no number; test `score.abstained` first, or compute the mean of "
            "the other scores with `assay.mean(scores)`"
        )

    def __getitem__(self, key: str) -> Any:
        if key == "abstained":
            return self.reason
        return None if key == "reward" or key in self.parts else self.notes[key]

    def __repr__(self) -> str:
        return f"Abstained({self.reason!r}, {self.because!r})"


# The slots' own setters: a score is made in half the time that `object.__setattr__` takes.
_put_value = Scored.__dict__["value"].__set__
_put_because, _put_parts, _put_notes, _put_scorer, _put_params = (
    _FrozenScore.__dict__[name].__set__
    for name in ("because", "parts", "notes", "scorer", "params")
)


def _put_shared(
    score: _FrozenScore,
    because: str,
    parts: Mapping[str, float | None],
    notes: Mapping[str, str],
    scorer: str,
    params: Mapping[str, Json],
) -> None:
    _put_because(score, because)
    _put_parts(score, parts)
    _put_notes(score, notes)
    _put_scorer(score, scorer)
    _put_params(score, params)


Score: TypeAlias = Scored | Abstained


def score_to_record(score: Score) -> dict[str, Any]:
    """The score as JSON values; `value` is null if the reward abstained."""
    record: dict[str, Any] = {
        "scorer": score.scorer,
        "value": score["reward"],
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
    fields = ("because", "parts", "notes", "scorer", "params")
    shared: dict[str, Any] = {name: record[name] for name in fields if name in record}
    reason = record.get("abstained")
    if reason is not None:
        return Abstained(reason, **shared)
    return Scored(record["value"], **shared)
