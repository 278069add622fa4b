"""An answer's text read into one typed node.

The grammar, from the outside in: a list of items; an item is sides joined by relation signs; a
side is a union of sets, a ratio, or a sum with what it is counted in. A text that leaves a token
over is refused as a whole, so nothing that was written is ever ignored.
"""

from __future__ import annotations

from typing import Final

from assay.rewards.outcome.maths.limits import UnreadableAnswer
from assay.rewards.outcome.maths.nodes import Node
from assay.rewards.outcome.maths.read import atoms, functions
from assay.rewards.outcome.maths.read.clean import clean
from assay.rewards.outcome.maths.read.commands import read_command
from assay.rewards.outcome.maths.read.cursor import Cursor, Rule
from assay.rewards.outcome.maths.read.groups import (
    is_comma_grouped,
    read_group,
    read_turned,
    separate,
)
from assay.rewards.outcome.maths.read.items import read_list
from assay.rewards.outcome.maths.read.nouns import is_listed
from assay.rewards.outcome.maths.read.tokens import Kind, Token, letter_token, scan

ATOMS: Final[dict[Kind, Rule]] = {
    "number": atoms.read_number,
    "grouped": atoms.read_grouped,
    "name": atoms.read_name,
    "constant": atoms.read_constant,
    "text": atoms.read_text,
    "function": functions.read_function,
    "operator": functions.read_operator,
    "op": functions.read_bars,
    "open": read_group,
    "close": read_turned,
    "command": read_command,
}
"""What may stand where a value is expected, by the kind of its first token."""


def parse(text: str, *, commas_group: bool = True) -> Node:
    """The node of a raw answer; `commas_group` reads `1,234` as one number, not as two."""
    return read(scan(clean(text)), commas_group=commas_group)


def read(tokens: list[Token], *, commas_group: bool = True) -> Node:
    """The node of all the tokens; raises UnreadableAnswer if any is left over."""
    tokens = list(tokens) if commas_group else _ungrouped(tokens)
    if any(token.kind == "text" for token in tokens):
        tokens = _with_products(tokens)
    cursor = Cursor(tokens, ATOMS)
    node = read_list(cursor)
    if cursor.token.kind != "end":
        raise UnreadableAnswer(f"{cursor.token.text!r} left over")
    return node


def _with_products(tokens: list[Token]) -> list[Token]:
    """A run of letters beside an arithmetic sign is a product; elsewhere it is a word."""
    pieces: list[Token] = []
    for before, token, after in zip(
        [tokens[-1], *tokens[:-1]], tokens, [*tokens[1:], tokens[-1]], strict=True
    ):
        beside = any(t.kind == "op" and t.text in ("+", "-", "*", "^") for t in (before, after))
        if (
            token.kind == "text"
            and beside
            and not is_listed(token.text)
            and token.text.isalpha()
            and len(token.text) < 7
        ):
            pieces.extend(letter_token(letter, gap=False) for letter in token.text)
        else:
            pieces.append(token)
    return pieces


def _ungrouped(tokens: list[Token]) -> list[Token]:
    pieces: list[Token] = []
    for token in tokens:
        pieces.extend(separate(token) if is_comma_grouped(token) else [token])
    return pieces
