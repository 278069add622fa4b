"""OpenTelemetry: every score of an episode as a `gen_ai.evaluation.result` event.

    for event in otel.to_events(episode, run_id="…"):
        logger.emit(event_name=event["event_name"], attributes=event["attributes"])

The convention is in development; its names are in this file and nowhere else.

Abstained: no score value, and the reason as `error.type`.
"""

from __future__ import annotations

from typing import Any

from assay.schema.episode import Episode
from assay.schema.score import Abstained, Score

EVENT = "gen_ai.evaluation.result"
NAME = "gen_ai.evaluation.name"
VALUE = "gen_ai.evaluation.score.value"
EXPLANATION = "gen_ai.evaluation.explanation"
ERROR = "error.type"
RUN, TASK, ATTEMPT = "assay.run.id", "assay.task.id", "assay.attempt"
SCORER, PART = "assay.scorer", "assay.part"
"""Our own attributes, where the convention has none."""


def to_events(episode: Episode, *, run_id: str = "") -> list[dict[str, Any]]:
    """One event for each score: its name, value and explanation, its parts, and whose it is."""
    return [_event(episode, score, run_id) for score in episode.scores]


def _event(episode: Episode, score: Score, run_id: str) -> dict[str, Any]:
    attributes: dict[str, Any] = {
        NAME: score.scorer.partition("@")[0] or "score",
        EXPLANATION: score.because,
        SCORER: score.scorer,
        TASK: episode.task.id,
        ATTEMPT: episode.attempt,
    }
    if run_id:
        attributes[RUN] = run_id
    if isinstance(score, Abstained):
        attributes[ERROR] = score.reason
    else:
        attributes[VALUE] = score.value
    for part, number in score.parts.items():
        if number is not None:
            attributes[f"{PART}.{part}"] = number
    return {"event_name": EVENT, "timestamp": episode.started_at, "attributes": attributes}
