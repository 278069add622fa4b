"""Decide whether a text takes its own answer back: denied, doubted, quoted, one of several.

Every rule is a row of `RULES`: a question about the words around a candidate, asked with the tables
of the languages that they are written in.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from assay.text.candidates import (
    ADJACENT,
    CLOSERS,
    WINDOW,
    AnswerCandidate,
    fails_check,
    is_marked_wrong,
    is_one_case,
)
from assay.text.phrasebook import books_for, fold, without

_QUOTES = {"«": "»", "“": "”", "„": "“”", "「": "」", "『": "』", "‹": "›", "《": "》"}
_JSON_VALUE = re.compile(r'"\s*:\s*"[^"]*\Z')
_WHITE = re.compile(
    r"\\(?:text)?color\s*\{\s*(?:white|transparent)\s*\}\s*\{?[\s$]*(?:\\\w+\{)*\Z|"
    r"\\(?:cancel|xcancel|bcancel|sout|st|phantom|hphantom|vphantom)\s*\{[\s$]*\Z",
    re.IGNORECASE,
)
_HIDDEN_WORDS = re.compile(
    r"\\(?:text)?color\s*\{\s*(?:white|transparent)\s*\}\s*\{?[^{}]{0,40}\Z", re.IGNORECASE
)
_NOT_EQUAL = re.compile(r"(?:\\neq?|\\not\s*=|≠|!=)\s*(?:[$({\s]|\\[(\[])*\Z")
_WRONG_INSIDE = re.compile(
    r"\b(?:is|was|are)?\s*(?:wrong|incorrect|not\s+(?:correct|right|the\s+answer))\b"
    r"|\A(?:[\s${(]|\\text)*(?:not|never)\b(?:[\s${}(]|\\text|\\[,;: ])*[-+−]?[\d\\]"
    r"|\\(?:cancel|xcancel|bcancel|sout|st)\s*\{|\\color\s*\{\s*white",
    re.IGNORECASE,
)
_ALTERNATIVES = re.compile(
    r"(?<![A-Za-z\\])(?:or|oder|ou)(?![A-Za-z])|\\(?:lor|vee)\b", re.IGNORECASE
)
_SEVERAL = re.compile(
    r"[,;&]|\\(?:pm|mp|cup|lor|vee|\{)|±|∓|(?<![A-Za-z\\])(?:or|and|oder|ou)(?![A-Za-z])",
    re.IGNORECASE,
)
_ONE_GROUP = re.compile(r"[\s$]*(?:\\left)?[(\[][^()\[\]]*[)\]][\s$.]*\Z")
"""One interval or one point, whose comma does not part two answers."""
_VALUE_AFTER = re.compile(
    r"[\s$(]*(?:([-+−]?\d{1,20})(?!\d|[./]\d|[%\\^])|\(?([A-Ha-h])\)?(?![\w']))"
)
_VALUE_BEFORE = re.compile(
    r"(?:(?<![\d./^A-Za-z_])([-+−]?\d{1,20})|(?<![\w'])\(?([A-H])\)?)[\s$,)，、،]*\Z"
)
_OPEN_FORMULA = re.compile(r"\A[^$]*(?:\$[^$]*\$[^$]*)*\$[A-Za-z\\][^$]*\Z")
_LABELLED = re.compile(
    r"\W*(?:(?:option|choice|guess|attempt|candidate|try)\s*#?\w{1,3}|(?:tool\s+)?output|stdout|"
    r"stderr|result of the tool)\s*[:：]",
    re.IGNORECASE,
)
_ARROW = re.compile(r"[\s$}]*(?:→|⇒|➜|->|=>|\\to\b|\\rightarrow\b)[\s$]*[-+−]?\d")
_CLAUSE_MARKS = ".!?…。！？؟;；—–-,，、،:：\n"
_SPACES = re.compile(r"[\s$]+")
_ANY_VALUE = re.compile(r"\d|\\(?:frac|sqrt|pi)\b|\boption [a-h]\b|(?<!\w)\(?[b-h]\)?(?!\w)")
_CODE = re.compile(
    r"\b(?:import \w+|def \w+\(|print\s*\(|sys\.\w+|return \w|console\.log|Traceback|"
    r"(?:Syntax|Type|Value|Name|Runtime|Index|Key|ZeroDivision)Error|assert |File \"|exit code)"
    r"|>>> |==\s*\d"
    r"|;\s*\w+\.\w+\("
)


def is_struck_out(candidate: AnswerCandidate) -> bool:
    """Whether the candidate is struck out, or written in the colour of the page."""
    before = candidate.left(80)
    announced = candidate.text[max(0, candidate.lead - 80) : candidate.lead]
    if _WHITE.search(before) or _HIDDEN_WORDS.search(announced):
        return True
    after = candidate.right(20).lstrip("$ }*")
    return after.startswith("~~") and before.rstrip("$ ").endswith("~~")


def is_denied(candidate: AnswerCandidate) -> bool:
    """Whether the words next to the candidate say that it is not the answer."""
    if _NOT_EQUAL.search(candidate.left(40)):
        return True
    if candidate.is_behind("denying") or is_marked_wrong(candidate):
        return True
    for book in candidate.books:
        pattern = book.pattern("denying_after")
        grows = book.language.suffixed or not book.language.spaced
        head = candidate.just_after[:30]
        if (pattern.search(head) if grows else pattern.match(candidate.after)) is not None:
            return True
    return False


def is_doubted(candidate: AnswerCandidate) -> bool:
    for book in candidate.books:
        doubts = [match.end() for match in book.pattern("doubting").finditer(candidate.before)]
        turns = (other.pattern("turning") for other in candidate.books)
        if doubts and not any(turn.search(candidate.before, doubts[-1]) for turn in turns):
            return True
    return candidate.occurs("doubting_after", candidate.after)


def is_asked(candidate: AnswerCandidate) -> bool:
    """Whether the sentence of the candidate is a question."""
    after = candidate.after
    if after.endswith(("?", "？", "؟")) and len(after) <= 60:
        tail = candidate.right(80)
        starts = CLOSERS.sub("", tail, count=1)[:1]
        return "\n" not in tail[: tail.find(after[-1]) + 1] and not starts.isupper()
    return candidate.occurs("asking_after", after[:60])


def is_conditional(candidate: AnswerCandidate) -> bool:
    """Whether the candidate is the answer only under a condition that is not true."""
    for book in candidate.books:
        supposed = book.pattern("supposing").search(candidate.before)
        if supposed is None:
            continue
        # Where verbs show no mood, a box commits to what it holds.
        moods = book.language.code not in ("zh", "ja", "ko")
        if not moods and candidate.announced is None and not candidate.weak:
            continue
        sentence = f"{candidate.before} {candidate.just_after}"
        if book.pattern("unreal").search(sentence):
            turn = book.pattern("turning").search(candidate.before, supposed.end())
            if turn is None or not moods:
                return True
    return False


def is_quoted(candidate: AnswerCandidate) -> bool:
    """Whether the candidate is inside a quotation, or is someone else's answer."""
    for book in candidate.books:
        subject = book.text_before(candidate.adjacent, "reporting", through_commas=True)
        if subject is not None and book.at_end(subject.rstrip(" ,"), "own_voice") is None:
            return True
    line = max(candidate.text.rfind("\n", 0, candidate.lead) + 1, candidate.lead - WINDOW)
    before = candidate.text[line : candidate.lead]
    words = before.strip(" *_$([")
    if not words:
        return False
    for opening, closings in _QUOTES.items():
        at = before.rfind(opening)
        if at >= 0 and not any(before.find(closing, at + 1) >= 0 for closing in closings):
            return _is_more_than_the_span(candidate, before, at, closings)
    if before.count('"') % 2 and not _JSON_VALUE.search(before):
        return _is_more_than_the_span(candidate, before, before.rfind('"'), '"')
    return False


