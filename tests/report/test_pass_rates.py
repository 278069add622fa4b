"""pass@k and pass^k from repeats, with intervals over tasks."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from statistics import mean

import numpy as np
import pytest

import assay
from assay.cli.main import main
from assay.ledger.run import Run
from assay.report.diagnosis import diagnose
from assay.report.pass_rates import pass_all, pass_at, pass_rates
from assay.report.statistics import rate_interval


@pytest.mark.parametrize("n", range(1, 8))
def test_the_estimates_are_the_share_of_all_sets_of_k_attempts(n: int) -> None:
    for passes in range(n + 1):
        attempts = [True] * passes + [False] * (n - passes)
        for k in range(1, n + 1):
            sets = list(combinations(attempts, k))
            assert pass_at(k, n, passes) == pytest.approx(mean(map(any, sets)))
            assert pass_all(k, n, passes) == pytest.approx(mean(map(all, sets)))


def test_the_interval_holds_the_truth_about_as_often_as_it_says() -> None:
    """Tasks differ in how often they pass; what is estimated is the mean over such tasks."""
    rng = np.random.default_rng(3)
    tasks, n, k = 40, 6, 3
    truth = float(np.mean(1 - (1 - rng.beta(0.6, 0.6, 200_000)) ** k))
    hits = 0
    for _ in range(200):
        passes = rng.binomial(n, rng.beta(0.6, 0.6, tasks))
        interval = rate_interval([pass_at(k, n, int(count)) for count in passes])
        assert interval is not None
        hits += interval.low <= truth <= interval.high
    assert 0.88 <= hits / 200 <= 0.99


def test_tasks_that_all_pass_prove_no_certainty() -> None:
    sure, never = rate_interval([1.0] * 10), rate_interval([0.0] * 10)
    assert sure is not None
    assert never is not None
    assert [sure.low, sure.high] == pytest.approx([0.6915, 1.0], abs=1e-4)
    assert [never.low, never.high] == pytest.approx([0.0, 0.3085], abs=1e-4)
    assert rate_interval([]) is None


def run(repeats: int, tmp_path: Path) -> Run:
    """Task `n` passes in its first `n` repeats."""
    turns: dict[str, int] = {}

    def answer(question: str) -> str:
        turns[question] = turns.get(question, 0) + 1
        return "42" if turns[question] <= int(question) else "no"

    return assay.run(
        tasks=[{"id": f"t{n}", "question": str(n), "answer": "42"} for n in range(5)],
        agent=answer,
        rewards=["qa_f1_reward"],
        repeats=repeats,
        workers=1,
        runs_dir=tmp_path / "runs",
    )


def test_a_run_with_repeats_has_its_rates_everywhere(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    done = run(4, tmp_path)
    rates = pass_rates(done.final())
    assert [rate.k for rate in rates] == [1, 2, 4]
    assert [rate.tasks for rate in rates] == [5, 5, 5]
    pairs = [(0 + 3 / 6 + 5 / 6 + 2) / 5, (1 / 6 + 3 / 6 + 1) / 5]
    assert [rate.any_pass for rate in rates] == pytest.approx([0.5, pairs[0], 0.8])
    assert [rate.all_pass for rate in rates] == pytest.approx([0.5, pairs[1], 0.2])
    assert diagnose(done).passes == rates
    assert main(["diagnose", str(done.path), "--json"]) == 0
    record = json.loads(capfd.readouterr().out)["passes"][-1]
    assert (record["k"], record["pass@k"], record["pass^k"]) == (4, 0.8, pytest.approx(0.2))
    assert 0 < record["pass@k_interval"]["low"] < 0.8 <= record["pass@k_interval"]["high"]
    assert main(["diagnose", str(done.path)]) == 0
    assert "pass^4   0.200  95 % [0.000, " in capfd.readouterr().out


def test_the_summary_of_a_run_with_repeats_shows_them(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    questions = tmp_path / "q.jsonl"
    questions.write_text(json.dumps({"question": "6 * 7?", "answer": "42"}))
    agent = tmp_path / "mine.py"
    agent.write_text("def answer(question):\n    return '42'\n")
    arguments = ["run", str(questions), "--agent", f"{agent}:answer", "--reward", "qa_f1_reward"]
    arguments += ["--runs", str(tmp_path / "runs")]
    assert main([*arguments, "--repeats", "2"]) == 0
    shown = " ".join(capfd.readouterr().out.split())
    assert "pass^2 1.000 95 % [0.025, 1.000] of 1 task" in shown
    assert main([*arguments, "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["passes"] == []


def test_an_attempt_without_a_reward_is_in_no_rate(tmp_path: Path) -> None:
    done = run(3, tmp_path)
    episodes = [each for each in done.final() if (each.task.id, each.repeat) != ("t4", 2)]
    last = pass_rates(episodes)[-1]
    assert (last.k, last.tasks) == (3, 4)
    assert pass_rates(run(1, tmp_path / "one").final()) == ()
