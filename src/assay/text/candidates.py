"""A candidate for the answer, and the checks that refuse it.

The words are those of bounded windows on both sides, so the cost does not depend on the length of
the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple

from assay.text.phrasebook import Phrasebook, all_books, books_for, fold, without

WINDOW = 400
"""Characters on each side that are looked at."""
ADJACENT = 160
MARKS = "❌✗✘✖✕⨯🚫👎❎⛔"
"""Signs that refuse what stands next to them."""
_SENTENCE_START = re.compile(r"(?<!\W\w)(?<!\.\w)[.!?](?=[\s\"'*)»”])|[。！？؟]|\n\s*\n")
_SENTENCE_END = re.compile(r"(?<!\W\w)[.!?](?=[\s\"'*)$»”」]|\Z)|[。！？؟]|\n")
CLOSERS = re.compile(
    r"(?:[\s$*_}\])\"'`~>”’»」』)]|\\[\])]|\\[,;: ]|\\q?quad|\\(?:text|mathrm)\s*\{)*"
)
_FORMULA_LEAD = re.compile(r"(?:\$|\\\(|\\\[)[^$\n=]{0,60}=\s*\Z")
_NEXT_VALUE = re.compile(r"[\d$\\,，、;；،(（]")
_SAYS = re.compile(rf"[^\W\d_]|[~?？؟≠!→⇒➜{MARKS}]")
_WORD = re.compile(r"(?<!\\)[^\W\d_]{3,}|\|")
_LEAD = re.compile(
    r"(?:[\s$*_}{\])\"'`~>”’»」』)(（\[【<—–\-,，、،;；:：.。!…·|/=→⇒←⇐⟵#&%^]"
    r"|\\[\])(\[,; ]|\\q?quad\b|\\text\b)*"
)
_TAIL = rf"[\s*_$]*(?:[)\]}}）】」!！.。…,，;；:：—–\\{MARKS}]|\Z)"
_LONGEST_REMARK = 120

_NUMBER = re.compile(r"(?<![0-9A-Za-z_.,])[-−]?\d+(?:[.,/]\d+)*")
_SENTENCE = re.compile(r"[.!?;](?=\s|\Z)|[。！？؟；]")
_CLAUSE = re.compile(r"[.!?;](?=\s|\Z)|[。！？؟；]|\n")
_BOX = re.compile(r"\\boxed\s?\{((?:[^{}]|\{[^{}]*\}){1,100})\}")
_LETTER = re.compile(r"[^\W\d_]")
_LONGEST_GAP = 60
_LONGEST_SPAN = 40


@dataclass(frozen=True)
class AnswerCandidate:
    """A part of the text that may be the answer, with its position."""

    text: str
    start: int
    end: int
    span: str
    announced: int | None = None
    """Where the words that announce it start, if any do."""
    weak: bool = False
    """Whether nothing marks it as an answer."""
    picked: bool = False
    """Whether it is a number without the words next to it."""

    def left(self, size: int = WINDOW) -> str:
        """The text before the candidate, of at most `size` characters."""
        return self.text[max(0, self.start - size) : self.start]

    def right(self, size: int = WINDOW) -> str:
        """The text after the candidate, of at most `size` characters."""
        return self.text[self.end : self.end + size]

    @property
    def lead(self) -> int:
        """The start of the candidate, or of the words that announce it."""
        return self.start if self.announced is None else self.announced

    @cached_property
    def adjacent(self) -> str:
        """The normalised words directly before the candidate; `x =` before a value is left out."""
        return fold(_FORMULA_LEAD.sub("", self.left(ADJACENT)))

    @cached_property
    def before(self) -> str:
        """The normalised text before the candidate in its sentence."""
        window = self.left()
        breaks = [match.end() for match in _SENTENCE_START.finditer(window)]
        return without(fold(window[breaks[-1] :] if breaks else window), self.books, "affirming")

    @cached_property
    def after(self) -> str:
        """The normalised text after the candidate in its sentence."""
        window = self.right()
        start = CLOSERS.match(window)
        head = start.end() if start is not None else 0
        end = _SENTENCE_END.search(window, head)
        # A question mark belongs to the sentence that it ends.
        rest = window[head : end.end() if end is not None else len(window)]
        return without(fold(rest), self.books, "affirming")

    @cached_property
    def just_after(self) -> str:
        """The text in `after` before the next value, comma or word such as "but"."""
        cut = _NEXT_VALUE.search(self.after)
        head = self.after[: cut.start() if cut is not None else 60]
        for book in self.books:
            turn = book.pattern("turning").search(head)
            head = head[: turn.start()] if turn is not None else head
        return head

    @cached_property
    def later(self) -> tuple[str, ...]:
        """The normalised text after the candidate: its beginning, and the end of the response."""
        parts = [self.right()]
        if self.end + WINDOW < len(self.text):
            parts.append(self.text[max(self.end, len(self.text) - WINDOW) :])
        return tuple(without(fold(part), self.books, "affirming") for part in parts)

    @cached_property
    def books(self) -> tuple[Phrasebook, ...]:
        """The phrasebooks of the languages around the candidate."""
        return books_for(fold(f"{self.left()} {self.right()}"))

    @cached_property
    def stands_alone(self) -> bool:
        """Whether no words and no signs of refusal stand around the candidate."""
        if self.weak and _WORD.search(self.span):
            return False
        return not (_SAYS.search(self.left()) or _SAYS.search(self.right()))

    def is_behind(self, field: str, *, through_commas: bool = False) -> bool:
        """Whether a phrase of this table stands directly before the candidate."""
        return any(
            book.text_before(self.adjacent, field, through_commas=through_commas) is not None
            for book in self.books
        )

    def occurs(self, field: str, text: str) -> bool:
        """Whether a phrase of this table occurs in a normalised text."""
        return any(book.pattern(field).search(text) is not None for book in self.books)


def is_marked_wrong(candidate: AnswerCandidate) -> bool:
    """Whether a remark such as "(wrong)" or a cross stands directly next to the answer."""
    if candidate.left(20).rstrip(" $*_([\\")[-1:] in tuple(MARKS):
        return True
    rest = fold(candidate.right(_LONGEST_REMARK))
    lead = _LEAD.match(rest)
    at = lead.end() if lead is not None else 0
    if rest[at : at + 1] in tuple(MARKS):
        return True
    remark = _remarks().match(rest, at)
    if remark is None or remark.lastgroup is None:
        return False
    # An answer that is "no" or "false" may be said twice.
    return remark[remark.lastgroup] not in fold(candidate.span)


@cache
def _remarks() -> re.Pattern[str]:
    """The pattern of a remark that refuses an answer, such as "which is wrong"."""
    remarks = []
    for book in all_books():
        fields = ("refusing", "relatives", "asides")
        word, between, asides = (book.pattern(field).pattern for field in fields)
        copulas = "|".join(map(re.escape, book.endings("copulas"))) or "(?!)"
        named = rf"(?P<{book.language.code}>{word})"
        remarks.append(rf"(?:{between}\s*){{0,3}}{named}(?:{copulas})?(?={_TAIL}|\s+{asides})")
    return re.compile("|".join(remarks))


class _Value(NamedTuple):
    """A value in a sentence: its end, and whether it equals the answer."""

    end: int
    is_answer: bool


def fails_check(candidate: AnswerCandidate) -> bool:
    """Whether the text after the answer says that the answer fails a check.

    "16 does not work" says nothing of 17: the failing value is the nearest one before the verb, or
    what a pronoun stands for.
    """
    answer = _normal(candidate.span)
    return any(
        _is_about_answer(part, match, answer, book)
        for part in candidate.later
        for book in candidate.books
        for match in book.pattern("failing").finditer(part)
    )


def _is_about_answer(part: str, failing: re.Match[str], answer: str, book: Phrasebook) -> bool:
    starts = [match.end() for match in _SENTENCE.finditer(part, 0, failing.start())]
    end = _SENTENCE.search(part, failing.end())
    start = starts[-1] if starts else 0
    head = part[start : failing.start()]
    tail = part[failing.end() : end.start() if end is not None else len(part)]
    around = f"{head} {tail}"
    if any(book.pattern(field).search(around) for field in ("others", "supposing")):
        return False
    named = _NUMBER.match(tail.lstrip(" $("))
    if named is not None:
        return _normal(named[0]) == answer
    values = list(_values(head, answer))
    gap = head[values[-1].end :] if values else head
    if book.pattern("subjects").search(gap) is not None:
        return not values or any(value.is_answer for value in values)
    if values:
        return values[-1].is_answer and len(gap) <= _LONGEST_GAP
    for field in ("turning", "fillers"):
        gap = book.pattern(field).sub(" ", gap)
    return _LETTER.search(gap) is None


def _values(head: str, answer: str) -> Iterator[_Value]:
    """The values of a sentence, in the order in which they end."""
    ends = {match.end(): _normal(match[0]) == answer for match in _NUMBER.finditer(head)}
    at = head.find(answer) if 0 < len(answer) <= _LONGEST_SPAN else -1
    while at >= 0:
        end = at + len(answer)
        around = head[at - 1 : at] + head[end : end + 1]
        if not any((char.isascii() and char.isalnum()) or char in "-." for char in around):
            ends[end] = True
        at = head.find(answer, at + 1)
    return (_Value(end, ends[end]) for end in sorted(ends))


def _normal(span: str) -> str:
    """The normal form of a value, by which repetitions of it are found."""
    value = fold(span).rpartition("=")[2].strip(" $()+*.")
    return value.replace(",", "").replace("−", "-").replace("\\left", "").replace("\\right", "")


def is_one_case(candidate: AnswerCandidate) -> bool:
    """Whether the answer holds for one case only, and another case has another value.

    "If the order matters, 120; if not, 60" leaves open which it is; so do boxes with different
    values where the text says that it depends.
    """
    # Boxes in a row are one candidate: a list, or a correction of which the last one counts.
    last = candidate.text.rfind("\\boxed", candidate.start, candidate.end)
    start = max(candidate.start, last)
    if start > candidate.start and candidate.span not in candidate.text[start : candidate.end]:
        return False
    before, after = candidate.text[max(0, start - WINDOW) : start], candidate.right()
    clauses = _CLAUSE.split(before)
    lead = fold(clauses[-1])
    answer = _normal(candidate.span)
    boxed = any(_normal(box) != answer for box in _BOX.findall(before))
    for book in candidate.books:
        cases = book.pattern("cases")
        case = cases.search(lead)
        ordered = book.pattern("concluding").search(lead, 0, case.start() if case else len(lead))
        if ordered is not None:
            continue
        if boxed and book.pattern("undecided").search(fold(f"{before} {after}")):
            return True
        if case is not None and any(
            cases.search(fold(clause))
            and _gives_other_value(clause, answer, book, weak=candidate.weak)
            for clause in clauses[:-1]
        ):
            return True
        other_boxes = (box for box in _BOX.finditer(before) if _normal(box[1]) != answer)
        if _opens_case(after, book) and any(
            _opens_case(before[box.end() :], book) for box in other_boxes
        ):
            return True
    return False


def _opens_case(after: str, book: Phrasebook) -> bool:
    """Whether a condition follows the value directly, as in "42 if the order matters"."""
    rest = fold(after[:_LONGEST_REMARK]).lstrip(" $()[,，、（\\")
    return book.pattern("cases").match(rest) is not None


def _gives_other_value(clause: str, answer: str, book: Phrasebook, *, weak: bool) -> bool:
    """Whether a clause boxes or announces another value, or states one beside a `weak` answer."""
    boxes = _BOX.findall(clause)
    if boxes:
        return _normal(boxes[-1]) != answer
    folded = fold(clause)
    numbers = _NUMBER.findall(folded)
    announces = weak or book.pattern("nouns").search(folded) is not None
    return announces and bool(numbers) and _normal(numbers[-1]) != answer
