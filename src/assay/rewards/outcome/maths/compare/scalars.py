"""Equality of two expressions: exact arithmetic first, sample points when that cannot decide."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Final

from assay.rewards.outcome.maths.compare.comparison import ToleranceKind
from assay.rewards.outcome.maths.compute.algebra import PolynomialRing, ZeroDenominator, difference
from assay.rewards.outcome.maths.compute.decimals import context
from assay.rewards.outcome.maths.compute.evaluate import rational, rational_or_none
from assay.rewards.outcome.maths.compute.points import agree, value_of
from assay.rewards.outcome.maths.limits import TooLarge, WorkBudget
from assay.rewards.outcome.maths.nodes import (
    INFINITY,
    Add,
    Call,
    Constant,
    Div,
    Expr,
    Mul,
    Node,
    Number,
    Power,
    Rational,
    children,
    total,
    whole,
)

NOISE_DIGITS: Final = 14
"""A decimal with this many digits is a printed float, right to `NOISE`."""

_LEAST_DIGITS: Final = 6
"""Fewest significant digits of a decimal that may stand for an exact value."""
_RELATIVE: Final = Fraction(1, 10**6)
_GATHERING_STEPS: Final = 400
NOISE: Final = Fraction(1, 10**12)


def same_scalar(
    left: Expr, right: Expr, tolerance: ToleranceKind, budget: WorkBudget
) -> str | None:
    """The rule by which the two are equal, or None if they are not."""
    if left == right:
        return "identical"
    a, b = _rational(left, budget), _rational(right, budget)
    if a is not None and b is not None:
        if a == b:
            return "integer" if isinstance(a, int) else "rational"
        # No digits of a decimal stand for an exact integer.
        whole = isinstance(b, int) and decimal_literal(right) is None
        if tolerance == "digits" and whole and abs(Fraction(a) - b) > NOISE:
            return None
        return _close(left, right, Fraction(a), Fraction(b), tolerance)
    if decimal_literal(left) is not None and _is_integer(right) and tolerance == "digits":
        return None
    by_decimal = _stands_for(left, right, tolerance, budget) or _stands_for(
        right, left, tolerance, budget
    )
    if by_decimal:
        return "decimal"
    if _is_infinite(left) or _is_infinite(right):
        sign = _infinite_sign(left)
        return "infinity" if sign is not None and sign == _infinite_sign(right) else None
    return _same_expression(left, right, budget) or _within(left, right, tolerance, budget)


def _is_integer(node: Expr) -> bool:
    """Whether the node is built of integers so that its value is one, however large."""
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
    """A sum with its numbers added up, so that terms which cancel need no digits of a sample."""
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
    """Two equal expressions exactly where two logarithms of what stands between bars are equal.

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
    """The sign of `ln|f|` and its f; None for anything else."""
    match node:
        case Call("ln", (Call("abs", (inside,)),)):
            return 1, inside
        case Mul((Number(-1), Call("ln", (Call("abs", (inside,)),)))):
            return -1, inside
        case _:
            return None


def _close(
    left: Expr, right: Expr, a: Fraction, b: Fraction, tolerance: ToleranceKind
) -> str | None:
    """Two different rationals that the tolerance lets pass for each other."""
    if tolerance == "exact":
        return None
    first, second = decimal_literal(left), decimal_literal(right)
    noisy = any(d is not None and (d.digits or 0) >= NOISE_DIGITS for d in (first, second))
    if noisy and abs(a - b) <= NOISE * max(abs(a), abs(b)):
        return "decimal"
    if tolerance == "relative":
        return "decimal" if abs(a - b) <= _RELATIVE * max(abs(a), abs(b)) else None
    if (first is None) == (second is None):
        return None
    literal, value = (first, b) if first is not None else (second, a)
    if literal is None or not _is_precise(literal):
        return None
    return "decimal" if _rounds_to(value, literal) else None


def _is_precise(literal: Number) -> bool:
    return (literal.digits or 0) >= _LEAST_DIGITS and abs(literal.places) < 400


def _rounds_to(value: Fraction, literal: Number) -> bool:
    """Whether the literal is the value rounded to its places, or cut off there."""
    scale = Fraction(10) ** literal.places
    shifted = abs(value) * scale
    below = shifted.numerator // shifted.denominator
    digits = {below, below + 1} if shifted - below >= Fraction(1, 2) else {below}
    return abs(Fraction(literal.value)) * scale in digits and (literal.value < 0) == (value < 0)


def _stands_for(
    literal_side: Expr, other: Expr, tolerance: ToleranceKind, budget: WorkBudget
) -> bool:
    """Whether a decimal literal is the correct rounding of an irrational value."""
    literal = decimal_literal(literal_side)
    if literal is None or tolerance != "digits" or not _is_precise(literal):
        return False
    value = value_of(other, budget, digits=60)
    if value is None or abs(value.im) > Decimal("1e-40"):
        return False
    exact = Fraction(value.re)
    if (literal.digits or 0) >= NOISE_DIGITS:
        return abs(exact - literal.value) <= NOISE * abs(exact)
    return _rounds_to(exact, literal)


def _within(left: Expr, right: Expr, tolerance: ToleranceKind, budget: WorkBudget) -> str | None:
    if tolerance != "relative":
        return None
    a, b = value_of(left, budget), value_of(right, budget)
    if a is None or b is None:
        return None
    with localcontext(context(40)):
        gap = max(abs(a.re - b.re), abs(a.im - b.im))
        size = max(abs(a.re), abs(b.re), abs(a.im), abs(b.im))
        allowed = Decimal(_RELATIVE.numerator) / _RELATIVE.denominator
        return "decimal" if gap <= allowed * size else None


def decimal_literal(node: Expr) -> Number | None:
    """The node as a decimal literal, also when it is written times a power of ten."""
    match node:
        case Number(_, int()):
            return node
        case Mul((Number() as digits, Power(Number(10), Number(int(shift))))) if abs(shift) < 4_000:
            if digits.digits is None:
                return None
            value = whole(Fraction(digits.value) * Fraction(10) ** shift)
            return Number(value, digits.digits, digits.places - shift)
        case _:
            return None


def _is_infinite(node: Expr) -> bool:
    parts: list[Node] = [node]
    for part in parts:
        if isinstance(part, (Add, Mul, Div, Call)):
            parts.extend(children(part))
    return INFINITY in parts


def _infinite_sign(node: Expr) -> int | None:
    match node:
        case Constant("infinity"):
            return 1
        case Mul((Number(value), Constant("infinity"))) if value != 0:
            return 1 if value > 0 else -1
        case _:
            return None