def _is_more_than_the_span(candidate: AnswerCandidate, before: str, at: int, closings: str) -> bool:
    """Whether the quotation around the candidate has other words too, and is not the whole text."""
    after = candidate.right()
    ends = [place for place in map(after.find, closings) if place >= 0]
    if not ends:
        return False
    around = before[:at].strip() or after[min(ends) + 1 :].strip(" .\n*_")
    return bool(around) and (candidate.announced is not None or bool(before[at + 1 :].strip(" $*")))


def is_example(candidate: AnswerCandidate) -> bool:
    """Whether the candidate is an example of the answer's format."""
    if candidate.is_behind("examples", through_commas=True):
        return True
    in_code = candidate.left(1) == "`" and candidate.right(2) == "` "
    if in_code and candidate.after.strip(" `."):
        return True
    return candidate.occurs("examples_after", candidate.after[:60])


def is_one_of_several(candidate: AnswerCandidate) -> bool:
    """Whether the text offers another value together with the candidate."""
    if candidate.is_behind("one_of", through_commas=True):
        return True
    if candidate.occurs("one_of_after", candidate.after[:60]):
        return True
    inside = fold(candidate.span[:80]).replace("\\text", "").strip(" {($")
    if any(book.pattern("one_of").match(inside) for book in candidate.books):
        return True
    return _has_other_value_near(candidate)


