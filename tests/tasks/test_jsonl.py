from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import BadParameter, BadRecord
from assay.tasks.jsonl import tasks


def written(folder: Path, *lines: str) -> Path:
    path = folder / "tasks.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_the_parts_of_a_task_are_found_under_their_usual_names(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        '{"id": 3, "goal": "What is it?", "answer": "x", "domain": "shops"}',
        "",
        '{"task_id": "b", "question": "Who?", "golden_answers": ["y", "z"],'
        ' "metadata": {"level": 1}}',
    )
    first, second = tasks(path)
    assert (first.id, first.goal, first.answer) == ("3", "What is it?", "x")
    assert first.metadata == {"domain": "shops"}
    assert (second.id, second.goal, second.answer) == ("b", "Who?", ["y", "z"])
    assert second.metadata == {"level": 1}


def test_lines_without_an_id_are_called_by_their_number(tmp_path: Path) -> None:
    path = written(tmp_path, '{"problem": "1 + 1", "solution": "2"}', "", '{"prompt": "2 + 2"}')
    first, second = tasks(path)
    assert (first.id, first.goal, first.answer) == ("line.1", "1 + 1", "2")
    assert (second.id, second.goal, second.answer) == ("line.3", "2 + 2", None)


def test_columns_say_where_else_something_is(tmp_path: Path) -> None:
    line = '{"n": 7, "text": "Who?", "question": "q", "gold": "x", "ref": "y", "extra": 1}'
    columns = {"id": "n", "question": "text", "answer": "ref", "golden": "gold"}
    (task,) = tasks(written(tmp_path, line), columns=columns)
    assert (task.id, task.goal, task.answer) == ("7", "Who?", "y")
    assert task.metadata == {"golden": "x", "extra": 1}
    with pytest.raises(BadRecord, match=r"line 1: no column 'nope' for 'answer'; the columns"):
        tasks(written(tmp_path, line), columns={"answer": "nope"})


def test_a_limit_keeps_the_first_and_reads_no_further(tmp_path: Path) -> None:
    path = written(tmp_path, '{"id": 1, "goal": "a"}', '{"id": 2, "goal": "b"}', "not JSON")
    assert [task.id for task in tasks(path, limit=2)] == ["1", "2"]


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        pytest.param(['{"id": 1, "goal": "a"}', "{oops"], "line 2: not JSON", id="broken line"),
        pytest.param(["[1]"], "line 1: a task must be a JSON object, not list", id="not an object"),
        pytest.param(['{"id": 1, "text": "a"}'], "no 'goal'.*: id, text", id="no goal"),
        pytest.param(['{"id": true, "goal": "a"}'], "an id must be a text", id="a truth is no id"),
        pytest.param(['{"id": "", "goal": "a"}'], "an id must be a text", id="an empty id"),
        pytest.param(
            ['{"id": 1, "goal": 2}'], "a goal must be a text, not 2", id="goal is a number"
        ),
        pytest.param(
            ['{"id": 1, "goal": "a", "metadata": 3}'], "metadata must be an object", id="metadata"
        ),
        pytest.param(
            ['{"id": 1, "goal": "a"}', '{"id": "1", "goal": "b"}'],
            "line 2: the id '1' is also the id of line 1",
            id="the same id twice",
        ),
        pytest.param([""], "holds no tasks", id="an empty file"),
        pytest.param(["[" * 100_000], "line 1: not JSON", id="too deep"),
    ],
)
def test_a_bad_file_is_refused_with_the_line_and_the_reason(
    tmp_path: Path, lines: list[str], words: str
) -> None:
    with pytest.raises(BadRecord, match=words):
        tasks(written(tmp_path, *lines))


def test_a_missing_file_and_a_bad_limit_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadRecord, match="cannot be read"):
        tasks(tmp_path / "none.jsonl")
    with pytest.raises(BadParameter, match="limit"):
        tasks(written(tmp_path, '{"id": 1, "goal": "a"}'), limit=0)


@given(st.text(), st.text(), st.one_of(st.none(), st.text(), st.integers(), st.lists(st.text())))
def test_what_was_written_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, goal: str, extra: str, answer: object
) -> None:
    path = tmp_path_factory.getbasetemp() / "round.jsonl"
    row = {"id": "a", "goal": goal, "answer": answer, "extra": extra}
    path.write_text(json.dumps(row), encoding="utf-8")
    (task,) = tasks(path)
    assert (task.goal, task.answer, task.metadata) == (goal, answer, {"extra": extra})
