"""Expressions turned into quotients of polynomials, so that equality is decided exactly."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from assay.rewards.outcome.maths.exact import integer_power, perfect_root, rational
from assay.rewards.outcome.maths.limits import TooLarge
from assay.rewards.outcome.maths.nodes import (
    Add,
    Call,
    Constant,
    Div,
    Expr,
    Mul,
    Number,
    Power,
    Rational,
    Symbol,
)
from assay.rewards.outcome.maths.polynomial import ONE, Polynomial, Quotient, Ring

_TRIAL_PRIMES: Final = tuple(
    n for n in range(2, 1_000) if all(n % divisor for divisor in range(2, int(n**0.5) + 1))
)


class Undefined(Exception):
    """The expression divides by zero."""


def quotient(node: Expr, ring: Ring) -> Quotient:
    """The expression over the ring's atoms; functions become atoms of their argument.

    Raises TooLarge when expanding would cost too much, Undefined for a zero denominator.
    """
    match node:
        case Number(value):
            return _constant(value)
        case Symbol(name):
            return Quotient(ring.power_of(ring.atom("symbol", name)), ONE)
        case Constant(name):
            return Quotient(ring.power_of(ring.atom(name, "")), ONE)
        case Add(terms):
            return _sum([quotient(term, ring) for term in terms], ring)
        case Mul(factors):
            return _product([quotient(factor, ring) for factor in factors], ring)
        case Div(top, bottom):
            return _divide(quotient(top, ring), quotient(bottom, ring), ring)
        case Power(base, exponent):
            return _power(base, exponent, ring)
        case Call("root", (radicand, index)):
            return _power(radicand, Div(Number(1), index), ring)
        case Call(name, arguments, opaque):
            return _call(node, name, arguments, ring, opaque=opaque)
        case _:
            return _opaque(node, ring)


def difference(left: Expr, right: Expr, ring: Ring) -> Polynomial:
    """The numerator of `left - right`; empty exactly when they are formally equal."""
    a, b = quotient(left, ring), quotient(right, ring)
    if a.bottom == b.bottom:
        return ring.add(a.top, b.top, -1)
    return ring.add(ring.multiply(a.top, b.bottom), ring.multiply(b.top, a.bottom), -1)


def _constant(value: Rational) -> Quotient:
    return Quotient({(): value} if value else {}, ONE)


def _sum(parts: list[Quotient], ring: Ring) -> Quotient:
    total = parts[0]
    for part in parts[1:]:
        if part.bottom == total.bottom:
            total = Quotient(ring.add(total.top, part.top), total.bottom)
        else:
            top = ring.add(
                ring.multiply(total.top, part.bottom), ring.multiply(part.top, total.bottom)
            )
            total = Quotient(top, ring.multiply(total.bottom, part.bottom))
    return total


def _product(parts: list[Quotient], ring: Ring) -> Quotient:
    top, bottom = ONE, ONE
    for part in parts:
        top = ring.multiply(top, part.top)
        bottom = ring.multiply(bottom, part.bottom)
    return Quotient(top, bottom)


def _divide(left: Quotient, right: Quotient, ring: Ring) -> Quotient:
    if not right.top:
        raise Undefined
    if len(right.top) == 1 and right.bottom == ONE and left.bottom == ONE:
        ((monomial, coefficient),) = right.top.items()
        if not monomial:
            return _product([left, _constant(_inverse(coefficient))], ring)
    return Quotient(ring.multiply(left.top, right.bottom), ring.multiply(left.bottom, right.top))


def _inverse(value: Rational) -> Rational:
    inverse = integer_power(value, -1)
    if inverse is None:
        raise Undefined
    return inverse


def _power(base: Expr, exponent: Expr, ring: Ring) -> Quotient:
    value = rational(exponent, ring.budget)
    if value is None:
        return _opaque(Power(base, exponent), ring)
    inside = quotient(base, ring)
    if isinstance(value, int):
        if value < 0:
            inside = _divide(Quotient(ONE, ONE), inside, ring)
        if value == 0 and not inside.top:
            raise Undefined
        count = abs(value)
        return Quotient(ring.raise_to(inside.top, count), ring.raise_to(inside.bottom, count))
    return _fractional_power(inside, value, ring)


def _fractional_power(inside: Quotient, exponent: Fraction, ring: Ring) -> Quotient:
    """Roots of rationals split over primes, roots of one variable stay formal, others are atoms."""
    if len(inside.top) == 1 and inside.bottom == ONE:
        ((monomial, coefficient),) = inside.top.items()
        if not monomial:
            return _root_of_rational(coefficient, exponent, ring)
        if coefficient == 1 and len(monomial) == 1 and monomial[0][1] == 1:
            kind = ring.atoms[monomial[0][0]][0]
            if kind in ("symbol", "pi", "e"):
                return _monomial_power(monomial[0][0], exponent, ring)
    if not inside.top:
        if exponent < 0:
            raise Undefined
        return _constant(0)
    key = (_key(inside), exponent.denominator)
    atom = ring.atom("power", key)
    return _monomial_power(atom, exponent.numerator, ring)


def _monomial_power(atom: int, exponent: Rational, ring: Ring) -> Quotient:
    if exponent < 0:
        return Quotient(ONE, ring.power_of(atom, -exponent))
    return Quotient(ring.power_of(atom, exponent), ONE)


def _root_of_rational(value: Rational, exponent: Fraction, ring: Ring) -> Quotient:
    if value == 0:
        if exponent < 0:
            raise Undefined
        return _constant(0)
    result = ONE
    if value < 0:
        if exponent.denominator % 2:
            result = {(): -1} if exponent.numerator % 2 else ONE
        elif exponent.denominator == 2:
            result = ring.power_of(ring.atom("i", ""), exponent.numerator % 4)
        else:
            return _monomial_power(ring.atom("power", (value, exponent)), 1, ring)
    size = Fraction(value if value > 0 else -value)
    whole_root = perfect_root(size, exponent.denominator)
    if whole_root is not None:
        plain = integer_power(whole_root, exponent.numerator)
        return Quotient(ring.multiply(result, {(): plain or 0}), ONE)
    for part, sign in ((size.numerator, 1), (size.denominator, -1)):
        for prime, count in _factor(part):
            power = ring.power_of(ring.atom("prime", prime), exponent * count * sign)
            result = ring.multiply(result, power)
    return Quotient(result, ONE)


def _factor(value: int) -> list[tuple[int, int]]:
    """Prime factors with counts; refuses a cofactor that may be composite."""
    if value.bit_length() > 400:
        raise TooLarge("a radicand too large to factor")
    factors: list[tuple[int, int]] = []
    for prime in _TRIAL_PRIMES:
        if prime * prime > value:
            break
        count = 0
        while value % prime == 0:
            value //= prime
            count += 1
        if count:
            factors.append((prime, count))
    if value > 1:
        if value >= 997 * 997:
            raise TooLarge("a radicand with large prime factors")
        factors.append((value, 1))
    return factors


def _call(
    node: Call, name: str, arguments: tuple[Expr, ...], ring: Ring, *, opaque: bool
) -> Quotient:
    if not opaque:
        value = rational(node, ring.budget)
        if value is not None:
            return _constant(value)
        if name == "exp":
            return _power(Constant("e"), arguments[0], ring)
    keys = tuple(_key(quotient(argument, ring)) for argument in arguments)
    return Quotient(ring.power_of(ring.atom("call", (name, keys))), ONE)


def _opaque(node: Expr, ring: Ring) -> Quotient:
    match node:
        case Power(base, exponent):
            key: object = (_key(quotient(base, ring)), _key(quotient(exponent, ring)))
        case _:
            key = node
    return Quotient(ring.power_of(ring.atom("opaque", key)), ONE)


def _key(value: Quotient) -> object:
    return frozenset(value.top.items()), frozenset(value.bottom.items())
