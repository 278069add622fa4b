"""The tables of docs/trainers.md say what is pinned, what was run, and what the numbers do."""

from __future__ import annotations

import re
from pathlib import Path
from statistics import fmean, stdev

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/trainers.md").read_text()

PINS = {
    "TRL": ("trl", "trl"),
    "verl": (None, "verl"),
    "verifiers, task API": ("verifiers", "verifiers"),
    "verifiers, older rubric": ("rubric", "verifiers"),
    "Inspect AI": ("inspect", "inspect-ai"),
    "Gymnasium": ("gymnasium", "gymnasium"),
    "OpenRLHF": ("openrlhf", "openrlhf"),
    "AReaL": ("areal", "areal"),
    "SkyRL": ("skyrl", "skyrl"),
    "OpenEnv": ("openenv", "openenv-core"),
}
"""The requirements file and the package of a library; verl is pinned in the Makefile."""

COMMITS = {"NeMo-Gym", "slime, `--group-rm`", "rLLM"}
NOT_RUN = {"AgentFly"}


def table(heading: str) -> dict[str, list[str]]:
    """The rows of the first table under a heading, by their first cell."""
    section = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")][2:]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {row[0]: row[1:] for row in cells}


RUNS = table("What was run")


@pytest.mark.parametrize("library", PINS)
def test_the_version_that_was_run_is_the_one_that_is_pinned(library: str) -> None:
    name, package = PINS[library]
    source = ROOT / ("Makefile" if name is None else f"requirements/trainer-{name}.txt")
    pin = re.search(rf"(?<![\w-]){package}==([\w.]+)", source.read_text())
    assert pin is not None
    assert RUNS[library][0] == pin[1]


def test_every_adapter_has_a_row_and_every_row_a_version() -> None:
    assert set(RUNS) == {*PINS, *COMMITS, *NOT_RUN}
    assert all(re.fullmatch("[0-9a-f]{7}", RUNS[library][0]) for library in COMMITS)
    adapters = {path.stem for path in (ROOT / "src/assay/adapters").glob("[a-z]*.py")}
    pages = {"observing", "watching", "beside", "browser_use", "selenium"}
    tests = {"pytest", "pytest_fixture", "golden"}
    signals = {"tracking", "tracking_signals"}
    episodes = {"episodes", "openenv_episodes", "trl_episodes", "verifiers_episodes"}
    others = {*episodes, *pages, *tests, *signals}
    shared = {"binding", "end_tokens", "messages", "tally", *others}
    rows = {re.split("[, ]", name)[0].lower().replace("-", "_") for name in RUNS}
    assert {name.removesuffix("_ai") for name in adapters - shared} == rows


def numbers(text: str) -> list[float]:
    return [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", text)]


def advantages(rewards: list[float]) -> list[float]:
    return [round((reward - fmean(rewards)) / stdev(rewards), 3) for reward in rewards]


@pytest.mark.parametrize("library", [name for name, row in RUNS.items() if row[2] == "0.5"])
def test_the_advantages_that_were_printed_are_those_of_the_rewards(library: str) -> None:
    shown = numbers(RUNS[library][3])
    if shown and "divides by n" not in RUNS[library][1]:
        assert shown == advantages([1.0, 0.0, 0.5, 0.0])


STAND_INS = {
    "**the mean of the others, 1/3**": 1 / 3,
    '0, "wrong"': 0.0,
    '-1, "outside the scale"': -1.0,
    "0.5, a middle": 0.5,
}


@pytest.mark.parametrize("row", STAND_INS)
def test_the_worked_numbers_are_right(row: str) -> None:
    others, own, _ = table("What an abstention does to a group")[row]
    first, second, last, third = advantages([1.0, 0.0, STAND_INS[row], 0.0])
    assert numbers(others) == [first, second, third]
    assert numbers(own) == [last]


def test_left_out_means_the_three_alone() -> None:
    (row,) = [
        cells
        for name, cells in table("What an abstention does to a group").items()
        if name.startswith("left out")
    ]
    assert numbers(row[0]) == advantages([1.0, 0.0, 0.0])
