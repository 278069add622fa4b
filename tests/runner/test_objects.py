"""A run of Python values: tasks, environment, agent, model and rewards, each passed or named."""

from __future__ import annotations

import asyncio
import functools
import json
import sys
import types
from pathlib import Path
from typing import Any

import pytest

import assay
from assay.agents.models.protocol import Reply
from assay.errors import BadParameter, BadRecord, MissingExtra
from assay.worlds.chat.environment import Chat
from tests.runner.corridor import BENCHMARK, Corridor

TASKS: list[Any] = [
    {"question": "one", "answer": "ONE"},
    assay.Task(id="two", goal="two", answer="TWO"),
    {"id": "three", "question": "three", "answer": "no"},
]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def shout(question: str) -> str:
    return question.upper()


def exact(final_response: str, answer: str) -> float:
    return float(final_response == answer)


def test_a_run_of_values_is_iterated_and_has_a_mean() -> None:
    run = assay.run(tasks=TASKS, agent=shout, rewards=[exact, "qa_f1_reward"])
    assert run.mean == pytest.approx(2 / 3)
    answers = {episode.task.id: episode.final_response for episode in run}
    assert answers == {"task.1": "ONE", "two": "TWO", "three": "THREE"}
    assert run.manifest.rewards == ("exact@1", "qa_f1_reward@1")
    assert run.manifest.config["benchmark"]["tasks"] == {"source": "values"}


def test_rows_and_a_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    run = assay.run(tasks=TASKS, agent=shout, rewards=[exact, "qa_f1_reward"])
    (row,) = [row for row in run.rows() if row["task_id"] == "three"]
    assert (row["question"], row["final_response"], row["answer"]) == ("three", "THREE", "no")
    assert (row["reward"], row["qa_f1_reward"], row["stop_reason"]) == (0.0, 0.0, "answered")
    pandas = types.ModuleType("pandas")
    monkeypatch.setattr(pandas, "DataFrame", list, raising=False)
    monkeypatch.setitem(sys.modules, "pandas", pandas)
    assert run.frame() == run.rows()
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtra, match="pip install pandas"):
        run.frame()


def test_a_run_of_values_resumes_with_the_same_values_alone() -> None:
    run = assay.run(tasks=TASKS, agent=shout, rewards=[exact])
    lines = run.path / "episodes.jsonl"
    lines.write_text(lines.read_text().splitlines()[0] + "\n")
    with pytest.raises(BadParameter, match="pass them again: tasks="):
        assay.run(resume=run.path)
    with pytest.raises(BadParameter, match="the tasks have other contents now"):
        assay.run(tasks=TASKS[:2], agent=shout, rewards=[exact], resume=run.path)
    again = assay.run(tasks=TASKS, agent=shout, rewards=[exact], resume=run.path)
    assert again.mean == pytest.approx(2 / 3)
    assert len(list(again)) == 3


def test_the_environment_may_be_a_value() -> None:
    def add(a: int, b: int) -> int:
        """The sum."""
        return a + b

    def agent(observation: str, step: int) -> str:
        return "add(2, 3)" if step == 1 else observation

    tasks = [{"question": "2 + 3", "answer": "5"}]
    for environment in (Chat(tools=[add]), functools.partial(Chat, tools=[add])):
        run = assay.run(tasks=tasks, agent=agent, environment=environment, rewards=[exact])
        assert run.mean == 1.0
        assert run.manifest.config["benchmark"]["environment"]["name"] == "chat"
    for corridor in (Corridor, Corridor(length=3), "corridor", {"name": "corridor", "length": 3}):
        run = assay.run(
            tasks=[assay.Task(id="a")],
            agent=lambda observation: "north",
            environment=corridor,
            rewards=["environment_reward"],
        )
        assert (run.mean, [episode.n_steps for episode in run]) == (1.0, [3])


def test_values_take_the_place_of_what_a_benchmark_names() -> None:
    Path("corridor.toml").write_text(BENCHMARK)
    run = assay.run(
        "corridor.toml", tasks=[assay.Task(id="z", answer="Z")], agent=shout, rewards=[exact]
    )
    assert [(episode.task.id, episode.stop_reason) for episode in run] == [("z", "step_limit")]
    assert run.manifest.rewards == ("exact@1",)


def test_a_model_and_a_scorer_may_be_values() -> None:
    class Echo:
        name = "echo"

        async def complete(self, messages: Any, *, timeout_s: float, session: Any = None) -> Reply:
            return Reply(messages[-1]["content"].upper())

        async def close(self) -> None: ...

    scorer = assay.Scorer("qa_f1_reward", {"mode": "hotpot"})
    run = assay.run(tasks=TASKS, model=Echo(), rewards=[scorer])
    assert run.mean == pytest.approx(2 / 3)
    (score, *_) = next(iter(run)).scores
    assert score.params == {"mode": "hotpot"}


def test_questions_alone_and_columns() -> None:
    def length(final_response: str) -> float:
        return len(final_response) / 10

    assert assay.run(tasks=["abc", "abcde"], agent=shout, rewards=[length]).mean == 0.4
    rows = [{"q": "x", "a": "X"}]
    run = assay.run(
        tasks=rows, columns={"question": "q", "answer": "a"}, agent=shout, rewards=[exact]
    )
    assert run.mean == 1.0


def test_a_run_is_awaited_in_its_own_loop() -> None:
    async def main() -> tuple[float | None, bool]:
        loop = asyncio.get_running_loop()
        same: list[bool] = []

        async def agent(question: str) -> str:
            same.append(asyncio.get_running_loop() is loop)
            return question.upper()

        run = await assay.run_async(tasks=TASKS, agent=agent, rewards=[exact], workers=3)
        return run.mean, all(same)

    mean, in_loop = asyncio.run(main())
    assert mean == pytest.approx(2 / 3)
    assert in_loop


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"agent": shout}, BadParameter, "name a benchmark and an agent"),
        ({"tasks": TASKS, "agent": shout}, BadParameter, "name a reward"),
        ({"tasks": [3], "agent": shout, "rewards": [exact]}, BadParameter, r"tasks\[0\] is 3"),
        ({"tasks": [{}], "agent": shout, "rewards": [exact]}, BadRecord, r"tasks\[0\]: no 'goal'"),
        ({"tasks": [], "agent": shout, "rewards": [exact]}, BadParameter, "has no tasks"),
        (
            {"tasks": TASKS, "agent": shout, "rewards": [exact], "environment": 5},
            BadParameter,
            "environment is 5; it must be a name, a class, or an instance",
        ),
    ],
)
def test_what_is_missing_or_wrong_is_said(
    arguments: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        assay.run(**arguments)
    assert not Path("runs").exists()


def test_the_summary_of_such_a_run_is_plain_json() -> None:
    run = assay.run(tasks=TASKS, agent=shout, rewards=[exact])
    json.dumps(run.rows())
    json.loads((run.path / "manifest.json").read_text())
