"""Functions inside functions, families of values, and solutions with constants of any name."""

from __future__ import annotations

import math
import random

from perf.maths_cases.case import Forms, family


def _scale(rng: random.Random) -> int:
    return rng.choice((rng.randint(2, 20), rng.randint(30, 900), rng.randint(2_000, 90_000)))


@family
def bars_in_bars(rng: random.Random) -> tuple[Forms, Forms]:
    a = _scale(rng)
    forms = [
        f"||x|-{a}|",
        f"|{a}-|x||",
        rf"\max(|x|-{a},{a}-|x|)",
        rf"\left|\sqrt{{x^2}}-{a}\right|",
    ]
    others = [
        f"|x|-{a}",
        f"{a}-|x|",
        f"|x-{a}|",
        f"||x|-{a + 1}|",
        f"||x|+{a}|",
        rf"\max(|x|-{a},0)",
        f"|x+{a}|",
    ]
    return forms, others


@family
def two_bars(rng: random.Random) -> tuple[Forms, Forms]:
    a, b = sorted(rng.sample(range(-900, 900), 2))
    first, second = f"|x{-a:+d}|", f"|x{-b:+d}|"
    forms = [
        f"{first}+{second}",
        f"{second}+{first}",
        rf"\max({b - a},|2x{-a - b:+d}|)",
    ]
    others = [
        f"|2x{-a - b:+d}|",
        str(b - a),
        f"{first}-{second}",
        f"2x{-a - b:+d}",
        f"|x{-a:+d}|+|x{-b - 1:+d}|",
    ]
    return forms, others


@family
def clamp(rng: random.Random) -> tuple[Forms, Forms]:
    low, high = sorted(rng.sample(range(-400, 3_000), 2))
    forms = [
        rf"\min(\max(x,{low}),{high})",
        rf"\max(\min(x,{high}),{low})",
        rf"\frac{{{low}+{high}+|x-({low})|-|x-({high})|}}{{2}}",
    ]
    others = [
        "x",
        rf"\max(x,{low})",
        rf"\min(x,{high})",
        str(low),
        str(high),
        rf"\min(\max(x,{low}),{high + 1})",
        rf"\min(\max(x,{low - 1}),{high})",
    ]
    return forms, others


@family
def digit(rng: random.Random) -> tuple[Forms, Forms]:
    m, d = rng.randint(2, 30), rng.randint(2, 30)
    inner = rf"\left\lfloor\frac{{n}}{{{d}}}\right\rfloor"
    forms = [
        rf"{inner} \bmod {m}",
        rf"{inner}-{m}\left\lfloor\frac{{n}}{{{m * d}}}\right\rfloor",
        rf"\left\lfloor\frac{{n \bmod {m * d}}}{{{d}}}\right\rfloor",
    ]
    others = [
        inner,
        rf"{inner} \bmod {m + 1}",
        "0",
        rf"\left\lceil\frac{{n}}{{{d}}}\right\rceil \bmod {m}",
        rf"\left\lfloor\frac{{n \bmod {m * d + 1}}}{{{d}}}\right\rfloor",
    ]
    return forms, others


@family
def expanded_square_root(rng: random.Random) -> tuple[Forms, Forms]:
    a = rng.choice((-1, 1)) * _scale(rng)
    square = f"x^2{-2 * a:+d}x+{a * a}"
    forms = [
        f"|x{-a:+d}|",
        rf"\sqrt{{{square}}}",
        rf"\sqrt{{(x{-a:+d})^2}}",
        rf"\sqrt[4]{{(x{-a:+d})^4}}",
    ]
    others = [
        f"x{-a:+d}",
        f"{a}-x",
        rf"\sqrt{{x^2+{a * a}}}",
        rf"\sqrt{{{square}+1}}",
        f"|x{a:+d}|",
    ]
    return forms, others


@family
def larger_of_two(rng: random.Random) -> tuple[Forms, Forms]:
    a = _scale(rng)
    forms = [
        rf"\max(x,y+{a})",
        rf"\max(y+{a},x)",
        rf"\frac{{x+y+{a}+|x-y-{a}|}}{{2}}",
        rf"y+{a}+\max(x-y-{a},0)",
    ]
    others = [
        "x",
        f"y+{a}",
        rf"\min(x,y+{a})",
        rf"\max(x,y+{a + 1})",
        rf"\max(x+{a},y)",
        rf"\max(x,y)+{a}",
    ]
    return forms, others


