"""Functions of real decimals, with the precision of the current decimal context.

A function outside its real domain raises NotReal; the caller then compares over the complex
numbers or tries another point.
"""

from __future__ import annotations

import operator
from decimal import (
    Context,
    Decimal,
    DivisionByZero,
    InvalidOperation,
    Overflow,
    Underflow,
    getcontext,
)
from functools import reduce
from typing import Final

MAX_PRECISION: Final = 1_200
"""Most digits to which pi and e are known."""


def _machin(digits: int) -> Decimal:
    """Pi, by Machin's formula."""
    one = 10 ** (digits + 10)
    scaled = 0
    for factor, n in ((16, 5), (-4, 239)):
        # The arctangent of 1/n, as a series of whole numbers of 1/one.
        term, divisor = one // n, 1
        while term:
            scaled += factor * (term // divisor)
            term, divisor, factor = term // (n * n), divisor + 2, -factor
    return Decimal(scaled).scaleb(-(digits + 10), Context(prec=digits))


PI: Final = _machin(MAX_PRECISION)
E: Final = Decimal(1).exp(Context(prec=MAX_PRECISION))
ZERO: Final = Decimal(0)
ONE: Final = Decimal(1)
HALF: Final = Decimal("0.5")
_FARTHEST: Final = Decimal(10) ** 30


class NotReal(Exception):
    """The function has no real value at this point."""


def context(digits: int) -> Context:
    """A decimal context with the given number of digits, which raises on overflow and underflow."""
    return Context(
        prec=digits,
        Emax=1_000_000,
        Emin=-1_000_000,
        traps=[InvalidOperation, DivisionByZero, Overflow, Underflow],
    )


def sine_cosine(x: Decimal) -> tuple[Decimal, Decimal]:
    """The sine and cosine of x, by Taylor series after range reduction."""
    if abs(x) > _FARTHEST:
        raise NotReal
    quarter = PI / 2
    turns = (x / quarter).to_integral_value()
    x -= turns * quarter
    sin, cos = _series(x, x * x, 1), _series(ONE, x * x, 0)
    return ((sin, cos), (cos, -sin), (-sin, -cos), (-cos, sin))[int(turns) % 4]


def _series(first: Decimal, square: Decimal, start: int) -> Decimal:
    total = term = first
    smallest = Decimal(10) ** -(getcontext().prec + 3)
    n = start
    while abs(term) > smallest:
        n += 2
        term = -term * square / (n * (n - 1))
        total += term
    return total


def arctangent(x: Decimal) -> Decimal:
    """The arctangent of x, by halving the angle three times and then a series."""
    if x < 0:
        return -arctangent(-x)
    if x > 1:
        return PI / 2 - arctangent(ONE / x)
    for _ in range(3):
        x = x / (ONE + (ONE + x * x).sqrt())
    total = term = x
    square = x * x
    smallest = Decimal(10) ** -(getcontext().prec + 3)
    n = 1
    while abs(term) > smallest:
        term = -term * square
        n += 2
        total += term / n
    return total * 8


def arcsine(x: Decimal) -> Decimal:
    if abs(x) > 1:
        raise NotReal
    if abs(x) == 1:
        return PI / 2 * x
    return arctangent(x / (ONE - x * x).sqrt())


def arccosine(x: Decimal) -> Decimal:
    return PI / 2 - arcsine(x)


def exponential(x: Decimal) -> Decimal:
    if abs(x) > 2_000_000:
        raise NotReal
    return x.exp()


def logarithm(x: Decimal) -> Decimal:
    if x <= 0:
        raise NotReal
    return x.ln()


def binary_logarithm(x: Decimal) -> Decimal:
    return logarithm(x) / Decimal(2).ln()


def cube_root(x: Decimal) -> Decimal:
    return power(abs(x), ONE / 3).copy_sign(x)


def power(base: Decimal, exponent: Decimal) -> Decimal:
    """The real power; a negative base needs an integer exponent."""
    if base == 0:
        if exponent <= 0:
            raise NotReal
        return ZERO
    if exponent == exponent.to_integral_value():
        return base ** exponent.to_integral_value()
    if base < 0:
        raise NotReal
    return exponential(exponent * base.ln())


def nearest_integer(x: Decimal) -> Decimal | None:
    """The integer that equals `x` up to rounding errors, or None."""
    near = x.to_integral_value()
    return near if abs(x - near) <= Decimal(10) ** -(getcontext().prec // 2) else None


def mod(left: Decimal, right: Decimal) -> Decimal:
    """The remainder of a division, with the sign of the divisor."""
    if right == 0:
        raise NotReal
    return left - right * (left / right).to_integral_value(rounding="ROUND_FLOOR")


def binomial(top: Decimal, bottom: Decimal) -> Decimal:
    """The binomial coefficient of a real number and an integer from 0 to 200."""
    below = nearest_integer(bottom)
    if below is None or not 0 <= below <= 200:
        raise NotReal
    result = ONE
    for k in range(int(below)):
        result = result * (top - k) / (k + 1)
    return result


def factorial(x: Decimal) -> Decimal:
    return reduce(operator.mul, range(2, _small_natural(x) + 1), ONE)


def double_factorial(x: Decimal) -> Decimal:
    return reduce(operator.mul, range(_small_natural(x), 1, -2), ONE)


def _small_natural(x: Decimal) -> int:
    n = nearest_integer(x)
    if n is None or not 0 <= n <= 400:
        raise NotReal
    return int(n)


def floor(x: Decimal) -> Decimal:
    near = nearest_integer(x)
    return near if near is not None else x.to_integral_value(rounding="ROUND_FLOOR")


def ceil(x: Decimal) -> Decimal:
    return -floor(-x)


absolute: Final = abs
greatest: Final = max
least: Final = min


def sign(x: Decimal) -> Decimal:
    return ONE.copy_sign(x) if x else ZERO


def sine(x: Decimal) -> Decimal:
    return sine_cosine(x)[0]


def cosine(x: Decimal) -> Decimal:
    return sine_cosine(x)[1]


def tangent(x: Decimal) -> Decimal:
    sin, cos = sine_cosine(x)
    if nearest_integer(cos) == 0:
        raise NotReal
    return sin / cos


def hyperbolic_cosine(x: Decimal) -> Decimal:
    up = exponential(x)
    return (up + ONE / up) * HALF


def hyperbolic_sine(x: Decimal) -> Decimal:
    up = exponential(x)
    return (up - ONE / up) * HALF


def hyperbolic_tangent(x: Decimal) -> Decimal:
    return hyperbolic_sine(x) / hyperbolic_cosine(x)


def inverse_sinh(x: Decimal) -> Decimal:
    return logarithm(x + (x * x + ONE).sqrt())


def inverse_cosh(x: Decimal) -> Decimal:
    if x < 1:
        raise NotReal
    return logarithm(x + (x * x - ONE).sqrt())


def inverse_tanh(x: Decimal) -> Decimal:
    if abs(x) >= 1:
        raise NotReal
    return logarithm((ONE + x) / (ONE - x)) * HALF
