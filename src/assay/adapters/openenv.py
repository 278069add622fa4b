"""Use any Assay reward as a `Rubric` of an OpenEnv environment.

    self.rubric = openenv.RewardRubric("math_equal_reward", final_response="action.message",
                                       answer="observation.metadata.answer")

Abstained: `None`, which an OpenEnv observation knows as "no reward". OpenEnv's sums and gates fail
over it; inside one, choose a number with `abstained`, or `"mean"` for that of the latest rewards.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.adapters.binding import Binding, Reward, StandIn, bind, import_library
from assay.schema.score import Score

Rubric: Any = import_library("openenv.core.rubrics.base", package="openenv-core").Rubric


class RewardRubric(Rubric):  # type: ignore[misc]  # OpenEnv is no dependency, so it has no types
    """An OpenEnv rubric that scores an action and its observation with a reward.

    The columns are dotted paths into the two; `last_result` is the score behind the last number.
    """

    def __init__(
        self,
        which: Reward,
        /,
        *,
        params: Mapping[str, Any] | None = None,
        abstained: StandIn = None,
        **columns: str,
    ) -> None:
        super().__init__()
        self._binding: Binding = bind(which, params, columns, abstained)
        self.last_result: Score | None = None

    def forward(self, action: Any, observation: Any) -> float | None:
        sample = {"action": action, "observation": observation}
        self.last_result = self._binding.score(sample)
        if self.last_result.abstained and self._binding.abstained is None:
            return None
        return self._binding.number(self.last_result, sample)

    def state_dict(self) -> dict[str, Any]:
        """The name and the options of the reward, for a checkpoint."""
        scorer = self._binding.scorer
        return {"scorer": scorer.spec.id, "params": dict(scorer.params)}
