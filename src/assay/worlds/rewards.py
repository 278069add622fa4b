"""Rewards that read the state of a text environment: WebShop, ALFWorld, ScienceWorld.

Each reads the evidence of the rollout's own environment and steps nothing, so a live rollout and
its recorded episode score alike. Where there is no evidence to read, they abstain:

    not_reset    this rollout never reset the environment, so there is no episode of its own
    env_error    the environment failed or died before the episode was over
    wrong_task   the environment's episode is not the task that is being scored
    bad_evidence the record has a score that the environment cannot give
"""

from __future__ import annotations

import reprlib
from collections.abc import Mapping
from typing import Any, Protocol

from assay.errors import NotReset, ResourceError
from assay.registry import reward
from assay.resources.context import Context
from assay.resources.protocol import Environment
from assay.schema.evidence import WorldEvidence
from assay.schema.score import Abstained, Score, Scored

AGENTFLY_MESSAGES = 4
"""AgentFly pays nothing for a ScienceWorld rollout with fewer messages."""
ITEM_CHARS = 80
"""Characters of a product or page that are repeated; a record may hold anything there."""
AGENTFLY_SUCCESS = 10.0
"""AgentFly pays so much for a completed ScienceWorld task, and nothing for a part of it."""


@reward(parts=("bought", "r_type", "r_att", "r_option", "r_price"), kind="environment")
async def webshop_reward(
    final_response: object,  # noqa: ARG001 - the purchase is scored, not the response
    context: Context,
    task_id: str | int,
    *,
    agentfly: bool = False,
) -> Score:
    """WebShop's score of the purchase, from 0 to 1; 0 when nothing was bought.

    `bought` and the four factors of the score are parts: whether it is the kind of product of the
    goal, and the shares of the attributes, options and price limit that it meets.

    AgentFly's code differs in one number that a recording can show: a rollout that never entered
    the shop scores 0.0 there. `agentfly=True` does the same. That a broken shop also scores 0.0
    there is not reproduced.
    """
    evidence = await _read_evidence(context, "webshop", str(task_id))
    if isinstance(evidence, Abstained):
        if agentfly and evidence.reason == "not_reset":
            return Scored(0.0, evidence.because, _purchase({}), {"output": ""})
        return evidence
    if not _is_score(evidence.score, 0, 1):
        return _bad_evidence("webshop", "score", evidence.score)
    parts = _purchase(evidence.progress if evidence.done else {})
    if not evidence.done or evidence.score is None:
        page = str(evidence.progress.get("page", "unknown"))[:ITEM_CHARS]
        return Scored(
            0.0, f"nothing was bought; the episode ended on the {page} page", parts, {"output": ""}
        )
    item = str(evidence.progress.get("asin"))[:ITEM_CHARS]
    because = f"bought {item}, which scores {evidence.score:.3g} for this goal"
    return Scored(evidence.score, because, parts, {"output": item})


@reward(parts=("won", "done"), kind="environment")
async def alfworld_episode_reward(context: Context) -> Score:
    """1.0 when the household task was done, else 0.0."""
    evidence = await _read_evidence(context, "alfworld")
    if isinstance(evidence, Abstained):
        return evidence
    won = evidence.won is True
    because = "the goal was reached" if won else "the goal was not reached"
    return Scored(float(won), because, {"won": float(won), "done": float(evidence.done)})


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
    evidence = await _read_evidence(context, "scienceworld")
    too_short = agentfly and len(context.trajectory) < AGENTFLY_MESSAGES
    if isinstance(evidence, Abstained):
        if too_short and evidence.reason == "not_reset":
            return _too_short(dict.fromkeys(("score", "max_score", "completed", "acc")))
        return evidence
    if not _is_score(evidence.score, -100, 100):
        return _bad_evidence("scienceworld", "score", evidence.score)
    final = (evidence.score or 0.0) / 100
    max_score = evidence.progress.get("max_score", max(0.0, final * 100))
    if max_score is None or not _is_score(max_score, 0, 100):
        return _bad_evidence("scienceworld", "max_score", max_score)
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
    """Version 2, but that `acc` is 1.0 for a full score however short the trajectory is."""
    score = await scienceworld_reward(final_response, context, agentfly=agentfly)
    if isinstance(score, Abstained):
        return score
    highest = score.parts["max_score"]
    parts = {**score.parts, "acc": None if highest is None else float(highest >= 1.0)}
    return Scored(score.value, score.because, parts, score.notes)


async def _read_evidence(
    context: Context, environment: str, task_id: str | None = None
) -> WorldEvidence | Abstained:
    """The evidence of this rollout's episode, or why there is none."""
    try:
        evidence = await _evidence_of(context, environment)
    except NotReset as error:
        return Abstained("not_reset", str(error))
    except ResourceError as error:
        return Abstained("env_error", f"{type(error).__name__}: {error}")
    task = getattr(context, "task", None)
    own = evidence.task_id if task is None else task.id
    for expected in (task_id, own):
        if expected is not None and expected != evidence.task_id:
            return Abstained(
                "wrong_task",
                f"{environment} was reset to task {evidence.task_id!r}, "
                f"and {expected!r} is being scored",
            )
    return evidence


class _ResourceContext(Protocol):
    async def acquire_resource(self, spec: str) -> Environment: ...


async def _evidence_of(context: _ResourceContext, environment: str) -> WorldEvidence:
    # Another framework's context may have nothing but acquire_resource; ours does not start an
    # environment just to find that it was never reset.
    if isinstance(context, Context):
        return context.evidence(environment)
    return (await context.acquire_resource(environment)).evidence()


def _too_short(parts: Mapping[str, float | None]) -> Scored:
    because = f"fewer than {AGENTFLY_MESSAGES} messages, for which AgentFly pays nothing"
    return Scored(0.0, because, {**parts, "acc": 0.0}, {"output": "Not enough steps to get reward"})


def _purchase(progress: Mapping[str, Any]) -> dict[str, float | None]:
    if not progress:
        return {"bought": 0.0, **dict.fromkeys(("r_type", "r_att", "r_option", "r_price"))}
    price_ok = progress.get("price_ok")
    return {
        "bought": 1.0,
        "r_type": _number(progress.get("r_type")),
        "r_att": _share(progress.get("attributes_matched"), progress.get("attributes")),
        "r_option": _share(progress.get("options_matched"), progress.get("goal_options")),
        "r_price": None if price_ok is None else float(price_ok is True),
    }


def _is_score(value: object, least: int, most: int) -> bool:
    """Whether it is a score of that scale, or none yet; NaN is in no scale."""
    if value is None:
        return True
    return isinstance(value, (int, float)) and type(value) is not bool and least <= value <= most


def _bad_evidence(environment: str, entry: str, value: object) -> Abstained:
    return Abstained(
        "bad_evidence",
        f"the record of {environment} has {reprlib.repr(value)} as its {entry}, which the "
        "environment never gives; the recording is damaged, or of another environment",
    )


def _number(value: Any) -> float | None:
    """A share as a number; what is none is left out."""
    return float(value) if isinstance(value, (int, float)) and 0 <= value <= 1 else None


def _share(met: Any, total: Any) -> float | None:
    """The share of the goal's conditions that were met; `None` when the goal has none."""
    if not isinstance(met, int) or not isinstance(total, int) or not 0 <= met <= total > 0:
        return None
    return met / total
