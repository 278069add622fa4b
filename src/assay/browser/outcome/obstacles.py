"""What stood in the way of a step, from the page before and after it and from its requests."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Final

from assay.browser.observe.inputs import NativeDialog
from assay.browser.observe.requests import RequestLog
from assay.browser.observe.snapshot import PageSnapshot
from assay.browser.outcome.classify import detect_block, detect_wall
from assay.browser.outcome.notices import Notice, is_refusal, read_notice, read_wall
from assay.browser.outcome.risk import asks_for_login
from assay.browser.words.languages import plain
from assay.schema.blocking import BlockCode
from assay.schema.evidence import PageFacts, StepEvents
from assay.schema.outcome import Effect, ToolOutcome, reported_failure

SPARSE_CHARS: Final = 500
"""A page with no more than that on it that is new may be nothing but a notice."""
HEADED_CHARS: Final = 1_500
"""A page with no more than that may be about what its heading says is wrong."""
PLAIN_CHARS: Final = 160
TEXT_CHARS: Final = 300
_CONTROL: Final = re.compile(r'\[\d+\] [\w-]+ "(?:[^"\\]|\\.)*"(?: -> \S+)?')
_HEADING: Final = re.compile(r'heading (".*")')
_TITLE_PARTS: Final = re.compile(r"\s+[|–—·-]\s+")


def find_block(
    facts: PageFacts,
    snapshot: PageSnapshot,
    before: PageSnapshot | None,
    requests: RequestLog,
    *,
    requested: str | None,
    target: str,
    blocked: bool,
    notice: Notice | None = None,
) -> BlockCode | None:
    """The code of what blocks the agent; `None` when nothing does.

    `requested` is the address that the agent navigated to, `target` the name of what it clicked,
    and `blocked` whether it had been blocked before. What was on the page before the call, and did
    not block, has not stopped the call. `notice` is what the page says of itself.
    """
    document = requests.document
    fresh = document is not None or before is None
    chain = document.redirects if document is not None else ()
    if not fresh and not blocked:
        assert before is not None
        counts = {
            name: n if name in ("*", "noscript") else max(0, n - before.counts.get(name, 0))
            for name, n in facts.counts.items()
        }
        facts = replace(facts, counts=counts, status=None)
    sent_from = requested if requested is not None else chain[0] if chain else None
    block = detect_block(facts, requested=sent_from)
    if block is not None:
        return block
    words = target if requested is None else requested.replace("/", " ").replace("-", " ")
    wall = snapshot.wall
    if wall == "digits":
        # A short field for digits asks for many things; after a password it asks for a code.
        wall = "code" if before is not None and _has_password(before) else ""
    block = detect_wall(
        wall,
        before="" if before is None or blocked else before.wall,
        fresh=fresh,
        asks_for_login=bool(words) and asks_for_login(words),
        refused=requests.own().refused,
    )
    if block is not None or notice is None or notice.block is None:
        return block
    if notice.kind == "login" and words and asks_for_login(words):
        return None
    sent = submitted(requests) or requests.wrote
    if notice.kind == "gate" and sent and not (before and _has_password(before)):
        # Who hands in a form is told to look for the mail that confirms it.
        return None
    asked_for = notice.kind in ("login", "gate", "robot") and _shares_word(notice, words)
    return None if asked_for else notice.block


def _has_password(page: PageSnapshot) -> bool:
    return page.wall in ("login", "lone") or any(secret for _, secret, _ in page.sendable)


def _shares_word(notice: Notice, words: str) -> bool:
    return any(len(word) > 3 and word in notice.words for word in plain(words).split())


def find_notice(
    snapshot: PageSnapshot,
    before: PageSnapshot | None,
    dialogs: Sequence[NativeDialog],
    *,
    fresh: bool,
    own: bool,
    settled: bool = True,
) -> Notice | None:
    """What the page says of itself since the call; `None` when it says nothing.

    `fresh` is whether another document came, `own` whether only what stands by the field of the
    call counts, `settled` whether nothing is still to come.
    """
    messages = [
        (text, mark)
        for text, mark, near in snapshot.messages
        if mark != "good" and (near or not own) and (before is None or text not in before.plain)
    ]
    alerts = [dialog.message for dialog in dialogs if dialog.kind == "alert"]
    marked = [*alerts, *(text for text, mark in messages if mark)]
    if own:
        return read_notice((), (), marked) or _by_look(messages)
    if _is_empty(snapshot) and (fresh or (settled and before and not _is_empty(before))):
        # Nothing came where a page was to come, or nothing is left of the page.
        return Notice("missing", frozenset())
    headings, sentences = _news(snapshot, before)
    length = sum(map(len, sentences)) + sum(map(len, headings))
    moved = fresh or before is None or before.place != snapshot.place or bool(headings)
    title = _TITLE_PARTS.split(snapshot.title)
    if length <= SPARSE_CHARS and (before is None or before.title != snapshot.title):
        headings += title
    return read_notice(
        headings if length <= HEADED_CHARS else (),
        sentences if moved and length <= SPARSE_CHARS else (),
        marked,
    ) or (_by_look(messages) or read_wall(text for text, _ in messages if len(text) <= PLAIN_CHARS))


def _is_empty(page: PageSnapshot) -> bool:
    return not (page.plain.strip() or page.refs or page.drawn)


def _by_look(messages: Sequence[tuple[str, str]]) -> Notice | None:
    """A failure that the colour of a message tells, or how it begins."""
    for text, mark in messages:
        letters = sum(letter.isalpha() for letter in text)
        wordy = letters >= 12 and letters > 2 * sum(letter.isdigit() for letter in text)
        if (mark == "red" and wordy) or (len(text) <= PLAIN_CHARS and is_refusal(text)):
            return Notice("failed", frozenset())
    return None


def _news(page: PageSnapshot, before: PageSnapshot | None) -> tuple[list[str], list[str]]:
    """The headings and the other lines of a page that the page before did not have."""
    old = set() if before is None else set(_lines(before))
    headings, rest = [], []
    for line in _lines(page):
        if line in old:
            continue
        match = _HEADING.match(line)
        if match is not None:
            headings.append(_CONTROL.sub(r"", json.loads(match[1])).strip())
        elif line.strip():
            rest.append(line.strip())
    return headings, rest


def new_texts(page: PageSnapshot, before: PageSnapshot | None) -> list[str]:
    """The short texts that came with a step; none where so much came that it is a page to read."""
    headings, rest = _news(page, before)
    old = "" if before is None else before.plain
    messages = [text for text, _, _ in page.messages if text not in old]
    if sum(map(len, headings)) + sum(map(len, rest)) > HEADED_CHARS:
        return messages
    return [*messages, *headings, *(line for line in rest if len(line) <= TEXT_CHARS)][:40]


def _lines(page: PageSnapshot) -> list[str]:
    """The lines of a page, without what can be acted on in them."""
    lines = f"{page.text}\n{page.inner}".splitlines()
    return [
        _CONTROL.sub("", line).strip() if "heading " not in line else line.strip() for line in lines
    ]


def submitted(requests: RequestLog) -> bool:
    """Whether the document that the step loaded is the answer to a form."""
    return requests.document is not None and requests.document.method == "POST"


def came_back(snapshot: PageSnapshot, before: PageSnapshot | None, requests: RequestLog) -> int:
    """How many forms that were sent are there again with what was typed, to be corrected.

    One with a password is never shown again to somebody who got in.
    """
    if before is None or not submitted(requests):
        return 0
    sent = {fields for fields, _, _ in before.sendable}
    return sum(fields in sent and (secret or typed) for fields, secret, typed in snapshot.sendable)


class OfferedRetries:
    """What a page offers where a step failed: a way to try the same again."""

    def __init__(self) -> None:
        self._goal: str | None = None
        self._offers: frozenset[tuple[str, str]] = frozenset()
        self._refused: frozenset[str] = frozenset()
        """Requests with which the failed step wanted to change something."""

    def goal(self, role: str, name: str, *, written: Collection[str] = ()) -> str | None:
        """What the failed step was meant to achieve, if this one is about the same.

        That is so if its element came with the failure, or if what was refused then, at the same
        address, was done now: another hour, another seat.
        """
        again = not self._refused.isdisjoint(written)
        return self._goal if again or (role, name) in self._offers else None

    def note(
        self,
        outcome: ToolOutcome,
        events: StepEvents | None,
        before: PageSnapshot | None,
        after: PageSnapshot,
        *,
        refused: Collection[str] = (),
    ) -> None:
        """Remember what came with a step that failed; a step that did not fail ends it.

        `refused` are the kinds of request with which it wanted to change something.
        """
        failed = events is not None and reported_failure(events) is not None
        if outcome.error is not None or outcome.block is not None or not failed:
            if outcome.effect != Effect.READ:
                self._goal, self._offers, self._refused = None, frozenset(), frozenset()
            return
        self._goal, self._refused = outcome.target or outcome.call, frozenset(refused)
        # Where the page before is not known, nobody knows what came with the failure.
        known = after if before is None else before
        self._offers = frozenset(after.steady_refs) - frozenset(known.steady_refs)
