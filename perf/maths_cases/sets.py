"""Intervals, inequalities, sets, lists, points, matrices, and families of solutions."""

from __future__ import annotations

import random

from perf.maths_cases.case import Forms, family


def _two(rng: random.Random, low: int = -20, high: int = 20) -> tuple[int, int]:
    first, second = sorted(rng.sample(range(low, high), 2))
    return first, second


@family
def closed_interval(rng: random.Random) -> tuple[Forms, Forms]:
    a, b = _two(rng)
    forms = [
        f"[{a},{b}]",
        rf"{a}\le x\le {b}",
        rf"x\in[{a},{b}]",
        rf"\{{x\mid {a}\le x\le {b}\}}",
        rf"\left[{a}, {b}\right]",
        rf"{a} \leq x \leq {b}",
        rf"x\ge {a} \text{{ and }} x\le {b}",
    ]
    others = [
        f"({a},{b})",
        f"[{a},{b})",
        f"({a},{b}]",
        f"[{a},{b + 1}]",
        f"[{a - 1},{b}]",
        rf"{a}<x<{b}",
        rf"\{{{a},{b}\}}",
        rf"{a} \text{{ or }} {b}",
        rf"x={a} \text{{ or }} x={b}",
        rf"x\le {a} \text{{ or }} x\ge {b}",
        rf"(-\infty,{a}]\cup[{b},\infty)",
    ]
    return forms, others


@family
def open_interval(rng: random.Random) -> tuple[Forms, Forms]:
    a, b = _two(rng)
    forms = [
        f"({a},{b})",
        f"{a}<x<{b}",
        rf"x\in({a},{b})",
        f"]{a},{b}[",
        rf"\left({a}, {b}\right)",
        rf"\{{x : {a}<x<{b}\}}",
    ]
    others = [
        f"[{a},{b}]",
        f"]{a},{b}]",
        f"({a},{b + 1})",
        rf"{a}\le x<{b}",
        rf"{a} \text{{ or }} {b}",
        rf"\{{{a},{b}\}}",
        rf"x={a}, x={b}",
        rf"x<{a} \text{{ or }} x>{b}",
        f"({b},{a})",
        rf"m={a} \text{{ or }} m={b}",
    ]
    # A pair and an open interval are written alike, so a form that names x is the reference.
    return [forms[2], *forms[1:2], *forms[3:4], *forms[5:]], others


@family
def half_line(rng: random.Random) -> tuple[Forms, Forms]:
    a = rng.randint(-20, 20)
    forms = [
        rf"({a},\infty)",
        f"x>{a}",
        f"{a}<x",
        rf"x\in({a},+\infty)",
        rf"\{{x\mid x>{a}\}}",
        rf"]{a},+\infty[",
    ]
    others = [
        rf"[{a},\infty)",
        f"x<{a}",
        rf"x\ge {a}",
        rf"({a + 1},\infty)",
        rf"(-\infty,{a})",
        str(a),
        f"x={a}",
        rf"({-a if a else 7},\infty)",
    ]
    return forms, others


@family
def two_rays(rng: random.Random) -> tuple[Forms, Forms]:
    a, b = _two(rng)
    forms = [
        rf"(-\infty,{a})\cup({b},\infty)",
        rf"({b},\infty)\cup(-\infty,{a})",
        rf"x<{a} \text{{ or }} x>{b}",
        rf"x>{b} \text{{ or }} x<{a}",
    ]
    others = [
        rf"x<{a} \text{{ and }} x>{b}",
        rf"(-\infty,{a}]\cup({b},\infty)",
        f"({a},{b})",
        rf"(-\infty,{a})\cup({b + 1},\infty)",
        rf"a<{a}, b>{b}",
        rf"(-\infty,{a})",
        rf"(-\infty,{b})\cup({a},\infty)",
        rf"[{a},{b}]",
        rf"y<{a} \text{{ or }} z>{b}",
    ]
    return forms, others


@family
def punctured_line(rng: random.Random) -> tuple[Forms, Forms]:
    a = rng.randint(-12, 12)
    forms = [
        rf"(-\infty,{a})\cup({a},\infty)",
        rf"\mathbb{{R}}\setminus\{{{a}\}}",
        rf"x\ne {a}",
        rf"\mathbb R-\{{{a}\}}",
        rf"x \neq {a}",
    ]
    others = [
        r"\mathbb{R}",
        rf"(-\infty,{a})",
        rf"\mathbb{{R}}\setminus\{{{a + 1}\}}",
        f"x={a}",
        rf"(-\infty,{a}]\cup({a},\infty)",
        rf"x>{a}",
        rf"a<{a}, b>{a}",
        rf"\{{{a}\}}",
    ]
    return forms, others


@family
def finite_set(rng: random.Random) -> tuple[Forms, Forms]:
    members = rng.sample(range(-30, 30), rng.randint(2, 4))
    shuffled = rng.sample(members, len(members))
    text = ",".join(map(str, members))
    spare = next(n for n in range(40, 60) if n not in members)
    forms = [
        rf"\{{{text}\}}",
        rf"\{{{','.join(map(str, shuffled))}\}}",
        rf"\left\{{{text}\right\}}",
        rf"\{{{members[-1]},{text}\}}",
    ]
    others = [
        rf"\{{{text},{spare}\}}",
        rf"\{{{','.join(map(str, members[1:]))}\}}",
        rf"\{{{','.join(map(str, [spare, *members[1:]]))}\}}",
        rf"\{{{-members[0] or 3},{text}\}}" if -members[0] not in members else rf"\{{{spare}\}}",
        str(sum(members) + 100),
    ]
    return forms, others


