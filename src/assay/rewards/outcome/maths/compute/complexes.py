"""Functions of complex decimals, with principal values."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from functools import partial
from typing import Final, NamedTuple

from assay.rewards.outcome.maths.compute import decimals
from assay.rewards.outcome.maths.compute.decimals import HALF, ONE, PI, ZERO, NotReal


class Complex(NamedTuple):
    """A complex number: two decimals."""

    re: Decimal
    im: Decimal


IMAGINARY: Final = Complex(ZERO, ONE)
UNIT: Final = Complex(ONE, ZERO)


def add(a: Complex, b: Complex) -> Complex:
    return Complex(a.re + b.re, a.im + b.im)


def subtract(a: Complex, b: Complex) -> Complex:
    return Complex(a.re - b.re, a.im - b.im)


def multiply(a: Complex, b: Complex) -> Complex:
    return Complex(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re)


def divide(a: Complex, b: Complex) -> Complex:
    norm = b.re * b.re + b.im * b.im
    if norm == 0:
        raise NotReal
    return Complex((a.re * b.re + a.im * b.im) / norm, (a.im * b.re - a.re * b.im) / norm)


def scale(a: Complex, factor: Decimal) -> Complex:
    return Complex(a.re * factor, a.im * factor)


def modulus(a: Complex) -> Decimal:
    return (a.re * a.re + a.im * a.im).sqrt() if a.im else abs(a.re)


def angle(a: Complex) -> Decimal:
    """The principal argument of a complex number, in (-pi, pi]."""
    if a.im == 0:
        return ZERO if a.re >= 0 else PI
    if abs(a.re) < abs(a.im):
        return PI / 2 * (1 if a.im > 0 else -1) - decimals.arctangent(a.re / a.im)
    rotation = decimals.arctangent(a.im / a.re)
    if a.re > 0:
        return rotation
    return rotation + PI if a.im > 0 else rotation - PI


def cis(a: Complex) -> Complex:
    """The complex number cos a + i sin a."""
    return exponential(Complex(-a.im, a.re))


def exponential(a: Complex) -> Complex:
    size = decimals.exponential(a.re)
    sin, cos = decimals.sine_cosine(a.im)
    return Complex(size * cos, size * sin)


def logarithm(a: Complex) -> Complex:
    return Complex(decimals.logarithm(modulus(a)), angle(a))


def square_root(a: Complex) -> Complex:
    """The principal square root."""
    if a.im == 0:
        return Complex(a.re.sqrt(), ZERO) if a.re >= 0 else Complex(ZERO, (-a.re).sqrt())
    size = modulus(a)
    re = ((size + a.re) / 2).sqrt()
    im = ((size - a.re) / 2).sqrt()
    return Complex(re, im if a.im > 0 else -im)


def power(base: Complex, exponent: Complex) -> Complex:
    whole = exponent.im == 0 and exponent.re == exponent.re.to_integral_value()
    if whole and abs(exponent.re) <= 400:
        return _integer_power(base, int(exponent.re))
    if not base.re and not base.im:
        if exponent.re <= 0:
            raise NotReal
        return Complex(ZERO, ZERO)
    return exponential(multiply(exponent, logarithm(base)))


def _integer_power(base: Complex, exponent: int) -> Complex:
    if exponent < 0:
        return divide(UNIT, _integer_power(base, -exponent))
    result = UNIT
    while exponent:
        if exponent & 1:
            result = multiply(result, base)
        base = multiply(base, base)
        exponent >>= 1
    return result


def hyperbolic_sine(a: Complex) -> Complex:
    up = exponential(a)
    return scale(subtract(up, divide(UNIT, up)), HALF)


def hyperbolic_cosine(a: Complex) -> Complex:
    up = exponential(a)
    return scale(add(up, divide(UNIT, up)), HALF)


def inverse_sinh(a: Complex) -> Complex:
    return logarithm(add(a, square_root(add(multiply(a, a), UNIT))))


def inverse_cosh(a: Complex) -> Complex:
    return logarithm(add(a, multiply(square_root(add(a, UNIT)), square_root(subtract(a, UNIT)))))


def inverse_tanh(a: Complex) -> Complex:
    return scale(subtract(logarithm(add(UNIT, a)), logarithm(subtract(UNIT, a))), HALF)


def _circular(hyperbolic: Callable[[Complex], Complex], a: Complex) -> Complex:
    """Compute sin, arcsin or arctan from the hyperbolic function: `sin a` is `sinh(ia) / i`."""
    rotation = hyperbolic(multiply(IMAGINARY, a))
    return Complex(rotation.im, -rotation.re)


sine: Final = partial(_circular, hyperbolic_sine)
arcsine: Final = partial(_circular, inverse_sinh)
arctangent: Final = partial(_circular, inverse_tanh)


def cosine(a: Complex) -> Complex:
    return hyperbolic_cosine(multiply(IMAGINARY, a))


def arccosine(a: Complex) -> Complex:
    value = arcsine(a)
    return Complex(PI / 2 - value.re, -value.im)


def tangent(a: Complex) -> Complex:
    return divide(sine(a), cosine(a))


def hyperbolic_tangent(a: Complex) -> Complex:
    return divide(hyperbolic_sine(a), hyperbolic_cosine(a))


def absolute(a: Complex) -> Complex:
    return Complex(modulus(a), ZERO)
