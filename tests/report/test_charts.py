"""Pictures: valid files, the right number of marks, hostile names made harmless."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from assay.errors import UsageError
from assay.report import history
from assay.report.charts import (
    bar_text,
    comparable_groups,
    grid,
    heat_map,
    reward_chart,
    shade,
)
from tests.report.ledgers import write_run

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    write_run(tmp_path, "run-1", {f"task.{i}": i / 8 for i in range(8)}, focus="<b>&\x1b\ud800")
    write_run(tmp_path, "run-2", {f"task.{i}": 1.0 for i in range(8)})
    write_run(tmp_path, "run-3", {"task.0": None, "task.1": 0.5})
    return tmp_path


def test_a_reward_chart_has_a_bar_for_each_run(runs: Path) -> None:
    drawing = reward_chart(history(runs_dir=runs))
    root = ET.fromstring(drawing.svg())
    tips = [rect.findtext(f"{SVG}title") or "" for rect in root.iter(f"{SVG}rect")]
    assert [tip[:5] for tip in tips if tip] == ["run-1", "run-2", "run-3"]


def test_runs_that_cannot_be_compared_have_another_colour(runs: Path) -> None:
    assert comparable_groups(history(runs_dir=runs)) == [0, 0, 1]


def test_a_heat_map_has_a_square_for_each_task_in_each_run(runs: Path) -> None:
    matrix = grid(history(runs_dir=runs), runs_dir=runs)
    assert (len(matrix.tasks), len(matrix.runs)) == (8, 3)
    assert matrix.rewards[0] == (0.0, 1.0, None)
    root = ET.fromstring(heat_map(matrix).svg())
    assert sum(rect.find(f"{SVG}title") is not None for rect in root.iter(f"{SVG}rect")) == 24


def test_nothing_to_draw_is_said_in_words(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no run has a mean reward"):
        reward_chart(history(runs_dir=tmp_path))
    with pytest.raises(UsageError, match="no run has a task"):
        heat_map(grid(history(runs_dir=tmp_path), runs_dir=tmp_path))


def test_colours_and_bars() -> None:
    assert shade(None) not in (shade(0.0), shade(1.0))
    assert shade(-5.0) == shade(0.0)
    assert (bar_text(1.0, width=4), bar_text(0.0), bar_text(0.5, width=4)) == ("████", "", "██")
