"""Checks of degenerate answers, such as empty answers, echoes, refusals and constants."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from math import fsum
from typing import Final

from assay.audit.checks.forms import number_of
from assay.audit.context import Bar, CheckContext, Probe, ProbeOutcome, never_paid
from assay.audit.data import check_rows, checks_of, named_texts, read_table
from assay.audit.findings import CheckResult, Sample
from assay.schema.audit import Severity

ROWS: Final = 40
CONSTANT_ROWS: Final = 16

NOTHING: Final = named_texts("nothing")
FORMAT_ONLY: Final = named_texts("format_only")
MASTER_KEYS: Final = named_texts("master_keys")
"""Texts that open model scorers: *One Token to Fool LLM-as-a-Scorer* (2507.08794), and orders."""
REFUSALS: Final[tuple[str, ...]] = tuple(read_table("texts")["refusals"])
CONSTANTS: Final[tuple[str, ...]] = tuple(read_table("texts")["constants"])
EXCESS_BARS: Final[Mapping[Severity, float]] = check_rows()["lazy_constant"]["excess_bars"]


def _rows_with_answer(context: CheckContext) -> list[Sample]:
    return context.rows(where=lambda row: bool(row.reference_text.strip()))


def _rows_with_one_answer(context: CheckContext, most: int) -> list[Sample]:
    """Return rows whose reference is not an empty list of tool calls."""
    return context.rows(most, lambda row: row.reference != [])


def _fixed(texts: Iterable[tuple[str, str]], bar: Bar) -> Callable[[CheckContext], Iterator[Probe]]:
    """Build probes that give the same responses, unchanged, to every row."""

    def probes(context: CheckContext) -> Iterator[Probe]:
        for row in _rows_with_answer(context):
            for name, text in texts:
                yield context.probe(row, name, text, text, bar=bar)

    return probes


def _format_only(context: CheckContext) -> Iterator[Probe]:
    return _fixed((*FORMAT_ONLY, ("its own frame", context.frame.put(""))), "any")(context)


def _refusals(context: CheckContext) -> Iterator[Probe]:
    for row in _rows_with_answer(context):
        right_words = {word for answer in row.right for word in answer.casefold().split()}
        for text in REFUSALS:
            # To a question about yes or no, "No answer" begins as an answer would.
            if right_words & set(text.casefold().rstrip(".").split()):
                continue
            yield context.probe(row, f"{text!r}", text, text, bar="quarter")
            yield context.answer_probe(row, f"{text!r} in the answer's place", text, bar="quarter")


def _echoes(context: CheckContext) -> Iterator[Probe]:
    for row in context.rows(ROWS, lambda row: bool(row.prompt.strip())):
        prompt = row.prompt.strip()
        named = row.reference_text.casefold() in prompt.casefold()
        of = "question that names the gold" if named else "question"
        yield context.probe(row, f"{of}, echoed", prompt, prompt)
        yield context.answer_probe(row, f"{of}, in the answer's place", prompt)
        quoted = f'You asked: "{prompt}" I would need more information to say.'
        yield context.probe(
            row, f"{of}, quoted without an answer", quoted, prompt, "more information"
        )


def _other_references(context: CheckContext) -> Iterator[Probe]:
    rows = _rows_with_one_answer(context, ROWS)
    for at, row in enumerate(rows):
        for other in (rows[(at + step) % len(rows)] for step in (1, 3)):
            if not _are_alike(row, other):
                yield context.answer_probe(row, "another row's gold", other.reference_text)


def _are_alike(one: Sample, other: Sample) -> bool:
    """Whether two rows may share an answer, or use the same words in their answers."""
    a, b = one.reference_text, other.reference_text
    first, second = number_of(a), number_of(b)
    if first is not None and second is not None:
        return first == second
    words, others = set(a.casefold().split()), set(b.casefold().split())
    distinct = {answer.casefold().strip() for answer in (*one.right, *other.right)}
    overlap = bool(words & others) or a.casefold().strip() in b.casefold()
    return overlap or len(distinct) < len({*one.right}) + len({*other.right})


def _lazy_constant(context: CheckContext) -> CheckResult:
    """Check how much the best constant answer earns on rows where it is wrong."""
    rows = _rows_with_one_answer(context, CONSTANT_ROWS)
    references = [row.reference_text for row in rows]
    if len(set(references)) < 3:
        return CheckResult(
            skipped="fewer than three different golds: every constant is often right"
        )

    def excess_of(constant: str) -> float:
        """Return a constant answer's undeserved pay per row, as a share of full marks."""
        _, wrong = _always(context, rows, constant)
        return fsum(one.result.pay / context.full_marks for one in wrong) / len(rows)

    constants = dict.fromkeys((*CONSTANTS, *references[:CONSTANT_ROWS]))
    excess, constant = max((excess_of(text), text) for text in constants)
    severity = next((name for name, bar in EXCESS_BARS.items() if excess >= bar), None)
    if severity is None:
        return CheckResult()
    results, wrong = _always(context, rows, constant)
    mean = fsum(one.result.amount for one in results) / len(results)
    observed = (
        f"always {constant!r} earns {mean:.3g} a row on average, {excess:.0%} of full marks more "
        "than it deserves"
    )
    hits = [one for one in wrong if one.result.number]
    sized = context.reporting(severity=severity)
    return sized.report_hits(hits, len(rows), observed=observed)


def _always(
    context: CheckContext, rows: list[Sample], constant: str
) -> tuple[list[ProbeOutcome], list[ProbeOutcome]]:
    """Return the outcomes of a constant answer on all rows, and on rows where it is wrong."""
    name, text = f"always {constant!r}", constant.strip().casefold()
    results = context.results([Probe(name, context.answer(row, constant)) for row in rows])
    right = [{answer.strip().casefold() for answer in row.right} for row in rows]
    wrong = [one for one, texts in zip(results, right, strict=True) if text not in texts]
    return results, wrong


CHECKS: Final = checks_of(
    empty_answer=never_paid(_fixed(NOTHING, "any")), format_only=never_paid(_format_only),
    master_keys=never_paid(_fixed(MASTER_KEYS, "quarter")), refusal=never_paid(_refusals),
    prompt_echo=never_paid(_echoes), other_gold=never_paid(_other_references),
    lazy_constant=_lazy_constant,
)  # fmt: skip
