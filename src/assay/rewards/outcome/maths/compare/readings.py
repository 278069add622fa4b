"""What the comparisons of one row share: texts that are read once, and one allowance of work.

A row may list any number of acceptable answers. The prediction is scanned and read for the first
of them only, and all comparisons spend from one allowance, so the cost of a row grows with the
length of its references and not with their number times the prediction.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from assay.rewards.outcome.maths.limits import (
    MAX_ROW_STEPS,
    MAX_STEPS,
    UnreadableAnswer,
    WorkBudget,
)
from assay.rewards.outcome.maths.nodes import Node
from assay.rewards.outcome.maths.read.answers import read
from assay.rewards.outcome.maths.read.clean import clean
from assay.rewards.outcome.maths.read.tokens import Token, scan

_NUMBER: Final = re.compile(r"[-+]?\d{1,40}(?:\.\d{1,40})?")


def is_number(text: str) -> bool:
    """Whether the text is one plain number, which needs no cleaning and says nothing in words."""
    return _NUMBER.fullmatch(text) is not None


class Scanned(NamedTuple):
    """The tokens of a text, or why it has none."""

    tokens: list[Token] | None
    fault: UnreadableAnswer | None


class Parsed(NamedTuple):
    """The node of a text, or why it has none."""

    node: Node | None
    fault: UnreadableAnswer | None


class RowReadings:
    """The texts of one row as they were read, and the steps that its comparisons may still take."""

    __slots__ = ("_parsed", "_scanned", "steps")

    def __init__(self) -> None:
        self._scanned: dict[str, Scanned] = {}
        self._parsed: dict[str, Parsed] = {}
        self.steps = MAX_ROW_STEPS

    def budget(self) -> WorkBudget:
        """The budget of the next comparison; hand it to `settle` when the comparison is done."""
        return WorkBudget(min(MAX_STEPS, self.steps))

    def settle(self, budget: WorkBudget) -> None:
        """Take what a comparison spent from the row's allowance."""
        spent = min(MAX_STEPS, self.steps) - max(0, budget.remaining)
        self.steps -= spent

    def scan(self, text: str) -> Scanned:
        """The text's tokens, scanned once."""
        scanned = self._scanned.get(text)
        if scanned is None:
            scanned = self._scanned[text] = _scan(text)
        return scanned

    def parse(self, text: str, tokens: list[Token]) -> Parsed:
        """The node of a text whose tokens these are, read once."""
        parsed = self._parsed.get(text)
        if parsed is None:
            try:
                parsed = Parsed(read(tokens), None)
            except UnreadableAnswer as error:
                parsed = Parsed(None, error)
            self._parsed[text] = parsed
        return parsed


def _scan(text: str) -> Scanned:
    if is_number(text):
        literal = [Token("number", text.lstrip("+-")), Token("end", "")]
        return Scanned([Token("op", text[0]), *literal] if text[0] in "+-" else literal, None)
    try:
        return Scanned(scan(clean(text)), None)
    except UnreadableAnswer as error:
        return Scanned(None, error)
