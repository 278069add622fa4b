"""Comparison of sets of real numbers, in any notation, as unions of intervals."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import reduce
from itertools import chain, product
from typing import Final, TypeGuard

from assay.rewards.outcome.maths.compare.comparison import AnswerComparer
from assay.rewards.outcome.maths.compare.relations import MIRRORED_ORDER, is_name
from assay.rewards.outcome.maths.compare.words import plain
from assay.rewards.outcome.maths.compute.algebra import (
    ONE,
    PolynomialRing,
    ZeroDenominator,
    quotient,
)
from assay.rewards.outcome.maths.compute.points import value_of, variables
from assay.rewards.outcome.maths.limits import TooLarge, WorkBudget
from assay.rewards.outcome.maths.nodes import (
    INFINITY,
    Add,
    Call,
    ConditionSet,
    Expr,
    Group,
    IntervalNode,
    Node,
    Number,
    Quantity,
    Relation,
    RelationOp,
    SetDifference,
    Symbol,
    Text,
    Union,
    as_interval,
    infinite_sign,
    negate,
)
from assay.rewards.outcome.maths.read.nouns import is_unlisted


@dataclass(frozen=True, slots=True)
class IntervalEnd:
    """One end of an interval, open or closed."""

    node: Expr
    place: Decimal
    closed: bool


@dataclass(frozen=True, slots=True)
class Interval:
    """An interval of the real line."""

    low: IntervalEnd
    high: IntervalEnd


REAL_LINE: Final = Interval(
    IntervalEnd(negate(INFINITY), Decimal("-Infinity"), closed=False),
    IntervalEnd(INFINITY, Decimal("Infinity"), closed=False),
)
RealSet = list[Interval]


def is_explicit(node: Node) -> bool:
    """Whether the node denotes a set of real numbers and cannot be a pair."""
    match node:
        case Union() | SetDifference() | ConditionSet() | IntervalNode():
            return True
        case Symbol(name):
            return name in ("mathbb:R", "emptyset")
        case Text():
            return _is_line(node)
        case Relation(_, operators):
            return operators[-1] == "in" or any(o in MIRRORED_ORDER or o == "!=" for o in operators)
        case Group("", items):
            return all(
                isinstance(item, (Relation, IntervalNode)) and is_explicit(item) for item in items
            )
        case _:
            return False


def _is_line(node: Node) -> bool:
    """Whether the node names all real numbers."""
    if isinstance(node, Text):
        return plain(node.words) == "all real numbers"
    return isinstance(node, Symbol) and node.name in ("mathbb:R", "R")


def same_real_sets(prediction: Node, reference: Node, comparison: AnswerComparer) -> str | None:
    """Return the rule by which two sets of reals are equal, "" if not, None for other nodes."""
    names, reference_names = subjects(prediction), subjects(reference)
    if names and reference_names and names != reference_names:
        return None
    left = real_set(prediction, comparison.budget)
    right = real_set(reference, comparison.budget)
    if left is None or right is None:
        return None
    same = len(left) == len(right) and all(
        (a.low.closed, a.high.closed) == (b.low.closed, b.high.closed)
        and comparison.same(a.low.node, b.low.node)
        and comparison.same(a.high.node, b.high.node)
        for a, b in zip(left, right, strict=True)
    )
    return "interval" if same else ""


def same_spans(prediction: Node, reference: Node, comparison: AnswerComparer) -> str | None:
    """Return the rule by which two intervals with letters as ends are equal, or None."""
    if isinstance(prediction, Relation) and isinstance(reference, Relation):
        return None
    left, right = _span(prediction), _span(reference)
    if not isinstance(left, IntervalNode) or not isinstance(right, IntervalNode):
        return None
    same = (left.opening, left.closing) == (right.opening, right.closing)
    same = same and comparison.same(left.low, right.low) and comparison.same(left.high, right.high)
    return "interval" if same else None


def _span(node: Node) -> Node:
    """Turn an inequality for one name into an interval; return other nodes unchanged."""
    match node:
        case Relation((_, interval), ("in",)):
            return as_interval(interval)
        case Relation((low, name, high), ("<" | "<=" as first, "<" | "<=" as last)) if is_name(
            name
        ):
            return IntervalNode(
                "[" if first == "<=" else "(", low, high, "]" if last == "<=" else ")"
            )
        case Relation((name, end), (">" | ">=" as sign,)) if is_name(name):
            return IntervalNode("[" if sign == ">=" else "(", end, INFINITY, ")")
        case Relation((name, end), ("<" | "<=" as sign,)) if is_name(name):
            return IntervalNode("(", negate(INFINITY), end, "]" if sign == "<=" else ")")
        case _:
            return as_interval(node)


def subjects(node: Node) -> frozenset[Node]:
    """The variables that an equation or inequality restricts."""
    match node:
        case Relation((name, _), ("in",)):
            return frozenset({name})
        case Relation(sides):
            named = frozenset(
                side.arguments[0] if _is_between_bars(side) else side
                for side in sides
                if is_name(side)
            )
            unknowns = variables(node)[0]
            return named or frozenset(map(Symbol, unknowns if len(unknowns) == 1 else ()))
        case Group("", items):
            return frozenset(name for item in items for name in subjects(item))
        case _:
            return frozenset()


def real_set(node: Node, budget: WorkBudget) -> RealSet | None:
    """The sorted, disjoint intervals of a set of reals, or None for other nodes."""
    intervals = _convert(node, budget)
    return None if intervals is None else merged(intervals)


def _convert(node: Node, budget: WorkBudget) -> RealSet | None:
    match node:
        case Symbol() | Text():
            return [REAL_LINE] if _is_line(node) else [] if node == Symbol("emptyset") else None
        case Union(parts):
            return _union(parts, budget)
        case SetDifference(whole, removed):
            return _without(_convert(whole, budget), _convert(removed, budget))
        case Relation():
            return _from_relation(node, budget)
        case ConditionSet(member, conditions):
            return _from_builder(member, conditions, budget)
        case IntervalNode(opening, low, high, closing):
            left = _end(low, budget, closed=opening == "[")
            right = _end(high, budget, closed=closing == "]")
            return None if left is None or right is None else _interval(left, right)
        case Group():
            return _from_group(node, budget)
        case Quantity(value, unit) if not is_unlisted(unit):
            return _convert(value, budget)
        case _:
            return None


def _from_group(node: Group, budget: WorkBudget) -> RealSet | None:
    if node.opening == "{":
        return _single_points(node.items, budget, closed=True)
    if node.opening:
        interval = as_interval(node)
        return _convert(interval, budget) if isinstance(interval, IntervalNode) else None
    if len(subjects(node)) > 1:
        return None
    if all(isinstance(item, (Relation, Group, IntervalNode)) for item in node.items):
        if node.joint == "or":
            return _union(node.items, budget)
        # `and` between inequalities joins conditions; between intervals it adds one to the other.
        conditions = any(isinstance(i, Relation) and "in" not in i.operators for i in node.items)
        return _from_conditions(node.items, budget, all_hold=node.joint == "and" and conditions)
    return None


def _from_builder(member: Node, conditions: tuple[Node, ...], budget: WorkBudget) -> RealSet | None:
    """The real set of a set builder, if its conditions restrict only its members."""
    restricted = frozenset(name for item in conditions for name in subjects(item))
    if isinstance(member, Relation):
        conditions = (member, *conditions)
    if not restricted <= (subjects(member) or frozenset({member})):
        return None
    return _from_conditions(conditions, budget, all_hold=False)


def _from_conditions(
    conditions: tuple[Node, ...], budget: WorkBudget, *, all_hold: bool
) -> RealSet | None:
    """The intersection of the conditions, or their union if they exclude each other."""
    sets = _all_converted(conditions, budget)
    if not sets:
        return None
    result = reduce(_intersection, sets)
    return result if result or all_hold else [*chain.from_iterable(sets)]


def _all_converted(nodes: tuple[Node, ...], budget: WorkBudget) -> list[RealSet] | None:
    """The real set of each node, or None if a node has none."""
    sets = [_convert(node, budget) for node in nodes]
    known = [intervals for intervals in sets if intervals is not None]
    return known if len(known) == len(sets) else None


def _from_relation(relation: Relation, budget: WorkBudget) -> RealSet | None:
    sides, operators = relation.sides, relation.operators
    if operators[-1] == "in":
        return _convert(sides[-1], budget) if len(sides) == 2 else None
    if operators == ("!=",):
        return _not_equal(sides[0], sides[1], budget)
    if len(sides) == 3 and operators[0] in MIRRORED_ORDER and operators[1] in MIRRORED_ORDER:
        first = _half_line(sides[1], MIRRORED_ORDER[operators[0]], sides[0], budget)
        second = _half_line(sides[1], operators[1], sides[2], budget)
        return None if first is None or second is None else _intersection(first, second)
    if len(sides) != 2 or operators[0] not in MIRRORED_ORDER:
        return None
    return _half_line(sides[0], operators[0], sides[1], budget)


def _half_line(left: Node, operator: RelationOp, right: Node, budget: WorkBudget) -> RealSet | None:
    if not is_name(left) and (is_name(right) or _is_between_bars(right)):
        return _half_line(right, MIRRORED_ORDER[operator], left, budget)
    if _is_between_bars(left):
        return _absolute(left.arguments[0], operator, right, budget)
    if not is_name(left):
        solved = _solve_linear(left, operator, right, budget)
        if solved is None:
            return None
        operator, right = solved
    end = _end(right, budget, closed=operator in ("<=", ">="))
    if end is None:
        return None
    if operator in ("<", "<="):
        return _interval(REAL_LINE.low, end)
    return _interval(end, REAL_LINE.high)


def _is_between_bars(node: Node) -> TypeGuard[Call]:
    return isinstance(node, Call) and node.name == "abs"


def _absolute(
    inside: Expr, operator: RelationOp, right: Node, budget: WorkBudget
) -> RealSet | None:
    """The real set of an inequality such as `|2x - 1| < a` with a positive bound."""
    end = _end(right, budget, closed=False)
    if end is None or end.place <= 0:
        return None
    near = operator in ("<", "<=")
    one = _half_line(inside, operator, end.node, budget)
    other = _half_line(inside, MIRRORED_ORDER[operator], negate(end.node), budget)
    if one is None or other is None:
        return None
    return _intersection(one, other) if near else [*one, *other]


def _solve_linear(
    left: Node, operator: RelationOp, right: Node, budget: WorkBudget
) -> tuple[RelationOp, Expr] | None:
    """Solve a linear inequality in one variable with rational coefficients."""
    if not isinstance(left, Expr) or not isinstance(right, Expr):
        return None
    if len(variables(left, right)[0]) != 1:
        return None
    ring = PolynomialRing(budget)
    try:
        parts = quotient(Add((left, negate(right))), ring)
    except (TooLarge, ZeroDenominator):
        return None
    degrees = dict(parts.top)
    slope = degrees.pop(((0, 1),), None)
    constant = degrees.pop((), 0)
    if parts.bottom != ONE or slope is None or degrees or ring.atoms[0][0] != "symbol":
        return None
    value = Number(-Fraction(constant) / slope)
    return (operator if slope > 0 else MIRRORED_ORDER[operator]), value


def _not_equal(left: Node, right: Node, budget: WorkBudget) -> RealSet | None:
    name, value = (left, right) if is_name(left) else (right, left)
    values = value.items if isinstance(value, Group) and not value.opening else (value,)
    holes = _single_points(values, budget, closed=False)
    return _without([REAL_LINE], holes) if is_name(name) else None


def _single_points(nodes: tuple[Node, ...], budget: WorkBudget, *, closed: bool) -> RealSet | None:
    ends = [_end(node, budget, closed=closed) for node in nodes]
    places = [end for end in ends if end is not None]
    return [Interval(end, end) for end in places] if len(places) == len(ends) else None


def _end(node: Node, budget: WorkBudget, *, closed: bool) -> IntervalEnd | None:
    if isinstance(node, Quantity) and not is_unlisted(node.unit):
        node = node.value
    if not isinstance(node, Expr):
        return None
    sign = infinite_sign(node)
    if sign:
        return REAL_LINE.high if sign > 0 else REAL_LINE.low
    value = value_of(node, budget)
    if value is None or abs(value.im) > Decimal("1e-30"):
        return None
    return IntervalEnd(node, value.re, closed)


def _interval(low: IntervalEnd, high: IntervalEnd) -> RealSet | None:
    if low.place > high.place:
        return None
    if low.place == high.place and not (low.closed and high.closed):
        return []
    return [Interval(low, high)]


def _union(nodes: tuple[Node, ...], budget: WorkBudget) -> RealSet | None:
    sets = _all_converted(nodes, budget)
    return None if sets is None else [*chain.from_iterable(sets)]


def _intersection(left: RealSet, right: RealSet) -> RealSet:
    result: RealSet = []
    for a, b in product(left, right):
        low = max((a.low, b.low), key=lambda end: (end.place, not end.closed))
        high = min((a.high, b.high), key=lambda end: (end.place, end.closed))
        result.extend(_interval(low, high) or [])
    return result


def _without(whole: RealSet | None, removed: RealSet | None) -> RealSet | None:
    if whole is None or removed is None:
        return None
    for hole in removed:
        is_point = hole.low.place == hole.high.place
        low, high = (
            replace(end, closed=not (end.closed or is_point)) for end in (hole.low, hole.high)
        )
        whole = _intersection(whole, [Interval(REAL_LINE.low, low), Interval(high, REAL_LINE.high)])
    return whole


def merged(intervals: RealSet) -> RealSet:
    """Sort the intervals, and join intervals that overlap or touch."""
    ordered = sorted(intervals, key=lambda i: (i.low.place, not i.low.closed))
    result: RealSet = []
    for interval in ordered:
        last, low = result[-1] if result else REAL_LINE, interval.low
        touches = last.high.place == low.place and (last.high.closed or low.closed)
        if result and (low.place < last.high.place or touches):
            high = max((last.high, interval.high), key=lambda end: (end.place, end.closed))
            result[-1] = Interval(last.low, high)
        else:
            result.append(interval)
    return result
