"""Parser rules for lists, relations, unions, ratios and brackets."""

from __future__ import annotations

from itertools import pairwise
from typing import Final, Literal, TypeAlias, get_args

from assay.rewards.outcome.maths.compute.notations import AROUND
from assay.rewards.outcome.maths.limits import MAX_ITEMS, MAX_PARTS, TooLarge, UnreadableAnswer
from assay.rewards.outcome.maths.nodes import (
    Bracket,
    Call,
    ConditionSet,
    Expr,
    Group,
    IntervalNode,
    Node,
    Number,
    Quantity,
    Ratio,
    Relation,
    RelationOp,
    SetDifference,
    Text,
    Union,
    as_interval,
    expression,
    infinite_sign,
    number,
)
from assay.rewards.outcome.maths.read.arithmetic import closes_interval
from assay.rewards.outcome.maths.read.quantities import read_quantity
from assay.rewards.outcome.maths.read.tokens import Cursor, Token

Joint: TypeAlias = Literal["", "and", "or"]
_OR: Final = frozenset({"or", ", or", "and/or"})
_AND: Final = frozenset({"and", ", and", "&", "as well as"})
_DOTS: Final = frozenset({"ldots", "dots", "cdots", "dotsc"})
_ITEM_ENDS: Final = frozenset({"sep", "close", "end"})
_RELATION_SIGNS: Final[dict[str, RelationOp]] = {sign: sign for sign in get_args(RelationOp)}
_CLOSERS: Final = {
    "(": (")", "]", "["),
    "[": ("]", ")", "["),
    "]": ("]", ")", "["),
    "{": ("}",),
    "\\{": ("\\}",),
    "<": (">",),
    **{bracket: (bracket,) for bracket in AROUND},
}
_BARE: Final = (Expr, Quantity, Group, Ratio, Relation, Text)
"""Nodes that brackets around them do not change."""
_KINDS: Final[dict[str, Bracket]] = {"\\{": "{", "<": "(", "(": "(", "[": "[", "]": "("}


def read_list(cursor: Cursor) -> Node:
    start = cursor.at
    items = read_items(cursor)
    if len(items) == 1:
        return items[0]
    match items[0]:
        case Relation((name, value), ("!=",)) if all(isinstance(item, Expr) for item in items[1:]):
            return Relation((name, Group("", (value, *items[1:]), "")), ("!=",))
    words = {t.text for t in cursor.tokens[start : cursor.at] if t.kind == "sep"}
    alternatives = not words.isdisjoint(_OR)
    joint: Joint = "or" if alternatives else "" if words.isdisjoint(_AND) else "and"
    return Group("", tuple(items), "", joint)


def read_items(cursor: Cursor) -> list[Node]:
    items = [read_item(cursor)]
    while _skip_separators(cursor):
        if cursor.token.kind == "command" and cursor.token.text in _DOTS:
            items.extend(_read_dots(cursor, items))
        items.append(read_item(cursor))
        if len(items) > MAX_ITEMS:
            raise TooLarge(f"a list has more than {MAX_ITEMS} members")
    return items


def _read_dots(cursor: Cursor, items: list[Node]) -> list[Node]:
    """Parse dots in a list, and return the integers that the dots omit."""
    cursor.take()
    _skip_separators(cursor)
    end = cursor.token.text
    values = [item.value for item in items if isinstance(item, Number) and item.digits is None]
    steps = {after - before for before, after in pairwise(values)} or {1}
    step = next(iter(steps))
    whole = len(values) == len(items) and all(isinstance(value, int) for value in values)
    if not whole or len(steps) > 1 or step <= 0 or not end.isdigit() or len(end) > 9:
        raise UnreadableAnswer("the dots do not continue a sequence of integers")
    after = cursor.peek().kind
    count, rest = divmod(int(end) - int(values[-1]), int(step))
    if rest or count < 1 or after not in _ITEM_ENDS:
        raise UnreadableAnswer("the number after the dots does not continue the sequence")
    if count > MAX_ITEMS:
        raise TooLarge(f"a list has more than {MAX_ITEMS} members")
    return [Number(values[-1] + step * k) for k in range(1, count)]


def _skip_separators(cursor: Cursor) -> bool:
    """Whether another member follows."""
    start = cursor.at
    while cursor.token.kind == "sep":
        cursor.take()
    return cursor.at > start and cursor.token.kind not in ("end", "close")