def _has_other_value_near(candidate: AnswerCandidate) -> bool:
    """Whether "or" joins the candidate to another whole number or letter."""
    value = _plain_value(candidate.span)
    if value is None:
        return False
    after = fold(candidate.right(60)).lstrip(" .…,،，、$*)}\\]—-")
    for book in candidate.books:
        word = book.pattern("alternatives").match(after)
        head = book.text_before(candidate.adjacent, "alternatives")
        behind = _VALUE_AFTER.match(after, word.end()) if word is not None else None
        ahead = _VALUE_BEFORE.search(head.upper()) if head is not None else None
        for other in filter(None, (behind, ahead)):
            if _plain_value(other[1] or other[2] or "") != value:
                return True
    return False


def _plain_value(span: str) -> int | str | None:
    """The value of a text that is a whole number or a letter; else None."""
    text = span.strip(" ()")
    if len(text) == 1 and text.isalpha():
        return text.upper()
    text = text.replace("−", "-")
    digits = text.lstrip("-+")
    if not digits.isdecimal():
        return None
    minus = text[: len(text) - len(digits)].count("-") % 2
    return -int(digits[:40]) if minus else int(digits[:40])


def is_retracted(candidate: AnswerCandidate) -> bool:
    """Whether the text after the candidate takes the answer back, or gives up."""
    return any(
        candidate.occurs(field, part)
        for part in candidate.later
        if part and not part.isspace()
        for field in ("retracting", "giving_up")
    )


def is_corrected(candidate: AnswerCandidate) -> bool:
    """Whether a later clause corrects the answer, as in "actually, 43"."""
    if _ARROW.match(candidate.text, candidate.end) is not None:
        return True
    span = _SPACES.sub("", fold(candidate.span[:WINDOW]).strip(" $*_."))
    for part in candidate.later:
        for book in candidate.books:
            for word in book.pattern("correcting").finditer(part):
                before = part[: word.start()].rstrip(" $*_\"'”’»」)]}\\(")
                rest = part[word.end() : word.end() + ADJACENT]
                if (before and before[-1] not in _CLAUSE_MARKS) or not _ANY_VALUE.search(rest):
                    continue
                if not span or span not in _SPACES.sub("", rest):
                    return True
    return False


def is_no_value(candidate: AnswerCandidate) -> bool:
    """Whether a candidate without a box is no value: code, a page's name, words to a grader."""
    if not candidate.weak and candidate.announced is None:
        return False
    around = fold(candidate.text[max(0, candidate.start - WINDOW) : candidate.end + WINDOW])
    if _CODE.search(_line(candidate)) or candidate.occurs("grading", around):
        return True
    return candidate.weak and _is_label(candidate)


