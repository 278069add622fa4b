"""Functions with their arguments, bases and powers; roots, and what stands between bars."""

from __future__ import annotations

from assay.rewards.outcome.maths.compute.notations import AROUND, FUNCTIONS, INDEXED
from assay.rewards.outcome.maths.limits import UnreadableAnswer
from assay.rewards.outcome.maths.nodes import (
    Call,
    Constant,
    Expr,
    Number,
    Power,
    Symbol,
    expression,
)
from assay.rewards.outcome.maths.read.arithmetic import (
    read_argument,
    read_juxtaposed,
    read_signed_argument,
    read_sum,
)
from assay.rewards.outcome.maths.read.atoms import read_index
from assay.rewards.outcome.maths.read.cursor import Cursor


def read_function(cursor: Cursor) -> Expr:
    name = cursor.take().text
    if name in INDEXED:
        return _read_root(cursor, INDEXED[name])
    cursor.enter()
    base: Expr | None = None
    power: Expr | None = None
    for _ in range(2):
        if cursor.accept("op", "_"):
            base = _read_base(cursor)
        elif cursor.token.text == "^" and cursor.token.kind == "op":
            cursor.take()
            letter = cursor.peek(0).kind == "name"
            power = Symbol(cursor.take().text) if letter else read_signed_argument(cursor)
    arguments = _read_function_arguments(cursor)
    cursor.leave()
    if isinstance(power, Number) and power.value == -1 and FUNCTIONS[name].inverse:
        return Call(FUNCTIONS[name].inverse, arguments)
    if base is not None:
        if name != "log":
            raise UnreadableAnswer(f"a subscript of {name}")
        arguments = (*arguments, base)
    call = Call(name, arguments)
    return call if power is None else Power(call, power)


def read_operator(cursor: Cursor) -> Expr:
    """A function that is only a name, with its index and its argument, as in `Li_2(x)`."""
    name = cursor.take().text
    cursor.enter()
    if cursor.accept("op", "_"):
        name = f"{name}_{_spelling(_read_base(cursor))}"
    if cursor.token.kind == "open" and cursor.token.text in ("(", "{", "["):
        arguments = _read_function_arguments(cursor)
    elif cursor.token.kind in ("name", "constant", "number", "command"):
        arguments = (read_argument(cursor),)
    else:
        arguments = ()
    cursor.leave()
    return Call(name, arguments, opaque=True) if arguments else Symbol(name)


def _spelling(index: Expr) -> str:
    match index:
        case Number(value) | Symbol(value) | Constant(value):
            return str(value)
        case _:
            return repr(index)


def _read_base(cursor: Cursor) -> Expr:
    token = cursor.token
    base = read_index(cursor)
    return Constant("e") if token.kind == "constant" and token.text == "e" else base


def _read_function_arguments(cursor: Cursor) -> tuple[Expr, ...]:
    """One bracketed group, or the juxtaposed factors up to the next function or sign."""
    token = cursor.token
    if token.kind == "open" and token.text in ("(", "{", "[", "\\{"):
        group = cursor.read_group()
        items = getattr(group, "items", None)
        return tuple(expression(item) for item in items) if items else (expression(group),)
    return (read_juxtaposed(cursor),)


def _read_root(cursor: Cursor, name: str) -> Expr:
    cursor.enter()
    index: Expr = Number(2)
    if cursor.token.kind == "open" and cursor.token.text == "[":
        index = expression(cursor.read_group())
    if cursor.token.kind == "open" and cursor.token.text == "(":
        radicand = expression(cursor.read_group())
    else:
        radicand = read_argument(cursor)
    cursor.leave()
    return Call(name, (radicand, index))


def read_bars(cursor: Cursor) -> Expr:
    """The function of what stands between two plain bars."""
    bar = cursor.token.text
    if bar not in AROUND:
        raise UnreadableAnswer(f"{bar!r} where a value was expected")
    cursor.take()
    cursor.enter()
    cursor.bars += 1
    inside = expression(read_sum(cursor))
    cursor.bars -= 1
    cursor.leave()
    cursor.expect("op", bar)
    return Call(AROUND[bar], (inside,))
