"""An answer's text read into one typed node.

The grammar, from the outside in: a list of items; an item is sides joined by relation signs; a
side is a union of sets, a ratio, or a sum with what it is counted in. A text that leaves a token
over is refused as a whole, so nothing that was written is ever ignored.
"""

from __future__ import annotations

from typing import Final

from assay.rewards.outcome.maths import lexicon, units
from assay.rewards.outcome.maths.clean import clean
from assay.rewards.outcome.maths.cursor import expression, hundredth, number
from assay.rewards.outcome.maths.environments import EnvironmentReader
from assay.rewards.outcome.maths.expressions import is_mixed_number
from assay.rewards.outcome.maths.limits import MAX_ITEMS, MAX_PARTS, TooLarge, UnreadableAnswer
from assay.rewards.outcome.maths.nodes import (
    Add,
    Bracket,
    Builder,
    Call,
    Degree,
    Expr,
    Group,
    Mul,
    Node,
    Number,
    Quantity,
    Ratio,
    Relation,
    RelationOp,
    Symbol,
    Text,
    Union,
    Without,
)
from assay.rewards.outcome.maths.tokens import Token, letter_token, scan

_CLOSERS: Final = {
    "(": (")", "]"),
    "[": ("]", ")"),
    "{": ("}",),
    "\\{": ("\\}",),
    "|": ("|",),
    "||": ("||",),
    "floor": ("floor",),
    "ceil": ("ceil",),
    "<": (">",),
}
_ITEM_ENDS: Final = frozenset({"sep", "close", "end"})
_RELATION_SIGNS: Final[dict[str, RelationOp]] = {
    sign: sign for sign in ("=", "!=", "<", "<=", ">", ">=", "~", "in")
}


def parse(text: str, *, commas_group: bool = True) -> Node:
    """The node of a raw answer; `commas_group` reads `1,234` as one number, not as two."""
    return read(scan(clean(text)), commas_group=commas_group)


def read(tokens: list[Token], *, commas_group: bool = True) -> Node:
    """The node of all the tokens; raises Unreadable if any is left over."""
    tokens = list(tokens) if commas_group else _ungrouped(tokens)
    if any(token.kind == "text" for token in tokens):
        tokens = _with_products(tokens)
    reader = AnswerReader(tokens)
    node = reader.read_list()
    if reader.token.kind != "end":
        raise UnreadableAnswer(f"{reader.token.text!r} left over")
    return node


