"""Families by an author who had not read the others, nor how answers are read and compared."""

from __future__ import annotations

import random
from fractions import Fraction

from perf.maths_cases.case import Forms, family

PRIMES = [2, 3, 5, 7, 11, 13]


def _frac(q: Fraction) -> str:
    if q.denominator == 1:
        return str(q.numerator)
    return f"{'-' if q < 0 else ''}\\frac{{{abs(q.numerator)}}}{{{q.denominator}}}"


def _slash(q: Fraction) -> str:
    return str(q.numerator) if q.denominator == 1 else f"{q.numerator}/{q.denominator}"


def _linear(p: int, q: int, v: str) -> str:
    """p*v + q, p != 0."""
    head = {1: v, -1: f"-{v}"}.get(p, f"{p}{v}")
    return head if q == 0 else f"{head}{q:+d}"


@family
def point_in_space(rng: random.Random) -> tuple[Forms, Forms]:
    """A point with three entries, different also in absolute value, none zero, one a fraction."""
    a, b = (rng.choice([1, -1]) * size for size in rng.sample(range(1, 10), 2))
    c = Fraction(rng.choice([1, -1]) * rng.choice([1, 3, 5, 7, 9]), 2)
    f = _frac(c)
    forms = [
        f"({a}, {b}, {f})",
        f"\\left({a},{b},{_slash(c)}\\right)",
        f"({a}, {b}, {float(c)})",
        f"(x,y,z)=\\left({a},{b},{f}\\right)",
        f"\\begin{{pmatrix}} {a} \\\\ {b} \\\\ {f} \\end{{pmatrix}}",
        f"\\left\\langle {a}, {b}, {f} \\right\\rangle",
        f"\\left(\\frac{{{2 * a}}}{{2}}, {b}, {f}\\right)",
        f"x={a},\\ y={b},\\ z={f}",
    ]
    others = [
        f"({b}, {a}, {f})",
        f"({a}, {f}, {b})",
        f"({-a}, {b}, {f})",
        f"({a}, {b}, {_frac(-c)})",
        f"({a}, {b})",
        f"({a}, {b}, {f}, 0)",
        f"({a}, {b}, {_frac(c + 1)})",
        f"({a}, {b}, {_frac(1 / c)})",  # the numerator is odd, so 1/c is not c (4 is no odd square)
        f"x={b},\\ y={a},\\ z={f}",
    ]
    return forms, others


@family
def polynomial_in_two_variables(rng: random.Random) -> tuple[Forms, Forms]:
    """(ax+by)(cx-dy), 2 <= a, b, c, d, with ad != bc: no coefficient of the product is zero."""
    while True:
        a, b, c, d = (rng.randint(2, 7) for _ in range(4))
        if a * d != b * c:
            break
    p, q, r = a * c, b * c - a * d, -b * d
    mid = {1: "+xy", -1: "-xy"}.get(q, f"{q:+d}xy")
    opposite = {1: "+xy", -1: "-xy"}.get(-q, f"{-q:+d}xy")
    forms = [
        f"{p}x^2{mid}{r}y^2",
        f"({a}x+{b}y)({c}x-{d}y)",
        f"({c}x-{d}y)({a}x+{b}y)",
        f"-({a}x+{b}y)({d}y-{c}x)",
        f"{r}y^2{mid}+{p}x^2",
        f"{p}x^{{2}}{q:+d}yx{r}y^{{2}}",
        f"{a}x({c}x-{d}y)+{b}y({c}x-{d}y)",
        f"x({p}x{q:+d}y){r}y^2",
    ]
    others = [
        f"{p}x^2{opposite}{r}y^2",  # q != 0
        f"{p}x^2{mid}+{-r}y^2",  # r != 0
        f"({a}x-{b}y)({c}x+{d}y)",  # the middle term changes its sign
        f"({a}x+{b}y)({c}x+{d}y)",
        f"{p + 1}x^2{mid}{r}y^2",
        f"{p}x^2{mid}{r}y",
        f"{p}x^2{r}y^2",
        f"{p}x^2{mid}{r}y^2+1",
        f"{p}x^2{mid}{r}z^2",
    ]
    return forms, others


