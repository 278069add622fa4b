"""Polynomials, identities, functions with kinks, equations, and what an integral leaves open."""

from __future__ import annotations

import random
from collections.abc import Sequence

from perf.maths_cases.case import Forms, family

LETTERS = "xyztabn"


def polynomial(coefficients: Sequence[int], letter: str) -> str:
    """The polynomial with these coefficients, the constant first, written from the top."""
    terms = ""
    for power in reversed(range(len(coefficients))):
        factor = coefficients[power]
        if not factor:
            continue
        sign = "-" if factor < 0 else "+" if terms else ""
        size = "" if abs(factor) == 1 and power else str(abs(factor))
        body = "" if not power else letter if power == 1 else f"{letter}^{{{power}}}"
        terms += f"{sign}{size}{body}"
    return terms or "0"


def _product(left: Sequence[int], right: Sequence[int]) -> list[int]:
    total = [0] * (len(left) + len(right) - 1)
    for i, a in enumerate(left):
        for j, b in enumerate(right):
            total[i + j] += a * b
    return total


def _signed(value: int) -> str:
    return f"+{value}" if value >= 0 else str(value)


def _nonzero(rng: random.Random, limit: int = 9) -> int:
    return rng.choice((-1, 1)) * rng.randint(1, limit)


@family
def factored_polynomial(rng: random.Random) -> tuple[Forms, Forms]:
    letter = rng.choice(LETTERS)
    a, b, c = _nonzero(rng), _nonzero(rng), rng.randint(1, 5)
    expanded = [value * c for value in _product([a, 1], [b, 1])]
    lead = "" if c == 1 else str(c)
    forms = [
        polynomial(expanded, letter),
        f"{lead}({letter}{_signed(a)})({letter}{_signed(b)})",
        f"{lead}({letter}{_signed(b)})({letter}{_signed(a)})",
        rf"{polynomial([0, *expanded[1:]], letter)}{_signed(expanded[0])}",
        rf"{letter}({polynomial(expanded[1:], letter)}){_signed(expanded[0])}",
    ]
    others = [
        polynomial([expanded[0] + 1, *expanded[1:]], letter),
        polynomial([expanded[0], expanded[1] + 1, expanded[2]], letter),
        f"{lead}({letter}{_signed(a + 1)})({letter}{_signed(b)})",
        f"{lead}({letter}{_signed(a)})({letter}{_signed(b)})^2",
        polynomial(expanded, letter) + "+10^{-50}",
        polynomial(expanded, rng.choice([other for other in LETTERS if other != letter])),
        f"-({polynomial(expanded, letter)})",
    ]
    return forms, others


@family
def power_of_binomial(rng: random.Random) -> tuple[Forms, Forms]:
    letter, a, n = rng.choice(LETTERS), _nonzero(rng), rng.randint(40, 300)
    base = f"{letter}{_signed(a)}"
    forms = [
        f"y=({base})^{{{n}}}",
        f"({base})^{{{n}}}=y",
        rf"y=({base})({base})^{{{n - 1}}}",
    ]
    others = [
        f"y=({base})^{{{n + 1}}}",
        f"y=({letter}{_signed(a + 1 if a != -1 else 2)})^{{{n}}}",
        f"y=({base})^{{{n}}}+1",
        f"y=2({base})^{{{n}}}",
        f"y=({base})^{{{n + 2}}}",
    ]
    return (forms, others) if letter != "y" else power_of_binomial(rng)


@family
def dwarfed_term(rng: random.Random) -> tuple[Forms, Forms]:
    k, power = rng.randint(20, 60), rng.randint(1, 3)
    body = "x" if power == 1 else f"x^{power}"
    forms = [f"y={body}+10^{{-{k}}}", f"y=10^{{-{k}}}+{body}", f"{body}=y-10^{{-{k}}}"]
    others = [
        f"y={body}",
        f"y={body}-10^{{-{k}}}",
        f"y={body}+10^{{-{k + 1}}}",
        f"y={body}+2\\cdot 10^{{-{k}}}",
    ]
    return forms, others


