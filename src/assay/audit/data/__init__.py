"""The rows that an audit starts from: built in for each kind, or made from the user's own data.

`Sample.right` and `Sample.wrong` are bare answers ("42"), never whole responses: the checks find
out in which frame (a box, a tag, a phrase) the target looks for an answer, and put it there.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib.resources import files
from typing import Any, Final

from assay.audit.findings import Sample, reference_text
from assay.errors import BadRecord
from assay.schema.audit import Kind

REFERENCE_COLUMNS: Final = (
    "answer", "gold", "golden_answers", "ground_truth", "solution", "label", "target",
)  # fmt: skip
"""Where a data set keeps the reference, the most telling name first."""

PROMPT_COLUMNS: Final = ("prompt", "question", "problem", "goal", "query", "instruction")


ROWS_OF: Final[Mapping[str, str]] = {"instructions_reward": "instructions"}
"""Rows of their own, for predefined rewards that need other columns than their kind's."""


def built_in(kind: Kind, reward: str = "") -> tuple[Sample, ...]:
    """The built-in samples of a kind, or of a predefined reward with rows of its own."""
    # A reward of the form takes any question.
    name = ROWS_OF.get(reward) or ("qa" if kind == "format" else kind)
    text = files(__name__).joinpath(f"{name}.toml").read_text(encoding="utf-8")
    return tuple(_sample(kind, row) for row in tomllib.loads(text)["row"])


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


def _prompt(row: Mapping[str, Any]) -> str:
    for name in PROMPT_COLUMNS:
        value = row.get(name)
        if isinstance(value, str):
            return value
        if isinstance(value, list) and value and isinstance(value[-1], Mapping):
            return str(value[-1].get("content", ""))
    return ""
