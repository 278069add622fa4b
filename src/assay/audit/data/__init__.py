"""Sample rows of an audit: built-in rows of each kind, or rows of the user's data.

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
_REQUIRED: Final[Mapping[Kind, tuple[str, ...]]] = {
    "code": ("tests", "solution", "fn_name"), "files": ("tests", "solution", "wrong"),
    "sql": ("answer", "database"), "tools": ("answer", "tools", "calls"),
}  # fmt: skip
"""Columns without which a row is no task of its kind."""


def built_in(kind: Kind, parameters: Collection[str] = ()) -> tuple[Sample, ...]:
    """Return the built-in samples of a kind of reward."""
    # Any other reward of the form takes any question.
    form = "instructions" if "instructions" in parameters else "qa"
    table = read_table(form if kind == "format" else kind)
    shared = {key: table[key] for key in ("script", "tools") if key in table}
    rows = ({**shared, **dict(zip(table["columns"], row, strict=True))} for row in table["rows"])
    return tuple(_sample(kind, row) for row in rows)


@dataclass(frozen=True, slots=True)
class CheatingSolution:
    """A cheating program or set of files that does not solve the task."""

    check: str
    """The check that asks whether it is paid."""
    name: str
    program: str = ""
    """`NAME` stands for the function that a row asks for."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Added to a wrong solution."""


@lru_cache(maxsize=2)
def cheats(kind: Kind) -> tuple[CheatingSolution, ...]:
    """Return the built-in cheats for rewards of programs or of folders."""
    of_files = kind == "files"
    table = read_table("files")["cheats"] if of_files else read_table("cheats")
    return tuple(
        CheatingSolution(check, name, files=cheat)
        if of_files
        else CheatingSolution(check, name, cheat)
        for check, named in table.items()
        for name, cheat in named.items()
    )


@lru_cache(maxsize=1)
def check_rows() -> Mapping[str, Mapping[str, Any]]:
    """Return the entries of `checks.toml` by name, each with the defaults of its family."""
    rows = {}
    for family, table in read_table("checks").items():
        of_family = {key: value for key, value in table.items() if not isinstance(value, Mapping)}
        for name in table.keys() - of_family:
            rows[name] = {"family": family, **of_family, **table[name]}
    return rows


def checks_of(**runs: CheckFunction) -> tuple[Check, ...]:
    """Build the named checks from `checks.toml` and the given functions."""
    return tuple(_check(name, run, check_rows()[name]) for name, run in runs.items())


def _check(name: str, run: CheckFunction, row: Mapping[str, Any]) -> Check:
    violation = Violation(row["severity"], row["title"], row["expected"], row["fix"])
    kinds, needs_pay = _kinds(row.get("kinds", "answer")), row.get("needs_pay", True)
    return Check(name, row["summary"], run, violation, row["family"], kinds, needs_pay)


def _kinds(text: str) -> frozenset[Kind]:
    """Parse a list of reward kinds, such as `answer sql -choice`."""
    sets = {"every": EVERY_KIND, "text": TEXT_KINDS, "answer": ANSWER_KINDS}
    words = text.split()
    named = frozenset[str]().union(*(sets.get(word, {word}) for word in words))
    left_out = {word.removeprefix("-") for word in words if word.startswith("-")}
    return frozenset(kind for kind in EVERY_KIND if kind in named - left_out)


def named_texts(name: str) -> tuple[tuple[str, str], ...]:
    """Return the (name, text) pairs of a list in `texts.toml`."""
    return tuple((title, text) for title, text in read_table("texts")[name])


def read_table(name: str) -> Mapping[str, Any]:
    """Read a TOML table of the audit by its name."""
    return package_table(__name__, name)


def from_row(kind: Kind, row: Mapping[str, Any]) -> Sample:
    """Build a sample from one row of the user's data.

    The reference is the only answer known to be right, unless the row lists more under `right`;
    wrong ones are then made by the checks. An environment's row is a recorded episode under
    `episode`.
    """
    prompt, wrong = _prompt(row), _texts(row.get("wrong"))
    if kind == "environment":
        if not isinstance(row.get("episode"), Mapping):
            raise _incomplete("an environment's reward", "a recorded episode under 'episode'", row)
        return Sample(prompt, None, ("",), (), dict(row))
    required = _REQUIRED.get(kind, ())
    if any(row.get(name) in (None, "") for name in required):
        raise _incomplete(f"a reward of kind {kind!r}", ", ".join(required), row)
    if kind == "format":
        # Whatever stands in the form; the reward does not compare it.
        text = "The answer"
        return Sample(prompt, text, (text,), (), dict(row))
    if kind in ("code", "files"):
        solution, columns = str(row["solution"]), {"answer": row["tests"], **row}
        if kind == "files":
            solution, *others = (json.dumps({"solution.py": text}) for text in (solution, *wrong))
            wrong = tuple(others)
        return Sample(prompt, row["tests"], (solution,), wrong, columns, solution)
    if kind == "tools":
        right = row["calls"] if isinstance(row["calls"], str) else json.dumps(row["calls"])
        return Sample(prompt, row["answer"], (right,), wrong, dict(row), right)
    if kind == "sql":
        database = row["database"]
        if isinstance(database, str):
            # The target runs in a folder of its own, and gets a copy of the file.
            database = str(Path(database).absolute())
        columns = {**row, "database": database}
        return Sample(prompt, row["answer"], (str(row["answer"]),), wrong, columns)
    return _answer_row(row, prompt, wrong)


