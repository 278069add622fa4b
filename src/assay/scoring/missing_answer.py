"""What a reward says of an attempt in which the agent never answered.

A reward is only called with `None` for the final response where it asks for that: its annotation
admits `None` (`str | None`, `object`), or `None` is the parameter's default. A reward that names
no type and takes the rollout's `context` is called too, since it is the environment that it asks.
For every other reward, an attempt without an answer is worth nothing, with the reason.

A crash earns nothing by its silence. Some rewards pay an empty answer, as for a question that has
none; where the agent broke, that pay is 0.0, unless the reward asks for `None` by its very name.
"""

from __future__ import annotations

import inspect

from assay.registry.annotations import annotations_of, names_none
from assay.schema.score import Score, Scored
from assay.scoring.kinds import RESPONSE
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
