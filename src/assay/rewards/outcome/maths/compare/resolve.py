"""Rewriting of two parsed answers where a notation has two possible meanings."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Final

from assay.rewards.outcome.maths.compute.evaluate import rational_or_none, running_name
from assay.rewards.outcome.maths.limits import WorkBudget
from assay.rewards.outcome.maths.nodes import (
    Add,
    BigOperator,
    Call,
    CallOrProduct,
    ConditionSet,
    Constant,
    Div,
    Expr,
    Group,
    Mul,
    Node,
    Number,
    PlusMinus,
    Power,
    Relation,
    Symbol,
    children,
    expression,
    is_label,
    negate,
    rebuild,
    substitute,
    walk,
    with_names,
)


def functions_in(*roots: Node) -> frozenset[str]:
    """The letters that are functions, not factors, before parentheses.

    f, g and h do, unless the same letter stands alone in that answer, or in the other while sums
    are all that it is applied to: `h(a+b)` may be a product. So does a letter whose value at a
    plain argument is the left side of an equation, as in `V(t) = 3t`, or all that is asked, as in
    `P(3)`; a letter at numbers, as in `5\\zeta(3)`, unless it is a small one that stands alone.
    """
    alone = {part.name for part in walk(*roots) if isinstance(part, Symbol)}
    functions: set[str] = set()
    for root in roots:
        applied = _applications(root)
        here = {part.name for part in walk(root) if isinstance(part, Symbol)}
        uses = [part for part in walk(root) if isinstance(part, CallOrProduct)]
        others = {use.name for use in uses if not _is_at_numbers(use)}
        before_others = {u.name for u in uses if [*map(type, u.arguments)] != [Add]}
        functions |= applied - here - (alone - before_others)
        functions |= {use.name for use in uses} - others - alone
    return frozenset(functions)


def _is_at_numbers(use: CallOrProduct) -> bool:
    return all(map(_is_literal, use.arguments))


def _is_literal(node: Node) -> bool:
    """Whether the node is an integer, a decimal or a fraction in digits."""
    match node:
        case Number() | Div(Number(), Number()) | Mul((Number(), Div(Number(), Number()))):
            return True
        case _:
            return False


def _applications(root: Node) -> set[str]:
    applied: set[str] = set()
    for node in walk(root):
        match node:
            case CallOrProduct(name) if _FUNCTION_NAME.fullmatch(name) or (
                name[0].isupper() and _is_at_numbers(node)
            ):
                applied.add(name)
            case Relation((CallOrProduct(name, arguments), *_)) if all(
                isinstance(argument, _PLAIN) for argument in arguments
            ):
                applied.add(name)
    for whole in (root, *(children(root) if isinstance(root, (Relation, Group)) else ())):
        match whole:
            case CallOrProduct(name, (argument,)) if isinstance(argument, _PLAIN):
                applied.add(name)
    return applied


_PLAIN: Final = (Symbol, Number, Constant)
_FUNCTION_NAME: Final = re.compile("[fghFGH].*|zeta|Gamma|.*'")
_ZETA: Final = {k: Fraction(1, bottom) for k, bottom in ((2, 6), (4, 90), (6, 945), (8, 9450))}
"""Riemann's zeta function at even numbers, without the power of pi."""


def _gamma(argument: Expr) -> Expr | None:
    """The value of the gamma function at 1/2, 1, 3/2 and so on up to 40."""
    if not _is_literal(argument):
        return None
    twice = rational_or_none(Mul((Number(2), argument)), WorkBudget())
    if not isinstance(twice, int) or not 1 <= twice <= 80:
        return None
    count = twice // 2
    if twice % 2 == 0:
        return Number(math.factorial(count - 1))
    factor = Fraction(math.factorial(2 * count), 4**count * math.factorial(count))
    return Mul((Number(factor), Power(Constant("pi"), Number(Fraction(1, 2)))))


