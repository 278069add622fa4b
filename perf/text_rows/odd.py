"""Values that are no text: other types, values of other libraries, objects that fail when asked."""

from __future__ import annotations

import random
from collections import UserString, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any, NoReturn, Self

import numpy as np

ERRORS: tuple[type[BaseException], ...] = (
    ZeroDivisionError, RecursionError, MemoryError, SystemExit, AttributeError, TypeError, KeyError,
    StopIteration, UnicodeDecodeError, GeneratorExit,
)  # fmt: skip


def odd_value(rng: random.Random, gold: str) -> tuple[Any, bool]:
    """A value, and whether it is plain data rather than an object with methods that raise."""
    if rng.random() < 0.2:
        return rng.choice(_FAILING)(rng.choice(ERRORS)), False
    return rng.choice(_VALUES)(rng, gold), True


def _raise(error: type[BaseException]) -> NoReturn:
    if error is UnicodeDecodeError:
        raise UnicodeDecodeError("utf-8", b"\xff", 0, 1, "odd")
    raise error("odd")


class _Failing:
    """Raises when it is printed, compared, counted, or converted."""

    def __init__(self, error: type[BaseException]) -> None:
        self.error = error

    def __repr__(self) -> str:
        _raise(self.error)

    def __eq__(self, other: object) -> bool:
        _raise(self.error)

    def __hash__(self) -> int:
        _raise(self.error)

    def __bool__(self) -> bool:
        _raise(self.error)

    def __len__(self) -> int:
        _raise(self.error)

    def __iter__(self) -> Iterator[Any]:
        _raise(self.error)

    def __float__(self) -> float:
        _raise(self.error)

    def tolist(self) -> Any:
        _raise(self.error)


class _FailingAttributes(_Failing):
    """Raises for every attribute that it does not have."""

    def __getattr__(self, name: str) -> Any:
        _raise(self.error)


class _FailingText(str):
    """A text that raises when it is used as one."""

    __slots__ = ("error",)
    error: type[BaseException]

    def __str__(self) -> str:
        _raise(self.error)

    def __len__(self) -> int:
        _raise(self.error)

    def strip(self, chars: str | None = None, /) -> str:  # noqa: ARG002 - the signature of `str`
        _raise(self.error)


class _FailingList(Sequence[Any]):
    def __init__(self, error: type[BaseException]) -> None:
        self.error = error

    def __getitem__(self, index: Any) -> Any:
        _raise(self.error)

    def __len__(self) -> int:
        return 3


class _FailingMapping(Mapping[str, Any]):
    def __init__(self, error: type[BaseException]) -> None:
        self.error = error

    def __getitem__(self, key: str) -> Any:
        _raise(self.error)

    def __iter__(self) -> Iterator[str]:
        _raise(self.error)

    def __len__(self) -> int:
        return 1


class _FailingNumber(float):
    def __new__(cls, _error: type[BaseException]) -> Self:
        return super().__new__(cls, 42.0)

    def __init__(self, error: type[BaseException]) -> None:
        self.error = error

    def __repr__(self) -> str:
        _raise(self.error)

    def is_integer(self) -> bool:
        _raise(self.error)


def _failing_text(error: type[BaseException]) -> _FailingText:
    text = _FailingText("42")
    text.error = error
    return text


_FAILING: tuple[Callable[[type[BaseException]], Any], ...] = (
    _Failing, _FailingAttributes, _failing_text, _FailingList, _FailingMapping, _FailingNumber,
    lambda error: [_Failing(error)], lambda error: ["42", _failing_text(error)],
    lambda error: {"role": "tool", "content": _Failing(error)},
    lambda error: [{"role": "assistant", "tool_calls": [_FailingMapping(error)]}],
    lambda error: [[_FailingAttributes(error)]],
)  # fmt: skip


def _nested(rng: random.Random, gold: str) -> Any:
    value: Any = gold
    for _ in range(rng.choice((1, 3, 50, 5_000))):
        value = [value] if rng.random() < 0.7 else {"a": value}
    return value


def _circle(_rng: random.Random, gold: str) -> Any:
    value: list[Any] = [gold]
    value.append(value)
    return value


class _TextSubclass(str):
    __slots__ = ()


_VALUES: tuple[Callable[[random.Random, str], Any], ...] = (
    lambda _rng, _gold: None,
    lambda rng, _gold: rng.randint(-(10**6), 10**6),
    lambda rng, _gold: rng.choice((10**400, -(10**4299), 10**5000, 2**14284, 1 << 200_000)),
    lambda rng, _gold: rng.choice((0.5, -0.0, 1e308, float("nan"), float("inf"), 5e-324, 42.0)),
    lambda rng, _gold: rng.random() < 0.5,
    lambda rng, _gold: rng.choice((1j, complex("nan"), range(3), Ellipsis, NotImplemented)),
    lambda rng, _gold: Decimal(
        rng.choice(("1.50", "NaN", "sNaN", "-Infinity", "1E+999999", "1E-999999", "0E-50"))
    ),
    lambda rng, _gold: Fraction(rng.randint(-9, 9), rng.choice((1, 3, 7**9_000))),
    lambda _rng, gold: gold.encode("utf-8", "surrogatepass"),
    lambda rng, _gold: bytearray(rng.randbytes(8)),
    lambda _rng, gold: memoryview(gold.encode("utf-8", "surrogatepass")),
    lambda _rng, gold: _TextSubclass(gold),
    lambda _rng, gold: UserString(gold),
    lambda _rng, gold: [gold, gold[::-1]],
    lambda _rng, gold: (gold, 3, None, 0.5),
    lambda _rng, gold: {gold},
    lambda _rng, gold: frozenset({gold}),
    lambda _rng, gold: {"answer": gold},
    lambda _rng, gold: {1: gold, None: [gold]},
    lambda _rng, gold: deque([gold, 3]),
    lambda _rng, gold: iter([gold]),
    lambda _rng, gold: [[gold, gold], [gold], []],
    lambda _rng, gold: [{"role": "assistant", "content": gold}],
    lambda rng, _gold: [] if rng.random() < 0.5 else [None, float("nan")],
    lambda _rng, gold: [gold] * 300,
    lambda rng, _gold: rng.choice((np.float64(0.5), np.float32("nan"), np.int8(-3), np.bool_(1))),
    lambda rng, _gold: np.array(rng.choice(([1, 2, 3], [], [0.5, float("nan")], [[1], [2]], 7))),
    lambda _rng, gold: np.array([gold, "b"], dtype=object),
    lambda _rng, _gold: np.array(["a", "b"]),
    lambda rng, _gold: rng.choice((np.datetime64("NaT"), np.datetime64("2024"), np.void(b""))),
    lambda _rng, gold: np.str_(gold),
    lambda _rng, _gold: date(2024, 2, 29),
    lambda _rng, _gold: datetime(2024, 2, 29, tzinfo=UTC),
    lambda rng, _gold: rng.choice((object, object(), print, ValueError("odd"), type)),
    _nested,
    _circle,
)  # fmt: skip
