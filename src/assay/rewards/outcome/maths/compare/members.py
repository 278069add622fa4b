"""Comparison of lists, tuples and sets, member by member."""

from __future__ import annotations

from typing import Literal

from assay.rewards.outcome.maths.compare.comparison import AnswerComparer
from assay.rewards.outcome.maths.compare.relations import (
    NamedValue,
    order_of_names,
    same_label,
    statement,
)
from assay.rewards.outcome.maths.compare.resolve import has_signs, variants
from assay.rewards.outcome.maths.compute.points import value_of, variables
from assay.rewards.outcome.maths.limits import TooLarge
from assay.rewards.outcome.maths.nodes import Expr, Group, Matrix, Node, Relation, Symbol

Shape = Literal["list", "tuple", "set", "one"]
_MOST_PAIRS = 1_600


def same_members(prediction: Node, reference: Node, comparison: AnswerComparer) -> str | None:
    """Return the rule by which two collections are equal, or None.

    Brackets mean order; braces and bare lists do not. A bare list meets a tuple in order. One
    member in braces is that member.
    """
    shape, reference_shape = _shape(prediction), _shape(reference)
    shapes = {shape, reference_shape}
    if _are_numbered(prediction, reference) or _are_numbered(reference, prediction):
        values, others = _stated_values(prediction), _stated_values(reference)
        same = same_in_any_order(values, others, comparison, repeats=False)
        return "list" if same else None
    if not _same_names(prediction, reference, comparison):
        return None
    if _is_choice_of_names(prediction) != _is_choice_of_names(reference):
        return None
    left, right = _items(prediction, shape), _items(reference, reference_shape)
    if not all(isinstance(item, Relation) for item in (*left, *right)):
        left, right = _values(left, comparison), _values(right, None)
    if "one" in shapes:
        if len(left) == len(right) == 1 and "tuple" not in shapes:
            nested = "set" in shapes and _is_set(left[0] if shape == "set" else right[0])
            return None if nested else comparison.rule(left[0], right[0])
        return _same_vector(prediction, reference, comparison)
    if "tuple" in shapes:
        same = _may_be_tuples(prediction, reference, comparison)
        return "tuple" if same and same_in_order(left, right, comparison) else None
    ordered = comparison.conventions.list_order == "kept" and shapes == {"list"}
    if ordered or _in_step(prediction, reference):
        return "list" if same_in_order(left, right, comparison) else None
    if shapes == {"set"} and any(map(_is_set, left)) != any(map(_is_set, right)):
        return None
    repeats = "set" in shapes or all(isinstance(item, Group) for item in right)
    same = same_in_any_order(left, right, comparison, repeats=repeats)
    return ("set" if "set" in shapes else "list") if same else None


def same_in_order(left: list[Node], right: list[Node], comparison: AnswerComparer) -> bool:
    return len(left) == len(right) and all(map(comparison.same, left, right))


def same_in_any_order(
    left: list[Node], right: list[Node], comparison: AnswerComparer, *, repeats: bool
) -> bool:
    """Whether two lists have the same members in any order; `repeats` allows duplicates."""
    if not repeats and len(left) != len(right):
        return False
    if not left or not right:
        return not left and not right
    if len(left) == len(right) and all(a == b for a, b in zip(left, right, strict=True)):
        return True
    if len(left) * len(right) > _MOST_PAIRS:
        raise TooLarge(f"{len(left)} and {len(right)} members are too many to compare in any order")
    unpaired = list(range(len(right)))
    for item in left:
        partner = next((k for k in unpaired if comparison.same(item, right[k])), None)
        if partner is not None:
            unpaired.remove(partner)
        elif not repeats or not any(comparison.same(item, other) for other in right):
            return False
    return not unpaired or (
        repeats and all(any(comparison.same(item, right[k]) for item in left) for k in unpaired)
    )


def _is_set(node: Node) -> bool:
    return node == Symbol("emptyset") or (isinstance(node, Group) and node.opening == "{")


def _same_vector(prediction: Node, reference: Node, comparison: AnswerComparer) -> str | None:
    """Compare a matrix with a tuple or a nested list."""
    left, right = _vector(prediction), _vector(reference)
    if left is None or right is None or Matrix not in (type(prediction), type(reference)):
        return None
    return "matrix" if same_in_order(left, right, comparison) else None


def _vector(node: Node) -> list[Node] | None:
    """The entries of a vector or tuple, or the rows of a matrix."""
    if isinstance(node, Matrix):
        if len(node.rows) == 1:
            return list(node.rows[0])
        if len(node.rows[0]) == 1:
            return [row[0] for row in node.rows]
        return [Group("[", row, "]") for row in node.rows]
    if isinstance(node, Group) and node.opening in ("(", "["):
        return list(node.items)
    order, values = order_of_names(_labels(node)), _stated_values(node)
    return None if order is None else [values[k] for k in order]


def _shape(node: Node) -> Shape:
    if isinstance(node, Group):
        if not node.opening:
            return "list"
        if node.opening == "{":
            return "set"
        return "list" if has_signs(node) else "tuple"
    if not isinstance(node, Relation) and has_signs(node):
        return "list"
    return "one"


