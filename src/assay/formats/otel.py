"""OpenTelemetry: every score of an episode as a `gen_ai.evaluation.result` event.

    for event in otel.to_events(episode, run_id="…"):
        logger.emit(event_name=event["event_name"], attributes=event["attributes"])

`to_otlp(event)` is the same as the line of a file that an OpenTelemetry Collector reads
(`otlpjsonfile`); `assay export RUN --format otel` writes such a file.

The convention is in development; its names are in this file and nowhere else.

Abstained: no score value, and the reason as `error.type`.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

from assay.formats import RunRecords
from assay.formats.lines import write_lines
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


def write(run: RunRecords, path: Path) -> int:
    """Write every score of the run as a line that a Collector reads; how many there are."""
    run_id = run.manifest.run_id
    events = (event for each in run.episodes() for event in to_events(each, run_id=run_id))
    return write_lines(path, map(to_otlp, events))


def to_events(episode: Episode, *, run_id: str = "") -> list[dict[str, Any]]:
    """One event for each score: its name, value and explanation, its parts, and whose it is."""
    return [_event(episode, score, run_id) for score in episode.scores]


def _event(episode: Episode, score: Score, run_id: str) -> dict[str, Any]:
    attributes: dict[str, Any] = {
        NAME: score.name,
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


def to_otlp(event: dict[str, Any]) -> dict[str, Any]:
    """The event as a message of the OpenTelemetry protocol, in its JSON form, for itself alone."""
    record: dict[str, Any] = {
        "eventName": event["event_name"],
        "attributes": [_attribute(key, value) for key, value in event["attributes"].items()],
    }
    if event["timestamp"]:
        seconds = datetime.fromisoformat(event["timestamp"]).timestamp()
        # 64-bit numbers are text there; microseconds are all that the record knows.
        record["timeUnixNano"] = str(round(seconds * 1e6) * 1000)
    resource = {"attributes": [_attribute("service.name", "assay")]}
    scope = {"scope": {"name": "assay"}, "logRecords": [record]}
    return {"resourceLogs": [{"resource": resource, "scopeLogs": [scope]}]}


def _attribute(key: str, value: str | float) -> dict[str, Any]:
    kind = "stringValue" if isinstance(value, str) else "doubleValue"
    return {"key": key, "value": {kind: value}}
