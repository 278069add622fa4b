"""What a notice on a page means, by how it begins.

Only the places are read in which a page speaks of itself: a heading or title that came with the
step, the sentences of a new page that has little else on it, and messages that the page marks as
such. A page about a thing is not the thing: in headings and sentences a phrase counts only at the
beginning, and in a sentence only a phrase of several words does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Final, Literal, NamedTuple, TypeAlias

from assay.browser.words.languages import LanguageWords, languages, plain, shared
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
"""Characters of one text that are read."""
PAGE_KINDS: Final[tuple[NoticeKind, ...]] = (
    "robot", "limited", "denied", "login", "gate", "missing", "broken",
)  # fmt: skip
MESSAGE_KINDS: Final[tuple[NoticeKind, ...]] = ("robot", "limited", "login", "denied")
"""What a message can say beside that something failed; as a beginning, too."""
BLOCKS: Final[dict[NoticeKind, BlockCode]] = {
    "limited": "rate_limited",
    "robot": "bot_check",
    "login": "auth_redirect",
    "denied": "access_denied",
    "gate": "gate",
}

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
_WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


class Notice(NamedTuple):
    """What a page says, and in which words it does."""

    kind: NoticeKind
    words: frozenset[str]

    @property
    def block(self) -> BlockCode | None:
        """What stands in the way; `None` where something has failed or is missing."""
        return BLOCKS.get(self.kind)


def read_notice(
    headings: Iterable[str], sentences: Iterable[str], messages: Iterable[str]
) -> Notice | None:
    """The first thing that the page says of itself; `None` when it says nothing."""
    for text in headings:
        notice = _page_notice(text[:TEXT_LIMIT], heading=True)
        if notice is not None:
            return notice
    for text in messages:
        notice = _message_notice(text[:TEXT_LIMIT])
        if notice is not None:
            return notice
    for text in sentences:
        notice = _page_notice(text[:TEXT_LIMIT], heading=False)
        if notice is not None:
            return notice
    return None


def read_wall(texts: Iterable[str]) -> Notice | None:
    """What stands in the way, by short texts that nothing marks as messages; else `None`."""
    for text in texts:
        notice = _page_notice(text[:TEXT_LIMIT], heading=False)
        if notice is not None and notice.kind in WALLS:
            return notice
    return None


def is_refusal(text: str) -> bool:
    """Whether a short text that nothing marks as a message begins as one of a failure does."""
    text = text[:TEXT_LIMIT]
    for language in languages():
        if _is_harmless(language, _folded(text)):
            return False
    for language in languages():
        if _regret(language).match(plain(text).strip()):
            return True
    return any(
        _starts(language, kind, _without_fillers(language, sentence), words=2)
        for sentence, asks in _sentences(text)
        if not asks
        for language in languages()
        for kind in ("broken", "missing")
    )


@lru_cache(maxsize=1_024)
def _page_notice(text: str, *, heading: bool) -> Notice | None:
    words = 1 if heading else SENTENCE_WORDS
    text = _QUOTED.sub(" ", text)
    sentences = _sentences(text)
    if heading and len(sentences) > 1:
        # A dash may stand within a heading: "Read on – with ads or a subscription".
        sentences.append((_folded(text), "?" in text))
    for raw, asks in sentences:
        for language in languages():
            sentence = _without_fillers(language, raw) or raw
            if heading and len(sentence.split()) > HEADING_WORDS:
                continue
            for kind in QUESTIONS if asks else PAGE_KINDS:
                if _starts(language, kind, sentence, words=words):
                    return Notice(kind, frozenset(sentence.split()))
    return None


@lru_cache(maxsize=1_024)
def _message_notice(text: str) -> Notice | None:
    for raw, asks in _sentences(text):
        for language in languages():
            sentence = _without_fillers(language, raw) or raw
            for kind in () if asks else MESSAGE_KINDS:
                if _starts(language, kind, sentence, words=2):
                    return Notice(kind, frozenset(sentence.split()))
    folded = _folded(text)
    if any(_is_harmless(language, folded) for language in languages()):
        return None
    for language in languages():
        if _anywhere(language).search(f" {folded} "):
            return Notice("failed", frozenset(folded.split()))
    return None


def _sentences(text: str) -> list[tuple[str, bool]]:
    """The sentences of a text as words, each with whether it is a question."""
    parts = [(_folded(match[1]), "?" in match[2]) for match in _SENTENCE.finditer(text)]
    return [part for part in parts if part[0]][:12]


def _folded(text: str) -> str:
    return " ".join(_WORD.findall(plain(text)))


def _without_fillers(language: LanguageWords, sentence: str) -> str:
    space = " " if language.spaced else ""
    for _ in range(3):
        for filler in language.fillers:
            if sentence == filler:
                return ""
            if sentence.startswith(f"{filler}{space}"):
                sentence = sentence[len(filler) :].strip()
                break
        else:
            break
    return sentence


def _starts(language: LanguageWords, kind: NoticeKind, sentence: str, *, words: int) -> bool:
    pattern = _beginning(language, kind, words)
    if language.spaced:
        return pattern.match(f" {sentence} ") is not None
    return pattern.search(sentence) is not None


def _is_harmless(language: LanguageWords, text: str) -> bool:
    space = " " if language.spaced else ""
    return any(f"{space}{phrase}{space}" in f" {text} " for phrase in language.harmless)


@cache
def _beginning(language: LanguageWords, kind: NoticeKind, words: int) -> re.Pattern[str]:
    """A sentence that begins with a phrase of at least so many words; all of it, without a `*`."""
    listed = [p for p in getattr(language, kind) if _length(language, p) >= words]
    if not listed:
        return NEVER
    if not language.spaced:
        return re.compile("|".join(re.escape(_folded(phrase)) for phrase in listed))
    return re.compile(
        "|".join(phrase_pattern(p) + ("(?= )" if p.endswith("*") else " $") for p in listed)
    )


@cache
def _anywhere(language: LanguageWords) -> re.Pattern[str]:
    if not language.spaced:
        return re.compile("|".join(re.escape(_folded(phrase)) for phrase in language.failed))
    return re.compile("|".join(f"{phrase_pattern(phrase)}(?= )" for phrase in language.failed))


@cache
def _regret(language: LanguageWords) -> re.Pattern[str]:
    """A beginning such as "Sorry, …": a word of regret, and a mark after it."""
    neutral = shared().neutral
    choices = "|".join(re.escape(filler) for filler in language.fillers if filler not in neutral)
    return re.compile(rf"(?:{choices})\s*[,!.:،，。！、]")


def _length(language: LanguageWords, phrase: str) -> int:
    if not language.spaced:
        return SENTENCE_WORDS if len(phrase) >= SENTENCE_LETTERS else 1
    return sum(word != "*" for word in phrase.split())
