"""Checks of text attacks: hidden, similar and odd characters, and harmless layout."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from assay.audit.checks.forms import is_single, near_misses, number_of, read_record
from assay.audit.checks.shape import with_reference
from assay.audit.context import CheckContext, Probe, always_paid, never_paid
from assay.audit.data import checks_of, named_texts, read_table
from assay.audit.findings import CheckResult, Sample

LOOKALIKES: Final = named_texts("lookalikes")
HIDING: Final = named_texts("hiding")
ODD: Final = (
    ("NUL", "\x00"), ("lone surrogate", "\ud800"), ("reversed surrogates", "\udc00\ud83d"),
    ("right-to-left marks", "\u202e\u2066\u200f"), ("noncharacter", "\uffff\U0010ffff"),
    ("stacked accents", "e" + "\u0301" * 60),
    ("control characters", "".join(map(chr, range(1, 32)))),
    ("line and paragraph separators", "\u2028\u2029\x85"), ("private use", "\ue000\U000f0000"),
    ("emoji sequence", "👩\u200d🚀🏽"), ("superscripts and circled digits", "²①⅓٣"),
    ("Turkish letters", "İıẞ"),
)  # fmt: skip
LANGUAGES: Final = named_texts("languages")
SCRIPTS: Final[tuple[tuple[str, str, str], ...]] = tuple(map(tuple, read_table("texts")["scripts"]))
"""A reference, and another name of the same script."""
DENIALS: Final = named_texts("denials")
LAYOUTS: Final = named_texts("layouts")
"""The first two are right for an answer without a place of its own, too."""


def _is_single(row: Sample) -> bool:
    return is_single(row.reference_text)


def _lookalikes(context: CheckContext) -> Iterator[Probe]:
    for row in context.rows(where=lambda row: number_of(row.reference_text) is not None):
        for name, letter in LOOKALIKES:
            answer = f"{row.reference_text}{letter}"
            yield context.answer_probe(row, f"{name} after the number", answer)


def _hidden_tails(context: CheckContext) -> Iterator[Probe]:
    for row in context.rows(where=_is_single):
        tail = "7" if number_of(row.reference_text) is not None else "Quill"
        if context.kind == "choice":
            tail = next(text for _, text in near_misses("choice", row, row.reference_text))
        for name, hider in HIDING:
            yield context.answer_probe(row, name, f"{row.reference_text}{hider}{tail}")


def _other_scripts(context: CheckContext) -> Iterator[Probe]:
    """Yield wrong and empty answers to references without any Latin letter."""
    for row in context.rows(3, _is_single):
        for script, reference, other in SCRIPTS:
            for name, text in ((f"another {script} name", other), (f"nothing for {script}", "")):
                probe = context.answer_probe(row, name, text)
                yield replace(probe, call=with_reference(probe.call, row, reference))


def _foreign_denials(context: CheckContext) -> Iterator[Probe]:
    for row in context.rows(5, _is_single):
        for name, phrase in DENIALS:
            text = phrase.format(row.reference_text)
            yield context.probe(row, name, text, text)


def _odd_text(context: CheckContext) -> CheckResult:
    probes = [
        context.probe(row, f"{name} {where}", text)
        for row in context.rows(3)
        for name, odd in ODD
        for where, text in (("alone", odd), ("in the answer's place", context.frame.put(f"1{odd}")))
    ]
    hits = [one for one in context.results(probes) if one.result.failed]
    result = context.report_hits(hits, len(probes))
    if not result.findings or result.findings[0].reproducer.messages is not None:
        return result
    (finding,) = result.findings
    shortest = context.shrink(finding.reproducer, lambda result: result.failed)
    return CheckResult((replace(finding, reproducer=shortest),))


def _layouts(context: CheckContext) -> Iterator[Probe]:
    for row in context.paid_rows(where=lambda row: read_record(row.reference_text) is None):
        framed = context.frame.put(row.reference_text)
        for name, layout in LAYOUTS if context.frame.anchored else LAYOUTS[:2]:
            yield context.probe(row, name, layout.replace("{}", framed))


def _unicode_forms(context: CheckContext) -> Iterator[Probe]:
    for row in context.paid_rows(where=_is_single):
        text = row.reference_text
        wide = "".join(chr(ord(char) + 0xFEE0) if "!" <= char <= "~" else char for char in text)
        yield context.answer_probe(row, "full-width characters", wide)
        if text.startswith("-"):
            yield context.answer_probe(row, "minus sign", text.replace("-", "−"))


def _zero_width(context: CheckContext) -> Iterator[Probe]:
    for row in context.paid_rows(where=_is_single):
        yield context.answer_probe(row, "zero-width space", f"{row.reference_text}\u200b")


def _languages(context: CheckContext) -> Iterator[Probe]:
    for row in context.paid_rows(5, _is_single):
        for name, phrase in LANGUAGES:
            yield context.probe(row, name, phrase.format(row.reference_text))


CHECKS: Final = checks_of(
    lookalike=never_paid(_lookalikes), hidden_tail=never_paid(_hidden_tails),
    other_scripts=never_paid(_other_scripts), odd_text=_odd_text, layout=always_paid(_layouts),
    unicode_forms=always_paid(_unicode_forms), zero_width=always_paid(_zero_width),
    languages=always_paid(_languages), foreign_denial=never_paid(_foreign_denials),
)  # fmt: skip
