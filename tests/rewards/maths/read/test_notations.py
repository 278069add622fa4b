"""One notation and another for the same thing are equal, and their near misses are not."""

from __future__ import annotations

import pytest

from assay.rewards.outcome.maths.reward import math_equal_reward


def is_paid(reference: str, answer: str) -> bool:
    score = math_equal_reward(rf"\boxed{{{answer}}}", reference)
    return not score.abstained and float(score) == 1.0


SAME = [
    (r"\binom{7}{2}", r"{7 \choose 2}"),
    ("21", r"7 \choose 2"),
    (r"\frac{7}{4}", r"{7 \over 4}"),
    (r"\frac{x+1}{4y}", r"{x+1 \over 4y}"),
    (r"-\frac{1}{2}", r"-{1 \over 2}"),
    ("120", "{}_{10}C_{3}"),
    ("120", "C_{10}^3"),
    ("120", "^{10}C_3"),
    ("120", "10C3"),
    ("120", "C(10,3)"),
    ("120", r"10 \text{ choose } 3"),
    ("720", "A_{10}^3"),
    ("7+20i", "7+i20"),
    (r"\mathbb{Z}^+", r"\text{positive integers}"),
    (r"\mathbb{Z}^+", r"\mathbb{Z}_{>0}"),
    ("5", r"\text{five apples}"),
    ("5/2", r"\text{five halves}"),
    ("[-3,5)", "[-3,5["),
    (r"(2,\infty)", r"]2,+\infty["),
    ("(2,5]", r"\left]2,5\right]"),
    (r"(1,2)\cup(3,4)", r"]1,2[\cup]3,4["),
    ("(a,b]", "]a,b]"),
    (r"(-\infty,0)\cup(0,\infty)", r"\mathbb R-\{0\}"),
    (r"x\ne0", r"\mathbb{R}\backslash\{0\}"),
    (r"x\ne 1,2", r"\mathbb R\setminus\{1,2\}"),
    (r"x\ne0", r"\mathbb{R}^*"),
    ("x>0", r"\mathbb{R}^+"),
    (r"x\ge0", r"\mathbb{R}_{\ge 0}"),
    (r"\sin^n x", r"\sin^n(x)"),
    (r"\sin^n x", r"(\sin x)^n"),
    (r"\operatorname{arsinh}(x)", r"\sinh^{-1}(x)"),
    (r"\coth^{-1}x", r"\operatorname{arccoth}(x)"),
    (r"\operatorname{arctanh} x", r"\frac12\ln\frac{1+x}{1-x}"),
    ("204_5", r"204_{\text{five}}"),
    ("204_5", "(204)_5"),
    ("204_5", r"204 \text{ base five}"),
    ("204_5", r"204\text{ (base 5)}"),
    ("204_5", r"204 \text{ base } 5"),
    ("1A3_{16}", "(1A3)_{16}"),
    (r"\emptyset", r"\text{there is no solution}"),
    ("DNE", r"\text{The limit does not exist}"),
    (r"\text{no solution}", r"\text{No real solutions}"),
    (r"\text{diverges}", r"\text{The series diverges.}"),
    (r"\mathbb{R}", r"\text{all real } x"),
    ("f(x)=2x", r"f(x)=2x \text{ for all real } x"),
    ("f(x)=2x", r"f(x)=2x \text{ for all } x\in\mathbb{R}"),
    ("f(x)=cx", r"f(x)=cx \text{ where } c \text{ is a constant}"),
    (r"x=k\pi, k\in\mathbb{Z}", r"x=k\pi \text{ where } k \text{ is an integer}"),
    (r"x=k\pi, k\in\mathbb{Z}", r"x=k\pi \quad (k\in\mathbb{Z})"),
    ("12", r"12 \text{ sq. ft.}"),
    ("12", r"12^\circ\text{C}"),
    ("12", r"12\text{ units}^2"),
    ("8:15", "40:75"),
    ("8th", "8"),
    (r"8^{\text{th}}", "8th"),
    (r"21\text{st}", "21^{st}"),
]
DIFFERENT = [
    (r"\binom{7}{2}", r"{7 \over 2}"),
    ("[2,5]", "]2,5["),
    (r"\mathbb{Z}", r"\mathbb{Z}^+"),
    ("5", r"\text{five million}"),
    ("5", r"\text{five is wrong}"),
    ("(2,5)", "]2,5]"),
    (r"\sin^{-1}x", r"\frac{1}{\sin x}"),
    (r"\sin^n x", r"\sin (nx)"),
    ("204_5", "204_{6}"),
    ("1A3_{16}", "419"),
    ("1A3_{16}", "1A4_{16}"),
    ("8th", "9th"),
    ("8", "8st"),
    ("x>0", r"\mathbb{R}^*"),
    ("DNE", "END"),
    (r"\text{no solution}", r"\text{infinitely many solutions}"),
    (r"\text{diverges}", r"\text{converges}"),
    ("f(x)=3x", r"f(x)=2x \text{ for all } x"),
    ("x=5", r"x=5 \text{ for } x>3"),
    ("5", r"5 \text{ where } x=2"),
    ("42", r"42 \text{ for the win}"),
]


@pytest.mark.parametrize(("reference", "answer"), SAME)
def test_two_notations_for_one_thing_are_equal_both_ways(reference: str, answer: str) -> None:
    assert is_paid(reference, answer)
    assert is_paid(answer, reference)


@pytest.mark.parametrize(("reference", "answer"), DIFFERENT)
def test_a_near_miss_of_a_notation_is_refused_both_ways(reference: str, answer: str) -> None:
    assert not is_paid(reference, answer)
    assert not is_paid(answer, reference)
