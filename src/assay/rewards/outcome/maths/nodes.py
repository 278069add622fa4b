"""The typed answers that text is read into: expressions, the shapes built from them, and trees."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any, Final, Literal

from assay.rewards.outcome.maths.limits import (
    MAX_DIGITS,
    MAX_EXPONENT,
    TooLarge,
    UnreadableAnswer,
)

Rational = int | Fraction
_Comparison = Literal["=", "!=", "<", "<=", ">", ">=", "~"]
RelationOp = Literal[_Comparison, "in", "subset", "superset", "sim", "cong", "parallel", "perp"]
Bracket = Literal["(", "[", "{", ""]
ConstantName = Literal["pi", "e", "i", "infinity"]
OperatorName = Literal["sum", "prod", "int", "lim"]


@dataclass(frozen=True, slots=True)
class Node:
    """A part of a parsed answer."""


@dataclass(frozen=True, slots=True)
class Expr(Node):
    """A node that arithmetic may contain."""


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
    """A variable or another name."""

    name: str


@dataclass(frozen=True, slots=True)
class Constant(Expr):
    """A constant such as pi, or infinity."""

    name: ConstantName


@dataclass(frozen=True, slots=True)
class Add(Expr):
    """A sum."""

    terms: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Mul(Expr):
    """A product."""

    factors: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Div(Expr):
    """A quotient."""

    top: Expr
    bottom: Expr


@dataclass(frozen=True, slots=True)
class Power(Expr):
    """A power."""

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
    """A value in degrees of an angle."""

    term: Expr


@dataclass(frozen=True, slots=True)
class Big(Expr):
    """A big operator: a sum, product, integral or limit."""

    operator: OperatorName
    lower: Node | None
    upper: Node | None
    body: Expr


@dataclass(frozen=True, slots=True)
class Matrix(Expr):
    """A matrix, by its rows."""

    rows: tuple[tuple[Node, ...], ...]


@dataclass(frozen=True, slots=True)
class Quantity(Node):
    """A value with its unit."""

    value: Node
    unit: tuple[tuple[str, int], ...]
    """Unit names with their powers, sorted; a free noun phrase is one name."""


@dataclass(frozen=True, slots=True)
class Ratio(Node):
    """A ratio such as `3:4`."""

    terms: tuple[Expr, ...]
    clock: bool
    """Written like a time of day, so only the same digits are equal."""


@dataclass(frozen=True, slots=True)
class Group(Node):
    """Members between brackets, or a bare list when `opening` is empty."""

    opening: Bracket
    items: tuple[Node, ...]
    closing: Literal[")", "]", "}", ""]
    joint: Literal["", "and", "or"] = ""
    """The word that joins the members of a bare list, if there is one."""


@dataclass(frozen=True, slots=True)
class Span(Node):
    """An interval that cannot be a pair: by its brackets, its ends, or where it stands."""

    opening: Literal["(", "["]
    low: Node
    high: Node
    closing: Literal[")", "]"]


@dataclass(frozen=True, slots=True)
class Union(Node):
    """A union of sets."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Without(Node):
    """A set difference: `whole` without `removed`."""

    whole: Node
    removed: Node


@dataclass(frozen=True, slots=True)
class Builder(Node):
    """A set in set-builder notation: a member, and conditions on it."""

    member: Node
    conditions: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Relation(Node):
    """An equation or a chain of relations: `operators[k]` stands between sides k and k + 1."""

    sides: tuple[Node, ...]
    operators: tuple[RelationOp, ...]


@dataclass(frozen=True, slots=True)
class Text(Node):
    """An answer in words."""

    words: str


def children(node: Node) -> tuple[Node, ...]:
    """The direct parts of a node, in reading order."""
    match node:
        case Add(parts) | Mul(parts) | Call(_, parts) | Apply(_, parts) | Ratio(parts):
            return parts
        case Div(a, b) | Power(a, b) | Without(a, b) | Span(_, a, b):
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


