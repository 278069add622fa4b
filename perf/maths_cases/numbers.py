"""Integers, fractions, decimals, roots and complex numbers; words and units after a number."""

from __future__ import annotations

import math
import random
from fractions import Fraction

from perf.maths_cases.case import Forms, family

MULTIPLYING_WORDS = ("million", "billion", "thousand", "hundred", "dozen", "trillion")
OTHER_WORDS = (
    "halves",
    "below zero",
    "factorial",
    "excluded",
    "rejected",
    "impossible",
    "doubled",
    "squared",
    "base seven",
    "hex",
    "too many",
    "is not possible",
    "or more",
    "at most",
    "times ten",
    "thirds",
    "percent less",
    "in base 8",
    "mod 3",
    "cubed",
    "negated",
    "inverted",
    "minus one",
    "plus one",
    "recurring",
    "to the power two",
    "is a trap",
    "is the wrong value",
    "tenths",
)
COUNT_NOUNS = ("apples", "students", "ways", "pairs", "people", "marbles", "books", "triangles")
WORDS = (
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
)
UNITS = {
    "cm": ("cm", "centimeters"),
    "kg": ("kg", "kilograms"),
    "km": ("km", "kilometers"),
    "hours": ("hours", "h"),
}


def _grouped(value: int, separator: str) -> str:
    return f"{value:,}".replace(",", separator)


def _integer(rng: random.Random) -> int:
    return rng.choice((rng.randint(2, 20), rng.randint(21, 999), rng.randint(1000, 10**7)))


@family
def integer(rng: random.Random) -> tuple[Forms, Forms]:
    n = _integer(rng)
    k = rng.randint(2, 9)
    a = rng.randint(1, n - 1)
    forms = [
        str(n),
        f"{n}.0",
        rf"\text{{{n}}}",
        rf"\frac{{{n * k}}}{{{k}}}",
        f"x={n}",
        f"{a}+{n - a}",
        rf"{n + k}-{k}",
        rf"\mathbf{{{n}}}",
        rf"\left({n}\right)",
        f"+{n}",
    ]
    if n >= 1000:
        forms += [_grouped(n, ","), _grouped(n, "{,}"), _grouped(n, r"\,")]
    others = [
        str(n + 1),
        str(n - 1),
        str(-n),
        str(n * 10),
        f"{n}.1",
        f"{n}!" if n > 2 else "7",
        rf"\frac{{{n}}}{{{k}}}",
        rf"\sqrt{{{n}}}",
        f"{n}^2",
        f"{n}{n}",
        rf"\frac{{1}}{{{n}}}",
        f"{n}+{k}",
        f"{n},{n + 1}",
        f"{n}i",
        f"{n}x",
        rf"{n}\pi",
        rf"\log {n + k}",
    ]
    return forms, others


@family
def integer_with_words(rng: random.Random) -> tuple[Forms, Forms]:
    n = rng.randint(2, 900)
    noun = rng.choice(COUNT_NOUNS)
    forms = [str(n), rf"{n} \text{{ {noun}}}", rf"{n}\ \text{{{noun}}}"]
    words = [*rng.sample(OTHER_WORDS, 6), *rng.sample(MULTIPLYING_WORDS, 3)]
    return forms, [rf"{n} \text{{ {word}}}" for word in words]


@family
def multiplied(rng: random.Random) -> tuple[Forms, Forms]:
    word, factor = rng.choice((("million", 10**6), ("thousand", 1000), ("billion", 10**9)))
    n = rng.randint(2, 90)
    forms = [str(n * factor), rf"{n} \text{{ {word}}}", _grouped(n * factor, ",")]
    others = [str(n), str(n * factor * 10), rf"{n + 1} \text{{ {word}}}", rf"{n} \text{{ dozen}}"]
    return forms, others


@family
def number_word(rng: random.Random) -> tuple[Forms, Forms]:
    n = rng.randint(2, 19)
    forms = [str(n), rf"\text{{{WORDS[n]}}}", WORDS[n].capitalize()]
    return forms, [rf"\text{{{WORDS[n + 1]}}}", WORDS[n - 1], rf"\text{{minus {WORDS[n]}}}"]


@family
def exact_integer(rng: random.Random) -> tuple[Forms, Forms]:
    base, exponent = rng.choice((2, 3, 5, 6, 7, 11, 12, 13)), rng.randint(12, 60)
    value = base**exponent
    digits = len(str(value)) - 1
    head = f"{value / 10**digits:.5f}"
    forms = [str(value), f"{base}^{{{exponent}}}", rf"{base}\cdot {base}^{{{exponent - 1}}}"]
    others = [
        str(value + 1),
        str(value - 10),
        f"{base}^{{{exponent + 1}}}",
        f"{base + 1}^{{{exponent}}}",
        rf"{head}\times 10^{{{digits}}}" if digits > 7 else str(value * 10),
        str(value)[:-1],
        f"{base}^{{{exponent}}}+1",
        f"{base}^{{{exponent}}}-1",
    ]
    return forms, others


