"""An answer has a type: what is of another type is never paid, however alike it looks.

Each table is one class, with pairs that are the same and pairs that only look so; (reference,
answer) in both directions where the convention is symmetric.
"""

from __future__ import annotations

import pytest

from assay.rewards.outcome.maths.reward import math_equal_reward


def is_paid(reference: str, answer: str, **options: str) -> bool:
    score = math_equal_reward(rf"\boxed{{{answer}}}", reference, **options)  # type: ignore[arg-type]
    return not score.abstained and float(score) == 1.0


CHANGING_WORDS = (
    "million; dozen; halves; below zero; factorial; excluded; rejected; impossible; doubled; "
    "base seven; hex; squared; cubed; thirds; tenths; percent less; in base 8; mod 3; is wrong; "
    "maybe; or more; at least; minus one; fails; works; twice; negated; hundred; tens; quarters; "
    "reciprocal; inverse; factorials; cube; root; maximum; approximately; exclusive; over two; "
    "out of ten; to the fourth; times three; percent of ten; recurring; repeating; quokkas"
).split("; ")
COUNTED = (
    "apples; red apples; students; ways; people; marbles; cm; square units; pairs of shoes; "
    "cookies; different ways; distinct triangles; children; elves; times; in total; apples left; "
    "pieces of candy; positive integers; real solutions; boxes; total; cups of sugar"
).split("; ")


@pytest.mark.parametrize("words", CHANGING_WORDS)
def test_a_word_that_is_no_unit_and_no_noun_makes_another_answer(words: str) -> None:
    assert not is_paid("5", rf"5 \text{{ {words}}}")
    assert not is_paid("5", f"5 {words}")


@pytest.mark.parametrize("words", COUNTED)
def test_a_unit_or_a_listed_noun_may_be_added(words: str) -> None:
    assert is_paid("5", rf"5 \text{{ {words}}}")
    assert is_paid(rf"5 \text{{ {words}}}", "5")
    assert not is_paid("6", rf"5 \text{{ {words}}}")


