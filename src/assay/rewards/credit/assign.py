"""Compute the reward, the return and the advantage of each turn of many episodes.

A turn's return is what the episode earned from that turn on. Its advantage is the return minus a
baseline. A baseline that reads only *other* episodes of the group, and the state before the turn,
leaves the expected policy gradient as it is; the others are here because trainers use them, and
`BASELINES` says what each does to the gradient.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import BadInput, BadParameter, check_choice
from assay.schema.episode import NO_FAULT_OF_THE_AGENT, Episode, Step
from assay.schema.evidence import PageEvidence, WorldEvidence

Numbers: TypeAlias = npt.NDArray[Any]
"""Floats, or exact fractions as objects: the arithmetic is the same."""
Indices: TypeAlias = npt.NDArray[np.int64]
FULL_MARKS: Mapping[str, float] = {"scienceworld": 100.0}
"""The environments whose own score does not end at 1."""
METHODS: Mapping[str, str] = {
    "outcome": "the outcome, paid at the last turn",
    "potential": "differences of progress, which add up to the outcome",
}
BASELINES: Mapping[str, str] = {
    "none": "unbiased; the widest spread",
    "leave_one_out": "unbiased: the mean of the group's other episodes, 0 for one alone",
    "anchor_state": "unbiased: the mean of other episodes' turns in the same state, and where "
    "there are none leave_one_out",
    "group_mean": "scaled by (n-1)/n: the mean of the group, the episode itself included",
    "group_std": "biased: group_mean, divided by the standard deviation of the group's turns",
    "turn_index": "biased by length: the mean of the turns with the same number, of those episodes "
    "that come so far",
}
EPSILON = 1e-6
"""Added to a standard deviation, as trainers do."""


@dataclass(frozen=True, slots=True)
class EpisodeTurns:
    """The outcome of one episode, and the state of its environment before each turn."""

    group: Hashable
    """Episodes with the same group began in the same state: the same task and seed."""
    outcome: float
    states: Sequence[Hashable]
    """The identity of the state before each turn, the first one's included."""
    progress: Sequence[float] = ()
    """How much of the task was done before each turn; empty where that is not known."""

    def check(self, number: int) -> None:
        """Raise `BadInput` if the episode has no turns, or a number that is not finite."""
        if not self.states:
            raise BadInput(f"episode {number} has no turns; remove episodes without turns")
        if self.progress and len(self.progress) != len(self.states):
            raise BadInput(
                f"episode {number} has {len(self.states)} states and {len(self.progress)} values "
                "of progress; give one value for each turn, or no values"
            )
        if not all(map(isfinite, (self.outcome, *self.progress))):
            raise BadInput(f"episode {number} has a number that is not finite")


@dataclass(frozen=True, slots=True)
class Turns:
    """The turns of many episodes as columns, sorted by episode and then by turn number."""

    lengths: Indices
    """Turns of each episode."""
    groups: Indices
    """The group of each episode, as a number from 0."""
    outcomes: Numbers
    states: Indices
    """The state before each turn, as a number; equal numbers are equal states of one group."""
    progress: Numbers | None
    """The progress before each turn, or `None` if an episode has none."""

    @property
    def n_groups(self) -> int:
        return int(self.groups.max()) + 1 if len(self.groups) else 0

    @classmethod
    def of(cls, episodes: Iterable[EpisodeTurns], *, exact: bool = False) -> Turns:
        """The turns of these episodes as columns; `exact` keeps fractions. Raises `BadInput`."""
        rows = list(episodes)
        for number, row in enumerate(rows):
            row.check(number)
        known = all(row.progress for row in rows)
        kind: Any = object if exact else np.float64
        groups: dict[Hashable, int] = {}
        states: dict[Hashable, int] = {}
        numbers = [groups.setdefault(row.group, len(groups)) for row in rows]
        return cls(
            lengths=np.array([len(row.states) for row in rows], dtype=np.int64),
            groups=np.array(numbers, dtype=np.int64),
            outcomes=np.array([row.outcome for row in rows], dtype=kind),
            states=np.array(
                [
                    states.setdefault((number, state), len(states))
                    for number, row in zip(numbers, rows, strict=True)
                    for state in row.states
                ],
                dtype=np.int64,
            ),
            progress=np.array([value for row in rows for value in row.progress], dtype=kind)
            if known
            else None,
        )


