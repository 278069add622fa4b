"""Exact functions of rational numbers, within bounds on the size of the numbers.

A function returns None where it has no rational value, and raises TooLarge before it computes
anything beyond the size limit.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

from assay.rewards.outcome.maths.limits import MAX_BITS, MAX_FACTORIAL, TooLarge, WorkBudget
from assay.rewards.outcome.maths.nodes import Rational, whole


def size(value: Rational) -> int:
    """The number of bits of the numerator or the denominator, whichever is larger."""
    return max(value.numerator.bit_length(), value.denominator.bit_length())


def bounded(value: Rational, budget: WorkBudget) -> Rational:
    """Charge the size of a number to the work budget, and return the number."""
    bits = size(value)
    if bits > MAX_BITS:
        raise TooLarge(f"a number has more than {MAX_BITS:,} bits")
    budget.spend(1 + (bits >> 8) ** 2 // 64)
    return whole(value)


def power(base: Rational, exponent: Rational) -> Rational | None:
    """The power `base ** exponent` if it is rational, else None."""
    if isinstance(exponent, int):
        return integer_power(base, exponent)
    root = perfect_root(base, exponent.denominator)
    return None if root is None else integer_power(root, exponent.numerator)


def integer_power(base: Rational, exponent: int) -> Rational | None:
    """The power `base ** exponent`, or None for zero to a power of zero or less."""
    if exponent == 0:
        return 1 if base != 0 else None
    if base in (0, 1, -1):
        if base == 0 and exponent < 0:
            return None
        return base if exponent % 2 else base * base
    if size(base) * abs(exponent) > MAX_BITS:
        raise TooLarge(f"a power has more than {MAX_BITS:,} bits")
    if exponent < 0:
        return whole(Fraction(1) / Fraction(base) ** -exponent)
    return whole(Fraction(base) ** exponent) if isinstance(base, Fraction) else base**exponent


def root(radicand: Rational, degree: Rational) -> Rational | None:
    """The real root if it is rational and the degree is an integer below 1,000."""
    if not isinstance(degree, int) or not 0 < degree < 1_000:
        return None
    return perfect_root(radicand, degree)


def perfect_root(base: Rational, degree: int) -> Rational | None:
    """The real root if it is rational, else None."""
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


def mod(left: Rational, right: Rational) -> Rational | None:
    """The remainder of a division, with the sign of the divisor."""
    return whole(left % right) if right != 0 else None


floor: Final = math.floor
ceil: Final = math.ceil
absolute: Final = abs
greatest: Final = max
least: Final = min


def factorial(count: Rational) -> int | None:
    natural = _natural(count)
    return None if natural is None else math.factorial(natural)


def double_factorial(count: Rational) -> int | None:
    natural = _natural(count)
    return None if natural is None else math.prod(range(natural, 0, -2))


def _natural(count: Rational) -> int | None:
    if not isinstance(count, int) or count < 0:
        return None
    if count > MAX_FACTORIAL:
        raise TooLarge(f"the argument of a factorial is above {MAX_FACTORIAL:,}")
    return count


def binomial(top: Rational, bottom: Rational) -> int | None:
    """The binomial coefficient of two natural numbers."""
    if not isinstance(top, int) or not isinstance(bottom, int) or bottom < 0 or top < 0:
        return None
    if top > MAX_FACTORIAL and min(bottom, top - bottom) * size(top) > MAX_BITS:
        raise TooLarge(f"a binomial coefficient has more than {MAX_BITS:,} bits")
    return math.comb(top, bottom)


def greatest_divisor(*values: Rational) -> int | None:
    integers = [value for value in values if isinstance(value, int)]
    return math.gcd(*integers) if len(integers) == len(values) else None


def least_multiple(*values: Rational) -> int | None:
    return math.lcm(*map(int, values)) if greatest_divisor(*values) is not None else None


def in_base(numeral: str, base: int) -> int | None:
    """The value of a numeral, or None if a digit is too large for the base."""
    if any(int(digit, 36) >= base for digit in numeral) or len(numeral) > 400:
        return None
    return int(numeral, base)
