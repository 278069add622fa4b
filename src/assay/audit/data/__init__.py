"""The rows that an audit starts from: built in for each kind, or made from the user's own data.

`Sample.right` and `Sample.wrong` are bare answers ("42"), never whole responses: the checks find
out in which frame (a box, a tag, a phrase) the target looks for an answer, and put it there.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from assay.audit.findings import (
    ANSWER_KINDS,
    EVERY_KIND,
    TEXT_KINDS,
    Check,
    CheckFunction,
    Sample,
    Violation,
    reference_text,
)
from assay.errors import BadRecord
from assay.lazy import package_table
from assay.schema.audit import Kind

REFERENCE_COLUMNS: Final = (
    "answer", "gold", "golden_answers", "ground_truth", "solution", "label", "target",
)  # fmt: skip
"""Where a data set keeps the reference, the most telling name first."""

PROMPT_COLUMNS: Final = ("prompt", "question", "problem", "goal", "query", "instruction")


def built_in(kind: Kind, parameters: Collection[str] = ()) -> tuple[Sample, ...]:
    """The built-in samples of a kind, or of one that reads a column that only some rows have."""
    # Any other reward of the form takes any question.
    form = "instructions" if "instructions" in parameters else "qa"
    name = form if kind == "format" else kind
    table = read_table(name)
    shared = {key: value for key, value in table.items() if key != "row"}
    return tuple(_sample(kind, {**shared, **row}) for row in table["row"])


@dataclass(frozen=True, slots=True)
class Cheat:
    """A program, or files, that do not do what is asked for."""

    check: str
    """The check that asks whether it is paid."""
    name: str
    program: str = ""
    """`NAME` stands for the function that a row asks for."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Beside a wrong solution."""


@lru_cache(maxsize=2)
def cheats(kind: Kind) -> tuple[Cheat, ...]:
    """The built-in cheats against rewards of programs, or of folders."""
    name = "files" if kind == "files" else "cheats"
    return tuple(Cheat(**row) for row in read_table(name)["cheat"])


def checks_of(**runs: CheckFunction) -> tuple[Check, ...]:
    """The checks of these names, as `checks.toml` describes them, each with what it runs."""
    return tuple(_check(name, run) for name, run in runs.items())


def _check(name: str, run: CheckFunction) -> Check:
    row = read_table("checks")[name]
    return Check(
        name,
        row["summary"],
        run,
        Violation(row["severity"], row["title"], row["expected"], row["fix"]),
        row["family"],
        _kinds(row.get("kinds", "answer")),
        row.get("needs_pay", True),
    )


def _kinds(text: str) -> frozenset[Kind]:
    """The kinds that `answer sql -choice` means."""
    sets = {"every": EVERY_KIND, "text": TEXT_KINDS, "answer": ANSWER_KINDS}
    words = text.split()
    named = frozenset[str]().union(*(sets.get(word, {word}) for word in words))
    left_out = {word.removeprefix("-") for word in words if word.startswith("-")}
    return frozenset(kind for kind in EVERY_KIND if kind in named - left_out)


def named_texts(name: str) -> tuple[tuple[str, str], ...]:
    """The texts of a table of `texts.toml`, each after its name."""
    return tuple(read_table("texts")[name].items())


def read_table(name: str) -> Mapping[str, Any]:
    """What the TOML file of that name holds."""
    return package_table(__name__, name)


def from_row(kind: Kind, row: Mapping[str, Any]) -> Sample:
    """A sample made of one row of a user's data.

    The reference is the only answer known to be right, unless the row lists more under `right`;
    wrong ones are then made by the checks. An environment's row is a recorded episode under
    `episode`.
    """
    if kind == "environment":
        if not isinstance(row.get("episode"), Mapping):
            raise BadRecord(
                "a row for an environment's reward holds a recorded episode under 'episode'; "
                f"this one has {', '.join(map(repr, row)) or 'nothing'}"
            )
        return Sample(_prompt(row), None, ("",), (), dict(row))
    if kind in ("code", "files"):
        return _task_of_row(kind, row)
    if kind in ("sql", "tools"):
        return _queried_row(kind, row)
    if kind == "format":
        # Whatever stands in the form; the reward does not compare it.
        text = "The answer"
        return Sample(_prompt(row), text, (text,), (), dict(row))
    column = next((name for name in REFERENCE_COLUMNS if row.get(name) is not None), None)
    if column is None:
        raise BadRecord(
            f"a row needs its reference under one of {', '.join(REFERENCE_COLUMNS)}; "
            f"this one has {', '.join(map(repr, row)) or 'nothing'}"
        )
    reference = row[column]
    aliases = reference if isinstance(reference, (list, tuple)) else (reference,)
    right = (*map(reference_text, aliases), *map(str, row.get("right", ())))
    columns = {key: value for key, value in row.items() if key not in ("right", "wrong")}
    return Sample(
        _prompt(row),
        reference,
        tuple(dict.fromkeys(right)),
        tuple(map(str, row.get("wrong", ()))),
        {"answer": reference, **columns},
    )


