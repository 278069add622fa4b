"""The tasks of the town: questions with references computed from its records."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal, TypeAlias

from assay.errors import AssayError, BadParameter
from assay.lazy import package_table
from assay.schema.task import Task
from townsquare.records.draw import draw_records
from townsquare.records.schema import TOWN, Records
from townsquare.tasks import questions
from townsquare.tasks.questions import Question

Difficulty: TypeAlias = Literal["easy", "medium", "hard"]


@dataclass(frozen=True, slots=True)
class Template:
    """A template of questions, with the obstacles to answering them."""

    name: str
    """Also of the function in `questions` that draws them."""
    goal: str
    """The question, with places for the words of one."""
    domain: str
    answer_kind: str
    difficulty: Difficulty
    planted: Sequence[str]
    start: str
    demo: Sequence[int]
    """The numbers of the tasks that are in the demonstration."""


_TABLE = package_table(__package__, "templates")
TEMPLATES = tuple(
    Template(name, _TABLE["goals"][name], *row) for name, row in _TABLE["kinds"].items()
)
INSTANCES = 4
"""How many tasks each template gives."""
DEMO = tuple(f"{template.name}.{n}" for template in TEMPLATES for n in template.demo)
"""Twenty tasks that between them meet every difficulty planted in the town."""


def tasks(
    *,
    seed: int = 7,
    demo: bool = False,
    difficulty: Difficulty | None = None,
    names: Sequence[str] = (),
) -> list[Task]:
    """Return the town's tasks; another seed gives the same ids with other facts.

    `demo` keeps the twenty of the demonstration, `difficulty` one level, `names` the tasks or
    whole templates named.
    """
    records = draw_records(seed)
    every = [task for template in TEMPLATES for task in _instances(template, records)]
    unknown = sorted(set(names) - {key for task in every for key in _keys(task)})
    if unknown:
        templates = ", ".join(template.name for template in TEMPLATES)
        raise BadParameter(
            f"no townsquare task {unknown[0]!r}; names are those of templates ({templates}) or of "
            f"single tasks, such as {every[0].id!r}"
        )
    return [
        task
        for task in every
        if (not demo or task.metadata["demo"])
        and difficulty in (None, task.metadata["difficulty"])
        and (not names or not set(names).isdisjoint(_keys(task)))
    ]


def _keys(task: Task) -> tuple[str, str]:
    return task.id, task.metadata["template"]


def _instances(template: Template, records: Records) -> Iterator[Task]:
    rng = random.Random(f"{records.seed}/tasks/{template.name}")
    draw = getattr(questions, template.name)
    candidates = list(islice(_distinct(template, draw(records, rng)), INSTANCES))
    if len(candidates) < INSTANCES:
        raise AssayError(
            f"seed {records.seed} gives only {len(candidates)} questions for {template.name!r}; "
            "choose another seed"
        )
    for number, (goal, reference) in enumerate(candidates, 1):
        name = f"{template.name}.{number}"
        yield Task(
            id=name,
            goal=goal,
            answer=reference,
            metadata={
                "template": template.name,
                "domain": template.domain,
                "gold_kind": template.answer_kind,
                "difficulty": template.difficulty,
                "planted": list(template.planted),
                "demo": name in DEMO,
                "start_url": f"{{base_url}}{template.start}",
                "search_url": "{base_url}/search?q={query}",
                "seed": records.seed,
            },
        )


def _distinct(template: Template, candidates: Iterator[Question]) -> Iterator[tuple[str, str]]:
    """Yield different goals, each with its reference answer."""
    seen: set[str] = set()
    for question in candidates:
        goal = template.goal.format(town=TOWN, **question.words)
        if goal not in seen:
            seen.add(goal)
            yield goal, question.reference
