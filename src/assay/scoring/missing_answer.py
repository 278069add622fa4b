"""What a reward says of an attempt in which the agent never answered.

A reward is only called with `None` for the final response where it asks for that: its annotation
admits `None` (`str | None`, `object`), or `None` is the parameter's default. A reward that names
no type and takes the rollout's `context` is called too, since it is the environment that it asks.
For every other reward, an attempt without an answer is worth nothing, with the reason.
"""

from __future__ import annotations

import inspect
from functools import lru_cache

from assay.registry.annotations import UNKNOWN, admits, annotations_of
from assay.schema.score import Score, Scored
from assay.scoring.scorer import Scorer

RESPONSE = "final_response"


def score_missing_answer(scorer: Scorer, *, stop_reason: str, failure: str | None) -> Score | None:
    """The score of an attempt that ended so without an answer; `None` to call the reward.

    An answer that was given, and is not in the record, is no zero: the reward abstains.
    """
    if _asks_for_none(scorer):
        return None
    if stop_reason == "answered":
        return scorer.abstain("missing_response", "the answer that was given is not in the record")
    because = f"the agent gave no answer: {': '.join(filter(None, (stop_reason, failure)))}"
    parts = dict.fromkeys(scorer.spec.parts or ())
    return Scored(0.0, because, parts).sign(scorer.spec.id, scorer.params)


@lru_cache(maxsize=256)
def _asks_for_none(scorer: Scorer) -> bool:
    spec = scorer.spec
    if RESPONSE not in (*spec.required, *spec.optional):
        return True
    parameter = inspect.signature(spec.function).parameters[RESPONSE]
    annotation = annotations_of(spec.function).get(RESPONSE, UNKNOWN)
    if annotation is UNKNOWN:
        return parameter.default is None or "context" in (*spec.required, *spec.optional)
    return parameter.default is None or admits(annotation, None)
