"""What an answer would have scored in another form: shown beside the reward, never in it."""

from __future__ import annotations

from dataclasses import dataclass

from assay.errors import AssayError
from assay.ledger.summary import primary_score, reward_of
from assay.report.attempts import EQUAL
from assay.report.canonical import forms
from assay.schema.episode import Episode
from assay.schema.score import Abstained, Score
from assay.scoring.scorer import Scorer

BEST = 1.0
SHOWN_CHARS = 2_000


@dataclass(frozen=True, slots=True)
class ReformattedAnswer:
    """The best that another form of the same answer would have scored.

    An upper bound: which form is best was chosen by looking at the reference.
    """

    reward: float
    form: str
    text: str


class Reformatter:
    """Scores answers again in other forms, by the reward that scored them, with its parameters."""

    def __init__(self) -> None:
        self._scorers: dict[tuple[str, str], Scorer | None] = {}

    def best(self, episode: Episode) -> ReformattedAnswer | None:
        """The best other form of the answer, where one scores more than the answer did."""
        score, reward = primary_score(episode), reward_of(episode)
        if score is None or reward is None or not episode.final_response:
            return None
        scorer = self._scorer(score)
        if scorer is None:
            return None
        columns = episode.columns()
        best: ReformattedAnswer | None = None
        for form in forms(episode.final_response):
            again = scorer({**columns, "final_response": form.text})
            bar = best.reward if best else reward
            if isinstance(again, Abstained) or again.value <= bar + EQUAL:
                continue
            best = ReformattedAnswer(again.value, form.name, form.text[:SHOWN_CHARS])
            if best.reward >= BEST:
                break
        return best

    def _scorer(self, score: Score) -> Scorer | None:
        key = (score.scorer, repr(sorted(score.params.items())))
        if key not in self._scorers:
            self._scorers[key] = _scorer_of(score)
        return self._scorers[key]


def _scorer_of(score: Score) -> Scorer | None:
    """The reward that gave the score; `None` if it is not installed, or reads an environment."""
    try:
        scorer = Scorer(score.scorer, score.params)
    except AssayError:
        return None
    needs = scorer.spec.required
    return scorer if "final_response" in needs and "context" not in needs else None
