"""SkyRL: a single-turn environment whose reward is one of ours, chosen by configuration.

    register(id="assay", entry_point="assay.adapters.skyrl:RewardEnv")
    environment.skyrl_gym.assay.reward=math_equal_reward

Abstained: raises, which fails the rollout and not the policy, unless `abstained` names a number.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.adapters.binding import Binding, bind, import_library
from assay.errors import BadParameter
from assay.schema.message import field_of
from assay.schema.score import Score

BaseTextEnv: Any = import_library("skyrl_gym.envs.base_text_env", package="skyrl-gym").BaseTextEnv


class RewardEnv(BaseTextEnv):  # type: ignore[misc]  # SkyRL is no dependency, so it has no types
    """One turn: the model answers, the reward scores, the episode ends.

    `extras` is the row of the data set; the reward's `answer` is `reward_spec.ground_truth` there,
    or `reward_model.ground_truth` in older sets.
    """

    def __init__(self, env_config: Any, extras: Mapping[str, Any]) -> None:
        super().__init__()
        which = field_of(env_config, "reward")
        if which is None:
            raise BadParameter("the environment's configuration names no reward")
        self._binding: Binding = bind(
            which,
            params=field_of(env_config, "params"),
            columns=field_of(env_config, "columns"),
            abstained=field_of(env_config, "abstained"),
        )
        self._extras = dict(extras)
        self._score: Score | None = None

    def step(self, action: str) -> dict[str, Any]:
        """The score of the action, as SkyRL's step output; the episode is over."""
        self.turns += 1
        self._score = self._binding.score(self._row(action))
        return {
            "observations": [],
            "reward": self._binding.number(self._score),
            "done": True,
            "metadata": {"because": self._score.because, "scorer": self._score.scorer},
            "postprocessed_action": None,
        }

    def get_metrics(self) -> dict[str, Any]:
        """The parts that have a number, for SkyRL to average; nothing before the step."""
        score = self._score
        if score is None:
            return {}
        parts = {part: score.parts[part] for part in self._binding.parts}
        return {name: number for name, number in parts.items() if number is not None}

    def _row(self, action: str) -> dict[str, Any]:
        answer: Any = None
        for key in ("reward_model", "reward_spec"):
            truth = field_of(self._extras.get(key), "ground_truth")
            answer = answer if truth is None else truth
        return {**self._extras, "answer": answer, "final_response": action}
