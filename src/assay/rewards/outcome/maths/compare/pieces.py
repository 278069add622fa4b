"""Comparison of piecewise functions, and of sets of integers between bounds.

A piecewise function equals an expression if its conditions cover the line, and each piece equals
the expression without bars, maxima and minima on its interval.
"""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR
from typing import Final

from assay.rewards.outcome.maths.compare import realsets
from assay.rewards.outcome.maths.compare.comparison import AnswerComparer
from assay.rewards.outcome.maths.compare.realsets import Interval, RealSet
from assay.rewards.outcome.maths.compute.points import variables
from assay.rewards.outcome.maths.limits import UnreadableAnswer, WorkBudget
from assay.rewards.outcome.maths.nodes import (
    Add,
    Call,
    ConditionSet,
    Expr,
    Group,
    Node,
    Number,
    Relation,
    Symbol,
    expression,
    negate,
    rebuild,
    walk,
)

_MOST_PIECES: Final = 8
_MOST_INTEGERS: Final = 200
_PIECEWISE: Final = frozenset({"abs", "max", "min"})


def same_pieces(prediction: Node, reference: Node, comparison: AnswerComparer) -> bool:
    """Whether a piecewise function equals an expression with bars, maxima or minima."""
    pieces, whole = (
        (prediction, reference) if isinstance(prediction, Group) else (reference, prediction)
    )
    if not isinstance(pieces, Group) or not isinstance(whole, Expr):
        return False
    if not any(isinstance(part, Call) and part.name in _PIECEWISE for part in walk(whole)):
        return False
    rows = [_piece(item) for item in pieces.items]
    if not 2 <= len(rows) <= _MOST_PIECES or len(variables(whole)[0]) != 1:
        return False
    covered: RealSet = []
    for row in rows:
        if row is None:
            return False
        value, condition = row
        if realsets.subjects(condition) != frozenset(map(Symbol, variables(whole)[0])):
            return False
        intervals = realsets.real_set(condition, comparison.budget)
        if not intervals or not all(
            _equals_on(whole, value, interval, comparison) for interval in intervals
        ):
            return False
        covered.extend(intervals)
    return realsets.merged(covered) == [realsets.REAL_LINE]


def _piece(item: Node) -> tuple[Expr, Relation] | None:
    match item:
        case Group("(", (Expr() as value, Relation() as condition), ")"):
            return value, condition
        case _:
            return None


def _equals_on(whole: Expr, value: Expr, interval: Interval, comparison: AnswerComparer) -> bool:
    try:
        branch = _branch(whole, interval, comparison.budget)
    except UnreadableAnswer:
        return False
    return comparison.same(branch, value)


def _branch(node: Node, interval: Interval, budget: WorkBudget) -> Expr:
    """Rewrite an expression for one interval, without bars, maxima and minima."""
    changed = expression(rebuild(node, lambda child: _branch(child, interval, budget)))
    match changed:
        case Call("abs", (inside,)):
            return inside if _is_positive(inside, interval, budget) else negate(inside)
        case Call("max" | "min" as name, (left, right)):
            difference = Add((left, negate(right)))
            return left if _is_positive(difference, interval, budget) == (name == "max") else right
        case _:
            return changed


def _is_positive(node: Expr, interval: Interval, budget: WorkBudget) -> bool:
    """Whether an expression is positive on an interval; raise UnreadableAnswer if unknown."""
    if isinstance(node, Number):
        return node.value >= 0
    above = realsets.real_set(Relation((node, Number(0)), (">=",)), budget)
    if above is None or len(above) != 1:
        raise UnreadableAnswer("the sign of an expression is not known")
    half = above[0]
    if half.low.place <= interval.low.place and interval.high.place <= half.high.place:
        return True
    if interval.high.place <= half.low.place or half.high.place <= interval.low.place:
        return False
    raise UnreadableAnswer("the sign of an expression changes inside the interval")


def listed_integers(node: Node, budget: WorkBudget) -> Node:
    """Replace a set of integers between bounds by the list of its members."""
    name, numbers, conditions = _integer_builder(node)
    if name is None:
        return node
    intervals = realsets.real_set(ConditionSet(name, conditions), budget)
    if not intervals:
        return node
    members: list[int] = []
    for interval in intervals:
        low, high = interval.low.place, interval.high.place
        if not low.is_finite() or not high.is_finite() or high - low > _MOST_INTEGERS:
            return node
        members.extend(_integers(interval))
    if len(members) > _MOST_INTEGERS or (numbers == "mathbb:N" and min(members, default=0) < 1):
        return node
    return Group("{", tuple(map(Number, members)), "}")


def _integer_builder(node: Node) -> tuple[Symbol | None, str, tuple[Node, ...]]:
    match node:
        case ConditionSet(Relation((Symbol() as name, Symbol(numbers)), ("in",)), conditions):
            pass
        case ConditionSet(
            Symbol() as name, (Relation((Symbol() as again, Symbol(numbers)), ("in",)), *rest)
        ) if name == again:
            conditions = tuple(rest)
        case _:
            return None, "", ()
    known = numbers in ("mathbb:Z", "mathbb:N") and bool(conditions)
    return (name, numbers, conditions) if known else (None, "", ())


def _integers(interval: Interval) -> range:
    low = int(interval.low.place.to_integral_value(ROUND_CEILING))
    high = int(interval.high.place.to_integral_value(ROUND_FLOOR))
    low += low == interval.low.place and not interval.low.closed
    high -= high == interval.high.place and not interval.high.closed
    return range(low, high + 1)