@family
def factorial(rng: random.Random) -> tuple[Forms, Forms]:
    n = rng.randint(5, 25)
    value = math.factorial(n)
    forms = [f"{n}!", str(value), rf"{n}\cdot {n - 1}!"]
    return forms, [f"{n + 1}!", str(value + 1), f"{n}", f"{n - 1}!", rf"({n}!)^2", f"2\\cdot {n}!"]


@family
def fraction(rng: random.Random) -> tuple[Forms, Forms]:
    q = rng.randint(2, 60)
    p = rng.choice([n for n in range(1, 4 * q) if math.gcd(n, q) == 1])
    sign = rng.choice(("", "-"))
    k = rng.randint(2, 9)
    forms = [
        rf"{sign}\frac{{{p}}}{{{q}}}",
        rf"{sign}\dfrac{{{p}}}{{{q}}}",
        f"{sign}{p}/{q}",
        rf"{sign}\frac{{{p * k}}}{{{q * k}}}",
        rf"\frac{{{sign}{p}}}{{{q}}}",
        rf"{sign}{{{p} \over {q}}}",
        rf"{sign}\tfrac{{{p}}}{{{q}}}",
        rf"{sign}{p} \cdot \frac{{1}}{{{q}}}",
    ]
    if p > q and not sign:
        forms.append(rf"{p // q}\frac{{{p % q}}}{{{q}}}")
    if not (10**6) % q:
        exact = Fraction(p, q)
        text = f"{exact.numerator * 10**6 // exact.denominator:07d}"
        forms.append(f"{sign}{text[:-6]}.{text[-6:].rstrip('0')}")
    other = "-" if not sign else ""
    others = [
        rf"{other}\frac{{{p}}}{{{q}}}",
        rf"{sign}\frac{{{p + 1}}}{{{q}}}",
        rf"{sign}\frac{{{p}}}{{{q + 1}}}",
        rf"{sign}\frac{{{p + q}}}{{{q}}}",
        rf"{sign}{p}{q}",
        f"{sign}{p}.{q}",
        rf"\sqrt{{\frac{{{p}}}{{{q}}}}}",
    ]
    if p != 1:
        others += [rf"{sign}\frac{{{q}}}{{{p}}}", rf"{sign}\frac{{1}}{{{q}}}"]
    return forms, others


@family
def decimal(rng: random.Random) -> tuple[Forms, Forms]:
    places = rng.randint(1, 4)
    n = rng.choice([n for n in range(1, 10**places) if n % 10]) + rng.randint(0, 30) * 10**places
    whole, rest = divmod(n, 10**places)
    text = f"{whole}.{rest:0{places}d}"
    forms = [text, f"{text}0", rf"\frac{{{n}}}{{{10**places}}}", rf"{n}\times 10^{{-{places}}}"]
    others = [
        f"{whole}.{rest:0{places}d}1",
        f"{whole}.0{rest:0{places}d}",
        f"{whole + 1}.{rest:0{places}d}",
        str(n),
        f"-{text}",
        f"{whole},{rest:0{places}d},7",
    ]
    return forms, others


@family
def scientific(rng: random.Random) -> tuple[Forms, Forms]:
    digit, more, exponent = rng.randint(1, 9), rng.randint(1, 9), rng.randint(4, 9)
    plain = int(f"{digit}{more}") * 10 ** (exponent - 1)
    forms = [
        rf"{digit}.{more}\times 10^{{{exponent}}}",
        str(plain),
        rf"{digit}.{more}\cdot 10^{exponent}",
        rf"{digit}{more}\times 10^{{{exponent - 1}}}",
    ]
    others = [
        rf"{digit}.{more}\times 10^{{{exponent + 1}}}",
        rf"{digit}.{more}\times 10^{{-{exponent}}}",
        str(plain * 10),
        str(plain + 1),
        rf"{more}.{digit}\times 10^{{{exponent}}}" if more != digit else str(plain - 1),
        rf"{digit}.{more}^{{{exponent}}}",
    ]
    return forms, others


def _square_free(rng: random.Random) -> int:
    return rng.choice((2, 3, 5, 6, 7, 10, 11, 13, 14, 15, 17, 19, 21))


@family
def root(rng: random.Random) -> tuple[Forms, Forms]:
    c, b = _square_free(rng), rng.randint(2, 9)
    forms = [
        rf"{b}\sqrt{{{c}}}",
        rf"\sqrt{{{b * b * c}}}",
        rf"\frac{{{b * c}}}{{\sqrt{{{c}}}}}",
        rf"\sqrt{{{c}}}\cdot {b}",
        rf"{b}\cdot {c}^{{1/2}}",
        rf"{b}({c})^{{\frac{{1}}{{2}}}}",
    ]
    others = [
        rf"{b + 1}\sqrt{{{c}}}",
        rf"{b}\sqrt{{{c + 1}}}",
        rf"\sqrt{{{b * c}}}",
        rf"-{b}\sqrt{{{c}}}",
        rf"{b}\sqrt[3]{{{c}}}",
        f"{b * c}",
        rf"\pm {b}\sqrt{{{c}}}",
        rf"{b}+\sqrt{{{c}}}",
    ]
    return forms, others