def _answer_row(row: Mapping[str, Any], prompt: str, wrong: tuple[str, ...]) -> Sample:
    column = next((name for name in REFERENCE_COLUMNS if row.get(name) is not None), None)
    if column is None:
        names = f"its reference under one of {', '.join(REFERENCE_COLUMNS)}"
        raise _incomplete("a reward of answers", names, row)
    reference = row[column]
    aliases = reference if isinstance(reference, (list, tuple)) else (reference,)
    right = (*map(reference_text, aliases), *map(str, row.get("right", ())))
    columns = {key: value for key, value in row.items() if key not in ("right", "wrong")}
    columns = {"answer": reference, **columns}
    return Sample(prompt, reference, tuple(dict.fromkeys(right)), wrong, columns)


def _incomplete(reward: str, names: str, row: Mapping[str, Any]) -> BadRecord:
    have = ", ".join(map(repr, row)) or "nothing"
    return BadRecord(f"a row for {reward} needs {names}; this one has {have}")


def _texts(value: Any) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(map(str, value or ()))


def _sample(kind: Kind, row: Mapping[str, Any]) -> Sample:
    prompt = str(row["prompt"])
    if kind == "environment":
        return Sample(
            prompt, None, ("The task is done.",), (), {"task_id": row["task_id"], "prompt": prompt}
        )
    makers = {"code": _program, "files": _folder, "sql": _query, "tools": _calls}
    if kind in makers:
        return makers[kind](prompt, row)
    reference = row["gold"]
    columns = {"prompt": prompt, "answer": reference, "golden_answers": [reference]}
    columns |= row.get("columns", {})
    right = tuple(dict.fromkeys((reference, *row.get("right", ()))))
    return Sample(prompt, reference, right, tuple(row.get("wrong", ())), columns)


def _program(prompt: str, row: Mapping[str, Any]) -> Sample:
    """Build a sample for a programming task with one function and its tests."""
    name, program = row["fn"], row["solution"]
    inputs, outputs = (list(column) for column in zip(*row["calls"], strict=True))
    paired = {"inputs": inputs, "outputs": outputs, "fn_name": name}
    checks = [{"args": arguments, "expected": expected} for arguments, expected in row["calls"]]
    columns = {
        "prompt": prompt,
        "fn_name": name,
        "tests": {"fn": name, "calls": checks},
        "test_cases": paired,
        "answer": json.dumps(paired),
    }
    return Sample(prompt, columns["answer"], (program,), tuple(row["wrong"]), columns, program)


def _folder(prompt: str, row: Mapping[str, Any]) -> Sample:
    """Build a sample whose answer is a JSON object of files."""
    right, wrong = (json.dumps({"solution.py": row[name]}) for name in ("solution", "wrong"))
    tests = row["tests"]
    columns = {"prompt": prompt, "tests": tests, "answer": tests}
    return Sample(prompt, tests, (right,), (wrong,), columns, right)


def _query(prompt: str, row: Mapping[str, Any]) -> Sample:
    """Build a sample that asks a question about a database made by a script."""
    columns = {"prompt": prompt, "answer": row["gold"], "database": {"script": row["script"]}}
    right = (row["gold"], *row.get("right", ()))
    return Sample(prompt, row["gold"], right, tuple(row["wrong"]), columns)


def _calls(prompt: str, row: Mapping[str, Any]) -> Sample:
    """Build a sample for tool use; the answer is a JSON list of calls, or words."""
    answer, tools, right = json.loads(row["gold"]), json.loads(row["tools"]), row["calls"]
    columns = {
        "prompt": prompt,
        "answer": answer,
        "ground_truth": answer,
        "tools": tools,
        "functions": tools,
    }
    return Sample(prompt, answer, (right,), tuple(row["wrong"]), columns, right)


def _prompt(row: Mapping[str, Any]) -> str:
    for name in PROMPT_COLUMNS:
        value = row.get(name)
        if isinstance(value, str):
            return value
        if isinstance(value, list) and value and isinstance(value[-1], Mapping):
            return str(value[-1].get("content", ""))
    return ""
