"""Sums, products and powers over the atoms."""

from __future__ import annotations

from typing import Final

from assay.rewards.outcome.maths.atoms import STOP_COMMANDS, AtomReader
from assay.rewards.outcome.maths.cursor import expression, negate, number, product, total
from assay.rewards.outcome.maths.limits import MAX_ITEMS, TooLarge, UnreadableAnswer
from assay.rewards.outcome.maths.nodes import (
    Add,
    Call,
    Degree,
    Div,
    Expr,
    Mul,
    Node,
    Number,
    PlusMinus,
    Power,
)
from assay.rewards.outcome.maths.tokens import Token

_OPENERS: Final = frozenset({"(", "[", "{", "\\{", "|", "||", "floor", "ceil", "<"})


class ExpressionReader(AtomReader):
    """Reads arithmetic; what stands between brackets is read by `read_group` of the subclass."""

    def __init__(self, tokens: list[Token]) -> None:
        super().__init__(tokens)
        self.builder = False

    def read_sum(self) -> Node:
        """A sum; a bracketed shape that stands alone is returned as it is."""
        terms: list[Node] = []
        while True:
            sign = self._read_sign()
            term = self.read_product()
            terms.append(term if sign == "+" else _with_sign(expression(term), sign))
            if len(terms) > MAX_ITEMS:
                raise TooLarge(f"a sum of more than {MAX_ITEMS} terms")
            if not self._at_sign():
                break
        if len(terms) == 1:
            return terms[0]
        return total([expression(term) for term in terms])

    def _at_sign(self) -> bool:
        token = self.token
        if token.kind == "op":
            return token.text in ("+", "-")
        return token.kind == "command" and token.text in ("pm", "mp")

    def _read_sign(self) -> str:
        sign = "+"
        while self._at_sign():
            text = self.take().text
            if text in ("pm", "mp"):
                sign = text
            elif text == "+" and self.accept("op", "/"):
                self.expect("op", "-")
                sign = "pm"
            elif text == "-":
                sign = {"+": "-", "-": "+", "pm": "mp", "mp": "pm"}[sign]
        return sign

    def read_product(self) -> Node:
        """Factors from left to right: `1/2x` is half of x, and `2 3` is refused."""
        first = self.read_power()
        factors: list[Expr] = []
        while True:
            token = self.token
            if token.kind == "op" and token.text in ("*", "/"):
                if self.peek().kind == "unit":
                    return product(factors) if factors else first
                self.take()
                factor = self._read_signed_power()
                if not factors:
                    factors.append(expression(first))
                if token.text == "/":
                    factors = [Div(product(factors), factor)]
                else:
                    factors.append(factor)
            elif token.kind == "command" and token.text in ("bmod", "mod"):
                self.take()
                left = product(factors) if factors else expression(first)
                factors = [Call("mod", (left, self._read_signed_power()))]
            elif self._starts_factor(token):
                if not factors:
                    factors.append(expression(first))
                factors = self._juxtapose(factors, token)
            else:
                return product(factors) if factors else first
            if len(factors) > MAX_ITEMS:
                raise TooLarge(f"a product of more than {MAX_ITEMS} factors")

    def _juxtapose(self, factors: list[Expr], token: Token) -> list[Expr]:
        previous = self.tokens[self.at - 1]
        if token.kind == "number" and previous.kind == "name" and not token.gap:
            raise UnreadableAnswer(f"{previous.text}{token.text}: a product, a power or an index")
        if token.kind in ("number", "grouped") and previous.kind in ("number", "grouped"):
            mixed = self._read_mixed(factors)
            if mixed is None:
                raise UnreadableAnswer("two numbers side by side")
            return mixed
        if token.kind == "command" and token.text == "frac":
            before, factor = factors[-1], expression(self.read_power())
            if previous.kind in ("number", "grouped") and _is_mixed(before, factor):
                sign = -1 if isinstance(before, Number) and before.value < 0 else 1
                part = factor if sign > 0 else negate(factor)
                return [*factors[:-1], total([before, part])]
            return [*factors, factor]
        return [*factors, expression(self.read_power())]

    def _read_mixed(self, factors: list[Expr]) -> list[Expr] | None:
        """`1 1/2`: a whole number, a space, and a proper fraction of plain numbers."""
        slash, below = self.peek(1), self.peek(2)
        if slash.text != "/" or below.kind != "number" or not isinstance(factors[-1], Number):
            return None
        top = number(self.take().text)
        self.take()
        bottom = number(self.take().text)
        part = Div(top, bottom)
        if not _is_mixed(factors[-1], part):
            return None
        return [*factors[:-1], total([factors[-1], part])]

    def _starts_factor(self, token: Token) -> bool:
        match token.kind:
            case "number" | "grouped" | "name" | "constant" | "function":
                return not (token.text == "U" and self.tokens[self.at - 1].kind == "close")
            case "open":
                return token.text in _OPENERS
            case "op":
                return token.text in ("|", "||") and not self.bars and not self.builder
            case "command":
                return token.text not in STOP_COMMANDS
            case _:
                return False

    def _read_minus(self) -> bool:
        """Whether an odd number of minus signs stands here, among any plus signs."""
        negative = False
        while self.token.kind == "op" and self.token.text in ("+", "-"):
            negative ^= self.take().text == "-"
        return negative

    def _read_signed_power(self) -> Expr:
        negative = self._read_minus()
        factor = expression(self.read_power())
        return negate(factor) if negative else factor

    def read_power(self) -> Node:
        """An atom with what follows it: powers, factorials, primes and degrees."""
        base = self.read_atom()
        postfixes = 0
        while self.token.kind == "op":
            sign = self.token.text
            if sign == "^":
                base = self._read_exponent(expression(base))
            elif sign == "!":
                self.take()
                double = self.accept("op", "!")
                base = Call("double_factorial" if double else "factorial", (expression(base),))
            else:
                break
            postfixes += 1
            if postfixes > 8:
                raise TooLarge("more than 8 powers or factorials of one atom")
        return base

    def _read_exponent(self, base: Expr) -> Expr:
        self.take()
        if self._accept_degree():
            return Degree(base)
        self.enter()
        if self.token.kind == "op" and self.token.text in ("'", "*"):
            raise UnreadableAnswer("a prime or star as an exponent")
        negative = self._read_minus()
        if self.token.kind == "open" and self.token.text == "{":
            exponent = expression(self.read_group())
        else:
            exponent = expression(self.read_atom())
        if self.token.kind == "op" and self.token.text == "^":
            exponent = self._read_exponent(exponent)
        self.leave()
        return Power(base, negate(exponent) if negative else exponent)

    def _accept_degree(self) -> bool:
        if self.accept("command", "circ") or self.accept("unit", "degrees"):
            return True
        braced = self.token.text == "{" and self.peek().text == "circ" and self.peek(2).text == "}"
        if braced:
            self.at += 3
        return braced

    def read_juxtaposed(self) -> Expr:
        """The argument of a function without brackets: factors up to the next function or sign."""
        factors = [self._read_signed_power()]
        while self._starts_factor(self.token) and self.token.kind != "function":
            if self.token.kind in ("number", "grouped"):
                break
            factors = self._juxtapose(factors, self.token)
        return product(factors)

    def read_signed_product(self) -> Expr:
        if self._at_sign():
            return self._read_signed_power()
        return expression(self.read_product())


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
    """Whether a sum is a mixed number such as 7 1/2."""
    match value:
        case Add((Number() as before, Mul((Number(-1), Div() as part)))):
            return _is_mixed(before, part)
        case Add((before, part)):
            return _is_mixed(before, part)
        case _:
            return False
