"""Checks of responses that name many answers, or that deny or withdraw an answer.

Most checks are templates. In them `{gold}` is the reference, `{wrong}` and `{wrong2}` are wrong
answers, `{gold_first:, }` is all of them joined by a comma, and what stands in ⟨angle brackets⟩
is put where the target looks for an answer.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Final, TypeAlias

from assay.audit.checks.forms import NUMBER, is_single, near_misses, number_of, read_record
from assay.audit.context import CheckContext, Probe, never_paid
from assay.audit.data import check_rows, checks_of
from assay.audit.findings import CheckFunction, CheckResult, Sample
from assay.audit.frames import AnswerTemplate

UNIT_ROWS: Final = 40
DECOYS: Final = 5
COCKTAIL: Final = 30
"""Rows whose references are mixed together, or serve as wrong answers to others."""
UNITS: Final = (("cm", "kg"), ("kg", "cm"), ("m", "kg"), ("km", "m"), ("hours", "days"))

Template: TypeAlias = tuple[str, str]
"""The name of a variant, and its text with places for the answers."""


class JoinedAnswers(tuple[str, ...]):
    """Several answers that a template joins by a separator, as in `{gold_first:; }`."""

    __slots__ = ()

    def __format__(self, separator: str) -> str:
        return separator.join(self)


@dataclass(frozen=True, slots=True)
class SprayRow:
    """One row with its right answer and several wrong answers."""

    sample: Sample
    reference: str
    wrong: tuple[str, ...]

    def mixed(self, at: int) -> JoinedAnswers:
        """Return the wrong answers with the reference inserted at position `at`."""
        return JoinedAnswers((*self.wrong[:at], self.reference, *self.wrong[at:]))

    def fill(self, template: str, frame: AnswerTemplate) -> str:
        words = {
            "gold": self.reference,
            "wrong": self.wrong[0],
            "wrong2": self.wrong[1],
            "gold_first": self.mixed(0),
            "gold_third": self.mixed(2),
            "gold_last": self.mixed(len(self.wrong)),
        }
        texts = [piece.format(**words) for piece in re.split("[⟨⟩]", template)]
        return "".join(frame.put(text) if at % 2 else text for at, text in enumerate(texts))


def _rows(context: CheckContext, where: Callable[[str], bool] = lambda _: True) -> list[SprayRow]:
    """Return rows with a single reference answer, each with wrong answers that are not paid."""

    def suits(sample: Sample) -> bool:
        reference = sample.reference_text
        return (is_single(reference) or read_record(reference) is not None) and where(reference)

    rows = []
    for sample in context.rows(where=suits):
        decoys = _decoys(context, sample)
        results = context.ask([context.answer(sample, text) for text in decoys])
        pairs = zip(decoys, results, strict=True)
        refused = [text for text, result in pairs if not context.pays(result)]
        if len(refused) > 1:
            rows.append(SprayRow(sample, sample.reference_text, tuple(refused)))
    return rows


def _decoys(context: CheckContext, sample: Sample) -> list[str]:
    """Return wrong answers of the same type that do not overlap with the reference text."""
    reference = sample.reference_text
    number = number_of(reference)
    if context.kind == "choice":
        texts = [text for _, text in near_misses("choice", sample, reference)]
    elif number is not None:
        texts = [f"{number + step}" for step in (1, -1, 2, -2, 3)]
    else:
        others = (row.reference_text for row in context.samples[:COCKTAIL] if row is not sample)
        misses = near_misses(context.kind, sample, reference)
        texts = [*(text for _, text in misses), *others]
    distinct = [t for t in dict.fromkeys(texts) if t not in reference and reference not in t]
    single = [text for text in distinct if is_single(text) or read_record(text) is not None]
    return single[:DECOYS]


def _never_paid(
    check: str, *, whole: bool = False, where: Callable[[str], bool] = lambda _: True
) -> CheckFunction:
    """Build a check that fails if a filled template is paid, as an answer or whole response."""
    table = check_rows()[check]
    templates, maths = table["templates"], table.get("maths_templates", ())

    def probes(context: CheckContext) -> Iterator[Probe]:
        for row in _rows(context, where):
            for name, template in (*templates, *(maths if context.kind == "maths" else ())):
                text = row.fill(template, context.frame)
                response = text if whole else context.frame.put(text)
                yield context.probe(row.sample, name, response, text)

    return never_paid(probes)


_no_answer, _no_response = _never_paid, partial(_never_paid, whole=True)


def _several_answers(context: CheckContext) -> CheckResult:
    """Report a finding if the reference is paid at several places in a list of answers."""
    probes: list[Probe] = []
    for row in _rows(context):
        for place, at in (("first", 0), ("in the middle", 2), ("last", len(row.wrong))):
            text = " ".join(context.frame.put(answer) for answer in row.mixed(at))
            probes.append(context.probe(row.sample, f"gold {place} of several", text, text))
    if not probes:
        return CheckResult(skipped="no row has a single answer")
    tried = Counter(probe.variant for probe in probes)
    paid = context.paid(probes)
    hits = Counter(hit.probe.variant for hit in paid)
    if sum(2 * count > tried[place] for place, count in hits.items()) >= 2:
        return context.must_not_pay(probes)
    by_row = Counter(id(hit.probe.call.columns) for hit in paid)
    anywhere = [hit for hit in paid if by_row[id(hit.probe.call.columns)] == len(tried)]
    of_some = context.reporting(severity="medium")
    return of_some.report_hits(anywhere, len(probes), shrink=True)


def _is_number(reference: str) -> bool:
    return number_of(reference) is not None


def _covering(context: CheckContext) -> Iterator[Probe]:
    if context.kind != "maths":
        for row in _rows(context):
            everything = [sample.reference_text for sample in context.samples[:COCKTAIL]]
            text = " ".join(dict.fromkeys([*everything, row.reference]))
            yield context.answer_probe(row.sample, "every gold of the data", text)
        return
    for row in _rows(context, _is_number):
        number = number_of(row.reference) or Decimal(0)
        for name, text in (
            ("interval", f"[{number - 100}, {number + 100}]"),
            ("inequality", f"x > {number - 100}"),
            ("all real numbers", r"\mathbb{R}"),
            ("set", "\\{" + ", ".join(sorted({row.reference, *row.wrong})) + "\\}"),
            ("plus or minus", f"{number - 1} \\pm 1"),
        ):
            yield context.answer_probe(row.sample, name, text)


def _other_units(context: CheckContext) -> Iterator[Probe]:
    for sample in context.rows(UNIT_ROWS):
        for name, text in _in_other_units(sample.reference_text):
            yield context.answer_probe(sample, name, text)


def _in_other_units(reference: str) -> Iterator[Template]:
    number = number_of(reference)
    percent = r"\%" if "\\" in reference else "%"
    if number is not None and number > 1:
        yield "a hundred times in per cent", f"{number * 100:f}\\%"
    if number is not None and 0 < number < 1:
        yield "the fraction itself in per cent", f"{reference}\\%"
    start = NUMBER.match(reference)
    if start is None:
        return
    rest = reference[start.end() :]
    if rest.strip() in ("%", r"\%"):
        yield "a hundred times the per cent", f"{int(float(start[0]) * 100)}{percent}"
    for unit, other in UNITS:
        if rest.strip() in (unit, f"\\text{{ {unit}}}", f"\\text{{{unit}}}"):
            yield "another unit", f"{start[0]}{rest.replace(unit, other)}"


CHECKS: Final = checks_of(
    several_answers=_several_answers, answer_list=_no_answer("answer_list"),
    or_list=_no_answer("or_list"), hedge=_no_answer("hedge"), negation=_no_response("negation"),
    retraction=_no_response("retraction"), withdrawal=_no_response("withdrawal"),
    think_leak=_no_response("think_leak"), think_only=_no_response("think_only"),
    equality_chain=_no_answer("equality_chain", where=_is_number), covering=never_paid(_covering),
    unit_swap=never_paid(_other_units),
)  # fmt: skip