def _sample(kind: Kind, row: Mapping[str, Any]) -> Sample:
    prompt = str(row["prompt"])
    if kind == "environment":
        task = str(row["task_id"])
        return Sample(prompt, None, ("The task is done.",), (), {"task_id": task, "prompt": prompt})
    makers = {"code": _program, "files": _folder, "sql": _query, "tools": _calls}
    if kind in makers:
        return makers[kind](row)
    reference = row["gold"]
    return Sample(
        prompt,
        reference,
        tuple(dict.fromkeys((reference, *row.get("right", ())))),
        tuple(row.get("wrong", ())),
        {
            "prompt": prompt,
            "answer": reference,
            "golden_answers": [reference],
            **row.get("columns", {}),
        },
    )


def _program(row: Mapping[str, Any]) -> Sample:
    """A task of one function: its tests in the shapes that graders read."""
    calls: list[tuple[list[Any], Any]] = row["calls"]
    paired = {
        "inputs": [arguments for arguments, _ in calls],
        "outputs": [expected for _, expected in calls],
        "fn_name": row["fn"],
    }
    checks = [{"args": arguments, "expected": expected} for arguments, expected in calls]
    columns = {
        "prompt": row["prompt"],
        "fn_name": row["fn"],
        "tests": {"fn": row["fn"], "calls": checks},
        "test_cases": paired,
        "answer": json.dumps(paired),
    }
    program = str(row["solution"])
    wrong = tuple(map(str, row["wrong"]))
    return Sample(row["prompt"], columns["answer"], (program,), wrong, columns, program)


def _folder(row: Mapping[str, Any]) -> Sample:
    """A task whose result is a file; an answer is a JSON object of files."""
    right, wrong = (json.dumps({"solution.py": row[name]}) for name in ("solution", "wrong"))
    columns = {"prompt": row["prompt"], "tests": row["tests"], "answer": row["tests"]}
    return Sample(row["prompt"], row["tests"], (right,), (wrong,), columns, right)


def _query(row: Mapping[str, Any]) -> Sample:
    """A question to a database that a script builds."""
    columns = {
        "prompt": row["prompt"],
        "answer": row["gold"],
        "database": {"script": row["script"]},
    }
    right = (row["gold"], *row.get("right", ()))
    return Sample(row["prompt"], row["gold"], right, tuple(row["wrong"]), columns)


def _calls(row: Mapping[str, Any]) -> Sample:
    """A task for an agent with tools; an answer is a JSON list of calls, or words."""
    answer, tools = json.loads(row["gold"]), json.loads(row["tools"])
    columns = {
        "prompt": row["prompt"],
        "answer": answer,
        "ground_truth": answer,
        "tools": tools,
        "functions": tools,
    }
    right = str(row["calls"])
    return Sample(row["prompt"], answer, (right,), tuple(row["wrong"]), columns, right)


def _queried_row(kind: Kind, row: Mapping[str, Any]) -> Sample:
    """A sample made of a user's row for a reward of queries or of tool calls."""
    names = ("answer", "database") if kind == "sql" else ("answer", "tools", "calls")
    missing = [name for name in names if row.get(name) is None]
    if missing:
        raise BadRecord(
            f"a row for a reward of kind {kind!r} needs {', '.join(names)}; this one has "
            f"{', '.join(map(repr, row)) or 'nothing'}"
        )
    wrong = tuple(map(str, row.get("wrong") or ()))
    if kind == "tools":
        right = row["calls"] if isinstance(row["calls"], str) else json.dumps(row["calls"])
        return Sample(_prompt(row), row["answer"], (right,), wrong, dict(row), right)
    database = row["database"]
    if isinstance(database, str):
        # The target runs in a folder of its own, and gets a copy of the file.
        database = str(Path(database).absolute())
    columns = {**row, "database": database}
    return Sample(_prompt(row), row["answer"], (str(row["answer"]),), wrong, columns)


def _task_of_row(kind: Kind, row: Mapping[str, Any]) -> Sample:
    """A sample made of a user's row, which has tests and what passes them."""
    names = ("tests", "solution", "fn_name") if kind == "code" else ("tests", "solution", "wrong")
    missing = [name for name in names if not row.get(name)]
    if missing:
        raise BadRecord(
            f"a row for a reward of kind {kind!r} needs {', '.join(names)}; this one has "
            f"{', '.join(map(repr, row)) or 'nothing'}"
        )
    wrong = row.get("wrong") or ()
    texts = (wrong,) if isinstance(wrong, str) else tuple(map(str, wrong))
    solution = str(row["solution"])
    if kind == "files":
        solution, *others = (json.dumps({"solution.py": text}) for text in (solution, *texts))
        texts = tuple(others)
    columns = {"answer": row["tests"], **row}
    return Sample(_prompt(row), row["tests"], (solution,), texts, columns, solution)


def _prompt(row: Mapping[str, Any]) -> str:
    for name in PROMPT_COLUMNS:
        value = row.get(name)
        if isinstance(value, str):
            return value
        if isinstance(value, list) and value and isinstance(value[-1], Mapping):
            return str(value[-1].get("content", ""))
    return ""
