"""What a case is, how families of cases are named, and how they are drawn."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Case:
    """A reference, an answer, and whether they are the same."""

    family: str
    reference: str
    answer: str
    equal: bool


Forms: TypeAlias = Sequence[str]
Draw: TypeAlias = Callable[[random.Random], tuple[Forms, Forms]]
"""Forms of one value, any two of which are equal; and answers that equal none of them."""

MODULES = ("numbers", "expressions", "compositions", "sets", "notations", "outside")
_FAMILIES: dict[str, Draw] = {}


@dataclass(frozen=True, slots=True)
class Family:
    """One kind of answer."""

    name: str
    draw: Draw


def family(draw: Draw) -> Draw:
    """Make the function a family under its own name."""
    _FAMILIES[draw.__name__] = draw
    return draw


def families() -> list[Family]:
    """Every family, by name."""
    for module in MODULES:
        import_module(f"perf.maths_cases.{module}")
    return [Family(name, _FAMILIES[name]) for name in sorted(_FAMILIES)]


def cases(*, seed: int, count: int, equal: bool | None = None) -> Iterator[Case]:
    """So many cases, the families in turn; with `equal`, only those of that label."""
    rng = random.Random(seed)
    every = families()
    made = 0
    while made < count:
        for member in every:
            forms, others = member.draw(rng)
            case = _pick(member.name, forms, others, rng, equal)
            if case is not None:
                yield case
                made += 1
                if made == count:
                    return


def _pick(
    name: str, forms: Forms, others: Forms, rng: random.Random, equal: bool | None
) -> Case | None:
    right = rng.random() < 0.5 if equal is None else equal
    candidates = [form for form in forms if len(forms) > 1] if right else others
    if not candidates:
        return None
    # The first form is how a data set would write the value; others write it so now and then.
    reference = forms[0] if rng.random() < 0.7 else rng.choice(forms)
    answer = rng.choice([text for text in candidates if text != reference] or [*candidates])
    return Case(name, reference, answer, right)
