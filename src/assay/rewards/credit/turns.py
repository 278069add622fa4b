"""The turns of many episodes, as columns."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import BadInput
from assay.schema.episode import NO_FAULT_OF_THE_AGENT, Episode, Step
from assay.schema.evidence import PageEvidence, WorldEvidence

Numbers: TypeAlias = npt.NDArray[Any]
"""Floats, or exact fractions as objects: the arithmetic is the same."""
Indices: TypeAlias = npt.NDArray[np.int64]
FULL_MARKS: Mapping[str, float] = {"scienceworld": 100.0}
"""The environments whose own score does not end at 1."""


@dataclass(frozen=True, slots=True)
class EpisodeTurns:
    """One episode: what it earned, and for each of its turns where the agent stood before it."""

    group: Hashable
    """Episodes with the same group began in the same state: the same task and seed."""
    outcome: float
    states: Sequence[Hashable]
    """The identity of the state before each turn, the first one's included."""
    progress: Sequence[float] = ()
    """How much of the task was done before each turn; empty where nobody knows."""


@dataclass(frozen=True, slots=True)
class Turns:
    """Turns of many episodes, each episode's together and in order."""

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
        """The columns of these episodes; `exact` keeps fractions as they are.

        Raises `BadInput` for an episode without turns, or with a number that is not finite.
        """
        rows = list(episodes)
        for number, row in enumerate(rows):
            _check(row, number)
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
    """The turns of recorded episodes, in their order, grouped as recorded, or else by task.

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
    """The identity of the state after a step: the page's digests, or the text that was shown."""
    evidence = step.evidence
    if isinstance(evidence, PageEvidence):
        return evidence.url, evidence.dom, evidence.text, evidence.dialog
    return step.observation or step.index


def progress_of(step: Step) -> float | None:
    """The share of the task that the environment reports as done after a step, from 0 to 1."""
    evidence = step.evidence
    if not isinstance(evidence, WorldEvidence):
        return None
    share: Any = evidence.progress.get("goal_conditions")
    if share is None and evidence.score is not None:
        share = evidence.score / FULL_MARKS.get(evidence.world, 1.0)
    if share is None and not evidence.done:
        share = 0.0
    return None if share is None else min(1.0, max(0.0, float(share)))


def _check(row: EpisodeTurns, number: int) -> None:
    if not row.states:
        raise BadInput(f"episode {number} has no turn; leave out what ended before it began")
    if row.progress and len(row.progress) != len(row.states):
        raise BadInput(
            f"episode {number} has {len(row.states)} states and {len(row.progress)} values of "
            "progress; give one for each turn, or none"
        )
    if not all(map(isfinite, (row.outcome, *row.progress))):
        raise BadInput(f"episode {number} has a number that is not finite")
