"""Recognise notices on a page, such as errors, by the phrases with which they begin.

Notices are new headings, the sentences of a nearly empty new page, and marked messages. In
headings and sentences a phrase counts only at the beginning.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from itertools import chain
from typing import Final, Literal, NamedTuple, TypeAlias

from assay.browser.observe.inputs import NativeDialog
from assay.browser.observe.snapshot import PageSnapshot
from assay.browser.words.languages import (
    LanguageWords,
    languages,
    phrases_in,
    plain,
    shared,
)
from assay.schema.blocking import BlockCode
from assay.text.word_tables import NEVER, phrase_pattern

NoticeKind: TypeAlias = Literal[
    "missing", "broken", "failed", "limited", "robot", "login", "denied", "gate"
]

HEADING_WORDS: Final = 12
SENTENCE_WORDS: Final = 3
"""A phrase of fewer words is too common to mean anything in a sentence."""
SENTENCE_LETTERS: Final = 5
"""The same for languages that are written without spaces."""
TEXT_LIMIT: Final = 300
PAGE_KINDS: Final[tuple[NoticeKind, ...]] = (
    "robot", "limited", "denied", "login", "gate", "missing", "broken",
)  # fmt: skip
MESSAGE_KINDS: Final[tuple[NoticeKind, ...]] = ("robot", "limited", "login", "denied")
"""What a message can say, besides that something failed; as a beginning, too."""
BLOCKS: Final[dict[NoticeKind, BlockCode]] = {
    "limited": "rate_limited", "robot": "bot_check", "login": "auth_redirect",
    "denied": "access_denied", "gate": "gate",
}  # fmt: skip

WALLS: Final = frozenset(("robot", "limited", "denied"))
"""What a text says in full sentences, wherever it comes up."""
QUESTIONS: Final[tuple[NoticeKind, ...]] = ("robot", "gate")
"""What a question can ask for; "Page not notice?" is no notice."""
_SENTENCE: Final = re.compile(
    r"((?:[^.!?。！？؟…|\n\r\t;–—·•]|\.(?=\w)){1,300})([.!?。！？؟…|\n\r\t;–—·•]*)"
)
_QUOTED: Final = re.compile(
    r"“[^”]{0,200}”|„[^“]{0,200}“|«[^»]{0,200}»|\"[^\"]{0,200}\"|「[^」]{0,200}」"
)
"""What a page quotes, such as the words that were searched for."""
SPARSE_CHARS: Final = 500
"""A page with at most so much on it that is new may be nothing but a notice."""
HEADED_CHARS: Final = 1_500
"""A page with at most so much may be about what its heading says is wrong."""
PLAIN_CHARS: Final = 160
TEXT_CHARS: Final = 300
_CONTROL: Final = re.compile(r'\[\d+\] [\w-]+ "(?:[^"\\]|\\.)*"(?: -> \S+)?')
_HEADING: Final = re.compile(r'heading (".*")')
_TITLE_PARTS: Final = re.compile(r"\s+[|–—·-]\s+")
_WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


class Notice(NamedTuple):
    """A notice on a page, such as an error or a login request, with its words."""

    kind: NoticeKind
    words: frozenset[str]

    @property
    def block(self) -> BlockCode | None:
        """The code of a notice that blocks the agent, or `None`."""
        return BLOCKS.get(self.kind)


def find_notice(
    snapshot: PageSnapshot,
    before: PageSnapshot | None,
    dialogs: Sequence[NativeDialog],
    *,
    fresh: bool,
    own: bool,
    settled: bool = True,
) -> Notice | None:
    """The notice that came with a step; `None` without a notice.

    `fresh`: a new document came; `own`: only texts by the call's field count; `settled`: the page
    is complete.
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
        # Nothing came where a page was to come, or nothing is left of it.
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
    """A failure that a message shows by its colour or by its first words."""
    for text, mark in messages:
        letters = sum(letter.isalpha() for letter in text)
        wordy = letters >= 12 and letters > 2 * sum(letter.isdigit() for letter in text)
        if (mark == "red" and wordy) or (len(text) <= PLAIN_CHARS and is_refusal(text)):
            return Notice("failed", frozenset())
    return None


def _news(page: PageSnapshot, before: PageSnapshot | None) -> tuple[list[str], list[str]]:
    """The headings and the other lines that are new on the page."""
    old = set() if before is None else set(_lines(before))
    new = [line for line in _lines(page) if line not in old]
    matches = map(_HEADING.match, new)
    headings = [_CONTROL.sub("", json.loads(match[1])).strip() for match in matches if match]
    return headings, [line for line in new if line and not _HEADING.match(line)]


def new_texts(page: PageSnapshot, before: PageSnapshot | None) -> list[str]:
    """The short texts that came with a step; after much new text, only its messages."""
    headings, rest = _news(page, before)
    old = "" if before is None else before.plain
    messages = [text for text, _, _ in page.messages if text not in old]
    if sum(map(len, headings)) + sum(map(len, rest)) > HEADED_CHARS:
        return messages
    return [*messages, *headings, *(line for line in rest if len(line) <= TEXT_CHARS)][:40]


def _lines(page: PageSnapshot) -> list[str]:
    """The lines of a page, without its buttons, links and fields."""
    lines = f"{page.text}\n{page.inner}".splitlines()
    return [(line if "heading " in line else _CONTROL.sub("", line)).strip() for line in lines]


