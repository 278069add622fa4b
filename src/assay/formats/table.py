"""A run as one flat table, for tools that know nothing of Assay: its columns and its rows.

As CSV: a spreadsheet would run a text that begins like a formula, and a model can write one. Such
a text gets an apostrophe in front. Numbers stay as they are.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

from assay.formats import RunRecords
from assay.formats.lines import dump_json, valid_text, write_lines
from assay.schema.episode import Episode
from assay.schema.score import Abstained, Score

ColumnType: TypeAlias = Literal["text", "integer", "number", "truth"]
_FORMULA = ("=", "@", "\t", "\r")
_SIGNS = ("+", "-")


class _Attempt(NamedTuple):
    run_id: str
    episode: Episode
    counts: bool
    primary: Score | None


_CELLS: dict[str, tuple[ColumnType, Callable[[_Attempt], Any]]] = {
    "run_id": ("text", lambda row: row.run_id),
    "attempt": ("text", lambda row: row.episode.attempt),
    "task_id": ("text", lambda row: row.episode.task.id),
    "repeat": ("integer", lambda row: row.episode.repeat),
    "counts": ("truth", lambda row: row.counts),
    "domain": ("text", lambda row: row.episode.domain),
    "goal": ("text", lambda row: row.episode.task.goal),
    "answer": ("text", lambda row: _as_text(row.episode.task.answer)),
    "final_response": ("text", lambda row: row.episode.final_response),
    "stop_reason": ("text", lambda row: row.episode.stop_reason),
    "failure": ("text", lambda row: row.episode.failure and row.episode.failure.message),
    "reward": ("number", lambda row: None if row.primary is None else row.primary["reward"]),
    "scorer": ("text", lambda row: "" if row.primary is None else row.primary.scorer),
    "because": ("text", lambda row: "" if row.primary is None else row.primary.because),
    "abstained": (
        "text",
        lambda row: row.primary.reason if isinstance(row.primary, Abstained) else None,
    ),
    "n_steps": ("integer", lambda row: row.episode.n_steps),
    "cum_reward": ("number", lambda row: row.episode.cum_reward),
    "cum_raw_reward": ("number", lambda row: row.episode.cum_raw_reward),
    "prompt_tokens": ("integer", lambda row: row.episode.usage.prompt_tokens),
    "completion_tokens": ("integer", lambda row: row.episode.usage.completion_tokens),
    "cost_usd": ("number", lambda row: row.episode.usage.cost_usd),
    "calls": ("integer", lambda row: row.episode.usage.calls),
    "started_at": ("text", lambda row: row.episode.started_at),
    "elapsed_s": ("number", lambda row: row.episode.elapsed_s),
    "task_metadata": ("text", lambda row: _as_text(row.episode.task.metadata)),
    "metadata": ("text", lambda row: _as_text(row.episode.metadata)),
}
COLUMNS: dict[str, ColumnType] = {name: kind for name, (kind, _) in _CELLS.items()}
"""The columns of every export; then `NAME` and `NAME.<part>` for each reward.

`answer` (where it is not text) and both kinds of metadata are JSON. `counts` is false for an
attempt that another one replaced. `reward` is the primary score as it was given; a mean leaves
out the attempts whose `stop_reason` is `model_error` or `env_error`.
"""


def write(run: RunRecords, path: Path) -> int:
    """Write every attempt as a line of JSON, every text exactly as it was; how many there are."""
    return write_lines(path, rows(run, columns_of(run)))


def write_csv(run: RunRecords, path: Path) -> int:
    """Write every attempt as a row under a header; how many there are."""
    columns = columns_of(run)
    count = 0
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(map(csv_cell, columns))
        for row in rows(run, columns):
            writer.writerow(map(csv_cell, row.values()))
            count += 1
    return count


def csv_cell(value: Any) -> Any:
    """The value as a cell that no spreadsheet computes."""
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str):
        return value
    text = valid_text(value)
    return f"'{text}" if _is_formula(text) else text


def _is_formula(text: str) -> bool:
    """Whether a spreadsheet would compute the text; a number with a sign is none."""
    if not text.startswith(_SIGNS):
        return text.startswith(_FORMULA)
    try:
        float(text)
    except ValueError:
        return len(text) > 1
    return False


def columns_of(run: RunRecords) -> dict[str, ColumnType]:
    """The columns of the run's table, and their types."""
    scores = dict.fromkeys(name for episode in run.episodes() for name in _scores(episode))
    return {**COLUMNS, **{name: "number" for name in scores if name not in COLUMNS}}


def rows(run: RunRecords, columns: dict[str, ColumnType]) -> Iterator[dict[str, Any]]:
    """Every attempt of the run as a row with these columns."""
    final = {episode.attempt for episode in run.final()}
    for episode in run.episodes():
        primary = episode.scores[0] if episode.scores else None
        attempt = _Attempt(run.manifest.run_id, episode, episode.attempt in final, primary)
        fixed = {name: cell(attempt) for name, (_, cell) in _CELLS.items()}
        row = {**dict.fromkeys(columns), **_scores(episode), **fixed}
        yield {name: row[name] for name in columns}


def _scores(episode: Episode) -> dict[str, float | None]:
    row: dict[str, float | None] = {}
    for score in episode.scores:
        row[score.name] = score["reward"]
        row.update({f"{score.name}.{part}": value for part, value in score.parts.items()})
    return row


def _as_text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else dump_json(value).decode("ascii")