def with_combinations(left: Node, right: Node) -> tuple[Node, Node]:
    """The answers with `C(n, k)` as a binomial coefficient, or `P(5, 3)` as its value."""
    nodes = walk(left, right)
    if any(isinstance(part, Call) and part.name == "binomial" for part in nodes):
        return _spell_combinations(left), _spell_combinations(right)
    if isinstance(left, Number) != isinstance(right, Number):
        return _spell_arrangements(left), _spell_arrangements(right)
    return left, right


def _spell_arrangements(node: Node) -> Node:
    match node:
        case CallOrProduct("P" | "A", (Number(int(n)), Number(int(k)))) if 0 < k < n < 200:
            return Number(math.perm(n, k))
        case _:
            return node


def _spell_combinations(node: Node) -> Node:
    match node:
        case CallOrProduct("C", (top, bottom)):
            return Call("binomial", (top, bottom))
        case Power(Symbol(name), bottom) if name.startswith("C_") and name[2:].isalnum():
            index = name[2:]
            top = Number(int(index)) if index.isdigit() else Symbol(index)
            return Call("binomial", (top, bottom))
        case Power(Call("C_", (top,), True), bottom):
            return Call("binomial", (top, bottom))
        case _:
            return rebuild(node, _spell_combinations)


def settle(node: Node, functions: frozenset[str]) -> Node:
    """Decide for each letter before parentheses: a function or a factor."""

    def change(child: Node) -> Node:
        return settle(child, functions)

    match node:
        case CallOrProduct("zeta", (Number(int(place)),)) if place in _ZETA:
            return Mul((Number(_ZETA[place]), Power(Constant("pi"), Number(place))))
        case CallOrProduct("Gamma", (argument,)) if (value := _gamma(argument)) is not None:
            return value
        case CallOrProduct(name, arguments):
            settled_arguments = tuple(expression(change(argument)) for argument in arguments)
            if name in functions or len(settled_arguments) != 1:
                return Call(name, settled_arguments, opaque=True)
            return Mul((Symbol(name), settled_arguments[0]))
        case Power(CallOrProduct(name, (argument,)), exponent) if name not in functions:
            power = Power(expression(change(argument)), expression(change(exponent)))
            return Mul((Symbol(name), power))
        case Call("factorial", (CallOrProduct(name, (argument,)),)) if name not in functions:
            return Mul((Symbol(name), Call("factorial", (expression(change(argument)),))))
        case Symbol() | Number() | Constant():
            return node
        case _:
            return rebuild(node, change)


def with_products(left: Node, right: Node) -> tuple[Node, Node]:
    """Read labels such as `PV` as products in both answers if their letters also stand alone.

    `PV = nRT` is then met by `P = nRT/V`; a label that is all of an answer, or a member of a list,
    stays one, and is met only by its letters in the same order.
    """
    names = {part.name for part in walk(left, right) if isinstance(part, Symbol)}
    products = frozenset(name for name in names if is_label(name) and names.issuperset(name))
    if not products:
        return left, right
    if _spelling(left) == _spelling(right) != "":
        return right, right
    return _spell_labels(left, products), _spell_labels(right, products)


def _spelling(node: Node) -> str:
    """The letters of a label or of a product of letters, else ""."""
    parts = node.factors if isinstance(node, Mul) else (node,)
    letters = [part.name for part in parts if isinstance(part, Symbol)]
    return "".join(letters) if len(letters) == len(parts) else ""


def _spell_labels(node: Node, products: frozenset[str]) -> Node:
    def spell(part: Node) -> Node | None:
        if not isinstance(part, Symbol) or part.name not in products:
            return None
        return Mul(tuple(map(Symbol, part.name)))

    if isinstance(node, (Symbol, Group)):
        return node
    return rebuild(node, lambda child: substitute(child, spell))


