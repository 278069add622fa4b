"""Load tasks from a file of JSON lines, a JSON array or a table (CSV, TSV)."""

from __future__ import annotations

import csv
import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from assay.errors import BadInput, BadParameter, did_you_mean, nearest_file
from assay.schema.column_names import ANSWERS, GOALS, IDS
from assay.schema.task import Task

MAX_LINE_BYTES = 10_000_000
MAX_ARRAY_BYTES = 500_000_000
TABLES: Mapping[str, str] = {".csv": ",", ".tsv": "\t"}
"""Endings of the names of tables, with what separates their cells."""
SUFFIXES = (".jsonl", ".ndjson", ".json", *TABLES)
"""Endings of the names of files that can be read."""
PARTS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(IDS, IDS),
    **dict.fromkeys(GOALS, GOALS),
    **dict.fromkeys(ANSWERS, ANSWERS),
}
"""By each of those names, the part that it is a name of."""
LIKELY_ANSWERS = ("answer", "expect", "reference", "truth", "target", "label", "correct", "key")
"""Words in the names of columns that are likely to hold the reference."""


def tasks(
    path: str | Path, *, limit: int | None = None, columns: Mapping[str, str] | None = None
) -> list[Task]:
    """Load the tasks of a file, in order; `limit` keeps only the first tasks.

    A line needs a `goal` (or another of the usual names); `answer` is the reference, every other
    column becomes metadata, and a `metadata` object is merged into it. A line without an `id` is
    called by its number, `line.3` (a row of a table or an array `row.3`). `columns` says where else
    something is: `{"answer": "gold_2"}`.
    """
    columns = dict(columns or {})
    if limit is not None and limit < 1:
        raise BadParameter(f"limit is {limit!r}; give a number of tasks, at least 1")
    tasks: list[Task] = []
    lines: dict[str, int] = {}
    is_table = Path(path).suffix.lower() in (".json", *TABLES)
    unit = "row" if is_table else "line"
    for number, row in read_rows(Path(path)):
        where = f"{path}, {unit} {number}"
        renamed = rename_columns(row, columns, where)
        task = task_of(renamed, where, f"{unit}.{number}", columns=row)
        if task.id in lines:
            raise BadInput(
                f"{where}: the id {task.id!r} is also the id of {unit} {lines[task.id]}; give "
                "every task an id of its own"
            )
        lines[task.id] = number
        tasks.append(task)
        if len(tasks) == limit:
            break
    if not tasks:
        raise BadInput(f"{path} holds no tasks; write one JSON object per {unit}")
    return tasks


def columns_of(path: Path) -> list[str]:
    """The column names of the first task in a file."""
    return list(next((row for _, row in read_rows(path)), {}))


def likely_answer(columns: Iterable[str]) -> str:
    """The column whose name suggests a reference answer; `COLUMN` if there is none."""
    names = [name for name in columns if any(word in name.lower() for word in LIKELY_ANSWERS)]
    return names[0] if names else "COLUMN"


