"""The rule that decides which attempt at a task counts.

A line that repeats the id of an earlier attempt is left out. Of the attempts at one repeat of a
task the last one counts; one that its model or environment ended only where there is no other.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Generic, TypeVar

from assay.schema.episode import NO_FAULT_OF_THE_AGENT


@dataclass(frozen=True, slots=True)
class CountableAttempt:
    """The fields of an attempt that decide whether it counts."""

    attempt: str
    task_id: str
    repeat: int
    stop_reason: str


A = TypeVar("A", bound=CountableAttempt)


@dataclass(frozen=True, slots=True)
class AttemptLine(CountableAttempt):
    """The place of an attempt's line in `episodes.jsonl`."""

    number: int
    """Of the line, from 1."""
    offset: int = 0
    """Of the line, in bytes."""


class AttemptSelection(Generic[A]):
    """Selects the attempts of a run that count; attempts are added in file order."""

    def __init__(self) -> None:
        self.attempts: dict[str, A] = {}
        """By id, in the order of the file."""
        self.final: dict[tuple[str, int], A] = {}
        """The one that counts, by task and repeat, in the order of their first attempts."""

    def add(self, attempt: A) -> bool:
        """Add the next attempt; return `False` if its id was already added."""
        if self.attempts.setdefault(attempt.attempt, attempt) is not attempt:
            return False
        key = (attempt.task_id, attempt.repeat)
        if _takes_over(attempt, self.final.get(key)):
            self.final[key] = attempt
        return True

    @property
    def replaced_zeros(self) -> int:
        """The number of tasks and repeats whose `agent_error` was replaced by another attempt."""
        attempts = self.attempts.values()
        broken = {(a.task_id, a.repeat) for a in attempts if a.stop_reason == "agent_error"}
        return sum(self.final[key].stop_reason != "agent_error" for key in broken)

    def final_without(self, attempt: A, unreadable: Collection[str]) -> A | None:
        """The attempt that counts in place of an unreadable attempt."""
        final: A | None = None
        for other in self.attempts.values():
            same = (other.task_id, other.repeat) == (attempt.task_id, attempt.repeat)
            if same and other.attempt not in unreadable and _takes_over(other, final):
                final = other
        return final


def _takes_over(attempt: CountableAttempt, previous: CountableAttempt | None) -> bool:
    if previous is None or previous.stop_reason in NO_FAULT_OF_THE_AGENT:
        return True
    return attempt.stop_reason not in NO_FAULT_OF_THE_AGENT
