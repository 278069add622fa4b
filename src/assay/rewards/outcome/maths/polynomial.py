"""Quotients of sparse polynomials over the rationals, in atoms that are added as they are met.

An atom is a variable, a constant, a prime under a fractional power, or a function of something.
A prime raised to a fraction below one, and `i` below the square, are independent over the
rationals, so a difference that is not empty after reduction is not zero.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from assay.rewards.outcome.maths.cursor import whole
from assay.rewards.outcome.maths.exact import bounded, integer_power
from assay.rewards.outcome.maths.limits import MAX_BITS, MAX_TERMS, TooLarge, WorkBudget
from assay.rewards.outcome.maths.nodes import Rational

Atom = tuple[str, object]
Monomial = tuple[tuple[int, Rational], ...]
Polynomial = dict[Monomial, Rational]
ONE: Polynomial = {(): 1}


@dataclass(frozen=True, slots=True)
class Quotient:
    top: Polynomial
    bottom: Polynomial


class Ring:
    """The atoms of one comparison, and the arithmetic that reduces them, within a budget."""

    def __init__(self, budget: WorkBudget) -> None:
        self.atoms: list[Atom] = []
        self.budget = budget
        self._index: dict[Atom, int] = {}

    def atom(self, kind: str, key: object) -> int:
        """The index of an atom, the same for equal keys."""
        index = self._index.get((kind, key))
        if index is None:
            index = self._index[kind, key] = len(self.atoms)
            self.atoms.append((kind, key))
        return index

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
            raise TooLarge(f"a polynomial of more than {MAX_TERMS} terms")
        return result

    def raise_to(self, base: Polynomial, exponent: int) -> Polynomial:
        if len(base) > 1 and exponent > 40:
            raise TooLarge("a sum to a power beyond 40")
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
        """One monomial in normal form: primes below power one, `i` below the square."""
        factors: list[tuple[int, Rational]] = []
        for atom, power in powers:
            kind, key = self.atoms[atom]
            if kind == "prime" and isinstance(key, int):
                turns = math.floor(power)
                if abs(turns) * key.bit_length() > MAX_BITS:
                    raise TooLarge("a radical to a large power")
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
        """Whether all the atoms are independent, so that different normal forms differ."""
        kinds = {kind for kind, _ in self.atoms}
        return kinds <= {"symbol", "prime", "i", "pi"} or kinds <= {"symbol", "prime", "i", "e"}

    def proportion(self, left: Polynomial, right: Polynomial) -> Rational | None:
        """The rational that multiplies `right` into `left`, if there is one."""
        if not left or left.keys() != right.keys():
            return None
        ratio: Fraction | None = None
        for monomial, coefficient in left.items():
            here = Fraction(coefficient) / right[monomial]
            if ratio is not None and here != ratio:
                return None
            ratio = here
        return ratio
