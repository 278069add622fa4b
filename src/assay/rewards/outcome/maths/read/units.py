"""Units of measure: spellings to names, and exact factors between units of one dimension."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

Unit = tuple[tuple[str, int], ...]

_LENGTH: Final = (("length", 1),)
_AREA: Final = (("length", 2),)
_VOLUME: Final = (("length", 3),)
_TIME: Final = (("time", 1),)
_MASS: Final = (("mass", 1),)
_MONTHS: Final = (("months", 1),)
_MONEY: Final = (("money", 1),)
_SPEED: Final = (("length", 1), ("time", -1))
_FORCE: Final = (("length", 1), ("mass", 1), ("time", -2))
_ENERGY: Final = (("length", 2), ("mass", 1), ("time", -2))
_POWER: Final = (("length", 2), ("mass", 1), ("time", -3))
_INCH: Final = Fraction(254, 10_000)
_MILE: Final = 63_360 * _INCH
_POUND: Final = Fraction(45_359_237, 100_000)
_GALLON: Final = 231 * _INCH**3
_MEASURES: Final[dict[str, tuple[str, Unit, int | Fraction]]] = {
    "m": ("m meter meters metre metres", _LENGTH, 1),
    "in": ("in inch inches", _LENGTH, _INCH),
    "ft": ("ft foot feet", _LENGTH, 12 * _INCH),
    "yd": ("yd yard yards", _LENGTH, 36 * _INCH),
    "mi": ("mi mile miles", _LENGTH, _MILE),
    "acre": ("acre acres", _AREA, _MILE**2 / 640),
    "hectare": ("ha hectare hectares", _AREA, 10_000),
    "s": ("s sec secs second seconds", _TIME, 1),
    "min": ("min mins minute minutes", _TIME, 60),
    "h": ("h hr hrs hour hours", _TIME, 3_600),
    "day": ("day days", _TIME, 86_400),
    "week": ("week weeks", _TIME, 604_800),
    "month": ("month months", _MONTHS, 1),
    "year": ("yr yrs year years", _MONTHS, 12),
    "g": ("g gram grams gramme grammes", _MASS, 1),
    "lb": ("lb lbs pound pounds", _MASS, _POUND),
    "oz": ("oz ounce ounces", _MASS, _POUND / 16),
    "ton": ("ton tons tonne tonnes", _MASS, 10**6),
    "L": ("l L liter liters litre litres", _VOLUME, Fraction(1, 1_000)),
    "gal": ("gal gallon gallons", _VOLUME, _GALLON),
    "qt": ("qt quart quarts", _VOLUME, _GALLON / 4),
    "pt": ("pint pints", _VOLUME, _GALLON / 8),
    "cup": ("cup cups", _VOLUME, _GALLON / 16),
    "N": ("N newton newtons", _FORCE, 1_000),
    "J": ("J joule joules", _ENERGY, 1_000),
    "cal": ("cal calorie calories", _ENERGY, 4_184),
    "kWh": ("kWh", _ENERGY, 3_600_000_000),
    "W": ("W watt watts", _POWER, 1_000),
    "Pa": ("Pa pascal pascals", (("length", -1), ("mass", 1), ("time", -2)), 1_000),
    "V": ("V volt volts", (("current", -1), *_POWER), 1_000),
    "A": ("amp amps ampere amperes", (("current", 1),), 1),
    "C": ("coulomb coulombs", (("current", 1), ("time", 1)), 1),
    "F": (
        "farad farads",
        (("current", 2), ("length", -2), ("mass", -1), ("time", 4)),
        Fraction(1, 1_000),
    ),
    "ohm": ("ohm ohms", (("current", -2), *_POWER), 1_000),
    "Hz": ("Hz hertz", (("time", -1),), 1),
    "mol": ("mol mole moles", (("amount", 1),), 1),
    "usd": ("dollar dollars USD usd buck bucks", _MONEY, 1),
    "cent": ("cent cents", _MONEY, Fraction(1, 100)),
    "mph": ("mph", _SPEED, _MILE / 3_600),
    "kph": ("kph kmh kmph", _SPEED, Fraction(1_000, 3_600)),
    "eV": ("eV", (("electronvolts", 1),), 1),
    "erg": ("erg ergs", _ENERGY, Fraction(1, 10_000)),
    "dyne": ("dyne dynes", _FORCE, Fraction(1, 100)),
}
"""Spellings of a unit, its dimensions, and its size in metres, grams, seconds, amperes and the
like."""
_NO_SIZES: Final = {
    "kg": "kilo kilos",
    "mL": "ml cc",
    "K": "K kelvin kelvins",
    "rad": "rad rads radian radians",
    "deg": "deg degs degree degrees",
    "percent": "percent pct percentage percents",
    "eur": "euro euros EUR",
    "gbp": "GBP",
    "rpm": "rpm",
    "ordinal": "ordinal",
    "degC": "celsius",
    "degF": "fahrenheit",
    "AU": "AU",
    "pc": "parsec parsecs",
}
"""Spellings of units that are not converted, or only by their prefix."""
_PREFIXES: Final = {
    "p": ("pico", -12), "n": ("nano", -9), "u": ("micro", -6), "m": ("milli", -3),
    "c": ("centi", -2), "d": ("deci", -1), "h": ("hecto", 2), "k": ("kilo", 3), "M": ("mega", 6),
    "G": ("giga", 9),
}  # fmt: skip
_PREFIXED: Final = {
    "m": "p n u m c d k", "g": "n u m k", "s": "n u m", "L": "u m c d h", "N": "m k M",
    "J": "m k M G", "W": "m k M G", "Pa": "h k M G", "V": "u m k M", "A": "u m k", "Hz": "k M G",
    "eV": "k M G", "mol": "u m k", "cal": "k", "F": "p n u m", "C": "n u m", "ohm": "m k M",
}  # fmt: skip
"""Units with the prefixes that people write before them."""

_WORDS: Final = {**{name: row[0] for name, row in _MEASURES.items()}, **_NO_SIZES}
SPELLINGS: Final = {
    **{spelling: name for name, words in _WORDS.items() for spelling in words.split()},
    **{
        spelling: prefix + name
        for name, prefixes in _PREFIXED.items()
        for prefix in prefixes.split()
        for spelling in (
            prefix + name,
            *(_PREFIXES[prefix][0] + word for word in _WORDS[name].split() if len(word) > 2),
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

_SIZES: Final = {name: (unit, Fraction(size)) for name, (_, unit, size) in _MEASURES.items()}
SCALES: Final = {
    **_SIZES,
    **{
        prefix + name: (_SIZES[name][0], _SIZES[name][1] * Fraction(10) ** _PREFIXES[prefix][1])
        for name, prefixes in _PREFIXED.items()
        for prefix in prefixes.split()
    },
}

_TEMPERATURES: Final = {
    f"{lead}{scale}": f"deg{scale[0].upper()}"
    for lead in ("degree ", "degrees ")
    for scale in ("celsius", "fahrenheit", "centigrade")
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
    if phrase.lower() in _TEMPERATURES:
        return ((_TEMPERATURES[phrase.lower()], 1),)
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
            raised = POWER_WORDS.get(word) or _small_power(word[1:])
            if not last or raised is None:
                return None
            unit, last = multiply(unit, last, raised - 1), ()
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
