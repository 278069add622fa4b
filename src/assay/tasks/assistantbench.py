"""AssistantBench: questions about the live web, from the public data set or a local copy of it."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from assay.errors import BadParameter, BadRecord, MissingExtra
from assay.schema.task import Task
from assay.tasks.jsonl import read_rows

Split: TypeAlias = Literal["dev", "test"]
Staleness: TypeAlias = Literal["Static", "Stable", "Unlikely", "unknown"]
"""`Static` cannot change, `Stable` hardly does, `Unlikely` was thought safe for a year."""
DATA_SET = "AssistantBench/AssistantBench"
HUB_SPLITS: dict[Split, str] = {"dev": "validation", "test": "test"}
START_URL = "https://www.google.com"
HOW = (
    "install `datasets` and go online once (the hub keeps a copy for later), or give `path`: a "
    "JSONL file of the data set with the columns id, task and answer"
)


def tasks(
    *,
    split: Split = "dev",
    path: str | Path | None = None,
    time_dependency: Staleness | None = None,
    start_url: str = START_URL,
) -> list[Task]:
    """The tasks of a split; without a local `path` they come from the Hugging Face hub.

    Task ids are BrowserGym's: `validation.0`, `test.17`. `time_dependency` keeps one class of
    staleness. The answers of the test split are hidden: its references are empty, and every
    answer scores 0.0 here.
    """
    if split not in get_args(Split):
        raise BadParameter(f"AssistantBench has the splits {get_args(Split)}, not {split!r}")
    if time_dependency is not None and time_dependency not in get_args(Staleness):
        raise BadParameter(
            f"time_dependency is one of {get_args(Staleness)}, not {time_dependency!r}"
        )
    rows = (
        _from_hub(HUB_SPLITS[split]) if path is None else (row for _, row in read_rows(Path(path)))
    )
    every = [_task(row, split, number, start_url) for number, row in enumerate(rows)]
    if not every:
        raise BadRecord(f"{path or DATA_SET} holds no tasks")
    return [task for task in every if time_dependency in (None, task.metadata["time_dependency"])]


def _from_hub(split: str) -> Iterable[Mapping[str, Any]]:
    try:
        # Named here and not imported above: the library is large, optional and untyped.
        datasets: Any = importlib.import_module("datasets")
    except ImportError as error:
        raise MissingExtra(f"AssistantBench is not on this machine; {HOW}") from error
    try:
        rows: Iterable[Mapping[str, Any]] = datasets.load_dataset(DATA_SET, split=split)
    except (OSError, ValueError) as error:
        raise BadRecord(
            f"AssistantBench could not be loaded from the hub ({error}); {HOW}"
        ) from error
    return rows


def _task(row: Mapping[str, Any], split: Split, number: int, start_url: str) -> Task:
    goal, original = row.get("task"), row.get("id")
    if not isinstance(goal, str) or not isinstance(original, str):
        raise BadRecord(
            f"task {number} of AssistantBench needs texts as id and task; it has {sorted(row)}"
        )
    answer = row.get("answer")
    return Task(
        id=f"{HUB_SPLITS[split]}.{number}",
        goal=goal,
        answer=_reference(answer),
        metadata={
            "original_id": original,
            "split": split,
            "difficulty": row.get("difficulty"),
            "time_dependency": staleness(original),
            "gold_hidden": answer is None,
            "domain": "live web",
            "start_url": start_url,
        },
    )


def _reference(answer: Any) -> str:
    """The reference as text; a hidden one is empty, as BrowserGym's scorer expects it."""
    if answer is None:
        return ""
    return answer if isinstance(answer, str) else json.dumps(answer)


ID_PREFIX = 6
"""Digits of a task's id by which the lists below know it.

They are the classes of `assistantbench.csv` in BrowserGym (Apache-2.0, ServiceNow Research), as the
authors of AssistantBench judged in 2024 how soon an answer goes out of date.
"""
_BY_CLASS: dict[Staleness, str] = {
    "Static": (
        "2aa5dd 2ddae3 9e3109 291b53 8fa423 6b06d1 6f224e 9baaa2 e2dc3a e6bc98 4dbedc 929b45 "
        "cca477 efc0f3 093801 09e481 0badf8 13bde8 1d669a 1f6a23 23af1c 295c40 2bedec 2f6a86 "
        "33d880 3940b9 3a680d 454227 59a650 604710 673d1f 6bcc74 6bd706 6d94b7 75e6d5 7820b1 "
        "8cc61c 8d5e7b 8dcaac 9288bf 96d3a0 97aa78 a174cc a52f55 ab6f0e b233fa b56585 c15ccf "
        "c24495 c68da6 ce3e51 d5d57f d60cca d8c701 dadb74 e046e1 ee192f f4fc8f f67d32 fc690d "
        "fcf91c 044052 08ee94 101edf 1a0f13 35d9cd 3b9b30 5a51e0 5cf78b 6689e6 691fe1 79c331 "
        "7ad7df 8339e2 85b57e 8905ea 8d0987 a5511d be5c23 c5c3d6 c8f382 cfc177 d10a3e d3e4a7 "
        "d983c6 dfac84 e4a7fe e51bca e54171 e7bcaa eefe23 f508fd f94fa0"
    ),
    "Stable": (
        "3af802 fb9ba3 0be81f 253e2a 36bdda 3f5460 43cabf 58d01c 70d36d 763876 8b68fd 970ed6 "
        "a4b1d9 a57418 a691d6 a6c33c b2ee3c bcb45d e22a10 e57a78 e59613 ecdc23 f5661e 0424b1 "
        "0c354e 1c1971 491bae 6fe7c0 935618 a81ef9 b22050 efa10f fa51a7"
    ),
    "Unlikely": (
        "b36ef2 a90749 797f7a 4e615a c7afe0 57d9dc 748899 9bdca8 557e78 52f722 0ec437 99da66 "
        "ccec22 6e3be8 f88066 8ad84b 55f425 005053 02f02d 03738b 0a4b6a 0cc9ea 0f017f 1c1178 "
        "211ace 23c890 2987f2 324829 37932e 3d2bd6 3f6829 3f83f3 3fd357 444b4f 49f1c6 4c3021 "
        "4d0773 50fc99 51f052 5ba9e8 63e971 66acc3 6d314f 72321c 762566 776c76 7c146b 7f7e4d "
        "7f9db4 8793b8 87f591 8869b0 8a4846 91bdae 926c06 92bfc3 9755e8 9e3ec4 9e4fac 9f08cc "
        "a207a5 a39700 a80d8d aa5043 adfa9c b15021 b67e2e b81702 b95fc9 ba529e c16027 c2f852 "
        "c6b119 d0f910 d10863 d80169 d87279 e2ce46 e6501e ebc09a ebcc92 f042bf f15306 f16dd8 "
        "f2ad18 f3fb20 f5c787 f69d3a"
    ),
}
_CLASS_OF = {prefix: kind for kind, ids in _BY_CLASS.items() for prefix in ids.split()}


def staleness(task_id: str) -> Staleness:
    """How soon the task's answer goes out of date; `unknown` for ids that no list has."""
    return _CLASS_OF.get(task_id[:ID_PREFIX], "unknown")
