"""A run in plain counts: what is in the mean, and what stands beside it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.ledger.run import Run
from assay.ledger.summary import count, reward_of, summarise
from assay.ledger.writer import RunWriter
from assay.schema.episode import Episode
from assay.schema.task import Task
from tests.ledger.example import MANIFEST, PRICES, WEATHER, episode, write_example

EPISODES: list[tuple[Episode, float | None, str]] = [
    (episode("a", reward=1.0), 1.0, "a right answer"),
    (episode("b", reward=0.0, answer=""), 0.0, "an empty answer is judged"),
    (episode("c", stop_reason="step_limit", reward=0.0, answer=None), 0.0, "so is none at all"),
    (episode("d", stop_reason="agent_error", reward=0.0, answer=None), 0.0, "and a crash of it"),
    (episode("e", stop_reason="timeout", reward=0.7), 0.7, "and running out of time"),
    (episode("f", reward=None), None, "the grader's failure is not the agent's"),
    (episode("g", stop_reason="env_error"), None, "nor is the environment's"),
    (
        episode("h", reward=1.0).model_copy(
            update={"trajectory": episode("h", stop_reason="env_error").trajectory}
        ),
        None,
        "not even when something scored it",
    ),
    (episode("i", reward=0.5).model_copy(update={"scores": ()}), None, "nobody judged it"),
]


@pytest.mark.parametrize(("attempt", "reward", "why"), EPISODES)
def test_what_enters_the_mean(attempt: Episode, reward: float | None, why: str) -> None:
    assert reward_of(attempt) == reward, why


def test_every_episode_is_counted_once() -> None:
    counts = count(attempt for attempt, _, _ in EPISODES)
    assert counts.n == 9
    assert counts.n == counts.scored + counts.abstained + counts.unscored + counts.env_errors
    assert (counts.scored, counts.abstained, counts.unscored, counts.env_errors) == (5, 1, 1, 2)
    assert counts.mean == pytest.approx(1.7 / 5)
    assert (counts.perfect, counts.good, counts.zero, counts.answered) == (1, 2, 3, 4)
    assert counts.error_rate == pytest.approx(3 / 9)
    assert counts.mean_steps == 3


def test_nothing_has_no_mean() -> None:
    counts = count(())
    assert (counts.n, counts.mean, counts.mean_steps, counts.error_rate) == (0, None, None, None)


def test_a_summary_counts_final_attempts_and_spends_on_all(tmp_path: Path) -> None:
    summary = summarise(write_example(tmp_path))
    assert (summary.counts.n, summary.attempts, summary.retried) == (2, 3, 1)
    assert summary.scorer == "assistantbench_reward@1"
    assert summary.endings == {"answered": 1, "step_limit": 1}
    assert summary.usage.prompt_tokens == 120
    assert summary.counts.mean == pytest.approx(0.4965)
    assert [(row.task_id, row.domain, row.counts.mean) for row in summary.tasks] == [
        ("weather/3", "weather", 0.993),
        (PRICES.id, "", 0.0),
    ]
    assert json.loads(json.dumps(summary.to_record()))["counts"]["error_rate"] == 0


def test_a_task_row_is_over_its_repeats(tmp_path: Path) -> None:
    with RunWriter.create(tmp_path, MANIFEST) as writer:
        for repeat, reward in enumerate((1.0, 0.0)):
            attempt = writer.new_attempt(WEATHER, repeat)
            writer.append(episode(attempt, reward=reward, repeat=repeat))
        writer.append(episode(writer.new_attempt(Task(id="b")), Task(id="b"), reward=None))
    weather, other = summarise(Run(writer.path)).tasks
    assert (weather.counts.n, weather.counts.mean) == (2, 0.5)
    assert (other.counts.abstained, other.counts.mean) == (1, None)


def test_a_lenient_summary_says_what_it_left_out(tmp_path: Path) -> None:
    run = write_example(tmp_path)
    with (run.path / "episodes.jsonl").open("ab") as stream:
        stream.write(b"{}\n")
    summary = summarise(Run(run.path, strict=False))
    assert summary.attempts == 3
    assert len(summary.problems) == 1
