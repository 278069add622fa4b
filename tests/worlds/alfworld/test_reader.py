"""A file that is not a game is refused: its name, what is wrong, and nothing worse."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import BadRecord
from assay.worlds.alfworld.house import HouseLayout
from assay.worlds.alfworld.reader import (
    MAX_DEPTH,
    MAX_FILE_CHARS,
    GameFile,
    read_expression,
    read_game,
    read_problem,
    read_typed_names,
)


@pytest.fixture(scope="module")
def official_text(official: Path) -> str:
    path = sorted(official.glob("train/*/*/game.tw-pddl"))[0]
    return path.read_text(encoding="utf-8")


def change(key: str, value: Any) -> Callable[[str], str]:
    return lambda text: json.dumps({**json.loads(text), key: value})


def edit(key: str, old: str, new: str) -> Callable[[str], str]:
    def edited(text: str) -> str:
        record = json.loads(text)
        assert old in record[key]
        return json.dumps({**record, key: record[key].replace(old, new, 1)})

    return edited


DAMAGES = [
    (lambda text: text[: len(text) // 2], "not JSON", "cut in half"),
    (lambda text: "", "not JSON", "empty"),
    (lambda text: "[" * 100_000, "not JSON", "nested beyond Python's stack"),
    (lambda text: "[]", "JSON object", "a list"),
    (lambda text: text + " " * MAX_FILE_CHARS, "characters", "far too long"),
    (change("pddl_problem", None), "'pddl_problem' should be text", "no problem"),
    (change("pddl_domain", "(define)"), "json_2.1.2", "the rules of another release"),
    (change("grammar", "x"), "grammar", "another grammar"),
    (edit("grammar", "move {o} to {r}", "put {o} in/on {r}"), "grammar", "other words"),
    (change("walkthrough", [1]), "walkthrough", "commands that are not text"),
    (change("pddl_problem", ""), "expected one expression", "no expression"),
    (change("pddl_problem", "(" * 1_000_000), "characters", "a file of parentheses"),
    (change("pddl_problem", "(" * 100_000), f"deeper than {MAX_DEPTH}", "too deep"),
    (change("pddl_problem", "(define (:init)"), "never closed", "an open parenthesis"),
    (change("pddl_problem", "(define))"), "without its opening", "a stray parenthesis"),
    (change("pddl_problem", "(define)"), "':objects'", "no sections"),
    (edit("pddl_problem", "(:goal", "(:gaol"), "':goal'", "no goal"),
    (edit("pddl_problem", "(openable ", "(portable "), "unknown predicate", "a new predicate"),
    (edit("pddl_problem", "(openable ", "(openable loc_"), "does not fit", "an unknown object"),
    (edit("pddl_problem", "(openable ", "(openable agent1 "), "does not fit", "one too many"),
    (edit("pddl_problem", "(openable ", "(openable ("), "never closed", "a fact inside a fact"),
    (edit("pddl_problem", "(atLocation ", "(examined "), "does not fit", "an agent nowhere"),
    (edit("pddl_problem", "agent1 - agent", "agent1 - - agent"), "does not fit", "a dash too many"),
]


@pytest.mark.parametrize(
    ("damage", "message"), [pytest.param(d, message, id=why) for d, message, why in DAMAGES]
)
def test_a_damaged_file_is_refused_by_name(
    damage: Callable[[str], str], message: str, official_text: str
) -> None:
    with pytest.raises(BadRecord, match=message) as refusal:
        read_game(damage(official_text), source="some/game.tw-pddl")
    assert str(refusal.value).startswith("some/game.tw-pddl: ")
    assert len(str(refusal.value)) < 1000


@pytest.mark.parametrize(
    "facts",
    ["(atLocation agent1 here)", "(holds agent1 cup) (holds agent1 mug)"],
    ids=["an agent in two places", "two things in one hand"],
)
def test_an_impossible_start_is_refused(facts: str) -> None:
    text = (
        "(define (:objects agent1 - agent here there - location cup mug - object) "
        f"(:init (atLocation agent1 there) {facts}) (:goal (and)))"
    )
    problem = read_problem(text, source="impossible")
    with pytest.raises(BadRecord, match="impossible: expected one agent"):
        HouseLayout.build(GameFile(problem=problem, goal="", walkthrough=()))


@settings(max_examples=200, deadline=None)
@given(text=st.text(alphabet="() abc-?;\n\x00é", max_size=200))
def test_any_text_is_an_expression_or_refused(text: str) -> None:
    with contextlib.suppress(BadRecord):
        read_problem(text, source="noise")


def test_comments_and_case_do_not_count() -> None:
    assert read_expression("(A ; (not this\n (B c))", source="x") == ["a", ["b", "c"]]


def test_names_take_the_type_that_follows_them() -> None:
    words: list[Any] = ["a", "b", "-", "t", "c", "-", "u", "d"]
    types = {"a": "t", "b": "t", "c": "u", "d": "object"}
    assert read_typed_names(words, source="x") == types
