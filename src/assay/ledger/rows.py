"""An attempt as one row of plain values, for tables."""

from __future__ import annotations

from typing import Any

from assay.ledger.summary import primary_score, reward_of
from assay.schema.episode import Episode
from assay.schema.score import Abstained


def row_of(episode: Episode) -> dict[str, Any]:
    """The task, the answer, how it ended, the reward and its reason, and what it cost.

    `reward` is `None` where there is no number; every further reward has a column of its name.
    """
    score = primary_score(episode)
    others = {
        each.scorer.partition("@")[0]: None if isinstance(each, Abstained) else each.value
        for each in episode.scores[1:]
    }
    return {
        "task_id": episode.task.id,
        "repeat": episode.repeat,
        "question": episode.task.goal,
        "answer": episode.task.answer,
        "final_response": episode.final_response,
        "reward": reward_of(episode),
        "because": "" if score is None else score.because,
        "stop_reason": episode.stop_reason,
        "error": "" if episode.failure is None else episode.failure.message,
        "n_steps": episode.n_steps,
        "elapsed_s": episode.elapsed_s,
        "prompt_tokens": episode.usage.prompt_tokens,
        "completion_tokens": episode.usage.completion_tokens,
        "cost_usd": episode.usage.cost_usd,
        **others,
    }
