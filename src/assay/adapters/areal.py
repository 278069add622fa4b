"""Create a picklable `reward_fn` for the RLVR workflows of AReaL.

    # my_rewards.py, then reward_fn="my_rewards.maths"
    maths = areal.reward("math_equal_reward")

Abstained: the mean of the latest rewards of the same prompt in this worker process, or the number
that `abstained` names. With `abstained=None` it raises: AReaL asks three times more, then drops the
whole group. AReaL's own timeouts are another matter: it turns them into 0 before a reward can
object.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from assay.adapters.binding import Binding, RewardMaker
from assay.adapters.messages import read_completion


@RewardMaker
def reward(binding: Binding, name: str | None) -> Callable[..., float]:
    """A reward function for AReaL: `(prompt, completions, prompt_ids, completion_ids, **row)`."""
    return binding.function(_reward_fn, name=name)


def _reward_fn(
    binding: Binding,
    /,
    prompt: Any,
    completions: Any,
    prompt_ids: Any = None,  # noqa: ARG001 - part of the signature that AReaL calls
    completion_ids: Any = None,  # noqa: ARG001 - part of the signature that AReaL calls
    **row: Any,
) -> float:
    output = read_completion(completions)
    sample = {**row, "prompt": prompt, "final_response": output.final_response}
    if not isinstance(completions, str):
        sample["trajectory"] = output.trajectory
    return binding.number(binding.score(sample), sample)
