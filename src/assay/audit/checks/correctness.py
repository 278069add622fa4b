"""Correctness: right answers are paid in every form, near misses are not; with rates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from assay.audit.checks.episodes import ONE_ENDING, only_own, recorded
from assay.audit.checks.forms import near_misses, rewrites
from assay.audit.checks.trial import (
    Bar,
    Charge,
    Probe,
    Trial,
    charged,
    gold_of,
    hits_among,
    make_check,
)
from assay.audit.findings import Check, CheckResult, Kind, Rate, Severity

GOLDS = 200
ROWS = 40
"""Rows tried even on a fast budget: rates need many."""
ANSWERS: Final[tuple[Kind, ...]] = ("maths", "qa", "structured", "agent")

UNKNOWN_WORLD: Final = (
    "the target scores none of the built-in recordings; it may need a live world, or recorded "
    "episodes of its own as --data"
)

Steps = Sequence[tuple[float, Severity]]
"""Severities by the lower bound of the rate, the highest bar first."""

GOLD_STEPS: Final[Steps] = ((0.5, "critical"), (0.1, "high"), (0.0, "medium"))
REFUSED_STEPS: Final[Steps] = ((0.4, "high"), (0.15, "medium"), (0.0, "low"))
PAID_STEPS: Final[Steps] = ((0.3, "critical"), (0.02, "high"), (0.0, "medium"))


def _gold_accepted(trial: Trial) -> CheckResult:
    asked = [Probe("as it stands", trial.answer(row, row.right[0])) for row in trial.rows(GOLDS)]
    verdicts = trial.ask([item.call for item in asked])
    if trial.kind == "environment" and not any(told.status == "scored" for told in verdicts):
        return CheckResult(skipped=f"{UNKNOWN_WORLD}; it says: {verdicts[0].because}"[:300])
    charge = Charge(
        "critical",
        "the reference itself is refused",
        "right by definition; a reward that refuses it teaches nothing on that row",
        "read the gold and the answer by the same rules; abstain on a gold that cannot be read",
    )
    return _refused(trial, charge, asked, "right answers refused (the gold itself)", GOLD_STEPS)


def _rewrites_accepted(trial: Trial) -> CheckResult:
    rows = trial.rows(ROWS)
    golds = trial.ask([trial.answer(row, gold_of(row)) for row in rows])
    asked = [
        Probe(name, trial.answer(row, text))
        for row, verdict in zip(rows, golds, strict=True)
        if trial.pays(verdict)
        for name, text in (
            *(("form given in the data", text) for text in row.right[1:]),
            *rewrites(trial.kind, gold_of(row)),
        )
    ]
    if not asked:
        return CheckResult(skipped="no accepted gold has another form that is surely the same")
    charge = Charge(
        "high",
        "right answers in another form are refused",
        "the same answer, written otherwise",
        "compare values, not text; normalise spacing, fractions, thousands, order of sets and keys",
    )
    return _refused(trial, charge, asked, "right answers refused (other forms)", REFUSED_STEPS)


def _near_misses_refused(trial: Trial) -> CheckResult:
    charge = Charge(
        "high",
        "wrong answers are paid",
        "another answer than the reference, hence wrong",
        "compare the whole answer exactly; state a tolerance and test it at its edge",
    )
    if trial.kind == "environment":
        if only_own(trial.bench.samples):
            return CheckResult(skipped=ONE_ENDING)
        return _judge_wrong(trial, charge, _failed_episodes(trial))
    # A record or a text of several words that is partly right may earn a part.
    graded = trial.kind == "structured"
    asked = [
        Probe(name, trial.answer(row, text), (text,), _bar(gold_of(row), graded=graded))
        for row in trial.rows(ROWS)
        for name, text in near_misses(trial.kind, row, gold_of(row))
    ]
    return _judge_wrong(trial, charge, asked)


def _bar(gold: str, *, graded: bool) -> Bar:
    return "full" if graded or " " in gold.strip() else "half"


def _failed_episodes(trial: Trial) -> list[Probe]:
    return [
        Probe(
            f"world that ended {ending}",
            replace(call, columns={**call.columns, "episode": recorded(row, ending)}),
        )
        for row in trial.rows()
        for call in (trial.say(row, row.right[0]),)
        for ending in ("failed", "unfinished")
    ]


def _judge_wrong(trial: Trial, charge: Charge, asked: list[Probe]) -> CheckResult:
    hits = hits_among(trial, asked, lambda hit: trial.pays(hit.verdict, hit.probe.bar))
    rate = Rate.of("wrong answers paid", len(hits), len(asked))
    if not hits:
        return CheckResult(rates=(rate,))
    sized = replace(charge, severity=_severity(rate, PAID_STEPS))
    return CheckResult((charged(trial, sized, hits, len(asked), shrink=True),), (rate,))


def _refused(
    trial: Trial, charge: Charge, asked: list[Probe], name: str, steps: Steps
) -> CheckResult:
    hits = hits_among(trial, asked, lambda hit: not trial.pays(hit.verdict))
    rate = Rate.of(name, len(hits), len(asked))
    if not hits:
        return CheckResult(rates=(rate,))
    sized = replace(charge, severity=_severity(rate, steps))
    return CheckResult((charged(trial, sized, hits, len(asked)),), (rate,))


def _severity(rate: Rate, steps: Steps) -> Severity:
    return next(severity for bar, severity in steps if rate.low >= bar)


CHECKS: Final[tuple[Check, ...]] = (
    make_check(
        "gold_accepted", "correctness", (*ANSWERS, "environment"),
        "The reference itself, handed in as an answer, is paid.", _gold_accepted,
        needs_pay=False,
    ),
    make_check(
        "rewrites_accepted", "correctness", ANSWERS,
        "The same answer in another form is paid.", _rewrites_accepted,
    ),
    make_check(
        "near_misses_refused", "correctness", (*ANSWERS, "environment"),
        "An answer close to the reference, but wrong, is not paid.", _near_misses_refused,
    ),
)  # fmt: skip
