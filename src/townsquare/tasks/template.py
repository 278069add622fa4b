"""A kind of question about the town."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from assay.lazy import package_table
from townsquare.records.schema import Records

Difficulty: TypeAlias = Literal["easy", "medium", "hard"]
Draw: TypeAlias = Callable[[Records, random.Random], Iterator["Question"]]

MAX_DRAWS = 400
"""Candidates that a template looks at before it gives up."""


class Question:
    """What fills the goal of a template, and the reference that follows from it."""

    def __init__(self, reference: str, **words: object) -> None:
        self.reference = reference
        """As AssistantBench's scorer expects it: a bare value, or an item or JSON object a line."""
        self.words = words


@dataclass(frozen=True, slots=True)
class Template:
    """How questions of one kind are drawn, and what stands in the way of answering them."""

    name: str
    draw: Draw
    goal: str
    """The question, with places for the words of one."""
    domain: str
    answer_kind: str
    difficulty: Difficulty
    planted: tuple[str, ...]
    start: str = "/"
    demo: tuple[int, ...] = ()
    """The numbers of the tasks that are in the demonstration."""


def templates_of(**draws: Draw) -> tuple[Template, ...]:
    """The templates of these names, as `templates.toml` describes them."""
    table = package_table(__package__, "templates")
    rows = ((name, draw, table[name]) for name, draw in draws.items())
    return tuple(
        Template(name, draw, **{**row, "planted": tuple(row["planted"])})
        for name, draw, row in rows
    )


def json_lines(objects: Iterable[Mapping[str, object]]) -> str:
    """One JSON object per line."""
    return "\n".join(json.dumps(entry) for entry in objects)