@family
def rational_function(rng: random.Random) -> tuple[Forms, Forms]:
    a, b = rng.sample(range(1, 12), 2)
    forms = [
        rf"\frac{{1}}{{x-{a}}}+\frac{{1}}{{x-{b}}}",
        rf"\frac{{2x-{a + b}}}{{(x-{a})(x-{b})}}",
        rf"\frac{{2x-{a + b}}}{{{polynomial([a * b, -a - b, 1], 'x')}}}",
    ]
    others = [
        rf"\frac{{1}}{{x-{a}}}-\frac{{1}}{{x-{b}}}",
        rf"\frac{{2x+{a + b}}}{{(x-{a})(x-{b})}}",
        rf"\frac{{2}}{{2x-{a + b}}}",
        rf"\frac{{2x-{a + b}}}{{(x-{a})(x+{b})}}",
        rf"\frac{{2x-{a + b + 1}}}{{(x-{a})(x-{b})}}",
    ]
    return forms, others


TRIGONOMETRY = (
    ((r"\sin 2U", r"2\sin U\cos U"), (r"\cos 2U", r"2\sin U", r"\sin U\cos U", r"\sin^2 U")),
    (
        (r"\cos 2U", r"1-2\sin^2 U", r"2\cos^2 U-1", r"\cos^2 U-\sin^2 U"),
        (r"\sin 2U", r"1-2\sin U", r"1-\sin^2 U", r"\cos^2 U+\sin^2 U"),
    ),
    ((r"\tan U", r"\frac{\sin U}{\cos U}"), (r"\cot U", r"\frac{\cos U}{\sin U}", r"\sin U\cos U")),
    (
        (r"\sec^2 U", r"1+\tan^2 U", r"\frac{1}{\cos^2 U}"),
        (r"\csc^2 U", r"1-\tan^2 U", r"\tan^2 U"),
    ),
    ((r"\sin^2 U+\cos^2 U", "1"), ("0", r"\sin^2 U-\cos^2 U", "2")),
    ((r"e^{2U}", r"(e^{U})^2", r"e^{U}e^{U}"), (r"e^{U}", r"e^{2+U}", r"2e^{U}", r"e^{-2U}")),
)


@family
def identity(rng: random.Random) -> tuple[Forms, Forms]:
    right, wrong = rng.choice(TRIGONOMETRY)
    inner = rng.choice(("x", "t", r"\theta", r"\alpha"))
    return [form.replace("U", inner) for form in right], [
        form.replace("U", inner) for form in wrong
    ]


@family
def logarithm(rng: random.Random) -> tuple[Forms, Forms]:
    a, b, n = rng.randint(2, 9), rng.randint(2, 9), rng.randint(2, 6)
    choices = (
        (
            [rf"\ln {a * b}", rf"\ln {a}+\ln {b}"],
            [
                rf"\ln {a + b}" if a * b != a + b else r"\ln 5",
                rf"\ln {a}\cdot\ln {b}",
                rf"\ln {a * b + 1}",
                rf"\log {a * b}",
            ],
        ),
        (
            [rf"{n}\ln {a}", rf"\ln {a**n}", rf"\ln({a}^{n})"],
            [rf"(\ln {a})^{n}", rf"\ln {a * n}" if a * n != a**n else r"\ln 3", rf"{n + 1}\ln {a}"],
        ),
        (
            [r"\frac12\ln x", r"\ln\sqrt x", r"\ln\sqrt{x}"],
            [r"\sqrt{\ln x}", r"\frac12\ln 2x", r"2\ln x", r"-\frac12\ln x"],
        ),
        ([r"\ln\sqrt{x}-\frac{1}{2}\ln x", "0"], ["1", r"\ln x", r"\frac{1}{2}\ln x"]),
        (
            [
                rf"\log_{{{a}}} {b}",
                rf"\frac{{\ln {b}}}{{\ln {a}}}",
                rf"\frac{{\log {b}}}{{\log {a}}}",
            ],
            [
                rf"\log_{{{a + 1}}} {b}",
                rf"\ln {b}-\ln {a}" if a != b else "2",
                rf"\log_{{{a}}} {b + 1}",
            ],
        ),
    )
    return rng.choice(choices)