def rebuild(node: Node, change: Callable[[Node], Node]) -> Node:
    """The node with `change` applied to each direct part; expressions must stay expressions."""

    def rebuild_field(value: Any) -> Any:  # a node, a tuple of fields, or a name
        if isinstance(value, Node):
            changed = change(value)
            return expression(changed) if isinstance(value, Expr) else changed
        return tuple(map(rebuild_field, value)) if isinstance(value, tuple) else value

    names = (field.name for field in fields(node))
    return replace(node, **{name: rebuild_field(getattr(node, name)) for name in names})


def substitute(node: Node, change: Callable[[Node], Node | None]) -> Node:
    """The tree with what `change` gives for each outermost part for which it gives anything."""
    changed = change(node)
    return rebuild(node, lambda child: substitute(child, change)) if changed is None else changed


def with_names(node: Node, names: Mapping[str, str]) -> Node:
    """The tree with these variables renamed, all at once."""
    renamed: dict[Node, Node] = {Symbol(old): Symbol(new) for old, new in names.items()}
    return substitute(node, renamed.get)


def with_variable(node: Node, name: Literal["i", "e"]) -> Node:
    """The tree with a constant read as a variable of the same letter."""
    return substitute(node, lambda part: Symbol(name) if part == Constant(name) else None)


def expression(node: Node) -> Expr:
    """The node, if it may stand inside arithmetic; raises UnreadableAnswer if not."""
    if isinstance(node, Expr):
        return node
    raise UnreadableAnswer(f"{type(node).__name__.lower()} inside arithmetic")


def is_label(name: str) -> bool:
    """Whether a symbol is a run of capitals: a label such as HTT, or points of a figure."""
    return len(name) > 1 and name.isalpha() and name.isupper()


def as_interval(node: Node) -> Node:
    """Two members in brackets as an interval, where they cannot be a pair; other nodes as is."""
    match node:
        case Group("(" | "[" as opening, (low, high), ")" | "]" as closing):
            return Span(opening, low, high, closing)
        case _:
            return node


def infinite_sign(node: Node) -> int:
    """1 or -1 for either infinity, else 0."""
    match node:
        case Constant("infinity"):
            return 1
        case Mul((Number(value), Constant("infinity"))):
            return (value > 0) - (value < 0)
        case _:
            return 0


def number(text: str) -> Number:
    """The literal that digits spell, with or without a decimal point or an exponent."""
    if len(text) > MAX_DIGITS:
        raise TooLarge(f"a number of {len(text):,} characters, limit {MAX_DIGITS:,}")
    if text.isdigit():
        return Number(int(text))
    mantissa, _, exponent = text.lower().partition("e")
    integer, _, part = mantissa.partition(".")
    shift = int(exponent or "0")
    if abs(shift) > MAX_EXPONENT:
        raise TooLarge(f"a decimal exponent of {shift:,}, limit {MAX_EXPONENT:,}")
    shift -= len(part)
    digits = int((integer + part) or "0")
    value = digits * 10**shift if shift >= 0 else whole(Fraction(digits, 10**-shift))
    if not part and not exponent:
        return Number(value)
    return Number(value, len((integer + part).lstrip("0")), -shift)


def whole(value: int | Fraction) -> int | Fraction:
    """The value, as an int when it is one."""
    return value.numerator if isinstance(value, Fraction) and value.denominator == 1 else value


def negate(node: Expr) -> Expr:
    if isinstance(node, Number):
        return Number(-node.value, node.digits, node.places)
    if isinstance(node, Mul) and isinstance(node.factors[0], Number):
        return Mul((negate(node.factors[0]), *node.factors[1:]))
    return Mul((Number(-1), node))


def product(factors: list[Expr]) -> Expr:
    return factors[0] if len(factors) == 1 else Mul(tuple(factors))


def total(terms: list[Expr]) -> Expr:
    return terms[0] if len(terms) == 1 else Add(tuple(terms))


def hundredth(node: Expr) -> Expr:
    return Div(node, Number(100))


INFINITY: Final = Constant("infinity")
