"""Where an agent stands: running, stuck, blocked, recovered or done, from the history alone.

It reads the latest fifteen steps, so asking costs the same after ten steps and after ten thousand.
An agent is stuck when it makes the same call in the same state for the third time within fifteen
steps, or when eight steps in a row led to nothing that was not known.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple, TypeAlias

from assay.browser.steps.history import StepHistory, barren_steps

State: TypeAlias = Literal["running", "stuck", "blocked", "recovered", "done"]

REPEATS: Final = 3
"""The same call in the same state among the latest ones, this often."""
BARREN: Final = 8
"""Steps in a row that led to nothing new."""


class AgentStatus(NamedTuple):
    """Where an agent stands after its latest step, and since when."""

    state: State
    since: int
    """The step, counted from 1, at which this began; 0 before the first one."""
    because: str
    cycle: int | None = None
    """After how many steps a stuck agent is back at the same call; `None` without a cycle."""


def status(history: StepHistory) -> AgentStatus:
    """Where the agent of this history stands."""
    if history.phase == "done":
        return AgentStatus("done", history.since, "the outcome contract passed")
    if history.phase == "blocked":
        return AgentStatus("blocked", history.since, "something stands in the agent's way")
    stuck = _loop(history) or _standstill(history)
    if stuck is not None:
        return stuck
    if history.phase == "recovered":
        return AgentStatus("recovered", history.since, "what had failed before was achieved")
    return AgentStatus("running", history.since, "the latest steps led to something new")


def _loop(history: StepHistory) -> AgentStatus | None:
    latest = history.latest
    if not latest or latest[-1].fresh:
        return None
    places = [at for at, step in enumerate(latest) if step.call == latest[-1].call]
    if len(places) < REPEATS:
        return None
    since = history.steps - len(latest) + places[0] + 1
    because = f"the same call was made {len(places)} times in the same state"
    return AgentStatus("stuck", since, because, places[-1] - places[-2])


def _standstill(history: StepHistory) -> AgentStatus | None:
    barren = barren_steps(history.latest)
    if barren < BARREN:
        return None
    because = f"the latest {barren} steps led to nothing new"
    return AgentStatus("stuck", history.steps - barren + 1, because)
