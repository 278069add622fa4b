"""Which messages of failures are the same, and how they are counted."""

from __future__ import annotations

import pytest

from assay.ledger.summary import distinct_failures, message_key, zeros_replaced
from assay.schema.episode import Episode, Failure, FailureKind, Trajectory
from assay.schema.task import Task


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("status 401: wrong key (req_0a1b2c)", "status 401: wrong key (req_9f8e7d)"),
        ("gave up; requests sent: 1", "gave up; requests sent: 6"),
        ("at 2026-11-15T10:00:00Z", "at 2027-01-02T03:04:05Z"),
        ("id 550e8400-e29b-41d4-a716-446655440000", "id 123e4567-e89b-12d3-a456-426614174000"),
        ("no  reply\n within 120 s", "No reply within 90 s"),
        ("x" * 300 + "abc", "x" * 300 + "def"),
    ],
)
def test_messages_of_different_requests_are_the_same(one: str, other: str) -> None:
    assert message_key(one) == message_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("status 401: no", "status 404: no"),
        ("status 500", "status 503"),
        ("the model does not exist", "the key is wrong"),
    ],
)
def test_messages_of_different_failures_are_not(one: str, other: str) -> None:
    assert message_key(one) != message_key(other)


def test_a_huge_message_is_compared_by_its_beginning() -> None:
    assert len(message_key("a1 " * 1_000_000)) <= 300


def episode(kind: FailureKind, message: str) -> Episode:
    return Episode(
        task=Task(id="t"),
        trajectory=Trajectory(stop_reason=kind),
        failure=Failure(kind=kind, message=message),
    )


def test_each_distinct_message_is_counted_the_most_frequent_first() -> None:
    whole = Episode(task=Task(id="t"))
    failures = distinct_failures(
        [
            whole,
            episode("env_error", "status 401 r1"),
            episode("model_error", "status 401 r2"),
            episode("model_error", "status 401 r3"),
        ]
    )
    assert [str(each) for each in failures] == [
        "2 × model_error: status 401 r2",
        "1 × env_error: status 401 r1",
    ]


def test_zeros_in_words() -> None:
    assert zeros_replaced(1) == "1 zero replaced by a retry of agent errors"
    assert zeros_replaced(3) == "3 zeros replaced by a retry of agent errors"


def test_a_failure_that_is_not_fatal_is_written_as_it_ever_was() -> None:
    plain = Failure(kind="agent_error", message="x")
    assert plain.model_dump() == {"kind": "agent_error", "message": "x", "traceback": ""}
    fatal = Failure(kind="model_error", message="x", fatal=True)
    assert Failure.model_validate(fatal.model_dump()) == fatal
