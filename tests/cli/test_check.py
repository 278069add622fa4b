"""`assay check env`: a table or JSON of promises, and an exit code that a script can use."""

from __future__ import annotations

import json
from typing import Any

import pytest

from assay.cli.main import main
from assay.errors import BadParameter, NotReset
from assay.registry import ENVIRONMENTS
from assay.resources.contract import CHECKS
from assay.schema.evidence import WorldEvidence
from assay.schema.observation import Observation
from assay.schema.task import Task


def run(capfd: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code: Any = main(["check", "env", *arguments])
    shown = capfd.readouterr()
    return code, shown.out, shown.err


class Forgetful:
    """A world of two tasks in which nothing happens; it may forget to forget."""

    name: str = "test-forgetful"

    def __init__(self, forgets: bool = True) -> None:
        self._forgets = forgets
        self._evidence: WorldEvidence | None = None

    async def reset(self, task: Task) -> Observation:
        self._evidence = None
        if task.id not in ("one", "two"):
            raise BadParameter(f"no task {task.id!r}")
        self._evidence = WorldEvidence(self.name, task.id, 0.0)
        return Observation("a room", self._evidence)

    async def step(self, action: str) -> Observation:
        return Observation("nothing happens", self.evidence())

    def evidence(self) -> WorldEvidence:
        if self._evidence is None:
            raise NotReset("no episode")
        return self._evidence

    def forget(self) -> None:
        if self._forgets:
            self._evidence = None

    def alive(self) -> bool:
        return True

    async def close(self) -> None:
        self._evidence = None


def test_a_shipped_world_keeps_every_promise(capfd: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capfd, "webshop", "--steps", "3")
    assert code == 0
    assert out.count("kept") == len(CHECKS)
    assert "BROKEN" not in out


def test_json_has_one_record_for_each_promise(capfd: pytest.CaptureFixture[str]) -> None:
    ENVIRONMENTS.add(Forgetful.name, Forgetful)
    code, out, _ = run(capfd, Forgetful.name, "--task", "one", "--task", "two", "--json")
    records = json.loads(out)
    assert code == 0
    assert [set(record) for record in records] == [{"check", "passed", "because"}] * len(CHECKS)


def test_a_broken_promise_is_exit_code_1(capfd: pytest.CaptureFixture[str]) -> None:
    ENVIRONMENTS.add(Forgetful.name, Forgetful)
    arguments = ("--task", "one", "--task", "two", "--config", '{"forgets": false}')
    code, out, _ = run(capfd, Forgetful.name, *arguments)
    assert code == 1
    (broken,) = (line for line in out.splitlines() if "BROKEN" in line)
    assert broken.startswith("forget unbinds")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("webshoop",), "did you mean 'webshop'"),
        (("webshop", "--config", "{"), "is not JSON"),
        (("webshop", "--config", "[]"), "is not a JSON object"),
        (("webshop", "--config", '{"sede": 1}'), "its options: "),
        (("webshop", "--task", "0"), "needs two tasks"),
    ],
)
def test_a_call_that_makes_no_sense_is_exit_code_2(
    capfd: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str
) -> None:
    code, out, err = run(capfd, *arguments)
    assert (code, out) == (2, "")
    assert message in err
