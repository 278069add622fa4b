"""The entry point of the parser, and its table of rules for values.

The grammar, from the outside in: a list of items; an item is sides joined by relation signs; a
side is a union of sets, a ratio, or a sum with what it is counted in. A text that leaves a token
over is refused as a whole, so nothing that was written is ever ignored.
"""

from __future__ import annotations

import re
from itertools import chain
from typing import Final

from assay.rewards.outcome.maths.compute.notations import CONSTANTS
from assay.rewards.outcome.maths.limits import UnreadableAnswer
from assay.rewards.outcome.maths.nodes import Constant, ConstantName, Node, Text, number
from assay.rewards.outcome.maths.read import atoms
from assay.rewards.outcome.maths.read.commands import read_command
from assay.rewards.outcome.maths.read.items import (
    is_comma_grouped,
    read_group,
    read_list,
    separate,
)
from assay.rewards.outcome.maths.read.nouns import is_listed
from assay.rewards.outcome.maths.read.tokens import Cursor, Kind, Rule, Token, letter_token

_CONSTANTS: Final[dict[str, ConstantName]] = {name: name for name in CONSTANTS}
_NO_DIGIT: Final = re.compile(r"[^\d.]")
ATOMS: Final[dict[Kind, Rule]] = {
    "number": atoms.read_number,
    "grouped": lambda cursor: number(_NO_DIGIT.sub("", cursor.take().text)),
    "name": atoms.read_name,
    "constant": lambda cursor: Constant(_CONSTANTS[cursor.take().text]),
    "text": lambda cursor: Text(cursor.take().text),
    "function": atoms.read_function,
    "operator": atoms.read_operator,
    "op": atoms.read_bars,
    "open": read_group,
    # An interval may start with a bracket turned outwards.
    "close": read_group,
    "command": read_command,
}
"""The rules for values, by the kind of their first token."""


def read(tokens: list[Token], *, commas_group: bool = True) -> Node:
    """Parse all tokens into one node; raise UnreadableAnswer if a token is left over."""
    tokens = list(tokens)
    if not commas_group:
        pieces = (separate(token) if is_comma_grouped(token) else [token] for token in tokens)
        tokens = [*chain.from_iterable(pieces)]
    if any(token.kind == "text" for token in tokens):
        tokens = _with_products(tokens)
    cursor = Cursor(tokens, ATOMS)
    node = read_list(cursor)
    if cursor.token.kind != "end":
        raise UnreadableAnswer(f"{cursor.token.text!r} left over")
    return node


def _with_products(tokens: list[Token]) -> list[Token]:
    """Split words next to an arithmetic sign into letters, which are factors."""
    pieces: list[Token] = []
    befores, afters = [tokens[-1], *tokens[:-1]], [*tokens[1:], tokens[-1]]
    for before, token, after in zip(befores, tokens, afters, strict=True):
        word = token.text if token.kind == "text" and len(token.text) < 7 else ""
        at_sign = any(t.kind == "op" and t.text in ("+", "-", "*", "^") for t in (before, after))
        if at_sign and word.isalpha() and not is_listed(word):
            pieces.extend(letter_token(letter, gap=False) for letter in word)
        else:
            pieces.append(token)
    return pieces
