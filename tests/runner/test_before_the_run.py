"""What would end every episode is an error before the run, and leaves no run behind."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

import assay
from assay.errors import BadParameter, MissingExtra
from assay.registry import ENVIRONMENTS
from assay.schema.task import Task
from tests.runner.corridor import BENCHMARK, Corridor

WALK = {"actions": ["north", "north", "north"]}

PAGES = """
name = "pages"

[tasks]
source = "jsonl"
path = "tasks.jsonl"

[environment]
name = "browser"

[rewards]
names = ["qa_f1_reward"]
"""


def run(path: Path, **settings: object) -> None:
    assay.run(path, agent="scripted", settings=settings, runs_dir=path.parent / "runs")


def corridor(folder: Path, environment: str) -> Path:
    path = folder / "corridor.toml"
    path.write_text(BENCHMARK.replace('name = "corridor"', f'name = "{environment}"'))
    return path


class Hungry(Corridor):
    """An environment that imports a package which is not there, when it is made."""

    name = "hungry"

    def __init__(self) -> None:
        super().__init__()
        __import__("no_such_package.inner")


class Late(Corridor):
    """The same, when it is started."""

    name = "late"

    async def start(self) -> None:
        __import__("no_such_package.inner")


class Choosy(Corridor):
    """An environment that does not have the task `b`, and has an option with two values."""

    name = "choosy"

    def __init__(self, *, colour: str = "red") -> None:
        super().__init__()
        if colour not in ("red", "green"):
            raise BadParameter(f"colour is red or green, not {colour!r}")

    async def check_run(self, tasks: Sequence[Task]) -> None:
        for task in tasks:
            if task.id == "b":
                raise BadParameter("there is no corridor 'b'")


for _environment in (Hungry, Late, Choosy):
    ENVIRONMENTS.add(_environment.name, _environment)


@pytest.mark.parametrize("environment", ["hungry", "late"])
def test_a_package_that_an_environment_lacks_is_one_error(environment: str, tmp_path: Path) -> None:
    with pytest.raises(MissingExtra, match="needs no_such_package, which is not installed"):
        run(corridor(tmp_path, environment), **WALK)


def test_nothing_is_written_for_what_is_known_before(tmp_path: Path) -> None:
    path = corridor(tmp_path, "hungry")
    with pytest.raises(MissingExtra):
        run(path, **WALK)
    path = corridor(tmp_path, "choosy")
    with pytest.raises(BadParameter, match="no corridor 'b'"):
        run(path, **WALK)
    with pytest.raises(BadParameter, match="colour is red or green"):
        run(path, **WALK, **{"environment.colour": "blue", "tasks.names": ["a"]})
    assert not (tmp_path / "runs").exists()
    run(path, **WALK, **{"tasks.names": ["a", "c"]})


@pytest.mark.parametrize(
    "address", ["file:///etc/passwd", "ftp://host/page", "javascript:alert(1)", "index.html", ""]
)
def test_an_address_that_the_browser_never_opens_is_refused(address: str, tmp_path: Path) -> None:
    path = tmp_path / "pages.toml"
    path.write_text(PAGES)
    task = Task(id="local", goal="Read it.", answer="x", metadata={"start_url": address})
    (tmp_path / "tasks.jsonl").write_text(task.model_dump_json() + "\n")
    with pytest.raises(BadParameter, match=r"task 'local': start_url .* is not http\(s\)"):
        run(path)
    assert not (tmp_path / "runs").exists()
