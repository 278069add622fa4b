"""Parser rules for sums, products, powers and arguments."""

from __future__ import annotations

from typing import Final

from assay.rewards.outcome.maths.compute.notations import AFTER, AROUND, BETWEEN, HALVES
from assay.rewards.outcome.maths.limits import MAX_ITEMS, TooLarge, UnreadableAnswer
from assay.rewards.outcome.maths.nodes import (
    Add,
    Call,
    Constant,
    DegreeAngle,
    Div,
    Expr,
    Group,
    Matrix,
    Mul,
    Node,
    Number,
    PlusMinus,
    Power,
    SetDifference,
    Symbol,
    expression,
    negate,
    number,
    product,
    total,
)
from assay.rewards.outcome.maths.read.lexicon import GREEK
from assay.rewards.outcome.maths.read.tokens import Cursor, Token

STOP_COMMANDS: Final = frozenset(
    "cup cap setminus row end mid pm mp Rightarrow implies pmod iff ldots cdots dots text tag "
    "hline over".split()
).union(BETWEEN, HALVES)
"""Commands that no factor starts with."""
_SIGNS: Final = {("op", "+"), ("op", "-"), ("command", "pm"), ("command", "mp")}
_APPLIED: Final = ("function", "operator")
_FUNCTION_LETTERS: Final = frozenset("fghFGH")
_OPENERS: Final = frozenset({"(", "[", "{", "\\{", "<", *AROUND})


def read_sum(cursor: Cursor) -> Node:
    """Parse a sum; return a tuple, list or set unchanged if it stands alone."""
    terms: list[Node] = []
    while True:
        sign = _read_sign(cursor)
        term = read_product(cursor)
        terms.append(term if sign == "+" else _with_sign(expression(term), sign))
        if len(terms) > MAX_ITEMS:
            raise TooLarge(f"a sum has more than {MAX_ITEMS} terms")
        if not _at_sign(cursor):
            break
        if cursor.token.text == "-" and cursor.peek().text == "\\{":
            cursor.take()
            return SetDifference(_sum_of(terms), cursor.read_group())
    if cursor.token.kind == "command" and cursor.token.text in ("over", *HALVES):
        return _read_halves(cursor, _sum_of(terms))
    return _sum_of(terms)


def _sum_of(terms: list[Node]) -> Node:
    return terms[0] if len(terms) == 1 else total([expression(term) for term in terms])


def _read_halves(cursor: Cursor, above: Node) -> Expr:
    """Parse `a \\over b` or `n \\choose k` after the first half."""
    name = cursor.take().text
    cursor.enter()
    top, bottom = expression(above), expression(read_sum(cursor))
    cursor.leave()
    return Div(top, bottom) if name == "over" else Call(HALVES[name], (top, bottom))


def _at_sign(cursor: Cursor) -> bool:
    token = cursor.token
    return (token.kind, token.text) in _SIGNS


def _read_sign(cursor: Cursor) -> str:
    sign = "+"
    while _at_sign(cursor):
        text = cursor.take().text
        if text in ("pm", "mp"):
            sign = text
        elif text == "+" and cursor.accept("op", "/"):
            cursor.expect("op", "-")
            sign = "pm"
        elif text == "-":
            sign = {"+": "-", "-": "+", "pm": "mp", "mp": "pm"}[sign]
    return sign


def read_product(cursor: Cursor) -> Node:
    """Parse a product from left to right, so that `1/2x` is half of x."""
    first = read_power(cursor)
    factors: list[Expr] = []
    while True:
        token = cursor.token
        if token.kind == "op" and token.text in ("*", "/"):
            if cursor.peek().kind == "unit":
                return product(factors) if factors else first
            cursor.take()
            factor = _read_signed_power(cursor)
            if not factors:
                factors.append(expression(first))
            if token.text == "/":
                factors = [Div(product(factors), factor)]
            else:
                factors.append(factor)
        elif token.kind == "command" and token.text in BETWEEN:
            cursor.take()
            left = product(factors) if factors else expression(first)
            factors = [Call(BETWEEN[token.text], (left, _read_signed_power(cursor)))]
        elif _starts_factor(cursor, token) and not (
            isinstance(first, DegreeAngle) and at_temperature(cursor)
        ):
            if not factors:
                factors.append(expression(first))
            factors = _juxtapose(cursor, factors, token)
        else:
            return product(factors) if factors else first
        if len(factors) > MAX_ITEMS:
            raise TooLarge(f"a product has more than {MAX_ITEMS} factors")