class AnswerReader(EnvironmentReader):
    """Reads lists, relations, sets, intervals, matrices and quantities."""

    def read_list(self) -> Node:
        start = self.at
        items = self._read_items()
        if len(items) == 1:
            return items[0]
        alternatives = any(t.kind == "sep" and t.text == "or" for t in self.tokens[start : self.at])
        return Group("", tuple(items), "", alternatives)

    def _read_items(self) -> list[Node]:
        items = [self.read_item()]
        while self._skip_separators():
            items.append(self.read_item())
            if len(items) > MAX_ITEMS:
                raise TooLarge(f"more than {MAX_ITEMS} members")
        return items

    def _skip_separators(self) -> bool:
        """Whether another member follows."""
        start = self.at
        while self.token.kind == "sep":
            self.take()
        return self.at > start and self.token.kind not in ("end", "close")

    def read_item(self) -> Node:
        token, after = self.token, self.peek()
        if token.kind == "number" and (after.kind in _ITEM_ENDS or after.text in ("&", "row")):
            return number(self.take().text)
        sides: list[Node] = []
        operators: list[RelationOp] = []
        if self.token.kind == "rel" and self.token.text in ("~", "="):
            self.take()
        while True:
            sides.append(self._read_side())
            if self.token.kind != "rel":
                break
            operators.append(_RELATION_SIGNS[self.take().text])
            if len(sides) > 12:
                raise TooLarge("more than 12 sides in one relation")
        return sides[0] if not operators else Relation(tuple(sides), tuple(operators))

    def _read_side(self) -> Node:
        left = self._read_ratio()
        parts = [left]
        while True:
            token = self.token
            if token.text == "cup" or (token.text == "U" and isinstance(left, Group)):
                self.take()
                parts.append(self._read_ratio())
            elif token.kind == "command" and token.text == "setminus":
                self.take()
                whole = parts[0] if len(parts) == 1 else Union(tuple(parts))
                parts = [Without(whole, self._read_ratio())]
            else:
                return parts[0] if len(parts) == 1 else Union(tuple(parts))
            if len(parts) > MAX_PARTS:
                raise TooLarge(f"a union of more than {MAX_PARTS} parts")

    def _read_ratio(self) -> Node:
        start = self.at
        first = self._read_quantity()
        if self.token.text != ":" or self.builder:
            return first
        terms = [expression(first)]
        while self.accept("op", ":"):
            terms.append(expression(self._read_quantity()))
        return Ratio(tuple(terms), clock=_looks_like_a_time(self.tokens[start : self.at]))

    def _read_quantity(self) -> Node:
        """A sum, with a currency before it or a unit after it."""
        currency = self._read_currency()
        if self.token.kind == "text":
            return Text(self._read_words())
        value = self.read_sum()
        while self.token.kind == "unit" and self.token.text.lower() in lexicon.MULTIPLIERS:
            factor = Number(lexicon.MULTIPLIERS[self.take().text.lower()])
            value = Mul((expression(value), factor))
        if self.token.kind in ("unit", "text") or self._at_rate():
            return self._with_smaller_units(self._with_unit(value, currency))
        if isinstance(value, Degree):
            return self._with_temperature(value)
        if self.accept("command", "pmod"):
            return self._with_modulus(value)
        return Quantity(value, ((currency, 1),)) if currency else value

    def _read_currency(self) -> str:
        sign_first = self.token.text == "-" and self.peek().text in units.CURRENCIES
        token = self.peek() if sign_first else self.token
        if token.kind != "unit" or token.text not in units.CURRENCIES:
            return ""
        if sign_first:
            self.tokens[self.at : self.at + 2] = [self.token]
        else:
            self.take()
        return units.CURRENCIES[token.text]

    def _read_words(self) -> str:
        words = []
        while self.token.kind in ("text", "unit"):
            words.append(self.take().text)
        return " ".join(words)

    def _with_unit(self, value: Node, currency: str) -> Node:
        words: list[str] = []
        free = False
        while True:
            token = self.token
            if token.kind in ("unit", "text"):
                free |= token.kind == "text"
                words.append(self.take().text)
            elif token.text == "^" and words:
                self.take()
                words.append(f"^{self._read_unit_power()}")
            elif token.text in ("/", "*") and self._at_unit(self.peek()):
                words.extend(["per"] if self.take().text == "/" else [])
                words.append(self.take().text)
            else:
                break
        phrase = " ".join(words)
        unit = units.read_phrase(phrase) if not free else None
        if unit is None:
            unit = ((units.counted_noun(phrase), 1),)
        if any(name == "percent" and power != 1 for name, power in unit):
            raise UnreadableAnswer("a percentage of a percentage")
        if currency and all(power < 0 for _, power in unit):
            unit = units.multiply(((currency, 1),), unit)
        elif currency and unit not in (((currency, 1),), (("usd", 1),)):
            raise UnreadableAnswer("two different units")
        return _quantity(value, unit)

    def _at_rate(self) -> bool:
        """Whether a unit follows in the denominator, as in `$12/hour`."""
        return self.token.text == "/" and self.peek().kind == "unit"

    def _with_smaller_units(self, quantity: Node) -> Node:
        """`5 ft 6 in` and `2 hours and 30 minutes` as one quantity in the last unit."""
        while isinstance(quantity, Quantity):
            start = self.at
            self.accept("sep", "and")
            if self.token.kind != "number" or self.peek().kind != "unit":
                self.at = start
                break
            part = self._with_unit(number(self.take().text), "")
            unit = part.unit if isinstance(part, Quantity) else ()
            factor = units.factor_between(quantity.unit, unit)
            if factor is None or factor <= 1 or not isinstance(part, Quantity):
                self.at = start
                break
            larger = Mul((Number(factor), expression(quantity.value)))
            quantity = Quantity(Add((larger, expression(part.value))), unit)
        return quantity

    def _at_unit(self, token: Token) -> bool:
        return token.kind == "unit" or (token.kind == "name" and token.text in units.SPELLINGS)

    def _read_unit_power(self) -> int:
        power = self._read_signed_argument()
        if isinstance(power, Number) and isinstance(power.value, int) and abs(power.value) < 100:
            return power.value
        raise UnreadableAnswer("a unit with a power that is not a small integer")

    def _with_modulus(self, value: Node) -> Node:
        """A residue, counted in its modulus."""
        modulus = self.read_argument()
        match modulus:
            case Number(size) if isinstance(size, int) and 0 < size < 10**40:
                residue: Expr = Call("mod", (expression(value), modulus))
                return Quantity(residue, ((f"mod {size}", 1),))
            case Symbol(name):
                return Quantity(value, ((f"mod {name}", 1),))
            case _:
                raise UnreadableAnswer("a modulus that is neither a number nor a letter")

    def _with_temperature(self, value: Degree) -> Node:
        token, after = self.token, self.peek()
        if token.kind == "name" and token.text in "CF" and after.kind in ("end", "sep", "close"):
            self.take()
            return Quantity(value.term, ((f"deg{token.text}", 1),))
        return Quantity(value.term, (("deg", 1),))

    def read_group(self) -> Node:
        """What stands between two brackets; parentheses around one expression vanish."""
        self.enter()
        opening = self.take().text
        bars, builder, self.bars, self.builder = self.bars, self.builder, 0, opening == "\\{"
        if self.token.kind == "close":
            items: list[Node] = []
        else:
            self._split_grouped()
            items = self._read_items()
        if self.builder and self.token.text in ("mid", "|", ":", "colon"):
            node = self._read_builder(items)
        else:
            node = self._close_group(opening, items)
        self.bars, self.builder = bars, builder
        self.leave()
        return node

    def _split_grouped(self) -> None:
        """Inside brackets a comma separates: `(1,234)` has two members."""
        level, at = 0, self.at
        while level >= 0 and self.tokens[at].kind != "end":
            token = self.tokens[at]
            level += (token.kind == "open") - (token.kind == "close")
            if level == 0 and _is_comma_grouped(token):
                self.tokens[at : at + 1] = _separate(token)
            at += 1

    def _close_group(self, opening: str, items: list[Node]) -> Node:
        closing = self.token.text
        if self.token.kind != "close" or closing not in _CLOSERS[opening]:
            raise UnreadableAnswer(f"{opening!r} closed by {closing or 'nothing'!r}")
        self.take()
        if opening in ("|", "||", "floor", "ceil"):
            name = opening if opening in ("floor", "ceil") else "abs"
            if len(items) != 1:
                raise UnreadableAnswer("a list between bars")
            return Call(name, (expression(items[0]),))
        if opening == "{":
            return items[0] if len(items) == 1 else Group("", tuple(items), "")
        if len(items) == 1 and opening + closing in ("()", "[]") and _bracket_vanishes(items[0]):
            return items[0]
        kinds: dict[str, Bracket] = {"\\{": "{", "<": "(", "(": "(", "[": "["}
        ends = {"\\}": "}", ">": ")"}.get(closing, closing)
        match ends:
            case ")" | "]" | "}":
                return Group(kinds[opening], tuple(items), ends)
            case _:
                raise UnreadableAnswer(f"bracket {closing!r}")

    def _read_builder(self, items: list[Node]) -> Node:
        if len(items) != 1:
            raise UnreadableAnswer("a set builder over a list")
        self.take()
        self.builder = False
        conditions = self._read_items()
        self.expect("close", "\\}")
        return Builder(items[0], tuple(conditions))


