"""Tasks from a file with one JSON object per line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from assay.errors import BadParameter, BadRecord
from assay.schema.columns import ANSWERS, GOALS, IDS
from assay.schema.task import Task

MAX_LINE_BYTES = 10_000_000
PARTS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(IDS, IDS),
    **dict.fromkeys(GOALS, GOALS),
    **dict.fromkeys(ANSWERS, ANSWERS),
}
"""By each of those names, the part that it is a name of."""


def tasks(
    path: str | Path, *, limit: int | None = None, columns: Mapping[str, str] | None = None
) -> list[Task]:
    """The tasks of the file, in its order; `limit` keeps the first so many.

    A line needs a `goal` (or another of the usual names); `answer` is the reference, every other
    column becomes metadata, and a `metadata` object is merged into it. A line without an `id` is
    called by its number, `line.3`. `columns` says where else something is: `{"answer": "gold_2"}`.
    """
    columns = dict(columns or {})
    if limit is not None and limit < 1:
        raise BadParameter(f"limit is a number of tasks from 1 up, not {limit!r}")
    tasks: list[Task] = []
    lines: dict[str, int] = {}
    for number, row in read_rows(Path(path)):
        where = f"{path}, line {number}"
        task = task_of(rename_columns(row, columns, where), where, f"line.{number}")
        if task.id in lines:
            raise BadRecord(
                f"{path}, line {number}: the id {task.id!r} is that of line {lines[task.id]} too; "
                "give every task an id of its own"
            )
        lines[task.id] = number
        tasks.append(task)
        if len(tasks) == limit:
            break
    if not tasks:
        raise BadRecord(f"{path} holds no tasks; write one JSON object per line")
    return tasks


def read_rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Each line's number and object; blank lines are skipped."""
    try:
        file = path.open("rb")
    except OSError as error:
        raise BadRecord(f"{path} cannot be read: {error.strerror or error}") from error
    with file:
        for number, line in enumerate(iter(lambda: file.readline(MAX_LINE_BYTES), b""), 1):
            if line.strip():
                yield number, _read_row(line, f"{path}, line {number}")


def _read_row(line: bytes, where: str) -> dict[str, Any]:
    if len(line) >= MAX_LINE_BYTES:
        raise BadRecord(f"{where}: longer than {MAX_LINE_BYTES} bytes")
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise BadRecord(f"{where}: not JSON ({error}): {line[:60]!r}") from error
    if not isinstance(row, dict):
        raise BadRecord(f"{where}: a task is a JSON object, not {type(row).__name__}")
    return row


def rename_columns(
    row: Mapping[str, Any], columns: Mapping[str, str], where: str
) -> dict[str, Any]:
    """The row with what `columns` names under the name that a task has for it."""
    absent = [(name, column) for name, column in columns.items() if column not in row]
    for name, column in absent:
        raise BadRecord(
            f"{where}: no column {column!r} for {name!r}; the columns there are: "
            f"{', '.join(sorted(row)) or 'none'}"
        )
    parts = {name: PARTS.get(name, (name,)) for name in columns}
    used = {*columns.values(), *(other for names in parts.values() for other in names)}
    rest = {key: value for key, value in row.items() if key not in used}
    return {**{parts[name][0]: row[column] for name, column in columns.items()}, **rest}


def task_of(row: dict[str, Any], where: str, default_id: str) -> Task:
    """The task of a row; `default_id` is for one that has none."""
    id_, goal, answer = (_first(row, names) for names in (IDS, GOALS, ANSWERS))
    id_ = default_id if id_ is None else id_
    if goal is None:
        columns = ", ".join(sorted(row)) or "none"
        raise BadRecord(
            f"{where}: no {GOALS[0]!r}, {', '.join(map(repr, GOALS[1:-1]))} or {GOALS[-1]!r}; the "
            f"columns there are: {columns}"
        )
    if isinstance(id_, bool) or not isinstance(id_, (str, int)) or str(id_) == "":
        raise BadRecord(f"{where}: an id is a text or a whole number, not {id_!r}")
    if not isinstance(goal, str):
        raise BadRecord(f"{where}: a goal is a text, not {goal!r}")
    nested = row.get("metadata")
    if nested is not None and not isinstance(nested, dict):
        raise BadRecord(f"{where}: metadata is an object, not {nested!r}")
    used = {_name(row, names) for names in (IDS, GOALS, ANSWERS)} | {"metadata"}
    rest = {name: value for name, value in row.items() if name not in used}
    return Task(id=str(id_), goal=goal, answer=answer, metadata={**(nested or {}), **rest})


def _name(row: dict[str, Any], names: tuple[str, ...]) -> str:
    return next((name for name in names if name in row), "")


def _first(row: dict[str, Any], names: tuple[str, ...]) -> Any:
    return row.get(_name(row, names))