@family
def absolute_value(rng: random.Random) -> tuple[Forms, Forms]:
    a = rng.choice((rng.randint(1, 12), rng.randint(30, 2000)))
    forms = [
        f"|x-{a}|",
        f"|{a}-x|",
        rf"\left|x-{a}\right|",
        rf"\sqrt{{(x-{a})^2}}",
        rf"\max(x-{a},{a}-x)",
    ]
    others = [
        f"x-{a}",
        f"{a}-x",
        f"|x+{a}|",
        f"|x-{a + 1}|",
        f"|x|-{a}",
        rf"|x-{a + 1}|+1",
        f"-|x-{a}|",
        rf"|x|+{a}",
        rf"|x-{a - 1}|-1",
    ]
    return forms, others


@family
def maximum(rng: random.Random) -> tuple[Forms, Forms]:
    a = rng.choice((rng.randint(1, 12), rng.randint(30, 2000)))
    forms = [rf"\max(x,{a})", rf"\max({a},x)", rf"\frac{{x+{a}+|x-{a}|}}{{2}}", rf"\max\{{x,{a}\}}"]
    others = [
        "x",
        str(a),
        rf"\min(x,{a})",
        rf"\max(x,{a + 1})",
        rf"\frac{{x+{a}-|x-{a}|}}{{2}}",
        rf"\max(x,-{a})",
    ]
    return forms, others


@family
def rounding(rng: random.Random) -> tuple[Forms, Forms]:
    s, t = rng.randint(2, 90), rng.randint(91, 400)
    choices = (
        (
            [r"\lceil x\rceil", r"-\lfloor -x\rfloor", r"\left\lceil x\right\rceil"],
            [
                r"\lfloor x\rfloor+1",
                r"\lfloor x\rfloor",
                "x",
                r"\lceil x\rceil+1",
                r"\lfloor x+1\rfloor",
            ],
        ),
        (
            [rf"\lfloor x\rfloor+{s}", rf"\lfloor x+{s}\rfloor"],
            [
                rf"x+{s}",
                rf"\lceil x\rceil+{s - 1}",
                rf"\lfloor x\rfloor+{s + 1}",
                rf"\lfloor x-{s}\rfloor",
            ],
        ),
        (
            [rf"\left\lfloor\frac{{x+{s}}}{{{t}}}\right\rfloor", rf"\lfloor (x+{s})/{t}\rfloor"],
            [
                "0",
                rf"\left\lfloor\frac{{x}}{{{t}}}\right\rfloor",
                rf"\frac{{x+{s}}}{{{t}}}",
                "1",
                rf"\left\lceil\frac{{x+{s}}}{{{t}}}\right\rceil",
            ],
        ),
    )
    return rng.choice(choices)


@family
def remainder(rng: random.Random) -> tuple[Forms, Forms]:
    m = rng.choice((rng.randint(2, 12), rng.randint(50, 900)))
    forms = [rf"n \bmod {m}", rf"n-{m}\left\lfloor\frac{{n}}{{{m}}}\right\rfloor"]
    others = [
        "n",
        rf"n \bmod {m + 1}",
        "0",
        rf"(n+1) \bmod {m}",
        rf"-n \bmod {m}" if m > 2 else "n+1",
    ]
    return forms, others


@family
def line(rng: random.Random) -> tuple[Forms, Forms]:
    m, b, k = _nonzero(rng), _nonzero(rng), rng.randint(2, 5)
    slope = {1: "", -1: "-"}.get(m, str(m))
    forms = [
        f"y={slope}x{_signed(b)}",
        f"{slope}x-y{_signed(b)}=0",
        f"{k}y={k * m}x{_signed(k * b)}",
        f"y-{slope}x={b}" if m > 0 else f"y{_signed(-m) if m != -1 else '+'}x={b}",
        f"{slope}x{_signed(b)}=y",
    ]
    others = [
        f"y={slope}x{_signed(-b)}",
        f"y={m + 1 if m != -1 else 5}x{_signed(b)}",
        f"x={slope}y{_signed(b)}",
        f"y={slope}x",
        f"y>{slope}x{_signed(b)}",
        f"y={slope}x{_signed(b + 1)}",
        f"y^2={slope}x{_signed(b)}",
    ]
    return (forms, others) if abs(m) != 1 else line(rng)