def read_item(cursor: Cursor) -> Node:
    token, after = cursor.token, cursor.peek()
    if token.kind == "number" and (after.kind in _ITEM_ENDS or after.text in ("&", "row")):
        return number(cursor.take().text)
    sides: list[Node] = []
    operators: list[RelationOp] = []
    if cursor.token.kind == "rel" and cursor.token.text in ("~", "="):
        cursor.take()
    while True:
        sides.append(_read_side(cursor))
        if cursor.token.kind != "rel":
            break
        operators.append(_RELATION_SIGNS[cursor.take().text])
        if len(sides) > 12:
            raise TooLarge("a chain of relations has more than 12 sides")
    if operators[-1:] == ["in"] and not isinstance(sides[0], Group):
        sides[-1] = as_interval(sides[-1])
    return sides[0] if not operators else Relation(tuple(sides), tuple(operators))


def _read_side(cursor: Cursor) -> Node:
    left = _read_ratio(cursor)
    parts = [left]
    while True:
        token = cursor.token
        if token.text == "cup" or (token.text == "U" and isinstance(left, (Group, IntervalNode))):
            cursor.take()
            parts.append(_read_ratio(cursor))
        elif token.kind == "command" and token.text == "setminus":
            cursor.take()
            parts = [SetDifference(as_interval(_union(parts)), as_interval(_read_ratio(cursor)))]
        else:
            return _union(parts)
        if len(parts) > MAX_PARTS:
            raise TooLarge(f"a union has more than {MAX_PARTS} parts")


def _union(parts: list[Node]) -> Node:
    return parts[0] if len(parts) == 1 else Union(tuple(map(as_interval, parts)))


def _read_ratio(cursor: Cursor) -> Node:
    start = cursor.at
    first = read_quantity(cursor)
    if cursor.token.text != ":" or cursor.builder:
        return first
    terms = [expression(first)]
    while cursor.accept("op", ":"):
        terms.append(expression(read_quantity(cursor)))
    return Ratio(tuple(terms), clock=_looks_like_a_time(cursor.tokens[start : cursor.at]))


def _looks_like_a_time(tokens: list[Token]) -> bool:
    if len(tokens) not in (3, 5):
        return False
    if any(t.kind != "number" or not t.text.isdigit() for t in tokens[::2]):
        return False
    hours, *rest = (t.text for t in tokens[::2])
    return int(hours) <= 24 and all(len(text) == 2 and int(text) < 60 for text in rest)


def read_group(cursor: Cursor) -> Node:
    """Parse the content of two brackets; parentheses around one expression are dropped."""
    if cursor.token.kind == "close" and cursor.token.text != "]":
        raise UnreadableAnswer(f"{cursor.token.text!r} stands in the place of a value")
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
    """Split numbers at commas inside brackets: `(1,234)` has two members."""
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
        raise UnreadableAnswer(f"the bracket {opening!r} is closed by {closing or 'nothing'!r}")
    cursor.take()
    if opening in AROUND:
        if len(items) != 1:
            raise UnreadableAnswer("a list between bars")
        return Call(AROUND[opening], (expression(items[0]),))
    if opening == "{":
        return items[0] if len(items) == 1 else Group("", tuple(items), "")
    if len(items) == 1 and opening + closing in ("()", "[]") and isinstance(items[0], _BARE):
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
    """Build an interval such as `]a, b[`, where a reversed bracket is an open end."""
    if len(items) != 2:
        raise UnreadableAnswer("an interval does not have two ends")
    low, high = items
    return IntervalNode("[" if opening == "[" else "(", low, high, "]" if closing == "]" else ")")


def _read_builder(cursor: Cursor, items: list[Node]) -> Node:
    if len(items) != 1:
        raise UnreadableAnswer("a set builder has a list as its member")
    cursor.take()
    cursor.builder = False
    conditions = read_list(cursor)
    cursor.expect("close", "\\}")
    match conditions:
        case Group("", each, "", ""):
            return ConditionSet(items[0], each)
        case _:
            return ConditionSet(items[0], (conditions,))


def is_comma_grouped(token: Token) -> bool:
    """Whether the digits of a number are grouped only by commas."""
    if token.kind != "grouped" or set(token.text) - set("0123456789,"):
        return False
    return ",0" not in token.text


def separate(token: Token) -> list[Token]:
    """Split a number at its commas into several numbers."""
    parts: list[Token] = []
    for piece in token.text.split(","):
        parts.extend((Token("number", piece), Token("sep", ",")))
    return parts[:-1]
