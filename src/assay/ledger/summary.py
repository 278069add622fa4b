"""Counts and means of a run: its scores, its endings and its tasks."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from math import fsum
from typing import Any

from assay.ledger.passes import PERFECT
from assay.ledger.run import Run
from assay.schema.episode import Episode, FailureKind, StopReason
from assay.schema.score import Abstained, Score
from assay.schema.usage import Usage

GOOD = 0.6
COMPARED_CHARS = 300
_CHANGING = re.compile(r"(?<!\bstatus )(?<![\w-])[\w-]*\d[\w-]*")
"""A word with a digit in it, as ids, numbers and dates have; the code of a status is kept."""


@dataclass(frozen=True, slots=True)
class EpisodeCounts:
    """Counts over a set of episodes.

    An episode that its model or environment ended, and one whose primary score abstained, are not
    in the mean: they are counted apart. Every other ending is scored.
    """

    n: int
    scored: int
    mean: float | None
    """Of the primary score; `None` when nothing was scored."""
    answered: int
    perfect: int
    """At least 0.99."""
    good: int
    """Above 0.6."""
    zero: int
    abstained: int
    """The primary reward abstained."""
    unscored: int
    """No reward ran, though model and environment did their part."""
    env_errors: int
    model_errors: int
    agent_errors: int
    mean_steps: float | None
    """Of the episodes that neither the model nor the environment ended."""

    @property
    def error_rate(self) -> float | None:
        errors = self.agent_errors + self.model_errors + self.env_errors
        return errors / self.n if self.n else None


@dataclass(frozen=True, slots=True)
class TaskSummary:
    """One task of a run, summarised over its repeats."""

    task_id: str
    domain: str
    """`metadata["domain"]` of the task; empty when it has none."""
    counts: EpisodeCounts
    endings: Mapping[StopReason, int]
    usage: Usage
    """Of all attempts at it."""


@dataclass(frozen=True, slots=True)
class DistinctFailure:
    """A distinct failure message of a run, and the number of its occurrences."""

    kind: FailureKind
    message: str
    """As it came the first time."""
    count: int

    def __str__(self) -> str:
        return f"{self.count} × {self.kind}: {self.message[:500]}"


@dataclass(frozen=True, slots=True)
class RewardMean:
    """The mean of one reward over the attempts that count."""

    scorer: str
    """`name@version`."""
    mean: float | None
    scored: int


@dataclass(frozen=True, slots=True)
class RunSummary:
    """The statistics of a run, for the attempts that count and for all attempts."""

    run_id: str
    scorer: str
    """`name@version` of the primary score."""
    counts: EpisodeCounts
    endings: Mapping[StopReason, int]
    attempts: int
    """All of them, those included that a retry replaced."""
    retried: int
    replaced_zeros: int
    """Episodes whose `agent_error`, a zero, was replaced by a retry that was asked for."""
    errors: tuple[DistinctFailure, ...]
    """Every distinct message of the attempts that count, with how often it came."""
    usage: Usage
    """Of all attempts: what was spent, not only what counted."""
    rewards: tuple[RewardMean, ...]
    """Of every reward that scored, the primary one first."""
    other_code: int
    """Attempts that were played after a resumed run's agent had changed."""
    cached_calls: int
    """Replies that came from the cache, at no cost; they are in no other number of `usage`."""
    elapsed_s: float
    """The sum over all attempts; concurrent ones overlap."""
    tasks: tuple[TaskSummary, ...]
    problems: tuple[str, ...]
    """What a lenient reader left out."""

    @property
    def cost_per_attempt_usd(self) -> float | None:
        """The mean cost of an attempt, or `None` if the cost is not known."""
        cost = self.usage.cost_usd
        return None if cost is None or not self.attempts else cost / self.attempts

    def to_record(self) -> dict[str, Any]:
        """The summary as plain JSON values."""
        record = {"mean": self.counts.mean, **asdict(self)}
        record["cost_per_attempt_usd"] = self.cost_per_attempt_usd
        record["counts"]["error_rate"] = self.counts.error_rate
        for task, row in zip(record["tasks"], self.tasks, strict=True):
            task["counts"]["error_rate"] = row.counts.error_rate
        return record


def primary_score(episode: Episode) -> Score | None:
    """The primary score of the episode, or `None` if it has no valid score."""
    if episode.no_fault or not episode.scores:
        return None
    return episode.scores[0]


def reward_of(episode: Episode) -> float | None:
    """The reward that enters the mean of a run, or `None`."""
    score = primary_score(episode)
    return None if score is None or isinstance(score, Abstained) else score.value


def row_of(episode: Episode) -> dict[str, Any]:
    """A table row for an episode: task, answer, ending, reward, reason and cost.

    `reward` is `None` where there is no number; every further reward has a column of its name.
    """
    score = primary_score(episode)
    others = {
        each.scorer.partition("@")[0]: None if isinstance(each, Abstained) else each.value
        for each in episode.scores[1:]
    }
    return {
        "task_id": episode.task.id,
        "repeat": episode.repeat,
        "question": episode.task.goal,
        "answer": episode.task.answer,
        "final_response": episode.final_response,
        "reward": reward_of(episode),
        "because": "" if score is None else score.because,
        "stop_reason": episode.stop_reason,
        "error": "" if episode.failure is None else episode.failure.message,
        "n_steps": episode.n_steps,
        "elapsed_s": episode.elapsed_s,
        "prompt_tokens": episode.usage.prompt_tokens,
        "completion_tokens": episode.usage.completion_tokens,
        "cost_usd": episode.usage.cost_usd,
        **others,
    }