def _quantity(value: Node, unit: units.Unit) -> Node:
    if unit == (("percent", 1),) and not isinstance(value, Expr):
        raise UnreadableAnswer("a percentage of something that is no number")
    if unit == (("percent", 1),) and isinstance(value, Add) and not is_mixed_number(value):
        return Add((*value.terms[:-1], hundredth(value.terms[-1])))
    if unit == (("rad", 1),):
        return value
    return Quantity(value, unit)


def _bracket_vanishes(node: Node) -> bool:
    return isinstance(node, (Expr, Quantity, Group, Ratio, Relation, Text))


def _with_products(tokens: list[Token]) -> list[Token]:
    """A run of letters beside an arithmetic sign is a product; elsewhere it is a word."""
    pieces: list[Token] = []
    for before, token, after in zip(
        [tokens[-1], *tokens[:-1]], tokens, [*tokens[1:], tokens[-1]], strict=True
    ):
        beside = any(t.kind == "op" and t.text in ("+", "-", "*", "^") for t in (before, after))
        if token.kind == "text" and beside and token.text.isalpha() and len(token.text) < 7:
            pieces.extend(letter_token(letter, gap=False) for letter in token.text)
        else:
            pieces.append(token)
    return pieces


def _ungrouped(tokens: list[Token]) -> list[Token]:
    pieces: list[Token] = []
    for token in tokens:
        pieces.extend(_separate(token) if _is_comma_grouped(token) else [token])
    return pieces


def _is_comma_grouped(token: Token) -> bool:
    """Grouped by nothing but commas, into numbers that could stand alone."""
    if token.kind != "grouped" or set(token.text) - set("0123456789,"):
        return False
    return ",0" not in token.text


def _separate(token: Token) -> list[Token]:
    parts: list[Token] = []
    for piece in token.text.split(","):
        parts.extend((Token("number", piece), Token("sep", ",")))
    return parts[:-1]


def _looks_like_a_time(tokens: list[Token]) -> bool:
    if len(tokens) not in (3, 5):
        return False
    return all(t.kind == "number" and len(t.text) == 2 for t in tokens[2::2]) and (
        tokens[0].kind == "number" and len(tokens[0].text) <= 2
    )
