"""Every built-in world keeps the contract, and a world that breaks it is found out."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from assay.errors import BadParameter, NotReset
from assay.registry import ENVIRONMENTS
from assay.resources.contract import CHECKS, ContractCheck, check_environment
from assay.schema.evidence import WorldEvidence
from assay.schema.observation import Observation
from assay.schema.task import Task

QUICK: dict[str, dict[str, Any]] = {
    "alfworld": {},
    "webshop": {},
    # Listing the actions of a furnished room takes most of a second.
    "scienceworld": {
        "tasks": [Task(id="find-plant/225"), Task(id="power-component/15")],
        "steps": 2,
    },
}


def broken(findings: Sequence[ContractCheck]) -> dict[str, str]:
    return {finding.check: finding.because for finding in findings if not finding.passed}


@pytest.mark.parametrize("name", ["alfworld", "webshop", "scienceworld"])
def test_a_built_in_world_keeps_every_promise(name: str) -> None:
    findings = check_environment(name, **{"steps": 4, **QUICK[name]})
    assert broken(findings) == {}
    assert len(findings) == len(CHECKS)
    assert all(finding.because for finding in findings)


class Model:
    """A world that keeps the contract; each fault below breaks one promise of it."""

    name: str = "test-model"

    def __init__(self, fault: str = "") -> None:
        self._fault = fault
        self._evidence: WorldEvidence | None = None
        self._turns = 0

    def tasks(self) -> list[Task]:
        return [Task(id="one"), Task(id="two")]

    async def reset(self, task: Task) -> Observation:
        self._evidence = None if self._fault != "keeps the old episode" else self._evidence
        if task.id not in ("one", "two") and self._fault != "takes any task":
            raise BadParameter(f"no task {task.id!r}")
        score = float(self._turns) if self._fault == "remembers" else 0.0
        bound = "one" if self._fault == "binds another task" else task.id
        self._evidence = WorldEvidence(self.name, bound, score, progress=self._progress())
        return Observation("a room", self._evidence)

    async def step(self, action: str) -> Observation:
        self._turns += 1
        evidence = self.evidence()
        if self._fault == "raises on control characters" and "\x00" in action:
            raise ValueError("embedded null byte")
        score = evidence.score or 0.0
        score += action == "look" or (self._fault == "is open to injection" and "win" in action)
        self._evidence = WorldEvidence(self.name, evidence.task_id, score)
        text = action if self._fault == "echoes" else action[:10]
        return Observation(text * (3 if self._fault == "echoes" else 1), self._evidence)

    def evidence(self) -> WorldEvidence:
        if self._evidence is None:
            if self._fault == "testifies unasked":
                return WorldEvidence(self.name, "", 1.0)
            raise NotReset("no episode")
        if self._fault == "is changed by reading":
            self._turns += 1
            return WorldEvidence(self.name, self._evidence.task_id, float(self._turns))
        return self._evidence

    def forget(self) -> None:
        if self._fault != "never forgets":
            self._evidence = None

    def alive(self) -> bool:
        return True

    async def close(self) -> None:
        if self._fault == "closes once" and self._evidence is None:
            raise RuntimeError("closed already")
        self._evidence = None

    def _progress(self) -> dict[str, Any]:
        return {"visited": {"a", "b"}} if self._fault == "is not JSON" else {}


@pytest.mark.parametrize(
    ("fault", "check"),
    [
        ("testifies unasked", "no testimony before reset"),
        ("binds another task", "reset binds the task"),
        ("takes any task", "unknown task is refused"),
        ("keeps the old episode", "unknown task is refused"),
        ("is changed by reading", "testimony is read only"),
        ("is not JSON", "testimony is read only"),
        ("remembers", "same actions same world"),
        ("remembers", "reset leaves nothing"),
        ("raises on control characters", "hostile actions do nothing"),
        ("is open to injection", "hostile actions do nothing"),
        ("echoes", "hostile actions do nothing"),
        ("never forgets", "forget unbinds"),
        ("closes once", "close is idempotent"),
    ],
)
def test_a_broken_promise_is_found(fault: str, check: str) -> None:
    ENVIRONMENTS.add(Model.name, Model)
    findings = check_environment(Model.name, config={"fault": fault}, actions=("look", "wait"))
    assert check in broken(findings)


def test_a_sound_world_has_no_finding() -> None:
    ENVIRONMENTS.add(Model.name, Model)
    assert broken(check_environment(Model.name, actions=("look", "wait"))) == {}


def test_one_task_is_not_enough() -> None:
    ENVIRONMENTS.add(Model.name, Model)
    with pytest.raises(BadParameter, match="needs two tasks"):
        check_environment(Model.name, tasks=[Task(id="one")])


def test_the_model_itself_is_an_environment() -> None:
    build: Callable[[], Model] = Model
    assert asyncio.run(build().reset(Task(id="one"))).text == "a room"
