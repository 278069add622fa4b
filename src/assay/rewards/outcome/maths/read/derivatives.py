"""Leibniz's fractions: `\\frac{dy}{dx}` is a derivative, and no quotient from which d cancels."""

from __future__ import annotations

from typing import Final

from assay.rewards.outcome.maths.nodes import Apply, Div, Expr, Mul, Number, Power, Symbol

_SIGNS: Final = {Symbol("d"): "", Symbol("partial"): "partial "}
_HIGHEST: Final = 9


def quotient(top: Expr, bottom: Expr) -> Expr:
    """The fraction, or the derivative that it writes."""
    order = _order_below(bottom)
    if order is None:
        return Div(top, bottom)
    sign, variable, count = order
    primes = "'" * count
    match top:
        case Symbol() if top == sign and count == 1:
            return Apply(f"{_SIGNS[sign]}d'", (variable,))
        case Power(base, Number(power)) if base == sign and power == count:
            return Apply(f"{_SIGNS[sign]}d{primes}", (variable,))
        case Mul((lead, Symbol(name))) if _is_sign(lead, sign, count):
            return Apply(f"{_SIGNS[sign]}{name}{primes}", (variable,))
        case Mul((lead, Apply(name, (argument,)))) if (
            _is_sign(lead, sign, count) and argument == variable
        ):
            return Apply(f"{_SIGNS[sign]}{name}{primes}", (variable,))
        case _:
            return Div(top, bottom)


def _is_sign(lead: Expr, sign: Symbol, count: int) -> bool:
    return lead == (sign if count == 1 else Power(sign, Number(count)))


def _order_below(bottom: Expr) -> tuple[Symbol, Symbol, int] | None:
    """The sign of `dx` or `dx^n`, its variable, and n; None for anything else."""
    match bottom:
        case Mul((Symbol() as sign, Symbol() as variable)) if sign in _SIGNS:
            return sign, variable, 1
        case Mul((Symbol() as sign, Power(Symbol() as variable, Number(int(count))))) if (
            sign in _SIGNS and 1 < count <= _HIGHEST
        ):
            return sign, variable, count
        case _:
            return None
