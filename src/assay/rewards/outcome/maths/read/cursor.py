"""A position in a token list, with the checks that every reading rule shares."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from assay.rewards.outcome.maths.limits import MAX_DEPTH, TooLarge, UnreadableAnswer
from assay.rewards.outcome.maths.nodes import Node
from assay.rewards.outcome.maths.read.tokens import Kind, Token

Rule: TypeAlias = "Callable[[Cursor], Node]"


class Cursor:
    """Reads tokens one by one and counts nesting, so that no input exhausts the stack.

    The grammar is recursive: brackets hold whole answers. So the rules for what may stand where a
    value is expected come with the cursor, one for each kind of token, and a rule that needs any
    of them asks for `read_atom`.
    """

    __slots__ = ("at", "atoms", "bars", "builder", "depth", "tokens")

    def __init__(self, tokens: list[Token], atoms: Mapping[Kind, Rule]) -> None:
        self.tokens = tokens
        self.atoms = atoms
        self.at = 0
        self.depth = 0
        self.bars = 0
        """Plain bars that are open, so that the next one closes."""
        self.builder = False
        """Whether a bar or a colon would start the conditions of a set."""

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

    def accept(self, kind: Kind, text: str) -> bool:
        token = self.tokens[self.at]
        if token.kind == kind and token.text == text:
            self.at += 1
            return True
        return False

    def expect(self, kind: Kind, text: str) -> None:
        if not self.accept(kind, text):
            raise UnreadableAnswer(f"{self.token.text or 'the end'!r} where {text!r} was expected")

    def enter(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise TooLarge(f"nesting deeper than {MAX_DEPTH}")

    def leave(self) -> None:
        self.depth -= 1

    def read_atom(self) -> Node:
        """What stands here between operators, by the kind of its first token."""
        token = self.tokens[self.at]
        rule = self.atoms.get(token.kind)
        if rule is None:
            raise UnreadableAnswer(f"{token.text or 'the end'!r} where a value was expected")
        return rule(self)

    def read_group(self) -> Node:
        """What stands between the bracket here and the one that closes it."""
        return self.atoms["open"](self)
