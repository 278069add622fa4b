"""Sums of unit vectors such as `3i + 4j`, as the tuple of their components."""

from __future__ import annotations

from typing import Final

from assay.rewards.outcome.maths.cursor import product, total
from assay.rewards.outcome.maths.nodes import (
    Add,
    Call,
    Constant,
    Div,
    Expr,
    Group,
    Matrix,
    Mul,
    Node,
    Number,
    Symbol,
    walk,
)
from assay.rewards.outcome.maths.resolve import rebuild

_NAMES: Final = ("hat:i", "hat:j", "hat:k")
_PLAIN: Final[dict[Node, Symbol]] = {
    Constant("i"): Symbol("hat:i"),
    Symbol("j"): Symbol("hat:j"),
    Symbol("k"): Symbol("hat:k"),
}


def reconcile(left: Node, right: Node) -> tuple[Node, Node]:
    """Both nodes in one notation, where either is a sum of unit vectors.

    Plain letters are unit vectors beside a side that marks them as such, or, if both i and j
    occur, beside a tuple.
    """
    if isinstance(left, Group) != isinstance(right, Group):
        left, right = point(left), point(right)
    marked = _is_marked(left), _is_marked(right)
    plain_sum = _is_plain_sum(left, right) or _is_plain_sum(right, left)
    if not any(marked) and not plain_sum:
        return left, right
    left = left if marked[0] else _with_marks(left)
    right = right if marked[1] else _with_marks(right)
    lengths = [size for size in (_length(left), _length(right)) if size]
    if not lengths:
        return left, right
    return _tuple(left, lengths[0]), _tuple(right, lengths[0])


def _is_marked(node: Node) -> bool:
    return any(isinstance(part, Symbol) and part.name in _NAMES for part in walk(node))


def _is_plain_sum(node: Node, other: Node) -> bool:
    if not isinstance(node, Expr) or not _length(other):
        return False
    return {Constant("i"), Symbol("j")} <= set(walk(node))


def _length(node: Node) -> int:
    """How many components a tuple or a column has; 0 for anything else."""
    if isinstance(node, Group) and node.opening in ("(", "["):
        return len(node.items)
    if isinstance(node, Matrix) and (len(node.rows) == 1 or len(node.rows[0]) == 1):
        return max(len(node.rows), len(node.rows[0]))
    return 0


def _with_marks(node: Node) -> Node:
    return _PLAIN.get(node) or rebuild(node, _with_marks)


def _tuple(node: Node, length: int) -> Node:
    if not isinstance(node, Expr) or isinstance(node, Matrix) or not 2 <= length <= 3:
        return node
    parts: dict[str, list[Expr]] = {name: [] for name in _NAMES[:length]}
    for term in node.terms if isinstance(node, Add) else (node,):
        split = _component(term)
        if split is None or split[0] not in parts:
            return node
        parts[split[0]].append(split[1])
    return Group("(", tuple(total(part) if part else Number(0) for part in parts.values()), ")")


def _component(term: Expr) -> tuple[str, Expr] | None:
    """The unit vector of a term and its coefficient."""
    match term:
        case Symbol(name) if name in _NAMES:
            return name, Number(1)
        case Mul(factors):
            marked = [factor for factor in factors if _is_marked(factor)]
            split = _component(marked[0]) if len(marked) == 1 else None
            if split is None:
                return None
            return split[0], product([*(f for f in factors if f is not marked[0]), split[1]])
        case Div(top, bottom) if not _is_marked(bottom):
            split = _component(top)
            return None if split is None else (split[0], Div(split[1], bottom))
        case _:
            return None


def point(node: Node) -> Node:
    """`P(1, 2)` as the pair; anything else as it is."""
    match node:
        case Call(name, (_, _, *_) as arguments, True) if len(name) == 1 and name.isupper():
            return Group("(", arguments, ")")
        case _:
            return node
