"""What refuses an answer or leaves it open: a mark, a failed check, a case among other cases."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from assay.text.candidates import MARKS, WINDOW, Candidate
from assay.text.phrasebook import Phrasebook, all_books, fold

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


def is_marked_wrong(candidate: Candidate) -> bool:
    """Whether "(wrong)", "— false!" or a cross stands right next to the answer."""
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
    """A word of refusal with at most "which is" before it, and the end of the remark after it."""
    return re.compile("|".join(map(_remark, all_books())))


def _remark(book: Phrasebook) -> str:
    word, between, asides = (
        book.pattern(field).pattern for field in ("refusing", "relatives", "asides")
    )
    copulas = "|".join(map(re.escape, book.endings("copulas"))) or "(?!)"
    name = book.language.code
    return rf"(?:{between}\s*){{0,3}}(?P<{name}>{word})(?:{copulas})?(?={_TAIL}|\s+{asides})"


class _Value(NamedTuple):
    """A value in a sentence: where it ends, and whether it is the answer."""

    end: int
    is_answer: bool


def fails_check(candidate: Candidate) -> bool:
    """Whether the text after the answer says that it fails a check.

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
    """The values of a sentence in the order in which they end; the answer last of those."""
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
    """A value as it would be repeated in a sentence."""
    value = fold(span).rpartition("=")[2].strip(" $()+*.")
    return value.replace(",", "").replace("−", "-").replace("\\left", "").replace("\\right", "")


def is_one_case(candidate: Candidate) -> bool:
    """Whether the answer is given for one case, and another value for another.

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
    """Whether a case stands right after a value: "42 if the order matters"."""
    rest = fold(after[:_LONGEST_REMARK]).lstrip(" $()[,，、（\\")
    return book.pattern("cases").match(rest) is not None


def _gives_other_value(clause: str, answer: str, book: Phrasebook, *, weak: bool) -> bool:
    """Whether a clause boxes another value, or announces one; or says one, beside a `weak` answer
    that nothing marks."""
    boxes = _BOX.findall(clause)
    if boxes:
        return _normal(boxes[-1]) != answer
    folded = fold(clause)
    numbers = _NUMBER.findall(folded)
    announces = weak or book.pattern("nouns").search(folded) is not None
    return announces and bool(numbers) and _normal(numbers[-1]) != answer
