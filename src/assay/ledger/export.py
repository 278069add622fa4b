"""A run as one flat table, for tools that know nothing of Assay."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, TypeAlias

from assay.errors import BadParameter, MissingExtra
from assay.ledger.lines import dump_json, dump_line
from assay.ledger.run import Run
from assay.ledger.summary import domain_of
from assay.resources.files import atomic_write
from assay.schema.episode import Episode
from assay.schema.score import Abstained

ExportFormat: TypeAlias = Literal["jsonl", "parquet"]
ColumnType: TypeAlias = Literal["text", "integer", "number", "truth"]

ROWS_AT_ONCE = 1_000
CHARS_AT_ONCE = 50_000_000

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


def export_run(run: Run, path: str | Path, format: ExportFormat = "jsonl") -> int:  # noqa: A002
    """Every attempt of the run as a row of `path`, which is there whole or not at all.

    Returns the number of rows. JSON keeps every text exactly; Parquet holds valid Unicode only, so
    there a lone surrogate becomes its escape.
    """
    columns = {**COLUMNS, **_score_columns(run)}
    with atomic_write(Path(path)) as draft:
        if format == "jsonl":
            return _write_jsonl(draft, _rows(run, columns))
        if format == "parquet":
            return _write_parquet(draft, _rows(run, columns), columns)
        raise BadParameter(f"format={format!r}; there are 'jsonl' and 'parquet'")


def _score_columns(run: Run) -> dict[str, ColumnType]:
    names: dict[str, ColumnType] = {}
    for episode in run.episodes():
        for score in episode.scores:
            name = _name(score.scorer)
            names.update(
                dict.fromkeys((name, *(f"{name}.{part}" for part in score.parts)), "number")
            )
    return {name: kind for name, kind in names.items() if name not in COLUMNS}


def _rows(run: Run, columns: dict[str, ColumnType]) -> Iterator[dict[str, Any]]:
    final = {episode.attempt for episode in run.final()}
    for episode in run.episodes():
        row = {**dict.fromkeys(columns), **_scores(episode)}
        row.update(_fixed(run.id, episode, counts=episode.attempt in final))
        yield {name: row[name] for name in columns}


def _fixed(run_id: str, episode: Episode, *, counts: bool) -> dict[str, Any]:
    primary = episode.scores[0] if episode.scores else None
    return {
        "run_id": run_id,
        "attempt": episode.attempt,
        "task_id": episode.task.id,
        "repeat": episode.repeat,
        "counts": counts,
        "domain": domain_of(episode),
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


def _write_jsonl(path: Path, rows: Iterator[dict[str, Any]]) -> int:
    count = 0
    with path.open("wb") as stream:
        for row in rows:
            stream.write(dump_line(row))
            count += 1
    return count


# pyarrow ships no complete types; its objects stay inside these functions.
def _write_parquet(
    path: Path, rows: Iterator[dict[str, Any]], columns: dict[str, ColumnType]
) -> int:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError as error:
        raise MissingExtra(
            "Parquet needs pyarrow; install it with: pip install 'assay[parquet]'"
        ) from error
    types = {
        "text": pa.string(),
        "integer": pa.int64(),
        "number": pa.float64(),
        "truth": pa.bool_(),
    }
    fields: Any = [(_valid(name), types[kind]) for name, kind in columns.items()]
    schema = pa.schema(fields)
    count = 0
    with parquet.ParquetWriter(path, schema) as writer:
        for batch in _batches(rows):
            valid = [{_valid(name): _valid(cell) for name, cell in row.items()} for row in batch]
            writer.write_table(pa.Table.from_pylist(valid, schema))
            count += len(batch)
    return count


def _batches(rows: Iterator[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    batch: list[dict[str, Any]] = []
    chars = 0
    for row in rows:
        batch.append(row)
        chars += len(row["final_response"] or "")
        if len(batch) == ROWS_AT_ONCE or chars > CHARS_AT_ONCE:
            yield batch
            batch, chars = [], 0
    if batch:
        yield batch


def _valid(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    return value.encode("utf-8", "backslashreplace").decode("utf-8")
