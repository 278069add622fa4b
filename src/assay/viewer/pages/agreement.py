"""The page on the agreement of labels and rewards, and the form to add a label."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from assay.report.agreement import FEWEST_LABELS, PAID, Disagreement, RewardAgreement
from assay.viewer.pages.records import Index, PageRecord, label_views, pick
from assay.viewer.runs_reader import RunsReader
from assay.viewer.theme import reward_shade, shade

MOST_DISAGREEMENTS = 200


class AgreementQuery(BaseModel, frozen=True):
    """The query parameters of the page on labels and rewards."""

    run: str = ""
    """Empty for all runs."""
    at: float = Field(default=PAID, ge=-1e9, le=1e9, allow_inf_nan=False)


class LabelForm(BaseModel):
    """The form that a page sends when a person adds a label."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    attempt: str
    value: str
    step: Index | None = None
    note: str = ""
    here: Index | None = None
    """The step that is shown, where the attempt as a whole is labelled."""

    @property
    def shown(self) -> int | None:
        return self.here if self.step is None else self.step


def agreement_page(reader: RunsReader, query: AgreementQuery) -> PageRecord:
    """The record of the page: labels of one run or of all runs, compared with each reward."""
    result = reader.agreement(query.run, at=query.at)
    return pick(
        result,
        "at labelled authors",
        run_id=query.run,
        rewards=[_reward(row) for row in result.rewards],
        few=any(row.n < FEWEST_LABELS for row in result.rewards),
        fewest=FEWEST_LABELS,
        problems=result.problems[:20],
    )


def _reward(row: RewardAgreement) -> PageRecord:
    return pick(
        row,
        "scorer of n right_paid right_unpaid wrong_paid wrong_unpaid doubtful abstained kappa "
        "interval size accuracy accuracy_interval",
        disagreements=[_disagreement(row, item) for item in row.disagreements[:MOST_DISAGREEMENTS]],
        n_disagreements=len(row.disagreements),
    )


def _disagreement(row: RewardAgreement, item: Disagreement) -> PageRecord:
    return pick(
        item,
        "run_id task_id attempt step label value because",
        shade=reward_shade(item.value) if row.of == "attempt" else shade(item.value),
        labels=label_views(item.labels),
    )