@family
def quadratic_number(rng: random.Random) -> tuple[Forms, Forms]:
    c, a, b, d = _square_free(rng), rng.randint(1, 9), rng.randint(2, 9), rng.randint(2, 7)
    forms = [
        rf"\frac{{{a}+{b}\sqrt{{{c}}}}}{{{d}}}",
        rf"\frac{{{b}\sqrt{{{c}}}+{a}}}{{{d}}}",
        rf"\frac{{{a}}}{{{d}}}+\frac{{{b}\sqrt{{{c}}}}}{{{d}}}",
        rf"\frac{{1}}{{{d}}}\left({a}+{b}\sqrt{{{c}}}\right)",
    ]
    others = [
        rf"\frac{{{a}-{b}\sqrt{{{c}}}}}{{{d}}}",
        rf"\frac{{{a}+{b}\sqrt{{{c}}}}}{{{d + 1}}}",
        rf"{a}+\frac{{{b}\sqrt{{{c}}}}}{{{d}}}",
        rf"\frac{{{a + 1}+{b}\sqrt{{{c}}}}}{{{d}}}",
        rf"\frac{{{a}\pm {b}\sqrt{{{c}}}}}{{{d}}}",
        rf"\frac{{-{a}+{b}\sqrt{{{c}}}}}{{{d}}}",
    ]
    return forms, others


@family
def multiple_of_pi(rng: random.Random) -> tuple[Forms, Forms]:
    q = rng.randint(2, 12)
    p = rng.choice([n for n in range(1, 3 * q) if math.gcd(n, q) == 1])
    top = "" if p == 1 else str(p)
    forms = [
        rf"\frac{{{top}\pi}}{{{q}}}",
        rf"\frac{{{p}}}{{{q}}}\pi",
        rf"{top}\pi/{q}",
        rf"\pi\cdot\frac{{{p}}}{{{q}}}",
        rf"\frac{{{2 * p}\pi}}{{{2 * q}}}",
    ]
    others = [
        rf"\frac{{{p + q}\pi}}{{{q}}}",
        rf"-\frac{{{top}\pi}}{{{q}}}",
        rf"\frac{{{p}}}{{{q}}}",
        rf"\frac{{{top}\pi}}{{{q + 1}}}",
        rf"\frac{{{top}\pi^2}}{{{q}}}",
        rf"\frac{{{p}}}{{{q}\pi}}",
        rf"\frac{{{top}\pi}}{{{q}}}+2\pi",
        rf"\frac{{{top}e}}{{{q}}}",
    ]
    return forms, others


@family
def complex_number(rng: random.Random) -> tuple[Forms, Forms]:
    a, b = rng.randint(1, 20), rng.randint(2, 20)
    forms = [f"{a}+{b}i", f"{b}i+{a}", rf"{a}+i{b}", rf"{a}+{b}\cdot i", rf"{a}-(-{b}i)"]
    others = [
        f"{a}-{b}i",
        f"-{a}+{b}i",
        f"{a + 1}+{b}i",
        f"{a}+{b + 1}i",
        f"{a}+{b}",
        f"({a},{b + 1})",
        f"{a}+{b}i^2",
    ]
    if a != b:
        others.append(f"{b}+{a}i")
    return forms, others


@family
def quantity(rng: random.Random) -> tuple[Forms, Forms]:
    n = rng.randint(2, 300)
    unit, names = rng.choice(list(UNITS.items()))
    forms = [
        rf"{n} \text{{ {unit}}}",
        rf"{n}\ \mathrm{{{unit}}}",
        *(rf"{n}\,\text{{{name}}}" for name in names),
    ]
    wrong = rng.choice([other for other in UNITS if other != unit])
    others = [
        rf"{n} \text{{ {wrong}}}",
        rf"{n + 1} \text{{ {unit}}}",
        rf"{n * 10} \text{{ {unit}}}",
    ]
    return forms, others


@family
def angle(rng: random.Random) -> tuple[Forms, Forms]:
    n = rng.choice((15, 24, 30, 36, 45, 60, 72, 75, 105, 120, 135, 150))
    forms = [rf"{n}^\circ", rf"{n}^{{\circ}}", rf"{n} \text{{ degrees}}", rf"{n}°"]
    others = [
        rf"{n} \text{{ radians}}",
        rf"{n + 1}^\circ",
        rf"{180 - n}^\circ" if n != 90 else r"1^\circ",
        rf"{n}\pi",
        rf"{n}' ",
        rf"-{n}^\circ",
    ]
    return forms, others


@family
def repeating_decimal(rng: random.Random) -> tuple[Forms, Forms]:
    n = rng.choice([n for n in range(1, 99) if n % 11])
    value = Fraction(n, 99)
    forms = [
        rf"\frac{{{value.numerator}}}{{{value.denominator}}}",
        rf"0.\overline{{{n:02d}}}",
        rf"\frac{{{n}}}{{99}}",
    ]
    others = [
        rf"0.{n:02d}",
        rf"0.\overline{{{n + 1:02d}}}",
        rf"0.0\overline{{{n:02d}}}",
        rf"\frac{{{n}}}{{100}}",
    ]
    return forms, others
