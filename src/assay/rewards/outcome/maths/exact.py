"""Exact rational value of an expression without variables, within bounds on its size."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from fractions import Fraction

from assay.rewards.outcome.maths.cursor import whole
from assay.rewards.outcome.maths.limits import MAX_BITS, MAX_FACTORIAL, TooLarge, WorkBudget
from assay.rewards.outcome.maths.nodes import (
    Add,
    Based,
    Call,
    Div,
    Expr,
    Mul,
    Number,
    Power,
    Rational,
)


def rational(node: Expr, budget: WorkBudget) -> Rational | None:
    """The value as an int or Fraction; None if it is irrational, undefined or not closed.

    Raises TooLarge before computing anything beyond the size limit.
    """
    match node:
        case Number(value):
            return value
        case Add(terms):
            return _fold(operator.add, 0, terms, budget)
        case Mul(factors):
            return _fold(operator.mul, 1, factors, budget)
        case Div(top, bottom):
            return _quotient(rational(top, budget), rational(bottom, budget), budget)
        case Power(base, exponent):
            return _power(rational(base, budget), rational(exponent, budget))
        case Call(name, arguments, False):
            return _call(name, [rational(argument, budget) for argument in arguments])
        case Based(numeral, base):
            return in_base(numeral, base)
        case _:
            return None


def _fold(
    combine: Callable[[Rational, Rational], Rational],
    start: Rational,
    parts: tuple[Expr, ...],
    budget: WorkBudget,
) -> Rational | None:
    result = start
    for part in parts:
        value = rational(part, budget)
        if value is None:
            return None
        result = bounded(combine(result, value), budget)
    return result


def _quotient(top: Rational | None, bottom: Rational | None, budget: WorkBudget) -> Rational | None:
    if top is None or bottom is None or bottom == 0:
        return None
    return bounded(Fraction(top) / bottom, budget)


def _power(base: Rational | None, exponent: Rational | None) -> Rational | None:
    if base is None or exponent is None:
        return None
    if isinstance(exponent, int):
        return integer_power(base, exponent)
    root = perfect_root(base, exponent.denominator)
    return None if root is None else integer_power(root, exponent.numerator)


def integer_power(base: Rational, exponent: int) -> Rational | None:
    """`base ** exponent`, or None for zero to a power that is not positive."""
    if exponent == 0:
        return 1 if base != 0 else None
    if base in (0, 1, -1):
        if base == 0 and exponent < 0:
            return None
        return base if exponent % 2 else base * base
    if size(base) * abs(exponent) > MAX_BITS:
        raise TooLarge(f"a power with more than {MAX_BITS:,} bits")
    if exponent < 0:
        return whole(Fraction(1) / Fraction(base) ** -exponent)
    return whole(Fraction(base) ** exponent) if isinstance(base, Fraction) else base**exponent


def perfect_root(base: Rational, degree: int) -> Rational | None:
    """The rational real root, if there is one; a negative base has one for an odd degree."""
    if base < 0:
        if degree % 2 == 0:
            return None
        positive = perfect_root(-base, degree)
        return None if positive is None else -positive
    top = _integer_root(base.numerator, degree)
    bottom = _integer_root(base.denominator, degree)
    return None if top is None or bottom is None else whole(Fraction(top, bottom))


def _integer_root(value: int, degree: int) -> int | None:
    if value < 2:
        return value
    bits = value.bit_length()
    if degree >= bits or bits > 2_000:
        return None
    if degree == 2:
        root = math.isqrt(value)
        return root if root * root == value else None
    low, high = 1, 1 << (bits // degree + 1)
    while low < high:
        middle = (low + high) // 2
        if middle**degree < value:
            low = middle + 1
        else:
            high = middle
    return low if low**degree == value else None


def _call(name: str, arguments: list[Rational | None]) -> Rational | None:
    values = [argument for argument in arguments if argument is not None]
    if len(values) != len(arguments) or not values:
        return None
    if name in ("factorial", "double_factorial", "binomial", "gcd", "lcm"):
        whole_values = [value for value in values if isinstance(value, int)]
        return _of_integers(name, whole_values, len(values))
    match name, values:
        case "root", [radicand, int(degree)] if 0 < degree < 1_000:
            return perfect_root(radicand, degree)
        case "abs", [value]:
            return value if value >= 0 else -value
        case "floor", [value]:
            return math.floor(value)
        case "ceil", [value]:
            return math.ceil(value)
        case "mod", [left, right] if right != 0:
            return whole(left % right)
        case "max" | "min", [_, _, *_]:
            return max(values) if name == "max" else min(values)
        case _:
            return None


def _of_integers(name: str, values: list[int], expected: int) -> int | None:
    if len(values) != expected:
        return None
    match name, values:
        case "factorial" | "double_factorial", [count] if count >= 0:
            return _factorial(count, 2 if name == "double_factorial" else 1)
        case "binomial", [top, bottom]:
            return _binomial(top, bottom)
        case "gcd", _:
            return math.gcd(*values)
        case "lcm", _:
            return math.lcm(*values)
        case _:
            return None


def _factorial(count: int, step: int) -> int:
    if count > MAX_FACTORIAL:
        raise TooLarge(f"a factorial of more than {MAX_FACTORIAL:,}")
    if step == 1:
        return math.factorial(count)
    return math.prod(range(count, 0, -2))


def _binomial(top: int, bottom: int) -> int | None:
    if bottom < 0 or top < 0:
        return None
    if top > MAX_FACTORIAL and min(bottom, top - bottom) * size(top) > MAX_BITS:
        raise TooLarge(f"a binomial coefficient of more than {MAX_BITS:,} bits")
    return math.comb(top, bottom)


def in_base(numeral: str, base: int) -> int | None:
    if any(int(digit, 36) >= base for digit in numeral) or len(numeral) > 400:
        return None
    return int(numeral, base)


def size(value: Rational) -> int:
    """Bits of the larger of numerator and denominator."""
    return max(value.numerator.bit_length(), value.denominator.bit_length())


def bounded(value: Rational, budget: WorkBudget) -> Rational:
    """The value, its size taken from the budget: reducing a fraction is quadratic in its bits."""
    bits = size(value)
    if bits > MAX_BITS:
        raise TooLarge(f"a number with more than {MAX_BITS:,} bits")
    budget.spend(1 + (bits >> 8) ** 2 // 64)
    return whole(value)
