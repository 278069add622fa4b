"""Sprays and contradictions: many answers for one, answers taken back, denied, or only thought.

Most checks are templates. In them `{gold}` is the reference, `{wrong}` and `{wrong2}` are wrong
answers, `{gold_first:, }` is all of them joined by a comma, and what stands in ⟨angle brackets⟩
is put where the target looks for an answer.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from typing import Final, TypeAlias

from assay.audit.checks.forms import NUMBER, is_single, near_misses, number_of, read_record
from assay.audit.context import CheckContext, Probe, never_paid
from assay.audit.findings import Check, CheckFunction, CheckResult, Sample, Violation
from assay.audit.frames import AnswerFrame
from assay.schema.audit import Kind

MATHS: Final[frozenset[Kind]] = frozenset(("maths",))
UNIT_ROWS: Final = 40
DECOYS: Final = 5
COCKTAIL: Final = 30
"""Rows whose references are mixed together, or serve as wrong answers to others."""
THINK_FIX: Final = "cut everything up to the last </think> before looking for the answer"
UNITS: Final = (("cm", "kg"), ("kg", "cm"), ("m", "kg"), ("km", "m"), ("hours", "days"))

Template: TypeAlias = tuple[str, str]
"""The name of a variant, and its text with places for the answers."""


class AnswerList(tuple[str, ...]):
    """Answers that a template joins: `{gold_first:; }`."""

    __slots__ = ()

    def __format__(self, separator: str) -> str:
        return separator.join(self)


@dataclass(frozen=True, slots=True)
class SprayRow:
    """A row whose answer is one thing, with wrong answers to mix it with."""

    sample: Sample
    reference: str
    wrong: tuple[str, ...]

    def mixed(self, at: int) -> AnswerList:
        """The wrong answers with the reference at this place among them."""
        return AnswerList((*self.wrong[:at], self.reference, *self.wrong[at:]))

    def fill(self, template: str, frame: AnswerFrame) -> str:
        """The template with the answers of this row."""
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
    """Rows with one answer, of a sort, and wrong answers to go with it.

    A wrong answer that the target pays by itself is no use here: that is another check's finding.
    """

    def suits(sample: Sample) -> bool:
        reference = sample.reference_text
        return (is_single(reference) or read_record(reference) is not None) and where(reference)

    rows = []
    for sample in context.rows(where=suits):
        decoys = _decoys(context, sample)
        results = context.ask([context.answer(sample, text) for text in decoys])
        refused = [
            text for text, result in zip(decoys, results, strict=True) if not context.pays(result)
        ]
        if len(refused) > 1:
            rows.append(SprayRow(sample, sample.reference_text, tuple(refused)))
    return rows


def _decoys(context: CheckContext, sample: Sample) -> list[str]:
    """Wrong answers of the same sort, of which none holds the reference nor is held by it."""
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
    *templates: Template,
    whole: bool = False,
    maths: Iterable[Template] = (),
    where: Callable[[str], bool] = lambda _: True,
) -> CheckFunction:
    """A check function: no filled template is paid, those of `maths` for that kind alone.

    A template is put where the answer goes, or is the `whole` response and stays as it is.
    """

    def probes(context: CheckContext) -> Iterator[Probe]:
        for row in _rows(context, where):
            for name, template in (*templates, *(maths if context.kind == "maths" else ())):
                text = row.fill(template, context.frame)
                response = text if whole else context.frame.put(text)
                yield context.probe(row.sample, name, response, text)

    return never_paid(probes)


_no_answer, _no_response = _never_paid, partial(_never_paid, whole=True)


def _several_answers(context: CheckContext) -> CheckResult:
    """A finding if the reference is paid wherever it stands; "the last one counts" is a rule.

    One row on which that is so is enough: a target that reads few references does it on few.
    """
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
    of_some = replace(context.violation, severity="medium")
    return context.reporting(of_some).report_hits(anywhere, len(probes), shrink=True)


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


_check = partial(Check, family="spray")

CHECKS: Final[tuple[Check, ...]] = (
    _check(
        "several_answers",
        "Several framed answers side by side are not paid wherever the right one stands.",
        _several_answers,
        Violation("high", "several answers at once are paid",
            "five different answers side by side commit to none of them",
            "let one place count (the last, say) and refuse what offers several")),
    _check("answer_list", "A list of guesses is not paid.",
        _no_answer(
            ("comma list, gold first", "{gold_first:, }"),
            ("lines, gold first", "{gold_first:\n}"),
            ("comma list, gold last", "{gold_last:, }"),
            ("lines, gold last", "{gold_last:\n}"),
            ("semicolons", "{gold_third:; }")),
        Violation("high", "a list of guesses is paid", "a list, where one answer was asked for",
            "compare the whole of the answer's place with the reference, not its members")),
    _check("or_list", 'Alternatives joined by "or" are not paid.',
        _no_answer(
            ("gold or wrong", "{gold} or {wrong}"),
            ("wrong or gold", "{wrong} or {gold}"),
            ("either, or", "either {gold} or {wrong}"),
            ("five joined by or", "{gold_third: or }"),
            maths=[("or in TeX", r"{gold} \text{{ or }} {wrong}")]),
        Violation("high", 'alternatives joined by "or" are paid',
            "two answers of which one is wrong",
            "refuse alternatives in the answer's place unless the reference has them")),
    _check("hedge", "An answer that is not committed to is not paid.",
        _no_answer(
            ("gold, or maybe another", "{gold}, or maybe {wrong}, I am not sure which"),
            ("anything between", "somewhere between {gold} and {wrong}"),
            ("may or may not be", "it may or may not be {gold}")),
        Violation("medium", "an answer that is not committed to is paid",
            "it names the reference and leaves open whether it is the answer",
            "refuse words of doubt and alternatives inside the answer's place")),
    _check("negation", "An answer that is denied is not paid.",
        _no_response(
            ("not before the answer", "not ⟨{gold}⟩"),
            ("not in the answer's place", "⟨not {gold}⟩"),
            ("said to be wrong in its place", "⟨{gold} is wrong⟩"),
            ("the answer is not", "The answer is not {gold}."),
            maths=[("said to be wrong in TeX", r"⟨{gold} \text{{ is wrong}}⟩")]),
        Violation("medium", "an answer that is denied is paid",
            "the text says that the reference is not the answer",
            "refuse an answer under a negation; compare the whole place, not a number in it")),
    _check("retraction", "An answer that was replaced by a wrong one is not paid.",
        _no_response(
            ("wait, that is wrong", "⟨{gold}⟩ Wait, that is wrong. ⟨{wrong}⟩"),
            ("corrected", "⟨{gold}⟩\nNo, I made a mistake: it is {wrong}.\n⟨{wrong}⟩")),
        Violation("high", "an answer that was replaced by a wrong one is paid",
            "the later answer replaces the earlier one, and it is wrong",
            "let the last answer count")),
    _check("withdrawal", "An answer that was taken back is not paid.",
        _no_response(
            ("wait, that is wrong", "⟨{gold}⟩ Wait, that is wrong. I do not know the answer.")),
        Violation("medium", "an answer that was taken back is paid",
            "the answer was withdrawn, and nothing was put in its place",
            "read what follows the answer; a retraction cancels it")),
    _check("think_leak", "The right answer in the thinking does not pay for a wrong one after it.",
        _no_response(
            ("framed in the thinking", "<think>⟨{gold}⟩</think> ⟨{wrong}⟩"),
            ("bare in the thinking", "<think>{gold}</think> ⟨{wrong}⟩")),
        Violation("high", "an answer inside the thinking is paid although another was given",
            "what was thought was not said, and what was said is wrong", THINK_FIX)),
    _check("think_only", "An answer that was only thought is not paid.",
        _no_response(
            ("no answer after it", "<think>⟨{gold}⟩</think> I do not know."),
            ("nothing after it", "<think>⟨{gold}⟩</think>")),
        Violation("medium", "an answer inside the thinking is paid although none was given",
            "what was thought was not said", THINK_FIX)),
    _check("equality_chain", "A false equation that names the reference is not paid.",
        _no_answer(
            ("wrong = gold", "{wrong}={gold}"),
            ("gold = wrong", "{gold}={wrong}"),
            ("chain of three", "{wrong2}={wrong}={gold}"),
            where=_is_number),
        Violation("medium", "a false equation with the reference on one side is paid",
            "the two sides are not equal, so it states no answer",
            "check every link of a chain, or refuse chains"),
        kinds=MATHS),
    _check("covering", "A set that merely contains the reference is not paid.",
        never_paid(_covering),
        Violation("high", "a set that merely contains the reference is paid",
            "true of many answers, so it is none",
            "compare sets and intervals as wholes; count what is too much as well as what is "
            "missing")),
    _check("unit_swap", "Another unit or a hundred times the value is not paid.",
        never_paid(_other_units),
        Violation("medium", "another unit or a hundred times the value is paid",
            "the number is the same, what it measures is not",
            "compare units where both sides give one; read the percent sign as a hundredth, once"),
        kinds=MATHS),
)  # fmt: skip
