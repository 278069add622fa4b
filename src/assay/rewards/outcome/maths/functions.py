"""Functions of real decimals by name, for the evaluator."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Final

from assay.rewards.outcome.maths.decimals import (
    HALF,
    ONE,
    PI,
    ZERO,
    NotReal,
    arcsine,
    arctangent,
    exponential,
    logarithm,
    nearest_integer,
    power,
    sine_cosine,
)


def of_several(name: str, values: list[Decimal]) -> Decimal:
    match name, values:
        case "max", _:
            return max(values)
        case "min", _:
            return min(values)
        case "mod", [left, right] if right != 0:
            return left - right * (left / right).to_integral_value(rounding="ROUND_FLOOR")
        case "binomial", [top, bottom]:
            below = nearest_integer(bottom)
            if below is None or not 0 <= below <= 200:
                raise NotReal
            result = ONE
            for k in range(int(below)):
                result = result * (top - k) / (k + 1)
            return result
        case _:
            raise NotReal


def _factorial(x: Decimal) -> Decimal:
    return _product(range(2, _small_natural(x) + 1))


def _double_factorial(x: Decimal) -> Decimal:
    return _product(range(_small_natural(x), 1, -2))


def _small_natural(x: Decimal) -> int:
    n = nearest_integer(x)
    if n is None or not 0 <= n <= 400:
        raise NotReal
    return int(n)


def _product(factors: range) -> Decimal:
    result = ONE
    for factor in factors:
        result *= factor
    return result


def _floor(x: Decimal) -> Decimal:
    near = nearest_integer(x)
    return near if near is not None else x.to_integral_value(rounding="ROUND_FLOOR")


def _tangent(x: Decimal) -> Decimal:
    sine, cosine = sine_cosine(x)
    if nearest_integer(cosine) == 0:
        raise NotReal
    return sine / cosine


def _hyperbolic_cosine(x: Decimal) -> Decimal:
    up = exponential(x)
    return (up + ONE / up) * HALF


def _hyperbolic_sine(x: Decimal) -> Decimal:
    up = exponential(x)
    return (up - ONE / up) * HALF


def _inverse_cosh(x: Decimal) -> Decimal:
    if x < 1:
        raise NotReal
    return logarithm(x + (x * x - ONE).sqrt())


def _inverse_tanh(x: Decimal) -> Decimal:
    if abs(x) >= 1:
        raise NotReal
    return logarithm((ONE + x) / (ONE - x)) * HALF


OF_ONE: Final[dict[str, Callable[[Decimal], Decimal]]] = {
    "sin": lambda x: sine_cosine(x)[0],
    "cos": lambda x: sine_cosine(x)[1],
    "tan": _tangent,
    "exp": exponential,
    "ln": logarithm,
    "lb": lambda x: logarithm(x) / Decimal(2).ln(),
    "cbrt": lambda x: power(abs(x), ONE / 3).copy_sign(x),
    "sinh": _hyperbolic_sine,
    "cosh": _hyperbolic_cosine,
    "tanh": lambda x: _hyperbolic_sine(x) / _hyperbolic_cosine(x),
    "arcsin": arcsine,
    "arccos": lambda x: PI / 2 - arcsine(x),
    "arctan": arctangent,
    "arsinh": lambda x: logarithm(x + (x * x + ONE).sqrt()),
    "arcosh": _inverse_cosh,
    "artanh": _inverse_tanh,
    "factorial": _factorial,
    "double_factorial": _double_factorial,
    "floor": _floor,
    "ceil": lambda x: -_floor(-x),
    "sgn": lambda x: ONE.copy_sign(x) if x else ZERO,
    "sign": lambda x: ONE.copy_sign(x) if x else ZERO,
}