@family
def tiny_difference(rng: random.Random) -> tuple[Forms, Forms]:
    k = rng.randint(15, 90)
    body, same = rng.choice(
        (
            (r"\sin x", r"\cos(\frac{\pi}{2}-x)"),
            (r"e^{x}", r"\exp(x)"),
            (r"\ln(x^2+1)", r"\ln(1+x^2)"),
            (r"\sqrt{x^2+1}", r"(x^2+1)^{\frac{1}{2}}"),
            (r"\frac{x}{x+2}", r"1-\frac{2}{x+2}"),
        )
    )
    forms = [body, same, f"{body}+10^{{-{k}}}-10^{{-{k}}}"]
    others = [
        f"{body}+10^{{-{k}}}",
        f"{same}-10^{{-{k}}}",
        rf"{body}\cdot(1+10^{{-{k}}})",
        rf"{body}+10^{{-{k}}}x",
    ]
    return forms, others


@family
def constant_factor_of_an_equation(rng: random.Random) -> tuple[Forms, Forms]:
    a, b, c = (rng.choice((-1, 1)) * rng.randint(1, 40) for _ in range(3))
    body = f"{a}x{b:+d}y{c:+d}"
    factor = rng.choice(
        (r"\sqrt{2}", r"\pi", "(1+i)", "(2-3i)", "7", r"\frac{2}{3}", r"(1+\sqrt{3})")
    )
    forms = [f"{body}=0", f"{factor}({body})=0", f"{a}x{b:+d}y={-c}", f"-({body})=0"]
    others = [
        f"{a}x{b:+d}y{c + 1:+d}=0",
        f"{a}x{-b:+d}y{c:+d}=0",
        f"{factor}({body})=1",
        f"({body})+10^{{-40}}=0",
        f"{body}>0",
        f"({body})(x-1)=0",
    ]
    return forms, others


@family
def union_of_families(rng: random.Random) -> tuple[Forms, Forms]:
    q = rng.choice((3, 4, 5, 6, 8))
    k, n = rng.sample("kmn", 2)
    parts = [rf"x=\frac{{\pi}}{{{q}}}+2{k}\pi", rf"x=\frac{{{q + 1}\pi}}{{{q}}}+2{k}\pi"]
    both = [rf"x=\pm\frac{{\pi}}{{{q}}}+2{k}\pi"]
    whole = (
        [
            rf"x=\frac{{\pi}}{{{q}}}+{k}\pi, {k}\in\mathbb{{Z}}",
            rf"x=\frac{{\pi}}{{{q}}}+{n}\pi",
            rf"{parts[0]} \text{{ or }} {parts[1]}",
            rf"{parts[1]}, {parts[0]}, {k}\in\mathbb{{Z}}",
        ],
        [
            parts[0],
            parts[1],
            both[0],
            rf"x=\frac{{\pi}}{{{q}}}+\frac{{{k}\pi}}{{2}}",
            rf"x=\frac{{\pi}}{{{q}}}+{k}\pi, {k}\in\mathbb{{N}}",
        ],
    )
    signs = (
        [
            *both,
            rf"x=\pm\frac{{\pi}}{{{q}}}+2{n}\pi, {n}\in\mathbb{{Z}}",
            rf"x=2{n}\pi\pm\frac{{\pi}}{{{q}}}",
            rf"x=\frac{{\pi}}{{{q}}}+2{k}\pi \text{{ or }} x=-\frac{{\pi}}{{{q}}}+2{k}\pi",
            rf"{parts[0]} \text{{ or }} x=\frac{{{2 * q - 1}\pi}}{{{q}}}+2{k}\pi",
        ],
        [
            parts[0],
            rf"x=\pm\frac{{\pi}}{{{q}}}+{k}\pi",
            rf"x=\pm\frac{{\pi}}{{{q + 1}}}+2{k}\pi",
            rf"x=\pm\frac{{\pi}}{{{q}}}",
        ],
    )
    return rng.choice((whole, signs))


@family
def progression(rng: random.Random) -> tuple[Forms, Forms]:
    m = rng.randint(3, 40)
    r = rng.randint(1, m - 1)
    k, n = rng.sample("kmnt", 2)
    forms = [
        rf"x={m}{k}+{r}, {k}\in\mathbb{{Z}}",
        rf"x={m}{n}+{r}, {n}\in\mathbb{{Z}}",
        rf"x={r}-{m}{n}, {n}\in\mathbb{{Z}}",
        rf"x={m}{k}{r - m:+d}, {k}\in\mathbb{{Z}}",
    ]
    others = [
        rf"x={m}{k}+{r + 1}, {k}\in\mathbb{{Z}}" if m > 2 else "x=0",
        rf"x={m + 1}{k}+{r}, {k}\in\mathbb{{Z}}",
        rf"x={2 * m}{k}+{r}, {k}\in\mathbb{{Z}}",
        rf"y={m}{k}+{r}, {k}\in\mathbb{{Z}}",
        f"x={r}",
    ]
    return forms, others


