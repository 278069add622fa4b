"""Statistics of paired numbers: permutation test, bootstrap, McNemar, kappa and power.

Every random draw has a fixed seed, so that a report of the same runs is the same report.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, comb, exp, fsum, lgamma, log, log1p, sqrt
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

ALPHA = 0.05
LEVEL = 1 - ALPHA
"""Of every interval."""
POWER = 0.8
EXACT_PAIRS = 16
"""Up to so many non-zero pairs every assignment of signs is tried."""
RESAMPLES = 10_000
PERMUTATIONS = 20_000
FEWEST_DRAWS = 2_000
CELLS = 20_000_000
"""Numbers drawn in all, beyond which fewer resamples are taken."""
CHUNK_CELLS = 1_000_000
MANY = 1_000
"""Values from which equal ones are drawn together."""
FEW_KINDS = 50
"""Different values up to which that is faster."""
LARGEST_EXACT = 1_000
"""Tries up to which every binomial coefficient fits a float."""
TIE = 1e-9
"""Sums nearer than this, relative to the sum of sizes, are the same sum in exact arithmetic."""
SEED = 20_260_329

_REACH = NormalDist().inv_cdf(1 - ALPHA / 2) + NormalDist().inv_cdf(POWER)
"""Standard errors between no change and one that a test finds at `POWER`."""

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ConfidenceInterval:
    """A two-sided confidence interval."""

    low: float
    high: float
    level: float = LEVEL


@dataclass(frozen=True, slots=True)
class PermutationTest:
    """A two-sided sign-flip test of "the differences are symmetric around zero"."""

    p: float
    nonzero: int
    exact: bool


@dataclass(frozen=True, slots=True)
class McNemarTest:
    """McNemar's exact test of whether gained and lost passes are equally likely."""

    gained: int
    lost: int
    p: float


def bootstrap_mean(values: Sequence[float]) -> ConfidenceInterval | None:
    """The bootstrap interval of the mean; `None` for fewer than two values."""
    data = np.asarray(values, dtype=np.float64)
    if data.size < 2:
        return None
    if (data == data[0]).all():
        return ConfidenceInterval(float(data[0]), float(data[0]))
    return _percentile_interval(_resample(data))


