"""A kind of question about the town."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from townsquare.records.schema import Records

AnswerKind: TypeAlias = Literal["string", "number", "list", "json"]
Difficulty: TypeAlias = Literal["easy", "medium", "hard"]
Feature: TypeAlias = Literal[
    "truncated_observation",
    "long_payload",
    "json_api",
    "html_table",
    "script_delay",
    "pagination",
    "date_filter",
    "listed_vs_sold",
    "lookalike",
    "outdated_copy",
    "blocked_domain",
    "login_wall",
    "captcha",
    "hanging_page",
]

PORTAL, SEARCH = "/", "/search"
"""Where a task starts: at the portal, or at the search engine that finds the wrong page first."""

MAX_DRAWS = 400
"""Candidates that a template looks at before it gives up."""


@dataclass(frozen=True, slots=True)
class Question:
    goal: str
    reference: str
    """What AssistantBench's scorer expects: a bare value, or one item or JSON object per line."""


@dataclass(frozen=True, slots=True)
class Template:
    """How questions of one kind are drawn, and what stands in the way of answering them."""

    name: str
    domain: str
    answer_kind: AnswerKind
    difficulty: Difficulty
    planted: tuple[Feature, ...]
    draw: Callable[[Records, random.Random], Iterator[Question]]
    start: str = PORTAL


def json_lines(objects: Iterable[Mapping[str, object]]) -> str:
    """One JSON object per line."""
    return "\n".join(json.dumps(entry) for entry in objects)