@family
def logarithm_with_base(rng: random.Random) -> tuple[Forms, Forms]:
    r"""k + \log_p q for different primes: irrational, so u\log_p q + v is another number."""
    p, q = rng.sample(PRIMES, 2)
    k = rng.randint(1, 3)
    forms = [
        f"{k}+\\log_{{{p}}}{{{q}}}",
        f"\\log_{{{p}}} {q} + {k}",
        f"\\log_{{{p}}}({p**k * q})",
        f"\\frac{{\\ln {q}}}{{\\ln {p}}}+{k}",
        f"{k}+\\frac{{1}}{{\\log_{{{q}}} {p}}}",
        f"{k}+\\log_{{{p**2}}} {q**2}",
        f"\\frac{{\\log {p**k * q}}}{{\\log {p}}}",
        f"\\frac{{{k}\\ln {p}+\\ln {q}}}{{\\ln {p}}}",
    ]
    others = [
        f"{k}-\\log_{{{p}}} {q}",
        f"{k + 1}+\\log_{{{p}}} {q}",
        f"{k}+\\log_{{{q}}} {p}",  # equal only if log_p q = +-1
        f"\\log_{{{p}}} {q}",
        f"\\log_{{{p}}} {q + p**k}",  # equal only if p^k = q = 2, but p != q
        f"{k}+\\log_{{{p**2}}} {q}",
        f"{k}+2\\log_{{{p}}} {q}",
        f"\\frac{{\\ln {q}}}{{\\ln {p}}}",
        f"{k}+\\ln {q}-\\ln {p}",  # differs by more than 0.01 for all pairs
    ]
    return forms, others


@family
def denested_radical(rng: random.Random) -> tuple[Forms, Forms]:
    r"""\sqrt a + \sqrt b for primes a > b: independent of 1 and \sqrt{ab} over the rationals."""
    b, a = sorted(rng.sample(PRIMES, 2))
    s, m = a + b, a * b
    forms = [
        f"\\sqrt{{{a}}}+\\sqrt{{{b}}}",
        f"\\sqrt{{{b}}}+\\sqrt{{{a}}}",
        f"\\sqrt{{{s}+2\\sqrt{{{m}}}}}",
        f"\\sqrt{{{s}+\\sqrt{{{4 * m}}}}}",
        f"\\frac{{{a - b}}}{{\\sqrt{{{a}}}-\\sqrt{{{b}}}}}",
        f"\\frac{{2\\sqrt{{{a}}}+\\sqrt{{{4 * b}}}}}{{2}}",
        f"{a}^{{1/2}}+{b}^{{1/2}}",
        f"\\sqrt{{{b}}}\\left(1+\\sqrt{{\\frac{{{a}}}{{{b}}}}}\\right)",
    ]
    others = [
        f"\\sqrt{{{a}}}-\\sqrt{{{b}}}",
        f"\\sqrt{{{s}}}",
        f"\\sqrt{{{s}-2\\sqrt{{{m}}}}}",
        f"\\sqrt{{{s}+\\sqrt{{{m}}}}}",
        f"\\sqrt{{{s}+2\\sqrt{{{m + 1}}}}}",
        f"{s}+2\\sqrt{{{m}}}",  # the square; equal to the root only for 1 and 0
        f"\\sqrt{{{m}}}",
        f"-\\sqrt{{{a}}}-\\sqrt{{{b}}}",
        f"\\sqrt{{{a}}}+{b}",
    ]
    return forms, others


