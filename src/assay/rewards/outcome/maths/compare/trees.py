"""Parsed answers as plain trees, the only form in which they are sent to the sympy process."""

from __future__ import annotations

from typing import TypeAlias

from assay.rewards.outcome.maths.compare.resolve import functions_in, settle
from assay.rewards.outcome.maths.compute.rationals import size
from assay.rewards.outcome.maths.limits import UnreadableAnswer
from assay.rewards.outcome.maths.nodes import (
    Add,
    Big,
    Call,
    Constant,
    Div,
    Expr,
    Mul,
    Node,
    Number,
    Power,
    Relation,
    Symbol,
    children,
    walk,
)
from assay.rewards.outcome.maths.read.answers import parse

Tree: TypeAlias = "list[str | Tree]"

_MOST_NODES = 600
_MOST_BITS = 1_000


def to_trees(prediction: str, reference: str) -> tuple[Tree, Tree] | None:
    """Both answers as trees; `None` when one holds anything that sympy is not asked about.

    Sums, products and integrals become bound operations; sets, relations, units and words have
    no tree.
    """
    try:
        nodes = parse(prediction), parse(reference)
        if len(walk(*nodes)) > _MOST_NODES:
            raise UnreadableAnswer("more parts than sympy is asked about")
        functions = functions_in(*nodes)
        left, right = (_tree(settle(node, functions)) for node in nodes)
    except UnreadableAnswer:
        return None
    return left, right


def _tree(node: Node) -> Tree:
    match node:
        case Number(value):
            if size(value) > _MOST_BITS:
                raise UnreadableAnswer("a number with more digits than sympy is asked about")
            return ["number", str(value)]
        case Symbol(name):
            return ["symbol", name]
        case Constant(name):
            return ["constant", name]
        case Add() | Mul() | Div() | Power():
            return [_NAMES[type(node)], *map(_tree, children(node))]
        case Call():
            return _call(node)
        case Big():
            return _bound(node)
        case _:
            raise UnreadableAnswer("not an expression")


_NAMES: dict[type, str] = {Add: "add", Mul: "mul", Div: "div", Power: "pow"}


def _call(node: Call) -> Tree:
    # A logarithm without a base is natural for some and decimal for others.
    if node.opaque or (node.name == "log" and len(node.arguments) == 1):
        raise UnreadableAnswer(f"the function {node.name}")
    return ["call", node.name, *map(_tree, node.arguments)]


def _bound(node: Big) -> Tree:
    """`[operator, body, variable, from, to]`."""
    start, variable, body = _range(node)
    if node.upper is None:
        raise UnreadableAnswer("an operator without an upper end")
    parts = (body, variable, start, node.upper)
    return [node.operator, *map(_tree, parts)]


def _range(node: Big) -> tuple[Node, Symbol, Expr]:
    """Where the operator starts, over which variable, and what it is applied to."""
    match node.operator, node.lower, node.body:
        case ("sum" | "prod", Relation((Symbol() as variable, start), ("=",)), body):
            return start, variable, body
        case ("int", start, Mul((*factors, Symbol("d"), Symbol() as variable))) if (
            start is not None
        ):
            return start, variable, Mul(tuple(factors)) if factors else Number(1)
        case _:
            raise UnreadableAnswer(f"this form of {node.operator}")