def with_terms(left: Node, right: Node) -> tuple[Node, Node]:
    """Read `a_k` as a sequence term in both answers if a sum runs over k."""
    running = {running_name(part) for part in walk(left, right) if isinstance(part, BigOperator)}
    names = [part.name for part in walk(left, right) if isinstance(part, Symbol)]
    stems = frozenset(stem for stem, index in map(_split_index, names) if stem and index in running)

    def spell(part: Node) -> Node | None:
        stem, index = _split_index(part.name) if isinstance(part, Symbol) else ("", "")
        if stem not in stems:
            return None
        place: Expr = Number(int(index)) if index.isdecimal() else Symbol(index)
        return Call(f"{stem}_", (place,), opaque=True)

    return (substitute(left, spell), substitute(right, spell)) if stems else (left, right)


def _split_index(name: str) -> tuple[str, str]:
    """Split a name such as `a_k` into its letter and its index."""
    stem, _, index = name.rpartition("_")
    return stem, index


def with_bound_names(node: Node, level: int = 0) -> Node:
    """Rename the running variables of sums by their nesting, to ignore their letters."""
    if not isinstance(node, BigOperator):
        return rebuild(node, lambda child: with_bound_names(child, level))
    for place, name in enumerate(_bound_in(node)):
        new = f"bound:{level}.{place}"
        lower = None if node.lower is None else with_names(node.lower, {name: new})
        body = expression(with_names(node.body, {name: new}))
        node = BigOperator(node.operator, lower, node.upper, body)
    return rebuild(node, lambda child: with_bound_names(child, level + 1))


def _bound_in(node: BigOperator) -> list[str]:
    """The variables that a sum, product, limit or definite integral runs over."""
    if node.operator != "int":
        return [running_name(node)] if running_name(node) else []
    if node.lower is None or node.upper is None:
        return []
    return [
        name.name
        for part in walk(node.body)
        if isinstance(part, Mul)
        for sign, name in pairwise(part.factors)
        if sign == Symbol("d") and isinstance(name, Symbol)
    ]


def with_same_names(left: Node, right: Node) -> tuple[Node, Node]:
    """Rename the variables of the first set or function as in the second."""
    match left, right:
        case ConditionSet(Symbol(name), _), ConditionSet(Symbol(other), _):
            return _rename_all(left, {name: other}), right
        case Relation((Call(name, arguments, True), *_)), Relation(
            (Call(other_name, others, True), *_)
        ) if name == other_name and len(arguments) == len(others):
            names = {
                a.name: b.name
                for a, b in zip(arguments, others, strict=True)
                if isinstance(a, Symbol) and isinstance(b, Symbol) and a.name.islower()
            }
            if len(names) == len(arguments) == len(set(names.values())):
                return _rename_all(left, names), right
        case Relation((Symbol(name), *_)), Relation((Symbol(other), *_)) if name != other:
            (stem, index), (other_stem, other_index) = _split_index(name), _split_index(other)
            if stem == other_stem != "" and len(index) == len(other_index) == 1:
                letters = index.isalpha() and other_index.isalpha()
                return (_rename_all(left, {index: other_index}) if letters else left), right
    return left, right


def _rename_all(node: Node, names: Mapping[str, str]) -> Node:
    """Rename all given variables at once, without a clash of names."""
    if isinstance(node, Symbol):
        if node.name in names:
            return Symbol(names[node.name])
        stem, index = _split_index(node.name)
        if stem and index in names:
            return Symbol(f"{stem}_{names[index]}")
        return Symbol(f"free:{node.name}") if node.name in names.values() else node
    return rebuild(node, lambda child: _rename_all(child, names))


def kinds_in(*roots: Node) -> frozenset[type]:
    """The types of all nodes in the trees."""
    return frozenset(map(type, walk(*roots)))


def cost(node: Node) -> int:
    """An estimate of the steps to evaluate the tree at one point."""
    return sum(20 if isinstance(part, (Call, Power, BigOperator)) else 2 for part in walk(node))


def variants(node: Node) -> list[Node]:
    """The two values of an expression with plus-minus signs, or the expression itself."""
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
