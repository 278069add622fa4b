"""What happened at a step, in words: a sentence for each event, code and mark."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.schema.evidence import StepEvents
from assay.schema.step_score import SENTENCES

CLASSES: dict[str, str] = {
    "contract_pass": "The outcome contract passed on fresh facts.",
    "target_reached": "The step led to where the task wanted the agent.",
    "recovered": "What had failed before was achieved now.",
    "progress": "Something changed that had not been so before.",
    "observation": "The agent looked, and changed nothing.",
    "unknown": "Nothing was recorded that could tell.",
    "no_progress": "Nothing changed in the parts of the page that can be compared.",
    "repeat": "The same call in the same state as before: a loop.",
    "contract_fail": "The outcome contract failed.",
    "failure": "The call failed.",
    "blocked": "Something stands between the agent and the page.",
    "destructive_ungated": "A risky action was done without the confirmation that it needs.",
}
STRENGTHS: dict[str, str] = {
    "strong_positive": "a strong sign that the step helped",
    "weak_positive": "a weak sign that the step helped",
    "neutral": "neither for nor against the step",
    "negative": "a sign against the step",
    "hard_negative": "a step that must not happen",
}
GATES: dict[str, str] = {
    "not_required": "needs no confirmation",
    "satisfied": "the confirmation that it needs was given",
    "missing": "the confirmation that it needs was not given",
    "unknown": "whether a confirmation is needed is not known",
}
EFFECTS: dict[str, str] = {
    "read": "only reads",
    "browser": "changes the page or the browser, and can be undone there",
    "external": "sends something to the world outside",
    "destructive": "deletes or overwrites something",
    "irreversible": "cannot be undone",
}
OUTCOME: dict[str, str] = {
    "tool": "which tool was called",
    "effect": "the worst that the call can do",
    "gate": "whether the confirmation that policy asks for was given",
    "ok": "whether the tool says that its call worked",
    "error": "how the call failed",
    "block": "what stands in the way",
    "items": "items that were extracted and had not been before",
}
STATUSES: dict[int, str] = {
    200: "the page was loaded",
    204: "answered without a page",
    301: "moved",
    302: "moved",
    304: "not changed",
    400: "the request was refused as malformed",
    401: "a login is needed",
    403: "access is denied",
    404: "there is no such page",
    408: "the site did not answer in time",
    410: "the page is gone",
    429: "too many requests",
    500: "the site failed",
    502: "the site failed",
    503: "the site is not available",
    504: "the site did not answer in time",
}
_EVENTS: dict[str, tuple[str, str]] = {
    "redirects": ("a redirect on the way to the page", "{n} redirects on the way to the page"),
    "answered": ("a request of the step was answered", "{n} requests of the step were answered"),
    "failed_writes": (
        "a request that changes something was refused or broke off",
        "{n} requests that change something were refused or broke off",
    ),
    "failed_reads": (
        "a request for data was refused or broke off",
        "{n} requests for data were refused or broke off",
    ),
    "pending": (
        "a request had no answer yet when the page was read",
        "{n} requests had no answer yet when the page was read",
    ),
    "rejected": ("the page refused a field", "the page refused {n} fields"),
    "downloads": ("a download began", "{n} downloads began"),
    "tabs": ("a tab was opened", "{n} tabs were opened"),
    "dialogs": ("a dialog was opened", "{n} dialogs were opened"),
    "copies": ("something was copied to the clipboard", "{n} writes to the clipboard"),
    "scrolled": ("the page moved by a pixel", "the page moved by {n} pixels"),
    "popups": ("a pop-up came up by itself", "{n} pop-ups came up by themselves"),
}
BAD_EVENTS = frozenset({"failed_writes", "failed_reads", "rejected", "pending"})


def event_sentences(events: Any) -> tuple[tuple[str, bool], ...]:
    """What the browser reported of a step, each with whether it is bad news.

    What another version wrote in another form is left out.
    """
    if not isinstance(events, Mapping):
        return ()
    sentences: list[tuple[str, bool]] = []
    status = events.get("status")
    if isinstance(status, int) and not isinstance(status, bool):
        words = STATUSES.get(status, "refused" if status >= 400 else "answered")
        sentences.append((f"the site answered {status}: {words}", status >= 400))
    for name in StepEvents._fields:
        n = events.get(name)
        if name in _EVENTS and isinstance(n, int) and not isinstance(n, bool) and n:
            one, many = _EVENTS[name]
            sentences.append((one if n == 1 else many.format(n=f"{n:,}"), name in BAD_EVENTS))
    holds = events.get("kept")
    if isinstance(holds, bool):
        word = "holds" if holds else "does not hold"
        sentences.append((f"the field {word} what was put into it", not holds))
    return tuple(sentences)


def code_sentence(code: str, value: str = "") -> str:
    """The sentence for a code of a step, or for the value of one; empty for any other text."""
    tables = {"gate": GATES, "effect": EFFECTS}
    if code in tables and value:
        return tables[code].get(value, "")
    if code in ("error", "block") and value:
        return SENTENCES.get(f"{code}_{value}", "")
    for table in (CLASSES, STRENGTHS, OUTCOME):
        if code in table:
            return table[code]
    sentence = SENTENCES.get(code, "")
    return sentence.replace("{n}", "so many")
