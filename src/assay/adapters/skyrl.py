"""A single-turn environment for SkyRL whose reward is an Assay reward.

    skyrl_gym.register(id="assay", entry_point="assay.adapters.skyrl:RewardEnv",
                       kwargs={"reward": "math_equal_reward"})
    environment.env_class=assay

SkyRL's configuration knows only its own environments, so the reward is chosen where the environment
is registered: in the function that SkyRL runs as its entry point.

Abstained: the mean of the latest rewards of the same row, or the number that `abstained` names; the
metric `abstained` is 1.0. With `abstained=None` it raises, which ends the training.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.adapters.binding import MAX_ABSTAINED, Binding, Reward, StandIn, bind, import_library
from assay.errors import BadParameter
from assay.schema.message import field_of
from assay.schema.score import Score

BaseTextEnv: Any = import_library("skyrl_gym.envs.base_text_env", package="skyrl-gym").BaseTextEnv


class RewardEnv(BaseTextEnv):  # type: ignore[misc]  # SkyRL is no dependency, so it has no types
    """A SkyRL environment in which the model answers once and a reward scores the answer.

    `extras` is the row of the data set; the reward's `answer` is `reward_spec.ground_truth` there,
    or `reward_model.ground_truth` in older sets. The options after it come from the registration;
    `env_config` is SkyRL's own, which may name the reward too in a version that lets it.
    """

    def __init__(
        self,
        env_config: Any = None,
        extras: Mapping[str, Any] | None = None,
        *,
        reward: Reward | None = None,
        params: Mapping[str, Any] | None = None,
        columns: Mapping[str, str] | None = None,
        abstained: StandIn = "mean",
        max_abstained: int | None = MAX_ABSTAINED,
    ) -> None:
        super().__init__()
        which = reward if reward is not None else field_of(env_config, "reward")
        if which is None:
            raise BadParameter(
                "no reward was chosen; register the environment with "
                "kwargs={'reward': 'math_equal_reward'}"
            )
        params = params or field_of(env_config, "params")
        columns = columns or field_of(env_config, "columns")
        self._binding: Binding = bind(which, params, columns, abstained, max_abstained)
        self._extras = dict(extras or {})
        self._score: Score | None = None

    def step(self, action: str) -> dict[str, Any]:
        """Score the action, and return SkyRL's step output; the episode then ends."""
        self.turns += 1
        row = self._row(action)
        self._score = self._binding.score(row)
        return {
            "observations": [],
            "reward": self._binding.number(self._score, row),
            "done": True,
            "metadata": {"because": self._score.because, "scorer": self._score.scorer},
            "postprocessed_action": None,
        }

    def get_metrics(self) -> dict[str, Any]:
        """The numeric parts and `abstained`, for SkyRL to average; empty before a score."""
        score = self._score
        if score is None:
            return {}
        parts = {part: score.parts[part] for part in self._binding.parts}
        numbers = {name: number for name, number in parts.items() if number is not None}
        return {**numbers, "abstained": float(score.abstained)}

    def _row(self, action: str) -> dict[str, Any]:
        answer: Any = None
        for key in ("reward_model", "reward_spec"):
            truth = field_of(self._extras.get(key), "ground_truth")
            answer = answer if truth is None else truth
        return {**self._extras, "answer": answer, "final_response": action}
