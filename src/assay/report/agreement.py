"""How far people and rewards agree: a grader's accuracy on your own data.

    for row in agree_with_labels([run]).rewards:
        print(row.scorer, row.kappa, row.interval)

Of an attempt, `right` and `wrong` are set against whether a reward paid: at least `at`, half of
full marks unless told. Of a step they are set against the sign of its score; a score of zero says
nothing. Doubtful labels and abstentions are counted, and are in no table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from math import isfinite
from typing import Any, NamedTuple

from assay.errors import AssayError, BadParameter
from assay.ledger.labels import Label, RunLabels, consensus, read_labels
from assay.ledger.run import Run
from assay.report.statistics import ConfidenceInterval, cohen_kappa, kappa_interval, rate_interval
from assay.schema.score import Abstained

PAID = 0.5
"""From this reward on an attempt was paid for."""
FEWEST_LABELS = 20
"""Fewer leave kappa so wide that it says little."""


class _Rating(NamedTuple):
    """One label beside one score."""

    run_id: str
    task_id: str
    attempt: str
    step: int | None
    label: str
    notes: tuple[Label, ...]
    value: float | None
    because: str

    @property
    def is_right(self) -> bool:
        return self.label == "right"


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
    """One reward against the labels."""

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
        """The size of kappa in a word, after Landis and Koch; why there is none otherwise."""
        if self.kappa is None:
            return "not known: label right ones and wrong ones"
        steps = ((0.0, "worse than chance"), (0.2, "slight"), (0.4, "fair"), (0.6, "moderate"),
                 (0.8, "substantial"))  # fmt: skip
        return next((name for most, name in steps if self.kappa <= most), "almost perfect")


@dataclass(frozen=True, slots=True)
class Agreement:
    """The labels of some runs against each of their rewards."""

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


@dataclass(slots=True)
class _Ratings:
    """The ratings of each reward, and what could not be read."""

    rows: dict[tuple[str, str], list[_Rating]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def add(self, of: str, scorer: str, rating: _Rating) -> None:
        self.rows.setdefault((of, scorer), []).append(rating)


def agree_with_labels(runs: Iterable[Run], *, at: float = PAID) -> Agreement:
    """The labels of the runs against every reward that scored what they label.

    Raises `BadParameter` for a threshold that is no number.
    """
    if not isfinite(at):
        raise BadParameter(f"at is {at!r}; it is the least reward that counts as paid, such as 0.5")
    ratings = _Ratings()
    labelled, authors = 0, set[str]()
    for run in runs:
        labels = read_labels(run.path)
        authors |= {label.author for label in labels.current}
        labelled += len({label.place for label in labels.current})
        ratings.problems += labels.problems
        _rate(run, labels, ratings)
    rows = [_agreement(of, scorer, group, at) for (of, scorer), group in ratings.rows.items()]
    return Agreement(
        at=at,
        labelled=labelled,
        authors=tuple(sorted(authors)),
        rewards=tuple(sorted(rows, key=lambda row: row.of)),
        problems=tuple(ratings.problems),
    )


def _rate(run: Run, labels: RunLabels, ratings: _Ratings) -> None:
    places: dict[str, dict[int | None, list[Label]]] = {}
    for label in labels.current:
        places.setdefault(label.attempt, {}).setdefault(label.step, []).append(label)
    for attempt, by_step in places.items():
        try:
            _rate_attempt(run, attempt, by_step, ratings)
        except AssayError as error:
            ratings.problems.append(str(error)[:300])


def _rate_attempt(
    run: Run, attempt: str, by_step: dict[int | None, list[Label]], ratings: _Ratings
) -> None:
    task_id = ""
    # An attempt that was killed has steps and no line.
    with suppress(AssayError):
        episode = run.stored(attempt).episode
        task_id = episode.task.id
        for score in episode.scores if None in by_step else ():
            value = None if isinstance(score, Abstained) else score.value
            rating = _rating(run, task_id, attempt, None, by_step[None], value, score.because)
            ratings.add("attempt", score.scorer, rating)
    if set(by_step) - {None}:
        for step in run.steps(attempt):
            for record in step.scores if step.index in by_step else ():
                value = record.get("score")
                number = float(value) if isinstance(value, (int, float)) and value else None
                labels = by_step[step.index]
                rating = _rating(run, task_id, attempt, step.index, labels, number, step.action)
                ratings.add("step", str(record.get("scorer", "")), rating)


def _rating(
    run: Run,
    task_id: str,
    attempt: str,
    step: int | None,
    labels: Sequence[Label],
    value: float | None,
    because: str,
) -> _Rating:
    label = consensus(labels) or "doubtful"
    return _Rating(run.id, task_id, attempt, step, label, tuple(labels), value, because[:300])


def _agreement(of: str, scorer: str, ratings: Sequence[_Rating], at: float) -> RewardAgreement:
    doubtful = sum(rating.label == "doubtful" for rating in ratings)
    sure = [rating for rating in ratings if rating.label != "doubtful"]
    scored = [rating for rating in sure if rating.value is not None]
    least = at if of == "attempt" else 0.0
    tables: dict[tuple[str, str], list[int]] = {}
    agreeing: dict[tuple[str, str], list[bool]] = {}
    for rating in scored:
        paid = _paid(rating, least)
        task = (rating.run_id, rating.task_id or rating.attempt)
        cell = (0 if paid else 1) if rating.is_right else (2 if paid else 3)
        tables.setdefault(task, [0, 0, 0, 0])[cell] += 1
        agreeing.setdefault(task, []).append(paid == rating.is_right)
    total = [sum(column) for column in zip(*tables.values(), strict=True)] or [0, 0, 0, 0]
    rates = [sum(group) / len(group) for group in agreeing.values()]
    return RewardAgreement(
        scorer=scorer,
        of=of,
        right_paid=total[0],
        right_unpaid=total[1],
        wrong_paid=total[2],
        wrong_unpaid=total[3],
        doubtful=doubtful,
        abstained=len(sure) - len(scored),
        kappa=cohen_kappa(total) if scored else None,
        interval=kappa_interval(list(tables.values())) if scored else None,
        accuracy=(total[0] + total[3]) / len(scored) if scored else None,
        accuracy_interval=rate_interval(rates),
        disagreements=tuple(_disagreements(scored, least)),
    )


def _paid(rating: _Rating, least: float) -> bool:
    return rating.value is not None and rating.value >= least


def _disagreements(scored: Sequence[_Rating], least: float) -> Iterator[Disagreement]:
    wrong = [rating for rating in scored if _paid(rating, least) != rating.is_right]
    for rating in sorted(wrong, key=lambda each: (each.is_right, -abs(each.value or 0.0))):
        yield Disagreement(
            run_id=rating.run_id,
            task_id=rating.task_id,
            attempt=rating.attempt,
            step=rating.step,
            label=rating.label,
            value=rating.value or 0.0,
            because=rating.because,
            labels=rating.notes,
        )