def _line(candidate: AnswerCandidate) -> str:
    at = candidate.text.rfind("\n", 0, candidate.start) + 1
    return candidate.text[max(at, candidate.start - WINDOW) :][:WINDOW]


def _is_label(candidate: AnswerCandidate) -> bool:
    """Whether the candidate is a table cell, a numbered guess or a page number."""
    line = _line(candidate)
    if line.lstrip().startswith("|") or _LABELLED.match(line):
        return True
    return _CODE.search(candidate.text[:WINDOW]) is not None or any(
        book.at_end(candidate.adjacent.rstrip(" $*_#(（"), "labels") is not None
        or book.pattern("labels_after").match(candidate.after) is not None
        for book in candidate.books
    )


def is_another_value(candidate: AnswerCandidate) -> bool:
    """Whether words next to the number change its value, as in "42 squared"."""
    around = (candidate.adjacent[-40:], candidate.after[:25]) if candidate.picked else ()
    return any(candidate.occurs("operations", text) for text in around)


def is_unfinished(candidate: AnswerCandidate) -> bool:
    """Whether the text ends inside the sentence of the candidate."""
    tail = candidate.right().rstrip()
    rest = CLOSERS.sub("", tail, count=1)
    last_words = fold(f"{candidate.span[-60:]} {rest}").rstrip(" $*_")
    if candidate.end + WINDOW < len(candidate.text) or "\n" in rest:
        return False
    if candidate.announced is None and not candidate.weak:
        return False
    around = candidate.text[max(0, candidate.start - 60) :][:WINDOW]
    if not rest and candidate.left().strip(" $*") and _OPEN_FORMULA.search(around):
        return True
    if not rest or candidate.announced is not None:
        return any(book.at_end(last_words, "trailing") is not None for book in candidate.books)
    return not rest.endswith((".", "!", "。", "！", ")", '"', "”", "»", "*", "]", ":", "）"))


RULES: tuple[tuple[Callable[[AnswerCandidate], bool], str], ...] = (
    (is_struck_out, "the text strikes {} out"),
    (is_denied, "the text denies {}"),
    (is_doubted, "the text doubts {}"),
    (
        lambda candidate: candidate.is_behind("possible", through_commas=True),
        "the text does not commit to {}",
    ),
    (is_asked, "{} is part of a question"),
    (is_conditional, "{} is the answer only under a condition"),
    (is_quoted, "{} is quoted, not said"),
    (is_example, "{} is an example of the form"),
    (is_one_of_several, "{} is one of several values on offer"),
    (is_one_case, "{} is the answer to one of several cases"),
    (is_retracted, "{} is taken back afterwards"),
    (fails_check, "{} fails a check afterwards"),
    (is_corrected, "{} is corrected afterwards"),
    (lambda candidate: candidate.weak and gives_up(candidate.text), "the response gives up"),
    (is_no_value, "{} is no value"),
    (is_another_value, "words beside {} make another value of it"),
    (is_unfinished, "the sentence of {} is unfinished"),
)
"""Every reason to refuse a candidate: the question, and what is said if it is so."""


def objection(candidate: AnswerCandidate) -> str | None:
    """The reason why the text refuses the candidate; None if it accepts the candidate."""
    if len(candidate.span) > 4 and _WRONG_INSIDE.search(candidate.span[:WINDOW]):
        return "{} says of itself that it is wrong"
    if candidate.stands_alone:
        return None
    return next((because for asks, because in RULES if asks(candidate)), None)


def gives_up(text: str) -> bool:
    """Whether the text ends with words that give up, such as "I do not know"."""
    tail = fold(text[-WINDOW:])
    books = books_for(tail)
    tail = without(tail, books, "affirming")
    return any(book.pattern("giving_up").search(tail) is not None for book in books)


def offers_alternatives(span: str) -> bool:
    """Whether the answer gives several values joined by "or"."""
    return _ALTERNATIVES.search(span[:WINDOW]) is not None


def names_several(reference: str) -> bool:
    """Whether the reference may have several values; then an answer may use "or"."""
    return _SEVERAL.search(reference) is not None and _ONE_GROUP.match(reference) is None
