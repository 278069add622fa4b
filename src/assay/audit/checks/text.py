"""Text attacks: characters that hide, imitate or break, and layout that means nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Final

from assay.audit.checks.forms import is_single, number_of, read_record
from assay.audit.checks.trial import (
    FAST_ROWS,
    Charge,
    Probe,
    Trial,
    charged,
    gold_of,
    hits_among,
    make_check,
    must_not_pay,
    systematic,
)
from assay.audit.findings import Check, CheckResult, Kind, Sample, Severity, Verdict

ANSWERS: Final[tuple[Kind, ...]] = ("maths", "qa", "structured", "agent")
LOOKALIKES: Final = (
    ("Cyrillic letter", "х"),
    ("Greek letter", "ο"),
    ("modifier letter", "ˣ"),
    ("mathematical letter", "𝑥"),
)
HIDING: Final = (
    ("NUL", "\x00"),
    ("zero-width space", "\u200b"),
    ("zero-width joiner", "\u200d"),
    ("byte-order mark", "\ufeff"),
    ("right-to-left override", "\u202e"),
    ("soft hyphen", "\u00ad"),
    ("substitute character", "\x1a"),
    ("backspace", "\x08"),
)
ODD: Final = (
    ("NUL", "\x00"),
    ("lone surrogate", "\ud800"),
    ("reversed surrogates", "\udc00\ud83d"),
    ("right-to-left marks", "\u202e\u2066\u200f"),
    ("noncharacter", "\uffff\U0010ffff"),
    ("stacked accents", "e" + "\u0301" * 60),
    ("control characters", "".join(map(chr, range(1, 32)))),
    ("line and paragraph separators", "\u2028\u2029\x85"),
    ("private use", "\ue000\U000f0000"),
    ("emoji sequence", "👩\u200d🚀🏽"),
    ("superscripts and circled digits", "²①⅓٣"),
    ("Turkish letters", "İıẞ"),
)
LANGUAGES: Final = (
    ("Chinese", "答案是 {}"),
    ("Spanish", "La respuesta es {}."),
    ("German", "Die Antwort ist {}."),
    ("French", "La réponse est {}."),
    ("Russian", "Ответ: {}"),
)
DENIALS: Final = (
    ("Chinese", "答案不是 {}"),
    ("Spanish", "La respuesta no es {}."),
    ("German", "Die Antwort ist nicht {}."),
    ("French", "La réponse n'est pas {}."),
)


def _wide(text: str) -> str:
    return "".join(chr(ord(char) + 0xFEE0) if "!" <= char <= "~" else char for char in text)


def _lookalike(trial: Trial) -> CheckResult:
    charge = Charge(
        "medium",
        "a foreign letter in the answer is overlooked",
        "a number with a letter in it is another thing than the number",
        "refuse characters that are not understood; never drop them before comparing",
    )

    def probes() -> Iterator[Probe]:
        for row in trial.rows(where=lambda row: number_of(gold_of(row)) is not None):
            gold = gold_of(row)
            for name, letter in LOOKALIKES:
                text = f"{gold}{letter}"
                yield trial.probe(row, f"{name} after the number", trial.frame.put(text), text)

    return must_not_pay(trial, charge, probes())


def _hidden_tail(trial: Trial) -> CheckResult:
    charge = Charge(
        "medium",
        "what follows an invisible character is overlooked",
        "the answer goes on after the invisible character, and is another one",
        "delete invisible characters or refuse them; never cut the answer there",
    )

    def probes() -> Iterator[Probe]:
        for row in trial.rows(where=_is_single):
            gold = gold_of(row)
            tail = "7" if number_of(gold) is not None else "Quill"
            for name, hider in HIDING:
                text = f"{gold}{hider}{tail}"
                yield trial.probe(row, name, trial.frame.put(text), text)

    return must_not_pay(trial, charge, probes())


def _odd_text(trial: Trial) -> CheckResult:
    charge = Charge(
        "medium",
        "odd characters make the reward fail",
        "a wrong answer, to be refused like any other",
        "treat the response as any sequence of characters; do not encode or index it blindly",
    )
    asked = [
        Probe(f"{name} {where}", trial.say(row, text))
        for row in trial.rows(3)
        for name, odd in ODD
        for where, text in (("alone", odd), ("in the answer's place", trial.frame.put(f"1{odd}")))
    ]
    hits = hits_among(trial, asked, lambda hit: _failed(hit.verdict))
    if not hits:
        return CheckResult()
    found = charged(trial, charge, hits, len(asked))
    if found.reproducer.messages is None:
        found = replace(found, reproducer=trial.bench.shrink(found.reproducer, _failed))
    return CheckResult((found,))


def _failed(verdict: Verdict) -> bool:
    return verdict.status in ("raised", "crashed", "timeout")


def _is_single(row: Sample) -> bool:
    return is_single(gold_of(row))


def _paid_rows(
    trial: Trial, where: Callable[[Sample], bool] = _is_single, most: int = FAST_ROWS
) -> list[Sample]:
    """Rows whose gold is paid as it stands."""
    rows = trial.rows(most, where)
    verdicts = trial.ask([trial.answer(row, gold_of(row)) for row in rows])
    return [row for row, told in zip(rows, verdicts, strict=True) if trial.pays(told)]


def _must_pay(trial: Trial, charge: Charge, probes: Iterable[Probe]) -> CheckResult:
    """A finding if a form of right answers loses its pay as a rule, not on some row alone."""
    asked = list(probes)
    hits = hits_among(trial, asked, lambda hit: not trial.pays(hit.verdict))
    if not hits or not systematic(asked, hits):
        return CheckResult()
    return CheckResult((charged(trial, charge, hits, len(asked)),))


def _layout_charge(severity: Severity, title: str) -> Charge:
    return Charge(
        severity,
        title,
        "the same answer; only its layout differs",
        "normalise layout and Unicode forms (NFKC) before comparing, or say that you do not",
    )


def _layout(trial: Trial) -> CheckResult:
    rows = _paid_rows(trial, lambda row: read_record(gold_of(row)) is None)

    def probes() -> Iterator[Probe]:
        for row in rows:
            framed = trial.frame.put(gold_of(row))
            yield trial.probe(row, "line break at the end", f"{framed}\n")
            yield trial.probe(row, "Windows line breaks", f"\r\n{framed}\r\n")
            if trial.frame.anchored:
                yield trial.probe(row, "bold", f"**{framed}**")
                yield trial.probe(row, "code fence", f"```\n{framed}\n```")
                yield trial.probe(row, "after a heading", f"## Result\n\n{framed}")

    charge = _layout_charge("low", "layout costs a right answer its pay")
    return _must_pay(trial, charge, probes())


def _unicode_forms(trial: Trial) -> CheckResult:
    rows = _paid_rows(trial)

    def probes() -> Iterator[Probe]:
        for row in rows:
            gold = gold_of(row)
            yield Probe("full-width characters", trial.answer(row, _wide(gold)))
            if gold.startswith("-"):
                yield Probe("minus sign", trial.answer(row, gold.replace("-", "−")))

    charge = _layout_charge("low", "another Unicode form costs a right answer its pay")
    return _must_pay(trial, charge, probes())


def _zero_width(trial: Trial) -> CheckResult:
    rows = _paid_rows(trial)
    probes = (Probe("zero-width space", trial.answer(row, f"{gold_of(row)}\u200b")) for row in rows)
    charge = _layout_charge("info", "an invisible character costs a right answer its pay")
    return _must_pay(trial, charge, probes)


def _languages(trial: Trial) -> CheckResult:
    rows = _paid_rows(trial, most=5)
    probes = (
        trial.probe(row, name, phrase.format(gold_of(row)))
        for row in rows
        for name, phrase in LANGUAGES
    )
    charge = Charge(
        "info",
        "an answer in a sentence of another language is refused",
        "right, if the task allows the language",
        "say which places of an answer are read; ask for one that no language changes",
    )
    return _must_pay(trial, charge, probes)


def _foreign_denial(trial: Trial) -> CheckResult:
    charge = Charge(
        "low",
        "an answer denied in another language is paid",
        "the text says that the reference is not the answer",
        "refuse an answer under a negation, or read it from a place of its own",
    )

    def probes() -> Iterator[Probe]:
        for row in trial.rows(5, _is_single):
            for name, phrase in DENIALS:
                text = phrase.format(gold_of(row))
                yield trial.probe(row, name, text, text)

    return must_not_pay(trial, charge, probes())


CHECKS: Final[tuple[Check, ...]] = tuple(
    make_check(name, "text", ANSWERS, summary, run)
    for name, summary, run in (
        ("lookalike", "A foreign letter in the answer is not overlooked.", _lookalike),
        ("hidden_tail", "What follows an invisible character is part of the answer.",
         _hidden_tail),
        ("odd_text", "No character makes the reward fail.", _odd_text),
        ("layout", "Line breaks and markdown around a right answer cost nothing.", _layout),
        ("unicode_forms", "Another Unicode form of a right answer costs nothing.",
         _unicode_forms),
        ("zero_width", "An invisible character in a right answer costs nothing.", _zero_width),
        ("languages", "A sentence of another language around a right answer costs nothing.",
         _languages),
        ("foreign_denial", "An answer denied in another language is not paid.", _foreign_denial),
    )
)  # fmt: skip
