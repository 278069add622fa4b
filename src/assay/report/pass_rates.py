"""The rates pass@k and pass^k: how often any or all of k attempts at a task pass."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from math import comb
from typing import Any

from assay.ledger.passes import PERFECT
from assay.ledger.summary import reward_of
from assay.report.statistics import ConfidenceInterval, rate_interval
from assay.schema.episode import Episode


@dataclass(frozen=True, slots=True)
class PassRate:
    """pass@k and pass^k, over the tasks that have at least `k` scored attempts."""

    k: int
    tasks: int
    """With at least `k` scored attempts; the others are in none of these numbers."""
    any_pass: float
    """pass@k: at least one of the attempts passes."""
    any_interval: ConfidenceInterval | None
    all_pass: float
    """pass^k: all of them pass."""
    all_interval: ConfidenceInterval | None

    def to_record(self) -> dict[str, Any]:
        """The rates as plain JSON values, under keys such as `pass@k`."""
        return {
            "k": self.k,
            "tasks": self.tasks,
            "pass@k": self.any_pass,
            "pass@k_interval": self.any_interval and asdict(self.any_interval),
            "pass^k": self.all_pass,
            "pass^k_interval": self.all_interval and asdict(self.all_interval),
        }


def pass_rates(episodes: Iterable[Episode], *, passing: float = PERFECT) -> tuple[PassRate, ...]:
    """The rates for k = 1, 2, 4, … up to the most attempts of a task; empty without repeats.

    `episodes` are the attempts that count. One passes with a reward of at least `passing`; one
    without a reward is left out.
    """
    attempts: dict[str, list[bool]] = {}
    for episode in episodes:
        reward = reward_of(episode)
        if reward is not None:
            attempts.setdefault(episode.task.id, []).append(reward >= passing)
    counts = [(len(passes), sum(passes)) for passes in attempts.values()]
    most = max((n for n, _ in counts), default=0)
    if most < 2:
        return ()
    ks = sorted({2**power for power in range(most.bit_length()) if 2**power <= most} | {most})
    return tuple(_rate(k, [(n, passes) for n, passes in counts if n >= k]) for k in ks)


def pass_at(k: int, n: int, passes: int) -> float:
    """The chance that at least one of `k` attempts passes, estimated from `n` attempts."""
    return 1.0 - comb(n - passes, k) / comb(n, k)


def pass_all(k: int, n: int, passes: int) -> float:
    """The chance that all of `k` attempts pass, estimated from `n` attempts."""
    return comb(passes, k) / comb(n, k)


def _rate(k: int, counts: list[tuple[int, int]]) -> PassRate:
    any_pass = [pass_at(k, n, passes) for n, passes in counts]
    all_pass = [pass_all(k, n, passes) for n, passes in counts]
    return PassRate(
        k=k,
        tasks=len(counts),
        any_pass=sum(any_pass) / len(counts),
        any_interval=rate_interval(any_pass),
        all_pass=sum(all_pass) / len(counts),
        all_interval=rate_interval(all_pass),
    )
