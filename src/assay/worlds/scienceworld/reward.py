"""The reward of ScienceWorld: the simulator's score of the episode."""

from __future__ import annotations

from collections.abc import Mapping

from assay.registry import reward
from assay.resources.context import Context
from assay.schema.score import Abstained, Score, Scored
from assay.worlds.evidence import bad_evidence, is_score, read_evidence

AGENTFLY_MESSAGES = 4
"""AgentFly pays nothing for a ScienceWorld rollout with fewer messages."""
AGENTFLY_SUCCESS = 10.0
"""AgentFly pays so much for a completed ScienceWorld task, and nothing for a part of it."""


@reward(
    version=2,
    parts=("score", "max_score", "completed", "acc"),
    changes={2: "with agentfly=True, `acc` is 0.0 under four messages, as in AgentFly's code"},
    kind="environment",
)
async def scienceworld_reward(
    final_response: object,  # noqa: ARG001 - the environment is scored, not the response
    context: Context,
    *,
    agentfly: bool = False,
) -> Score:
    """ScienceWorld's final score as a fraction, from -1 (a fatal mistake) to 1.

    Beside it: the highest score of the episode, whether the task was completed, and `acc`, which
    is 1.0 when the highest score was full.

    `agentfly=True` pays as AgentFly's code does: 10.0 when the highest score was full, else 0.0;
    0.0, and an `acc` of 0.0, for a trajectory of fewer than four messages; and `score` is the
    highest score, which a fatal mistake does not lower.
    """
    evidence = await read_evidence(context, "scienceworld")
    too_short = agentfly and len(context.trajectory) < AGENTFLY_MESSAGES
    if isinstance(evidence, Abstained):
        if too_short and evidence.reason == "not_reset":
            return _too_short(dict.fromkeys(("score", "max_score", "completed", "acc")))
        return evidence
    if not is_score(evidence.score, -100, 100):
        return bad_evidence("scienceworld", "score", evidence.score)
    final = (evidence.score or 0.0) / 100
    max_score = evidence.progress.get("max_score", max(0.0, final * 100))
    if max_score is None or not is_score(max_score, 0, 100):
        return bad_evidence("scienceworld", "max_score", max_score)
    highest = float(max_score) / 100
    completed = evidence.progress.get("completed", evidence.won) is True
    full_score = float(highest >= 1.0)
    parts: dict[str, float | None] = {
        "score": highest if agentfly else final,
        "max_score": highest,
        "completed": float(completed),
        "acc": full_score,
    }
    if too_short:
        return _too_short(parts)
    output = "Task completed" if (full_score if agentfly else completed) else "Task not completed"
    because = f"{output.lower()}; final score {final:g}, highest {highest:g}"
    value = AGENTFLY_SUCCESS * full_score if agentfly else final
    return Scored(value, because, parts, {"output": output})


@reward(
    name="scienceworld_reward",
    version=1,
    parts=("score", "max_score", "completed", "acc"),
    kind="environment",
)
async def scienceworld_reward_1(
    final_response: object, context: Context, *, agentfly: bool = False
) -> Score:
    """Version 1: `acc` is 1.0 for a full score, also after fewer than four messages."""
    score = await scienceworld_reward(final_response, context, agentfly=agentfly)
    if isinstance(score, Abstained):
        return score
    highest = score.parts["max_score"]
    parts = {**score.parts, "acc": None if highest is None else float(highest >= 1.0)}
    return Scored(score.value, score.because, parts, score.notes)


def _too_short(parts: Mapping[str, float | None]) -> Scored:
    because = f"fewer than {AGENTFLY_MESSAGES} messages, for which AgentFly pays nothing"
    return Scored(0.0, because, {**parts, "acc": 0.0}, {"output": "Not enough steps to get reward"})
