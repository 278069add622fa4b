"""Labels, function values, binomials, bases, inverse functions, ratios and choices."""

from __future__ import annotations

import math
import random
from itertools import permutations

from perf.maths_cases.case import Forms, family
from perf.maths_cases.numbers import WORDS


@family
def word_of_letters(rng: random.Random) -> tuple[Forms, Forms]:
    letters = rng.sample("ABCDEFHKPQRST", 3)
    text = "".join(letters)
    others = ["".join(order) for order in permutations(letters) if list(order) != letters]
    return [text, rf"\text{{{text}}}", rf"\mathrm{{{text}}}"], [*others, text[:2], f"{text}X"]


@family
def named_angle(rng: random.Random) -> tuple[Forms, Forms]:
    a, b, c = rng.sample("ABCDEFPQR", 3)
    forms = [rf"\angle {a}{b}{c}", rf"∠{a}{b}{c}", rf"\angle {{{a}{b}{c}}}"]
    return forms, [
        rf"\angle {b}{a}{c}",
        rf"\angle {a}{c}{b}",
        rf"\triangle {a}{b}{c}",
        rf"\angle {a}{b}X",
    ]


@family
def labels(rng: random.Random) -> tuple[Forms, Forms]:
    first, second, third = sorted(rng.sample(range(1, 7), 3))
    circled = {n: chr(0x2460 + n - 1) for n in (first, second, third)}
    if rng.random() < 0.5:
        text = f"{circled[first]}{circled[third]}"
        others = [circled[third], f"{circled[first]}{circled[second]}", str(first * third + 50)]
    else:
        text = f"({first})({third})"
        others = [f"({second})({third})", f"({first})({second})({third})", f"({first})"]
        if first == 1:
            others.append(str(third))
    return [text, rf"\text{{{text}}}"], others


@family
def function_value(rng: random.Random) -> tuple[Forms, Forms]:
    name, n = rng.choice("fgh"), rng.randint(2, 9)
    forms = [f"{name}({n})", rf"{name}\left({n}\right)"]
    return forms, [f"{n}{name}", rf"{n}\cdot {name}", f"{name}({n + 1})", f"{name}^{n}", name]


@family
def binomial(rng: random.Random) -> tuple[Forms, Forms]:
    n = rng.randint(5, 20)
    k = rng.randint(1, (n - 1) // 2)
    value = math.comb(n, k)
    forms = [
        rf"\binom{{{n}}}{{{k}}}",
        str(value),
        rf"{{{n} \choose {k}}}",
        rf"\binom{{{n}}}{{{n - k}}}",
        rf"\dbinom{{{n}}}{{{k}}}",
    ]
    others = [
        rf"\binom{{{n + 1}}}{{{k}}}",
        str(value + 1),
        rf"\frac{{{n}}}{{{k}}}" if value * k != n else "3.5",
        rf"\binom{{{n}}}{{{k}}}+1",
        rf"\binom{{{n}}}{{{k}}}^2",
    ]
    return forms, others


@family
def numeral_in_base(rng: random.Random) -> tuple[Forms, Forms]:
    base = rng.randint(2, 9)
    digits = "1" + "".join(str(rng.randrange(base)) for _ in range(rng.randint(2, 4)))
    forms = [
        f"{digits}_{base}",
        rf"{digits}_{{{base}}}",
        rf"({digits})_{{{base}}}",
        rf"{digits}_{{\text{{{WORDS[base]}}}}}",
    ]
    others = [
        f"{digits}_{{{base + 1}}}" if base < 9 else f"{digits}_{{7}}",
        f"{digits}0_{{{base}}}",
        f"1{digits}_{{{base}}}",
    ]
    return forms, others


@family
def inverse_function(rng: random.Random) -> tuple[Forms, Forms]:
    name = rng.choice(("sin", "cos", "tan"))
    forms = [rf"\arc{name} x", rf"\{name}^{{-1}} x", rf"\arc{name}(x)", rf"\{name}^{{-1}}(x)"]
    others = [
        rf"\frac{{1}}{{\{name} x}}",
        rf"\{name} x",
        rf"-\arc{name} x",
        rf"\arc{name} 2x",
        rf"\{name}^{{-2}} x",
    ]
    return forms, others


@family
def ratio(rng: random.Random) -> tuple[Forms, Forms]:
    a = rng.randint(2, 15)
    b = rng.choice([n for n in range(2, 16) if math.gcd(n, a) == 1])
    k = rng.randint(2, 5)
    forms = [f"{a}:{b}", f"{a} : {b}"]
    if not 10 <= b * k < 60:  # 12:39 is a time of day
        forms.append(f"{a * k}:{b * k}")
    return forms, [f"{b}:{a}", f"{a + 1}:{b}", f"{a}:{b + 1}", f"{a}:{b}:{k}"]


@family
def choice(rng: random.Random) -> tuple[Forms, Forms]:
    letter, other = rng.sample("ABCDE", 2)
    forms = [letter, f"({letter})", rf"\text{{{letter}}}", rf"\text{{({letter})}}", f"{letter}."]
    return forms, [
        other,
        f"({other})",
        f"{letter}, {other}",
        rf"{other} \text{{ or }} {letter}",
        rf"\text{{not {letter}}}",
    ]


@family
def ordinal(rng: random.Random) -> tuple[Forms, Forms]:
    n = rng.randint(4, 20)
    forms = [rf"{n}\text{{th}}", f"{n}th", rf"{n}^{{\text{{th}}}}"]
    return forms, [f"{n + 1}th", rf"{n - 1}^{{\text{{th}}}}" if n > 4 else "9th", rf"{n}^{{2}}"]


@family
def plain_words(rng: random.Random) -> tuple[Forms, Forms]:
    word, other = rng.sample(("even", "odd", "red", "Monday", "yes", "increasing", "Alice"), 2)
    forms = [rf"\text{{{word}}}", word, word.capitalize()]
    return forms, [rf"\text{{{other}}}", other, rf"\text{{not {word}}}", f"{word} or {other}"]
