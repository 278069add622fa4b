"""Exact values, and the arithmetic that decides when they run out."""

from decimal import Decimal, localcontext
from fractions import Fraction

import pytest

from assay.lazy import package_table
from assay.rewards.outcome.maths.compute.algebra import PolynomialRing, difference, quotient
from assay.rewards.outcome.maths.compute.decimals import PI, arctangent, context, sine_cosine
from assay.rewards.outcome.maths.compute.evaluate import rational
from assay.rewards.outcome.maths.compute.notations import FUNCTIONS
from assay.rewards.outcome.maths.compute.points import agree, value_of
from assay.rewards.outcome.maths.limits import TooLarge, WorkBudget
from assay.rewards.outcome.maths.nodes import Add, Call, Expr, Number, Symbol
from assay.rewards.outcome.maths.read.answers import read
from assay.rewards.outcome.maths.read.clean import clean
from assay.rewards.outcome.maths.read.tokens import scan


def _expression(text: str) -> Expr:
    node = read(scan(clean(text)))
    assert isinstance(node, Expr)
    return node


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2^{10}", 1024),
        (r"\frac{2}{4}", Fraction(1, 2)),
        ("5!", 120),
        ("5!!", 15),
        (r"\binom{10}{3}", 120),
        (r"\sqrt{\frac{9}{4}}", Fraction(3, 2)),
        (r"\sqrt[3]{-27}", -3),
        (r"8^{-2/3}", Fraction(1, 4)),
        (r"\lfloor -3.5 \rfloor", -4),
        (r"17 \bmod 5", 2),
        ("101_2", 5),
        (r"\gcd(12, 18)", 6),
        (r"\sqrt{2}", None),
        (r"\frac{1}{0}", None),
        ("0^0", None),
        ("x", None),
    ],
)
def test_rational_values_are_exact(text: str, value: Fraction | int | None) -> None:
    assert rational(_expression(text), WorkBudget()) == value


@pytest.mark.parametrize("text", ["2^{1000000}", "9999999!", r"\binom{99999999}{5000000}"])
def test_a_number_beyond_the_limit_is_not_computed(text: str) -> None:
    with pytest.raises(TooLarge):
        rational(_expression(text), WorkBudget())


@pytest.mark.parametrize(
    ("left", "right", "equal"),
    [
        (r"\sqrt{12}+\sqrt{27}", r"5\sqrt{3}", True),
        (r"(1+\sqrt2)(1-\sqrt2)", "-1", True),
        (r"\sqrt{-4}", "2i", True),
        (r"\sqrt[4]{4}", r"\sqrt2", True),
        (r"\sqrt2+\sqrt3", r"\sqrt5", False),
        (r"\pi+\sqrt2", r"\sqrt2+\pi", True),
        ("(x+y)^3", "x^3+3x^2y+3xy^2+y^3", True),
        (r"\frac1x+\frac1y", r"\frac{x+y}{xy}", True),
    ],
)
def test_polynomials_over_radicals_decide_for_certain(left: str, right: str, equal: bool) -> None:
    ring = PolynomialRing(WorkBudget())
    rest = difference(_expression(left), _expression(right), ring)
    assert (not rest) is equal
    assert equal or ring.is_certain()


@pytest.mark.parametrize(
    ("left", "right", "equal"),
    [
        ("sin(500pi)", "0", True),
        ("sin(500pi x)", "sin(pi x)", False),
        (r"\sqrt{x}\sqrt{y}", r"\sqrt{xy}", True),
        (r"\sqrt{x^2}", "x", False),
        (r"\arcsin(1/x)", r"\operatorname{arccsc} x", True),
        ("(-2)^{n+1}", "-2(-2)^n", True),
        ("n!", "n (n-1)!", True),
        (r"\sqrt{10^{40}+1}-10^{20}", "0", False),
    ],
)
def test_points_agree_wherever_both_are_real(left: str, right: str, equal: bool) -> None:
    assert agree(_expression(left), _expression(right), WorkBudget()) is equal


def test_every_rule_that_the_table_of_functions_names_exists() -> None:
    for name, entry in package_table("assay.rewards.outcome.maths.compute", "functions").items():
        row = FUNCTIONS[name]
        assert "rule" not in entry or row.exact or row.real or row.complex, name


def test_elementary_functions_keep_their_precision() -> None:
    with localcontext(context(60)):
        sine, cosine = sine_cosine(PI / 6)
        assert abs(sine - Decimal("0.5")) < Decimal("1e-57")
        assert abs(cosine * cosine - Decimal("0.75")) < Decimal("1e-57")
        assert abs(arctangent(Decimal(1)) * 4 - PI) < Decimal("1e-57")
        assert abs(arctangent(Decimal(-50)) + arctangent(Decimal(50))) < Decimal("1e-57")


def test_principal_complex_values_are_used() -> None:
    value = value_of(_expression(r"(1+i)^{1/2}"), WorkBudget())
    assert value is not None
    assert abs(value.re - Decimal("1.09868411346781")) < Decimal("1e-13")
    assert abs(value.im - Decimal("0.45508986056222")) < Decimal("1e-13")


def test_a_function_inside_functions_is_looked_at_once_for_each() -> None:
    nested: Expr = Add((Symbol("x"), Number(1)))
    for _ in range(20):
        nested = Call("abs", (nested,))
    ring = PolynomialRing(WorkBudget(200))
    assert quotient(nested, ring).top
