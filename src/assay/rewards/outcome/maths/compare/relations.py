"""Comparison of equations and inequalities, and of the values that they name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Final, TypeGuard

from assay.lazy import package_table
from assay.rewards.outcome.maths.compare.comparison import AnswerComparer
from assay.rewards.outcome.maths.compute.algebra import (
    PolynomialRing,
    Quotient,
    ZeroDenominator,
    quotient,
)
from assay.rewards.outcome.maths.compute.notations import FUNCTIONS
from assay.rewards.outcome.maths.compute.points import proportional, value_of, variables
from assay.rewards.outcome.maths.limits import TooLarge, WorkBudget
from assay.rewards.outcome.maths.nodes import (
    Add,
    BigOperator,
    Call,
    Div,
    Expr,
    Group,
    Matrix,
    Mul,
    Node,
    Quantity,
    Ratio,
    Relation,
    RelationOp,
    Symbol,
    Text,
    children,
    is_label,
    negate,
    walk,
)
from assay.rewards.outcome.maths.read.lexicon import FIGURES, GREEK

MIRRORED_ORDER: Final[dict[RelationOp, RelationOp]] = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
_SYMMETRIC: Final[tuple[RelationOp, ...]] = ("=", "!=", "~", "sim", "cong", "parallel", "perp")
_MIRROR: Final[dict[RelationOp, RelationOp]] = {
    **{sign: sign for sign in _SYMMETRIC},
    **MIRRORED_ORDER,
    "subset": "superset",
    "superset": "subset",
}
Same = Callable[[Node, Node], bool]


@dataclass(frozen=True, slots=True)
class NamedValue:
    """A value and its name, as in `x = 5` or `angle APC = 74`."""

    label: Node | None
    value: Node


def same_relations(prediction: Node, reference: Node, comparison: AnswerComparer) -> str | None:
    """Return the rule by which a relation equals the other answer, or None."""
    if isinstance(prediction, Relation) and isinstance(reference, Relation):
        return _same_two_relations(prediction, reference, comparison)
    if isinstance(prediction, Relation):
        named = statement(prediction, comparison.same)
        return None if named is None else comparison.rule(named.value, reference)
    if not isinstance(reference, Relation):
        return None
    expected = statement(reference, None)
    if expected is None:
        return None
    if isinstance(expected.label, Group) and not isinstance(prediction, (Group, Matrix, Expr)):
        return None
    equations = _spread(expected)
    if equations is not None and isinstance(prediction, Group):
        return comparison.rule(prediction, equations)
    return comparison.rule(prediction, expected.value)


def _same_two_relations(
    prediction: Relation, reference: Relation, comparison: AnswerComparer
) -> str | None:
    if _is_closed(prediction) and _is_closed(reference):
        if _canonical(prediction) != _canonical(reference):
            return None
        # Equal sides must be equal; other signs between numbers are taken as they stand.
        pairs = zip(prediction.operators, pairwise(prediction.sides), strict=True)
        holds = all(sign != "=" or comparison.same(*sides) for sign, sides in pairs)
        return "relation" if holds else None
    if _is_closed(reference):
        return None
    left = statement(prediction, comparison.same)
    right = statement(reference, None)
    if left is not None and right is not None and same_label(left, right, comparison):
        rule = comparison.rule(left.value, right.value)
        if rule is not None:
            return rule
    if same_equation(prediction, reference, comparison.budget):
        return "relation"
    return "relation" if same_chain(prediction, reference, comparison.same) else None


def _is_closed(relation: Relation) -> bool:
    """Whether the relation has no variables, so that it is true or false."""
    names = (Symbol, Text, BigOperator)
    return not any(
        isinstance(part, names) or (isinstance(part, Call) and part.opaque)
        for part in walk(relation)
    )


def _canonical(node: Node) -> object:
    """The node as nested tuples, with sorted terms, factors and sides of equations."""
    parts = [_canonical(child) for child in children(node)]
    if isinstance(node, (Add, Mul)) or (
        isinstance(node, Relation) and set(node.operators) == {"="}
    ):
        return type(node).__name__, tuple(sorted(parts, key=repr))
    if isinstance(node, Relation):
        return node.operators, tuple(parts)
    return (type(node).__name__, tuple(parts)) if parts else repr(node)


def same_label(one: NamedValue, other: NamedValue, comparison: AnswerComparer) -> bool:
    """Whether the names of two values agree, or one value has no name."""
    left, right = one.label, other.label
    if left is None or right is None:
        return True
    if isinstance(left, Call) and isinstance(right, Call) and left.opaque and right.opaque:
        free = has_variables(one.value) or has_variables(other.value)
        if not free and left.name == right.name and _are_letters(left) and _are_letters(right):
            return len(left.arguments) == len(right.arguments)
    if _is_constant_function(left, one.value, right) or _is_constant_function(
        right, other.value, left
    ):
        return True
    if is_segment(left) and is_segment(right):
        return left == right or set(left.name) == set(right.name)
    calls = [side for side in (left, right) if isinstance(side, Call)]
    # `y` and `f(x)` name the same thing.
    if Symbol("y") in (left, right) and any(c.opaque and len(c.arguments) == 1 for c in calls):
        return True
    return comparison.same(left, right)


def _are_letters(call: Call) -> bool:
    """Whether all arguments of a function are lower-case letters."""
    return all(isinstance(part, Symbol) and part.name.islower() for part in call.arguments)


def _is_constant_function(name: Node, value: Node, other: Node) -> bool:
    """Whether one answer is a constant function such as `f = 0`, and the other names `f(x)`."""
    match name, other:
        case Symbol(letter), Call(called, _, True):
            return letter == called and not has_variables(value)
        case _:
            return False


def is_segment(node: Node) -> TypeGuard[Symbol]:
    """Whether the node is two capital letters, such as the segment AB."""
    return isinstance(node, Symbol) and len(node.name) == 2 and is_label(node.name)


def statement(relation: Relation, same: Same | None) -> NamedValue | None:
    """The value that the relation assigns to a name, or None if it assigns none.

    A chain `x = a = b` must hold if `same` is given; otherwise its last exact side counts.
    """
    operators = relation.operators
    if operators == ("in",):
        return NamedValue(relation.sides[0], relation.sides[1])
    if any(operator not in ("=", "~") for operator in operators):
        return None
    sides = list(relation.sides)
    if len(sides) == 2 and not is_name(sides[0]) and is_name(sides[1]) and operators == ("=",):
        sides.reverse()
    label = sides[0] if is_name(sides[0]) else None
    if label is None and (has_variables(relation) or sides[0] == sides[1]):
        return None
    if isinstance(label, Group) and len(sides) == 2:
        return _by_name(label, sides[1])
    values = sides[1:] if label is not None else sides
    if len(values) == 1 and isinstance(values[0], Symbol) and isinstance(label, Symbol):
        return None
    joints = operators[1:] if label is not None else operators
    last = joints.index("~") if "~" in joints else len(joints)
    exact, rounded = values[: last + 1], values[last + 1 :]
    if same is not None and not all(same(after, before) for before, after in pairwise(exact)):
        return None
    if same is not None and not _approximates(rounded, exact[-1], same):
        return None
    return NamedValue(label, exact[-1])


def _by_name(label: Group, value: Node) -> NamedValue:
    """Sort the names and values of `(y, x) = (1, 2)` into `(x, y) = (2, 1)`."""
    if not isinstance(value, Group) or len(value.items) != len(label.items):
        return NamedValue(label, value)
    order = order_of_names(list(label.items)) or range(len(label.items))
    names, values = (tuple(node.items[k] for k in order) for node in (label, value))
    return NamedValue(replace(label, items=names), replace(value, items=values))


def order_of_names(labels: Sequence[Node | None]) -> list[int] | None:
    """The positions of names in their usual order, such as x, y, z; None if they have none."""
    names = [label.name for label in labels if isinstance(label, Symbol)]
    if len(names) != len(labels) or len(set(names)) != len(names) or len(names) < 2:
        return None
    for row in _NAME_ORDERS:
        if all(name in row for name in names):
            return sorted(range(len(names)), key=lambda k: row.index(names[k]))
    stems = {name.rpartition("_")[0] for name in names}
    indices = [name.rpartition("_")[2] for name in names]
    if len(stems) != 1 or "" in stems or not all(map(str.isdigit, indices)):
        return None
    return sorted(range(len(names)), key=lambda k: int(indices[k]))


_NAME_ORDERS: Final = [row.split() for row in package_table(__package__, "words")["name_orders"]]


def _approximates(rounded: list[Node], exact: Node, same: Same) -> bool:
    """Whether each rounded value is within one per cent of the exact value."""
    target = exact.value if isinstance(exact, Quantity) else exact
    for node in rounded:
        bare = node.value if isinstance(node, Quantity) else node
        if same(bare, target):
            continue
        if not isinstance(bare, Expr) or not isinstance(target, Expr):
            return False
        value, near = value_of(target, WorkBudget()), value_of(bare, WorkBudget())
        if value is None or near is None or value.im or near.im:
            return False
        if abs(Fraction(value.re) - Fraction(near.re)) > abs(Fraction(value.re)) / 100:
            return False
    return True


def is_name(node: Node) -> bool:
    """Whether the node is the name of a quantity, such as `x` or `f(x)`."""
    match node:
        case Symbol() | Text() | BigOperator() | Call(_, _, True):
            return True
        case Call("abs", (inner,)):
            return is_name(inner)
        case Call(name, (angle,)) if FUNCTIONS[name].domain == "angles":
            return _is_angle(angle)
        case Call("det" | "arg" | "deg" | "gcd" | "lcm", _) | Call("max" | "min", (_,)):
            return has_variables(node)
        case Mul((Symbol("d" | "Delta" | "partial" | "nabla"), Symbol())):
            return True
        case Mul(factors):
            return all(isinstance(f, Symbol) and _is_figure_letter(f.name) for f in factors)
        case Div(top, bottom):
            return is_name(top) and is_name(bottom)
        case Ratio(terms):
            return all(map(is_name, terms))
        case Group("(" | "[" | "", items):
            names = [item for item in items if isinstance(item, (Symbol, Call)) and is_name(item)]
            return bool(items) and len(names) == len(items)
        case _:
            return False


def _is_angle(node: Node) -> bool:
    """Whether the node is a Greek letter or the name of a figure."""
    match node:
        case Symbol(name):
            return name in GREEK or _is_figure_letter(name)
        case Mul():
            return is_name(node)
        case _:
            return False


def _is_figure_letter(name: str) -> bool:
    """Whether the name denotes a point, a segment, an angle or a figure."""
    return name[0].isupper() or name.partition(" ")[0] in FIGURES.values()


def has_variables(node: Node) -> bool:
    return bool(variables(node)[0])


def same_equation(left: Relation, right: Relation, budget: WorkBudget) -> bool:
    """Whether two equations or inequalities are the same up to a constant factor."""
    a, b = _difference(left), _difference(right)
    if a is None or b is None or a[1] != b[1]:
        return False
    return _proportional(a[0], b[0], budget, positive=a[1] in ("<", "<="))


def _difference(relation: Relation) -> tuple[Expr, RelationOp] | None:
    """Write the relation as an expression compared with 0."""
    if len(relation.sides) != 2:
        return None
    left, right = relation.sides
    operator = relation.operators[0]
    if not isinstance(left, Expr) or not isinstance(right, Expr):
        return None
    if operator in (">", ">="):
        left, right, operator = right, left, _MIRROR[operator]
    if operator not in ("=", "!=", "<", "<="):
        return None
    return Add((left, negate(right))), operator


def _proportional(left: Expr, right: Expr, budget: WorkBudget, *, positive: bool) -> bool:
    """Whether one expression is a constant times the other."""
    ring = PolynomialRing(WorkBudget(budget.remaining // 2))
    try:
        a, b = quotient(left, ring), quotient(right, ring)
        if not a.top or not b.top:
            return False
        ratio = ring.proportion(a.top, b.top)
        if ratio is not None and (not positive or a.bottom == b.bottom):
            return not positive or ratio > 0
        same = _same_zeros(a, b, ring)
        if (same and not positive) or (not same and ring.is_certain()):
            return same
    except (TooLarge, ZeroDenominator):
        pass
    return proportional(left, right, budget, positive=positive)


def _same_zeros(left: Quotient, right: Quotient, ring: PolynomialRing) -> bool:
    """Whether two quotients, or their numerators, differ by a constant factor."""
    if ring.same_up_to_constant(left.top, right.top):
        return True
    if left.bottom == right.bottom:
        return False
    return ring.same_up_to_constant(
        ring.multiply(left.top, right.bottom), ring.multiply(right.top, left.bottom)
    )


def same_chain(left: Relation, right: Relation, same: Same) -> bool:
    """Whether two chains of relations are equal, read from either end."""
    sides, signs = right.sides, right.operators
    if len(left.sides) != len(sides):
        return False
    if left.operators == signs and all(map(same, left.sides, sides)):
        return True
    if "in" in signs or left.operators != tuple(_MIRROR[sign] for sign in reversed(signs)):
        return False
    return all(map(same, left.sides, reversed(sides)))


def _spread(named: NamedValue) -> Group | None:
    """Turn `(x, y) = (1, 2)` into the list `x = 1, y = 2`."""
    label, value = named.label, named.value
    if not isinstance(label, Group) or not isinstance(value, Group):
        return None
    if len(label.items) != len(value.items):
        return None
    pairs = zip(label.items, value.items, strict=True)
    return Group("", tuple(Relation((name, part), ("=",)) for name, part in pairs), "")