@family
def solutions(rng: random.Random) -> tuple[Forms, Forms]:
    a, b = _two(rng)
    forms = [
        rf"x={a} \text{{ or }} x={b}",
        rf"{a}, {b}",
        rf"x={b}, x={a}",
        rf"{b} \text{{ and }} {a}",
        rf"x_1={a}, x_2={b}",
        rf"x={a},{b}",
    ]
    others = [
        f"x={a}",
        f"{b}",
        rf"x={a} \text{{ or }} x={b + 1}",
        rf"x={a - 1}, x={b}",
        rf"{a},{b},{b + 5}",
        rf"[{a},{b}]",
        rf"y={a} \text{{ or }} y={b}",
        rf"x>{a} \text{{ or }} x={b}",
    ]
    # Without a name there is nothing that another name could contradict.
    return [forms[0], forms[2]], others


@family
def opposite_solutions(rng: random.Random) -> tuple[Forms, Forms]:
    a = rng.randint(1, 30)
    forms = [
        rf"\pm {a}",
        rf"x=\pm {a}",
        rf"{a}, -{a}",
        rf"x={a} \text{{ or }} x=-{a}",
        rf"-{a}, {a}",
    ]
    others = [f"{a}", f"-{a}", rf"\pm {a + 1}", rf"x={a}", "0", rf"\pm {a}i"]
    return forms, others


@family
def point(rng: random.Random) -> tuple[Forms, Forms]:
    a, b = rng.sample(range(-20, 20), 2)
    forms = [
        f"({a},{b})",
        rf"\left({a}, {b}\right)",
        f"(x,y)=({a},{b})",
        f"x={a}, y={b}",
        f"y={b}, x={a}",
    ]
    others = [
        f"({b},{a})",
        f"({a},{b + 1})",
        f"({-a if a else 9},{b})",
        f"x={b}, y={a}",
        f"({a},{b},0)",
        f"y={a}, x={b}",
        rf"({a},{b}]" if a < b else f"({b},{a})",
        f"(y,x)=({a},{b})",
    ]
    return [forms[2], forms[0], *forms[3:]], others


@family
def matrix(rng: random.Random) -> tuple[Forms, Forms]:
    a, b, c, d = rng.sample(range(-9, 20), 4)
    body = rf"{a} & {b} \\ {c} & {d}"

    def written(text: str, kind: str = "pmatrix") -> str:
        return rf"\begin{{{kind}}} {text} \end{{{kind}}}"

    forms = [written(body), written(body, "bmatrix"), written(rf"{a}&{b}\\{c}&{d}\\")]
    others = [
        written(rf"{a} & {c} \\ {b} & {d}"),
        written(rf"{c} & {d} \\ {a} & {b}"),
        written(rf"{a} & {b} \\ {c} & {d + 1}"),
        str(a * d - b * c),
        written(rf"{a} & {b} & {c} & {d}"),
        written(body, "vmatrix"),
    ]
    return forms, others


@family
def angle_family(rng: random.Random) -> tuple[Forms, Forms]:
    q = rng.choice((2, 3, 4, 6))
    letters = rng.sample("kmn", 2)
    first, second = letters
    choices = (
        (
            [
                rf"x={first}\pi, {first}\in\mathbb{{Z}}",
                rf"x={second}\pi, {second}\in\mathbb{{Z}}",
                rf"x={first}\pi",
                rf"x=\pi {second}",
            ],
            [
                rf"x=2{first}\pi",
                rf"x=\frac{{{first}\pi}}{{2}}",
                r"x=\pi",
                rf"x={first}\pi+\frac{{\pi}}{{2}}",
                rf"y={first}\pi",
                rf"x={first}",
            ],
        ),
        (
            [
                rf"x=\frac{{\pi}}{{{q}}}+{first}\pi",
                rf"x=\frac{{\pi}}{{{q}}}+{second}\pi",
                rf"x={first}\pi+\frac{{\pi}}{{{q}}}",
                rf"x=\frac{{{q + 1}\pi}}{{{q}}}+{first}\pi",
                rf"x=\frac{{\pi}}{{{q}}}-{second}\pi",
            ],
            [
                rf"x=\frac{{\pi}}{{{q}}}+2{first}\pi",
                rf"x=\frac{{\pi}}{{{q + 1}}}+{first}\pi",
                rf"x=\frac{{\pi}}{{{q}}}",
                rf"x=\frac{{\pi}}{{{q}}}{first}\pi",
            ],
        ),
    )
    return rng.choice(choices)


@family
def residue(rng: random.Random) -> tuple[Forms, Forms]:
    m = rng.randint(5, 30)
    r = rng.randint(1, m - 1)
    forms = [
        rf"x\equiv {r}\pmod{{{m}}}",
        rf"x\equiv {r + m}\pmod{{{m}}}",
        rf"x\equiv {r - m}\pmod{{{m}}}",
    ]
    others = [
        rf"x\equiv {r + 1}\pmod{{{m}}}",
        rf"x\equiv {r}\pmod{{{m + 1}}}",
        rf"x\equiv {r}\pmod{{{2 * m}}}",
        rf"y\equiv {r}\pmod{{{m}}}",
    ]
    return forms, others


@family
def nothing_or_everything(rng: random.Random) -> tuple[Forms, Forms]:
    nothing = [
        r"\emptyset",
        r"\varnothing",
        r"\text{no solution}",
        r"\{\}",
        r"\text{there is no solution}",
    ]
    everything = [r"\mathbb{R}", r"(-\infty,\infty)", r"\text{all real numbers}"]
    if rng.random() < 0.5:
        return nothing, [
            *everything,
            "0",
            r"\{0\}",
            r"\text{infinitely many solutions}",
            r"\{\emptyset\}",
        ]
    return everything, [*nothing, "0", r"(0,\infty)", r"\mathbb{Z}", r"\mathbb{Q}", r"[0,\infty)"]
