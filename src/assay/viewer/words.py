"""The words of the pages: one sentence for each number, code, mark and abbreviation.

A page shows the sentence when a word is pointed at, and all of its words under "Words and keys".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.lazy import package_table
from assay.report.causes import RULES, SUGGESTIONS, Cause
from assay.schema.evidence import StepEvents
from assay.schema.step_score import SENTENCES

TABLES: dict[str, dict[Any, Any]] = package_table(__package__, "words")
WORDS: dict[str, str] = TABLES["words"]
ENDINGS: dict[str, str] = TABLES["endings"]
VERDICTS: dict[str, str] = TABLES["verdicts"]
BAD_EVENTS = frozenset({"failed_writes", "failed_reads", "rejected", "pending"})


def _describe_cause(cause: Cause) -> str:
    """What the rule asks for, and what it suggests, as two sentences."""
    rule = RULES.get(cause)
    condition = (rule.__doc__ or "").partition("\n\n")[0] if rule is not None else ""
    sentence = " ".join(condition.split())
    fallback = "The answer differs from the reference, and nothing recorded explains why."
    return f"{sentence or fallback} To try: {SUGGESTIONS[cause]}.".replace("`", "")


CAUSES: dict[str, str] = {cause: _describe_cause(cause) for cause in SUGGESTIONS}
CLASSES: dict[str, str] = TABLES["classes"]


def event_sentences(events: Any) -> tuple[tuple[str, bool], ...]:
    """What the browser reported of a step, each with whether it is bad news.

    What another version wrote in another form is left out.
    """
    if not isinstance(events, Mapping):
        return ()
    sentences: list[tuple[str, bool]] = []
    status = events.get("status")
    if isinstance(status, int) and not isinstance(status, bool):
        words = TABLES["statuses"].get(str(status), "refused" if status >= 400 else "answered")
        sentences.append((f"the site answered {status}: {words}", status >= 400))
    for name in StepEvents._fields:
        n = events.get(name)
        if name in TABLES["events"] and isinstance(n, int) and not isinstance(n, bool) and n:
            one, many = TABLES["events"][name]
            sentences.append((one if n == 1 else many.format(n=f"{n:,}"), name in BAD_EVENTS))
    holds = events.get("kept")
    if isinstance(holds, bool):
        word = "holds" if holds else "does not hold"
        sentences.append((f"the field {word} what was put into it", not holds))
    return tuple(sentences)


def code_sentence(code: str, value: str = "") -> str:
    """The sentence for a code of a step, or for the value of one; empty for any other text."""
    if code in ("gate", "effect") and value:
        return str(TABLES[f"{code}s"].get(value, ""))
    if code in ("error", "block") and value:
        return SENTENCES.get(f"{code}_{value}", "")
    for table in ("classes", "strengths", "outcome"):
        if code in TABLES[table]:
            return str(TABLES[table][code])
    sentence = SENTENCES.get(code, "")
    return sentence.replace("{n}", "so many")
