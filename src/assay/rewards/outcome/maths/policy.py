"""Which parts of a response may hold the final answer, in which order.

A policy is a value: the rules in the order in which they are tried, and the limits that they keep.
The first rule that finds a candidate decides; a candidate that the text negates, retracts or
hides is refused, and no later rule is tried instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias, get_args

Rule: TypeAlias = Literal[
    "boxed",
    "answer_tag",
    "hash",
    "phrase",
    "whole_text",
    "last_statement",
    "last_number",
]


@dataclass(frozen=True, slots=True)
class ExtractionPolicy:
    """The rules that may find an answer, in order, and their limits."""

    rules: tuple[Rule, ...] = get_args(Rule)
    hidden_tags: tuple[str, ...] = ("think",)
    """What stands inside tags whose names start like this (`<think>`, `<thinking>`) is not
    part of the response: an answer that is only there is no answer."""
    max_boxes_in_a_row: int = 3
    """Different boxes with hardly a word between them: up to this many are a self-correction, of
    which the last counts; more are a spray of guesses, and none counts."""
    max_whole_text: int = 1000
    """A longer response is not a bare answer, however little prose it holds."""


@dataclass(frozen=True, slots=True)
class Extraction:
    """The span that holds the answer, or why there is none."""

    span: str | None
    rule: Rule | Literal["none"]
    """The rule that found the candidate; with no span, the rule whose candidate was refused."""
    because: str


DEFAULT = ExtractionPolicy()

POLICIES: Mapping[str, ExtractionPolicy] = MappingProxyType(
    {
        "default": DEFAULT,
        "anchored": ExtractionPolicy(rules=("boxed", "answer_tag", "hash", "phrase")),
        "boxed": ExtractionPolicy(rules=("boxed",)),
    }
)
"""`default` also reads bare answers and the last statement; `anchored` wants the answer marked as
one; `boxed` wants it in a box."""