SAME = [
    # Multipliers multiply.
    ("5000000", r"5 \text{ million}"),
    (r"\$5 \text{ million}", "5000000"),
    (r"5 \text{ million dollars}", r"\$5,000,000"),
    ("24", r"2 \text{ dozen eggs}"),
    # What is counted may be described by one side, and an unlisted noun by the reference.
    ("17 apples", "17 red apples"),
    (r"5 \text{ quokkas}", "5"),
    (r"5 \text{ quokkas}", "5 quokkas"),
    (r"1 \text{ apple}", "1"),
    # Angles.
    (r"45^\circ", r"\frac{\pi}{4} \text{ radians}"),
    (r"\frac{\pi}{4}", r"\frac{\pi}{4} \text{ rad}"),
    (r"45^\circ", "45"),
    # Intervals.
    (r"m\in(-2,2)", "-2<m<2"),
    ("(0,1)", "0<x<1"),
    ("a<x<b", "(a,b)"),
    (r"x\ge a+1", r"[1+a,\infty)"),
    # Tuples and lists.
    ("(0,1)", "0,1"),
    (r"x\in\{1,2\}", r"x=1 \text{ or } x=2"),
    # Names.
    ("(3,-2)", "y=-2,x=3"),
    ("(3,-2)", "(y,x)=(-2,3)"),
    ("(x,y)=(3,-2)", "(y,x)=(-2,3)"),
    ("x=3,y=-2", r"x=3 \text{ and } y=-2"),
    ("m=3,b=2", "(3,2)"),
    ("x=1, x=2", "x_1=1,x_2=2"),
    # Inequalities.
    (r"(-\infty,2)\cup(3,\infty)", "x<2, x>3"),
    (r"(-\infty,2)\cup(3,\infty)", r"x<2 \lor x>3"),
    (r"(-\infty,2)\cup(3,\infty)", r"\{x : x<2 \text{ or } x>3\}"),
    ("(2,3)", r"x>2 \land x<3"),
    ("a<0, b>0", r"b>0 \text{ and } a<0"),
    # Equations between numbers.
    ("88+72=160", "72+88=160"),
    ("160=88+72", "88+72=160"),
    ("88+72=160", "160"),
    # Labels and figures.
    ("ABC", r"\text{ABC}"),
    ("SEC", r"\mathrm{SEC}"),
    (r"\angle ABC", r"\angle CBA"),
    (r"\angle {ABC}", "∠ABC"),
    (r"m\angle ABC=74", r"\angle ABC=74^\circ"),
    (r"\triangle ABC\sim\triangle DEF", r"\triangle DEF\sim\triangle ABC"),
    ("AB=5", "BA=5"),
    ("I and III", "III and I"),
    ("ACD", "A, C, D"),
    ("①③", "(1)(3)"),
    ("①③", "①, ③"),
    ("(1)(3)", r"\text{(1)(3)}"),
    ("2AB", "2BA"),
    ("PV=nRT", r"P=\frac{nRT}{V}"),
    (r"\frac{A B}{CD}", r"\frac{AB}{CD}"),
    (r"A\subset B", r"B\supset A"),
    # Functions and products.
    ("f(3)", r"f\left(3\right)"),
    ("x(x+1)", "x^2+x"),
    ("hb+hc", "h(b+c)"),
    (r"\lambda(a+b)", r"a\lambda+b\lambda"),
    ("f(x)=2x", "y=2x"),
    ("P(2)=5", "5"),
    # Exact integers and decimals.
    ("1099511627776", r"1.099511627776\times 10^{12}"),
    (r"1.09951\times 10^{12}", "1099511627776"),
    ("3", "3.0000000000000004"),
    ("3.5", "3,5"),
    ("1.234,56", "1234.56"),
]
DIFFERENT = [
    (r"3 \text{ red apples}", r"3 \text{ green apples}"),
    (r"5 \text{ million}", "5"),
    (r"45^\circ", r"45 \text{ radians}"),
    (r"45 \text{ rad}", r"45^\circ"),
    # An interval is no list, no pair and no set.
    ("(0,1)", r"0 \text{ or } 1"),
    (r"0 \text{ or } 1", "(0,1)"),
    (r"m\in(-2,2)", r"m=-2 \text{ or } m=2"),
    ("(x,y)=(0,1)", "(0,1]"),
    ("(x,y)=(0,1)", "]0,1["),
    ("(0,1)", "(0,1]"),
    ("[0,1]", "0, 1"),
    ("0,1", "[0,1]"),
    ("(0,1)", "x=0, x=1"),
    ("x=0, x=1", "(0,1)"),
    (r"\{0,1\}", "[0,1]"),
    # Values belong to their names.
    ("(3,-2)", "y=3,x=-2"),
    ("(3,-2)", "(y,x)=(3,-2)"),
    ("(x,y)=(3,-2)", "(y,x)=(3,-2)"),
    ("y=-2,x=3", "(-2,3)"),
    ("x=3,y=-2", "x=-2,y=3"),
    ("x=1, x=2", "y_1=1,y_2=2"),
    ("x=1, x=2", "x_1=1,x_2=3"),
    # Different names form no union; `and` leaves what both allow.
    (r"(-\infty,0)\cup(0,\infty)", "a<0, b>0"),
    ("a<0, b>0", "b<0, a>0"),
    (r"(-\infty,2)\cup(3,\infty)", r"x<2 \text{ and } x>3"),
    (r"(-\infty,2)\cup(3,\infty)", r"y<2 \text{ or } z>3"),
    ("(2,3)", r"x>2 \text{ or } x<3"),
    (r"x<2 \text{ or } x>3", r"x<2 \text{ and } x>3"),
    ("73+25=98", "x=98"),
    (r"x>0 \text{ and } y>0", r"x>0 \text{ or } y>0"),
    ("x=1, y=2", r"x=1 \text{ or } y=2"),
    (r"\pm 2", "(2,-2)"),
    (r"\{2\}", r"\{\{2\}\}"),
    # A true equation says what it says.
    ("88+72=160", "14+10+6=30"),
    ("88+72=160", "80+80=160"),
    ("x=0", "0=0"),
    ("0", "0=0"),
    ("x=x", "2y=2y"),
    ("x=x", "0=0"),
    ("3<5", "2<7"),
    ("x+y=y+x", "a+b=b+a"),
    # Labels do not commute, nor do functions multiply.
    ("ABC", "BAC"),
    ("AB", "BA"),
    ("HTT", "TTH"),
    ("IV", "VI"),
    ("ABCD", "ABDC"),
    ("A'B'C'", "B'A'C'"),
    ("AC", "CA"),
    (r"\angle ABC", r"\angle BAC"),
    (r"\triangle ABC", r"\angle ABC"),
    (r"\triangle ABC\sim\triangle DEF", r"\triangle ABC\sim\triangle EDF"),
    ("(1)(3)", "3"),
    ("①③", "13"),
    ("①③", "③"),
    ("f(3)", "3f"),
    (r"\phi(10)", r"10\phi"),
    ("P(A)", "PA"),
    ("T(n)", "nT"),
    ("f(3)", r"3\cdot f"),
    ("P(3)", "3P"),
    ("f(2x)", "2f(x)"),
    (r"A\subset B", r"B\subset A"),
    (r"a\perp b", r"a\parallel b"),
    (r"f\circ g", r"g\circ f"),
    (r"A\otimes B", r"B\otimes A"),
    # An exact integer wants an exact integer, and a list is no decimal.
    ("1099511627776", r"1.09951\times 10^{12}"),
    ("2^{40}", r"1.09951\times 10^{12}"),
    ("25!", r"1.55112\times10^{25}"),
    ("1099511627776", "1.0995116277761e12"),
    ("3,5", "3.5"),
]


