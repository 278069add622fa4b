"""Equality of two expressions, by exact arithmetic or by values at sample points."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from assay.rewards.outcome.maths.compare.comparison import AnswerComparer
from assay.rewards.outcome.maths.compare.tolerance import (
    close_rationals,
    close_values,
    decimal_literal,
    is_rounded,
)
from assay.rewards.outcome.maths.compute.algebra import PolynomialRing, ZeroDenominator, difference
from assay.rewards.outcome.maths.compute.evaluate import rational, rational_or_none
from assay.rewards.outcome.maths.compute.points import agree
from assay.rewards.outcome.maths.limits import TooLarge, WorkBudget
from assay.rewards.outcome.maths.nodes import (
    INFINITY,
    Add,
    Call,
    Div,
    Expr,
    Mul,
    Node,
    Number,
    Power,
    Rational,
    children,
    infinite_sign,
    total,
)

_GATHERING_STEPS: Final = 400


def same_scalar(left: Expr, right: Expr, comparison: AnswerComparer) -> str | None:
    """Return the rule by which two expressions are equal, or None."""
    tolerance, budget = comparison.conventions.tolerance, comparison.budget
    if left == right:
        return "identical"
    a, b = _rational(left, budget), _rational(right, budget)
    if a is not None and b is not None:
        if a == b:
            return "integer" if isinstance(a, int) else "rational"
        close = close_rationals(left, right, Fraction(a), Fraction(b), tolerance)
        return "decimal" if close else None
    if decimal_literal(left) is not None and _is_integer(right) and tolerance == "digits":
        return None
    if tolerance == "digits" and (
        is_rounded(left, right, budget) or is_rounded(right, left, budget)
    ):
        return "decimal"
    if _is_infinite(left) or _is_infinite(right):
        sign = infinite_sign(left)
        return "infinity" if sign and sign == infinite_sign(right) else None
    rule = _same_expression(left, right, budget)
    if rule is None and tolerance == "relative" and close_values(left, right, budget):
        return "decimal"
    return rule


def _is_integer(node: Expr) -> bool:
    """Whether the expression is an integer by its form, however large."""
    match node:
        case Number(int(), None) | Call("factorial" | "binomial"):
            return True
        case Add(parts) | Mul(parts):
            return all(map(_is_integer, parts))
        case Power(base, exponent):
            return _is_integer(base) and _is_integer(exponent)
        case _:
            return False


def _rational(node: Expr, budget: WorkBudget) -> Rational | None:
    try:
        return rational(node, budget)
    except TooLarge as error:
        budget.limit = error
        return None


def _same_expression(left: Expr, right: Expr, budget: WorkBudget) -> str | None:
    left, right = _without_logarithms(left, right)
    ring = PolynomialRing(WorkBudget(budget.remaining // 2))
    try:
        rest = difference(left, right, ring)
    except ZeroDenominator:
        return None
    except TooLarge:
        budget.spend(budget.remaining // 4)
    else:
        budget.spend((budget.remaining // 2) - ring.budget.remaining)
        if not rest:
            return "polynomial"
        if ring.is_certain():
            return None
    return "points" if agree(_gathered(left), _gathered(right), budget) else None


def _gathered(node: Expr) -> Expr:
    """Add up the rational terms of a sum."""
    if not isinstance(node, Add):
        return node
    budget = WorkBudget(_GATHERING_STEPS)
    values = [rational_or_none(term, budget) for term in node.terms]
    numbers = [value for value in values if value is not None]
    if len(numbers) < 2 or len(numbers) == len(values):
        return node
    rest = [term for term, value in zip(node.terms, values, strict=True) if value is None]
    constant = sum(numbers)
    return total([*rest, Number(constant)] if constant else rest)


def _without_logarithms(left: Expr, right: Expr) -> tuple[Expr, Expr]:
    """Replace two logarithms `ln|f|` by expressions without logarithms, to compare them exactly.

    `ln|f| = ln|g|` says that f^2 = g^2, and `ln|f| = -ln|g|` that (fg)^2 = 1.
    """
    if isinstance(left, Add) and isinstance(right, Add):
        common = set(left.terms) & set(right.terms)
        terms, others = (
            [term for term in node.terms if term not in common] for node in (left, right)
        )
        if len(terms) != 1 or len(others) != 1:
            return left, right
        one, other = _logarithm(terms[0]), _logarithm(others[0])
    else:
        one, other = _logarithm(left), _logarithm(right)
    if one is None or other is None or one[1] == other[1]:
        return left, right
    (sign, inside), (other_sign, other_inside) = one, other
    if sign == other_sign:
        return Power(inside, Number(2)), Power(other_inside, Number(2))
    return Power(Mul((inside, other_inside)), Number(2)), Number(1)


def _logarithm(node: Expr) -> tuple[int, Expr] | None:
    """Split `ln|f|` or `-ln|f|` into its sign and f; return None for other expressions."""
    match node:
        case Call("ln", (Call("abs", (inside,)),)):
            return 1, inside
        case Mul((Number(-1), Call("ln", (Call("abs", (inside,)),)))):
            return -1, inside
        case _:
            return None


def _is_infinite(node: Expr) -> bool:
    parts: list[Node] = [node]
    for part in parts:
        if isinstance(part, (Add, Mul, Div, Call)):
            parts.extend(children(part))
    return INFINITY in parts
