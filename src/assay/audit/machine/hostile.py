"""Answers made to take a grader's time, memory or nerve, or to be executed; none is right.

Most are of a kind that stopped a training run somewhere: a tower of powers that a computer algebra
system tried to evaluate, brackets deeper than the recursion limit, spaces that make a regular
expression backtrack, numbers that take minutes to print.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Final, TypeAlias

from assay.audit.data import read_table
from assay.audit.isolation import MARKER
from assay.schema.audit import Kind

HostileText: TypeAlias = tuple[str, Callable[[], str]]
"""What it is, and a function that makes it: some are long."""


def hostile_texts(kind: Kind) -> tuple[HostileText, ...]:
    """The hostile answers for a reward of that kind."""
    texts = (*_table("texts"), *_UNCLOSED)
    return (*texts, *_table("maths")) if kind in ("maths", "agent") else texts


def payloads() -> Iterator[tuple[str, str]]:
    """Answers that leave a file behind if any part of them is executed: the file, the answer."""
    for number, template in enumerate(read_table("hostile")["payloads"]):
        name = f"{MARKER}_{number:02d}"
        yield name, template.replace("@@", name).replace("@", name)


def _table(name: str) -> Iterator[HostileText]:
    for title, *pieces in read_table("hostile")[name]:
        yield title, _MADE.get(title) or partial(_joined, pieces)


def _joined(pieces: Sequence[str | list[Any]]) -> str:
    """The pieces one after the other; a pair is a text and how often it stands."""
    return "".join(one if isinstance(one, str) else one[0] * one[1] for one in pieces)


def _matrix(side: int) -> str:
    row = " & ".join(str(number) for number in range(side))
    body = r" \\ ".join(row for _ in range(side))
    return rf"\begin{{pmatrix}} {body} \end{{pmatrix}}"


def _entities() -> str:
    lines = [f'<!ENTITY a{n + 1} "{f"&a{n};" * 10}">' for n in range(9)]
    return f'<!DOCTYPE x [<!ENTITY a0 "x">{"".join(lines)}]><x>&a9;</x>'


def _aliases() -> str:
    return "\n".join(["a0: &a0 x", *(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 40))])


_MADE: Final[dict[str, Callable[[], str]]] = {
    "lone surrogates": lambda: "\ud800" * 10_000,
    "entities within entities": _entities,
    "aliases within aliases": _aliases,
    "many symbols": lambda: "+".join(f"x_{{{n}}}" for n in range(5_000)),
    "large matrix": lambda: _matrix(150),
    "large set": lambda: r"\{" + ",".join(map(str, range(20_000))) + r"\}",
    "many intervals": lambda: r"\cup".join(f"({n},{n + 1})" for n in range(0, 10_000, 2)),
    "greatest common divisor": lambda: rf"\gcd({'7' * 20_000},{'9' * 20_000})",
    "repeated roots": lambda: "+".join(rf"\sqrt{{{n}}}" for n in range(2, 60)),
}
"""Texts that are more than pieces repeated."""

_OPENINGS: Final[list[str]] = read_table("texts")["openings"]
_FILLINGS: Final = (("letters", "a"), ("spaces", " "), ("words", "a b "), ("lines", "a\n"))
_FILLED: Final = 20_000


def _unclosed(opening: str, filling: tuple[str, str]) -> HostileText:
    name, text = filling
    title = f"{opening.strip()} and {name} without an end"
    return title, lambda: opening + text * (_FILLED // len(text))


_UNCLOSED: Final[tuple[HostileText, ...]] = tuple(
    _unclosed(opening, filling) for opening in _OPENINGS for filling in _FILLINGS
)