def turns_of(
    episodes: Iterable[Episode],
    outcome: Callable[[Episode], float | None],
    *,
    progress: Callable[[Step], float | None] | None = None,
) -> list[EpisodeTurns]:
    """Return the turns of each recorded episode, grouped by its recorded group or by its task.

    An episode that says nothing of the agent, one without steps, and one whose `outcome` is `None`
    are left out. `progress` reads it from a step; by default it is what the environment reports.
    """
    read = progress_of if progress is None else progress
    rows = []
    for episode in episodes:
        value = outcome(episode)
        steps = episode.trajectory.steps
        turns = [step for step in steps if step.index > 0]
        if value is None or not turns or episode.stop_reason in NO_FAULT_OF_THE_AGENT:
            continue
        begin = [step for step in steps if step.index == 0]
        before = [*begin, *turns[:-1]] if begin else [None, *turns[:-1]]
        levels = [None if step is None else read(step) for step in before]
        known = [level for level in levels if level is not None]
        group = episode.metadata.get("group")
        rows.append(
            EpisodeTurns(
                group=group if isinstance(group, str) else episode.task.id,
                outcome=value,
                states=[None if step is None else state_of(step) for step in before],
                progress=known if len(known) == len(levels) else (),
            )
        )
    return rows


def state_of(step: Step) -> Hashable:
    """An identity of the state after a step: the page's digests, or the observation's text."""
    evidence = step.evidence
    if isinstance(evidence, PageEvidence):
        return evidence.url, evidence.dom, evidence.text, evidence.dialog
    return step.observation or step.index


def progress_of(step: Step) -> float | None:
    """The share of the task that is done after a step, from 0 to 1, as the environment reports."""
    evidence = step.evidence
    if not isinstance(evidence, WorldEvidence):
        return None
    share: Any = evidence.progress.get("goal_conditions")
    if share is None and evidence.score is not None:
        share = evidence.score / FULL_MARKS.get(evidence.world, 1.0)
    if share is None and not evidence.done:
        share = 0.0
    return None if share is None else min(1.0, max(0.0, float(share)))


@dataclass(frozen=True, slots=True)
class Credit:
    """The reward, the return and the advantage of each turn, in order."""

    rewards: Numbers
    """What the turn itself earned; an episode's rewards add up to its outcome."""
    returns: Numbers
    """What was earned from the turn on."""
    advantages: Numbers

    def by_episode(self, turns: Turns) -> list[Credit]:
        """Split the credit of all turns into one record for each episode."""
        cuts = np.cumsum(turns.lengths)[:-1]
        columns = (np.split(each, cuts) for each in (self.rewards, self.returns, self.advantages))
        return [Credit(*parts) for parts in zip(*columns, strict=True)]


def assign(
    turns: Turns, *, method: str = "outcome", baseline: str = "leave_one_out", decay: float = 1.0
) -> Credit:
    """Compute the reward, the return and the advantage of each turn.

    With `method="potential"` the potential is the progress since the start of the episode, and the
    outcome at its end. `decay` weakens later rewards in a return: at 1 the gradient is unbiased,
    below 1 it trades bias for spread and is right only as far as progress predicts the outcome.
    Raises `BadParameter` for an unknown name, a decay that is none, or progress that is missing.
    """
    check_choice("method", method, METHODS)
    check_choice("baseline", baseline, BASELINES)
    if isinstance(decay, bool) or not 0.0 <= decay <= 1.0:
        raise BadParameter(f"decay is {decay!r}; choose a number from 0 to 1")
    if method == "potential" and turns.progress is None:
        raise BadParameter("method 'potential' needs the progress before every turn")
    place = _Places.of(turns)
    rewards = _rewards(turns, place, method)
    returns = _returns(turns, place, rewards, decay)
    if baseline == "group_std":
        return Credit(rewards, returns, _standardised(turns, place, returns))
    return Credit(rewards, returns, returns - _baseline(turns, place, returns, baseline))