@family
def circle(rng: random.Random) -> tuple[Forms, Forms]:
    a, b, r = _nonzero(rng), _nonzero(rng), rng.randint(2, 9)
    shape = f"(x{_signed(-a)})^2+(y{_signed(-b)})^2"
    rest = a * a + b * b - r * r
    forms = [
        f"{shape}={r * r}",
        f"{shape}-{r * r}=0",
        f"{shape}={r}^2",
        f"x^2+y^2{_signed(-2 * a)}x{_signed(-2 * b)}y{_signed(rest)}=0",
    ]
    others = [
        f"{shape}={r}",
        f"{shape}={r * r + 1}",
        f"(x{_signed(a)})^2+(y{_signed(-b)})^2={r * r}",
        f"(x{_signed(-a)})^2-(y{_signed(-b)})^2={r * r}",
        f"{shape}<{r * r}",
        f"{shape}=-{r * r}",
    ]
    return forms, others


@family
def true_equation(rng: random.Random) -> tuple[Forms, Forms]:
    a, b = rng.randint(2, 90), rng.randint(2, 90)
    c, d = rng.randint(91, 180), rng.randint(2, 90)
    forms = [f"{a}+{b}={a + b}", f"{a}+{b} = {a + b}"]
    return forms, [f"{c}+{d}={c + d}", "0=0", f"{c}={c}", f"{a}+{b}={a + b + 1}", f"x={c}"]


@family
def antiderivative(rng: random.Random) -> tuple[Forms, Forms]:
    n, a = rng.randint(2, 6), rng.randint(2, 9)
    forms = [
        rf"{a}x^{n}+C",
        rf"C+{a}x^{n}",
        rf"{a}x^{n}+c",
        rf"{a}x^{{{n}}}+K",
        rf"{a}x^{n}+C_1",
    ]
    others = [
        rf"{a + 1}x^{n}+C",
        rf"{a}x^{n + 1}+C",
        rf"{a}x^{n}+Cx",
        rf"{a}x^{n}\cdot C",
        rf"-{a}x^{n}+C",
        rf"{a}y^{n}+C",
    ]
    return forms, others


@family
def bound_variable(rng: random.Random) -> tuple[Forms, Forms]:
    p = rng.randint(2, 4)
    forms = [
        rf"\sum_{{k=1}}^{{n}} k^{p}",
        rf"\sum_{{i=1}}^{{n}} i^{p}",
        rf"\sum_{{j=1}}^n j^{{{p}}}",
    ]
    others = [
        rf"\sum_{{k=1}}^{{n}} k^{p + 1}",
        rf"\sum_{{k=1}}^{{n-1}} k^{p}",
        rf"\sum_{{k=2}}^{{n}} k^{p}",
        rf"\prod_{{k=1}}^{{n}} k^{p}",
        rf"\sum_{{k=1}}^{{n}} n^{p}",
        rf"\sum_{{k=1}}^{{n}} 2k^{p}",
    ]
    return forms, others


@family
def renamed(rng: random.Random) -> tuple[Forms, Forms]:
    a, b = rng.sample("xyzabt", 2)
    n = rng.randint(2, 9)
    forms = [f"{n}{a}+{b}", f"{b}+{n}{a}", f"{a}+{n - 1}{a}+{b}" if n > 2 else f"{a}+{a}+{b}"]
    return forms, [
        f"{n}{b}+{a}",
        f"{n}{a}+q",
        f"{n}{a}-{b}",
        f"{n}({a}+{b})",
        f"{n}{a}{b}",
        f"{n}{a.upper()}+{b}",
    ]