@pytest.mark.parametrize(("reference", "answer"), SAME)
def test_the_same_value_of_the_same_type_is_paid(reference: str, answer: str) -> None:
    assert is_paid(reference, answer)


@pytest.mark.parametrize(("reference", "answer"), DIFFERENT)
def test_another_type_is_another_answer(reference: str, answer: str) -> None:
    assert not is_paid(reference, answer)


@pytest.mark.parametrize(
    ("decimal_comma", "reference", "answer", "paid"),
    [
        ("either", "3,5", "3.5", True),
        ("never", "3.5", "3,5", False),
        ("never", "1234", "1,234", True),
        ("either", "3,5", "5,3", True),
    ],
)
def test_the_decimal_comma_has_a_switch(
    decimal_comma: str, reference: str, answer: str, paid: bool
) -> None:
    assert is_paid(reference, answer, decimal_comma=decimal_comma) is paid


@pytest.mark.parametrize(
    ("reference", "answer"),
    [
        (r"5\zeta(3)", r"3\zeta(5)"),
        ("2P(3)", "3P(2)"),
        ("2P(3)", "6P"),
        ("6a(1)", "3a(2)"),
        (r"\Gamma(1/3)", r"\frac43\Gamma(1/4)"),
        (r"\sum_{j=1}^n a_j", r"\sum_{i=1}^n a_j"),
        (r"\sum_{j=1}^n a_j", r"\sum_{j=0}^{n-1} a_j"),
        (r"\sum_{j=1}^n a_j", r"\sum_{i=1}^n b_i"),
        ("a_n=2n", "a_k=2n"),
        ("f(x)=0", r"f\equiv 1"),
        ("f(x)=0", "f(0)=0"),
        (r"\operatorname{rank}(A)=2", r"\operatorname{rank}(B)=2"),
        (r"\dim V=3", r"\dim W=3"),
        ("x=2", r"x=2\text{ for }n=1"),
        (r"\sin x+10^{-89}", r"\cos(\frac{\pi}{2}-x)"),
    ],
)
def test_a_letter_at_a_number_or_an_index_is_no_product(reference: str, answer: str) -> None:
    assert not is_paid(reference, answer)
    assert not is_paid(answer, reference)


@pytest.mark.parametrize(
    ("reference", "answer"),
    [
        (r"\sum_{j=1}^n a_j", r"\sum_{i=1}^n a_i"),
        (r"\sum_{j=1}^{2} a_j", "a_1+a_2"),
        ("a_n=2n-1", "a_k=2k-1"),
        ("f(x)=0", r"f\equiv 0"),
        (r"5\zeta(3)", r"\zeta(3)\cdot5"),
        (r"\sin x+10^{-89}-10^{-89}", r"\cos(\frac{\pi}{2}-x)"),
        (r"10\pi r", r"\pi r(10)"),
        (r"\begin{pmatrix}1\\2\\3\end{pmatrix}", "x=1,y=2,z=3"),
        (r"\begin{pmatrix}1\\2\\3\end{pmatrix}", "z=3,y=2,x=1"),
    ],
)
def test_an_index_and_a_function_keep_their_meaning_under_other_names(
    reference: str, answer: str
) -> None:
    assert is_paid(reference, answer)
    assert is_paid(answer, reference)
