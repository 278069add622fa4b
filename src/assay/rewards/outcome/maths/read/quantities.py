"""Parser rules for values with currencies, units, multipliers, moduli and temperatures."""

from __future__ import annotations

from assay.rewards.outcome.maths.limits import UnreadableAnswer
from assay.rewards.outcome.maths.nodes import (
    Add,
    Call,
    DegreeAngle,
    Expr,
    Mul,
    Node,
    Number,
    Quantity,
    Symbol,
    Text,
    expression,
    hundredth,
    number,
)
from assay.rewards.outcome.maths.read import lexicon, nouns, units
from assay.rewards.outcome.maths.read.arithmetic import (
    at_temperature,
    is_mixed_number,
    read_argument,
    read_signed_argument,
    read_sum,
)
from assay.rewards.outcome.maths.read.tokens import Cursor


def read_quantity(cursor: Cursor) -> Node:
    """Parse a sum with a currency before it or a unit after it."""
    currency = _read_currency(cursor)
    if cursor.token.kind == "text":
        words = []
        while cursor.token.kind in ("text", "unit"):
            words.append(cursor.take().text)
        return Text(" ".join(words))
    value = read_sum(cursor)
    while cursor.token.kind == "unit" and cursor.token.text.lower() in lexicon.MULTIPLIERS:
        factor = Number(lexicon.MULTIPLIERS[cursor.take().text.lower()])
        value = Mul((expression(value), factor))
    # A unit may follow in the denominator, as in `$12/hour`.
    at_rate = cursor.token.text == "/" and cursor.peek().kind == "unit"
    if cursor.token.kind in ("unit", "text") or at_rate:
        return _with_smaller_units(cursor, _with_unit(cursor, value, currency))
    if isinstance(value, DegreeAngle):
        scale = cursor.take().text if at_temperature(cursor) else ""
        return Quantity(value.term, ((f"deg{scale}", 1),))
    if cursor.accept("command", "pmod"):
        return _with_modulus(cursor, value)
    return Quantity(value, ((currency, 1),)) if currency else value


def _read_currency(cursor: Cursor) -> str:
    sign_first = cursor.token.text == "-" and cursor.peek().text in units.CURRENCIES
    token = cursor.peek() if sign_first else cursor.token
    if token.kind != "unit" or token.text not in units.CURRENCIES:
        return ""
    if sign_first:
        cursor.tokens[cursor.at : cursor.at + 2] = [cursor.token]
    else:
        cursor.take()
    return units.CURRENCIES[token.text]


def _with_unit(cursor: Cursor, value: Node, currency: str) -> Node:
    words: list[str] = []
    free = False
    while True:
        token, after = cursor.token, cursor.peek()
        if token.kind in ("unit", "text"):
            free |= token.kind == "text"
            words.append(cursor.take().text)
        elif token.text == "^" and words:
            cursor.take()
            words.append(f"^{_read_unit_power(cursor)}")
        elif token.text in ("/", "*") and (
            after.kind == "unit" or (after.kind == "name" and after.text in units.SPELLINGS)
        ):
            words.extend(["per"] if cursor.take().text == "/" else [])
            words.append(cursor.take().text)
        else:
            break
    unit = _unit(" ".join(words), free=free, one=value == Number(1))
    if not unit:
        return Quantity(value, ((currency, 1),)) if currency else value
    if any(name == "percent" and power != 1 for name, power in unit):
        raise UnreadableAnswer("a percentage of a percentage")
    if currency and all(power < 0 for _, power in unit):
        unit = units.multiply(((currency, 1),), unit)
    elif currency and unit not in (((currency, 1),), (("usd", 1),)):
        raise UnreadableAnswer("two different units")
    return _quantity(value, unit)


def _unit(phrase: str, *, free: bool, one: bool) -> units.Unit:
    """Return the unit or the noun that the phrase names."""
    spelling = nouns.without_trailing(phrase)
    if not spelling:
        return ()
    unit = units.read_phrase(spelling) if not free or spelling != phrase else None
    return ((nouns.counted_noun(spelling, one=one), 1),) if unit is None else unit


def _with_smaller_units(cursor: Cursor, quantity: Node) -> Node:
    """Parse `5 ft 6 in` or `2 hours and 30 minutes` as one quantity in the last unit."""
    while isinstance(quantity, Quantity):
        start = cursor.at
        cursor.accept("sep", "and")
        if cursor.token.kind != "number" or cursor.peek().kind != "unit":
            cursor.at = start
            break
        part = _with_unit(cursor, number(cursor.take().text), "")
        unit = part.unit if isinstance(part, Quantity) else ()
        factor = units.factor_between(quantity.unit, unit)
        if factor is None or factor <= 1 or not isinstance(part, Quantity):
            cursor.at = start
            break
        larger = Mul((Number(factor), expression(quantity.value)))
        quantity = Quantity(Add((larger, expression(part.value))), unit)
    return quantity


def _read_unit_power(cursor: Cursor) -> int:
    power = read_signed_argument(cursor)
    if isinstance(power, Number) and isinstance(power.value, int) and abs(power.value) < 100:
        return power.value
    raise UnreadableAnswer("the power of a unit is not a small integer")


def _with_modulus(cursor: Cursor, value: Node) -> Node:
    """Parse the modulus of a residue, as in `3 \\pmod 7`."""
    modulus = read_argument(cursor)
    match modulus:
        case Number(size) if isinstance(size, int) and 0 < size < 10**40:
            residue: Expr = Call("mod", (expression(value), modulus))
            return Quantity(residue, ((f"mod {size}", 1),))
        case Symbol(name):
            return Quantity(value, ((f"mod {name}", 1),))
        case _:
            raise UnreadableAnswer("the modulus is neither a number nor a letter")


def _quantity(value: Node, unit: units.Unit) -> Node:
    is_percent = unit == (("percent", 1),)
    if is_percent and not isinstance(value, Expr):
        raise UnreadableAnswer("a percentage needs a number")
    if is_percent and isinstance(value, Add) and not is_mixed_number(value):
        return Add((*value.terms[:-1], hundredth(value.terms[-1])))
    return Quantity(value, unit) if unit else value
