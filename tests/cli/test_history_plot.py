"""The history drawn in the terminal: a bar for each run, a square for each task in each run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.cli.history import bar_text, shade
from assay.cli.main import main
from assay.report import history
from assay.report.timeline import comparable_groups, grid
from tests.report.ledgers import write_run


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    write_run(tmp_path, "run-1", {f"task.{i}": i / 8 for i in range(8)}, focus="<b>&\x1b\ud800")
    write_run(tmp_path, "run-2", {f"task.{i}": 1.0 for i in range(8)})
    write_run(tmp_path, "run-3", {"task.0": None, "task.1": 0.5})
    return tmp_path


def test_runs_that_cannot_be_compared_have_another_colour(runs: Path) -> None:
    assert comparable_groups(history(runs_dir=runs)) == [0, 0, 1]


def test_a_grid_has_every_task_in_every_run(runs: Path) -> None:
    matrix = grid(history(runs_dir=runs), runs_dir=runs)
    assert (len(matrix.tasks), len(matrix.runs)) == (8, 3)
    assert matrix.rewards[0] == (0.0, 1.0, None)


def test_a_bar_for_each_run_and_a_square_for_each_task(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["history", "--plot", "--runs", str(runs)]) == 0
    bars = capsys.readouterr().out
    for name in ("run-1", "run-2", "run-3"):
        assert name in bars
    assert "█" * 24 in bars
    assert "\x1b[" not in bars
    assert main(["history", "--plot", "tasks", "--runs", str(runs)]) == 0
    squares = capsys.readouterr().out
    assert "task.7" in squares
    assert "··" in squares
    assert main(["history", "--plot", "tasks", "--json", "--runs", str(runs)]) == 0
    assert json.loads(capsys.readouterr().out)["runs"] == ["run-1", "run-2", "run-3"]


def test_colours_and_bars() -> None:
    assert shade(None) not in (shade(0.0), shade(1.0))
    assert shade(-5.0) == shade(0.0)
    assert (bar_text(1.0, width=4), bar_text(0.0), bar_text(0.5, width=4)) == ("████", "", "██")
