"""What stands between brackets: tuples, sets, intervals, set builders, and one expression."""

from __future__ import annotations

from typing import Final

from assay.rewards.outcome.maths.compute.notations import AROUND
from assay.rewards.outcome.maths.limits import UnreadableAnswer
from assay.rewards.outcome.maths.nodes import (
    Bracket,
    Builder,
    Call,
    Expr,
    Group,
    Node,
    Quantity,
    Ratio,
    Relation,
    Span,
    Text,
    as_interval,
    expression,
    infinite_sign,
)
from assay.rewards.outcome.maths.read.arithmetic import closes_interval
from assay.rewards.outcome.maths.read.cursor import Cursor
from assay.rewards.outcome.maths.read.items import read_items, read_list
from assay.rewards.outcome.maths.read.tokens import Token

_CLOSERS: Final = {
    "(": (")", "]", "["),
    "[": ("]", ")", "["),
    "]": ("]", ")", "["),
    "{": ("}",),
    "\\{": ("\\}",),
    "<": (">",),
    **{bracket: (bracket,) for bracket in AROUND},
}
_KINDS: Final[dict[str, Bracket]] = {"\\{": "{", "<": "(", "(": "(", "[": "[", "]": "("}


def read_group(cursor: Cursor) -> Node:
    """What stands between two brackets; parentheses around one expression vanish."""
    cursor.enter()
    opening = cursor.take().text
    bars, builder, cursor.bars, cursor.builder = cursor.bars, cursor.builder, 0, opening == "\\{"
    if cursor.token.kind == "close":
        items: list[Node] = []
    else:
        _split_grouped(cursor)
        items = read_items(cursor)
    if cursor.builder and cursor.token.text in ("mid", "|", ":", "colon"):
        node = _read_builder(cursor, items)
    else:
        node = _close_group(cursor, opening, items)
    cursor.bars, cursor.builder = bars, builder
    cursor.leave()
    return node


def _split_grouped(cursor: Cursor) -> None:
    """Inside brackets a comma separates: `(1,234)` has two members."""
    level, at = 0, cursor.at
    while level >= 0 and cursor.tokens[at].kind != "end":
        token = cursor.tokens[at]
        level += (token.kind == "open") - (token.kind == "close")
        if level == 0 and is_comma_grouped(token):
            cursor.tokens[at : at + 1] = separate(token)
        at += 1


def _close_group(cursor: Cursor, opening: str, items: list[Node]) -> Node:
    closing = cursor.token.text
    closes = cursor.token.kind == "close" or closes_interval(cursor)
    if not closes or closing not in _CLOSERS[opening]:
        raise UnreadableAnswer(f"{opening!r} closed by {closing or 'nothing'!r}")
    cursor.take()
    if opening in AROUND:
        if len(items) != 1:
            raise UnreadableAnswer("a list between bars")
        return Call(AROUND[opening], (expression(items[0]),))
    if opening == "{":
        return items[0] if len(items) == 1 else Group("", tuple(items), "")
    if len(items) == 1 and opening + closing in ("()", "[]") and _bracket_vanishes(items[0]):
        return items[0]
    if opening == "]" or closing == "[":
        return _turned_interval(opening, items, closing)
    ends = {"\\}": "}", ">": ")"}.get(closing, closing)
    match ends:
        case ")" | "]" | "}":
            group = Group(_KINDS[opening], tuple(items), ends)
            ranges = opening + closing in ("(]", "[)") or any(map(infinite_sign, items))
            return as_interval(group) if ranges else group
        case _:
            raise UnreadableAnswer(f"bracket {closing!r}")


def _turned_interval(opening: str, items: list[Node], closing: str) -> Node:
    """`]a, b[`: a bracket that is turned outwards leaves its end out."""
    if len(items) != 2:
        raise UnreadableAnswer("an interval without two ends")
    low, high = items
    return Span("[" if opening == "[" else "(", low, high, "]" if closing == "]" else ")")


def read_turned(cursor: Cursor) -> Node:
    """An interval that starts with a bracket turned outwards."""
    if cursor.token.text != "]":
        raise UnreadableAnswer(f"{cursor.token.text!r} where a value was expected")
    return read_group(cursor)


def _read_builder(cursor: Cursor, items: list[Node]) -> Node:
    if len(items) != 1:
        raise UnreadableAnswer("a set builder over a list")
    cursor.take()
    cursor.builder = False
    conditions = read_list(cursor)
    cursor.expect("close", "\\}")
    match conditions:
        case Group("", each, "", ""):
            return Builder(items[0], each)
        case _:
            return Builder(items[0], (conditions,))


def _bracket_vanishes(node: Node) -> bool:
    return isinstance(node, (Expr, Quantity, Group, Ratio, Relation, Text))


def is_comma_grouped(token: Token) -> bool:
    """Grouped by nothing but commas, into numbers that could stand alone."""
    if token.kind != "grouped" or set(token.text) - set("0123456789,"):
        return False
    return ",0" not in token.text


def separate(token: Token) -> list[Token]:
    """The numbers of a grouped token, with the commas between them."""
    parts: list[Token] = []
    for piece in token.text.split(","):
        parts.extend((Token("number", piece), Token("sep", ",")))
    return parts[:-1]
