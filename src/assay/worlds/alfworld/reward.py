"""The reward of ALFWorld: whether the household task was done."""

from __future__ import annotations

from assay.registry import reward
from assay.resources.context import Context
from assay.schema.score import Abstained, Score, Scored
from assay.worlds.evidence import read_evidence


@reward(parts=("won", "done"), kind="environment")
async def alfworld_episode_reward(context: Context) -> Score:
    """1.0 when the household task was done, else 0.0."""
    evidence = await read_evidence(context, "alfworld")
    if isinstance(evidence, Abstained):
        return evidence
    won = evidence.won is True
    because = "the goal was reached" if won else "the goal was not reached"
    return Scored(float(won), because, {"won": float(won), "done": float(evidence.done)})