def _percentile_interval(draws: Floats) -> ConfidenceInterval:
    low, high = np.quantile(draws, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return ConfidenceInterval(float(low), float(high))


def _resample(data: Floats) -> Floats:
    """The means of bootstrap resamples; many equal values are drawn together, as counts."""
    rng = np.random.default_rng(SEED)
    draws = _draws(RESAMPLES, data.size)
    if data.size >= MANY:
        kinds, counts = np.unique(data, return_counts=True)
        if kinds.size <= FEW_KINDS:
            counts_drawn = rng.multinomial(data.size, counts / data.size, size=draws)
            return np.asarray(counts_drawn @ kinds / data.size)
    return np.concatenate(
        [
            # Half as wide as the default, and the same numbers.
            data[rng.integers(0, data.size, size=(rows, data.size), dtype=np.int32)].mean(axis=1)
            for rows in _chunks(draws, data.size)
        ]
    )


def sign_flip(differences: Sequence[float]) -> PermutationTest:
    """A sign-flip test: how often random signs give a mean at least as far from zero.

    Exact up to `EXACT_PAIRS` non-zero differences, seeded Monte-Carlo beyond, where the observed
    assignment counts as one of the draws, so that p is never 0.
    """
    data = np.asarray(differences, dtype=np.float64)
    sizes = np.abs(data[data != 0.0])
    if not sizes.size:
        return PermutationTest(1.0, 0, exact=True)
    bar = abs(float(data.sum())) - TIE * float(sizes.sum())
    if sizes.size <= EXACT_PAIRS:
        sums = np.zeros(1)
        for size in sizes:
            sums = np.concatenate([sums + size, sums - size])
        return PermutationTest(float(np.mean(np.abs(sums) >= bar)), int(sizes.size), exact=True)
    hits, draws = _flip_hits(sizes, bar)
    return PermutationTest((hits + 1) / (draws + 1), int(sizes.size), exact=False)


def _flip_hits(sizes: Floats, bar: float) -> tuple[int, int]:
    """How many random assignments of signs reach `bar`, and how many were drawn."""
    magnitudes, counts = np.unique(sizes, return_counts=True)
    draws = _draws(PERMUTATIONS, magnitudes.size)
    rng = np.random.default_rng(SEED)
    hits = 0
    for rows in _chunks(draws, magnitudes.size):
        flipped = rng.binomial(counts, 0.5, size=(rows, magnitudes.size))
        sums = (counts - 2 * flipped) @ magnitudes
        hits += int(np.count_nonzero(np.abs(sums) >= bar))
    return hits, draws


def rate_interval(values: Sequence[float]) -> ConfidenceInterval | None:
    """The interval of the mean of rates per task; the bootstrap draws tasks, not attempts.

    Where every task passes always, or none ever, nothing varies that could be drawn: then it is
    the exact interval (Clopper and Pearson's) of so many tasks. `None` without any.
    """
    n = len(values)
    bound = ((1 - LEVEL) / 2) ** (1 / n) if n else 0.0
    if n and all(value == 1.0 for value in values):
        return ConfidenceInterval(bound, 1.0)
    if n and not any(values):
        return ConfidenceInterval(0.0, 1.0 - bound)
    return bootstrap_mean(values)


def mcnemar(gained: int, lost: int) -> McNemarTest:
    """McNemar's two-sided exact test on the numbers of gained and lost tasks."""
    n = gained + lost
    term, tail = 1, 1
    for i in range(min(gained, lost)):
        term = term * (n - i) // (i + 1)
        tail += term
    # Integers of thousands of digits do not fit a float, their quotient does.
    share = 2 * tail / 2**n if n < LARGEST_EXACT else float((tail << 64) >> (n - 1)) / 2.0**64
    return McNemarTest(gained, lost, 1.0 if gained == lost else min(1.0, share))


def cohen_kappa(table: Sequence[float]) -> float | None:
    """Cohen's kappa, the agreement of two raters beyond chance: 1 is perfect, 0 is chance.

    `table` is how often both say yes, only the first, only the second, both no. `None` where
    chance alone would have them agree always: both say the same one thing of everything.
    """
    (kappa,) = _kappas(np.asarray([table], dtype=np.float64))
    return None if np.isnan(kappa) else float(kappa)


def kappa_interval(tables: Sequence[Sequence[float]]) -> ConfidenceInterval | None:
    """The bootstrap interval of kappa, from one table for each task.

    Where the raters never differ nothing varies that could be drawn: then its lower end is where
    kappa would be at the lower end of the exact interval of their agreement. `None` below two
    tasks, and where kappa has no value, of the whole or of most draws.
    """
    data = np.asarray(tables, dtype=np.float64).reshape(-1, 4)
    n, total = len(data), data.sum(axis=0)
    if n < 2 or cohen_kappa(total.tolist()) is None:
        return None
    if not total[1:3].any():
        share = float(total[0] / total.sum())
        chance = share**2 + (1 - share) ** 2
        agreement = ((1 - LEVEL) / 2) ** (1 / n)
        return ConfidenceInterval((agreement - chance) / (1 - chance), 1.0)
    rng = np.random.default_rng(SEED)
    # Equal tables are drawn together, as counts.
    kinds, counts = np.unique(data, axis=0, return_counts=True)
    draws = _draws(RESAMPLES, len(kinds))
    chunks = _chunks(draws, len(kinds))
    drawn = (rng.multinomial(n, counts / n, size=rows) @ kinds for rows in chunks)
    kappas = np.concatenate(list(map(_kappas, drawn)))
    kappas = kappas[~np.isnan(kappas)]
    return None if kappas.size < draws / 2 else _percentile_interval(kappas)


def _kappas(tables: Floats) -> Floats:
    """Cohen's kappa of each row; NaN if kappa is undefined."""
    both, first, second, neither = tables.T
    n = both + first + second + neither
    with np.errstate(divide="ignore", invalid="ignore"):
        observed = (both + neither) / n
        chance = ((both + first) * (both + second) + (neither + first) * (neither + second)) / n**2
        return np.asarray(np.where(chance >= 1 - TIE, np.nan, (observed - chance) / (1 - chance)))


def best_p(n: int) -> float:
    """The smallest p-value that a two-sided sign-flip test of n pairs can give."""
    return min(1.0, 2.0 ** (1 - n)) if n < 1000 else 0.0


def detectable(differences: Sequence[float]) -> float | None:
    """The mean change that these differences can show with `POWER`; `None` without a spread."""
    if len(differences) < 2:
        return None
    spread = float(np.std(np.asarray(differences, dtype=np.float64), ddof=1))
    return detectable_change(spread, len(differences)) if spread else None


def detectable_change(spread: float, n: int) -> float:
    """The mean change that n pairs detect, given the standard deviation of the differences."""
    return _REACH * spread / sqrt(n)


def needed_pairs(spread: float, change: float) -> int:
    """The number of pairs that detect a change of the mean, with power `POWER`."""
    return ceil((_REACH * spread / change) ** 2)


def needed_repeats(spread: float, within: float, n: int, change: float) -> int | None:
    """The number of repeats of n pairs that detect a change of the mean, or `None`.

    `spread` is the standard deviation of the pairs' differences that repeats do not narrow, and
    `within` that of a single repeat's difference around its pair's. `None` where no number is
    enough.
    """
    room = n * (change / _REACH) ** 2 - spread**2
    return max(1, ceil(within**2 / room)) if room > 0 else None


def one_sided_sign(fewer: int, more: int) -> float:
    """The one-sided p-value of a sign test with `fewer` and `more` counts."""
    return mcnemar(more, fewer).p / 2 if more > fewer else 1.0


def holm(ps: Sequence[float]) -> list[float]:
    """The p-values after Holm's correction for several tests, in the same order."""
    order = sorted(range(len(ps)), key=lambda i: ps[i])
    adjusted = [0.0] * len(ps)
    highest = 0.0
    for rank, i in enumerate(order):
        highest = max(highest, min(1.0, ps[i] * (len(ps) - rank)))
        adjusted[i] = highest
    return adjusted


def tail_binomial(least: int, n: int, chance: float) -> float:
    """The binomial probability of at least `least` successes in `n` trials."""
    if least <= 0:
        return 1.0
    if n < LARGEST_EXACT:
        return sum(comb(n, k) * chance**k * (1 - chance) ** (n - k) for k in range(least, n + 1))
    # By logarithms: of thousands of tries the terms do not fit a float, their product does.
    logs = (
        lgamma(n + 1)
        - lgamma(k + 1)
        - lgamma(n - k + 1)
        + k * log(chance)
        + (n - k) * log1p(-chance)
        for k in range(least, n + 1)
    )
    return min(1.0, fsum(map(exp, logs)))


def _draws(most: int, width: int) -> int:
    return min(most, max(FEWEST_DRAWS, CELLS // max(width, 1)))


def _chunks(rows: int, width: int) -> list[int]:
    """Divide the rows into chunks of bounded memory; return the size of each chunk."""
    most = max(1, CHUNK_CELLS // max(width, 1))
    whole, rest = divmod(rows, most)
    return [most] * whole + [rest] * bool(rest)
