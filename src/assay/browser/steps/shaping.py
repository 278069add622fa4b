"""Step rewards that may be summed: the differences of a potential.

F = gamma x potential(after) - potential(before), where the potential is the share of the contract
that holds. With the trainer's own gamma this leaves the best policies the best ones (Ng, Harada and
Russell, 1999). It is neither clipped nor rounded, which would break that.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Final, NamedTuple

from assay.browser.steps.contracts import ContractProgress
from assay.errors import BadParameter
from assay.schema.step_score import StepScore

_PATIENCE: Final = 5


@dataclass(frozen=True, slots=True)
class Shaping:
    """Potential-based shaping for a trainer that discounts with `gamma`."""

    gamma: float

    def __post_init__(self) -> None:
        if not isfinite(self.gamma) or not 0.0 <= self.gamma <= 1.0:
            raise BadParameter(f"gamma is {self.gamma!r}; a discount must lie between 0 and 1")

    def reward(
        self,
        before: ContractProgress | float,
        after: ContractProgress | float,
        *,
        terminal: bool = False,
    ) -> float:
        """The shaping reward of a step; at a terminal state, the later potential counts as 0."""
        return self.gamma * (0.0 if terminal else _potential(after)) - _potential(before)


def _potential(progress: ContractProgress | float) -> float:
    value = progress.value if isinstance(progress, ContractProgress) else progress
    if not 0.0 <= value <= 1.0:
        raise BadParameter(f"a potential must lie between 0 and 1, not {value!r}")
    return value


class StepCost(NamedTuple):
    """The costs of a step, from 0 to 1, for constraints or filters, not for subtraction."""

    gate: float = 0.0
    """1 for a destructive or transactional action without its gate."""
    repeat: float = 0.0
    """Rises with each repetition of a call in the same state, or of a failed call, up to five."""


def step_cost(score: StepScore) -> StepCost:
    """Read the costs of a step from its score."""
    codes = ("repeated_call", "repeated_failure")
    again = max((reason.n for reason in score.reasons if reason.code in codes), default=0)
    ungated = score.classification == "destructive_ungated"
    return StepCost(float(ungated), min(again, _PATIENCE) / _PATIENCE)
