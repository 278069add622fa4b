"""Recorded episodes of text environments, and their scores."""

from __future__ import annotations

from typing import Any

from assay.resources.context import Context
from assay.schema.episode import Episode, Step, Trajectory
from assay.schema.evidence import WorldEvidence
from assay.schema.message import Message
from assay.schema.score import Score
from assay.schema.task import Task
from assay.scoring.scorer import score


def recorded(*evidence: WorldEvidence, messages: int = 6, **more: Any) -> Context:
    episode = Episode(
        task=Task(id="7"),
        trajectory=Trajectory(
            messages=tuple(Message(role="user", content="go") for _ in range(messages)),
            steps=tuple(
                Step(index=number, action="go", evidence=one) for number, one in enumerate(evidence)
            ),
            stop_reason=more.pop("stop_reason", "finished"),
        ),
        **more,
    )
    return Context.recorded(Episode.model_validate_json(episode.model_dump_json()))


def score_of(name: str, context: Context, task_id: object = "7", **params: Any) -> Score:
    return score(name, params=params, final_response="done", context=context, task_id=task_id)
