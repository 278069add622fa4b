"""What failed in a run: each distinct message once, with how often it came."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from assay.schema.episode import Episode, FailureKind

COMPARED_CHARS = 300
_CHANGING = re.compile(r"(?<!\bstatus )(?<![\w-])[\w-]*\d[\w-]*")
"""A word with a digit in it, as ids, numbers and dates have; the code of a status is kept."""


@dataclass(frozen=True, slots=True)
class DistinctFailure:
    """One message of the failures of a run."""

    kind: FailureKind
    message: str
    """As it came the first time."""
    count: int

    def __str__(self) -> str:
        return f"{self.count} × {self.kind}: {self.message[:500]}"


def message_key(message: str) -> str:
    """Equal for messages that say the same of different requests.

    Their first 300 characters are compared, in lower case, with every run of spaces as one space
    and every word that holds a digit as `#`; only a number after the word `status` stays.
    """
    words = " ".join(message[: 4 * COMPARED_CHARS].lower().split())
    return _CHANGING.sub("#", words[:COMPARED_CHARS])


def distinct_failures(episodes: Iterable[Episode]) -> tuple[DistinctFailure, ...]:
    """The failures of these episodes, the most frequent message first."""
    failures = (episode.failure for episode in episodes if episode.failure is not None)
    return group_failures((failure.kind, failure.message) for failure in failures)


def group_failures(failures: Iterable[tuple[FailureKind, str]]) -> tuple[DistinctFailure, ...]:
    """Each distinct message of these failures once, the most frequent first."""
    first: dict[tuple[FailureKind, str], DistinctFailure] = {}
    for kind, message in failures:
        key = (kind, message_key(message))
        before = first.get(key)
        text, count = (message, 0) if before is None else (before.message, before.count)
        first[key] = DistinctFailure(kind, text, count + 1)
    return tuple(sorted(first.values(), key=lambda failure: -failure.count))


def other_code(count: int, n: int) -> str:
    """That a run is of two versions of the agent, in words."""
    return f"{count} of {n} attempts were played by other code: the agent changed before --resume"


def zeros_replaced(count: int) -> str:
    """How many zeros a retry of agent errors took out of the mean, in words."""
    return f"{count} zero{'s' * (count != 1)} replaced by a retry of agent errors"
