"""Functions made of pieces, and terms beside which others are tiny, are told apart everywhere."""

from __future__ import annotations

from fractions import Fraction

import pytest

from assay.rewards.outcome.maths.compare.equality import compare
from assay.rewards.outcome.maths.compute.breaks import polynomial_places

DIFFERENT = {
    "a kink beside the usual range": (r"|x-5|", "5-x"),
    "a kink far away": (r"|x-70000|", "70000-x"),
    "a maximum": (r"\max(x,5)", "5"),
    "a minimum of three": (r"\min(x,y,300)", r"\min(x,y)"),
    "bars of three variables": (r"|x-y|+|y-z|+|z-x|", r"2|x-y|+|x+y-2z|-|z-x|"),
    "a step far away": (r"\lfloor\frac{x+50}{100}\rfloor", "0"),
    "a remainder": (r"n \bmod 100", "n"),
    "another remainder": (r"n \bmod 560", r"n \bmod 561"),
    "a ceiling at integers": (r"\lceil x\rceil", r"\lfloor x\rfloor+1"),
    "a ceiling at squares": (r"\lfloor\sqrt{x}\rfloor", r"\lceil\sqrt{x}\rceil-1"),
    "shifted kinks": (r"|x+11|-11", r"|x+10|-10"),
    "a kink in a kink": (r"||x|-1500|", r"1500-|x|"),
    "a root of an expanded square": (r"\sqrt{x^2-10x+25}", "5-x"),
    "a root of a square": (r"\sqrt{(x-900)^2}", "900-x"),
    "a fourth root": (r"\sqrt[4]{(x-900)^4}", "900-x"),
    "two variables": (r"|x-5|+|y-70|", r"|x-5|+70-y"),
    "a quadratic inside": (r"|x^2-640x+102399|", r"x^2-640x+102399"),
    "a root inside": (r"|\sqrt{x}-1000|", r"1000-\sqrt{x}"),
    "an inverse function beyond its branch": (r"\arcsin(\sin x)", "x"),
    "a jump of an arctangent": (
        r"\arctan(x-70)+\arctan\frac{1}{x-70}",
        r"\frac{\pi}{2}\cdot\frac{70-x}{|x-70|}",
    ),
    "a jump of an arctangent, one side": (
        r"\arctan(x-70)+\arctan\frac{1}{x-70}",
        r"-\frac{\pi}{2}",
    ),
    "a floor of a remainder": (r"\left\lfloor\frac{n \bmod 70}{35}\right\rfloor", "0"),
    "a kink in a sum": (r"\sum_{k=1}^{n}|k-50|", r"\sum_{k=1}^{n}(50-k)"),
    "an equation with a kink": (r"y+|x-50|=0", r"y+50-x=0"),
    "a sign": (r"\operatorname{sgn}(x-300)", "-1"),
}
SAME = {
    "bars and a maximum": (r"|x-5|", r"\max(x-5,5-x)"),
    "a maximum by bars": (r"\max(x,y)", r"\frac{x+y+|x-y|}{2}"),
    "a kink in a kink": (r"||x|-1500|", r"\max(|x|-1500,1500-|x|)"),
    "a root of an expanded square": (r"\sqrt{x^2-10x+25}", "|x-5|"),
    "steps of a half": (r"\lfloor 2x\rfloor", r"\lfloor x\rfloor+\lfloor x+\frac12\rfloor"),
    "a ceiling by a floor": (r"\lceil x\rceil", r"-\lfloor -x\rfloor"),
    "a remainder by a floor": (r"n \bmod 12", r"n-12\left\lfloor\frac{n}{12}\right\rfloor"),
    "a sign by bars": (r"\operatorname{sgn}(x)", r"\frac{x}{|x|}"),
    "real far away only": (r"\sqrt{x-100}", r"\frac{x-100}{\sqrt{x-100}}"),
    "a sum": (r"\sum_{k=1}^n k", r"\frac{n(n+1)}{2}"),
    "bars of a square": (r"|x-5|^2", r"(x-5)^2"),
}
DWARFED = {
    "a line": (r"y=x+10^{-50}", "y=x"),
    "another tiny term": (r"y=x+10^{-50}", r"y=x+2\cdot 10^{-50}"),
    "a power": (r"y=(x-3)^{200}", r"y=(x-3)^{201}"),
    "a factor": (r"y=(b-8)^{55}", r"y=2(b-8)^{55}"),
    "one more": (r"y=(a-4)^{224}", r"y=(a-4)^{224}+1"),
    "beside a function": (r"y=\sin x+10^{-50}", r"y=\sin x"),
    "an expression": (r"\sin x+10^{-300}", r"\sin x"),
    "inside a function": (r"x\cos(10^{-25})", "x"),
    "by an exponential": (r"\sin x+e^{-1000}", r"\sin x"),
    "on a far piece": (r"\max(x,5)+10^{-50}\max(0,x-700)", r"\max(x,5)"),
    "in an inequality": (r"x\sin x<y+10^{-50}", r"x\sin x<y"),
}
EXACT = {
    "a power split": (r"y=(a-4)(a-4)^{223}", r"y=(a-4)^{224}"),
    "a complex factor": (r"(1+i)(x+y)=0", "x+y=0"),
    "a radical factor": (r"\sqrt2 x=2", r"x=\sqrt2"),
    "a factor of pi": (r"\pi x+\pi y=\pi^2", r"x+y=\pi"),
    "a common factor cancelled": (r"\frac{x^2-1}{x-1}=y", "x+1=y"),
    "logarithms that cancel": (r"\ln\sqrt x-\frac12\ln x", "0"),
    "zeta at an even number": (r"\zeta(2)", r"\frac{\pi^2}{6}"),
    "radicals that cancel": (r"\sqrt{x}\sqrt{y}-\sqrt{xy}", "0"),
}


def _both_ways(table: dict[str, tuple[str, str]]) -> list[object]:
    return [
        pytest.param(*pair, id=f"{name}, {way}")
        for name, (one, other) in table.items()
        for way, pair in (("as answer", (one, other)), ("as reference", (other, one)))
    ]


@pytest.mark.parametrize(("answer", "reference"), _both_ways(DIFFERENT))
def test_another_piece_is_another_function(answer: str, reference: str) -> None:
    assert compare(answer, reference).equal is False


@pytest.mark.parametrize(("answer", "reference"), _both_ways(SAME))
def test_the_same_pieces_are_the_same_function(answer: str, reference: str) -> None:
    assert compare(answer, reference).equal is True


@pytest.mark.parametrize(("answer", "reference"), _both_ways(DWARFED))
def test_a_tiny_term_is_a_difference(answer: str, reference: str) -> None:
    assert compare(answer, reference).equal is False


@pytest.mark.parametrize(("answer", "reference"), _both_ways(EXACT))
def test_a_constant_factor_is_none(answer: str, reference: str) -> None:
    assert compare(answer, reference).equal is True


@pytest.mark.parametrize(
    ("roots", "coefficients"),
    [
        ({Fraction(5, 3)}, [-5, 3]),
        ({-1.0, 1.0}, [-1, 0, 1]),
        ({5.0}, [25, -10, 1]),
        ({1.0, 2.0, 3.0}, [-6, 11, -6, 1]),
        (set(), [1]),
    ],
)
def test_every_real_root_of_a_polynomial_is_a_place(
    roots: set[float], coefficients: list[int]
) -> None:
    places = [float(place) for place in polynomial_places([*map(Fraction, coefficients)])]
    assert all(any(abs(root - place) < 1e-9 for place in places) for root in roots)
    assert bool(places) == bool(roots)