def _items(node: Node, shape: Shape) -> list[Node]:
    bracketed = isinstance(node, Group) and node.opening in ("(", "[")
    if isinstance(node, Group) and shape == "tuple":
        return list(node.items)
    items = node.items if isinstance(node, Group) and not bracketed else (node,)
    return [variant for item in items for variant in variants(item)]


def _values(items: list[Node], comparison: AnswerComparer | None) -> list[Node]:
    """The values of the members, sorted by the usual order of their names."""
    same = None if comparison is None else comparison.same
    named = [statement(item, same) if isinstance(item, Relation) else None for item in items]
    labels = [None if each is None else each.label for each in named]
    values = [item if each is None else each.value for item, each in zip(items, named, strict=True)]
    order = order_of_names(labels)
    if order is not None:
        return [values[k] for k in order]
    return _in_periods(values, labels)


def _in_periods(values: list[Node], labels: list[Node | None]) -> list[Node]:
    """Group `p=5, q=2; p=7, q=2` into the pairs `(5, 2)` and `(7, 2)`."""
    if len(labels) < 4 or any(label is None for label in labels):
        return values
    period = next((k for k in range(1, len(labels)) if labels[k] == labels[0]), 0)
    if period < 2 or len(labels) % period:
        return values
    if any(labels[k] != labels[k % period] for k in range(len(labels))):
        return values
    starts = range(0, len(values), period)
    return [Group("(", tuple(values[k : k + period]), ")") for k in starts]


def _may_be_tuples(prediction: Node, reference: Node, comparison: AnswerComparer) -> bool:
    """Whether two collections may be the same tuple, by their brackets."""
    shapes = {_shape(prediction), _shape(reference)}
    if shapes == {"tuple"}:
        return _same_brackets(prediction, reference, comparison)
    return "set" not in shapes and _is_tuple(prediction, reference, comparison)


def _is_tuple(prediction: Node, reference: Node, comparison: AnswerComparer) -> bool:
    """Whether a list without brackets may be the same as a tuple in brackets.

    Values that `or` or `and` joins, or that share one name, are several answers and no pair. A
    rising pair in square brackets is an interval.
    """
    bare, bracketed = (
        (reference, prediction) if _shape(reference) == "list" else (prediction, reference)
    )
    if not isinstance(bare, Group) or not isinstance(bracketed, Group):
        return False
    labels = _labels(bare)
    distinct = len(set(labels)) == len(labels)
    if not distinct or (bare.joint and not labels):
        return False
    square = bracketed.opening == "[" and len(bracketed.items) == 2
    return not square or not _rises(bracketed, comparison)


def _is_choice_of_names(node: Node) -> bool:
    """Whether the word `or` joins statements about different names."""
    if not isinstance(node, Group) or node.joint != "or":
        return False
    return len({variables(item)[0] for item in node.items if isinstance(item, Relation)}) > 1


def _are_numbered(one: Node, other: Node) -> bool:
    """Whether the first answer numbers its solutions `x_1, x_2` and the other repeats `x`."""
    labels, names = _labels(one), set(_labels(other))
    if len(names) != 1 or len(labels) < 2 or len(set(labels)) != len(labels):
        return False
    (name,) = names
    return isinstance(name, Symbol) and all(
        isinstance(label, Symbol) and label.name.rpartition("_")[0] == name.name for label in labels
    )


def _stated_values(node: Node) -> list[Node]:
    return [named.value for named in _named_members(node)]


def _in_step(prediction: Node, reference: Node) -> bool:
    """Whether only one answer names its members, so that their order matters."""
    names, others = _labels(prediction), _labels(reference)
    labels = names or others
    return not (names and others) and 1 < len(labels) == len(set(map(repr, labels)))


def _same_names(prediction: Node, reference: Node, comparison: AnswerComparer) -> bool:
    """Whether all names in one list also stand in the other list."""
    few, many = sorted((_named_members(prediction), _named_members(reference)), key=len)
    return all(any(same_label(name, other, comparison) for other in many) for name in few)


def _named_members(node: Node) -> list[NamedValue]:
    items = node.items if isinstance(node, Group) else ()
    statements = [statement(item, None) for item in items if isinstance(item, Relation)]
    return [named for named in statements if named is not None and named.label is not None]


def _labels(node: Node) -> list[Node]:
    if not isinstance(node, Group):
        return []
    labels = [named.label for named in _named_members(node) if named.label is not None]
    return labels if len(labels) == len(node.items) else []


def _same_brackets(prediction: Node, reference: Node, comparison: AnswerComparer) -> bool:
    """Whether the brackets agree, or the pair cannot be an interval."""
    if not isinstance(prediction, Group) or not isinstance(reference, Group):
        return False
    if (prediction.opening, prediction.closing) == (reference.opening, reference.closing):
        return True
    return len(reference.items) != 2 or not _rises(reference, comparison)


def _rises(pair: Group, comparison: AnswerComparer) -> bool:
    low, high = (
        value_of(end, comparison.budget) if isinstance(end, Expr) else None for end in pair.items
    )
    return low is None or high is None or low.re <= high.re
