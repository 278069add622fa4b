"""The scores of one episode, from every reward of a plan."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from assay.errors import UsageError
from assay.resources.context import Context
from assay.schema.episode import Episode
from assay.schema.score import Score
from assay.scoring.scorer import Scorer


async def score_episode(
    scorers: Sequence[Scorer], episode: Episode, context: Context, *, limit_s: float
) -> tuple[Score, ...]:
    """A score of every reward, in their order; none of them can end the run.

    Every reward abstains from an episode that its environment ended: whatever the agent had done
    by then, the rest was not in its hands.
    """
    if episode.stop_reason == "env_error":
        because = episode.failure.message if episode.failure else "the environment failed"
        return tuple(scorer.abstain("env_error", because) for scorer in scorers)
    context.trajectory = episode.trajectory.messages
    context.steps = episode.trajectory.steps
    columns = {**episode.columns(), "context": context}
    return tuple([await _score_within(limit_s, scorer, columns) for scorer in scorers])


async def _score_within(limit_s: float, scorer: Scorer, columns: dict[str, object]) -> Score:
    try:
        async with asyncio.timeout(limit_s):
            return await scorer.score_async(columns)
    except TimeoutError:
        return scorer.abstain("grader_timeout", f"no score within {limit_s:g} s")
    except UsageError as error:
        return scorer.abstain("bad_row", str(error))
