"""The reward that the environment itself paid in the recorded steps."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum

from assay.registry import reward
from assay.resources.context import Context
from assay.schema.episode import Step
from assay.schema.score import Abstained, Score, Scored

AFTER_DONE = (
    "it repeats the world's own word, and a run ends an episode when its world is done; what a "
    "world pays later is the world's to mend"
)


@reward(
    parts=("raw_reward", "last_reward", "paid_steps"),
    kind="environment",
    accepts={"after_done": AFTER_DONE},
)
def environment_reward(context: Context) -> Score:
    """The sum of the rewards that the environment paid, in the environment's own range.

    `raw_reward` is the same in the environment's own unit, `None` where it has none; `last_reward`
    is what the last paid step got. Abstains (`no_testimony`) when no step was paid at all, not even
    zero.
    """
    # Another framework's context has no steps, so it abstains.
    steps: Sequence[Step] = getattr(context, "steps", ())
    rewards = [step.reward for step in steps if step.reward is not None]
    raw = [step.raw_reward for step in steps if step.raw_reward is not None]
    if not rewards:
        return Abstained("no_testimony", f"the world paid no reward in {len(steps)} recorded steps")
    total = fsum(rewards)
    return Scored(
        total,
        f"the world paid {total:g} in {len(rewards)} steps, {rewards[-1]:g} in the last",
        {
            "raw_reward": fsum(raw) if raw else None,
            "last_reward": rewards[-1],
            "paid_steps": float(len(rewards)),
        },
    )
