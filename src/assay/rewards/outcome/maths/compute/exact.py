"""Exact rational value of an expression without variables, within bounds on its size."""

from __future__ import annotations

import operator
from collections.abc import Callable
from fractions import Fraction

from assay.rewards.outcome.maths.compute.notations import FUNCTIONS
from assay.rewards.outcome.maths.compute.rationals import bounded, in_base, power
from assay.rewards.outcome.maths.limits import WorkBudget
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
    return None if base is None or exponent is None else power(base, exponent)


def _call(name: str, arguments: list[Rational | None]) -> Rational | None:
    row = FUNCTIONS[name]
    fewest, most = row.arity
    if row.exact is None or None in arguments or not fewest <= len(arguments) <= most:
        return None
    return row.exact(*arguments)
