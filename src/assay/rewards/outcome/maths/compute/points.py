"""Equality of expressions by their values at fixed points, to high precision.

Two expressions are equal when they agree wherever both are real, at points of both signs: so
`sqrt(x^2)` is not `x`, while `2 ln x` is `ln x^2`. Where they are never both real, or one names
the imaginary unit, principal complex values at the same points are compared. Variables under a
factorial, in the exponent of a negative base or in the bounds of a sum stand for integers, and so
do n, m and k where something is rounded.

A difference counts as zero if it keeps shrinking with the precision, and as not zero if it
settles, so neither huge nor tiny values are confused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal, DecimalException, localcontext
from functools import partial
from typing import Final
from zlib import crc32

from assay.rewards.outcome.maths.compute.complexes import Complex, divide, modulus, subtract
from assay.rewards.outcome.maths.compute.decimals import NotReal, context
from assay.rewards.outcome.maths.compute.evaluate import (
    NumericEvaluator,
    Point,
    rational_or_none,
    running_name,
)
from assay.rewards.outcome.maths.compute.notations import FUNCTIONS, OPERATORS
from assay.rewards.outcome.maths.limits import WorkBudget
from assay.rewards.outcome.maths.nodes import (
    Big,
    Call,
    Constant,
    Expr,
    Node,
    Power,
    Symbol,
    children,
    walk,
)

_COARSE: Final = 40
_FINE: Final = 90
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
_NONZERO: Final = Decimal("1e-20")


def agree(left: Expr, right: Expr, budget: WorkBudget) -> bool:
    """Whether the two are equal at the sample points, and at enough of them."""
    names, integers = variables(left, right)
    imaginary = Constant("i") in walk(left, right)
    for real in (False,) if imaginary else (True, False):
        compared = _count_points(
            partial(_same, left, right, budget=budget, real=real), names, integers
        )
        if compared is None:
            return False
        if compared >= (2 if names else 1):
            return True
    return False


def proportional(left: Expr, right: Expr, budget: WorkBudget, *, positive: bool) -> bool:
    """Whether `left` is `right` times one nonzero (or positive) constant at the sample points."""
    first: list[Complex] = []

    def same_ratio(point: Point) -> bool:
        a, b = _values(left, right, point, budget, real=True)
        if modulus(b) < _NONZERO or modulus(a) < _NONZERO:
            raise NotReal
        ratio = divide(a, b)
        if positive and (ratio.re <= 0 or modulus(Complex(ratio.im, ratio.im)) > _DISTINCT):
            return False
        if not first:
            first.append(ratio)
        return modulus(subtract(ratio, first[0])) <= _DISTINCT * modulus(first[0])

    with localcontext(context(_COARSE)):
        compared = _count_points(same_ratio, *variables(left, right))
        return compared is not None and compared >= 2


def _count_points(
    holds: Callable[[Point], bool], names: frozenset[str], integers: frozenset[str]
) -> int | None:
    """At how many points the two have values and the test holds; None if it fails at one."""
    compared = 0
    for point in _points(names, integers):
        try:
            if not holds(point):
                return None
            compared += 1
        except (NotReal, DecimalException):
            continue
        if compared >= _POINTS_NEEDED:
            break
    return compared


def value_of(node: Expr, budget: WorkBudget, digits: int = _COARSE) -> Complex | None:
    """The value of a closed expression, or None if it has none."""
    names, integers = variables(node)
    if names - bound_names(node):
        return None
    point = next(_points(names, integers))
    with localcontext(context(digits)):
        try:
            return NumericEvaluator(point, budget, real=False).value(node)
        except NotReal:
            return None


def bound_names(node: Node) -> frozenset[str]:
    """The running variables of sums, products, integrals and limits."""
    return frozenset(running_name(part) for part in walk(node) if isinstance(part, Big))


def variables(*nodes: Node) -> tuple[frozenset[str], frozenset[str]]:
    """All variable names, and those of them that must stand for integers."""
    names: set[str] = set()
    integers: set[str] = set()
    rounded = False
    pending: list[tuple[Node, bool]] = [(node, False) for node in nodes]
    while pending:
        node, whole = pending.pop()
        if isinstance(node, Symbol):
            names.add(node.name)
            if whole:
                integers.add(node.name)
            continue
        inner = whole
        if isinstance(node, Call) and node.name in FUNCTIONS:
            domain = FUNCTIONS[node.name].domain
            inner = whole or domain == "integers"
            rounded = rounded or domain == "counters"
        if isinstance(node, Power) and _is_negative(node.base):
            pending.append((node.exponent, True))
        if isinstance(node, Big) and OPERATORS[node.operator].combine is not None:
            pending.extend((side, True) for side in (node.lower, node.upper) if side is not None)
        pending.extend((child, inner) for child in children(node))
    if rounded:
        integers |= names & _COUNTERS
    return frozenset(names), frozenset(integers)


_COUNTERS: Final = frozenset({"n", "m", "k", "N"})


def _is_negative(base: Expr) -> bool:
    value = rational_or_none(base, WorkBudget())
    return value is not None and value < 0


def _same(left: Expr, right: Expr, point: Point, budget: WorkBudget, *, real: bool) -> bool:
    with localcontext(context(_COARSE)):
        a, b = _values(left, right, point, budget, real=real)
        coarse = _distance(a, b)
        largest = max(_size(a), _size(b))
        if coarse > largest * _DISTINCT and largest > _NONZERO:
            return False
    with localcontext(context(_FINE)):
        a, b = _values(left, right, point, budget, real=real)
        fine = _distance(a, b)
        if fine == 0:
            return True
        is_stable = abs(coarse - fine) <= fine * _DISTINCT.sqrt()
        return not is_stable and fine <= max(coarse, largest) * Decimal("1e-36")


def _distance(a: Complex, b: Complex) -> Decimal:
    return _size(subtract(a, b))


def _size(a: Complex) -> Decimal:
    """The larger part; unlike the modulus, it cannot be beyond the range of the arithmetic."""
    return max(abs(a.re), abs(a.im))


def _values(
    left: Expr, right: Expr, point: Point, budget: WorkBudget, *, real: bool
) -> tuple[Complex, Complex]:
    return (
        NumericEvaluator(point, budget, real=real).value(left),
        NumericEvaluator(point, budget, real=real).value(right),
    )


def _points(names: frozenset[str], integers: frozenset[str]) -> Iterator[Point]:
    ordered = sorted(names)
    for index in range(len(_RANGES) if ordered else 1):
        with localcontext(context(_COARSE)):
            point = {
                name: _whole(index, rank) if name in integers else _coordinate(name, index)
                for rank, name in enumerate(ordered)
            }
        yield point


def _whole(index: int, rank: int) -> Decimal:
    """A small integer, different for every variable of one point."""
    turns, place = divmod(index + rank, len(_INTEGERS))
    return Decimal(_INTEGERS[place] + 12 * (turns - index // len(_INTEGERS)))


def _coordinate(name: str, index: int) -> Decimal:
    low, high = map(Decimal, _RANGES[index])
    share = Decimal(crc32(f"{name}/{index}".encode()) % 1_000_003) / 1_000_003
    return (low + (high - low) * share).quantize(Decimal("1e-9"))
