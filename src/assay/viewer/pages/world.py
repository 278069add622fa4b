"""The view of a step in a text environment: score, progress and possible actions."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any

from assay.ledger.steps import StepSummary
from assay.schema.evidence import WorldEvidence
from assay.schema.worlds import TEXT_WORLDS, did_nothing
from assay.viewer.pages.records import PageRecord, pick
from assay.viewer.words import page_words

MOST_ACTIONS = 200
ACTION_CHARS = 120
FACT_CHARS = 300
MOST_POINTS = 400
"""Of the line of scores; of a longer episode so many steps are taken."""
TITLES = {
    "alfworld": "ALFWorld, a household in text", "webshop": "WebShop, a shop in text",
    "scienceworld": "ScienceWorld, experiments in text", "chat": "a conversation",
}  # fmt: skip
_LEFT_OUT = frozenset({"steps", "goals", "shuffled", "seed", "nouns", "goal_conditions"})
"""Parts of progress that say how the environment was set up, or what another part says."""


def world_view(
    evidence: object, before: object, observation: str, *, index: int
) -> PageRecord | None:
    """The record of a step in a text environment; `None` for any other step."""
    if not isinstance(evidence, WorldEvidence) or evidence.world == "chat":
        return None
    known = TEXT_WORLDS.get(evidence.world)
    earlier = before.score if isinstance(before, WorldEvidence) else None
    score = evidence.score
    return pick(
        evidence,
        "score done won",
        name=evidence.world[:FACT_CHARS],
        title=TITLES.get(evidence.world, evidence.world[:FACT_CHARS]),
        full_score=known.full_score if known else 1.0,
        gained=None if score is None or earlier is None else score - earlier,
        # Whether the action had no effect, as the environment says.
        nothing=index > 0 and did_nothing(evidence.world, observation),
        actions=_actions(evidence.world, observation, evidence.progress),
        facts=_facts(evidence.progress),
    )


def world_scores(summaries: Sequence[StepSummary]) -> PageRecord | None:
    """The environment's own score over the steps; `None` without a text environment."""
    name = next((summary.world for summary in summaries if summary.world), "")
    if not name or name == "chat":
        return None
    known = TEXT_WORLDS.get(name)
    points = [
        (step, summary.world_score)
        for step, summary in enumerate(summaries)
        if summary.world_score is not None
    ]
    return {
        "name": name,
        "title": TITLES.get(name, name),
        "full_score": known.full_score if known else 1.0,
        "points": points[:: max(1, -(-len(points) // MOST_POINTS))],
    }


def _facts(progress: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [
        (page_words().facts.get(key, str(key)[:FACT_CHARS].replace("_", " ")), _value(value))
        for key, value in progress.items()
        if key not in (*_LEFT_OUT, "admissible", "admissible_commands")
        and value not in (None, "", [], {}, ())
    ]


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))[:FACT_CHARS]
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {item}" for key, item in value.items())[:FACT_CHARS]
    return str(value)[:FACT_CHARS]


def _actions(world: str, observation: str, progress: Mapping[str, Any]) -> tuple[str, ...]:
    """The actions that the evidence or the observation lists."""
    listed = progress.get("admissible_commands") or progress.get("admissible")
    known = TEXT_WORLDS.get(world)
    if listed is None and known is not None and known.admissible is not None:
        match = known.admissible.search(observation)
        listed = _literal(match["actions"]) if match else None
    if not isinstance(listed, (list, tuple)):
        return ()
    return tuple(str(action)[:ACTION_CHARS] for action in listed[:MOST_ACTIONS])


def _literal(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
