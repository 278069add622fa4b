"""Sets of real numbers as unions of intervals, from any of the notations for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Final

from assay.rewards.outcome.maths.compare.comparison import AnswerComparison
from assay.rewards.outcome.maths.compare.relations import MIRRORED_ORDER, is_name
from assay.rewards.outcome.maths.compare.words import plain
from assay.rewards.outcome.maths.compute.algebra import ONE, PolynomialRing, Undefined, quotient
from assay.rewards.outcome.maths.compute.points import value_of, variables
from assay.rewards.outcome.maths.limits import TooLarge, WorkBudget
from assay.rewards.outcome.maths.nodes import (
    INFINITY,
    Add,
    Builder,
    Call,
    Expr,
    Group,
    Node,
    Number,
    Quantity,
    Relation,
    RelationOp,
    Span,
    Symbol,
    Text,
    Union,
    Without,
    as_interval,
    infinite_sign,
    negate,
)
from assay.rewards.outcome.maths.read.nouns import is_unlisted

_ALL: Final = frozenset({"mathbb:R", "R"})
_ALL_WORDS: Final = "all real numbers"


@dataclass(frozen=True, slots=True)
class IntervalEnd:
    """One end of an interval: its expression, its place on the line, and whether it belongs."""

    node: Expr
    place: Decimal
    closed: bool


@dataclass(frozen=True, slots=True)
class Interval:
    low: IntervalEnd
    high: IntervalEnd


_REAL_LINE: Final = Interval(
    IntervalEnd(negate(INFINITY), Decimal("-Infinity"), closed=False),
    IntervalEnd(INFINITY, Decimal("Infinity"), closed=False),
)
RealSet = list[Interval]
SameEnd = Callable[[Expr, Expr], bool]


def is_explicit(node: Node) -> bool:
    """Whether the node can only be meant as a set of reals, not as a pair of numbers."""
    match node:
        case Union() | Without() | Builder() | Span():
            return True
        case Symbol(name):
            return name in ("mathbb:R", "emptyset")
        case Text(words):
            return plain(words) == _ALL_WORDS
        case Relation(_, operators):
            return operators[-1] == "in" or any(o in MIRRORED_ORDER or o == "!=" for o in operators)
        case Group("", items):
            return all(isinstance(item, (Relation, Span)) and is_explicit(item) for item in items)
        case _:
            return False


def same_real_sets(prediction: Node, reference: Node, comparison: AnswerComparison) -> str | None:
    """The rule by which two sets of reals, of the same letter, are equal; "" if they differ.

    None if either is no set of known reals.
    """
    names, reference_names = subjects(prediction), subjects(reference)
    if names and reference_names and names != reference_names:
        return None
    left = real_set(prediction, comparison.budget)
    right = real_set(reference, comparison.budget)
    if left is None or right is None:
        return None
    return "interval" if same_set(left, right, comparison.same) else ""


def same_spans(prediction: Node, reference: Node, comparison: AnswerComparison) -> str | None:
    """The rule by which two intervals with letters in their ends are equal, or None."""
    if isinstance(prediction, Relation) and isinstance(reference, Relation):
        return None
    left, right = _span(prediction), _span(reference)
    if not isinstance(left, Span) or not isinstance(right, Span):
        return None
    same = (left.opening, left.closing) == (right.opening, right.closing)
    same = same and comparison.same(left.low, right.low) and comparison.same(left.high, right.high)
    return "interval" if same else None


def _span(node: Node) -> Node:
    """An inequality between a name and two ends, or one, as the interval; other nodes as is."""
    match node:
        case Relation((_, interval), ("in",)):
            return as_interval(interval)
        case Relation((low, name, high), ("<" | "<=" as first, "<" | "<=" as last)) if is_name(
            name
        ):
            return Span("[" if first == "<=" else "(", low, high, "]" if last == "<=" else ")")
        case Relation((name, end), (">" | ">=" as sign,)) if is_name(name):
            return Span("[" if sign == ">=" else "(", end, INFINITY, ")")
        case Relation((name, end), ("<" | "<=" as sign,)) if is_name(name):
            return Span("(", negate(INFINITY), end, "]" if sign == "<=" else ")")
        case _:
            return as_interval(node)


def subjects(node: Node) -> frozenset[Node]:
    """The names whose values a relation restricts; an interval or a set builder has none."""
    match node:
        case Relation((name, _), ("in",)):
            return frozenset({name})
        case Relation(sides):
            named = frozenset(_inside_bars(side) for side in sides if is_name(side))
            unknowns = variables(node)[0]
            return named or frozenset(map(Symbol, unknowns if len(unknowns) == 1 else ()))
        case Group("", items):
            return frozenset(name for item in items for name in subjects(item))
        case _:
            return frozenset()


def _inside_bars(node: Node) -> Node:
    return node.arguments[0] if isinstance(node, Call) and node.name == "abs" else node


def real_set(node: Node, budget: WorkBudget) -> RealSet | None:
    """The sorted, merged intervals of the set, or None if it is not a set of known reals."""
    intervals = _convert(node, budget)
    return None if intervals is None else _merge(intervals)


def is_line(intervals: RealSet) -> bool:
    """Whether the intervals together are the whole line."""
    return _merge(intervals) == [_REAL_LINE]


def same_set(left: RealSet, right: RealSet, same: SameEnd) -> bool:
    return len(left) == len(right) and all(
        a.low.closed == b.low.closed
        and a.high.closed == b.high.closed
        and same(a.low.node, b.low.node)
        and same(a.high.node, b.high.node)
        for a, b in zip(left, right, strict=True)
    )


def _convert(node: Node, budget: WorkBudget) -> RealSet | None:
    match node:
        case Symbol() | Text():
            return _from_name(node)
        case Union(parts):
            return _union([_convert(part, budget) for part in parts])
        case Without(whole, removed):
            return _without(_convert(whole, budget), _convert(removed, budget))
        case Relation():
            return _from_relation(node, budget)
        case Builder(member, conditions):
            return _from_builder(member, conditions, budget)
        case Span(opening, low, high, closing):
            left = _end(low, budget, closed=opening == "[")
            right = _end(high, budget, closed=closing == "]")
            return None if left is None or right is None else _interval(left, right)
        case Group():
            return _from_group(node, budget)
        case Quantity(value, unit) if not is_unlisted(unit):
            return _convert(value, budget)
        case _:
            return None


def _from_name(node: Symbol | Text) -> RealSet | None:
    if isinstance(node, Text):
        return [_REAL_LINE] if plain(node.words) == _ALL_WORDS else None
    if node.name in _ALL:
        return [_REAL_LINE]
    return [] if node == Symbol("emptyset") else None


def _from_group(node: Group, budget: WorkBudget) -> RealSet | None:
    if node.opening == "{":
        return _single_points(node.items, budget, closed=True)
    if node.opening:
        interval = as_interval(node)
        return _convert(interval, budget) if isinstance(interval, Span) else None
    if len(subjects(node)) > 1:
        return None
    if all(isinstance(item, (Relation, Group, Span)) for item in node.items):
        if node.joint == "or":
            return _union([_convert(item, budget) for item in node.items])
        return _from_conditions(node.items, budget, all_hold=_joins_conditions(node))
    return None


def _from_builder(member: Node, conditions: tuple[Node, ...], budget: WorkBudget) -> RealSet | None:
    """The set, if its conditions restrict nothing but its members."""
    restricted = frozenset(name for item in conditions for name in subjects(item))
    if isinstance(member, Relation):
        conditions = (member, *conditions)
    if not restricted <= (subjects(member) or frozenset({member})):
        return None
    return _from_conditions(conditions, budget, all_hold=False)


def _joins_conditions(node: Group) -> bool:
    """Whether `and` stands between inequalities; between intervals it adds one to the other."""
    return node.joint == "and" and any(
        isinstance(item, Relation) and "in" not in item.operators for item in node.items
    )


def _from_conditions(
    conditions: tuple[Node, ...], budget: WorkBudget, *, all_hold: bool
) -> RealSet | None:
    """What all conditions leave; with commas, those that exclude each other are alternatives."""
    maybe_sets = [_convert(condition, budget) for condition in conditions]
    sets = [intervals for intervals in maybe_sets if intervals is not None]
    if not sets or len(sets) != len(maybe_sets):
        return None
    result = sets[0]
    for other in sets[1:]:
        result = _intersection(result, other)
    if result or all_hold:
        return result
    return [interval for intervals in sets for interval in intervals]


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
    if not is_name(left):
        if is_name(right) or _is_between_bars(right):
            return _half_line(right, MIRRORED_ORDER[operator], left, budget)
        if isinstance(left, Call) and _is_between_bars(left):
            return _absolute_of(left.arguments[0], operator, right, budget)
        solved = _solve_linear(left, operator, right, budget)
        if solved is None:
            return None
        operator, right = solved
    if isinstance(left, Call) and left.name == "abs":
        return _absolute(operator, right, budget)
    end = _end(right, budget, closed=operator in ("<=", ">="))
    if end is None:
        return None
    if operator in ("<", "<="):
        return _interval(_REAL_LINE.low, end)
    return _interval(end, _REAL_LINE.high)


def _is_between_bars(node: Node) -> bool:
    return isinstance(node, Call) and node.name == "abs"


def _absolute_of(
    inside: Expr, operator: RelationOp, right: Node, budget: WorkBudget
) -> RealSet | None:
    """`|2x - 1| < a` and its kin, for a positive bound."""
    end = _end(right, budget, closed=False)
    if end is None or not 0 < end.place < Decimal("Infinity"):
        return None
    near = operator in ("<", "<=")
    one = _half_line(inside, operator, end.node, budget)
    other = _half_line(inside, MIRRORED_ORDER[operator], negate(end.node), budget)
    if one is None or other is None:
        return None
    return _intersection(one, other) if near else [*one, *other]


def _absolute(operator: RelationOp, right: Node, budget: WorkBudget) -> RealSet | None:
    """`|x| < a` and its kin, for a name between the bars and a positive bound."""
    end = _end(right, budget, closed=operator in ("<=", ">="))
    if end is None or end.place <= 0:
        return None
    mirror = IntervalEnd(negate(end.node), end.place.copy_negate(), end.closed)
    if operator in ("<", "<="):
        return _interval(mirror, end)
    return [Interval(_REAL_LINE.low, mirror), Interval(end, _REAL_LINE.high)]


def _solve_linear(
    left: Node, operator: RelationOp, right: Node, budget: WorkBudget
) -> tuple[RelationOp, Expr] | None:
    """`x op value` from a linear inequality in one variable with rational coefficients."""
    if not isinstance(left, Expr) or not isinstance(right, Expr):
        return None
    if len(variables(left, right)[0]) != 1:
        return None
    ring = PolynomialRing(budget)
    try:
        parts = quotient(Add((left, negate(right))), ring)
    except (TooLarge, Undefined):
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
    return _without([_REAL_LINE], holes) if is_name(name) else None


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
        return _REAL_LINE.high if sign > 0 else _REAL_LINE.low
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


def _union(sets: list[RealSet | None]) -> RealSet | None:
    result: RealSet = []
    for intervals in sets:
        if intervals is None:
            return None
        result.extend(intervals)
    return result


def _intersection(left: RealSet, right: RealSet) -> RealSet:
    result: RealSet = []
    for a in left:
        for b in right:
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
        beside = [Interval(_REAL_LINE.low, low), Interval(high, _REAL_LINE.high)]
        whole = _intersection(whole, beside)
    return whole


def _merge(intervals: RealSet) -> RealSet:
    ordered = sorted(intervals, key=lambda i: (i.low.place, not i.low.closed))
    result: RealSet = []
    for interval in ordered:
        if result and _overlap(result[-1].high, interval.low):
            last = result[-1]
            high = max((last.high, interval.high), key=lambda end: (end.place, end.closed))
            result[-1] = Interval(last.low, high)
        else:
            result.append(interval)
    return result


def _overlap(high: IntervalEnd, low: IntervalEnd) -> bool:
    return low.place < high.place or (low.place == high.place and (low.closed or high.closed))
