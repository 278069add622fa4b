"""What a reward says of an attempt in which the agent never answered.

A reward is only called with `None` for the final response where it asks for that: its annotation
admits `None` (`str | None`, `object`), or `None` is the parameter's default. A reward that names
no type and takes the rollout's `context` is called too, since it is the environment that it asks.
For every other reward, an attempt without an answer is worth nothing, with the reason.
"""

from __future__ import annotations

from assay.schema.score import Score
from assay.scoring.scorer import Scorer


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
