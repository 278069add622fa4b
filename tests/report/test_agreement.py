"""Kappa by hand and by simulation, the table, and the order of disagreements."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from assay.errors import BadParameter
from assay.ledger.labels import add_label
from assay.report.agreement import agree_with_labels
from assay.report.statistics import cohen_kappa, kappa_interval
from tests.report.ledgers import write_run
from tests.viewer.ledgers import write_marked


@pytest.mark.parametrize(
    ("table", "kappa"),
    [
        ((20, 5, 10, 15), 0.4),
        ((45, 15, 25, 15), 0.1304),
        ((25, 35, 5, 35), 0.2593),
        ((10, 0, 0, 10), 1.0),
        ((0, 10, 10, 0), -1.0),
        ((10, 0, 0, 0), None),
        ((0, 0, 0, 0), None),
    ],
)
def test_kappa_is_that_of_the_textbooks(table: tuple[int, ...], kappa: float | None) -> None:
    found = cohen_kappa(table)
    assert found is None if kappa is None else found == pytest.approx(kappa, abs=1e-4)


def test_the_interval_covers_the_true_kappa_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(1)
    cells = np.array([0.4, 0.1, 0.1, 0.4])
    true = cohen_kappa(cells.tolist())
    assert true is not None
    hits = 0
    for _ in range(60):
        tables = np.eye(4)[rng.choice(4, size=60, p=cells)]
        interval = kappa_interval(tables.tolist())
        assert interval is not None
        hits += interval.low <= true <= interval.high
    assert hits >= 52


def test_agreeing_always_on_few_labels_is_no_certainty() -> None:
    few = kappa_interval([[1, 0, 0, 0]] * 5 + [[0, 0, 0, 1]] * 5)
    many = kappa_interval([[1, 0, 0, 0]] * 100 + [[0, 0, 0, 1]] * 100)
    assert few is not None
    assert many is not None
    assert few.low < 0.5 < 0.95 < many.low
    assert few.high == many.high == 1.0


def test_one_task_or_one_word_has_no_interval() -> None:
    assert kappa_interval([[3, 1, 1, 3]]) is None
    assert kappa_interval([[1, 0, 0, 0]] * 9) is None


def test_labels_are_set_against_the_reward_and_disagreements_come_first(tmp_path: Path) -> None:
    rewards = {"a": 1.0, "b": 0.0, "c": 0.9, "d": 0.2, "e": 1.0}
    run = write_run(tmp_path, "made-1", rewards)
    attempts = {line.task_id: line.attempt for line in run.attempts().attempts.values()}
    words = {"a": "right", "b": "wrong", "c": "wrong", "d": "right", "e": "doubtful"}
    for task, word in words.items():
        add_label(run.path, attempts[task], word, note=f"note of {task}", author="ann")
    found = agree_with_labels([run])
    (row,) = found.rewards
    cells = (row.right_paid, row.right_unpaid, row.wrong_paid, row.wrong_unpaid, row.doubtful)
    assert cells == (1, 1, 1, 1, 1)
    assert (row.kappa, row.accuracy, row.n) == (0.0, 0.5, 4)
    assert [(item.task_id, item.label) for item in row.disagreements] == [
        ("c", "wrong"),
        ("d", "right"),
    ]
    assert row.disagreements[0].labels[0].note == "note of c"
    assert found.authors == ("ann",)
    assert found.labelled == 5
    assert agree_with_labels([run], at=0.95).rewards[0].wrong_paid == 0
    record = found.to_record()
    assert record["rewards"][0]["disagreements"][0]["labels"][0]["author"] == "ann"
    with pytest.raises(BadParameter):
        agree_with_labels([run], at=float("nan"))


def test_step_labels_are_set_against_step_scores(tmp_path: Path) -> None:
    run = write_marked(tmp_path)
    scores = {step.index: step.scores for step in run.steps("marked.r0.a1")}
    for index in (1, 2, 3, 4):
        add_label(run.path, "marked.r0.a1", "right" if index != 4 else "wrong", step=index)
    (row,) = agree_with_labels([run]).rewards
    assert row.of == "step"
    assert row.scorer == scores[1][0]["scorer"]
    assert row.n + row.abstained == 4


def test_a_run_without_labels_has_nothing_to_say(tmp_path: Path) -> None:
    found = agree_with_labels([write_marked(tmp_path)])
    assert (found.rewards, found.labelled, found.authors) == ((), 0, ())
