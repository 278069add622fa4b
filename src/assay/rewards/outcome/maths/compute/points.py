"""Equality of two expressions by their values at sample points, to high precision.

Two expressions are equal when they agree wherever both are real, at points of both signs: so
`sqrt(x^2)` is not `x`, while `2 ln x` is `ln x^2`. Where they are never both real, or one names
the imaginary unit, principal complex values at the same points are compared. Functions that are
made of pieces are compared on both sides of every place where pieces meet (`breaks`), at the places
themselves and at several scales. The points come from the two expressions, so that no answer can be
written to fit them. Variables under a factorial, in the exponent of a negative base or in the
bounds of a sum stand for integers, and so do n, m and k where something is rounded.

A difference counts as zero if it shrinks with every digit of precision, and as not zero if it
settles. The precision covers the smallest and the largest value on the way, so no term is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from decimal import Decimal, DecimalException, localcontext
from fractions import Fraction
from functools import partial
from hashlib import blake2b
from typing import Final, NamedTuple

from assay.rewards.outcome.maths.compute.breaks import (
    BreakpointSource,
    OneVariableLine,
    literals_in,
    positions,
    switches,
)
from assay.rewards.outcome.maths.compute.complexes import Complex, divide, multiply, subtract
from assay.rewards.outcome.maths.compute.decimals import MAX_PRECISION, NotReal, context
from assay.rewards.outcome.maths.compute.evaluate import (
    NumericEvaluator,
    Point,
    decimal,
    rational_or_none,
    running_name,
)
from assay.rewards.outcome.maths.compute.notations import COMBINED, FUNCTIONS
from assay.rewards.outcome.maths.limits import MAX_BREAK_STEPS, TooLarge, WorkBudget
from assay.rewards.outcome.maths.nodes import (
    BigOperator,
    Call,
    Constant,
    Expr,
    Node,
    Power,
    Symbol,
    children,
    expression,
    walk,
    with_names,
)

_COARSE: Final = 40
_STEP: Final = 50
"""Digits by which the precision grows when a difference may be noise."""
_RANGES: Final = (
    ("0.21", "0.93"),
    ("1.13", "2.87"),
    ("-0.91", "-0.17"),
    ("-2.93", "-1.11"),
    ("3.1", "7.9"),
    ("0.03", "0.3"),
    ("-6.7", "5.9"),
    ("11", "29"),
)
_INTEGERS: Final = (5, 8, 3, 11, 6, 14, 9, 4)
_POINTS_NEEDED: Final = 4
_DISTINCT: Final = Decimal("1e-12")
_STABLE: Final = Decimal("1e-6")
_NONZERO: Final = Decimal("1e-20")
_VISIBLE: Final = 28
_NOISE: Final = Decimal("1e-32")
"""With values at most so many powers of ten apart, what is not noise is seen at first sight."""
_MOST_LINES: Final = 4
"""Most variables along which places are looked for."""
_LARGEST_NATURAL: Final = 110


class Variables(NamedTuple):
    """The names of all variables, of the integer variables, and of the natural variables."""

    names: frozenset[str]
    integers: frozenset[str]
    naturals: frozenset[str]


class ValueDistance(NamedTuple):
    """The distance of two values, with the range of decimal exponents in their computation."""

    distance: Decimal
    size: Decimal
    smallest: int
    largest: int


class _Pair(NamedTuple):
    """Two expressions to compare by their values, real or complex."""

    left: Expr
    right: Expr
    budget: WorkBudget
    real: bool
    unknowns: Variables
    seed: bytes
    """The same for the same expressions, in every process."""

    @classmethod
    def of(cls, left: Expr, right: Expr, budget: WorkBudget) -> _Pair:
        """Make a pair of expressions, which is real unless one contains the imaginary unit."""
        seed = blake2b(repr((left, right)).encode(), digest_size=16).digest()
        real = Constant("i") not in walk(left, right)
        return cls(left, right, budget, real, variables(left, right), seed)

    def sides(self, point: Point) -> list[tuple[NumericEvaluator, Expr]]:
        """Both expressions, each with an evaluator at the point."""
        return [
            (NumericEvaluator(point, self.budget, real=self.real), node)
            for node in (self.left, self.right)
        ]


Test = Callable[..., bool]
"""Whether two expressions pass at a point: `test(pair, point, quick=)`."""


def agree(left: Expr, right: Expr, budget: WorkBudget) -> bool:
    """Whether two expressions are equal at enough sample points and around all breakpoints."""
    pair = _Pair.of(left, right, budget)
    for each in (pair, pair._replace(real=False)) if pair.real else (pair,):
        compared = _count_points(each, _same)
        if compared is None:
            return False
        if compared >= (2 if pair.unknowns.names else 1):
            return _agree_at_breaks(pair, _same)
    return False


def proportional(left: Expr, right: Expr, budget: WorkBudget, *, positive: bool) -> bool:
    """Whether `left` is `right` times a nonzero (or positive) constant at the sample points."""
    pair = _Pair.of(left, right, budget)
    first = _first_values(pair, positive=positive)
    if first is None:
        return False
    test = partial(_same_ratio, first=first, positive=positive)
    return bool(_count_points(pair, test)) and _agree_at_breaks(pair, test)


def _first_values(pair: _Pair, *, positive: bool) -> Point | None:
    """A point where both expressions are nonzero, with a positive ratio if `positive` is set."""
    for point in _points(pair.unknowns, pair.seed):
        with localcontext(context(_COARSE)):
            try:
                a, b = (evaluator.value(node) for evaluator, node in pair.sides(point))
            except (NotReal, DecimalException):
                continue
            if min(_size(a), _size(b)) > _NONZERO:
                return point if not positive or divide(a, b).re > 0 else None
    return None


def _agree_at_breaks(pair: _Pair, test: Test) -> bool:
    """Whether two expressions pass the test around all their breakpoints."""
    inside = switches(pair.left, pair.right) if pair.unknowns.names else ()
    if not inside:
        return True
    allowance = WorkBudget(MAX_BREAK_STEPS)
    over_reals = pair._replace(budget=allowance, real=True)
    try:
        for point in _telling_points(over_reals, inside):
            # Where one has no value, the point says nothing.
            with suppress(NotReal, DecimalException):
                if not test(over_reals, point, quick=True):
                    return False
        return True
    finally:
        # What is left of the row's work must not be negative only because of this.
        spent = MAX_BREAK_STEPS - max(0, allowance.remaining)
        pair.budget.remaining -= min(spent, pair.budget.remaining)


def _telling_points(pair: _Pair, inside: tuple[BreakpointSource, ...]) -> Iterator[Point]:
    """Points around all breakpoints, along one variable after the other."""
    unknowns = pair.unknowns
    bound = bound_names(pair.left) | bound_names(pair.right)
    literals = literals_in(pair.left, pair.right)
    names = {
        part.name for switch in inside for part in walk(switch.inside) if isinstance(part, Symbol)
    }
    lines = sorted(unknowns.names - bound if names & bound else names & unknowns.names - bound)
    if len(lines) > _MOST_LINES:
        raise TooLarge(f"a piecewise function has more than {_MOST_LINES} variables")
    for turn, start in enumerate(_starts(pair, literals)):
        for name in lines:
            section = tuple(_run_along(switch, bound, name) for switch in inside)
            line = OneVariableLine(
                name, start, literals, whole=name in unknowns.integers, again=turn > 0
            )
            for place in positions(section, line, pair.budget):
                for value in _allowed(place, name, unknowns):
                    with localcontext(context(_COARSE)):
                        point = {**start, name: decimal(value)}
                    yield point


def _starts(pair: _Pair, literals: frozenset[float]) -> Iterator[Point]:
    """The starting points of the test lines, near zero and far from zero."""
    start = next(_points(pair.unknowns, pair.seed))
    yield start
    if len(pair.unknowns.names) == 1:
        return
    reach = Decimal(2 * max(literals, default=0.0) + 11).to_integral_value()
    for signs in ((1, 1), (-1, -1), (1, -1)):
        with localcontext(context(_COARSE)):
            yield {
                name: value
                if name in pair.unknowns.naturals
                else value + (reach + 3 * rank) * signs[rank % 2]
                for rank, (name, value) in enumerate(start.items())
            }


def _run_along(switch: BreakpointSource, bound: frozenset[str], name: str) -> BreakpointSource:
    """Replace running variables in a break condition by the given variable."""
    if not bound:
        return switch
    inside = with_names(switch.inside, dict.fromkeys(bound, name))
    return BreakpointSource(expression(inside), switch.at_integers)


def _allowed(place: Fraction, name: str, unknowns: Variables) -> tuple[Fraction | int, ...]:
    """The allowed values of a variable near a point."""
    if name not in unknowns.integers:
        return (place,)
    below = place.numerator // place.denominator
    near = (below,) if place.denominator == 1 else (below, below + 1)
    if name in unknowns.naturals:
        return tuple(value for value in near if 0 <= value <= _LARGEST_NATURAL)
    return near


def _count_points(pair: _Pair, test: Test) -> int | None:
    """The number of points where both expressions pass the test, or None if one point fails."""
    compared = 0
    for point in _points(pair.unknowns, pair.seed):
        try:
            # One point sees a term of any size; the others need not look as closely.
            if not test(pair, point, quick=compared > 0):
                return None
            compared += 1
        except (NotReal, DecimalException):
            continue
        if compared >= _POINTS_NEEDED:
            break
    return compared


def value_of(node: Expr, budget: WorkBudget, digits: int = _COARSE) -> Complex | None:
    """The value of an expression without variables, or None."""
    unknowns = variables(node)
    if unknowns.names - bound_names(node):
        return None
    point = next(_points(unknowns, b""))
    with localcontext(context(digits)):
        try:
            return NumericEvaluator(point, budget, real=False).value(node)
        except NotReal:
            return None


def bound_names(node: Node) -> frozenset[str]:
    """The running variables of all sums, products, integrals and limits."""
    return frozenset(running_name(part) for part in walk(node) if isinstance(part, BigOperator))


def variables(*nodes: Node) -> Variables:
    """The variables of the expressions, with those that must be integers."""
    names: set[str] = set()
    integers: set[str] = set()
    naturals: set[str] = set()
    rounded = False
    pending: list[tuple[Node, set[str] | None]] = [(node, None) for node in nodes]
    while pending:
        node, kind = pending.pop()
        if isinstance(node, Symbol):
            names.add(node.name)
            if kind is not None:
                kind.add(node.name)
            continue
        inner = kind
        if isinstance(node, Call) and node.name in FUNCTIONS:
            domain = FUNCTIONS[node.name].domain
            inner = {"naturals": naturals, "integers": integers}.get(domain, kind)
            rounded = rounded or domain == "counters"
        if isinstance(node, Power) and (rational_or_none(node.base, WorkBudget()) or 0) < 0:
            pending.append((node.exponent, integers))
        if isinstance(node, BigOperator) and node.operator in COMBINED:
            sides = (side for side in (node.lower, node.upper) if side is not None)
            pending.extend((side, naturals) for side in sides)
        pending.extend((child, inner) for child in children(node))
    if rounded:
        integers |= names & _COUNTERS
    return Variables(frozenset(names), frozenset(integers | naturals), frozenset(naturals))


_COUNTERS: Final = frozenset({"n", "m", "k", "N"})


def _same(pair: _Pair, point: Point, *, quick: bool) -> bool:
    """Whether two expressions have the same value at a point."""

    def gap() -> ValueDistance:
        sides = pair.sides(point)
        a, b = (evaluator.value(node) for evaluator, node in sides)
        return _gap(a, b, sides)

    return _vanishes(gap, quick=quick)


def _same_ratio(pair: _Pair, point: Point, *, first: Point, positive: bool, quick: bool) -> bool:
    """Whether two expressions have the same ratio at two points."""

    def gap() -> ValueDistance:
        sides = pair.sides(first) + pair.sides(point)
        a, b, c, d = (evaluator.value(node) for evaluator, node in sides)
        if positive and c.re * d.re < 0 and min(_size(c), _size(d)) > _NONZERO:
            return ValueDistance(Decimal(1), Decimal(1), 0, 0)
        return _gap(multiply(a, d), multiply(b, c), sides)

    if point == first:
        # It says nothing about itself.
        raise NotReal
    return _vanishes(gap, quick=quick)


def _vanishes(gap: Callable[[], ValueDistance], *, quick: bool) -> bool:
    """Whether a difference shrinks to zero as the precision grows."""
    digits = _COARSE
    with localcontext(context(digits)):
        coarse = gap()
    if _is_clear(coarse):
        return False
    spread = coarse.largest - coarse.smallest
    if quick and spread <= _VISIBLE and coarse.distance <= coarse.size * _NOISE:
        return True
    if spread > 8:
        digits += 2 * spread
        coarse = _at_digits(gap, digits)
        if _is_clear(coarse):
            return False
    for _ in range(2):
        digits += max(_STEP, digits // 2)
        fine = _at_digits(gap, digits)
        if not fine.distance:
            return True
        if abs(coarse.distance - fine.distance) <= fine.distance * _STABLE:
            return False
        if fine.distance.adjusted() <= max(fine.largest, fine.size.adjusted()) - digits + 25:
            return True
        coarse = fine
    return False


def _at_digits(gap: Callable[[], ValueDistance], digits: int) -> ValueDistance:
    """Compute the distance of two values with the given number of digits."""
    if digits > MAX_PRECISION - 20:
        raise NotReal
    with localcontext(context(digits)):
        return gap()


def _is_clear(gap: ValueDistance) -> bool:
    return gap.distance > gap.size * _DISTINCT and gap.size > _NONZERO


def _gap(a: Complex, b: Complex, sides: list[tuple[NumericEvaluator, Expr]]) -> ValueDistance:
    return ValueDistance(
        _size(subtract(a, b)),
        max(_size(a), _size(b)),
        min(evaluator.smallest for evaluator, _ in sides),
        max(evaluator.largest for evaluator, _ in sides),
    )


def _size(a: Complex) -> Decimal:
    """The larger of the real and imaginary parts, in absolute value."""
    return max(abs(a.re), abs(a.im))


def _points(unknowns: Variables, seed: bytes) -> Iterator[Point]:
    ordered = sorted(unknowns.names)
    for index in range(len(_RANGES) if ordered else 1):
        with localcontext(context(_COARSE)):
            point = {
                name: _whole(index, rank)
                if name in unknowns.integers
                else _coordinate(name, index, seed)
                for rank, name in enumerate(ordered)
            }
        yield point


def _whole(index: int, rank: int) -> Decimal:
    """A small integer coordinate, different for each variable of a point."""
    turns, place = divmod(index + rank, len(_INTEGERS))
    return Decimal(_INTEGERS[place] + 12 * (turns - index // len(_INTEGERS)))


def _coordinate(name: str, index: int, seed: bytes) -> Decimal:
    low, high = map(Decimal, _RANGES[index])
    draw = blake2b(f"{name}/{index}".encode(), digest_size=6, key=seed).digest()
    share = Decimal(int.from_bytes(draw, "big") % 1_000_003) / 1_000_003
    return (low + (high - low) * share).quantize(Decimal("1e-9"))
