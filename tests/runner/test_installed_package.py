"""An installed package offers what a benchmark needs, and the benchmark itself, by entry points."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

CODE = '''
from pathlib import Path

from assay.schema.evidence import WorldEvidence
from assay.schema.observation import Observation
from assay.schema.task import Task

BENCHMARK = Path(__file__).with_name("sums.toml")


def tasks(*, path: str) -> list[Task]:
    """Sums from a file with one on each line."""
    lines = Path(path).read_text().splitlines()
    return [Task(id=line, goal=f"What is {line}?", answer=str(eval(line))) for line in lines]


def exact(final_response: str, answer: str) -> float:
    """One for the right digits."""
    return float(final_response == answer)


class Blackboard:
    """Shows the question, and nothing else happens."""

    name = "blackboard"

    async def reset(self, task: Task) -> Observation:
        return Observation(task.goal, WorldEvidence("blackboard", task.id, 0.0))

    async def step(self, action: str) -> Observation:
        raise NotImplementedError

    async def close(self) -> None:
        pass
'''
BENCHMARK = """
name = "sums"
summary = "Sums on a blackboard"

[tasks]
source = "sums"
path = "sums.txt"

[environment]
name = "blackboard"

[rewards]
names = ["exact"]
"""
ENTRY_POINTS = """
[assay.task_sources]
sums = sums:tasks

[assay.rewards]
exact = sums:exact

[assay.environments]
blackboard = sums:Blackboard

[assay.benchmarks]
sums = sums:BENCHMARK
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for the import path, with the distribution `sums` installed in it."""
    folder = tmp_path_factory.mktemp("site")
    for name, text in {
        "sums/__init__.py": CODE,
        "sums/sums.toml": BENCHMARK,
        "sums/sums.txt": "1+1\n2+3\n",
        "sums-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: sums\nVersion: 1.0\n",
        "sums-1.0.dist-info/entry_points.txt": ENTRY_POINTS,
    }.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    return folder


def assay(installed: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from assay.cli.main import run; run()", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_its_benchmark_runs_by_name(installed: Path, tmp_path: Path) -> None:
    actions = 'actions={"1+1": ["answer(2)"], "2+3": ["answer(6)"]}'
    result = assay(
        installed, tmp_path, "run", "sums", "--agent", "scripted", "--set", actions, "--json"
    )
    assert result.returncode == 0, result.stderr
    summary: dict[str, Any] = json.loads(result.stdout)
    assert summary["counts"]["mean"] == 0.5
    manifest = json.loads(next(tmp_path.glob("runs/*/manifest.json")).read_text())
    assert (manifest["benchmark"], manifest["rewards"]) == ("sums", ["exact@1"])


def test_its_benchmark_is_listed_and_suggested(installed: Path, tmp_path: Path) -> None:
    result = assay(installed, tmp_path, "list", "benchmarks", "--json")
    listed = {record["name"]: record for record in json.loads(result.stdout)}
    assert listed["sums"]["tasks"]["path"] == str(installed / "sums" / "sums.txt")
    assert "townsquare" in listed
    result = assay(installed, tmp_path, "run", "sum", "--agent", "scripted")
    assert result.returncode == 2
    assert "did you mean 'sums'" in result.stderr


def test_a_broken_offer_is_named_and_hides_no_other(tmp_path: Path) -> None:
    broken = tmp_path / "broken-1.0.dist-info"
    broken.mkdir()
    (broken / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    (broken / "entry_points.txt").write_text(
        "[assay.benchmarks]\nmissing = nowhere:BENCHMARK\nnumber = math:pi\n"
    )
    result = assay(tmp_path, tmp_path, "list", "benchmarks", "--json")
    assert "townsquare" in {record["name"] for record in json.loads(result.stdout)}
    assert "'missing' cannot be loaded from nowhere:BENCHMARK" in result.stderr
    assert "benchmark 'number' is 3.14" in result.stderr
