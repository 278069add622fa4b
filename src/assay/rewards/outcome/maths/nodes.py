"""The typed answers that text is read into: expressions, and the shapes built from them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

Rational = int | Fraction
RelationOp = Literal["=", "!=", "<", "<=", ">", ">=", "~", "in"]
Bracket = Literal["(", "[", "{", ""]


@dataclass(frozen=True, slots=True)
class Node:
    """Any part of an answer."""


@dataclass(frozen=True, slots=True)
class Expr(Node):
    """What may stand inside arithmetic."""


@dataclass(frozen=True, slots=True)
class Number(Expr):
    """A rational literal; `digits` counts its significant digits if it has a decimal point."""

    value: Rational
    digits: int | None = None
    places: int = 0
    """Digits after the decimal point, counted after any power of ten."""


@dataclass(frozen=True, slots=True)
class Based(Expr):
    """Digits with a base subscript, such as 204 in base 5."""

    numeral: str
    base: int


@dataclass(frozen=True, slots=True)
class Symbol(Expr):
    name: str


@dataclass(frozen=True, slots=True)
class Constant(Expr):
    name: Literal["pi", "e", "i", "infinity"]


@dataclass(frozen=True, slots=True)
class Add(Expr):
    terms: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Mul(Expr):
    factors: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Div(Expr):
    top: Expr
    bottom: Expr


@dataclass(frozen=True, slots=True)
class Power(Expr):
    base: Expr
    exponent: Expr


@dataclass(frozen=True, slots=True)
class Call(Expr):
    """A known function, or one that is only a name when `opaque`."""

    name: str
    arguments: tuple[Expr, ...]
    opaque: bool = False


@dataclass(frozen=True, slots=True)
class Apply(Expr):
    """A letter before parentheses: a function or a product, decided once both answers are known."""

    name: str
    arguments: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class PlusMinus(Expr):
    """Both signs of a term; signs of one item go together, and `flipped` is the lower sign."""

    term: Expr
    flipped: bool = False


@dataclass(frozen=True, slots=True)
class Degree(Expr):
    term: Expr


@dataclass(frozen=True, slots=True)
class Big(Expr):
    """A sum, product, integral or limit."""

    operator: Literal["sum", "prod", "int", "lim"]
    lower: Node | None
    upper: Node | None
    body: Expr


@dataclass(frozen=True, slots=True)
class Matrix(Expr):
    rows: tuple[tuple[Node, ...], ...]


@dataclass(frozen=True, slots=True)
class Quantity(Node):
    """A value with what it is counted in."""

    value: Node
    unit: tuple[tuple[str, int], ...]
    """Unit names with their powers, sorted; a free noun phrase is one name."""


@dataclass(frozen=True, slots=True)
class Ratio(Node):
    terms: tuple[Expr, ...]
    clock: bool
    """Written like a time of day, so only the same digits are equal."""


@dataclass(frozen=True, slots=True)
class Group(Node):
    """Members between brackets, or a bare list when `opening` is empty."""

    opening: Bracket
    items: tuple[Node, ...]
    closing: Literal[")", "]", "}", ""]
    alternatives: bool = False
    """The members are joined by `or`."""


@dataclass(frozen=True, slots=True)
class Union(Node):
    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Without(Node):
    whole: Node
    removed: Node


@dataclass(frozen=True, slots=True)
class Builder(Node):
    """A set given by a condition on its members."""

    member: Node
    conditions: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Relation(Node):
    """Sides joined by relation signs: `operators[k]` stands between sides k and k + 1."""

    sides: tuple[Node, ...]
    operators: tuple[RelationOp, ...]


@dataclass(frozen=True, slots=True)
class Text(Node):
    words: str


def children(node: Node) -> tuple[Node, ...]:
    """The direct parts of a node, in reading order."""
    match node:
        case Add(parts) | Mul(parts) | Call(_, parts) | Apply(_, parts) | Ratio(parts):
            return parts
        case Div(a, b) | Power(a, b) | Without(a, b):
            return (a, b)
        case PlusMinus(term) | Degree(term) | Quantity(term):
            return (term,)
        case Group(_, items) | Union(items) | Relation(items):
            return items
        case Matrix(rows):
            return tuple(cell for row in rows for cell in row)
        case Big(_, lower, upper, body):
            return tuple(part for part in (lower, upper, body) if part is not None)
        case Builder(member, conditions):
            return (member, *conditions)
        case _:
            return ()


def walk(*roots: Node) -> list[Node]:
    """The nodes and all their parts, the outermost first."""
    nodes = list(roots)
    for node in nodes:
        nodes.extend(children(node))
    return nodes
