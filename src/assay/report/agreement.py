"""How far rewards agree with human labels on your own data.

    for row in agree_with_labels([run]).rewards:
        print(row.scorer, row.kappa, row.interval)

Of an attempt, `right` and `wrong` are set against whether a reward paid: at least `at`, half of
full marks unless told. Of a step they are set against the sign of its score; a score of zero says
nothing. Doubtful labels and abstentions are counted, and are in no table.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any, NamedTuple, TypeAlias

from assay.errors import AssayError, BadParameter
from assay.ledger.labels import Label, consensus, read_labels
from assay.ledger.run import Run
from assay.report.statistics import ConfidenceInterval, cohen_kappa, kappa_interval, rate_interval
from assay.schema.score import Abstained

PAID = 0.5
"""From this reward on an attempt was paid for."""
FEWEST_LABELS = 20
"""Fewer leave kappa so wide that it says little."""


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A label and a score that contradict each other."""

    run_id: str
    task_id: str
    attempt: str
    step: int | None
    label: str
    value: float
    because: str
    labels: tuple[Label, ...]
    """Who said so, with their notes."""


@dataclass(frozen=True, slots=True)
class RewardAgreement:
    """How well one reward agrees with the labels."""

    scorer: str
    of: str
    """`attempt` or `step`: what was labelled."""
    right_paid: int
    right_unpaid: int
    wrong_paid: int
    wrong_unpaid: int
    doubtful: int
    """Labelled doubtful, or by as many people one way as the other."""
    abstained: int
    """Labelled, and without a score, or with one that says nothing."""
    kappa: float | None
    interval: ConfidenceInterval | None
    accuracy: float | None
    accuracy_interval: ConfidenceInterval | None
    disagreements: tuple[Disagreement, ...]
    """Paid though wrong first, then unpaid though right; the furthest apart first."""

    @property
    def n(self) -> int:
        return self.right_paid + self.right_unpaid + self.wrong_paid + self.wrong_unpaid

    @property
    def size(self) -> str:
        """The size of kappa in words (after Landis and Koch), or why kappa is not known."""
        if self.kappa is None:
            return "not known: label right ones and wrong ones"
        steps = ((0.0, "no better than chance"), (0.2, "slight"), (0.4, "fair"), (0.6, "moderate"),
                 (0.8, "substantial"))  # fmt: skip
        return next((name for most, name in steps if self.kappa <= most), "almost perfect")


@dataclass(frozen=True, slots=True)
class Agreement:
    """How well the rewards of several runs agree with human labels."""

    at: float
    labelled: int
    """Attempts and steps that have a label."""
    authors: tuple[str, ...]
    rewards: tuple[RewardAgreement, ...]
    """Of attempts first, then of steps."""
    problems: tuple[str, ...] = ()

    def to_record(self) -> dict[str, Any]:
        """The agreement as plain JSON values."""
        record = asdict(self)
        for row, item in zip(record["rewards"], self.rewards, strict=True):
            row["n"] = item.n
            for entry, disagreement in zip(row["disagreements"], item.disagreements, strict=True):
                entry["labels"] = [label.model_dump() for label in disagreement.labels]
        return record


class _Rating(NamedTuple):
    """One labelled attempt or step, with the value of one score."""

    value: float | None
    record: Disagreement


_Ratings: TypeAlias = dict[tuple[str, str], list[_Rating]]
"""By what was labelled, and by reward."""


def agree_with_labels(runs: Iterable[Run], *, at: float = PAID) -> Agreement:
    """Compare the labels of the runs with every reward of the labelled attempts and steps."""
    if not isfinite(at):
        raise BadParameter(f"at is {at!r}; give the least reward that counts as paid, such as 0.5")
    ratings: _Ratings = {}
    labelled, authors, problems = 0, set[str](), list[str]()
    for run in runs:
        labels = read_labels(run.path)
        authors |= {label.author for label in labels.current}
        labelled += len({label.place for label in labels.current})
        problems += labels.problems
        attempts: dict[str, dict[int | None, list[Label]]] = {}
        for label in labels.current:
            attempts.setdefault(label.attempt, {}).setdefault(label.step, []).append(label)
        for attempt, by_step in attempts.items():
            try:
                _rate_attempt(run, attempt, by_step, ratings)
            except AssayError as error:
                problems.append(str(error)[:300])
    rows = [_agreement(of, scorer, group, at) for (of, scorer), group in ratings.items()]
    return Agreement(
        at=at,
        labelled=labelled,
        authors=tuple(sorted(authors)),
        rewards=tuple(sorted(rows, key=lambda row: row.of)),
        problems=tuple(problems),
    )


def _rate_attempt(
    run: Run, attempt: str, by_step: dict[int | None, list[Label]], ratings: _Ratings
) -> None:
    task_id = ""

    def add(scorer: str, step: int | None, value: float | None, because: str) -> None:
        labels = tuple(by_step[step])
        label, number = consensus(labels) or "doubtful", value or 0.0
        record = Disagreement(run.id, task_id, attempt, step, label, number, because[:300], labels)
        of = "attempt" if step is None else "step"
        ratings.setdefault((of, scorer), []).append(_Rating(value, record))

    # An attempt that was killed has steps and no line.
    with suppress(AssayError):
        episode = run.stored(attempt).episode
        task_id = episode.task.id
        for score in episode.scores if None in by_step else ():
            value = None if isinstance(score, Abstained) else score.value
            add(score.scorer, None, value, score.because)
    for step in run.steps(attempt) if set(by_step) - {None} else ():
        for record in step.scores if step.index in by_step else ():
            value = record.get("score")
            number = float(value) if isinstance(value, (int, float)) and value else None
            add(str(record.get("scorer", "")), step.index, number, step.action)


def _agreement(of: str, scorer: str, ratings: Sequence[_Rating], at: float) -> RewardAgreement:
    sure = [rating for rating in ratings if rating.record.label != "doubtful"]
    scored = [rating.record for rating in sure if rating.value is not None]
    least = at if of == "attempt" else 0.0
    tables: dict[tuple[str, str], list[int]] = {}
    agreeing: dict[tuple[str, str], list[bool]] = {}
    wrong: list[Disagreement] = []
    for record in scored:
        paid, is_right = record.value >= least, record.label == "right"
        task = (record.run_id, record.task_id or record.attempt)
        cell = (0 if paid else 1) if is_right else (2 if paid else 3)
        tables.setdefault(task, [0, 0, 0, 0])[cell] += 1
        agreeing.setdefault(task, []).append(paid == is_right)
        wrong += [record] * (paid != is_right)
    total = [sum(column) for column in zip(*tables.values(), strict=True)] or [0, 0, 0, 0]
    rates = [sum(group) / len(group) for group in agreeing.values()]
    # Against labels that are all the same, kappa is 0 whatever the reward says.
    two_words = total[0] + total[1] > 0 < total[2] + total[3]
    return RewardAgreement(
        scorer=scorer,
        of=of,
        right_paid=total[0],
        right_unpaid=total[1],
        wrong_paid=total[2],
        wrong_unpaid=total[3],
        doubtful=len(ratings) - len(sure),
        abstained=len(sure) - len(scored),
        kappa=cohen_kappa(total) if two_words else None,
        interval=kappa_interval(list(tables.values())) if two_words else None,
        accuracy=(total[0] + total[3]) / len(scored) if scored else None,
        accuracy_interval=rate_interval(rates),
        disagreements=tuple(
            sorted(wrong, key=lambda each: (each.label == "right", -abs(each.value)))
        ),
    )
