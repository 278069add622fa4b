"""Convert each score to an OpenTelemetry event `gen_ai.evaluation.result`.

    for event in otel.to_events(episode, run_id="…"):
        logger.emit(event_name=event["event_name"], attributes=event["attributes"])

`to_otlp(*events)` is the same as one request of the OpenTelemetry protocol, in its JSON form: what
`assay export RUN --otlp URL` sends, and, with one event, the line of a file that a Collector reads
(`otlpjsonfile`), as `assay export RUN --format otel` writes it.

The convention is in development; its names are in this file and nowhere else.

Abstained: no score value, and the reason as `error.type`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from assay import __version__
from assay.formats import RunRecords
from assay.formats.lines import valid_unicode, write_lines
from assay.schema.episode import Episode
from assay.schema.score import Abstained, Score

EVENT = "gen_ai.evaluation.result"
NAME = "gen_ai.evaluation.name"
VALUE = "gen_ai.evaluation.score.value"
EXPLANATION = "gen_ai.evaluation.explanation"
ERROR = "error.type"
AGENT, MODEL = "gen_ai.agent.name", "gen_ai.request.model"
RUN, TASK, ATTEMPT = "assay.run.id", "assay.task.id", "assay.attempt"
SCORER, PART = "assay.scorer", "assay.part"
SCORER_NAME, SCORER_VERSION = "assay.scorer.name", "assay.scorer.version"
"""Our own attributes, where the convention has none."""


def write(run: RunRecords, path: Path) -> int:
    """Write each score as a line for an OpenTelemetry Collector, and return their number."""
    return write_lines(path, (to_otlp(event) for event in run_events(run)))


def run_events(run: RunRecords) -> Iterator[dict[str, Any]]:
    """The events of all attempts of the run, with the agent and its model."""
    manifest = run.manifest
    whose = {AGENT: manifest.agent, MODEL: manifest.model_name}
    for episode in run.episodes():
        for event in to_events(episode, run_id=manifest.run_id):
            event["attributes"] |= {key: value for key, value in whose.items() if value}
            yield event


def to_events(episode: Episode, *, run_id: str = "") -> list[dict[str, Any]]:
    """One event for each score of an episode, with its value, explanation and parts."""
    return [
        {
            "event_name": EVENT,
            "timestamp": episode.started_at,
            "attributes": _describe(episode, score, run_id),
        }
        for score in episode.scores
    ]


def _describe(episode: Episode, score: Score, run_id: str) -> dict[str, Any]:
    name, at, version = score.scorer.rpartition("@")
    attributes: dict[str, Any] = {
        NAME: score.name,
        EXPLANATION: score.because,
        SCORER: score.scorer,
        SCORER_NAME: name if at else score.scorer,
        TASK: episode.task.id,
        ATTEMPT: episode.attempt,
        SCORER_VERSION: version if at else None,
        RUN: run_id or None,
        ERROR: score.reason if isinstance(score, Abstained) else None,
        VALUE: None if isinstance(score, Abstained) else score.value,
        **{f"{PART}.{part}": number for part, number in score.parts.items()},
    }
    return {key: value for key, value in attributes.items() if value is not None}


def to_otlp(*events: dict[str, Any]) -> dict[str, Any]:
    """The events as one request of the OpenTelemetry protocol, in JSON."""
    service = {"service.name": "assay", "service.version": __version__}
    scope = {
        "scope": {"name": "assay", "version": __version__},
        "logRecords": [_log_record(event) for event in events],
    }
    resource = {"attributes": _attributes(service.items())}
    return {"resourceLogs": [{"resource": resource, "scopeLogs": [scope]}]}


def _log_record(event: dict[str, Any]) -> dict[str, Any]:
    record: dict[str, Any] = {
        "eventName": event["event_name"],
        "attributes": _attributes(event["attributes"].items()),
    }
    if event["timestamp"]:
        seconds = datetime.fromisoformat(event["timestamp"]).timestamp()
        # 64-bit numbers are text there; microseconds are all that the record knows.
        record["timeUnixNano"] = str(round(seconds * 1e6) * 1000)
    return record


def _attributes(items: Iterable[tuple[str, str | float]]) -> list[dict[str, Any]]:
    return [
        {
            "key": valid_unicode(key),
            "value": {"stringValue": valid_unicode(value)}
            if isinstance(value, str)
            else {"doubleValue": value},
        }
        for key, value in items
    ]
