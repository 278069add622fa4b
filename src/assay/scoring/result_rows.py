"""The rows that scoring a file writes: JSONL or Parquet, shard by shard, in order."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import orjson

from assay.formats import parquet
from assay.formats.table import ColumnType
from assay.resources.files import atomic_write
from assay.schema.score import Score, score_to_record
from assay.scoring.scorer import Scorer

IDENTITY = ("id", "task_id")
"""Columns copied into the result when the row has them."""


def result_of(
    number: int, row: Any, keep: Sequence[str], scores: dict[str, Score]
) -> dict[str, Any]:
    """One result row: where it came from, the columns asked for, and every score."""
    result: dict[str, Any] = {"line": number}
    if isinstance(row, dict):
        result |= {name: row[name] for name in (*IDENTITY, *keep) if name in row}
    result["scores"] = {name: score_to_record(score) for name, score in scores.items()}
    return result


def encode(result: dict[str, Any]) -> bytes:
    """One JSON line. What the fast encoder refuses (lone surrogates) is written escaped."""
    try:
        return orjson.dumps(result, default=repr, option=orjson.OPT_APPEND_NEWLINE)
    except (TypeError, orjson.JSONEncodeError):
        return json.dumps(result, default=repr).encode() + b"\n"


def write_shard(
    path: Path,
    results: Iterator[dict[str, Any]],
    scorers: Sequence[Scorer],
    keep: Sequence[str],
    drafts: Path | None = None,
) -> None:
    """The results of one shard, complete or not at all."""
    with atomic_write(path, drafts) as draft:
        if parquet.is_parquet(path):
            columns = _columns(scorers, (*IDENTITY, *keep))
            rows = (_flat(result, scorers, (*IDENTITY, *keep)) for result in results)
            parquet.write_rows(draft, rows, columns)
        else:
            with draft.open("wb") as stream:
                for result in results:
                    stream.write(encode(result))


def join_shards(shards: Sequence[Path], out: Path) -> None:
    """One file from all shards, in order."""
    with atomic_write(out) as draft:
        if parquet.is_parquet(out):
            parquet.join(shards, draft)
        else:
            with draft.open("wb") as stream:
                for shard in shards:
                    with shard.open("rb") as source:
                        shutil.copyfileobj(source, stream, 1024 * 1024)


def _columns(scorers: Sequence[Scorer], keep: Sequence[str]) -> dict[str, ColumnType]:
    """Flat columns: `NAME`, `NAME.because`, `NAME.abstained`, `NAME.scorer`, `NAME.<part>`."""
    columns: dict[str, ColumnType] = {"line": "integer", **dict.fromkeys(keep, "text")}
    for scorer in scorers:
        name = scorer.spec.name
        columns[name] = "number"
        columns |= {f"{name}.{field}": "text" for field in ("because", "abstained", "scorer")}
        columns |= {f"{name}.{part}": "number" for part in scorer.spec.parts or ()}
    return columns


def _flat(
    result: dict[str, Any], scorers: Sequence[Scorer], columns: Sequence[str]
) -> dict[str, Any]:
    row: dict[str, Any] = {"line": result["line"]}
    for column in columns:
        row[column] = _cell(result.get(column))
    for scorer in scorers:
        name = scorer.spec.name
        record = result["scores"][name]
        row[name] = record["value"]
        row[f"{name}.because"] = record["because"]
        row[f"{name}.abstained"] = record.get("abstained")
        row[f"{name}.scorer"] = record["scorer"]
        for part in scorer.spec.parts or ():
            row[f"{name}.{part}"] = record["parts"][part]
    return row


def _cell(value: Any) -> str | None:
    """A column of the input as text: a Parquet column has one type, a JSON column may not."""
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, default=repr)
