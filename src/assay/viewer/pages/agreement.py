"""How far labels and rewards agree, and the form by which a label is added."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, Field

from assay.report.agreement import FEWEST_LABELS, PAID, Disagreement, RewardAgreement
from assay.report.statistics import ConfidenceInterval
from assay.viewer.pages.records import Index, LabelView, copy_fields, label_views
from assay.viewer.runs_reader import RunsReader
from assay.viewer.theme import Shade, reward_shade, shade

MOST_DISAGREEMENTS = 200


class AgreementQuery(BaseModel, frozen=True):
    """The query of the address."""

    run: str = ""
    """Empty for all runs."""
    at: float = Field(default=PAID, ge=-1e9, le=1e9, allow_inf_nan=False)


class LabelForm(BaseModel):
    """What the page sends when a person labels something."""

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


@dataclass(frozen=True, slots=True)
class DisagreementView:
    """A label and a score that contradict each other."""

    run_id: str
    task_id: str
    attempt: str
    step: int | None
    label: str
    value: float
    shade: Shade
    because: str
    labels: tuple[LabelView, ...]


@dataclass(frozen=True, slots=True)
class RewardAgreementView:
    """One reward against the labels."""

    scorer: str
    of: str
    n: int
    right_paid: int
    right_unpaid: int
    wrong_paid: int
    wrong_unpaid: int
    doubtful: int
    abstained: int
    kappa: float | None
    interval: ConfidenceInterval | None
    size: str
    """Of kappa, in a word."""
    accuracy: float | None
    accuracy_interval: ConfidenceInterval | None
    disagreements: tuple[DisagreementView, ...]
    n_disagreements: int


@dataclass(frozen=True, slots=True)
class AgreementPage:
    """The labels of a run, or of all, against each reward."""

    run_id: str
    at: float
    labelled: int
    authors: tuple[str, ...]
    rewards: tuple[RewardAgreementView, ...]
    few: bool
    """Whether there are too few labels to say much."""
    fewest: int
    problems: tuple[str, ...]


def agreement_page(reader: RunsReader, query: AgreementQuery) -> AgreementPage:
    """The agreement of a run's labels with its rewards. Raises `UnknownName` for no such run."""
    result = reader.agreement(query.run, at=query.at)
    return AgreementPage(
        run_id=query.run,
        at=query.at,
        labelled=result.labelled,
        authors=result.authors,
        rewards=tuple(map(_view, result.rewards)),
        few=any(row.n < FEWEST_LABELS for row in result.rewards),
        fewest=FEWEST_LABELS,
        problems=result.problems[:20],
    )


def _view(row: RewardAgreement) -> RewardAgreementView:
    return copy_fields(
        RewardAgreementView,
        row,
        size=row.size,
        disagreements=tuple(
            _disagreement(row, item) for item in row.disagreements[:MOST_DISAGREEMENTS]
        ),
        n_disagreements=len(row.disagreements),
    )


def _disagreement(row: RewardAgreement, item: Disagreement) -> DisagreementView:
    return copy_fields(
        DisagreementView,
        item,
        shade=reward_shade(item.value) if row.of == "attempt" else shade(item.value),
        labels=label_views(item.labels),
    )