@family
def piecewise_two_lines(rng: random.Random) -> tuple[Forms, Forms]:
    """Two lines of different slopes that disagree at the joint, which the right piece has."""
    t = rng.choice([-3, -2, -1, 1, 2, 3])
    while True:
        p, r = rng.choice([-4, -3, -2, 2, 3, 4]), rng.choice([-4, -3, -2, 2, 3, 4])
        q, s = rng.randint(-6, 6), rng.randint(-6, 6)
        if p != r and p * t + q != r * t + s:
            break
    left, right = _linear(p, q, "x"), _linear(r, s, "x")

    def cases(first: str, where: str, second: str, elsewhere: str, sep: str = ", & ") -> str:
        return f"\\begin{{cases}} {first}{sep}{where} \\\\ {second}{sep}{elsewhere} \\end{{cases}}"

    lt, ge, le, gt = f"x<{t}", f"x\\ge {t}", f"x\\le {t}", f"x>{t}"
    forms = [
        "f(x)=" + cases(left, lt, right, ge),
        cases(left, lt, right, f"x\\geq {t}"),
        "f(x)=" + cases(right, ge, left, lt),
        "f(x)=" + cases(left, lt, right, ge, " & "),
        "f(x)=" + cases(left, f"{t}>x", right, f"{t}\\le x"),
        "f(x)=" + cases(left, f"\\text{{if }} {lt}", right, f"\\text{{if }} {ge}", " & "),
        "f(x)=" + cases(f"{q}{p:+d}x", lt, f"{s}{r:+d}x", ge),
    ]
    others = [
        "f(x)=" + cases(right, lt, left, ge),
        "f(x)=" + cases(left, le, right, gt),  # the pieces disagree at t
        "f(x)=" + cases(left, gt, right, le),
        "f(x)=" + cases(left, f"x<{t + 1}", right, f"x\\ge {t + 1}"),  # wrong at t
        "f(x)=" + cases(_linear(p, q + 1, "x"), lt, right, ge),
        "f(x)=" + cases(left, lt, _linear(-r, s, "x"), ge),
        f"f(x)={left}",
        f"f(x)={right}",
    ]
    return forms, others


@family
def complex_polar(rng: random.Random) -> tuple[Forms, Forms]:
    """r e^{i pi k/6} off both axes: it, its conjugate and their opposites are four numbers."""
    r = rng.choice([2, 4, 6, 8, 10])
    k = rng.choice([1, 2, 4, 5, 7, 8, 10, 11])
    h = r // 2
    odd = k in (1, 5, 7, 11)  # cos is +-sqrt3/2, sin is +-1/2
    re, im = (-1 if 3 < k < 9 else 1), (1 if k < 6 else -1)
    num = "" if h == 1 else str(h)
    big, small = f"{num}\\sqrt{{3}}", str(h)
    minus, plus = {1: "", -1: "-"}, {1: "+", -1: "-"}

    def rect(x: int, y: int, swap: bool = False) -> str:
        if odd != swap:
            return f"{minus[x]}{big}{plus[y]}{num}i"
        return f"{minus[x]}{small}{plus[y]}{num}\\sqrt{{3}}i"

    def angle(n: int) -> str:
        q = Fraction(n, 6)
        top = {1: "\\pi", -1: "-\\pi"}.get(q.numerator, f"{q.numerator}\\pi")
        return f"\\frac{{{top}}}{{{q.denominator}}}"

    a = angle(k)
    forms = [
        rect(re, im),
        f"{r}e^{{{a}i}}",
        f"{r}e^{{i{angle(k + 12)}}}",
        f"{r}\\left(\\cos {a}+i\\sin {a}\\right)",
        f"{r}(\\cos {30 * k}^\\circ+i\\sin {30 * k}^\\circ)",
        f"{r}\\cos\\left({a}\\right)+{r}i\\sin\\left({a}\\right)",
        (
            f"{h}({minus[re]}\\sqrt{{3}}{plus[im]}i)"
            if odd
            else f"{h}({minus[re]}1{plus[im]}i\\sqrt{{3}})"
        ),
    ]
    others = [
        rect(re, -im),
        rect(-re, im),
        rect(-re, -im),
        rect(re, im, swap=True),
        f"{r}e^{{{angle(12 - k)}i}}",
        f"{r}e^{{{angle(k + 6)}i}}",
        f"{r + 1}e^{{{a}i}}",
        f"{r}\\left(\\cos {a}-i\\sin {a}\\right)",
        f"{r}",
        f"{r}\\left(\\sin {a}+i\\cos {a}\\right)",  # |cos| != |sin|
    ]
    return forms, others


