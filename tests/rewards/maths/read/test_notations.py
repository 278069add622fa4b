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
    ("5th", r"\text{fifth}"),
    ("21", r"\text{twenty-first}"),
    ("1,000th", "1000"),
    # An exponent, a bound or an argument without braces is one letter.
    ("e^x+xe^x", "e^x(x+1)"),
    ("x^n+x^{n+1}", "x^n(1+x)"),
    (r"x\sqrt{x}+\sqrt{x}", r"\sqrt x(x+1)"),
    (r"1+\frac{1}{x}", r"\frac1x(x+1)"),
    ("n^2", r"\sum_{k=1}^n(2k-1)"),
    # Commands of layout, and words that lead to the answer or close it.
    ("6", r"\large 6"),
    ("6", r"{\bf 6}"),
    ("6", r"6\qed"),
    ("6", r"\begin{equation}6\end{equation}"),
    ("14", r"\text{The answer is }14"),
    ("14", r"\text{exactly }14"),
    ("14", r"\text{a total of }14"),
    ("14", r"14\text{ of them}"),
    ("14", r"14\text{ such numbers}"),
    (r"n\ge3", r"\text{all }n\ge3"),
    ("f(x)=x^2", r"f: x\mapsto x^2"),
    # Units in one command.
    (r"9.8\text{ m/s}^2", r"9.8\ \mathrm{m\,s^{-2}}"),
    ("60 km/h", r"60\ \mathrm{km\cdot h^{-1}}"),
    ("5 cm", r"5{\rm cm}"),
    # Numerals as programs write them.
    ("1101_2", "0b1101"),
    ("2A_{16}", "0x2A"),
    ("2A_{16}", r"2\mathrm{A}_{16}"),
    ("314_6", r"314_{\text{base }6}"),
    ("1101_2", r"1101\text{ in binary}"),
    ("314_6", r"\overline{314}_6"),
    # Number words.
    ("12", r"\text{a dozen}"),
    ("5/2", r"\text{two and a half}"),
    ("1500", r"\text{fifteen hundred}"),
    ("1/7", r"\text{one seventh}"),
    ("5/12", r"\text{five twelfths}"),
    ("100", r"\text{a hundred}"),
    # Phrases.
    ("No", r"\text{no}"),
    ("Yes", r"\text{yes, it is}"),
    (r"\infty", r"\text{infinity}"),
    ("even", r"\text{It is even}"),
    (r"\text{absolutely convergent}", r"\text{converges absolutely}"),
    # Clauses.
    ("f(n)=n^2", r"f(n)=n^2\text{ for every positive integer }n"),
    ("a_n=2^n", r"a_n=2^n\text{ for }n\ge1"),
    ("a_n=2^n", r"a_n=2^n\ (n\in\mathbb N^*)"),
    ("f(x)=ax+b", r"f(x)=ax+b \text{ for real constants } a,b"),
    (r"x=k\pi-\frac{\pi}{4}, k\in\mathbb{Z}", r"x=k\pi-\frac{\pi}{4} (k \in Z)"),
    # Dots between whole numbers.
    (r"\{1,2,3,4,5,6\}", r"\{1,2,\ldots,6\}"),
    (r"\{3,5,7,9,11\}", r"\{3,5,\dots,11\}"),
    # Combinations by letters.
    (r"\binom{n}{k}", "C(n,k)"),
    (r"\binom{n}{k}", "C_n^k"),
    ("60", "P(5,3)"),
    # Euler's function.
    (r"\sqrt\pi", r"\Gamma(1/2)"),
    # Functions by name, and what they are worth.
    (r"\operatorname{Li}_2(1/2)", r"\text{Li}_2\left(\frac12\right)"),
    (r"\frac{\sqrt\pi}{2}\operatorname{erf}(1)", r"\frac{\sqrt\pi\,\mathrm{erf}(1)}{2}"),
    ("2", r"\operatorname{rank}(A)=2"),
    ("3", r"\dim V=3"),
    ("-2", r"\det A=-2"),
    ("1", r"\gcd(a,b)=1"),
    (r"1+i\sqrt3", r"2\,\text{cis}\,60^\circ"),
    (r"-\ln|\cos x|+C", r"\ln|\sec x|+C"),
    (r"\ln|x|-\ln|y|", r"\ln\left|\frac{x}{y}\right|"),
    (r"x=1, y=-1", r"\left\{\begin{array}{l}x=1\\y=-1\end{array}\right."),
    ("1,2", r"\text{1 and 2}"),
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
    ("e^{x^2+x}", "e^x(x+1)"),
    ("x^{n(1+x)}", "x^n(1+x)"),
    ("2^{3n}", "2^n(3)"),
    ("14", r"\text{at least }14"),
    ("14", r"\text{not exactly }14"),
    ("14", r"\text{a total of }15"),
    ("14", r"\text{the 14th prime}"),
    ("No", "Yes"),
    ("even", r"\text{It is not even}"),
    (r"\infty", r"\text{negative infinity}"),
    ("42", "0x2A"),
    ("1101_2", "0b1100"),
    ("5/2", r"\text{two and a third}"),
    (r"\{1,2,\ldots,10\}", r"\{1,2,\ldots,11\}"),
    (r"\{1,2,\ldots,10\}", r"\{1,2,10\}"),
    (r"\{1,3,\ldots,9\}", r"\{1,2,\ldots,9\}"),
    (r"\binom{n}{k}", "C(k,n)"),
    ("60", "P(5,2)"),
    ("f(x)=x^2", r"f(x)=x^2 \text{ for } x>0"),
    (r"\operatorname{Li}_2(1/2)", r"\operatorname{Li}_3(1/2)"),
    (r"\operatorname{erf}(2)", r"2\operatorname{erf}(1)"),
    (r"\ln|x|-\ln|y|", r"\ln|x-y|"),
    (r"-\ln|\cos x|+C", r"\ln|\cos x|+C"),
    (r"\ln(xy)", r"\ln|x|+\ln|y|+1"),
    (r"|xy|", r"x|y|"),
]


@pytest.mark.parametrize(("reference", "answer"), SAME)
def test_two_notations_for_one_thing_are_equal_both_ways(reference: str, answer: str) -> None:
    assert is_paid(reference, answer)
    assert is_paid(answer, reference)


@pytest.mark.parametrize(("reference", "answer"), DIFFERENT)
def test_a_near_miss_of_a_notation_is_refused_both_ways(reference: str, answer: str) -> None:
    assert not is_paid(reference, answer)
    assert not is_paid(answer, reference)
