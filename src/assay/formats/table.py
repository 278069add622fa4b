"""A run as one flat table, for tools that know nothing of Assay: its columns and its rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, TypeAlias

from assay.formats import RunRecords
from assay.formats.lines import dump_json
from assay.schema.episode import Episode
from assay.schema.score import Abstained

ColumnType: TypeAlias = Literal["text", "integer", "number", "truth"]

COLUMNS: dict[str, ColumnType] = {
    "run_id": "text",
    "attempt": "text",
    "task_id": "text",
    "repeat": "integer",
    "counts": "truth",
    "domain": "text",
    "goal": "text",
    "answer": "text",
    "final_response": "text",
    "stop_reason": "text",
    "failure": "text",
    "reward": "number",
    "scorer": "text",
    "because": "text",
    "abstained": "text",
    "n_steps": "integer",
    "cum_reward": "number",
    "cum_raw_reward": "number",
    "prompt_tokens": "integer",
    "completion_tokens": "integer",
    "cost_usd": "number",
    "calls": "integer",
    "started_at": "text",
    "elapsed_s": "number",
    "task_metadata": "text",
    "metadata": "text",
}
"""The columns of every export; then `NAME` and `NAME.<part>` for each reward.

`answer` (where it is not text) and both kinds of metadata are JSON. `counts` is false for an
attempt that another one replaced. `reward` is the primary score as it was given; a mean leaves
out the env_errors.
"""


def columns_of(run: RunRecords) -> dict[str, ColumnType]:
    """The columns of the run's table, and their types."""
    return {**COLUMNS, **_score_columns(run)}


def _score_columns(run: RunRecords) -> dict[str, ColumnType]:
    names: dict[str, ColumnType] = {}
    for episode in run.episodes():
        for score in episode.scores:
            name = _name(score.scorer)
            names.update(
                dict.fromkeys((name, *(f"{name}.{part}" for part in score.parts)), "number")
            )
    return {name: kind for name, kind in names.items() if name not in COLUMNS}


def rows(run: RunRecords, columns: dict[str, ColumnType]) -> Iterator[dict[str, Any]]:
    """Every attempt of the run as a row with these columns."""
    final = {episode.attempt for episode in run.final()}
    for episode in run.episodes():
        row = {**dict.fromkeys(columns), **_scores(episode)}
        row.update(_fixed(run.manifest.run_id, episode, counts=episode.attempt in final))
        yield {name: row[name] for name in columns}


def _fixed(run_id: str, episode: Episode, *, counts: bool) -> dict[str, Any]:
    primary = episode.scores[0] if episode.scores else None
    return {
        "run_id": run_id,
        "attempt": episode.attempt,
        "task_id": episode.task.id,
        "repeat": episode.repeat,
        "counts": counts,
        "domain": episode.domain,
        "goal": episode.task.goal,
        "answer": _as_text(episode.task.answer),
        "final_response": episode.final_response,
        "stop_reason": episode.stop_reason,
        "failure": episode.failure.message if episode.failure else None,
        "reward": None if primary is None else primary["reward"],
        "scorer": "" if primary is None else primary.scorer,
        "because": "" if primary is None else primary.because,
        "abstained": primary.reason if isinstance(primary, Abstained) else None,
        "n_steps": episode.n_steps,
        "cum_reward": episode.cum_reward,
        "cum_raw_reward": episode.cum_raw_reward,
        "prompt_tokens": episode.usage.prompt_tokens,
        "completion_tokens": episode.usage.completion_tokens,
        "cost_usd": episode.usage.cost_usd,
        "calls": episode.usage.calls,
        "started_at": episode.started_at,
        "elapsed_s": episode.elapsed_s,
        "task_metadata": _as_text(episode.task.metadata),
        "metadata": _as_text(episode.metadata),
    }


def _scores(episode: Episode) -> dict[str, float | None]:
    row: dict[str, float | None] = {}
    for score in episode.scores:
        name = _name(score.scorer)
        row[name] = score["reward"]
        row.update({f"{name}.{part}": value for part, value in score.parts.items()})
    return row


def _name(scorer: str) -> str:
    return scorer.partition("@")[0] or "score"


def _as_text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else dump_json(value).decode("ascii")
