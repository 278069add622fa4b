"""Units of measure: spellings to names, and exact factors between units of one dimension."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

Unit = tuple[tuple[str, int], ...]

SPELLINGS: Final = {
    spelling: name
    for name, spellings in {
        "m": "m meter meters metre metres",
        "cm": "cm centimeter centimeters centimetre centimetres",
        "mm": "mm millimeter millimeters millimetre millimetres",
        "km": "km kilometer kilometers kilometre kilometres",
        "in": "in inch inches",
        "ft": "ft foot feet",
        "yd": "yd yard yards",
        "mi": "mi mile miles",
        "s": "s sec secs second seconds",
        "min": "min mins minute minutes",
        "h": "h hr hrs hour hours",
        "day": "day days",
        "week": "week weeks",
        "month": "month months",
        "year": "yr yrs year years",
        "g": "g gram grams gramme grammes",
        "mg": "mg milligram milligrams",
        "kg": "kg kilogram kilograms kilo kilos",
        "lb": "lb lbs pound pounds",
        "oz": "oz ounce ounces",
        "ton": "ton tons tonne tonnes",
        "L": "l L liter liters litre litres",
        "mL": "ml mL milliliter milliliters millilitre millilitres",
        "gal": "gal gallon gallons",
        "N": "N newton newtons",
        "J": "J joule joules",
        "kJ": "kJ kilojoule kilojoules",
        "W": "W watt watts",
        "kW": "kW kilowatt kilowatts",
        "Pa": "Pa pascal pascals",
        "V": "V volt volts",
        "A": "amp amps ampere amperes",
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
        "rpm": "rpm",
        "eV": "eV",
        "erg": "erg ergs",
        "dyne": "dyne dynes",
        "AU": "AU",
        "pc": "parsec parsecs",
    }.items()
    for spelling in spellings.split()
}
"""Every spelling of a unit to its one name; single letters count only inside text commands."""

ATTACHED: Final = frozenset("km cm mm kg mg ml mL kJ kW Hz mph kph km/h ft lbs mins hrs".split())
"""Units that are recognised when they touch the number."""

CURRENCIES: Final = {"$": "usd", "€": "eur", "£": "gbp", "¥": "yen", "¢": "cent"}

SCALES: Final = {
    "m": ("length", Fraction(1)),
    "cm": ("length", Fraction(1, 100)),
    "mm": ("length", Fraction(1, 1000)),
    "km": ("length", Fraction(1000)),
    "in": ("length", Fraction(254, 10000)),
    "ft": ("length", Fraction(3048, 10000)),
    "yd": ("length", Fraction(9144, 10000)),
    "mi": ("length", Fraction(1609344, 1000)),
    "s": ("time", Fraction(1)),
    "min": ("time", Fraction(60)),
    "h": ("time", Fraction(3600)),
    "day": ("time", Fraction(86400)),
    "week": ("time", Fraction(604800)),
    "g": ("mass", Fraction(1)),
    "mg": ("mass", Fraction(1, 1000)),
    "kg": ("mass", Fraction(1000)),
    "L": ("volume", Fraction(1)),
    "mL": ("volume", Fraction(1, 1000)),
    "usd": ("money", Fraction(1)),
    "cent": ("money", Fraction(1, 100)),
    "J": ("energy", Fraction(1)),
    "kJ": ("energy", Fraction(1000)),
    "W": ("power", Fraction(1)),
    "kW": ("power", Fraction(1000)),
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
            name = name or SPELLINGS.get(word.rstrip(".").lower())
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
        known = SCALES.get(name)
        if known is None or abs(power) > 6:
            return None
        dimension, scale = known
        powers[dimension] = powers.get(dimension, 0) + power
        total *= scale**power
    return tuple(sorted(powers.items())), total
