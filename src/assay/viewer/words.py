"""The words of the pages: one sentence for each number, code, mark and abbreviation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from assay.report.causes import RULES, SUGGESTIONS, Cause
from assay.schema.evidence import StepEvents
from assay.schema.step_score import SENTENCES
from assay.text.word_tables import read_table


@dataclass(frozen=True, slots=True, kw_only=True)
class PageWords:
    """The sentences of `words.toml`, by topic."""

    words: dict[str, str]
    """Headings, marks and abbreviations."""
    endings: dict[str, str]
    verdicts: dict[str, str]
    classes: dict[str, str]
    """Of a step, as the next four."""
    strengths: dict[str, str]
    gates: dict[str, str]
    effects: dict[str, str]
    outcome: dict[str, str]
    statuses: dict[str, str]
    """By the status of a site's answer."""
    events: dict[str, tuple[str, str]]
    """Of one event, and of several."""
    glyphs: dict[str, str]
    meanings: dict[str, str]
    class_marks: dict[str, str]
    facts: dict[str, str]
    settings: dict[str, tuple[str, ...]]
    channels: dict[str, str]


@cache
def page_words() -> PageWords:
    """The sentences that the pages show."""
    return read_table(PageWords, "assay.viewer", "words.toml")


def _describe_cause(cause: Cause) -> str:
    """The condition of a cause's rule, and its suggestion, as two sentences."""
    rule = RULES.get(cause)
    condition = (rule.__doc__ or "").partition("\n\n")[0] if rule is not None else ""
    sentence = " ".join(condition.split())
    fallback = "The answer differs from the reference, and nothing recorded explains why."
    return f"{sentence or fallback} To try: {SUGGESTIONS[cause]}.".replace("`", "")


CAUSES: dict[str, str] = {cause: _describe_cause(cause) for cause in SUGGESTIONS}
BAD_EVENTS = frozenset({"failed_writes", "failed_reads", "rejected", "pending"})


def event_sentences(events: Any) -> tuple[tuple[str, bool], ...]:
    """Sentences on the browser's events in a step, each with whether it is bad news."""
    if not isinstance(events, Mapping):
        return ()
    sentences: list[tuple[str, bool]] = []
    table = page_words()
    status = events.get("status")
    if isinstance(status, int) and not isinstance(status, bool):
        meaning = table.statuses.get(str(status), "refused" if status >= 400 else "answered")
        sentences.append((f"the site answered {status}: {meaning}", status >= 400))
    for name in StepEvents._fields:
        n = events.get(name)
        if name in table.events and isinstance(n, int) and not isinstance(n, bool) and n:
            one, many = table.events[name]
            sentences.append((one if n == 1 else many.format(n=f"{n:,}"), name in BAD_EVENTS))
    holds = events.get("kept")
    if isinstance(holds, bool):
        word = "holds" if holds else "does not hold"
        sentences.append((f"the field {word} what was put into it", not holds))
    return tuple(sentences)


def code_sentence(code: str, value: str = "") -> str:
    """The sentence for a step's code, or for its value; empty for an unknown code."""
    words = page_words()
    tables = {"gate": words.gates, "effect": words.effects}
    if code in tables and value:
        return tables[code].get(value, "")
    if code in ("error", "block") and value:
        return SENTENCES.get(f"{code}_{value}", "")
    for table in (words.classes, words.strengths, words.outcome):
        if code in table:
            return table[code]
    sentence = SENTENCES.get(code, "")
    return sentence.replace("{n}", "so many")
