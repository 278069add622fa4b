"""The rows that an audit starts from: built in for each kind, or made from the user's own data.

`Sample.right` and `Sample.wrong` are bare answers ("42"), never whole responses: the checks find
out in which frame (a box, a tag, a phrase) the target looks for an answer, and put it there.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from importlib.resources import files
from typing import Any, Final

from assay.audit.findings import Kind, Sample
from assay.errors import BadRecord

GOLD_COLUMNS: Final = (
    "answer", "gold", "golden_answers", "ground_truth", "solution", "label", "target",
)  # fmt: skip
"""Where a data set keeps the reference, the most telling name first."""

PROMPT_COLUMNS: Final = ("prompt", "question", "problem", "goal", "query", "instruction")


def built_in(kind: Kind) -> tuple[Sample, ...]:
    """The built-in samples of a kind."""
    text = files(__name__).joinpath(f"{kind}.toml").read_text(encoding="utf-8")
    return tuple(_sample(kind, row) for row in tomllib.loads(text)["row"])


def from_row(kind: Kind, row: Mapping[str, Any]) -> Sample:
    """A sample made of one row of a user's data.

    The gold is the only answer known to be right, unless the row lists more under `right`; wrong
    ones are then made by the checks. An environment's row is a recorded episode under `episode`.
    """
    if kind == "environment":
        if not isinstance(row.get("episode"), Mapping):
            raise BadRecord(
                "a row for an environment's reward holds a recorded episode under 'episode'; "
                f"this one has {', '.join(map(repr, row)) or 'nothing'}"
            )
        return Sample(_prompt(row), None, ("",), (), dict(row))
    column = next((name for name in GOLD_COLUMNS if row.get(name) is not None), None)
    if column is None:
        raise BadRecord(
            f"a row needs its reference under one of {', '.join(GOLD_COLUMNS)}; "
            f"this one has {', '.join(map(repr, row)) or 'nothing'}"
        )
    gold = row[column]
    aliases = gold if isinstance(gold, (list, tuple)) else (gold,)
    right = (*map(gold_text, aliases), *map(str, row.get("right", ())))
    columns = {key: value for key, value in row.items() if key not in ("right", "wrong")}
    return Sample(
        _prompt(row),
        gold,
        tuple(dict.fromkeys(right)),
        tuple(map(str, row.get("wrong", ()))),
        {"answer": gold, **columns},
    )


def gold_text(gold: Any) -> str:
    """The gold as a model would write it.

    Of several aliases it is the first, of a record its JSON, of a worked solution the answer that
    it boxes or that follows its last `####`.
    """
    if isinstance(gold, str):
        return _final(gold)
    if isinstance(gold, (list, tuple)) and gold:
        return gold_text(gold[0])
    if isinstance(gold, (Mapping, bool)):
        return json.dumps(gold, ensure_ascii=False)
    return str(gold)


def _final(text: str) -> str:
    if "####" in text:
        return text.rpartition("####")[2].strip()
    rest = text.rpartition("\\boxed{")[2] if "\\boxed{" in text else ""
    depth = 1
    for at, char in enumerate(rest):
        depth += (char == "{") - (char == "}")
        if not depth:
            return rest[:at]
    return text


def _sample(kind: Kind, row: Mapping[str, Any]) -> Sample:
    prompt = str(row["prompt"])
    if kind == "environment":
        task = str(row["task_id"])
        return Sample(prompt, None, ("The task is done.",), (), {"task_id": task, "prompt": prompt})
    gold = row["gold"]
    return Sample(
        prompt,
        gold,
        tuple(dict.fromkeys((gold, *row.get("right", ())))),
        tuple(row.get("wrong", ())),
        {"prompt": prompt, "answer": gold, "golden_answers": [gold]},
    )


def _prompt(row: Mapping[str, Any]) -> str:
    for name in PROMPT_COLUMNS:
        value = row.get(name)
        if isinstance(value, str):
            return value
        if isinstance(value, list) and value and isinstance(value[-1], Mapping):
            return str(value[-1].get("content", ""))
    return ""
