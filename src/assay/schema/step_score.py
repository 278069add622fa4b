"""A step score rates one observed step of an agent, and gives the reasons.

A step score is for ranking, filtering and telemetry. It is not a return: see
`assay.browser.steps.shaping` for the part that may be added up. Numbers are integers in thousandths
inside, so that the same step gives the same bytes everywhere. Standard library only.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from assay.errors import BadRecord
from assay.lazy import read_toml
from assay.schema.blocking import BLOCKING_PAGES

STEP_SCORE_SCHEMA = "assay.step_score/1"

Classification: TypeAlias = Literal[
    "contract_pass", "target_reached", "recovered", "progress", "observation", "unknown",
    "no_progress", "repeat", "contract_fail", "failure", "blocked", "destructive_ungated",
]  # fmt: skip

Strength: TypeAlias = Literal[
    "strong_positive", "weak_positive", "neutral", "negative", "hard_negative"
]

_CLASSES: Mapping[Classification, tuple[Strength, int, int]] = {
    "contract_pass": ("strong_positive", 1000, 1000),
    "target_reached": ("strong_positive", 1, 700),
    "recovered": ("strong_positive", 500, 675),
    "progress": ("weak_positive", 1, 700),
    "observation": ("neutral", 1, 50),
    "unknown": ("neutral", 0, 0),
    "no_progress": ("negative", -440, 0),
    "repeat": ("negative", -440, 0),
    "contract_fail": ("negative", -440, -150),
    "failure": ("negative", -700, -450),
    "blocked": ("negative", -750, -750),
    "destructive_ungated": ("hard_negative", -1000, -1000),
}
BANDS: Mapping[Classification, tuple[int, int]] = {
    name: (low, high) for name, (_, low, high) in _CLASSES.items()
}
"""The lowest and the highest score of each classification, in thousandths."""

SENTENCES: Mapping[str, str] = {
    **{f"block_{page.code}": page.sentence for page in BLOCKING_PAGES},
    **read_toml("assay.schema", "step_reasons"),
}
"""Every reason that a step score can give: its code, and the sentence for a person."""

MOST = 1_000_000
"""Counts are shown up to here; nothing depends on a larger one."""


class Reason(NamedTuple):
    """One reason of a step score: a stable code, and an optional count."""

    code: str
    n: int = 0

    @property
    def sentence(self) -> str:
        return SENTENCES[self.code].format(n=self.n)


class StepScore(NamedTuple):
    """The score of one step, the class of the step, and the reasons."""

    milli: int
    """The score in thousandths, from -1000 to 1000."""
    classification: Classification
    reasons: tuple[Reason, ...]
    confidence_milli: int
    """How much evidence there was and how far it agrees; never how good the step was."""
    controllable: bool = True
    """Whether the agent could have done anything about it; mask the step in training if not."""
    evidence_backed: bool = False
    """Whether something observed supports the class, beyond the tool's own word."""
    rule: int = 0
    """The number of the rule that decided, as in the documentation."""

    @property
    def score(self) -> float:
        return self.milli / 1000

    @property
    def confidence(self) -> float:
        return self.confidence_milli / 1000

    @property
    def strength(self) -> Strength:
        return _CLASSES[self.classification][0]

    @property
    def unit(self) -> float:
        """The score on a scale from 0 to 1, as tree searches use it."""
        return (self.milli + 1000) / 2000

    @property
    def because(self) -> str:
        """The reasons of the score as one line of text."""
        return "; ".join(reason.sentence for reason in self.reasons)


def step_score_to_record(score: StepScore, *, scorer: str = "") -> dict[str, Any]:
    """The score as plain JSON values."""
    return {
        "schema": STEP_SCORE_SCHEMA,
        "scorer": scorer,
        "score": score.score,
        "classification": score.classification,
        "strength": score.strength,
        "reasons": [{"code": r.code, "n": r.n, "sentence": r.sentence} for r in score.reasons],
        "confidence": score.confidence,
        "controllable": score.controllable,
        "evidence_backed": score.evidence_backed,
        "rule": score.rule,
    }


def step_score_from_record(record: Mapping[str, Any]) -> StepScore:
    """The score that `step_score_to_record` wrote."""
    if record.get("schema") != STEP_SCORE_SCHEMA:
        raise BadRecord(
            f"the record's schema is {record.get('schema')!r:.100}, not {STEP_SCORE_SCHEMA}"
        )
    try:
        classification = record["classification"]
        reasons = tuple(Reason(r["code"], int(r["n"])) for r in record["reasons"])
        score = StepScore(
            round(record["score"] * 1000),
            classification,
            reasons,
            round(record["confidence"] * 1000),
            bool(record["controllable"]),
            bool(record["evidence_backed"]),
            int(record["rule"]),
        )
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise BadRecord(f"not a step score: {type(error).__name__} {error!s:.200}") from error
    unknown = [reason.code for reason in reasons if reason.code not in SENTENCES]
    if classification not in get_args(Classification) or unknown:
        raise BadRecord(
            f"the step score has unknown codes: class {classification!r}, reasons {unknown}"
        )
    return score