def at_temperature(cursor: Cursor) -> bool:
    """Whether the next token is C or F, the letter of a temperature scale."""
    return cursor.token.text in ("C", "F") and cursor.peek().kind in ("end", "sep", "close")


def _juxtapose(cursor: Cursor, factors: list[Expr], token: Token) -> list[Expr]:
    previous = cursor.tokens[cursor.at - 1]
    named = previous.kind == "name" and previous.text != "i"
    if token.kind == "number" and named and not token.gap:
        raise UnreadableAnswer(f"{previous.text}{token.text} may be a product, a power or an index")
    if token.kind in ("number", "grouped") and previous.kind in ("number", "grouped"):
        mixed = _read_mixed(cursor, factors)
        if mixed is None:
            raise UnreadableAnswer("two numbers side by side")
        return mixed
    if token.kind == "command" and token.text == "frac":
        before, factor = factors[-1], expression(read_power(cursor))
        if previous.kind in ("number", "grouped") and _is_mixed(before, factor):
            sign = -1 if isinstance(before, Number) and before.value < 0 else 1
            part = factor if sign > 0 else negate(factor)
            return [*factors[:-1], total([before, part])]
        return [*factors, factor]
    return [*factors, expression(read_power(cursor))]


def _read_mixed(cursor: Cursor, factors: list[Expr]) -> list[Expr] | None:
    """Parse the fraction of a mixed number such as `1 1/2`, or return None."""
    slash, below = cursor.peek(1), cursor.peek(2)
    if slash.text != "/" or below.kind != "number" or not isinstance(factors[-1], Number):
        return None
    top = number(cursor.take().text)
    cursor.take()
    bottom = number(cursor.take().text)
    part = Div(top, bottom)
    if not _is_mixed(factors[-1], part):
        return None
    return [*factors[:-1], total([factors[-1], part])]


def _starts_factor(cursor: Cursor, token: Token) -> bool:
    match token.kind:
        case "number" | "grouped" | "name" | "constant" | "function" | "operator":
            return not (token.text == "U" and cursor.tokens[cursor.at - 1].kind == "close")
        case "open":
            return token.text in _OPENERS and not closes_interval(cursor)
        case "op":
            return token.text in ("|", "||") and not cursor.bars and not cursor.builder
        case "command":
            return token.text not in STOP_COMMANDS
        case _:
            return False


def closes_interval(cursor: Cursor) -> bool:
    """Whether the next bracket closes an interval such as `[-3, 5[`."""
    after = cursor.peek()
    if cursor.token.text != "[" or cursor.token.kind != "open":
        return False
    return after.kind in ("end", "sep", "close", "rel") or after.text in STOP_COMMANDS


def _read_minus(cursor: Cursor) -> bool:
    """Parse plus and minus signs; return whether their product is negative."""
    negative = False
    while cursor.token.kind == "op" and cursor.token.text in ("+", "-"):
        negative ^= cursor.take().text == "-"
    return negative


def _read_signed_power(cursor: Cursor) -> Expr:
    negative = _read_minus(cursor)
    factor = expression(read_power(cursor))
    return negate(factor) if negative else factor


def read_power(cursor: Cursor) -> Node:
    """Parse a value with its powers, factorials, primes and degree signs."""
    base = cursor.read_atom()
    postfixes = 0
    while cursor.token.kind == "op":
        sign = cursor.token.text
        if sign == "^":
            turned = _read_transpose(cursor, base)
            base = _read_exponent(cursor, expression(base)) if turned is None else turned
        elif sign in AFTER:
            cursor.take()
            doubled = sign + sign if cursor.accept("op", sign) else sign
            base = Call(AFTER[doubled], (expression(base),))
        else:
            break
        postfixes += 1
        if postfixes > 8:
            raise TooLarge("one value has more than 8 powers or factorials")
    return base


