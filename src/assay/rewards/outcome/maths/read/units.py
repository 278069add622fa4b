"""The units of measure: their spellings, and the conversion factors between units."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any, Final

from assay.lazy import package_table
from assay.text.word_tables import phrases

Unit = tuple[tuple[str, int], ...]

_TABLE: Final[dict[str, Any]] = package_table(__package__, "units")
_PREFIXES: Final = {
    letter: (word, int(power))
    for letter, word, power in map(str.split, phrases(_TABLE["prefixes"]))
}
_PREFIXED: Final = [
    (prefix, name)
    for name, (_, _, _, *prefixes) in _TABLE["measures"].items()
    for prefix in " ".join(prefixes).split()
]
"""Prefixes that people write, each with its unit."""
_WORDS: Final = {
    **{name: row[0].split() for name, row in _TABLE["measures"].items()},
    **{name: words for name, *words in map(str.split, phrases(_TABLE["no_sizes"]))},
}
SPELLINGS: Final[dict[str, str]] = {
    **{spelling: name for name, words in _WORDS.items() for spelling in words},
    **{
        spelling: prefix + name
        for prefix, name in _PREFIXED
        for spelling in (
            prefix + name,
            *(_PREFIXES[prefix][0] + word for word in _WORDS[name] if len(word) > 2),
        )
        if prefix + name != "pm"
    },
}
"""Every spelling of a unit to its one name; single letters count only inside text commands."""
ATTACHED: Final = frozenset(_TABLE["attached"].split())
CURRENCIES: Final[dict[str, str]] = _TABLE["currencies"]
POWER_WORDS: Final[dict[str, int]] = _TABLE["power_words"]


SCALES: Final[dict[str, tuple[Unit, Fraction]]] = {
    name: (
        tuple((dimension, int(power or 1)) for dimension, _, power in parts),
        Fraction(size),
    )
    for name, (_, of, size, *_) in _TABLE["measures"].items()
    for parts in [[part.partition("^") for part in of.split()]]
}
"""Units to their dimensions with their powers, and their size."""
SCALES.update(
    (prefix + name, (SCALES[name][0], SCALES[name][1] * Fraction(10) ** _PREFIXES[prefix][1]))
    for prefix, name in _PREFIXED
)

_POWER: Final = re.compile(r"\^-?\d{1,2}")
_TEMPERATURES: Final[dict[str, str]] = _TABLE["temperatures"]


def multiply(left: Unit, right: Unit, sign: int = 1) -> Unit:
    """The unit of a product of two quantities, or of a quotient if `sign` is -1."""
    powers = dict(left)
    for name, power in right:
        powers[name] = powers.get(name, 0) + sign * power
    return tuple(sorted((name, power) for name, power in powers.items() if power))


def factor_between(source: Unit, target: Unit) -> Fraction | None:
    """The conversion factor between two units, or None if they measure different things."""
    if source == target:
        return Fraction(1)
    there, back = _dimension(source), _dimension(target)
    if there is None or back is None or there[0] != back[0]:
        return None
    return there[1] / back[1]


def read_phrase(phrase: str) -> Unit | None:
    """The unit that a phrase such as `square feet` or `km per hour` names, or None."""
    degrees, _, scale = phrase.lower().partition(" ")
    if degrees in ("degree", "degrees") and scale in _TEMPERATURES:
        return ((_TEMPERATURES[scale], 1),)
    unit: Unit = ()
    last: Unit = ()
    sign, power = 1, 1
    spelling = phrase.replace("sq.", "sq").replace("cu.", "cu").replace("/", " per ")
    for word in spelling.replace("^", " ^").replace("·", " ").split():
        if word == "per":
            sign = -1
        elif word in ("square", "sq", "cubic", "cu"):
            power = POWER_WORDS[word]
        elif word in ("squared", "cubed") or word[0] == "^":
            if not last or not (word in POWER_WORDS or _POWER.fullmatch(word)):
                return None
            unit, last = multiply(unit, last, (POWER_WORDS.get(word) or int(word[1:])) - 1), ()
        else:
            name = SPELLINGS.get(word) or CURRENCIES.get(word)
            if name is None and len(word) > 1:
                name = SPELLINGS.get(word.rstrip(".").lower()) or SPELLINGS.get(word.rstrip("."))
            if name is None:
                return None
            last = ((name, sign * power),)
            unit = multiply(unit, last)
            power = 1
    return unit or None


def _dimension(unit: Unit) -> tuple[tuple[tuple[str, int], ...], Fraction] | None:
    total = Fraction(1)
    powers: dict[str, int] = {}
    for name, power in unit:
        scale_of_unit = SCALES.get(name)
        if scale_of_unit is None or abs(power) > 6:
            return None
        dimensions, scale = scale_of_unit
        for dimension, count in dimensions:
            powers[dimension] = powers.get(dimension, 0) + count * power
        total *= scale**power
    return tuple(sorted((name, count) for name, count in powers.items() if count)), total
