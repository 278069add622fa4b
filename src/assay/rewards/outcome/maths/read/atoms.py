"""Numbers and names: bases, periods, subscripts, primes, and a letter before brackets."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from assay.rewards.outcome.maths.compute.notations import CONSTANTS
from assay.rewards.outcome.maths.limits import MAX_DIGITS, TooLarge, UnreadableAnswer
from assay.rewards.outcome.maths.nodes import (
    Apply,
    Based,
    Call,
    Constant,
    ConstantName,
    Expr,
    Group,
    Mul,
    Node,
    Number,
    Rational,
    Symbol,
    Text,
    expression,
    number,
)
from assay.rewards.outcome.maths.read.arithmetic import read_argument
from assay.rewards.outcome.maths.read.cursor import Cursor

_CONSTANTS: Final[dict[str, ConstantName]] = {name: name for name in CONSTANTS}


def read_number(cursor: Cursor) -> Expr:
    text = cursor.take().text
    token = cursor.token
    if token.kind == "command" and token.text in ("overline", "bar", "dot") and "." in text:
        cursor.take()
        return _repeating(text, _read_digits(cursor))
    if token.kind == "op" and token.text == "_" and text.isalnum():
        cursor.take()
        base = read_argument(cursor)
        if len(text) > MAX_DIGITS:
            raise TooLarge(f"a numeral of {len(text):,} digits, limit {MAX_DIGITS:,}")
        if isinstance(base, Number) and _is_base(base.value, text):
            return Based(text, int(base.value))
        raise UnreadableAnswer("a subscript of a number that is not a base")
    return number(text)


def _is_base(base: Rational, numeral: str) -> bool:
    """Whether the numeral can be written in the base: all its digits are below it."""
    return base in range(2, 37) and all(int(digit, 36) < base for digit in numeral)


def _read_digits(cursor: Cursor) -> str:
    cursor.expect("open", "{")
    text = cursor.take().text
    cursor.expect("close", "}")
    if not text.isdigit():
        raise UnreadableAnswer("a repeating part that is not digits")
    return text


def read_name(cursor: Cursor) -> Expr:
    name = cursor.take().text + read_primes(cursor)
    if cursor.token.kind == "op" and cursor.token.text == "_":
        return read_subscript(cursor, name)
    name += read_primes(cursor)
    return maybe_apply(cursor, name + _read_inverse(cursor, name))


def _read_inverse(cursor: Cursor, name: str) -> str:
    """`^{-1}` between the letter of a function and its argument: the inverse function."""
    ahead = "".join(cursor.peek(k).text for k in range(6))
    for mark in ("^{-1}(", "^-1("):
        if name in ("f", "g", "h") and ahead.startswith(mark):
            cursor.at += 5 if "{" in mark else 3
            return "^-1"
    return ""


def read_primes(cursor: Cursor) -> str:
    primes = ""
    while cursor.accept("op", "'"):
        primes += "'"
    if cursor.token.text == "^" and cursor.peek().text == "prime":
        cursor.at += 2
        primes += "'"
    if len(primes) > 9:
        raise TooLarge("more than 9 primes")
    return primes


def read_subscript(cursor: Cursor, name: str) -> Expr:
    cursor.take()
    spelling = _read_spelt_index(cursor)
    if spelling:
        return maybe_apply(cursor, f"{name}_{spelling}" + read_primes(cursor))
    cursor.enter()
    index = read_index(cursor)
    cursor.leave()
    match index:
        case Number(inner) | Constant(inner):
            return maybe_apply(cursor, f"{name}_{inner}")
        case Symbol(inner):
            return maybe_apply(cursor, f"{name}_{inner}" + read_primes(cursor))
        case Mul(factors) if all(isinstance(factor, Symbol) for factor in factors):
            letters = "".join(f.name for f in factors if isinstance(f, Symbol))
            return maybe_apply(cursor, f"{name}_{letters}")
        case _:
            return Call(f"{name}_", (index,), opaque=True)


def read_index(cursor: Cursor) -> Expr:
    """A subscript: all the digits of a bare number, and a bare letter without its argument."""
    token = cursor.token
    if token.kind == "number":
        cursor.take()
        return number(token.text)
    if token.kind in ("name", "constant"):
        cursor.take()
        return Symbol(token.text)
    return read_argument(cursor)


def _read_spelt_index(cursor: Cursor) -> str:
    """A braced subscript of letters, digits and commas, as it is spelt."""
    if cursor.token.text != "{":
        return ""
    end = cursor.at + 1
    while cursor.tokens[end].kind in ("name", "text", "number", "sep", "constant"):
        end += 1
    if cursor.tokens[end].text != "}" or end == cursor.at + 1:
        return ""
    spelling = "".join(token.text for token in cursor.tokens[cursor.at + 1 : end])
    cursor.at = end + 1
    return spelling


def maybe_apply(cursor: Cursor, name: str) -> Expr:
    """The letter, or what it is applied to if parentheses follow."""
    token = cursor.token
    if name == "i" or token.kind != "open" or token.text != "(":
        return Constant("i") if name == "i" else Symbol(name)
    if token.gap and len(name) == 1 and name not in "fghFGH":
        return Symbol(name)
    start, depth = cursor.at, cursor.depth
    try:
        group = cursor.read_group()
        items = group.items if isinstance(group, Group) and group.opening == "(" else (group,)
        return Apply(name, tuple(map(expression, items)))
    except TooLarge:
        raise
    except UnreadableAnswer:
        cursor.at, cursor.depth = start, depth
        return Symbol(name + _read_spelt_argument(cursor))


def _read_spelt_argument(cursor: Cursor) -> str:
    """What stands in parentheses, as it is spelt, as in `P(X = 2)`."""
    spelling, level = "", 0
    while cursor.token.kind != "end" and len(spelling) < 40:
        token = cursor.take()
        spelling += token.text
        level += (token.text == "(") - (token.text == ")")
        if level == 0:
            return spelling
    raise UnreadableAnswer("an argument that is no expression")


def read_grouped(cursor: Cursor) -> Expr:
    """A number whose digits are in groups of three."""
    return number("".join(c for c in cursor.take().text if c.isdigit() or c == "."))


def read_constant(cursor: Cursor) -> Expr:
    return Constant(_CONSTANTS[cursor.take().text])


def read_text(cursor: Cursor) -> Node:
    return Text(cursor.take().text)


def _repeating(text: str, period: str) -> Number:
    literal = number(text if not text.endswith(".") else text + "0")
    places = len(text.partition(".")[2])
    whole = 10**places * (10 ** len(period) - 1)
    return Number(literal.value + Fraction(number(period).value, whole))
