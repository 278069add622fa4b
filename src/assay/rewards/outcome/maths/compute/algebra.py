"""Conversion of expressions to quotients of polynomials, to decide equality exactly.

Polynomials are sparse, over the rationals, in atoms that are added as they are met. An atom is a
variable, a constant, a prime under a fractional power, or a function of something. A prime raised
to a fraction below one, and `i` below the square, are independent over the rationals, so a
difference that is not empty after reduction is not zero.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from assay.rewards.outcome.maths.compute.evaluate import rational
from assay.rewards.outcome.maths.compute.rationals import bounded, integer_power, perfect_root
from assay.rewards.outcome.maths.limits import MAX_BITS, MAX_TERMS, TooLarge, WorkBudget
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
    whole,
)

Atom = tuple[str, object]
Monomial = tuple[tuple[int, Rational], ...]
Polynomial = dict[Monomial, Rational]
ONE: Polynomial = {(): 1}


@dataclass(frozen=True, slots=True)
class Quotient:
    """A quotient of two polynomials."""

    top: Polynomial
    bottom: Polynomial


class PolynomialRing:
    """Arithmetic of polynomials in a growing list of atoms, within a work budget."""

    def __init__(self, budget: WorkBudget) -> None:
        self.atoms: list[Atom] = []
        self.budget = budget
        self._index: dict[Atom, int] = {}

    def atom(self, kind: str, key: object) -> int:
        """Return the index of an atom; equal atoms have one index."""
        index = self._index.get((kind, key))
        if index is None:
            index = self._index[kind, key] = len(self.atoms)
            self.atoms.append((kind, key))
        return index

    def function(self, name: str, argument: Quotient) -> int:
        """Return the index of the atom for a function call."""
        return self.atom("call", (name, (_key(argument),)))

    def power_of(self, atom: int, exponent: Rational = 1) -> Polynomial:
        return self._reduce(((atom, exponent),), 1)

    def add(self, left: Polynomial, right: Polynomial, sign: int = 1) -> Polynomial:
        result = dict(left)
        for monomial, coefficient in right.items():
            total = result.get(monomial, 0) + sign * coefficient
            if total:
                result[monomial] = whole(total)
            else:
                result.pop(monomial, None)
        return result

    def multiply(self, left: Polynomial, right: Polynomial) -> Polynomial:
        if left == ONE:
            return right
        if right == ONE:
            return left
        self.budget.spend(len(left) * len(right))
        result: Polynomial = {}
        for one, a in left.items():
            for other, b in right.items():
                for monomial, coefficient in self._product(one, other, a * b).items():
                    total = result.get(monomial, 0) + coefficient
                    if total:
                        result[monomial] = whole(total)
                    else:
                        result.pop(monomial, None)
        if len(result) > MAX_TERMS:
            raise TooLarge(f"a polynomial has more than {MAX_TERMS} terms")
        return result

    def raise_to(self, base: Polynomial, exponent: int) -> Polynomial:
        if not base and exponent:
            return base
        if len(base) > 1 and exponent > 40:
            raise TooLarge("a sum is raised to a power above 40")
        if len(base) == 1:
            ((monomial, coefficient),) = base.items()
            value = integer_power(coefficient, exponent)
            powers = tuple((atom, power * exponent) for atom, power in monomial)
            return self._reduce(powers, value if value is not None else 0)
        result = ONE
        for _ in range(exponent):
            result = self.multiply(result, base)
        return result

    def _product(self, left: Monomial, right: Monomial, coefficient: Rational) -> Polynomial:
        if not left or not right:
            return {left or right: whole(coefficient)}
        powers = dict(left)
        for atom, power in right:
            powers[atom] = powers.get(atom, 0) + power
        return self._reduce(tuple(sorted(powers.items())), coefficient)

    def _reduce(self, powers: Monomial, coefficient: Rational) -> Polynomial:
        """Reduce a monomial to its normal form, by powers of primes and of `i`."""
        factors: list[tuple[int, Rational]] = []
        for atom, power in powers:
            kind, key = self.atoms[atom]
            if kind == "prime" and isinstance(key, int):
                turns = math.floor(power)
                if abs(turns) * key.bit_length() > MAX_BITS:
                    raise TooLarge("a root is raised to a large power")
                coefficient = coefficient * Fraction(key) ** turns if turns else coefficient
                power -= turns
            elif kind == "i" and isinstance(power, int):
                coefficient = -coefficient if power % 4 > 1 else coefficient
                power %= 2
            if power:
                factors.append((atom, whole(power)))
        coefficient = bounded(coefficient, self.budget)
        return {tuple(factors): coefficient} if coefficient else {}

    def is_certain(self) -> bool:
        """Whether all atoms are independent, so that unequal polynomials have unequal values."""
        kinds = {kind for kind, _ in self.atoms}
        return kinds <= {"symbol", "prime", "i", "pi"} or kinds <= {"symbol", "prime", "i", "e"}

    def proportion(self, left: Polynomial, right: Polynomial) -> Rational | None:
        """Return the rational number `left / right`, or None if the quotient is not a number."""
        if not left or left.keys() != right.keys():
            return None
        ratios = {Fraction(coefficient) / right[part] for part, coefficient in left.items()}
        return ratios.pop() if len(ratios) == 1 else None

    def same_up_to_constant(self, left: Polynomial, right: Polynomial) -> bool:
        """Whether two polynomials differ by a constant factor, even one with roots, i, pi or e."""
        if not left or not right:
            return not left and not right
        parts, others = self._by_variables(left), self._by_variables(right)
        if parts.keys() != others.keys():
            return False
        leading = next(iter(parts))
        scaled = self.multiply(left, others[leading]), self.multiply(right, parts[leading])
        return not self.add(scaled[0], scaled[1], -1)

    def _by_variables(self, polynomial: Polynomial) -> dict[Monomial, Polynomial]:
        """Group the terms of a polynomial by their variables; constants become coefficients."""
        result: dict[Monomial, Polynomial] = {}
        for monomial, coefficient in polynomial.items():
            constants = tuple(part for part in monomial if self.atoms[part[0]][0] in _CONSTANTS)
            free = tuple(part for part in monomial if part not in constants)
            result.setdefault(free, {})[constants] = coefficient
        return result


_CONSTANTS: Final = frozenset({"prime", "i", "pi", "e"})
_TRIAL_PRIMES: Final = tuple(
    n for n in range(2, 1_000) if all(n % divisor for divisor in range(2, int(n**0.5) + 1))
)


class ZeroDenominator(Exception):
    """The expression divides by zero."""


def quotient(node: Expr, ring: PolynomialRing) -> Quotient:
    """Convert an expression to a quotient of polynomials; raise TooLarge or ZeroDenominator."""
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
        case Call():
            return _call(node, ring)
        case _:
            return _opaque(node, ring)


def difference(left: Expr, right: Expr, ring: PolynomialRing) -> Polynomial:
    """The numerator of `left - right`; it is empty if the two are equal."""
    a, b = quotient(left, ring), quotient(right, ring)
    if a.bottom == b.bottom:
        return ring.add(a.top, b.top, -1)
    return ring.add(ring.multiply(a.top, b.bottom), ring.multiply(b.top, a.bottom), -1)


def _constant(value: Rational) -> Quotient:
    return Quotient({(): value} if value else {}, ONE)


def _sum(parts: list[Quotient], ring: PolynomialRing) -> Quotient:
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


def _product(parts: list[Quotient], ring: PolynomialRing) -> Quotient:
    top, bottom = ONE, ONE
    for part in parts:
        top = ring.multiply(top, part.top)
        bottom = ring.multiply(bottom, part.bottom)
    return Quotient(top, bottom)


def _divide(left: Quotient, right: Quotient, ring: PolynomialRing) -> Quotient:
    if not right.top:
        raise ZeroDenominator
    if right.top.keys() == {()} and right.bottom == ONE and left.bottom == ONE:
        return _product([left, _constant(whole(Fraction(1) / right.top[()]))], ring)
    return Quotient(ring.multiply(left.top, right.bottom), ring.multiply(left.bottom, right.top))


def _power(base: Expr, exponent: Expr, ring: PolynomialRing) -> Quotient:
    value = rational(exponent, ring.budget)
    if value is None:
        return _opaque(Power(base, exponent), ring)
    inside = quotient(base, ring)
    if isinstance(value, int):
        if value < 0:
            inside = _divide(Quotient(ONE, ONE), inside, ring)
        if value == 0 and not inside.top:
            raise ZeroDenominator
        count = abs(value)
        return Quotient(ring.raise_to(inside.top, count), ring.raise_to(inside.bottom, count))
    return _fractional_power(inside, value, ring)


def _fractional_power(inside: Quotient, exponent: Fraction, ring: PolynomialRing) -> Quotient:
    """Raise a quotient of polynomials to a fractional power."""
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
            raise ZeroDenominator
        return _constant(0)
    key = (_key(inside), exponent.denominator)
    atom = ring.atom("power", key)
    return _monomial_power(atom, exponent.numerator, ring)


def _monomial_power(atom: int, exponent: Rational, ring: PolynomialRing) -> Quotient:
    if exponent < 0:
        return Quotient(ONE, ring.power_of(atom, -exponent))
    return Quotient(ring.power_of(atom, exponent), ONE)


def _root_of_rational(value: Rational, exponent: Fraction, ring: PolynomialRing) -> Quotient:
    if value == 0:
        if exponent < 0:
            raise ZeroDenominator
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
    """The prime factors of an integer with their exponents."""
    if value.bit_length() > 400:
        raise TooLarge("a number under a root is too large to factor")
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
            raise TooLarge("a number under a root has large prime factors")
        factors.append((value, 1))
    return factors


def _call(node: Call, ring: PolynomialRing) -> Quotient:
    if not node.opaque:
        value = rational(node, ring.budget)
        if value is not None:
            return _constant(value)
        if node.name == "exp":
            return _power(Constant("e"), node.arguments[0], ring)
    # Once for each: functions are nested in functions.
    arguments = [quotient(argument, ring) for argument in node.arguments]
    if not node.opaque and len(arguments) == 1:
        if node.name in _QUOTIENTS:
            top, bottom = (
                ring.power_of(ring.function(name, arguments[0])) if name else ONE
                for name in _QUOTIENTS[node.name]
            )
            return Quotient(top, bottom)
        split = _split(node.name, arguments[0], ring) if node.name in ("ln", "abs") else None
        if split is not None:
            return split
    keys = tuple(map(_key, arguments))
    return Quotient(ring.power_of(ring.atom("call", (node.name, keys))), ONE)


_QUOTIENTS: Final = {
    "tan": ("sin", "cos"), "cot": ("cos", "sin"), "sec": ("", "cos"), "csc": ("", "sin"),
}  # fmt: skip
"""Functions of angles as quotients of two others; no name stands for 1."""


def _split(name: str, value: Quotient, ring: PolynomialRing) -> Quotient | None:
    """Split the logarithm or absolute value of a product into its factors, or return None.

    Of a logarithm's factors all must be positive: the real logarithm of `xy` may exist where
    those of x and y do not.
    """
    if len(value.top) != 1 or len(value.bottom) != 1:
        return None
    ((above, a),), ((below, b),) = value.top.items(), value.bottom.items()
    factors = [*above, *((atom, -power) for atom, power in below)]
    number = Fraction(a) / b
    if name == "abs":
        return None if len(factors) < 2 and below == () else _absolute(number, factors, ring)
    if number <= 0 or not factors or not all(_is_positive(ring.atoms[atom]) for atom, _ in factors):
        return None
    terms = [_product([_constant(power), _log_of(atom, ring)], ring) for atom, power in factors]
    if number != 1:
        terms.append(Quotient(ring.power_of(ring.function("ln", _constant(whole(number)))), ONE))
    return _sum(terms, ring)


def _absolute(
    number: Fraction, factors: list[tuple[int, Rational]], ring: PolynomialRing
) -> Quotient | None:
    result = _constant(whole(abs(number)))
    for atom, power in factors:
        if not isinstance(power, int):
            return None
        plain = power % 2 == 0 or _is_positive(ring.atoms[atom])
        size = atom if plain else ring.function("abs", Quotient(ring.power_of(atom), ONE))
        result = _product([result, _monomial_power(size, power, ring)], ring)
    return result


def _log_of(atom: int, ring: PolynomialRing) -> Quotient:
    if ring.atoms[atom][0] == "e":
        return _constant(1)
    return Quotient(ring.power_of(ring.function("ln", Quotient(ring.power_of(atom), ONE))), ONE)


def _is_positive(atom: Atom) -> bool:
    """Whether an atom is never negative: a root of a prime, pi, e, or an absolute value."""
    kind, key = atom
    return kind in ("prime", "pi", "e") or (
        kind == "call" and isinstance(key, tuple) and key[0] == "abs"
    )


def _opaque(node: Expr, ring: PolynomialRing) -> Quotient:
    key: object = node
    if isinstance(node, Power):
        key = _key(quotient(node.base, ring)), _key(quotient(node.exponent, ring))
    return Quotient(ring.power_of(ring.atom("opaque", key)), ONE)


def _key(value: Quotient) -> object:
    return frozenset(value.top.items()), frozenset(value.bottom.items())
