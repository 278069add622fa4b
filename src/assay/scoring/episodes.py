"""What the rewards of a run say of one episode, also where the agent never answered.

A reward is only called with `None` for the final response where it asks for that: its annotation
admits `None` (`str | None`, `object`), or `None` is the parameter's default. A reward that names
no type and takes the rollout's `context` is called too, since it is the environment that it asks.
For every other reward, an attempt without an answer is worth nothing, with the reason.

A crash earns nothing by its silence. Some rewards pay an empty answer, as for a question that has
none; where the agent broke, that pay is 0.0, unless the reward asks for `None` by its very name.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Sequence

from assay.errors import UsageError
from assay.registry.annotations import annotations_of, names_none
from assay.resources.context import Context
from assay.schema.episode import NO_FAULT_OF_THE_AGENT, Episode
from assay.schema.score import Score, Scored
from assay.scoring.columns import RESPONSE
from assay.scoring.scorer import Scorer

SCORE_S = 60.0
"""How long one reward may take for one recorded episode."""


async def score_episode(
    scorers: Sequence[Scorer], episode: Episode, context: Context, *, limit_s: float
) -> tuple[Score, ...]:
    """A score of every reward, in their order; none of them can end the run.

    Every reward abstains from an episode that its model or environment ended: whatever the agent
    had done by then, the rest was not in its hands.
    """
    message = episode.failure.message if episode.failure else None
    if episode.no_fault:
        because = NO_FAULT_OF_THE_AGENT[episode.stop_reason] if message is None else message
        return tuple(scorer.abstain(episode.stop_reason, because) for scorer in scorers)
    context.trajectory = episode.trajectory.messages
    context.steps = episode.trajectory.steps
    columns = {**episode.columns(), "context": context}
    unanswered = episode.final_response is None
    scores: list[Score] = []
    for scorer in scorers:
        score = None
        if unanswered:
            score = score_missing_answer(scorer, stop_reason=episode.stop_reason, failure=message)
        if score is None:
            score = await _score_within(limit_s, scorer, columns)
            if unanswered and episode.stop_reason == "agent_error":
                score = without_pay_for_a_crash(scorer, score, failure=message)
        scores.append(score)
    return tuple(scores)


async def _score_within(limit_s: float, scorer: Scorer, columns: dict[str, object]) -> Score:
    try:
        async with asyncio.timeout(limit_s):
            return await scorer.score_async(columns)
    except TimeoutError:
        return scorer.abstain("grader_timeout", f"no score within {limit_s:g} s")
    except UsageError as error:
        return scorer.abstain("bad_row", str(error))


def score_missing_answer(scorer: Scorer, *, stop_reason: str, failure: str | None) -> Score | None:
    """The score of an attempt that ended so without an answer; `None` to call the reward.

    An answer that was given, and is not in the record, is no zero: the reward abstains.
    """
    if scorer.asks_for_none:
        return None
    if stop_reason == "answered":
        return scorer.abstain("missing_response", "the answer that was given is not in the record")
    ending = ": ".join(filter(None, (stop_reason, failure)))
    return scorer.score_no_answer(f"the agent gave no answer: {ending}")


def without_pay_for_a_crash(scorer: Scorer, score: Score, *, failure: str | None) -> Score:
    """The score of an attempt in which the agent broke before it answered: no pay for silence."""
    function = scorer.spec.function
    parameters = inspect.signature(function).parameters
    if (
        not isinstance(score, Scored)
        or score.value <= 0
        or RESPONSE not in parameters
        or "context" in parameters
        or parameters[RESPONSE].default is None
        or names_none(annotations_of(function).get(RESPONSE))
    ):
        return score
    because = ": ".join(filter(None, ("the agent gave no answer", "agent_error", failure)))
    return Scored(0.0, because, score.parts, score.notes, score.scorer, score.params)
