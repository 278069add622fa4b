"""Trees rewritten once both answers are known: function or product, and both signs of a term."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

from assay.rewards.outcome.maths.cursor import expression, negate
from assay.rewards.outcome.maths.evaluate import running_name
from assay.rewards.outcome.maths.nodes import (
    Add,
    Apply,
    Big,
    Builder,
    Call,
    Constant,
    Degree,
    Div,
    Expr,
    Group,
    Matrix,
    Mul,
    Node,
    Number,
    PlusMinus,
    Power,
    Quantity,
    Ratio,
    Relation,
    Symbol,
    Union,
    Without,
    children,
)

_FUNCTION_LETTERS: Final = frozenset("fghFGH")


def rebuild(node: Node, change: Callable[[Node], Node]) -> Node:
    """The node with `change` applied to each direct part."""

    def part(child: Node) -> Expr:
        return expression(change(child))

    match node:
        case Add(terms):
            return Add(tuple(map(part, terms)))
        case Mul(factors):
            return Mul(tuple(map(part, factors)))
        case Div(top, bottom):
            return Div(part(top), part(bottom))
        case Power(base, exponent):
            return Power(part(base), part(exponent))
        case Call(name, arguments, opaque):
            return Call(name, tuple(map(part, arguments)), opaque)
        case Apply(name, arguments):
            return Apply(name, tuple(map(part, arguments)))
        case PlusMinus(term, flipped):
            return PlusMinus(part(term), flipped)
        case Degree(term):
            return Degree(part(term))
        case _:
            return _rebuild_shape(node, change)


def _rebuild_shape(node: Node, change: Callable[[Node], Node]) -> Node:
    match node:
        case Quantity(value, unit):
            return Quantity(change(value), unit)
        case Group(opening, items, closing, alternatives):
            return Group(opening, tuple(map(change, items)), closing, alternatives)
        case Matrix(rows):
            return Matrix(tuple(tuple(map(change, row)) for row in rows))
        case Relation(sides, operators):
            return Relation(tuple(map(change, sides)), operators)
        case Union(parts):
            return Union(tuple(map(change, parts)))
        case Ratio(terms, clock):
            return Ratio(tuple(expression(change(term)) for term in terms), clock)
        case Without(whole, removed):
            return Without(change(whole), change(removed))
        case Builder(member, conditions):
            return Builder(change(member), tuple(map(change, conditions)))
        case Big(operator, lower, upper, body):
            return Big(
                operator,
                None if lower is None else change(lower),
                None if upper is None else change(upper),
                expression(change(body)),
            )
        case _:
            return node


def functions_in(*nodes: Node) -> frozenset[str]:
    """The letters before parentheses that mean functions, given all that is written.

    f, g and h do, unless the same letter also stands alone; so does a letter whose value at a
    plain argument is the left side of an equation, as in `V(t) = 3t`.
    """
    applied: set[str] = set()
    alone: set[str] = set()
    pending = list(nodes)
    while pending:
        node = pending.pop()
        if isinstance(node, Apply) and _is_function_name(node.name):
            applied.add(node.name)
        elif isinstance(node, Symbol):
            alone.add(node.name)
        elif isinstance(node, Relation):
            applied.update(_named_functions(node.sides[0]))
        pending.extend(children(node))
    return frozenset(applied - alone)


def _named_functions(label: Node) -> set[str]:
    match label:
        case Apply(name, arguments) if all(isinstance(a, _PLAIN) for a in arguments):
            return {name}
        case _:
            return set()


_PLAIN: Final = (Symbol, Number, Constant)


def _is_function_name(name: str) -> bool:
    return name[0] in _FUNCTION_LETTERS or name.endswith("'")


def settle(node: Node, functions: frozenset[str]) -> Node:
    """The tree without undecided applications: opaque functions, or products."""

    def change(child: Node) -> Node:
        return settle(child, functions)

    match node:
        case Apply(name, arguments):
            settled_arguments = tuple(expression(change(argument)) for argument in arguments)
            if name in functions or len(settled_arguments) != 1:
                return Call(name, settled_arguments, opaque=True)
            return Mul((Symbol(name), settled_arguments[0]))
        case Power(Apply(name, (argument,)), exponent) if name not in functions:
            power = Power(expression(change(argument)), expression(change(exponent)))
            return Mul((Symbol(name), power))
        case Call("factorial", (Apply(name, (argument,)),)) if name not in functions:
            return Mul((Symbol(name), Call("factorial", (expression(change(argument)),))))
        case Symbol() | Number() | Constant():
            return node
        case _:
            return rebuild(node, change)


def with_variable(node: Node, name: Literal["i", "e"]) -> Node:
    """The tree with a constant read as a variable of the same letter."""
    if node == Constant(name):
        return Symbol(name)
    return rebuild(node, lambda child: with_variable(child, name))


def with_bound_names(node: Node, level: int = 0) -> Node:
    """The tree with running variables named by their nesting, so that k is as good as n."""
    if not isinstance(node, Big):
        return rebuild(node, lambda child: with_bound_names(child, level))
    name = running_name(node)
    if name:
        lower = None if node.lower is None else _rename(node.lower, name, f"bound:{level}")
        body = expression(_rename(node.body, name, f"bound:{level}"))
        node = Big(node.operator, lower, node.upper, body)
    return rebuild(node, lambda child: with_bound_names(child, level + 1))


def _rename(node: Node, name: str, new: str) -> Node:
    if node == Symbol(name):
        return Symbol(new)
    return rebuild(node, lambda child: _rename(child, name, new))


def kinds_in(*nodes: Node) -> frozenset[type]:
    """The types of all the nodes in the trees."""
    kinds: set[type] = set()
    pending = list(nodes)
    while pending:
        current = pending.pop()
        kinds.add(type(current))
        pending.extend(children(current))
    return frozenset(kinds)


def cost(node: Node) -> int:
    """Steps to evaluate the tree at one point, roughly."""
    steps = 0
    pending = [node]
    while pending:
        current = pending.pop()
        steps += 20 if isinstance(current, (Call, Power, Big)) else 2
        pending.extend(children(current))
    return steps


def variants(node: Node) -> list[Node]:
    """The node with its upper signs and with its lower signs, or itself if it has none."""
    if not has_signs(node):
        return [node]
    return [_with_sign(node, lower=False), _with_sign(node, lower=True)]


def has_signs(node: Node) -> bool:
    return PlusMinus in kinds_in(node)


def _with_sign(node: Node, *, lower: bool) -> Node:
    def change(child: Node) -> Node:
        return _with_sign(child, lower=lower)

    if isinstance(node, PlusMinus):
        term = expression(change(node.term))
        return negate(term) if node.flipped != lower else term
    return rebuild(node, change)
