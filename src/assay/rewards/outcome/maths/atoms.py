"""Atoms of arithmetic: numbers, names, functions, roots, bars and the commands of TeX."""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Final

from assay.rewards.outcome.maths import lexicon
from assay.rewards.outcome.maths.cursor import TokenCursor, expression, negate, number
from assay.rewards.outcome.maths.limits import MAX_DIGITS, TooLarge, UnreadableAnswer
from assay.rewards.outcome.maths.nodes import (
    Apply,
    Based,
    Big,
    Call,
    Constant,
    Div,
    Expr,
    Group,
    Mul,
    Node,
    Number,
    Power,
    Relation,
    Symbol,
    Text,
)
from assay.rewards.outcome.maths.resolve import with_variable
from assay.rewards.outcome.maths.tokens import Token

STOP_COMMANDS: Final = frozenset(
    "cup cap setminus row end mid pm mp Rightarrow implies bmod mod pmod iff ldots cdots dots text "
    "tag hline".split()
)
"""Commands that no factor starts with."""


class AtomReader(TokenCursor, ABC):
    """Reads what stands between operators; larger expressions are read by the subclasses."""

    def __init__(self, tokens: list[Token]) -> None:
        super().__init__(tokens)
        self.bars = 0

    @abstractmethod
    def read_group(self) -> Node: ...

    @abstractmethod
    def read_matrix(self) -> Node: ...

    @abstractmethod
    def read_sum(self) -> Node: ...

    @abstractmethod
    def read_signed_product(self) -> Expr: ...

    @abstractmethod
    def read_juxtaposed(self) -> Expr: ...

    def read_atom(self) -> Node:
        token = self.token
        match token.kind:
            case "number":
                return self._read_number()
            case "name":
                return self._read_name()
            case "function":
                return self._read_function()
            case "open":
                return self.read_group()
            case "command":
                return self._read_command()
            case "op" if token.text in ("|", "||"):
                return self._read_bars(token.text)
            case "grouped" | "constant" | "text":
                return _leaf(self.take())
            case _:
                raise UnreadableAnswer(f"{token.text or 'the end'!r} where a value was expected")

    def _read_number(self) -> Expr:
        text = self.take().text
        token = self.token
        if token.kind == "command" and token.text in ("overline", "bar", "dot") and "." in text:
            self.take()
            return _repeating(text, self._read_digits())
        if token.kind == "op" and token.text == "_" and text.isdigit():
            self.take()
            base = self.read_argument()
            if len(text) > MAX_DIGITS:
                raise TooLarge(f"a numeral of {len(text):,} digits, limit {MAX_DIGITS:,}")
            if isinstance(base, Number) and isinstance(base.value, int) and 2 <= base.value <= 36:
                return Based(text, base.value)
            raise UnreadableAnswer("a subscript of a number that is not a base")
        return number(text)

    def _read_digits(self) -> str:
        self.expect("open", "{")
        text = self.take().text
        self.expect("close", "}")
        if not text.isdigit():
            raise UnreadableAnswer("a repeating part that is not digits")
        return text

    def _read_name(self) -> Expr:
        name = self.take().text + self._read_primes()
        if self.token.kind == "op" and self.token.text == "_":
            return self._read_subscript(name)
        name += self._read_primes()
        return self._maybe_apply(name + self._read_inverse(name))

    def _read_inverse(self, name: str) -> str:
        """`^{-1}` between the letter of a function and its argument: the inverse function."""
        ahead = "".join(self.peek(k).text for k in range(6))
        for mark in ("^{-1}(", "^-1("):
            if name in ("f", "g", "h") and ahead.startswith(mark):
                self.at += 5 if "{" in mark else 3
                return "^-1"
        return ""

    def _read_primes(self) -> str:
        primes = ""
        while self.accept("op", "'"):
            primes += "'"
        if self.token.text == "^" and self.peek().text == "prime":
            self.at += 2
            primes += "'"
        if len(primes) > 9:
            raise TooLarge("more than 9 primes")
        return primes

    def _read_subscript(self, name: str) -> Expr:
        self.take()
        spelling = self._read_spelt_index()
        if spelling:
            return self._maybe_apply(f"{name}_{spelling}" + self._read_primes())
        self.enter()
        index = self._read_index()
        self.leave()
        match index:
            case Number(inner) | Constant(inner):
                return self._maybe_apply(f"{name}_{inner}")
            case Symbol(inner):
                return self._maybe_apply(f"{name}_{inner}" + self._read_primes())
            case Mul(factors) if all(isinstance(factor, Symbol) for factor in factors):
                letters = "".join(f.name for f in factors if isinstance(f, Symbol))
                return self._maybe_apply(f"{name}_{letters}")
            case _:
                return Call(f"{name}_", (index,), opaque=True)

    def _read_index(self) -> Expr:
        """A subscript: all the digits of a bare number, and a bare letter without its argument."""
        token = self.token
        if token.kind == "number":
            self.take()
            return number(token.text)
        if token.kind in ("name", "constant"):
            self.take()
            return Symbol(token.text)
        return self.read_argument()

    def _read_spelt_index(self) -> str:
        """A braced subscript of letters, digits and commas, as it is spelt."""
        if self.token.text != "{":
            return ""
        end = self.at + 1
        while self.tokens[end].kind in ("name", "text", "number", "sep", "constant"):
            end += 1
        if self.tokens[end].text != "}" or end == self.at + 1:
            return ""
        spelling = "".join(token.text for token in self.tokens[self.at + 1 : end])
        self.at = end + 1
        return spelling

    def _maybe_apply(self, name: str) -> Expr:
        token = self.token
        if name == "i" or token.kind != "open" or token.text != "(":
            return Constant("i") if name == "i" else Symbol(name)
        if token.gap and len(name) == 1 and name not in "fghFGH":
            return Symbol(name)
        start, depth = self.at, self.depth
        try:
            group = self.read_group()
            items = group.items if isinstance(group, Group) and group.opening == "(" else (group,)
            return Apply(name, tuple(map(expression, items)))
        except TooLarge:
            raise
        except UnreadableAnswer:
            self.at, self.depth = start, depth
            return Symbol(name + self._read_spelt_argument())

    def _read_spelt_argument(self) -> str:
        """What stands in parentheses, as it is spelt, as in `P(X = 2)`."""
        spelling, level = "", 0
        while self.token.kind != "end" and len(spelling) < 40:
            token = self.take()
            spelling += token.text
            level += (token.text == "(") - (token.text == ")")
            if level == 0:
                return spelling
        raise UnreadableAnswer("an argument that is no expression")

    def read_argument(self) -> Expr:
        """A TeX argument: a braced group, or the next digit, letter or command."""
        token = self.token
        if token.kind == "open" and token.text == "{":
            return expression(self.read_group())
        if token.kind == "number" and len(token.text) > 1:
            self.tokens[self.at] = Token("number", token.text[1:])
            return number(token.text[0])
        if token.kind == "grouped":
            raise UnreadableAnswer("a grouped number as a bare argument")
        self.enter()
        argument = expression(self.read_atom())
        self.leave()
        return argument

    def _read_function(self) -> Expr:
        name = self.take().text
        if name == "sqrt":
            return self._read_root()
        self.enter()
        base: Expr | None = None
        power: Expr | None = None
        for _ in range(2):
            if self.accept("op", "_"):
                base = self._read_base()
            elif self.token.text == "^" and self.token.kind == "op":
                self.take()
                power = self._read_signed_argument()
        arguments = self._read_function_arguments()
        self.leave()
        if isinstance(power, Number) and power.value == -1 and name in lexicon.INVERSES:
            return Call(lexicon.INVERSES[name], arguments)
        if base is not None:
            if name != "log":
                raise UnreadableAnswer(f"a subscript of {name}")
            arguments = (*arguments, base)
        call = Call(name, arguments)
        return call if power is None else Power(call, power)

    def _read_base(self) -> Expr:
        token = self.token
        base = self._read_index()
        return Constant("e") if token.kind == "constant" and token.text == "e" else base

    def _read_signed_argument(self) -> Expr:
        negative = self.accept("op", "-")
        token = self.token
        if token.kind == "number":
            self.take()
            argument: Expr = number(token.text)
        else:
            argument = self.read_argument() if token.text != "(" else expression(self.read_group())
        return negate(argument) if negative else argument

    def _read_function_arguments(self) -> tuple[Expr, ...]:
        """One bracketed group, or the juxtaposed factors up to the next function or sign."""
        token = self.token
        if token.kind == "open" and token.text in ("(", "{", "[", "\\{"):
            group = self.read_group()
            items = getattr(group, "items", None)
            return tuple(expression(item) for item in items) if items else (expression(group),)
        return (self.read_juxtaposed(),)

    def _read_root(self) -> Expr:
        self.enter()
        index: Expr = Number(2)
        if self.token.kind == "open" and self.token.text == "[":
            index = expression(self.read_group())
        if self.token.kind == "open" and self.token.text == "(":
            radicand = expression(self.read_group())
        else:
            radicand = self.read_argument()
        self.leave()
        return Call("root", (radicand, index))

    def _read_bars(self, bar: str) -> Expr:
        self.take()
        self.enter()
        self.bars += 1
        inside = expression(self.read_sum())
        self.bars -= 1
        self.leave()
        self.expect("op", bar)
        return Call("abs", (inside,))

    def _read_command(self) -> Node:
        name = self.take().text
        if name == "frac":
            self.enter()
            fraction = Div(self.read_argument(), self.read_argument())
            self.leave()
            return fraction
        if name == "binom":
            return Call("binomial", (self.read_argument(), self.read_argument()))
        if name in lexicon.BIG_OPERATORS:
            return self._read_big(name)
        if name == "begin":
            return self.read_matrix()
        if name in ("boxed", "fbox"):
            return self.read_group() if self.token.kind == "open" else self.read_argument()
        if name in lexicon.DECORATIONS:
            return self._read_decorated(name)
        if name in lexicon.FONTS:
            return self._read_styled()
        if name in STOP_COMMANDS:
            raise UnreadableAnswer(f"\\{name} where a value was expected")
        if name in ("emptyset", "varnothing"):
            return Symbol("emptyset")
        return self._read_symbol_command(name)

    def _read_symbol_command(self, name: str) -> Expr:
        if self.token.kind == "op" and self.token.text == "_":
            return self._read_subscript(name)
        name += self._read_primes()
        return Symbol(name) if name not in ("varphi", "vartheta") else Symbol(name[3:])

    def _read_styled(self) -> Node:
        """What is printed in another style: the same, but a bold i, j or k is a unit vector."""
        token, after, closing = self.token, self.peek(1), self.peek(2)
        letter = after if token.text == "{" and closing.text == "}" else token
        if letter.kind in ("name", "constant") and letter.text in ("i", "j", "k"):
            return self._read_decorated("hat")
        return self.read_group() if token.kind == "open" else self.read_argument()

    def _read_decorated(self, name: str) -> Expr:
        token, after, closing = self.token, self.peek(1), self.peek(2)
        if token.text == "{" and closing.text == "}" and after.kind in ("name", "constant"):
            self.at += 3
            inner = after.text
        elif token.kind in ("name", "constant"):
            inner = self.take().text
        else:
            inner = repr(self.read_argument())
        if self.token.kind == "op" and self.token.text == "_":
            return self._read_subscript(f"{name}:{inner}")
        return Symbol(f"{name}:{inner}")

    def _read_big(self, name: str) -> Expr:
        self.enter()
        lower: Node | None = None
        upper: Node | None = None
        for _ in range(2):
            if self.accept("op", "_"):
                braced = self.token.text == "{"
                lower = self.read_group() if braced else self.read_argument()
            elif self.accept("op", "^"):
                upper = self.read_argument()
        body = self.read_signed_product()
        self.leave()
        if isinstance(lower, Relation) and lower.sides[0] == Constant("i"):
            lower, body = with_variable(lower, "i"), expression(with_variable(body, "i"))
        return Big(lexicon.BIG_OPERATORS[name], lower, upper, body)


def _leaf(token: Token) -> Node:
    match token.kind, token.text:
        case "grouped", text:
            return number("".join(c for c in text if c.isdigit() or c == "."))
        case "constant", "pi" | "e" | "i" | "infinity" as name:
            return Constant(name)
        case _, words:
            return Text(words)


def _repeating(text: str, period: str) -> Number:
    literal = number(text if not text.endswith(".") else text + "0")
    places = len(text.partition(".")[2])
    whole = 10**places * (10 ** len(period) - 1)
    return Number(literal.value + Fraction(number(period).value, whole))
