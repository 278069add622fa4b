"""What each way to assign credit does to the policy gradient, exactly; and how fast it is.

    python perf/credit.py [--turns 1000000] [--episodes 10000]

The first table enumerates every group of three episodes of a small decision process (a corridor
with a fork, where a wrong turn can be taken back and episodes differ in length) and adds up the
estimated gradient over all of them in rationals: what is left after the true gradient is bias. The
second table says how many turns a second are assigned. Exit code 1 if an estimator that is
called unbiased is not, if rewards do not add up to the outcome, or below 100,000 turns/s.
"""

from __future__ import annotations

import argparse
import itertools
import random
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from assay.rewards.credit import BASELINES, METHODS, EpisodeTurns, Turns, assign

FEWEST_TURNS_A_SECOND = 100_000
GROUP = 3
MOST_TURNS = 4
Choice: TypeAlias = tuple[str, str]
Gradient: TypeAlias = dict[Choice, Fraction]

# state: action: (probability, next state); a state without actions ends the episode.
PROCESS: dict[str, dict[str, tuple[Fraction, str]]] = {
    "door": {"left": (Fraction(2, 5), "trap"), "right": (Fraction(3, 5), "hall")},
    "trap": {"back": (Fraction(1, 2), "door"), "wait": (Fraction(1, 2), "lost")},
    "hall": {"open": (Fraction(2, 3), "goal"), "rest": (Fraction(1, 3), "hall")},
}
PAY = {"goal": Fraction(1), "lost": Fraction(0)}
OUT_OF_TURNS = Fraction(1, 4)
PROGRESS = {"door": Fraction(0), "trap": Fraction(0), "hall": Fraction(1, 2)}


@dataclass(frozen=True, slots=True)
class Path:
    """One possible episode, and how likely it is."""

    choices: tuple[Choice, ...]
    outcome: Fraction
    chance: Fraction

    @property
    def turns(self) -> EpisodeTurns:
        states = [state for state, _ in self.choices]
        progress = [PROGRESS[state] for state in states]
        return EpisodeTurns("task", self.outcome, states, progress)  # type: ignore[arg-type]


def paths() -> Iterator[Path]:
    """Every episode that the process can have."""

    def go(state: str, choices: tuple[Choice, ...], chance: Fraction) -> Iterator[Path]:
        if state not in PROCESS or len(choices) == MOST_TURNS:
            yield Path(choices, PAY.get(state, OUT_OF_TURNS), chance)
            return
        for action, (probability, after) in PROCESS[state].items():
            yield from go(after, (*choices, (state, action)), chance * probability)

    yield from go("door", (), Fraction(1))


def score_function(choice: Choice) -> Gradient:
    """The gradient of the logarithm of a choice's probability, for a softmax in each state."""
    state, chosen = choice
    return {
        (state, action): Fraction(action == chosen) - probability
        for action, (probability, _) in PROCESS[state].items()
    }


def true_gradient() -> Gradient:
    gradient = _zero()
    for path in paths():
        for choice in path.choices:
            _add(gradient, score_function(choice), path.chance * path.outcome)
    return gradient


def expected_gradient(method: str, baseline: str) -> Gradient:
    """What the estimator gives in the mean over every possible group of episodes."""
    gradient = _zero()
    for group in itertools.product(tuple(paths()), repeat=GROUP):
        chance = Fraction(1)
        for path in group:
            chance *= path.chance
        turns = Turns.of((path.turns for path in group), exact=True)
        credit = assign(turns, method=method, baseline=baseline)
        choices = [choice for path in group for choice in path.choices]
        for choice, advantage in zip(choices, credit.advantages, strict=True):
            _add(gradient, score_function(choice), chance * Fraction(advantage) / GROUP)
    return gradient


def bias(method: str, baseline: str) -> tuple[Fraction, float]:
    """The largest error of a component, and the cosine between estimated and true gradient."""
    true, estimate = true_gradient(), expected_gradient(method, baseline)
    worst = max(abs(estimate[key] - true[key]) for key in true)
    products = [
        float(sum(a[key] * b[key] for key in true))
        for a, b in ((true, estimate), (true, true), (estimate, estimate))
    ]
    return worst, float(products[0] / (products[1] * products[2]) ** 0.5)


def _zero() -> Gradient:
    return {
        (state, action): Fraction(0) for state, actions in PROCESS.items() for action in actions
    }


def _add(gradient: Gradient, part: Gradient, factor: Fraction) -> None:
    for key, value in part.items():
        gradient[key] += factor * value


def drawn_episodes(count: int, seed: int, *, exact: bool) -> Iterator[EpisodeTurns]:
    """Made-up episodes of one to forty turns, in groups of eight."""
    rng = random.Random(seed)
    for number in range(count):
        n = rng.randint(1, 40)
        levels = sorted(Fraction(rng.randint(0, 12), 12) for _ in range(n))
        states = [0, *(rng.randrange(60) for _ in range(n - 1))]
        outcome = Fraction(rng.randint(0, 4), 4)
        progress = levels if exact else list(map(float, levels))
        yield EpisodeTurns(number // 8, outcome if exact else float(outcome), states, progress)  # type: ignore[arg-type]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--turns", type=int, default=1_000_000)
    parser.add_argument("--episodes", type=int, default=10_000)
    options = parser.parse_args()
    problems = []
    print("| turn rewards | baseline | largest bias | cosine with the true gradient |")
    print("|---|---|---|---|")
    for method, baseline in itertools.product(METHODS, BASELINES):
        worst, cosine = bias(method, baseline)
        print(f"| {method} | {baseline} | {float(worst):.3g} | {cosine:.6f} |", flush=True)
        if BASELINES[baseline].startswith("unbiased") and worst != 0:
            problems.append(f"{method} with {baseline} is biased by {worst}")
    turns = Turns.of(drawn_episodes(options.episodes, 1, exact=True), exact=True)
    sums = assign(turns, method="potential").by_episode(turns)
    unequal = sum(
        sum(credit.rewards) != outcome for credit, outcome in zip(sums, turns.outcomes, strict=True)
    )
    print(f"\n{options.episodes:,} episodes: rewards of {unequal} do not add up to the outcome")
    if unequal:
        problems.append(f"rewards of {unequal} episodes do not add up")
    problems += _speed(options.turns)
    for problem in problems:
        print(f"VIOLATION: {problem}")
    return 1 if problems else 0


def _speed(count: int) -> list[str]:
    turns = Turns.of(drawn_episodes(count // 20, 2, exact=False))
    n = int(turns.lengths.sum())
    problems = []
    print("\n| turn rewards | baseline | turns/s |\n|---|---|---|")
    for method, baseline in itertools.product(METHODS, BASELINES):
        begin = time.process_time()
        assign(turns, method=method, baseline=baseline)
        rate = n / (time.process_time() - begin)
        print(f"| {method} | {baseline} | {rate:,.0f} |")
        if rate < FEWEST_TURNS_A_SECOND:
            problems.append(f"{method} with {baseline} assigns {rate:,.0f} turns/s")
    return problems


if __name__ == "__main__":
    sys.exit(main())
