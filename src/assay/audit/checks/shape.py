"""The shape of a reward: length, repetition, order, range, finiteness, keys, types, messages."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import isfinite
from typing import Any, Final

from assay.audit.checks.forms import ELSE, near_misses, read_record
from assay.audit.checks.talk import asked as question
from assay.audit.checks.talk import said, used
from assay.audit.checks.trial import (
    Charge,
    Hit,
    Probe,
    Trial,
    charged,
    gold_of,
    hits_among,
    make_check,
    must_not_pay,
    outcome,
    shortest,
    worth,
)
from assay.audit.findings import Call, Check, CheckResult, Kind, Sample, Verdict

ANSWERS: Final[tuple[Kind, ...]] = ("maths", "qa", "structured", "agent")
EVERY: Final[tuple[Kind, ...]] = (*ANSWERS, "environment")
PADDING: Final = "We consider the matter once more and look at it from every side. "
MANY = 10
EPSILON = 1e-6
NOTICED = 0.1
"""Share of full marks by which length or repetition must move the pay to be a finding."""
LONGER: Final = Charge(
    "medium",
    "longer answers are paid more",
    "padding adds nothing to an answer",
    "score the answer, not its length; cap and test any length term",
)
AROUND: Final = Charge(
    "low",
    "text around a framed answer costs it its pay",
    "the answer is where it was asked for",
    "read the answer from its place, wherever that stands in the response",
)
UNPAID: Final = ("finite", "constant_keys", "types")
"""Checks that also judge a target which pays no right answer."""
NUMBER_TYPES: Final = frozenset(
    ("float", "int", "float64", "Scored", "Abstained", "Score", "dict", "list", "NoneType")
)
"""Types that every trainer takes: numbers, scores, mappings, and the list of a batch."""


def _wrong(trial: Trial, sample: Sample) -> str:
    found = near_misses(trial.kind, sample, gold_of(sample))
    return found[0][1] if found else ELSE


def _earned(verdict: Verdict) -> float:
    """What was paid; a penalty that is escaped is no pay."""
    return max(0.0, worth(verdict) or 0.0)


def _length_bias(trial: Trial) -> CheckResult:
    """Padding never raises the pay; where the answer has a place of its own, it never costs it."""
    raised, lowered = list[Hit](), list[Hit]()
    rows = trial.rows(5)
    for sample in rows:
        for name, answer in (("right", gold_of(sample)), ("wrong", _wrong(trial, sample))):
            framed = trial.frame.put(answer)
            calls = [trial.say(sample, text) for text in (framed, *_padded(framed))]
            short, *padded = trial.ask(calls)
            for call, told in zip(calls[1:], padded, strict=True):
                gained = (_earned(told) - _earned(short)) / trial.full
                hit = Hit(Probe(f"{name} answer", call), told)
                if gained > NOTICED:
                    raised.append(hit)
                elif gained < -NOTICED and name == "right" and trial.frame.anchored:
                    lowered.append(hit)
    tried = len(rows) * 2 * len(tuple(_padded("")))
    more, less = outcome(trial, LONGER, raised, tried), outcome(trial, AROUND, lowered, tried)
    return CheckResult((*more.findings, *less.findings))


def _padded(framed: str) -> Iterator[str]:
    for times in (1, MANY):
        yield PADDING * times + framed
        yield f"{framed} {PADDING * times}".rstrip()


def _duplication(trial: Trial) -> CheckResult:
    charge = Charge(
        "high",
        "repeating an answer raises its pay",
        "the same answer, said again",
        "count an answer once",
    )
    hits: list[Hit] = []
    rows = trial.rows()
    for sample in rows:
        for answer in (gold_of(sample), _wrong(trial, sample)):
            framed = trial.frame.put(answer)
            calls = [trial.say(sample, "\n".join([framed] * times)) for times in (1, 2, MANY)]
            once, *more = trial.ask(calls)
            for call, told in zip(calls[1:], more, strict=True):
                if _earned(told) > _earned(once) + NOTICED * trial.full:
                    hits.append(Hit(Probe("repeated", call), told))
    return outcome(trial, charge, hits, 4 * len(rows))


def _alias_order(trial: Trial) -> CheckResult:
    """Whether the order of alternative references changes the verdict; skipped without lists."""
    first, last = list[Probe](), list[Probe]()
    for sample in trial.rows():
        gold = gold_of(sample)
        call = trial.answer(sample, gold)
        listed = [gold, ELSE, "Quill Tower"]
        first.append(Probe("first of three", _with_gold(call, sample, listed)))
        last.append(Probe("last of three", _with_gold(call, sample, listed[::-1])))
    pairs = list(
        zip(*(hits_among(trial, way, lambda _: True) for way in (first, last)), strict=True)
    )
    if not any(trial.pays(hit.verdict) for pair in pairs for hit in pair):
        return CheckResult(skipped="the target takes one reference, not a list")
    lower = (sorted(pair, key=lambda hit: _earned(hit.verdict)) for pair in pairs)
    hits = [low for low, high in lower if _earned(high.verdict) > _earned(low.verdict) + EPSILON]
    charge = Charge(
        "medium",
        "the order of the references changes the verdict",
        "an answer that equals any of the references is right",
        "take the best over all references",
    )
    return outcome(trial, charge, hits, 2 * len(pairs))


def _with_gold(call: Call, sample: Sample, gold: Any) -> Call:
    changed = {
        name: gold
        for name, value in sample.columns.items()
        if value == sample.gold or value == [sample.gold]
    }
    return replace(call, columns={**call.columns, **changed})


def _monotone(trial: Trial) -> CheckResult:
    charge = Charge(
        "medium",
        "an answer with more right in it is paid less",
        "more of the reference is never worth less",
        "let every right part add, and nothing that is right subtract",
    )
    hits: list[Hit] = []
    tried = 0
    for sample in trial.rows():
        for ladder in _ladders(gold_of(sample)):
            calls = [trial.answer(sample, step) for step in ladder]
            verdicts = trial.ask(calls)
            tried += len(calls)
            for at in range(1, len(calls)):
                before, after = worth(verdicts[at - 1]), worth(verdicts[at])
                if before is not None and after is not None and after < before - EPSILON:
                    hits.append(Hit(Probe("more right parts", calls[at]), verdicts[at]))
    if not tried:
        return CheckResult(skipped="no gold has parts")
    return outcome(trial, charge, hits, tried)


def _ladders(gold: str) -> Iterator[list[str]]:
    """Answers in which ever more is right: none, then each part in turn, to all."""
    record = read_record(gold)
    if record is not None:
        yield [json.dumps(_partly(record, right)) for right in range(len(record) + 1)]
        return
    words = gold.split()
    if len(words) > 1 and all(word.isalpha() for word in words):
        yield [" ".join(words[:count]) for count in range(1, len(words) + 1)]


def _partly(record: Mapping[str, Any], right: int) -> dict[str, Any]:
    """The record with its first values right and the others not."""
    return {key: value if at < right else ELSE for at, (key, value) in enumerate(record.items())}


def _range(trial: Trial) -> CheckResult:
    charge = Charge(
        "high",
        "some answers are paid more than a right one",
        "nothing is worth more than a right answer",
        "cap the reward at what a right answer earns",
    )
    asked = _mixture(trial)
    bar = trial.full * (1 + EPSILON)
    hits = hits_among(trial, asked, lambda hit: _earned(hit.verdict) > bar)
    return outcome(trial, charge, hits, len(asked))


def _finite(trial: Trial) -> CheckResult:
    charge = Charge(
        "high",
        "a number that is not finite is returned",
        "a finite number, or no number and the reason",
        "abstain where nothing can be scored; NaN and infinity spread through a batch's mean",
    )
    asked = _mixture(trial)
    hits = hits_among(trial, asked, lambda hit: not _is_finite(hit.verdict))
    return outcome(trial, charge, hits, len(asked))


def _is_finite(verdict: Verdict) -> bool:
    numbers = (verdict.value, *verdict.parts.values())
    return all(number is None or isfinite(number) for number in numbers)


def _constant_keys(trial: Trial) -> CheckResult:
    charge = Charge(
        "medium",
        "the metrics have other names from answer to answer",
        "the same names every time; trainers index every row by the first row's",
        "return every metric always, with 0.0 or nothing where it does not apply",
    )
    asked = _mixture(trial)
    scored = hits_among(trial, asked, lambda hit: hit.verdict.status == "scored")
    if not scored:
        return CheckResult(skipped="nothing was scored")
    usual = set(scored[0].verdict.parts)
    hits = [hit for hit in scored if set(hit.verdict.parts) != usual]
    if not hits:
        return CheckResult()
    found = charged(trial, charge, hits, len(asked))
    names = sorted(shortest(hits).verdict.parts)
    observed = f"metrics {names} here, {sorted(usual)} for a right answer"
    return CheckResult((replace(found, observed=observed),))


def _types(trial: Trial) -> CheckResult:
    asked = _mixture(trial)
    hits = hits_among(trial, asked, lambda hit: _is_odd(hit.verdict.raw_type))
    if not hits:
        return CheckResult()
    worst = shortest(hits)
    name = worst.verdict.raw_type
    usable = worst.verdict.status == "scored"
    charge = Charge(
        "low" if usable else "high",
        f"a {name} is returned where a number is expected",
        "a plain float",
        "return float(…); trainers add, average and send the number on",
    )
    return CheckResult((charged(trial, charge, hits, len(asked)),))


def _is_odd(type_name: str) -> bool:
    return bool(type_name) and type_name not in NUMBER_TYPES


def _mixture(trial: Trial) -> list[Probe]:
    """Right, wrong, empty, unframed and repeated answers: what a policy may send."""
    found: list[Probe] = []
    for sample in trial.rows():
        gold, wrong = gold_of(sample), _wrong(trial, sample)
        framed = trial.frame.put(gold)
        for name, text in (
            ("right", framed),
            ("wrong", trial.frame.put(wrong)),
            ("empty", ""),
            ("prose", "I think that this is a hard question."),
            ("bare", gold),
            ("repeated", "\n".join([framed] * MANY)),
            ("negative", trial.frame.put("-1")),
            ("large", trial.frame.put("999999999")),
            ("huge", trial.frame.put("9" * 400)),
            ("not a number", trial.frame.put("nan")),
            ("infinity", trial.frame.put("-Infinity")),
            ("long", PADDING * MANY + framed),
        ):
            found.append(trial.probe(sample, name, text))
    return found


def _several_messages(trial: Trial) -> CheckResult:
    """The last word counts: what an earlier message said is no answer."""
    charge = Charge(
        "medium",
        "an answer of an earlier message is paid",
        "the last message is the answer, and it is wrong",
        "read the last assistant message alone",
    )

    def probes() -> Iterator[Probe]:
        for sample in trial.rows(5):
            right = trial.frame.put(gold_of(sample))
            wrong = trial.frame.put(_wrong(trial, sample))
            tools = used(sample) if trial.kind == "agent" else ()
            talk = (
                question(sample), *tools, said(right),
                {"role": "user", "content": "Are you sure?"}, said(wrong),
            )  # fmt: skip
            yield Probe("right first, wrong last", Call(wrong, sample.columns, talk))

    return must_not_pay(trial, charge, probes())


CHECKS: Final[tuple[Check, ...]] = tuple(
    make_check(name, "shape", kinds, summary, run, needs_pay=name not in UNPAID)
    for name, kinds, summary, run in (
        ("length_bias", ANSWERS, "Padding neither raises the pay nor costs it.", _length_bias),
        ("duplication", ANSWERS, "Saying an answer again does not raise its pay.", _duplication),
        ("alias_order", ("maths", "qa", "agent"), "The order of the references does not matter.",
         _alias_order),
        ("monotone", ANSWERS, "More right parts are never worth less.", _monotone),
        ("range", EVERY, "No answer is paid more than a right one.", _range),
        ("finite", EVERY, "Every number is finite.", _finite),
        ("constant_keys", EVERY, "The metrics have the same names every time.", _constant_keys),
        ("types", EVERY, "The reward is a plain number.", _types),
        ("several_messages", ANSWERS, "The last message is the answer.", _several_messages),
    )
)  # fmt: skip
