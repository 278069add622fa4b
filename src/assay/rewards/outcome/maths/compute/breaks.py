"""Breakpoints: the points of a variable where an expression changes its formula.

Absolute values, maxima, floors, remainders, even roots and inverse functions are made of pieces,
and two expressions that agree on one piece may differ on the next. Pieces meet at the roots of the
expression inside. The roots of a polynomial are computed; others are searched for at many scales,
by changes of sign and by turning points. Two expressions are compared on both sides of every such
place, at the place itself, between places, and far away.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal, DecimalException, localcontext
from fractions import Fraction
from functools import reduce
from itertools import combinations, pairwise
from typing import Final, NamedTuple

from assay.rewards.outcome.maths.compute.algebra import (
    Polynomial,
    PolynomialRing,
    ZeroDenominator,
    quotient,
)
from assay.rewards.outcome.maths.compute.decimals import NotReal, context
from assay.rewards.outcome.maths.compute.evaluate import NumericEvaluator, rational_or_none
from assay.rewards.outcome.maths.compute.notations import FUNCTIONS, Breaks
from assay.rewards.outcome.maths.limits import TooLarge, WorkBudget
from assay.rewards.outcome.maths.nodes import (
    Add,
    Call,
    Div,
    Expr,
    Node,
    Number,
    Power,
    Symbol,
    expression,
    negate,
    rebuild,
    walk,
)

_SCALES: Final = tuple(
    sign * digit * 10.0**shift for sign in (-1, 1) for shift in range(-3, 7) for digit in (1, 2, 5)
)
_LEVEL_ANCHORS: Final = (0.5, -12.4, 640.7, 41_000.9)
"""Near these values of the variable, the integers that the inside passes are found."""
_FAR: Final = (
    *map(Fraction, (0, 1, 4, -1, 2, 9, 100, -3, 10**3, -(10**3), 10**6, -(10**6))),
    Fraction(1, 1000),
    Fraction(-1, 1000),
)
_MOST_SWITCHES: Final = 24
_MOST_PLACES: Final = 24
_MOST_LEVELS: Final = 5
_HIGHEST_DEGREE: Final = 12
_SCAN_DIGITS: Final = 16


class BreakpointSource(NamedTuple):
    """A subexpression whose zeros or integer values are breakpoints."""

    inside: Expr
    at_integers: bool = False


def switches(*roots: Expr) -> tuple[BreakpointSource, ...]:
    """The break conditions in the expressions that depend on a variable."""
    result: dict[BreakpointSource, None] = {}
    for node in walk(*roots):
        for switch in _switches_of(node):
            if any(isinstance(part, Symbol) for part in walk(switch.inside)):
                result[switch] = None
    if len(result) > _MOST_SWITCHES:
        raise TooLarge(f"the answer has more than {_MOST_SWITCHES} piecewise functions")
    return tuple(result)


def _switches_of(node: Node) -> Iterator[BreakpointSource]:
    match node:
        case Power(base, exponent):
            if _is_fraction(exponent):
                yield BreakpointSource(base)
        case Call("root" | "cbrt", (radicand, *_)):
            yield BreakpointSource(radicand)
        case Call(name, arguments, False) if name in FUNCTIONS:
            breaks = FUNCTIONS[name].breaks
            for inside in _insides(breaks, arguments):
                yield BreakpointSource(inside, at_integers=breaks in ("integers", "ratios"))


def _is_fraction(exponent: Expr) -> bool:
    if isinstance(exponent, Number):
        return isinstance(exponent.value, Fraction)
    if not isinstance(exponent, (Div, Add)):
        return False
    return isinstance(rational_or_none(exponent, WorkBudget()), Fraction)


def _insides(breaks: Breaks, arguments: Sequence[Expr]) -> Iterable[Expr]:
    """The expressions whose zeros or integer values are the breakpoints of a function."""
    match breaks:
        case "zeros" | "integers":
            return arguments[:1]
        case "ratios":
            return [Div(arguments[0], arguments[1])]
        case "order":
            return [Add((a, negate(b))) for a, b in combinations(arguments[:5], 2)]
        case "ones":
            return [Add((arguments[0], Number(-end))) for end in (1, -1)]
        case "poles":
            return _denominators(arguments[0])
        case _:
            return ()


def _denominators(node: Expr) -> Iterator[Expr]:
    for part in walk(node):
        match part:
            case Div(_, bottom):
                yield bottom
            case Call("tan" | "sec", arguments):
                yield Call("cos", arguments)
            case Call("cot" | "csc", arguments):
                yield Call("sin", arguments)


class OneVariableLine(NamedTuple):
    """A line of points on which one variable changes and the others are fixed."""

    name: str
    others: Mapping[str, Decimal]
    literals: frozenset[float]
    """Sizes of the numbers that are written, near which something may happen."""
    whole: bool
    """Whether the variable is an integer, so that places need not be exact."""
    again: bool
    """Whether the variable was looked at already from elsewhere, so that less is enough."""


def positions(
    inside: Iterable[BreakpointSource], line: OneVariableLine, budget: WorkBudget
) -> list[Fraction]:
    """The values of the variable at which to compare, the most important first."""
    places: set[Fraction] = set()
    for switch in inside:
        roots = _Section(switch.inside, line, budget).places(at_integers=switch.at_integers)
        places.update(_nice(place) for place in roots if abs(float(place)) < 1e12)
    ordered = sorted(places)
    if len(ordered) > _MOST_PLACES:
        # Those near zero matter most, and a few of the others.
        near = sorted(ordered, key=abs)
        ordered = sorted({*near[: _MOST_PLACES - 6], *near[_MOST_PLACES - 6 :: len(near) // 6 + 1]})
    return _around(ordered, again=line.again)


def _around(places: Sequence[Fraction], *, again: bool) -> list[Fraction]:
    """Test points around, between and at the breakpoints, and far from them."""
    sides: list[Fraction] = []
    between: list[Fraction] = []
    for k, place in enumerate(places):
        step = max(abs(place), Fraction(1)) / 997
        before = place - places[k - 1] if k else step * 9
        after = places[k + 1] - place if k + 1 < len(places) else step * 9
        sides += [place - min(step, before / 3), place + min(step, after / 3)]
        if k:
            between.append((places[k - 1] + place) / 2)
    if places:
        reach = max(abs(places[0]), abs(places[-1]), Fraction(1))
        between += [places[0] - reach * Fraction(11, 7), places[-1] + reach * Fraction(12, 7)]
    rest = () if again else (*places, *_FAR)
    return list(dict.fromkeys([*sides, *between, *rest]))


def _nice(place: float | Fraction) -> Fraction:
    """Round a computed breakpoint to a simple fraction nearby, if there is one."""
    if isinstance(place, Fraction):
        return place
    simple = Fraction(place).limit_denominator(1000)
    return (
        simple if abs(simple - Fraction(place)) < 1e-9 * max(1.0, abs(place)) else Fraction(place)
    )


class _Section(NamedTuple):
    """A subexpression as a function of one variable."""

    inside: Expr
    line: OneVariableLine
    budget: WorkBudget

    def places(self, *, at_integers: bool) -> list[float | Fraction]:
        if Symbol(self.line.name) not in walk(self.inside):
            return []
        coefficients = self._coefficients()
        if coefficients is None:
            return self._searched(at_integers=at_integers)
        if len(coefficients) < 2:
            return []
        if not at_integers:
            return polynomial_places(coefficients)
        levels = _levels(lambda x: evaluate_polynomial(coefficients, x))
        return [
            place
            for level in levels
            for place in polynomial_places([coefficients[0] - level, *coefficients[1:]])
        ]

    def _coefficients(self) -> list[Fraction] | None:
        """The coefficients of the expression as a polynomial, constant first, or None."""
        ring = PolynomialRing(self.budget)
        try:
            fixed = _with_values(self.inside, self.line.name, self.line.others)
            parts = quotient(fixed, ring)
            if parts.bottom.keys() != {()}:
                return None
            return self._in_powers(parts.top, Fraction(parts.bottom[()]), ring)
        except (TooLarge, ZeroDenominator, NotReal):
            return None

    def _in_powers(
        self, top: Polynomial, bottom: Fraction, ring: PolynomialRing
    ) -> list[Fraction] | None:
        powers: dict[int, Fraction] = {0: Fraction(0)}
        for monomial, coefficient in top.items():
            degree, value = 0, Fraction(coefficient) / bottom
            for atom, power in monomial:
                kind, key = ring.atoms[atom]
                if kind == "symbol":
                    if not isinstance(power, int) or not 0 < power <= _HIGHEST_DEGREE:
                        return None
                    degree = power
                elif kind in ("pi", "e"):
                    constant = math.pi if kind == "pi" else math.e
                    value *= Fraction(constant ** float(power))
                elif kind == "prime" and isinstance(key, int):
                    value *= Fraction(float(key) ** float(power))
                else:
                    return None
            powers[degree] = powers.get(degree, Fraction(0)) + value
        return [powers.get(degree, Fraction(0)) for degree in range(max(powers) + 1)]

    def _searched(self, *, at_integers: bool) -> list[float | Fraction]:
        literals = self.line.literals
        scales = _SCALES[::3] if self.line.again else _SCALES
        grid = sorted({0.0, *scales, *literals, *(-value for value in literals)})
        values = [(x, self._value(x)) for x in grid]
        levels = _levels(self._value)[:_MOST_LEVELS] if at_integers else [0]
        search = _Search(self._value, 0.2 if self.line.whole else 1e-11)
        return [
            place
            for level in levels
            for place in search.places(values, level, touching=not at_integers)
        ]

    def _value(self, x: float) -> float | None:
        point = {**self.line.others, self.line.name: Decimal(x)}
        with localcontext(context(_SCAN_DIGITS)):
            try:
                value = NumericEvaluator(point, self.budget, real=True).value(self.inside)
                return float(value.re)
            except (NotReal, DecimalException, OverflowError):
                return None


def _with_values(node: Node, name: str, others: Mapping[str, Decimal]) -> Expr:
    if isinstance(node, Symbol) and node.name != name:
        if node.name not in others:
            raise NotReal
        return Number(Fraction(others[node.name]))
    return expression(rebuild(node, lambda child: _with_values(child, name, others)))


def _levels(value: Callable[[float], float | None]) -> list[int]:
    levels: dict[int, None] = {}
    for anchor in _LEVEL_ANCHORS:
        here = value(anchor)
        if here is not None and abs(here) < 1e12:
            below = math.floor(here)
            levels.update(dict.fromkeys((below, below + 1)))
    return list(levels)


class _Search(NamedTuple):
    """A numerical search for the points where a function has a given value."""

    value: Callable[[float], float | None]
    width: float
    """The largest error of a place, relative to its size where that is above one."""

    def places(
        self, values: Sequence[tuple[float, float | None]], level: int, *, touching: bool
    ) -> Iterator[float]:
        """The points where a sampled function crosses a level or turns near the level."""
        known = [(x, y - level) for x, y in values if y is not None]
        for (a, left), (b, right) in pairwise(known):
            if left == 0:
                yield a
            elif left * right < 0:
                yield self.crossing(level, a, b, left, right)
        for (a, left), (_, middle), (b, right) in zip(known, known[1:], known[2:], strict=False):
            nearest = abs(middle) < abs(left) and abs(middle) <= abs(right)
            if nearest and left * middle > 0 and middle * right > 0:
                yield from self._turning(level, (a, left), (b, right), touching=touching)

    def _turning(
        self, level: int, start: tuple[float, float], end: tuple[float, float], *, touching: bool
    ) -> Iterator[float]:
        (a, left), (b, right) = start, end
        turn = self._turning_point(level, a, b)
        beyond = self.value(turn)
        if beyond is not None and (beyond - level) * left < 0:
            yield self.crossing(level, a, turn, left, beyond - level)
            yield self.crossing(level, turn, b, beyond - level, right)
        elif touching:
            yield turn

    def crossing(self, level: int, a: float, b: float, left: float, right: float) -> float:
        """The point where the function crosses the level, by chords and halving in turn."""
        middle = a
        for turn in range(60):
            before = middle
            share = 0.5 if turn % 2 else left / (left - right)
            middle = a + (b - a) * share
            here = self.value(middle)
            if here is None or here == level:
                return middle
            if (here - level > 0) == (left > 0):
                a, left = middle, here - level
            else:
                b, right = middle, here - level
            width = self.width * (max(1.0, abs(middle)) if self.width < 1e-6 else 1.0)
            if b - a <= width or abs(middle - before) <= width / 8:
                break
        return middle

    def _turning_point(self, level: int, a: float, b: float) -> float:
        """The point between a and b where the function is nearest to the level."""
        share = (math.sqrt(5) - 1) / 2
        first, second = b - share * (b - a), a + share * (b - a)
        one, other = self.value(first), self.value(second)
        for _ in range(36):
            if one is None or other is None or b - a <= max(self.width, 1e-7) * max(1.0, abs(a)):
                break
            if abs(one - level) < abs(other - level):
                b, second, other = second, first, one
                first = b - share * (b - a)
                one = self.value(first)
            else:
                a, first, one = first, second, other
                second = a + share * (b - a)
                other = self.value(second)
        return (a + b) / 2


def evaluate_polynomial(coefficients: Sequence[Fraction], x: float) -> float:
    return reduce(lambda total, c: total * x + float(c), reversed(coefficients), 0.0)


def polynomial_places(coefficients: Sequence[Fraction]) -> list[float | Fraction]:
    """The real roots and turning points of a polynomial."""
    while len(coefficients) > 1 and coefficients[-1] == 0:
        coefficients = coefficients[:-1]
    if len(coefficients) < 2:
        return []
    if len(coefficients) == 2:
        return [-coefficients[0] / coefficients[1]]
    turning = polynomial_places([k * c for k, c in enumerate(coefficients)][1:])
    reach = 1 + max(abs(float(c / coefficients[-1])) for c in coefficients[:-1])
    inner = (float(place) for place in turning)
    edges = sorted({-reach, reach, *(x for x in inner if abs(x) < reach)})
    values = [(x, evaluate_polynomial(coefficients, x)) for x in edges]
    search = _Search(lambda x: evaluate_polynomial(coefficients, x), 1e-13)
    roots = [
        search.crossing(0, a, b, left, right)
        for (a, left), (b, right) in pairwise(values)
        if left * right < 0
    ]
    return [*roots, *turning]


def literals_in(*roots: Node) -> frozenset[float]:
    """The absolute values of the numbers in the expressions, at most 12."""
    sizes = (
        abs(float(node.value))
        for node in walk(*roots)
        if isinstance(node, Number)
        and node.value.numerator.bit_length() < 40
        and node.value.denominator.bit_length() < 40
    )
    return frozenset(sorted(sizes)[:12])