def read_notice(
    headings: Iterable[str], sentences: Iterable[str], messages: Iterable[str]
) -> Notice | None:
    """The first notice among these texts, or `None`."""
    notices = chain(
        (_page_notice(text[:TEXT_LIMIT], heading=True) for text in headings),
        (_message_notice(text[:TEXT_LIMIT]) for text in messages),
        (_page_notice(text[:TEXT_LIMIT]) for text in sentences),
    )
    return next(filter(None, notices), None)


def read_wall(texts: Iterable[str]) -> Notice | None:
    """The first blocking notice among unmarked short texts, or `None`."""
    notices = (_page_notice(text[:TEXT_LIMIT]) for text in texts)
    return next((one for one in notices if one is not None and one.kind in WALLS), None)


def is_refusal(text: str) -> bool:
    """Whether an unmarked short text begins like a message of failure."""
    text = text[:TEXT_LIMIT]
    if _is_harmless(_folded(text)):
        return False
    if any(_regret(language).match(plain(text).strip()) for language in languages()):
        return True
    return any(
        _starts(language, kind, _without_fillers(language, sentence), 2)
        for sentence, asks in _sentences(text)
        if not asks
        for language in languages()
        for kind in ("broken", "missing")
    )


@lru_cache(maxsize=1_024)
def _page_notice(text: str, *, heading: bool = False) -> Notice | None:
    text = _QUOTED.sub(" ", text)
    sentences = _sentences(text)
    if heading and len(sentences) > 1:
        # A dash may stand within a heading: "Read on – with ads or a subscription".
        sentences.append((_folded(text), "?" in text))
    least, most = (1, HEADING_WORDS) if heading else (SENTENCE_WORDS, TEXT_LIMIT)
    return _first_notice(sentences, PAGE_KINDS, QUESTIONS, least=least, most=most)


@lru_cache(maxsize=1_024)
def _message_notice(text: str) -> Notice | None:
    notice = _first_notice(_sentences(text), MESSAGE_KINDS, least=2)
    folded = _folded(text)
    if notice is not None or _is_harmless(folded):
        return notice
    failed = any(phrases_in(each, "failed").search(f" {folded} ") for each in languages())
    return Notice("failed", frozenset(folded.split())) if failed else None


def _first_notice(
    sentences: Iterable[tuple[str, bool]],
    kinds: Sequence[NoticeKind],
    in_questions: Sequence[NoticeKind] = (),
    *,
    least: int,
    most: int = TEXT_LIMIT,
) -> Notice | None:
    """The first notice, by phrases of `least` or more words in sentences of `most` or fewer."""
    for raw, asks in sentences:
        for language in languages():
            sentence = _without_fillers(language, raw) or raw
            for kind in in_questions if asks else kinds:
                if len(sentence.split()) <= most and _starts(language, kind, sentence, least):
                    return Notice(kind, frozenset(sentence.split()))
    return None


def _sentences(text: str) -> list[tuple[str, bool]]:
    """The sentences of a text in plain words, and whether each is a question."""
    parts = [(_folded(match[1]), "?" in match[2]) for match in _SENTENCE.finditer(text)]
    return [part for part in parts if part[0]][:12]


def _folded(text: str) -> str:
    return " ".join(_WORD.findall(plain(text)))


def _without_fillers(language: LanguageWords, sentence: str) -> str:
    space = " " if language.spaced else ""
    for _ in range(3):
        begins = (f for f in language.fillers if sentence == f or sentence.startswith(f + space))
        filler = next(begins, None)
        if filler is None:
            break
        sentence = sentence[len(filler) :].strip()
    return sentence


def _starts(language: LanguageWords, kind: NoticeKind, sentence: str, words: int) -> bool:
    pattern = _beginning(language, kind, words)
    return bool(pattern.match(f" {sentence} ") if language.spaced else pattern.search(sentence))


def _is_harmless(text: str) -> bool:
    return any(
        (f" {phrase} " if language.spaced else phrase) in f" {text} "
        for language in languages()
        for phrase in language.harmless
    )


@cache
def _beginning(language: LanguageWords, kind: NoticeKind, words: int) -> re.Pattern[str]:
    """A pattern for sentences that begin with a listed phrase of at least `words` words."""
    listed = [p for p in getattr(language, kind) if _length(language, p) >= words]
    if not listed:
        return NEVER
    if not language.spaced:
        return re.compile("|".join(map(re.escape, listed)))
    return re.compile(
        "|".join(phrase_pattern(p) + ("(?= )" if p.endswith("*") else " $") for p in listed)
    )


@cache
def _regret(language: LanguageWords) -> re.Pattern[str]:
    """A pattern for a sentence beginning of regret, such as "Sorry, …"."""
    neutral = shared().neutral
    choices = "|".join(re.escape(filler) for filler in language.fillers if filler not in neutral)
    return re.compile(rf"(?:{choices})\s*[,!.:،，。！、]")


def _length(language: LanguageWords, phrase: str) -> int:
    if not language.spaced:
        return SENTENCE_WORDS if len(phrase) >= SENTENCE_LETTERS else 1
    return sum(word != "*" for word in phrase.split())
