"""The tolerance of a comparison: when a decimal counts as equal to a different value.

By digits, a decimal with six significant digits passes for the exact value that it is rounded or
cut off from, but never for an integer, and two decimals must be equal. The relative tolerance lets
two values differ by a millionth. Both accept the noise in the last digits of a printed float.
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Final, Literal, TypeAlias

from assay.rewards.outcome.maths.compute.decimals import context
from assay.rewards.outcome.maths.compute.points import value_of
from assay.rewards.outcome.maths.limits import WorkBudget
from assay.rewards.outcome.maths.nodes import Expr, Mul, Number, Power, whole

ToleranceKind: TypeAlias = Literal["digits", "exact", "relative"]
_LEAST_DIGITS: Final = 6
"""Fewest significant digits of a decimal that may stand for an exact value."""
_NOISE_DIGITS: Final = 14
"""Fewest significant digits of a printed float, which is right to `_NOISE`."""
_NOISE: Final = Fraction(1, 10**12)
_RELATIVE: Final = Fraction(1, 10**6)


def close_rationals(
    left: Expr, right: Expr, a: Fraction, b: Fraction, tolerance: ToleranceKind
) -> bool:
    """Whether the tolerance accepts two different rational values as equal."""
    first, second = decimal_literal(left), decimal_literal(right)
    distance, largest = abs(a - b), max(abs(a), abs(b))
    if tolerance == "exact":
        return False
    if tolerance == "digits" and b.denominator == 1 and second is None and distance > _NOISE:
        return False
    noisy = any(d is not None and (d.digits or 0) >= _NOISE_DIGITS for d in (first, second))
    if noisy and distance <= _NOISE * largest:
        return True
    if tolerance == "relative":
        return distance <= _RELATIVE * largest
    if (first is None) == (second is None):
        return False
    literal, value = (first, b) if first is not None else (second, a)
    return literal is not None and _is_precise(literal) and _rounds_to(value, literal)


def is_rounded(node: Expr, other: Expr, budget: WorkBudget) -> bool:
    """Whether the first expression is a decimal that correctly rounds the second."""
    literal = decimal_literal(node)
    if literal is None or not _is_precise(literal):
        return False
    value = value_of(other, budget, digits=60)
    if value is None or abs(value.im) > Decimal("1e-40"):
        return False
    exact = Fraction(value.re)
    if (literal.digits or 0) >= _NOISE_DIGITS:
        return abs(exact - literal.value) <= _NOISE * abs(exact)
    return _rounds_to(exact, literal)


def _is_precise(literal: Number) -> bool:
    return (literal.digits or 0) >= _LEAST_DIGITS and abs(literal.places) < 400


def _rounds_to(value: Fraction, literal: Number) -> bool:
    """Whether the decimal literal is the rounded or truncated value."""
    scale = Fraction(10) ** literal.places
    shifted = abs(value) * scale
    below = shifted.numerator // shifted.denominator
    digits = {below, below + 1} if shifted - below >= Fraction(1, 2) else {below}
    return abs(Fraction(literal.value)) * scale in digits and (literal.value < 0) == (value < 0)


def close_values(left: Expr, right: Expr, budget: WorkBudget) -> bool:
    """Whether two expressions without variables differ by at most a millionth."""
    a, b = value_of(left, budget), value_of(right, budget)
    if a is None or b is None:
        return False
    with localcontext(context(40)):
        gap = max(abs(a.re - b.re), abs(a.im - b.im))
        size = max(abs(a.re), abs(b.re), abs(a.im), abs(b.im))
        return gap <= Decimal(_RELATIVE.numerator) / _RELATIVE.denominator * size


def decimal_literal(node: Expr) -> Number | None:
    """Return the node as a decimal literal, also from scientific notation, or None."""
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