def read_rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the number and the object of each line, or table row, that is not blank."""
    suffix = path.suffix.lower()
    try:
        if suffix in TABLES:
            yield from _table_rows(path, TABLES[suffix])
        elif suffix == ".json":
            yield from _array_rows(path)
        else:
            with path.open("rb") as file:
                for number, line in enumerate(iter(lambda: file.readline(MAX_LINE_BYTES), b""), 1):
                    if line.strip():
                        yield number, _read_row(line, f"{path}, line {number}")
    except OSError as error:
        hint = f"; {nearest_file(path)}".rstrip("; ") if not path.exists() else ""
        raise BadInput(f"{path} cannot be read: {error.strerror or error}{hint}") from error


def _array_rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    if path.stat().st_size > MAX_ARRAY_BYTES:
        raise BadInput(f"{path} is larger than {MAX_ARRAY_BYTES:,} bytes; write it as JSON lines")
    try:
        rows = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{path}: not JSON ({error}); JSON lines are named .jsonl") from error
    if not isinstance(rows, list):
        raise BadInput(f"{path}: tasks must be a JSON array of objects, not {type(rows).__name__}")
    for number, row in enumerate(rows, 1):
        if not isinstance(row, dict):
            kind = type(row).__name__
            raise BadInput(f"{path}, row {number}: a task must be a JSON object, not {kind}")
        yield number, row


def _table_rows(path: Path, separator: str) -> Iterator[tuple[int, dict[str, Any]]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file, delimiter=separator, restkey="")
        try:
            for number, row in enumerate(reader, 1):
                if row.pop("", None):
                    raise BadInput(
                        f"{path}, row {number}: more cells than the first line has names"
                    )
                yield number, {name: cell for name, cell in row.items() if cell}
        except (csv.Error, UnicodeDecodeError) as error:
            raise BadInput(f"{path}: not a table ({error})") from error


def _read_row(line: bytes, where: str) -> dict[str, Any]:
    if len(line) >= MAX_LINE_BYTES:
        raise BadInput(f"{where}: longer than {MAX_LINE_BYTES} bytes")
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{where}: not JSON ({error}): {line[:60]!r}") from error
    if not isinstance(row, dict):
        raise BadInput(f"{where}: a task must be a JSON object, not {type(row).__name__}")
    return row


def rename_columns(
    row: Mapping[str, Any], columns: Mapping[str, str], where: str
) -> dict[str, Any]:
    """Rename columns of a row to the names that a task uses."""
    absent = [(name, column) for name, column in columns.items() if column not in row]
    for name, column in absent:
        there = f"the columns there are: {', '.join(sorted(row)) or 'none'}"
        raise BadInput(
            f"{where}: no column {column!r} for {name!r}; {did_you_mean(column, row, there)}"
        )
    parts = {name: PARTS.get(name, (name,)) for name in columns}
    used = {*columns.values(), *(other for names in parts.values() for other in names)}
    rest = {key: value for key, value in row.items() if key not in used}
    return {**{parts[name][0]: row[column] for name, column in columns.items()}, **rest}


def task_of(
    row: dict[str, Any], where: str, default_id: str, *, columns: Collection[str] = ()
) -> Task:
    """Make a task from a row; `default_id` is used if the row has no id."""
    id_, goal, answer = (_first(row, names) for names in (IDS, GOALS, ANSWERS))
    id_ = default_id if id_ is None else id_
    if goal is None:
        names = ", ".join(sorted(columns or row)) or "none"
        texts = {name: len(value) for name, value in row.items() if isinstance(value, str)}
        longest = max(texts, key=lambda name: texts[name], default="COLUMN")
        raise BadInput(
            f"{where}: no {GOALS[0]!r}, {', '.join(map(repr, GOALS[1:-1]))} or {GOALS[-1]!r}; the "
            f"columns there are: {names}; say which one it is: --column question={longest}"
        )
    if isinstance(id_, bool) or not isinstance(id_, (str, int)) or str(id_) == "":
        raise BadInput(f"{where}: an id must be a text or a whole number, not {id_!r}")
    if not isinstance(goal, str):
        raise BadInput(f"{where}: a goal must be a text, not {goal!r}")
    nested = row.get("metadata")
    if nested is not None and not isinstance(nested, dict):
        raise BadInput(f"{where}: metadata must be an object, not {nested!r}")
    used = {_name(row, names) for names in (IDS, GOALS, ANSWERS)} | {"metadata"}
    rest = {name: value for name, value in row.items() if name not in used}
    return Task(id=str(id_), goal=goal, answer=answer, metadata={**(nested or {}), **rest})


def _name(row: dict[str, Any], names: tuple[str, ...]) -> str:
    return next((name for name in names if name in row), "")


def _first(row: dict[str, Any], names: tuple[str, ...]) -> Any:
    return row.get(_name(row, names))
