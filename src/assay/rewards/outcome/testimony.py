"""The world's own word: what it paid the agent, step by step, as the episode recorded it."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum

from assay.registry import reward
from assay.resources.context import Context
from assay.schema.episode import Step
from assay.schema.score import Abstained, Score, Scored


@reward(parts=("raw_reward", "last_reward", "paid_steps"))
def testimony_reward(context: Context) -> Score:
    """The sum of the rewards that the world itself paid; whatever range it uses is kept.

    `raw_reward` is the same in the world's own unit, `None` where it has none; `last_reward` is
    what the last paid step got. Abstains (`no_testimony`) when the world paid nothing at all,
    not even zero: then there is no word of its to repeat.
    """
    # Another framework's context has no steps; it has no testimony then.
    steps: Sequence[Step] = getattr(context, "steps", ())
    paid = [step.reward for step in steps if step.reward is not None]
    raw = [step.raw_reward for step in steps if step.raw_reward is not None]
    if not paid:
        return Abstained("no_testimony", f"the world paid no reward in {len(steps)} recorded steps")
    total = fsum(paid)
    return Scored(
        total,
        f"the world paid {total:g} in {len(paid)} steps, {paid[-1]:g} in the last",
        {
            "raw_reward": fsum(raw) if raw else None,
            "last_reward": paid[-1],
            "paid_steps": float(len(paid)),
        },
    )
