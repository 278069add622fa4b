from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from assay.errors import BadParameter, BadRecord, MissingExtra
from assay.tasks.assistantbench import tasks

# Ids of the public data set; the questions are made up.
STATIC = "2aa5dd83fbcd0dce9a3dd4592106e5b5edf738008d932e357d477bba80e59ccf"
UNLIKELY = "b36ef2d8f2643b80e74a44ce3403f674ecb2aed7fd36afeaa289061a59feef92"
STABLE = "3af8028c2a59e28ca88baff0e6d91f2a9f170c5ef91003f1c8406755a2760ad4"
ROWS = [
    {"id": UNLIKELY, "set": "dev", "task": "Which gyms?", "answer": "A\nB", "difficulty": "Hard"},
    {"id": STATIC, "set": "dev", "task": "What share?", "answer": "14.2", "difficulty": "Medium"},
    {"id": STABLE, "set": "dev", "task": "Who?", "answer": "C", "difficulty": "Medium"},
    {"id": "feed", "set": "dev", "task": "New?", "answer": None, "difficulty": None},
]


@pytest.fixture
def local(tmp_path: Path) -> Path:
    path = tmp_path / "dev.jsonl"
    path.write_text("\n".join(map(json.dumps, ROWS)), encoding="utf-8")
    return path


def test_a_local_copy_gives_browsergyms_ids_and_the_class_of_staleness(local: Path) -> None:
    made = tasks(path=local)
    assert [task.id for task in made] == [f"validation.{number}" for number in range(4)]
    classes = [task.metadata["time_dependency"] for task in made]
    assert classes == ["Unlikely", "Static", "Stable", "unknown"]
    assert made[0].goal == "Which gyms?"
    assert made[0].answer == "A\nB"
    assert made[0].metadata["original_id"] == UNLIKELY


def test_a_hidden_gold_is_empty_and_marked(local: Path) -> None:
    hidden = tasks(path=local, split="test")[3]
    assert (hidden.id, hidden.answer, hidden.metadata["gold_hidden"]) == ("test.3", "", True)


def test_one_class_of_staleness_can_be_kept(local: Path) -> None:
    kept = tasks(path=local, time_dependency="Static")
    assert [task.id for task in kept] == ["validation.1"]


def test_offline_without_the_library_it_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(MissingExtra, match=r"not on this machine; install `datasets`.*`path`"):
        tasks()


def test_offline_with_the_library_it_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(name: str, *, split: str) -> object:
        raise ConnectionError(f"no route to the hub for {name} {split}")

    monkeypatch.setitem(sys.modules, "datasets", SimpleNamespace(load_dataset=refuse))
    with pytest.raises(BadRecord, match=r"no route to the hub for .* validation.*`path`"):
        tasks()


def test_the_hub_is_asked_for_the_split(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, str]] = []

    def give(name: str, *, split: str) -> object:
        asked.append((name, split))
        return ROWS

    monkeypatch.setitem(sys.modules, "datasets", SimpleNamespace(load_dataset=give))
    assert len(tasks(split="dev")) == len(tasks(split="test")) == 4
    assert asked == [
        ("AssistantBench/AssistantBench", "validation"),
        ("AssistantBench/AssistantBench", "test"),
    ]


def test_bad_choices_and_bad_rows_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadParameter, match="no split"):
        tasks(split="train")  # type: ignore[arg-type] # that is the point
    with pytest.raises(BadParameter, match="time_dependency"):
        tasks(time_dependency="soon")  # type: ignore[arg-type] # that is the point
    path = tmp_path / "bad.jsonl"
    path.write_text('{"question": "x"}', encoding="utf-8")
    with pytest.raises(BadRecord, match="needs a text as id and as task"):
        tasks(path=path)