def _read_transpose(cursor: Cursor, base: Node) -> Matrix | None:
    """Parse the transpose sign after a matrix or a tuple such as `(2, 5)^T`, or return None."""
    ahead = "".join(cursor.peek(k).text for k in range(1, 4))
    mark = next((mark for mark in ("{T}", "{top}", "T", "top") if ahead.startswith(mark)), None)
    if mark is None:
        return None
    if isinstance(base, Matrix):
        turned = Matrix(tuple(zip(*base.rows, strict=True)))
    elif isinstance(base, Group) and base.opening in ("(", "[") and base.items:
        turned = Matrix(tuple((item,) for item in base.items))
    else:
        return None
    cursor.at += 4 if mark[0] == "{" else 2
    return turned


def _read_exponent(cursor: Cursor, base: Expr) -> Expr:
    cursor.take()
    circle = cursor.accept("command", "circ") or cursor.accept_run("{", "circ", "}")
    if circle or cursor.accept("unit", "degrees"):
        return DegreeAngle(base)
    cursor.enter()
    if cursor.token.kind == "op" and cursor.token.text in ("'", "*"):
        raise UnreadableAnswer("a prime or a star is not an exponent")
    negative = _read_minus(cursor)
    exponent = read_script(cursor)
    if cursor.token.kind == "op" and cursor.token.text == "^":
        exponent = _read_exponent(cursor, exponent)
    cursor.leave()
    return Power(base, negate(exponent) if negative else exponent)


def read_script(cursor: Cursor) -> Expr:
    """Parse an exponent, a bound or an argument without braces.

    `e^x(x+1)` and `\\sqrt x(x+1)` are products; only f, g and h take what stands behind them.
    """
    token = cursor.token
    letter = token.kind == "name" or (token.kind == "command" and token.text in GREEK)
    if letter and cursor.peek().text == "(" and token.text not in _FUNCTION_LETTERS:
        cursor.take()
        return Constant("i") if token.text == "i" else Symbol(token.text.removeprefix("var"))
    return expression(cursor.read_atom())


def read_juxtaposed(cursor: Cursor) -> Expr:
    """Parse the argument of a function without brackets, such as `2x` in `\\sin 2x`."""
    factors = [_read_signed_power(cursor)]
    while _starts_factor(cursor, cursor.token) and cursor.token.kind not in _APPLIED:
        if cursor.token.kind in ("number", "grouped"):
            break
        factors = _juxtapose(cursor, factors, cursor.token)
    return product(factors)


def read_signed_product(cursor: Cursor) -> Expr:
    """Parse the body of a sum, product, integral or limit."""
    signed = _at_sign(cursor)
    return _read_signed_power(cursor) if signed else expression(read_product(cursor))


def read_argument(cursor: Cursor) -> Expr:
    """Parse a TeX argument: a group in braces, or one digit, letter or command."""
    token = cursor.token
    if token.kind == "open" and token.text == "{":
        return expression(cursor.read_group())
    if token.kind == "number" and len(token.text) > 1:
        cursor.tokens[cursor.at] = Token("number", token.text[1:])
        return number(token.text[0])
    if token.kind == "grouped":
        raise UnreadableAnswer("a number with digit groups needs braces as an argument")
    cursor.enter()
    argument = read_script(cursor)
    cursor.leave()
    return argument


def read_signed_argument(cursor: Cursor) -> Expr:
    """Parse the exponent of a function or of a unit."""
    negative = cursor.accept("op", "-")
    token = cursor.token
    if token.kind == "number":
        cursor.take()
        argument: Expr = number(token.text)
    else:
        bracketed = token.text == "("
        argument = expression(cursor.read_group()) if bracketed else read_argument(cursor)
    return negate(argument) if negative else argument


def _with_sign(term: Expr, sign: str) -> Expr:
    if sign == "-":
        return negate(term)
    return PlusMinus(term, flipped=sign == "mp")


def _is_mixed(before: Expr, part: Expr) -> bool:
    match before, part:
        case Number(whole, None), Div(Number(top, None), Number(bottom, None)):
            return isinstance(whole, int) and 0 < top < bottom
        case _:
            return False


def is_mixed_number(value: Expr) -> bool:
    """Whether the expression is a mixed number such as 7 1/2."""
    match value:
        case Add((Number() as before, Mul((Number(-1), Div() as part)))):
            return _is_mixed(before, part)
        case Add((before, part)):
            return _is_mixed(before, part)
        case _:
            return False
