"""The node types of parsed answers, and functions on their trees."""

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
    """One node of a parsed answer."""


@dataclass(frozen=True, slots=True)
class Expr(Node):
    """An arithmetic expression."""


@dataclass(frozen=True, slots=True)
class Number(Expr):
    """A rational number; `digits` counts its significant digits if it is a decimal."""

    value: Rational
    digits: int | None = None
    places: int = 0
    """Digits after the decimal point, counted after any power of ten."""


@dataclass(frozen=True, slots=True)
class BasedNumeral(Expr):
    """A numeral with its base, such as 204 in base 5."""

    numeral: str
    base: int


@dataclass(frozen=True, slots=True)
class Symbol(Expr):
    """A variable or another name."""

    name: str


@dataclass(frozen=True, slots=True)
class Constant(Expr):
    """A mathematical constant such as pi, or infinity."""

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
    """A function call; the function is unknown if `opaque` is set."""

    name: str
    arguments: tuple[Expr, ...]
    opaque: bool = False


@dataclass(frozen=True, slots=True)
class CallOrProduct(Expr):
    """A letter before parentheses, which may be a function call or a product."""

    name: str
    arguments: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class PlusMinus(Expr):
    """A term with the sign plus-minus, or minus-plus if `flipped` is set."""

    term: Expr
    flipped: bool = False


@dataclass(frozen=True, slots=True)
class DegreeAngle(Expr):
    """An angle in degrees."""

    term: Expr


@dataclass(frozen=True, slots=True)
class BigOperator(Expr):
    """A sum, product, integral or limit with its bounds."""

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
    """A list, tuple or set; a list without brackets has an empty `opening`."""

    opening: Bracket
    items: tuple[Node, ...]
    closing: Literal[")", "]", "}", ""]
    joint: Literal["", "and", "or"] = ""
    """The word that joins the members of a bare list, if there is one."""


@dataclass(frozen=True, slots=True)
class IntervalNode(Node):
    """An interval that cannot be mistaken for a pair."""

    opening: Literal["(", "["]
    low: Node
    high: Node
    closing: Literal[")", "]"]


@dataclass(frozen=True, slots=True)
class Union(Node):
    """A union of sets."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class SetDifference(Node):
    """The set difference `whole` minus `removed`."""

    whole: Node
    removed: Node


@dataclass(frozen=True, slots=True)
class ConditionSet(Node):
    """A set in set-builder notation: its member and its conditions."""

    member: Node
    conditions: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Relation(Node):
    """An equation, an inequality or a chain: `operators[k]` stands between sides k and k + 1."""

    sides: tuple[Node, ...]
    operators: tuple[RelationOp, ...]


@dataclass(frozen=True, slots=True)
class Text(Node):
    """An answer in words."""

    words: str


def children(node: Node) -> tuple[Node, ...]:
    """The children of a node, in reading order."""
    match node:
        case Add(parts) | Mul(parts) | Call(_, parts) | CallOrProduct(_, parts) | Ratio(parts):
            return parts
        case Div(a, b) | Power(a, b) | SetDifference(a, b) | IntervalNode(_, a, b):
            return (a, b)
        case PlusMinus(term) | DegreeAngle(term) | Quantity(term):
            return (term,)
        case Group(_, items) | Union(items) | Relation(items):
            return items
        case Matrix(rows):
            return tuple(cell for row in rows for cell in row)
        case BigOperator(_, lower, upper, body):
            return tuple(part for part in (lower, upper, body) if part is not None)
        case ConditionSet(member, conditions):
            return (member, *conditions)
        case _:
            return ()


def walk(*roots: Node) -> list[Node]:
    """The nodes and all their descendants, parents before children."""
    nodes = list(roots)
    for node in nodes:
        nodes.extend(children(node))
    return nodes


def rebuild(node: Node, change: Callable[[Node], Node]) -> Node:
    """Copy the node with `change` applied to each child."""

    def rebuild_field(value: Any) -> Any:  # a node, a tuple of fields, or a name
        if isinstance(value, Node):
            changed = change(value)
            return expression(changed) if isinstance(value, Expr) else changed
        return tuple(map(rebuild_field, value)) if isinstance(value, tuple) else value

    names = (field.name for field in fields(node))
    return replace(node, **{name: rebuild_field(getattr(node, name)) for name in names})


def substitute(node: Node, change: Callable[[Node], Node | None]) -> Node:
    """Copy the tree, and replace the outermost nodes for which `change` returns a node."""
    changed = change(node)
    return rebuild(node, lambda child: substitute(child, change)) if changed is None else changed


def with_names(node: Node, names: Mapping[str, str]) -> Node:
    """Copy the tree with the variables renamed, all at once."""
    renamed: dict[Node, Node] = {Symbol(old): Symbol(new) for old, new in names.items()}
    return substitute(node, renamed.get)


def with_variable(node: Node, name: Literal["i", "e"]) -> Node:
    """Copy the tree with the constant i or e as a variable."""
    return substitute(node, lambda part: Symbol(name) if part == Constant(name) else None)


_KINDS: Final[Mapping[type[Node], str]] = {
    BasedNumeral: "based", CallOrProduct: "apply", DegreeAngle: "degree", BigOperator: "big",
    IntervalNode: "span", SetDifference: "without", ConditionSet: "builder",
}  # fmt: skip
"""The kinds in recorded rule codes that are not the name of a class."""


def kind_of(node: Node) -> str:
    """Return the kind of a node, as rule codes and messages name it."""
    return _KINDS.get(type(node)) or type(node).__name__.lower()


def expression(node: Node) -> Expr:
    """Return the node as an expression; raise UnreadableAnswer for other nodes."""
    if isinstance(node, Expr):
        return node
    raise UnreadableAnswer(f"{kind_of(node)} inside arithmetic")


def is_label(name: str) -> bool:
    """Whether a name is at least two capital letters, such as the label HTT."""
    return len(name) > 1 and name.isalpha() and name.isupper()


def as_interval(node: Node) -> Node:
    """Turn a pair in brackets into an interval; return other nodes unchanged."""
    match node:
        case Group("(" | "[" as opening, (low, high), ")" | "]" as closing):
            return IntervalNode(opening, low, high, closing)
        case _:
            return node


def infinite_sign(node: Node) -> int:
    """Return 1 for infinity, -1 for minus infinity, else 0."""
    match node:
        case Constant("infinity"):
            return 1
        case Mul((Number(value), Constant("infinity"))):
            return (value > 0) - (value < 0)
        case _:
            return 0


def number(text: str) -> Number:
    """Parse a number in digits, with or without a decimal point or an exponent."""
    if len(text) > MAX_DIGITS:
        raise TooLarge(f"a number has {len(text):,} characters; the limit is {MAX_DIGITS:,}")
    if text.isdigit():
        return Number(int(text))
    mantissa, _, exponent = text.lower().partition("e")
    integer, _, part = mantissa.partition(".")
    shift = int(exponent or "0")
    if abs(shift) > MAX_EXPONENT:
        raise TooLarge(f"a decimal exponent is {shift:,}; the limit is {MAX_EXPONENT:,}")
    shift -= len(part)
    digits = int((integer + part) or "0")
    value = digits * 10**shift if shift >= 0 else whole(Fraction(digits, 10**-shift))
    if not part and not exponent:
        return Number(value)
    return Number(value, len((integer + part).lstrip("0")), -shift)


def whole(value: int | Fraction) -> int | Fraction:
    """Return the value, as an int if it is an integer."""
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
