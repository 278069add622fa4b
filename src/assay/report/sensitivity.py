"""How sensitive a reward is to form: the score of every variant of a right answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from assay.errors import UsageError
from assay.report.attempts import EQUAL
from assay.report.variants import AnswerVariant, choice_variants, variants
from assay.schema.score import Abstained, Score
from assay.scoring.scorer import Scorer

LONGEST = 10_000


@dataclass(frozen=True, slots=True)
class ScoredVariant(AnswerVariant):
    """One variant and what the reward gave for it."""

    reward: float | None
    """`None` when the reward abstained."""
    because: str


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """A reward's scores for every variant of one right answer."""

    reward: str
    """`name@version`."""
    params: Mapping[str, Any]
    gold: str
    full: float | None
    """The best that any right form scores."""
    rows: tuple[ScoredVariant, ...]

    @property
    def losing(self) -> tuple[ScoredVariant, ...]:
        """Right forms that score less than the best right form."""
        full = self.full or 0.0
        return tuple(row for row in self.rows if row.right and (row.reward or 0.0) < full - EQUAL)

    @property
    def gaining(self) -> tuple[ScoredVariant, ...]:
        """Wrong answers that score anything."""
        return tuple(row for row in self.rows if not row.right and (row.reward or 0.0) > EQUAL)

    @property
    def sentence(self) -> str:
        """The finding in one sentence."""
        right = sum(row.right for row in self.rows)
        wrong = len(self.rows) - right
        worst = Counter(row.family for row in self.losing)
        most = worst.most_common(4)
        rest = len(self.losing) - sum(n for _, n in most)
        named = [f"{name} {n}" for name, n in (*most, *([("others", rest)] if rest else []))]
        where = f" ({', '.join(named)})" if named else ""
        return (
            f"{len(self.losing)} of {right} right forms lose points{where}; "
            f"{len(self.gaining)} of {wrong} wrong answers gain some"
        )

    def to_record(self) -> dict[str, Any]:
        """The table as plain JSON values."""
        return {
            **asdict(self),
            "losing": [row.name for row in self.losing],
            "gaining": [row.name for row in self.gaining],
            "sentence": self.sentence,
        }


CHOICES = "choices"
"""The column of a reward whose answers may be letters."""
FILLED = frozenset({"answer", "golden_answers", "task_id", "goal", "final_response", "trajectory"})
"""What a probe hands to every reward."""


def probe(
    reward: str,
    answer: str,
    *,
    params: Mapping[str, Any] | None = None,
    columns: Mapping[str, Any] | None = None,
) -> Sensitivity:
    """The scores of systematic variants of the right `answer`, other right ones and wrong ones.

    A reward that asks for a trajectory gets a short one in which a tool was used; `columns` fills
    in whatever else it asks for. Raises `UsageError` for a reward that scores the state of an
    environment or has no reference answer, and for columns that are missing.
    """
    if not answer.strip() or len(answer) > LONGEST:
        raise UsageError(f"give a reference of 1 to {LONGEST} characters to vary")
    scorer = Scorer(reward, params)
    needs = (*scorer.spec.required, *scorer.spec.optional)
    if "context" in scorer.spec.required or "final_response" not in needs:
        raise UsageError(
            f"{scorer.spec.name} scores what happened in an environment, not the form of an "
            "answer; there is nothing to vary"
        )
    if "answer" not in needs:
        raise UsageError(
            f"{scorer.spec.name} compares a response with no reference answer; there is nothing to "
            "vary"
        )
    missing = [name for name in scorer.spec.required if name not in {*FILLED, *(columns or {})}]
    if missing:
        raise UsageError(
            f"{scorer.spec.name} needs {', '.join(map(repr, missing))} as well; give columns"
        )
    forms = variants(answer)
    if CHOICES in needs and len(answer.strip()) == 1 and answer.strip().isalpha():
        forms += choice_variants(answer.strip())
    rows = tuple(_score(scorer, variant, answer, columns or {}) for variant in forms)
    right = [row.reward for row in rows if row.right and row.reward is not None]
    return Sensitivity(scorer.spec.id, scorer.params, answer, max(right, default=None), rows)


def _score(
    scorer: Scorer, variant: AnswerVariant, reference: str, columns: Mapping[str, Any]
) -> ScoredVariant:
    score: Score = scorer(
        {
            "answer": reference,
            "golden_answers": [reference],
            "task_id": "probe",
            "goal": "",
            **columns,
            "final_response": variant.text,
            "trajectory": _trajectory(variant.text),
        }
    )
    value = None if isinstance(score, Abstained) else score.value
    return ScoredVariant(**asdict(variant), reward=value, because=score.because)


def _trajectory(answer: str) -> list[dict[str, Any]]:
    """A conversation in which a tool was called, answered, and the answer given."""
    function = {"name": "search", "arguments": "{}"}
    call = {"id": "call_1", "type": "function", "function": function}
    return [
        {"role": "user", "content": "What is it?"},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "name": "search", "content": "found"},
        {"role": "assistant", "content": answer},
    ]