@family
def sequence_formula(rng: random.Random) -> tuple[Forms, Forms]:
    r"""a_n = p r^n + q with p, q, r >= 2: every change below moves a_1, a_2 or a_3."""
    p, q, r = rng.randint(2, 6), rng.randint(2, 9), rng.choice([2, 3, 5])
    forms = [
        f"a_n={p}\\cdot {r}^n+{q}",
        f"{p}\\cdot {r}^{{n}}+{q}",
        f"a_n={q}+{p}\\times {r}^n",
        f"a_{{n}}={p * r}\\cdot {r}^{{n-1}}+{q}",
        f"a_n={p * r * r}\\cdot {r}^{{n-2}}+{q}",
        f"a_n=\\frac{{{p}\\cdot {r}^{{n+1}}+{q * r}}}{{{r}}}",
        f"a_n={p}({r}^n+1)+{q - p}" if q >= p else f"a_n={p}({r}^n+1)-{p - q}",
    ]
    others = [
        f"a_n={p}\\cdot {r}^{{n-1}}+{q}",
        f"a_n={p}\\cdot {r}^{{n+1}}+{q}",
        f"a_n={p}\\cdot {r}^n-{q}",
        f"a_n={p + 1}\\cdot {r}^n+{q}",
        f"a_n={p}\\cdot {r + 1}^n+{q}",
        f"a_n={p}\\cdot {r}n+{q}",
        f"a_n={p}\\cdot n^{{{r}}}+{q}",  # r^n = n^r fails at n = 1, as r != 1
        f"a_n={p}\\cdot {r}^{{n+{q}}}",  # p r^n r^q grows as r^n with another factor
        f"a_n=({p}\\cdot {r})^n+{q}",  # (pr)^1 = p r, but (pr)^2 = p^2 r^2 > p r^2
    ]
    return forms, others


@family
def residue_class(rng: random.Random) -> tuple[Forms, Forms]:
    """All whole numbers that leave c on division by m, 1 <= c < m, m odd."""
    m = rng.choice([5, 7, 9, 11, 13, 15, 17])
    c = rng.randint(1, m - 1)
    forms = [
        f"x\\equiv {c}\\pmod{{{m}}}",
        f"x \\equiv {c + m} \\pmod{{{m}}}",
        f"x\\equiv {c - m}\\pmod{{{m}}}",
        f"x \\equiv {c} \\ (\\text{{mod }} {m})",
        f"x-{c}\\equiv 0\\pmod{{{m}}}",
        f"x={m}k+{c},\\ k\\in\\mathbb{{Z}}",
        f"x={c}+{m}k, k \\in \\mathbb{{Z}}",
        f"x={m}k-{m - c},\\ k\\in\\mathbb{{Z}}",
    ]
    others = [
        f"x\\equiv {c + 1}\\pmod{{{m}}}",
        f"x\\equiv {-c}\\pmod{{{m}}}",  # m divides 2c only if it divides c
        f"x\\equiv {c}\\pmod{{{m + 2}}}",
        f"x\\equiv {c}\\pmod{{{2 * m}}}",
        f"x={m}k-{c},\\ k\\in\\mathbb{{Z}}",
        f"x={2 * m}k+{c},\\ k\\in\\mathbb{{Z}}",
        f"x={m}k,\\ k\\in\\mathbb{{Z}}",
        f"x\\equiv {c + m}\\pmod{{{2 * m}}}",
        f"x\\not\\equiv {c}\\pmod{{{m}}}",
    ]
    return forms, others


FAMILIES = [
    point_in_space,
    polynomial_in_two_variables,
    logarithm_with_base,
    denested_radical,
    piecewise_two_lines,
    complex_polar,
    sequence_formula,
    residue_class,
]
