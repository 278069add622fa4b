"""The iteration table, and what it says of the field report's own table."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.report import compare, history
from tests.report.ledgers import config, write_run

SEED = Path(__file__).parents[1] / "data/report/seed_report"


def tasks(*values: float) -> dict[str, float]:
    return {f"validation.{i}": value for i, value in enumerate(values)}


def test_a_run_is_set_against_the_comparable_one_before_it(tmp_path: Path) -> None:
    write_run(tmp_path, "run-1", tasks(*[0.0] * 8))
    write_run(tmp_path, "run-2", tasks(1.0, 1.0))
    write_run(tmp_path, "run-3", tasks(*[1.0] * 8), focus="help")
    first, second, third = history(runs_dir=tmp_path).rows
    assert first.change is None
    assert second.not_comparable == "the task sets differ: 8 tasks against 2"
    assert third.change is not None
    assert (third.change.against, third.change.verdict) == ("run-1", "improved")
    assert third.change.difference == 1.0
    assert (third.mean, third.best, third.worst, third.focus) == (1.0, 1.0, 1.0, "help")


def test_a_prediction_is_checked_against_the_outcome(tmp_path: Path) -> None:
    write_run(tmp_path, "run-1", tasks(*[0.0] * 8))
    expected = config(expect={"up": ["validation.3", "validation.7"]})
    write_run(tmp_path, "run-2", tasks(0, 0, 0, 1, 0, 0, 0, 0), config=expected)
    prediction = history(runs_dir=tmp_path).rows[1].prediction
    assert prediction is not None
    assert prediction.sentence == "predicted 3, 7 up: 3 up, 7 flat, 0 down"
    assert not prediction.came_true


@pytest.mark.parametrize(
    ("expect", "sentence", "came_true"),
    [
        ({"up": ["validation.0"]}, "predicted 0 up: 0 up, 1 down", True),
        (
            {"up": ["validation.0"], "down": ["validation.1"]},
            "predicted 0 up; 1 down: 0 up, 1 down, 0 others down",
            True,
        ),
        ({"down": ["validation.2"]}, "predicted 2 down: 2 flat, 1 others down", False),
        ({"up": ["validation.9"]}, "predicted 9 up: 9 unknown, 1 down", None),
    ],
)
def test_predictions_in_words(
    tmp_path: Path, expect: dict[str, list[str]], sentence: str, came_true: bool | None
) -> None:
    write_run(tmp_path, "run-1", tasks(0.0, 1.0, 0.5))
    write_run(tmp_path, "run-2", tasks(1.0, 0.0, 0.5), config=config(expect=expect))
    prediction = history(runs_dir=tmp_path).rows[1].prediction
    assert prediction is not None
    assert (prediction.sentence, prediction.came_true) == (sentence, came_true)


def test_the_names_of_templates_are_not_shortened(tmp_path: Path) -> None:
    write_run(tmp_path, "run-1", {"rain.1": 0.0, "wind.1": 0.0})
    up = config(expect={"up": ["rain.1"]})
    write_run(tmp_path, "run-2", {"rain.1": 1.0, "wind.1": 0.0}, config=up)
    prediction = history(runs_dir=tmp_path).rows[1].prediction
    assert prediction is not None
    assert prediction.sentence == "predicted rain.1 up: rain.1 up, 0 down"


def test_few_tasks_have_no_interval(tmp_path: Path) -> None:
    write_run(tmp_path, "run-1", tasks(0.0, 1.0, 0.5))
    write_run(tmp_path, "run-2", tasks(0.0, 1.0, 0.5, 0.2, 0.1))
    few, enough = history(runs_dir=tmp_path).rows
    assert few.interval is None
    assert enough.interval is not None


def test_one_benchmark_can_be_chosen_and_rescored_runs_are_left_out(tmp_path: Path) -> None:
    write_run(tmp_path, "run-1", tasks(0.0))
    write_run(tmp_path, "run-2", tasks(0.0), benchmark="other")
    write_run(tmp_path, "run-3", tasks(0.0), parent="run-1")
    assert [row.run_id for row in history("town", runs_dir=tmp_path).rows] == ["run-1"]
    assert history("none", runs_dir=tmp_path).rows == ()


def test_a_run_that_cannot_be_read_is_a_note(tmp_path: Path) -> None:
    write_run(tmp_path, "run-1", tasks(0.0))
    (tmp_path / "run-2").mkdir()
    (tmp_path / "run-2/manifest.json").write_text("{", "utf-8")
    found = history(runs_dir=tmp_path)
    assert len(found.rows) == 1
    assert "run-2 cannot be read" in found.notes[0]


def test_an_unfinished_run_and_an_abstaining_one_say_so(tmp_path: Path) -> None:
    write_run(tmp_path, "run-1", {"a": None, "b": None})
    run = write_run(tmp_path, "run-2", {"a": 1.0, "b": 1.0})
    path = run.path / "episodes.jsonl"
    path.write_bytes(path.read_bytes().splitlines(keepends=True)[0])
    abstained, unfinished = history(runs_dir=tmp_path).rows
    assert (abstained.mean, abstained.abstained) == (None, 2)
    assert "no attempt has a reward" in abstained.notes
    assert "unfinished: 1 of 2 episodes" in unfinished.notes


def test_the_field_reports_table_is_shown_as_reported() -> None:
    rows = history(runs_dir=SEED).rows
    assert [row.mean for row in rows] == pytest.approx(
        [0.0, 0.145, 0.0, 0.368, 0.386, 0.512, 0.239, 0.517, 0.3011], abs=1e-3
    )
    assert [row.reported for row in rows] == [True] * 8 + [False]
    assert (rows[-1].n, rows[-1].best, rows[-1].answered) == (10, 0.993, 8)


def test_three_tasks_against_ten_are_not_compared() -> None:
    *_, before, last = history(runs_dir=SEED).rows
    assert (before.n, last.n) == (3, 10)
    assert last.change is None
    assert last.not_comparable == "the task sets differ: 3 tasks against 10"
    found = compare(before.run_id, last.run_id, runs_dir=SEED)
    assert found.verdict == "not comparable"
    assert found.because == (
        "not comparable: the task sets differ: 3 tasks against 10; run run_20260329_231954 does "
        "not record per-task rewards, so nothing can be paired"
    )
    forced = compare(before.run_id, last.run_id, force=True, runs_dir=SEED)
    assert forced.verdict == "no verdict possible"


def test_between_its_three_task_runs_there_is_nothing_to_pair() -> None:
    rows = history(runs_dir=SEED).rows[1:8]
    assert {row.change.because for row in rows if row.change} == {
        "no verdict possible: neither run records per-task rewards, so nothing can be paired"
    }


def test_a_history_is_plain_json(tmp_path: Path) -> None:
    write_run(tmp_path, "run-1", tasks(0.0))
    write_run(tmp_path, "run-2", tasks(1.0), config=config(expect={"up": ["validation.0"]}))
    record = json.loads(json.dumps(history(runs_dir=tmp_path).to_record()))
    assert record["rows"][1]["prediction"]["came_true"] is True
