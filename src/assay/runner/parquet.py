"""Parquet in and out; the one module that knows pyarrow, and imports it only when called."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from assay.errors import BadRecord, MissingExtra
from assay.runner.shards import InputRow, Shard
from assay.scoring.scorer import Scorer

READ_ROWS = 1_024
WRITE_ROWS = 4_096


def is_parquet(path: Path) -> bool:
    return path.suffix.lower() in {".parquet", ".pq"}


def plan(source: Path) -> list[Shard]:
    """One shard for each row group."""
    shards: list[Shard] = []
    first_row = 1
    with _open(source) as file:
        for group in range(file.metadata.num_row_groups):
            rows = file.metadata.row_group(group).num_rows
            shards.append(Shard(group, group, group + 1, first_row, rows))
            first_row += rows
    return shards


def read(source: Path, shard: Shard) -> Iterator[InputRow]:
    """The rows of one row group, a few at a time."""
    number = shard.first_row
    with _open(source) as file:
        for batch in file.iter_batches(batch_size=READ_ROWS, row_groups=[shard.start]):
            for value in batch.to_pylist():
                yield InputRow(number, value)
                number += 1


def write(
    path: Path, results: Iterator[dict[str, Any]], scorers: Sequence[Scorer], columns: Sequence[str]
) -> None:
    """Result rows as flat columns: `NAME`, `NAME.because`, `NAME.abstained`, `NAME.<part>`."""
    arrow, parquet = _pyarrow()
    schema = _schema(arrow, scorers, columns)
    rows: list[dict[str, Any]] = []
    with parquet.ParquetWriter(path, schema) as writer:
        for result in results:
            rows.append(_flat(result, scorers, columns))
            if len(rows) == WRITE_ROWS:
                writer.write_table(arrow.Table.from_pylist(rows, schema))
                rows.clear()
        writer.write_table(arrow.Table.from_pylist(rows, schema))


def join(shards: Sequence[Path], out: Path) -> None:
    """One file from shards of the same schema, in order."""
    _, parquet = _pyarrow()
    with _open(shards[0]) as first:
        schema = first.schema_arrow
    with parquet.ParquetWriter(out, schema) as writer:
        for shard in shards:
            with _open(shard) as file:
                for batch in file.iter_batches():
                    writer.write_batch(batch)


# pyarrow ships no complete types; its objects stay inside this module.
def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError as error:
        raise MissingExtra(
            "Parquet needs pyarrow; install it with: pip install 'assay[parquet]'"
        ) from error
    return pa, parquet


def _open(source: Path) -> Any:
    arrow, parquet = _pyarrow()
    try:
        return parquet.ParquetFile(source)
    except arrow.ArrowInvalid as error:
        raise BadRecord(f"{source} is not a Parquet file: {error}") from error


def _schema(arrow: Any, scorers: Sequence[Scorer], columns: Sequence[str]) -> Any:
    fields = [("line", arrow.int64()), *((name, arrow.string()) for name in columns)]
    for scorer in scorers:
        name = scorer.spec.name
        fields += [
            (name, arrow.float64()),
            (f"{name}.because", arrow.string()),
            (f"{name}.abstained", arrow.string()),
            (f"{name}.scorer", arrow.string()),
        ]
        fields += [(f"{name}.{part}", arrow.float64()) for part in scorer.spec.parts or ()]
    return arrow.schema(fields)


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
    """A kept value as text: a column has one type, the values of a JSON column do not."""
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, default=repr)
