"""Read the attempts of a run that count, as the numbers that a comparison needs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from math import fsum
from pathlib import Path
from typing import Any

from assay.errors import BadRecord, UnknownName
from assay.formats.lines import dump_json
from assay.ledger.counting import AttemptSelection, CountableAttempt
from assay.ledger.layout import RunLayout
from assay.ledger.records import check_episode_keys, read_raw
from assay.ledger.run import RunLike, open_run
from assay.registry import find_reward
from assay.registry.options import without_defaults
from assay.schema.episode import FAILURES, NO_FAULT_OF_THE_AGENT
from assay.schema.manifest import RunManifest

EQUAL = 1e-9
"""Rewards nearer than this are the same reward."""


@dataclass(frozen=True, slots=True)
class ScoredAttempt(CountableAttempt):
    """One attempt in numbers: its reward, ending and cost."""

    reward: float | None
    """`None` when its model or environment ended it, or the primary reward abstained."""
    abstained: str
    scorer: str
    params: str
    n_steps: int
    cost_usd: float | None
    elapsed_s: float
    question: str = ""
    """A digest of the task's question."""
    reference: str = ""
    """A digest of its reference."""
    other_code: bool = False
    """Whether a resumed run played it with other code of the agent."""

    @property
    def errored(self) -> bool:
        return self.stop_reason in FAILURES


@dataclass(frozen=True)
class RunAttempts:
    """The attempts of a run that count, and the problems of unreadable lines."""

    manifest: RunManifest
    path: Path
    final: tuple[ScoredAttempt, ...]
    retried: int
    replaced_zeros: int = 0
    """Of the retried ones, episodes whose `agent_error` no longer counts."""
    problems: tuple[str, ...] = ()

    @property
    def run_id(self) -> str:
        return self.manifest.run_id

    @cached_property
    def by_task(self) -> dict[str, list[ScoredAttempt]]:
        """The attempts of each task that count, one for each repeat."""
        tasks: dict[str, list[ScoredAttempt]] = {}
        for attempt in self.final:
            tasks.setdefault(attempt.task_id, []).append(attempt)
        return tasks

    @cached_property
    def rewards(self) -> dict[str, list[float]]:
        """The rewards of each task, over its repeats; tasks without a reward are left out."""
        tasks = self.by_task.items()
        return {task: rewards for task, attempts in tasks if (rewards := rewards_of(attempts))}

    @cached_property
    def task_means(self) -> dict[str, float]:
        return {task: mean(rewards) for task, rewards in self.rewards.items()}


def read_attempts(run: RunLike, runs_dir: str | Path = "runs") -> RunAttempts:
    """Read the attempts of the run that count, as `ledger/counting.py` chooses them."""
    opened = open_run(run, runs_dir)
    selection: AttemptSelection[ScoredAttempt] = AttemptSelection()
    problems: list[str] = []
    name = opened.path.name
    for raw in read_raw(RunLayout(opened.path).episodes):
        attempt = None if raw.record is None else _attempt(raw.record)
        if attempt is None:
            problem = f"{raw.problem or 'not an episode':.200}"
            problems.append(f"line {raw.line.number} of {name}: {problem}")
        elif not selection.add(attempt):
            repeated = f"repeats attempt {attempt.attempt!r}"
            problems.append(f"line {raw.line.number} of {name} {repeated}")
    if opened.strict and problems:
        raise BadRecord(problems[0])
    final = tuple(selection.final.values())
    retried = len(selection.attempts) - len(final)
    zeros = selection.replaced_zeros
    return RunAttempts(opened.manifest, opened.path, final, retried, zeros, tuple(problems))


def _attempt(record: Mapping[str, Any]) -> ScoredAttempt | None:
    """The numbers in one attempt's record; `None` for a record without them."""
    try:
        check_episode_keys(record)
        ended = str(record["stop_reason"])
        score = next(iter(record["scores"]), None) or {}
        value = score.get("value")
        cost = record["usage"].get("cost_usd")
        return ScoredAttempt(
            attempt=str(record["attempt"]),
            task_id=str(record["task"]["id"]),
            repeat=int(record["repeat"]),
            stop_reason=ended,
            reward=None if value is None or ended in NO_FAULT_OF_THE_AGENT else float(value),
            abstained=str(score.get("abstained") or ""),
            scorer=str(score.get("scorer", "")),
            params=_describe_params(str(score.get("scorer", "")), score.get("params")),
            n_steps=int(record["n_steps"]),
            cost_usd=None if cost is None else float(cost),
            elapsed_s=float(record["elapsed_s"]),
            question=_digest(record["task"].get("goal")),
            reference=_digest(record["task"].get("answer")),
            other_code="resumed_at_commit" in (record.get("metadata") or ()),
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def _digest(value: Any) -> str:
    """A digest of a text, or of a value's JSON; empty for `None`."""
    if value is None:
        return ""
    text = value.strip() if isinstance(value, str) else dump_json(value)
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return blake2b(data, digest_size=12).hexdigest()


def _describe_params(scorer: str, params: Any) -> str:
    """The options of a score in words, without the default values of a known reward."""
    if not params:
        return ""
    with suppress(UnknownName):
        params = without_defaults(find_reward(scorer), params)
    return ", ".join(f"{key}={params[key]!r}" for key in sorted(params))


def rewards_of(attempts: Iterable[ScoredAttempt]) -> list[float]:
    """The rewards of the attempts that have a reward."""
    return [a.reward for a in attempts if a.reward is not None]


def mean(values: Iterable[float]) -> float:
    """The arithmetic mean of one or more numbers."""
    numbers = values if isinstance(values, list) else list(values)
    return fsum(numbers) / len(numbers)
