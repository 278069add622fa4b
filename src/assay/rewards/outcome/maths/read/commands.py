"""Commands of TeX where a value is expected, one row each; any other command is a letter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NoReturn, TypeAlias

from assay.rewards.outcome.maths.compute.notations import BRACED, FUNCTIONS, OPERATORS
from assay.rewards.outcome.maths.limits import UnreadableAnswer
from assay.rewards.outcome.maths.nodes import (
    INFINITY,
    Big,
    Call,
    Constant,
    Expr,
    Group,
    Node,
    Number,
    OperatorName,
    Relation,
    Span,
    Symbol,
    Without,
    expression,
    negate,
    with_variable,
)
from assay.rewards.outcome.maths.read import derivatives, lexicon
from assay.rewards.outcome.maths.read.arithmetic import (
    STOP_COMMANDS,
    read_argument,
    read_signed_product,
)
from assay.rewards.outcome.maths.read.atoms import maybe_apply, read_primes, read_subscript
from assay.rewards.outcome.maths.read.cursor import Cursor
from assay.rewards.outcome.maths.read.environments import read_environment

_OPERATORS: Final[dict[str, OperatorName]] = {name: name for name in OPERATORS}
CommandRule: TypeAlias = Callable[[Cursor, str], Node]


def read_command(cursor: Cursor) -> Node:
    """What the command here and its arguments write."""
    name = cursor.take().text
    return _COMMANDS.get(name, _read_symbol)(cursor, name)


def _read_fraction(cursor: Cursor, _name: str) -> Expr:
    cursor.enter()
    fraction = derivatives.quotient(read_argument(cursor), read_argument(cursor))
    cursor.leave()
    return fraction


def _read_braced(cursor: Cursor, name: str) -> Expr:
    """A function whose arguments are in braces."""
    function = BRACED[name]
    count, _ = FUNCTIONS[function].arity
    return Call(function, tuple(read_argument(cursor) for _ in range(count)))


def _read_box(cursor: Cursor, _name: str) -> Node:
    return cursor.read_group() if cursor.token.kind == "open" else read_argument(cursor)


def _read_begin(cursor: Cursor, _name: str) -> Node:
    return read_environment(cursor)


def _read_empty_set(_cursor: Cursor, _name: str) -> Node:
    return Symbol("emptyset")


def _refuse(_cursor: Cursor, name: str) -> NoReturn:
    raise UnreadableAnswer(f"\\{name} where a value was expected")


def _read_figure(cursor: Cursor, name: str) -> Expr:
    """An angle, a triangle or another figure by its points, in their order.

    An angle may be read from either of its sides.
    """
    figure = lexicon.FIGURES[name]
    braced = cursor.token.text == "{"
    if braced:
        cursor.take()
    points: list[str] = []
    while cursor.token.kind == "name" and (cursor.token.text.isupper() or not points):
        points.extend(cursor.take().text)
        points[-1] += read_primes(cursor) + _read_point_index(cursor)
    if not points and cursor.token.kind == "number":
        points = [cursor.take().text]
    if braced:
        cursor.expect("close", "}")
    if figure == "angle" and len(points) == 3:
        points = min(points, points[::-1])
    return Symbol(" ".join([figure, "".join(points)]) if points else figure)


def _read_point_index(cursor: Cursor) -> str:
    if cursor.token.text != "_" or cursor.peek().kind != "number":
        return ""
    cursor.take()
    return f"_{cursor.take().text}"


def _read_symbol(cursor: Cursor, name: str) -> Expr:
    """A letter by its command: Greek, or one that nothing is known of."""
    if cursor.token.kind == "op" and cursor.token.text == "_":
        return read_subscript(cursor, name)
    name = name.removeprefix("var") + read_primes(cursor)
    return maybe_apply(cursor, name) if name in lexicon.GREEK else Symbol(name)


def _read_styled(cursor: Cursor, _name: str) -> Node:
    """What is printed in another style: the same, but a bold i, j or k is a unit vector."""
    token, after, closing = cursor.token, cursor.peek(1), cursor.peek(2)
    letter = after if token.text == "{" and closing.text == "}" else token
    if letter.kind in ("name", "constant") and letter.text in ("i", "j", "k"):
        return _read_decorated(cursor, "hat")
    return cursor.read_group() if token.kind == "open" else read_argument(cursor)


def _read_decorated(cursor: Cursor, name: str) -> Node:
    """A letter under a sign, or of another alphabet: another name."""
    token, after, closing = cursor.token, cursor.peek(1), cursor.peek(2)
    if token.text == "{" and closing.text == "}" and after.kind in ("name", "constant"):
        cursor.at += 3
        inner = after.text
    elif token.kind in ("name", "constant"):
        inner = cursor.take().text
    else:
        inner = repr(read_argument(cursor))
    if name == "mathbb" and inner in "RQZ":
        part = _read_part(cursor)
        if part and inner == "R":
            return _PARTS_OF_LINE[part]
        if part or inner != "Z" or cursor.token.text != "_":
            return Symbol(f"mathbb:{inner}{part}")
    if cursor.token.kind == "op" and cursor.token.text == "_":
        return read_subscript(cursor, f"{name}:{inner}")
    return Symbol(f"{name}:{inner}")


def _read_part(cursor: Cursor) -> str:
    """The part of the numbers that a mark leaves, as in `\\mathbb{R}^+`; "" without one."""
    ahead = "".join(cursor.peek(k).text for k in range(7)) if cursor.token.kind == "op" else ""
    for mark, part in lexicon.PARTS_OF_LINE.items():
        for spelling in (f"{mark[0]}{{{mark[1:]}}}", mark):
            if ahead.startswith(spelling):
                cursor.at += len(spelling) - spelling.count(">=") - spelling.count("<=")
                return part
    return ""


_PARTS_OF_LINE: Final[dict[str, Node]] = {
    ">0": Span("(", Number(0), INFINITY, ")"),
    ">=0": Span("[", Number(0), INFINITY, ")"),
    "<0": Span("(", negate(INFINITY), Number(0), ")"),
    "<=0": Span("(", negate(INFINITY), Number(0), "]"),
    "!=0": Without(Symbol("mathbb:R"), Group("{", (Number(0),), "}")),
}


def _read_big(cursor: Cursor, name: str) -> Expr:
    """A sum, product, integral or limit, with its bounds and the product that follows."""
    cursor.enter()
    lower: Node | None = None
    upper: Node | None = None
    for _ in range(2):
        if cursor.accept("op", "_"):
            lower = _read_bound(cursor)
        elif cursor.accept("op", "^"):
            upper = _read_bound(cursor)
    body = read_signed_product(cursor)
    cursor.leave()
    if isinstance(lower, Relation) and lower.sides[0] == Constant("i"):
        lower, body = with_variable(lower, "i"), expression(with_variable(body, "i"))
    return Big(_OPERATORS[name], lower, upper, body)


def _read_bound(cursor: Cursor) -> Node:
    """A bound: in braces it may be a relation, such as `k=1`."""
    return cursor.read_group() if cursor.token.text == "{" else read_argument(cursor)


_COMMANDS: Final[dict[str, CommandRule]] = {
    **dict.fromkeys(("emptyset", "varnothing"), _read_empty_set),
    **dict.fromkeys((*STOP_COMMANDS, *lexicon.UNREAD), _refuse),
    **dict.fromkeys(lexicon.FIGURES, _read_figure),
    **dict.fromkeys(lexicon.FONTS, _read_styled),
    **dict.fromkeys(lexicon.DECORATIONS, _read_decorated),
    **dict.fromkeys(("boxed", "fbox"), _read_box),
    **dict.fromkeys(OPERATORS, _read_big),
    **dict.fromkeys(BRACED, _read_braced),
    "begin": _read_begin,
    "frac": _read_fraction,
}
