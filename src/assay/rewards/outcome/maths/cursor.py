"""A position in a token list, with the checks that every reading rule shares."""

from __future__ import annotations

from fractions import Fraction

from assay.rewards.outcome.maths.limits import (
    MAX_DEPTH,
    MAX_DIGITS,
    MAX_EXPONENT,
    TooLarge,
    UnreadableAnswer,
)
from assay.rewards.outcome.maths.nodes import (
    Add,
    Constant,
    Div,
    Expr,
    Mul,
    Node,
    Number,
)
from assay.rewards.outcome.maths.tokens import Token


class TokenCursor:
    """Reads tokens one by one and counts nesting, so that no input exhausts the stack."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.at = 0
        self.depth = 0

    @property
    def token(self) -> Token:
        return self.tokens[self.at]

    def peek(self, offset: int = 1) -> Token:
        return self.tokens[min(self.at + offset, len(self.tokens) - 1)]

    def take(self) -> Token:
        token = self.tokens[self.at]
        if token.kind != "end":
            self.at += 1
        return token

    def accept(self, kind: str, text: str) -> bool:
        token = self.tokens[self.at]
        if token.kind == kind and token.text == text:
            self.at += 1
            return True
        return False

    def expect(self, kind: str, text: str) -> None:
        if not self.accept(kind, text):
            raise UnreadableAnswer(f"{self.token.text or 'the end'!r} where {text!r} was expected")

    def enter(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise TooLarge(f"nesting deeper than {MAX_DEPTH}")

    def leave(self) -> None:
        self.depth -= 1


def expression(node: Node) -> Expr:
    """The node, if it may stand inside arithmetic."""
    if isinstance(node, Expr):
        return node
    raise UnreadableAnswer(f"{type(node).__name__.lower()} inside arithmetic")


def number(text: str) -> Number:
    """The literal that digits spell, with or without a decimal point or an exponent."""
    if len(text) > MAX_DIGITS:
        raise TooLarge(f"a number of {len(text):,} characters, limit {MAX_DIGITS:,}")
    if text.isdigit():
        return Number(int(text))
    mantissa, _, exponent = text.lower().partition("e")
    whole, _, part = mantissa.partition(".")
    shift = int(exponent or "0")
    if abs(shift) > MAX_EXPONENT:
        raise TooLarge(f"a decimal exponent of {shift:,}, limit {MAX_EXPONENT:,}")
    digits = len((whole + part).lstrip("0"))
    value = times_power_of_ten(int((whole + part) or "0"), shift - len(part))
    if not part and not exponent:
        return Number(value)
    return Number(value, digits, len(part) - shift)


def times_power_of_ten(value: int, shift: int) -> int | Fraction:
    """`value` times ten to the `shift`, an int when it is whole."""
    if shift >= 0:
        return value * int(10**shift)
    return whole(Fraction(value, 10**-shift))


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


INFINITY = Constant("infinity")
