"""The noise floor of one configuration."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from assay.errors import UsageError
from assay.report import noise_floor
from tests.report.ledgers import config, write_run


def test_runs_that_are_all_alike_have_no_noise(tmp_path: Path) -> None:
    runs = [write_run(tmp_path, f"run-{i}", {"a": 1.0, "b": 0.0}) for i in (1, 2, 3)]
    found = noise_floor(runs)
    assert (found.floor, found.largest, found.flaky) == (0.0, 0.0, ())
    assert "scored the same in all of 3 runs" in found.sentence


def test_flaky_tasks_raise_the_floor(tmp_path: Path) -> None:
    runs = [write_run(tmp_path, f"run-{i}", {"a": 1.0, "b": i % 2 / 1}) for i in (1, 2, 3, 4)]
    found = noise_floor(runs)
    assert [task.task_id for task in found.flaky] == ["b"]
    assert found.means == (1.0, 0.5, 1.0, 0.5)
    # sd of b is sqrt(1/3); of the mean of two tasks half of it; of a difference sqrt(2) more.
    assert found.floor == pytest.approx(1.96 * 2**0.5 * (1 / 3) ** 0.5 / 2, abs=1e-3)
    json.dumps(found.to_record())


def test_the_repeats_of_one_run_will_do(tmp_path: Path) -> None:
    run = write_run(tmp_path, "run-1", {"a": [1.0, 0.0, 1.0], "b": [0.5, 0.5, 0.5]})
    assert noise_floor([run]).k == 3


def test_the_floor_holds_for_two_new_runs_about_19_times_in_20(tmp_path: Path) -> None:
    dice = random.Random(1)
    chances = [dice.choice([0.0, 1.0, 0.3, 0.5, 0.8]) for _ in range(30)]

    def one() -> dict[str, float]:
        return {f"task.{i}": float(dice.random() < chance) for i, chance in enumerate(chances)}

    runs = [write_run(tmp_path, f"run-{i}", one()) for i in range(1, 9)]
    floor = noise_floor(runs).floor
    pairs = [(one(), one()) for _ in range(2_000)]
    inside = [abs(sum(a.values()) - sum(b.values())) / len(chances) <= floor for a, b in pairs]
    assert 0.88 < sum(inside) / len(inside) < 0.99


def test_what_is_no_repeat_is_refused(tmp_path: Path) -> None:
    one = write_run(tmp_path, "run-1", {"a": 1.0})
    other = write_run(tmp_path, "run-2", {"a": 1.0}, config=config(steps=3))
    with pytest.raises(UsageError, match="is not a repeat of run-1: the step budgets differ"):
        noise_floor([one, other])
    with pytest.raises(UsageError, match="at least two runs of each task"):
        noise_floor([one])
    with pytest.raises(UsageError, match="at least one run"):
        noise_floor([])


def test_runs_without_a_common_task_are_refused(tmp_path: Path) -> None:
    one = write_run(tmp_path, "run-1", {"a": 1.0, "b": None})
    other = write_run(tmp_path, "run-2", {"a": None, "b": 1.0})
    with pytest.raises(UsageError, match="no task was scored in every run"):
        noise_floor([one, other])
