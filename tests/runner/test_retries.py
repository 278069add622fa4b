"""When an attempt is followed by another, and why not."""

from __future__ import annotations

import pytest

from assay.runner.retries import AttemptRetryPolicy, RetryTracker
from assay.schema.episode import Episode, StopReason, Trajectory
from assay.schema.task import Task

POLICY = AttemptRetryPolicy(environment_failures=3, worker_losses=2)


def episode(stop_reason: StopReason, repeat: int = 0) -> Episode:
    return Episode(
        attempt="a1",
        task=Task(id="t"),
        repeat=repeat,
        trajectory=Trajectory(stop_reason=stop_reason),
        started_at="2026-01-01T00:00:00Z",
    )


@pytest.mark.parametrize(
    ("stop_reason", "failures", "refusal"),
    [
        ("env_error", 1, ""),
        ("env_error", 2, ""),
        ("env_error", 3, "its environment failed, 3 times in all"),
        (None, 1, ""),  # lost with its worker, which is counted apart
        (None, 2, "the worker that played it was lost, 2 times in all"),
        ("answered", 0, "it ended with 'answered', which counts"),
        ("agent_error", 0, "it ended with 'agent_error', which counts"),
        ("model_error", 1, "its model failed; a resumed run can retry errors"),
        ("timeout", 0, "it ended with 'timeout', which counts"),
    ],
)
def test_only_failures_that_are_not_the_agents_are_tried_again(
    stop_reason: StopReason | None, failures: int, refusal: str
) -> None:
    assert POLICY.refusal(stop_reason, failures) == refusal


def test_each_repeat_of_a_task_has_its_own_attempts() -> None:
    retries = RetryTracker(POLICY)
    assert [bool(retries.add(episode("env_error"))) for _ in range(3)] == [False, False, True]
    assert retries.refusal(("t", 1)) == ""
    assert retries.add(episode("finished", repeat=1))


def test_an_attempt_that_counts_settles_its_episode() -> None:
    retries = RetryTracker(POLICY)
    retries.add(episode("env_error"))
    retries.add(episode("answered"))
    retries.add(episode("env_error"))
    assert retries.refusal(("t", 0)) == "it ended with 'answered', which counts"