@dataclass(frozen=True, slots=True)
class _Places:
    """Where each turn stands."""

    first: Indices
    """The first turn of each episode."""
    last: Indices
    episode: Indices
    """The episode of each turn."""
    number: Indices
    """The place of each turn in its episode, from 0."""

    @classmethod
    def of(cls, turns: Turns) -> _Places:
        last = np.cumsum(turns.lengths) - 1
        first = last - turns.lengths + 1
        episode = np.repeat(np.arange(len(turns.lengths)), turns.lengths)
        return cls(first, last, episode, np.arange(len(episode)) - first[episode])


def _rewards(turns: Turns, place: _Places, method: str) -> Numbers:
    # The potential before each turn: 0 at the start of every episode.
    before: Numbers = np.zeros(len(place.episode), dtype=np.int64).astype(turns.outcomes.dtype)
    if method == "potential" and turns.progress is not None:
        before = turns.progress - turns.progress[place.first][place.episode]
    after = np.empty_like(before)
    after[:-1] = before[1:]
    after[place.last] = turns.outcomes
    rewards: Numbers = after - before
    return rewards


def _returns(turns: Turns, place: _Places, rewards: Numbers, decay: float) -> Numbers:
    returns = rewards.copy()
    if not len(returns):
        return returns
    # From the end of all episodes at once, as many rounds as the longest one has turns.
    back = turns.lengths[place.episode] - 1 - place.number
    order = np.argsort(back, kind="stable")
    cuts = np.cumsum(np.bincount(back))
    for low, high in pairwise(cuts):
        here = order[low:high]
        later = returns[here + 1]
        returns[here] += later if decay == 1 else decay * later
    return returns


def _baseline(turns: Turns, place: _Places, returns: Numbers, kind: str) -> Numbers:
    if kind == "none":
        return returns * 0
    if kind == "turn_index":
        return _mean_at_index(turns, place, returns)
    means = _sums(place.episode, returns, len(turns.lengths)) / turns.lengths
    sizes = np.bincount(turns.groups, minlength=turns.n_groups)
    totals = _sums(turns.groups, means, turns.n_groups)
    if kind == "group_mean":
        whole: Numbers = (totals / sizes)[turns.groups][place.episode]
        return whole
    others = np.maximum(sizes - 1, 1)[turns.groups]
    alone: Numbers = ((totals[turns.groups] - means) / others)[place.episode]
    return _mean_at_state(turns, place, returns, alone) if kind == "anchor_state" else alone


def _mean_at_state(turns: Turns, place: _Places, returns: Numbers, alone: Numbers) -> Numbers:
    """The mean return of the same state in other episodes; `alone` if no other episode has it."""
    states = int(turns.states.max()) + 1 if len(turns.states) else 0
    own_kind = turns.states * len(turns.lengths) + place.episode
    _, own = np.unique(own_kind, return_inverse=True)
    pairs = int(own.max()) + 1 if len(own) else 0
    counts = np.bincount(turns.states, minlength=states)[turns.states]
    own_counts = np.bincount(own, minlength=pairs)[own]
    sums = _sums(turns.states, returns, states)[turns.states] - _sums(own, returns, pairs)[own]
    others = counts - own_counts
    return np.where(others > 0, sums / np.maximum(others, 1), alone)


def _mean_at_index(turns: Turns, place: _Places, returns: Numbers) -> Numbers:
    width = int(turns.lengths.max()) if len(turns.lengths) else 1
    cell = turns.groups[place.episode] * width + place.number
    n = turns.n_groups * width
    counts = np.maximum(np.bincount(cell, minlength=n), 1)
    means: Numbers = (_sums(cell, returns, n) / counts)[cell]
    return means


def _standardised(turns: Turns, place: _Places, returns: Numbers) -> Numbers:
    group = turns.groups[place.episode]
    gaps = (returns - _baseline(turns, place, returns, "group_mean")).astype(np.float64)
    sizes = np.bincount(group, minlength=turns.n_groups)
    squares = _sums(group, gaps**2, turns.n_groups)
    spread = np.sqrt(squares / np.maximum(sizes - 1, 1)) + EPSILON
    scaled: Numbers = gaps / spread[group]
    return scaled


def _sums(index: Indices, values: Numbers, n: int) -> Numbers:
    if values.dtype != object:
        return np.bincount(index, weights=values, minlength=n)
    sums: Numbers = np.zeros(n, dtype=np.int64).astype(object)
    np.add.at(sums, index, values)
    return sums