@family
def general_solution(rng: random.Random) -> tuple[Forms, Forms]:
    a, b = rng.sample(range(1, 9), 2)
    up, down = f"e^{{{a}x}}", f"e^{{-{b}x}}"
    forms = [
        f"y=C_1{up}+C_2{down}",
        f"y=C_2{up}+C_1{down}",
        f"y=c_1{up}+c_2{down}",
        f"y=A{up}+B{down}",
        f"y=C_2{down}-C_1{up}",
    ]
    others = [
        f"y=C_1{up}+C_2e^{{{b}x}}",
        f"y=C_1{up}+C_1{down}",
        f"y=C_1{up}",
        f"y=C_1{up}+C_2{down}+1",
        f"y=C_1{up}+C_2x{down}",
        f"y={up}+{down}",
    ]
    return forms, others


@family
def antiderivative_by_another_way(rng: random.Random) -> tuple[Forms, Forms]:
    a = rng.randint(2, 9)
    choices = (
        (
            [r"\sin^2 x+C", r"-\cos^2 x+C", r"-\frac{1}{2}\cos 2x+C", r"K-\cos^2 x"],
            [r"\cos^2 x+C", r"\sin^2 x", r"2\sin^2 x+C", r"\sin^2 x+Cx", r"\sin x+C"],
        ),
        (
            [r"\ln|x|+C", rf"\ln|{a}x|+C", rf"\ln|x|+{a}+C", r"\ln|x|-C"],
            [r"\ln|x+1|+C", rf"{a}\ln|x|+C", rf"\ln|x+{a}|+C", r"-\ln|x|+C"],
        ),
        (
            [rf"\frac{{(x+{a})^2}}{{2}}+C", rf"\frac{{x^2}}{{2}}+{a}x+C"],
            [rf"\frac{{(x+{a + 1})^2}}{{2}}+C", r"\frac{x^2}{2}+C", rf"\frac{{(x-{a})^2}}{{2}}+C"],
        ),
    )
    return rng.choice(choices)


@family
def definite_integral(rng: random.Random) -> tuple[Forms, Forms]:
    p, b = rng.randint(2, 9), rng.randint(2, 9)
    forms = [
        rf"\int_0^{b} \cos(x^{p})\,dx",
        rf"\int_0^{b} \cos(t^{p})\,dt",
        rf"\int_{{0}}^{{{b}}}\cos(u^{{{p}}})\,du",
    ]
    others = [
        rf"\int_0^{b} \cos(x^{p + 1})\,dx",
        rf"\int_0^{b + 1} \cos(t^{p})\,dt",
        rf"\int_1^{b} \cos(t^{p})\,dt",
        rf"\int_0^{b} \sin(t^{p})\,dt",
        rf"\int_0^{b} \cos(x^{p})\,dt",
    ]
    return forms, others


@family
def floor_of_root(rng: random.Random) -> tuple[Forms, Forms]:
    s = rng.randint(1, 30)
    forms = [
        rf"\lfloor\sqrt{{n}}\rfloor+{s}",
        rf"\left\lfloor\sqrt{{n}}+{s}\right\rfloor",
        rf"{s}+\lfloor n^{{\frac{{1}}{{2}}}}\rfloor",
    ]
    others = [
        rf"\lceil\sqrt{{n}}\rceil+{s - 1}",
        rf"\lfloor\sqrt{{n+1}}\rfloor+{s}",
        rf"\lfloor\sqrt{{n}}\rfloor+{s + 1}",
        rf"\sqrt{{n}}+{s}",
        rf"\left\lfloor\sqrt{{n}}+\frac{{1}}{{{s + 1}}}\right\rfloor+{s}",
    ]
    return forms, others


@family
def defined_function(rng: random.Random) -> tuple[Forms, Forms]:
    a, b = rng.randint(2, 30), rng.randint(1, 30)
    x, t = rng.sample("xtuvs", 2)
    forms = [f"f({x})={a}{x}^2+{b}", f"f({t})={a}{t}^2+{b}", f"f({t})={b}+{a}{t}^2"]
    others = [
        f"f({x})={a}{t}^2+{b}",
        f"f({x})={a}{x}^2-{b}",
        f"g({x})={a}{x}^2+{b}",
        f"f({t})={a + 1}{t}^2+{b}",
        f"f({x})={math.comb(a, 2) + 99}",
    ]
    return forms, others
