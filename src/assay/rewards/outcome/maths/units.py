"""Units of measure: spellings to names, and exact factors between units of one dimension."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from assay.rewards.outcome.maths.lexicon import RETRACTIONS
from assay.rewards.outcome.maths.limits import UnreadableAnswer

Unit = tuple[tuple[str, int], ...]

_WORDS: Final = {
    "m": "m meter meters metre metres",
    "in": "in inch inches",
    "ft": "ft foot feet",
    "yd": "yd yard yards",
    "mi": "mi mile miles",
    "acre": "acre acres",
    "hectare": "ha hectare hectares",
    "s": "s sec secs second seconds",
    "min": "min mins minute minutes",
    "h": "h hr hrs hour hours",
    "day": "day days",
    "week": "week weeks",
    "month": "month months",
    "year": "yr yrs year years",
    "g": "g gram grams gramme grammes",
    "kg": "kilo kilos",
    "lb": "lb lbs pound pounds",
    "oz": "oz ounce ounces",
    "ton": "ton tons tonne tonnes",
    "L": "l L liter liters litre litres",
    "mL": "ml cc",
    "gal": "gal gallon gallons",
    "qt": "qt quart quarts",
    "pt": "pint pints",
    "cup": "cup cups",
    "N": "N newton newtons",
    "J": "J joule joules",
    "cal": "cal calorie calories",
    "kWh": "kWh",
    "W": "W watt watts",
    "Pa": "Pa pascal pascals",
    "V": "V volt volts",
    "A": "amp amps ampere amperes",
    "C": "coulomb coulombs",
    "F": "farad farads",
    "ohm": "ohm ohms",
    "K": "K kelvin kelvins",
    "Hz": "Hz hertz",
    "mol": "mol mole moles",
    "rad": "rad rads radian radians",
    "deg": "deg degs degree degrees",
    "percent": "percent pct percentage percents",
    "usd": "dollar dollars USD usd buck bucks",
    "cent": "cent cents",
    "eur": "euro euros EUR",
    "gbp": "GBP",
    "mph": "mph",
    "kph": "kph kmh",
    "rpm": "rpm",
    "eV": "eV",
    "erg": "erg ergs",
    "dyne": "dyne dynes",
    "AU": "AU",
    "pc": "parsec parsecs",
}
_PREFIX_WORDS: Final = {
    "p": "pico", "n": "nano", "u": "micro", "m": "milli", "c": "centi", "d": "deci", "h": "hecto",
    "k": "kilo", "M": "mega", "G": "giga",
}  # fmt: skip
_PREFIXED: Final = {
    "m": "p n u m c d k", "g": "n u m k", "s": "n u m", "L": "u m c d h", "N": "m k M",
    "J": "m k M G", "W": "m k M G", "Pa": "h k M G", "V": "u m k M", "A": "u m k", "Hz": "k M G",
    "eV": "k M G", "mol": "u m k", "cal": "k", "F": "p n u m", "C": "n u m", "ohm": "m k M",
}  # fmt: skip
"""Units with the prefixes that people write before them."""

SPELLINGS: Final = {
    **{spelling: name for name, words in _WORDS.items() for spelling in words.split()},
    **{
        spelling: prefix + name
        for name, prefixes in _PREFIXED.items()
        for prefix in prefixes.split()
        for spelling in (
            prefix + name,
            *(_PREFIX_WORDS[prefix] + word for word in _WORDS[name].split() if len(word) > 2),
        )
        if prefix + name != "pm"
    },
}
"""Every spelling of a unit to its one name; single letters count only inside text commands."""

ATTACHED: Final = frozenset(
    "km cm mm nm kg mg ml mL kJ kW MW kPa MPa kHz MHz GHz kWh Hz mph kph ft lbs mins hrs".split()
)
"""Units that are recognised when they touch the number."""

CURRENCIES: Final = {"$": "usd", "€": "eur", "£": "gbp", "¥": "yen", "¢": "cent"}

_PREFIXES: Final = {
    "p": -12, "n": -9, "u": -6, "m": -3, "c": -2, "d": -1, "h": 2, "k": 3, "M": 6, "G": 9,
}  # fmt: skip
_LENGTH: Final = (("length", 1),)
_AREA: Final = (("length", 2),)
_VOLUME: Final = (("length", 3),)
_SPEED: Final = (("length", 1), ("time", -1))
_FORCE: Final = (("length", 1), ("mass", 1), ("time", -2))
_ENERGY: Final = (("length", 2), ("mass", 1), ("time", -2))
_POWER: Final = (("length", 2), ("mass", 1), ("time", -3))
_INCH: Final = Fraction(254, 10_000)
_MILE: Final = 63_360 * _INCH
_POUND: Final = Fraction(45_359_237, 100_000)
_GALLON: Final = 231 * _INCH**3
_SCALES: Final[dict[str, tuple[Unit, Fraction]]] = {
    "m": (_LENGTH, Fraction(1)),
    "in": (_LENGTH, _INCH),
    "ft": (_LENGTH, 12 * _INCH),
    "yd": (_LENGTH, 36 * _INCH),
    "mi": (_LENGTH, _MILE),
    "acre": (_AREA, _MILE**2 / 640),
    "hectare": (_AREA, Fraction(10_000)),
    "s": ((("time", 1),), Fraction(1)),
    "min": ((("time", 1),), Fraction(60)),
    "h": ((("time", 1),), Fraction(3_600)),
    "day": ((("time", 1),), Fraction(86_400)),
    "week": ((("time", 1),), Fraction(604_800)),
    "month": ((("months", 1),), Fraction(1)),
    "year": ((("months", 1),), Fraction(12)),
    "g": ((("mass", 1),), Fraction(1)),
    "ton": ((("mass", 1),), Fraction(10**6)),
    "lb": ((("mass", 1),), _POUND),
    "oz": ((("mass", 1),), _POUND / 16),
    "L": (_VOLUME, Fraction(1, 1_000)),
    "gal": (_VOLUME, _GALLON),
    "qt": (_VOLUME, _GALLON / 4),
    "pt": (_VOLUME, _GALLON / 8),
    "cup": (_VOLUME, _GALLON / 16),
    "usd": ((("money", 1),), Fraction(1)),
    "cent": ((("money", 1),), Fraction(1, 100)),
    "N": (_FORCE, Fraction(1_000)),
    "dyne": (_FORCE, Fraction(1, 100)),
    "J": (_ENERGY, Fraction(1_000)),
    "erg": (_ENERGY, Fraction(1, 10_000)),
    "cal": (_ENERGY, Fraction(4_184)),
    "kWh": (_ENERGY, Fraction(3_600_000_000)),
    "W": (_POWER, Fraction(1_000)),
    "Pa": ((("length", -1), ("mass", 1), ("time", -2)), Fraction(1_000)),
    "Hz": ((("time", -1),), Fraction(1)),
    "A": ((("current", 1),), Fraction(1)),
    "C": ((("current", 1), ("time", 1)), Fraction(1)),
    "V": ((("current", -1), *_POWER), Fraction(1_000)),
    "ohm": ((("current", -2), *_POWER), Fraction(1_000)),
    "F": ((("current", 2), ("length", -2), ("mass", -1), ("time", 4)), Fraction(1, 1_000)),
    "mol": ((("amount", 1),), Fraction(1)),
    "eV": ((("electronvolts", 1),), Fraction(1)),
    "mph": (_SPEED, _MILE / 3_600),
    "kph": (_SPEED, Fraction(1_000, 3_600)),
}
"""Dimensions of a unit, and its size in metres, grams, seconds, amperes and the like."""

SCALES: Final = {
    **_SCALES,
    **{
        prefix + name: (_SCALES[name][0], _SCALES[name][1] * Fraction(10) ** _PREFIXES[prefix])
        for name, prefixes in _PREFIXED.items()
        for prefix in prefixes.split()
    },
}

POWER_WORDS: Final = {"square": 2, "sq": 2, "squared": 2, "cubic": 3, "cu": 3, "cubed": 3}


def multiply(left: Unit, right: Unit, sign: int = 1) -> Unit:
    """The unit of a product, or of a quotient when `sign` is -1."""
    powers = dict(left)
    for name, power in right:
        powers[name] = powers.get(name, 0) + sign * power
    return tuple(sorted((name, power) for name, power in powers.items() if power))


def factor_between(source: Unit, target: Unit) -> Fraction | None:
    """How many `target` one `source` is, or None if they measure different things."""
    if source == target:
        return Fraction(1)
    there, back = _dimension(source), _dimension(target)
    if there is None or back is None or there[0] != back[0]:
        return None
    return there[1] / back[1]


def read_phrase(phrase: str) -> Unit | None:
    """The unit that a phrase such as `square feet` or `km per hour` names, if it names one."""
    unit: Unit = ()
    last: Unit = ()
    sign, power = 1, 1
    for word in phrase.replace("/", " per ").replace("^", " ^").replace("·", " ").split():
        if word == "per":
            sign = -1
        elif word in ("square", "sq", "cubic", "cu"):
            power = POWER_WORDS[word]
        elif word in ("squared", "cubed") or word[0] == "^":
            raised = POWER_WORDS.get(word) or _small_power(word[1:])
            if not last or raised is None:
                return None
            unit, last = multiply(unit, last, raised - 1), ()
        else:
            name = SPELLINGS.get(word) or CURRENCIES.get(word)
            if name is None and len(word) > 1:
                name = SPELLINGS.get(word.rstrip(".").lower())
            if name is None:
                return None
            last = ((name, sign * power),)
            unit = multiply(unit, last)
            power = 1
    return unit or None


def counted_noun(phrase: str) -> str:
    """What is counted, in one spelling; a phrase that makes a statement is refused."""
    words = phrase.lower().strip(" .").split()
    if len(words) > 6 or any(word.strip(",.()!?") in RETRACTIONS for word in words):
        raise UnreadableAnswer(f"{phrase!r} after a value")
    if not all(word.replace("-", "").replace("'", "").strip(".,()").isalpha() for word in words):
        raise UnreadableAnswer(f"{phrase!r} after a value")
    return " ".join(word[:-1] if len(word) > 3 and word.endswith("s") else word for word in words)


def _small_power(text: str) -> int | None:
    digits = text[1:] if text.startswith("-") else text
    return int(text) if digits.isdigit() and len(digits) < 3 else None


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
