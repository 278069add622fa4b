"""Tasks from a file with one JSON object per line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from assay.errors import BadParameter, BadRecord
from assay.schema.task import Task

MAX_LINE_BYTES = 10_000_000
IDS = ("id", "task_id")
GOALS = ("goal", "task", "question", "prompt")
ANSWERS = ("answer", "gold", "golden_answers")
"""Names under which files keep the parts of a task; the first that is there counts."""


def tasks(path: str | Path, *, limit: int | None = None) -> list[Task]:
    """The tasks of the file, in its order; `limit` keeps the first so many.

    A line needs an `id` and a `goal` (or another of the usual names); `answer` is the reference,
    every other column becomes metadata, and a `metadata` object is merged into it.
    """
    if limit is not None and limit < 1:
        raise BadParameter(f"limit is a number of tasks from 1 up, not {limit!r}")
    tasks: list[Task] = []
    lines: dict[str, int] = {}
    for number, row in read_rows(Path(path)):
        task = _task(row, f"{path}, line {number}")
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


def _task(row: dict[str, Any], where: str) -> Task:
    id_, goal, answer = (_first(row, names) for names in (IDS, GOALS, ANSWERS))
    missing = [names[0] for names, value in ((IDS, id_), (GOALS, goal)) if value is None]
    if missing:
        columns = ", ".join(sorted(row)) or "none"
        raise BadRecord(f"{where}: no {missing[0]!r}; the columns there are: {columns}")
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
