"""Parser rules for numbers, names, functions and bars."""

from __future__ import annotations

from fractions import Fraction

from assay.rewards.outcome.maths.compute.notations import AROUND, FUNCTIONS, INDEXED
from assay.rewards.outcome.maths.limits import MAX_DIGITS, TooLarge, UnreadableAnswer
from assay.rewards.outcome.maths.nodes import (
    BasedNumeral,
    Call,
    CallOrProduct,
    Constant,
    Expr,
    Group,
    Mul,
    Number,
    Power,
    Symbol,
    expression,
    number,
)
from assay.rewards.outcome.maths.read.arithmetic import (
    read_argument,
    read_juxtaposed,
    read_signed_argument,
    read_sum,
)
from assay.rewards.outcome.maths.read.tokens import Cursor


def read_number(cursor: Cursor) -> Expr:
    text = cursor.take().text
    token = cursor.token
    if token.kind == "command" and token.text in ("overline", "bar", "dot") and "." in text:
        cursor.take()
        cursor.expect("open", "{")
        period = cursor.take().text
        cursor.expect("close", "}")
        if not period.isdigit():
            raise UnreadableAnswer("the repeating part of a decimal is not digits")
        return _repeating(text, period)
    if token.kind == "op" and token.text == "_" and text.isalnum():
        cursor.take()
        base = read_argument(cursor)
        if len(text) > MAX_DIGITS:
            raise TooLarge(f"a numeral has {len(text):,} digits; the limit is {MAX_DIGITS:,}")
        largest = max(int(digit, 36) for digit in text)
        if isinstance(base, Number) and base.value in range(max(2, largest + 1), 37):
            return BasedNumeral(text, int(base.value))
        raise UnreadableAnswer("the subscript of a number is not a base")
    return number(text)


def read_name(cursor: Cursor) -> Expr:
    name = cursor.take().text + read_primes(cursor)
    if cursor.token.kind == "op" and cursor.token.text == "_":
        return read_subscript(cursor, name)
    name += read_primes(cursor)
    return maybe_apply(cursor, name + _read_inverse(cursor, name))


def _read_inverse(cursor: Cursor, name: str) -> str:
    """Parse the inverse sign of a function, as in `f^{-1}(x)`."""
    start = cursor.at
    if name in ("f", "g", "h") and (
        cursor.accept_run("^", "{", "-", "1", "}") or cursor.accept_run("^", "-", "1")
    ):
        if cursor.token.text.startswith("("):
            return "^-1"
        cursor.at = start
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
            spelling = str(inner)
        case Symbol(inner):
            spelling = inner + read_primes(cursor)
        case Mul(factors) if all(isinstance(factor, Symbol) for factor in factors):
            spelling = "".join(f.name for f in factors if isinstance(f, Symbol))
        case _:
            return Call(f"{name}_", (index,), opaque=True)
    return maybe_apply(cursor, f"{name}_{spelling}")


def read_index(cursor: Cursor) -> Expr:
    """Parse a subscript: a number, a letter, or a group in braces."""
    token = cursor.token
    if token.kind == "number":
        cursor.take()
        return number(token.text)
    if token.kind in ("name", "constant"):
        cursor.take()
        return Symbol(token.text)
    return read_argument(cursor)


def _read_spelt_index(cursor: Cursor) -> str:
    """Parse a subscript in braces that has only letters, digits and commas."""
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
    """Return the letter, applied to its argument if parentheses follow."""
    token = cursor.token
    if name == "i" or token.kind != "open" or token.text != "(":
        return Constant("i") if name == "i" else Symbol(name)
    if token.gap and len(name) == 1 and name not in "fghFGH":
        return Symbol(name)
    start, depth = cursor.at, cursor.depth
    try:
        group = cursor.read_group()
        items = group.items if isinstance(group, Group) and group.opening == "(" else (group,)
        return CallOrProduct(name, tuple(map(expression, items)))
    except TooLarge:
        raise
    except UnreadableAnswer:
        cursor.at, cursor.depth = start, depth
        return Symbol(name + _read_spelt_argument(cursor))


def _read_spelt_argument(cursor: Cursor) -> str:
    """Parse an argument that is not an expression, as in `P(X = 2)`, as plain text."""
    spelling, level = "", 0
    while cursor.token.kind != "end" and len(spelling) < 40:
        token = cursor.take()
        spelling += token.text
        level += (token.text == "(") - (token.text == ")")
        if level == 0:
            return spelling
    raise UnreadableAnswer("the argument in parentheses is not an expression")


def _repeating(text: str, period: str) -> Number:
    literal = number(text if not text.endswith(".") else text + "0")
    places = len(text.partition(".")[2])
    whole = 10**places * (10 ** len(period) - 1)
    return Number(literal.value + Fraction(number(period).value, whole))


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
            raise UnreadableAnswer(f"{name} cannot have a subscript")
        arguments = (*arguments, base)
    call = Call(name, arguments)
    return call if power is None else Power(call, power)


def read_operator(cursor: Cursor) -> Expr:
    """Parse an unknown function with its index and its argument, as in `Li_2(x)`."""
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
    """Parse the arguments of a function, with or without brackets."""
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
    """Parse an expression between two bars, such as `|x|`."""
    bar = cursor.token.text
    if bar not in AROUND:
        raise UnreadableAnswer(f"{bar!r} stands in the place of a value")
    cursor.take()
    cursor.enter()
    cursor.bars += 1
    inside = expression(read_sum(cursor))
    cursor.bars -= 1
    cursor.leave()
    cursor.expect("op", bar)
    return Call(AROUND[bar], (inside,))