def reward_means(episodes: Iterable[Episode]) -> tuple[RewardMean, ...]:
    """The mean of each reward over these episodes, with the primary reward first."""
    values: dict[str, list[float]] = {}
    for episode in episodes:
        for score in episode.scores if not episode.no_fault else ():
            numbers = values.setdefault(score.scorer, [])
            if not isinstance(score, Abstained):
                numbers.append(score.value)
    return tuple(RewardMean(name, _mean(each), len(each)) for name, each in values.items())


def count(episodes: Iterable[Episode]) -> EpisodeCounts:
    """Count the endings and the scores of these episodes."""
    episodes = list(episodes)
    rewards = [reward for episode in episodes if (reward := reward_of(episode)) is not None]
    endings = Counter(episode.stop_reason for episode in episodes)
    no_fault = sum(episode.no_fault for episode in episodes)
    abstained = sum(isinstance(primary_score(episode), Abstained) for episode in episodes)
    steps = [episode.n_steps for episode in episodes if not episode.no_fault]
    return EpisodeCounts(
        n=len(episodes),
        scored=len(rewards),
        mean=_mean(rewards),
        answered=endings["answered"],
        perfect=sum(reward >= PERFECT for reward in rewards),
        good=sum(reward > GOOD for reward in rewards),
        zero=sum(reward == 0.0 for reward in rewards),
        abstained=abstained,
        unscored=len(episodes) - len(rewards) - no_fault - abstained,
        env_errors=endings["env_error"],
        model_errors=endings["model_error"],
        agent_errors=endings["agent_error"],
        mean_steps=_mean(steps),
    )


def summarise(run: Run) -> RunSummary:
    """Summarise the attempts of a run that count, in total and for each task."""
    final = list(run.final())
    by_task: defaultdict[str, list[Episode]] = defaultdict(list)
    for episode in final:
        by_task[episode.task.id].append(episode)
    attempts, elapsed_s, usage, cached_calls = 0, 0.0, Usage(), 0
    used: defaultdict[str, Usage] = defaultdict(Usage)
    for episode in run.episodes():
        attempts += 1
        elapsed_s += episode.elapsed_s
        usage += episode.usage
        used[episode.task.id] += episode.usage
        cached = episode.metadata.get("cached_calls", 0)
        cached_calls += cached if isinstance(cached, int) else 0
    return RunSummary(
        run_id=run.id,
        scorer=next((episode.scores[0].scorer for episode in final if episode.scores), ""),
        counts=count(final),
        endings=_endings(final),
        attempts=attempts,
        retried=attempts - len(final),
        replaced_zeros=run.attempts().replaced_zeros,
        errors=distinct_failures(final),
        usage=usage,
        rewards=reward_means(final),
        other_code=sum("resumed_at_commit" in episode.metadata for episode in final),
        cached_calls=cached_calls,
        elapsed_s=elapsed_s,
        tasks=tuple(
            TaskSummary(task, each[0].domain, count(each), _endings(each), used[task])
            for task, each in by_task.items()
        ),
        problems=run.problems,
    )


def _endings(episodes: Iterable[Episode]) -> dict[StopReason, int]:
    return dict(Counter(episode.stop_reason for episode in episodes))


def _mean(values: list[float] | list[int]) -> float | None:
    return fsum(values) / len(values) if values else None


def message_key(message: str) -> str:
    """A key that is equal for error messages that differ only in numbers and ids.

    Their first 300 characters are compared, in lower case, with every run of spaces as one space
    and every word that holds a digit as `#`; only a number after the word `status` stays.
    """
    words = " ".join(message[: 4 * COMPARED_CHARS].lower().split())
    return _CHANGING.sub("#", words[:COMPARED_CHARS])


def distinct_failures(episodes: Iterable[Episode]) -> tuple[DistinctFailure, ...]:
    """The failures of these episodes, with the most frequent message first."""
    failures = (episode.failure for episode in episodes if episode.failure is not None)
    return group_failures((failure.kind, failure.message) for failure in failures)


def group_failures(failures: Iterable[tuple[FailureKind, str]]) -> tuple[DistinctFailure, ...]:
    """Group the failures by their message, with the most frequent message first."""
    groups: defaultdict[tuple[FailureKind, str], list[str]] = defaultdict(list)
    for kind, message in failures:
        groups[kind, message_key(message)].append(message)
    rows = (DistinctFailure(kind, each[0], len(each)) for (kind, _), each in groups.items())
    return tuple(sorted(rows, key=lambda failure: -failure.count))


def other_code(count: int, n: int) -> str:
    """The notice that the agent's code changed during a run."""
    return f"{count} of {n} attempts were played by other code: the agent changed before --resume"


def zeros_replaced(count: int) -> str:
    """The notice that a retry of agent errors replaced scores of zero."""
    return f"{count} zero{'s' * (count != 1)} replaced by a retry of agent errors"
