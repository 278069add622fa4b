"""What a text says about its own answer: denied, doubted, asked, quoted, taken back, or several.

Every rule is a row of `RULES`: a question that is asked of the words around a candidate, with the
tables of the languages that they are written in. The words are those of bounded windows on both
sides, so the cost does not depend on the length of the response.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from assay.text import refusals
from assay.text.phrasebook import Phrasebook, books_for, fold, without

_WINDOW = 400
_BESIDE = 160

_SENTENCE_START = re.compile(r"(?<!\W\w)(?<!\.\w)[.!?](?=[\s\"'*)»”])|[。！？؟]|\n\s*\n")
_SENTENCE_END = re.compile(r"(?<!\W\w)[.!?](?=[\s\"'*)$»”」]|\Z)|[。！？؟]|\n")
_CLOSERS = re.compile(
    r"(?:[\s$*_}\])\"'`~>”’»」』)]|\\[\])]|\\[,;: ]|\\q?quad|\\(?:text|mathrm)\s*\{)*"
)
_FORMULA_LEAD = re.compile(r"(?:\$|\\\(|\\\[)[^$\n=]{0,60}=\s*\Z")
_NEXT_VALUE = re.compile(r"[\d$\\,，、;；،(（]")
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
_WORD = re.compile(r"(?<!\\)[^\W\d_]{3,}|\|")
_LABELLED = re.compile(
    r"\W*(?:(?:option|choice|guess|attempt|candidate|try)\s*#?\w{1,3}|(?:tool\s+)?output|stdout|"
    r"stderr|result of the tool)\s*[:：]",
    re.IGNORECASE,
)
_SAYS = re.compile(rf"[^\W\d_]|[~?？؟≠!→⇒➜{refusals.MARKS}]")
_ARROW = re.compile(r"[\s$}]*(?:→|⇒|➜|->|=>|\\to\b|\\rightarrow\b)[\s$]*[-+−]?\d")
_CLAUSE_MARKS = ".!?…。！？؟;；—–-,，、،:：\n"
_SPACES = re.compile(r"[\s$]+")
_ANY_VALUE = re.compile(r"\d|\\(?:frac|sqrt|pi)\b|\boption [a-h]\b|(?<!\w)\(?[b-h]\)?(?!\w)")
_CODE = re.compile(
    r"\b(?:import \w+|def \w+\(|print\s*\(|sys\.\w+|return \w|console\.log|Traceback|"
    r"(?:Syntax|Type|Value|Name|Runtime|Index|Key|ZeroDivision)Error|assert |File \"|exit code)"
    r"|>>> |==\s*\d"
    r"|;\s*\w+\.\w+\(",
)


@dataclass(frozen=True)
class Candidate:
    """A span that may be the answer, and where it stands in the text."""

    text: str
    start: int
    end: int
    span: str
    announced: int | None = None
    """Where the words that announce it start, if any do."""
    weak: bool = False
    """Whether nothing marks it as an answer."""
    picked: bool = False
    """Whether it is a number without the words beside it."""

    @cached_property
    def beside(self) -> str:
        """The folded words just before the candidate, without the left side of its equation."""
        window = self.text[max(0, self.start - _BESIDE) : self.start]
        return fold(_FORMULA_LEAD.sub("", window))

    @cached_property
    def before(self) -> str:
        """The folded beginning of its sentence, as far as no turn of thought ends it."""
        window = self.text[max(0, self.start - _WINDOW) : self.start]
        breaks = [match.end() for match in _SENTENCE_START.finditer(window)]
        return without(fold(window[breaks[-1] :] if breaks else window), self.books, "affirming")

    @cached_property
    def after(self) -> str:
        """The folded rest of its sentence, without what closes the candidate itself."""
        window = self.text[self.end : self.end + _WINDOW]
        start = _CLOSERS.match(window)
        head = start.end() if start is not None else 0
        end = _SENTENCE_END.search(window, head)
        # A question mark belongs to the sentence that it ends.
        rest = window[head : end.end() if end is not None else len(window)]
        return without(fold(rest), self.books, "affirming")

    @cached_property
    def at_once(self) -> str:
        """The part of `after` before the next value, comma or turn of thought."""
        cut = _NEXT_VALUE.search(self.after)
        head = self.after[: cut.start() if cut is not None else 60]
        for book in self.books:
            turn = book.pattern("turning").search(head)
            head = head[: turn.start()] if turn is not None else head
        return head

    @cached_property
    def later(self) -> tuple[str, ...]:
        """What follows the candidate, folded: the first part of it, and the last."""
        rest = self.text[self.end : self.end + _WINDOW]
        if self.end + _WINDOW >= len(self.text):
            return (without(fold(rest), self.books, "affirming"),)
        last = self.text[max(self.end, len(self.text) - _WINDOW) :]
        return tuple(without(fold(part), self.books, "affirming") for part in (rest, last))

    @cached_property
    def books(self) -> tuple[Phrasebook, ...]:
        """The tables of the languages around the candidate."""
        window = self.text[max(0, self.start - _WINDOW) : self.start]
        return books_for(fold(f"{window} {self.text[self.end : self.end + _WINDOW]}"))

    @cached_property
    def stands_alone(self) -> bool:
        """Whether no word, and nothing that says something, stands around the candidate."""
        before = self.text[max(0, self.start - _WINDOW) : self.start]
        after = self.text[self.end : self.end + _WINDOW]
        if self.weak and _WORD.search(self.span):
            return False
        return not (_SAYS.search(before) or _SAYS.search(after))

    def stands_beside(self, field: str, *, through_commas: bool = False) -> bool:
        """Whether a phrase of a field stands right before the candidate."""
        return any(
            book.beside(self.beside, field, through_commas=through_commas) is not None
            for book in self.books
        )

    def occurs(self, field: str, text: str) -> bool:
        """Whether a phrase of a field occurs in a folded text."""
        return any(book.pattern(field).search(text) is not None for book in self.books)


def is_struck_out(candidate: Candidate) -> bool:
    """Whether the candidate is struck through, or has the colour of the page."""
    before = candidate.text[max(0, candidate.start - 80) : candidate.start]
    place = candidate.start if candidate.announced is None else candidate.announced
    if _WHITE.search(before) or _HIDDEN_WORDS.search(candidate.text[max(0, place - 80) : place]):
        return True
    after = candidate.text[candidate.end : candidate.end + 20].lstrip("$ }*")
    return after.startswith("~~") and before.rstrip("$ ").endswith("~~")


def is_denied(candidate: Candidate) -> bool:
    """Whether the words beside the candidate say that it is not the answer."""
    if _NOT_EQUAL.search(candidate.text[max(0, candidate.start - 40) : candidate.start]):
        return True
    if candidate.stands_beside("denying") or _is_marked_wrong(candidate):
        return True
    for book in candidate.books:
        pattern = book.pattern("denying_after")
        grows = book.language.suffixed or not book.language.spaced
        head = candidate.at_once[:30]
        if (pattern.search(head) if grows else pattern.match(candidate.after)) is not None:
            return True
    return False


def _is_marked_wrong(candidate: Candidate) -> bool:
    before = candidate.text[max(0, candidate.start - 20) : candidate.start]
    after = candidate.text[candidate.end : candidate.end + _WINDOW]
    return refusals.is_marked_wrong(before, after, candidate.span)


def is_doubted(candidate: Candidate) -> bool:
    """Whether its sentence doubts the candidate."""
    for book in candidate.books:
        doubts = [match.end() for match in book.pattern("doubting").finditer(candidate.before)]
        if not doubts:
            continue
        if not any(
            other.pattern("turning").search(candidate.before, doubts[-1])
            for other in candidate.books
        ):
            return True
    return candidate.occurs("doubting_after", candidate.after)


def is_only_possible(candidate: Candidate) -> bool:
    """Whether the words beside the candidate say no more than that it may be so."""
    return candidate.stands_beside("possible", through_commas=True)


def is_asked(candidate: Candidate) -> bool:
    """Whether the sentence of the candidate is a question."""
    after = candidate.after
    if after.endswith(("?", "？", "؟")) and len(after) <= 60:
        tail = candidate.text[candidate.end : candidate.end + 80]
        starts = _CLOSERS.sub("", tail, count=1)[:1]
        return "\n" not in tail[: tail.find(after[-1]) + 1] and not starts.isupper()
    return candidate.occurs("asking_after", after[:60])


def is_conditional(candidate: Candidate) -> bool:
    """Whether the candidate is the answer under a condition that is not so."""
    for book in candidate.books:
        supposed = book.pattern("supposing").search(candidate.before)
        if supposed is None:
            continue
        # Where verbs show no mood, a box commits to what it holds.
        moods = book.language.code not in ("zh", "ja", "ko")
        if not moods and candidate.announced is None and not candidate.weak:
            continue
        sentence = f"{candidate.before} {candidate.at_once}"
        if book.pattern("unreal").search(sentence):
            turn = book.pattern("turning").search(candidate.before, supposed.end())
            if turn is None or not moods:
                return True
    return False


def is_quoted(candidate: Candidate) -> bool:
    """Whether the candidate stands in a quotation, or is reported as somebody else's."""
    for book in candidate.books:
        subject = book.beside(candidate.beside, "reporting", through_commas=True)
        if subject is not None and book.at_end(subject.rstrip(" ,"), "own_voice") is None:
            return True
    place = candidate.start if candidate.announced is None else candidate.announced
    line = max(candidate.text.rfind("\n", 0, place) + 1, place - _WINDOW)
    before = candidate.text[line:place]
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


def _is_more_than_the_span(candidate: Candidate, before: str, at: int, closings: str) -> bool:
    """Whether a quotation holds words beside the candidate, and is not all that the text says."""
    after = candidate.text[candidate.end : candidate.end + _WINDOW]
    ends = [place for place in map(after.find, closings) if place >= 0]
    if not ends:
        return False
    around = before[:at].strip() or after[min(ends) + 1 :].strip(" .\n*_")
    return bool(around) and (candidate.announced is not None or bool(before[at + 1 :].strip(" $*")))


def is_example(candidate: Candidate) -> bool:
    """Whether the candidate shows the form of an answer rather than an answer."""
    if candidate.stands_beside("examples", through_commas=True):
        return True
    before, text = candidate.text[: candidate.start][-1:], candidate.text
    if before == "`" and text.startswith("` ", candidate.end) and candidate.after.strip(" `."):
        return True
    return candidate.occurs("examples_after", candidate.after[:60])


def is_one_of_several(candidate: Candidate) -> bool:
    """Whether the candidate is offered beside another value."""
    if candidate.stands_beside("one_of", through_commas=True):
        return True
    if candidate.occurs("one_of_after", candidate.after[:60]):
        return True
    inside = fold(candidate.span[:80]).replace("\\text", "").strip(" {($")
    if any(book.pattern("one_of").match(inside) for book in candidate.books):
        return True
    return _has_other_value_beside(candidate)


def _has_other_value_beside(candidate: Candidate) -> bool:
    """Whether "or" and another whole number or letter stand right beside such a candidate.

    Other forms are left alone: `\\boxed{\\frac12}` "or 0.5" says one thing twice.
    """
    value = _plain_value(candidate.span)
    if value is None:
        return False
    after = fold(candidate.text[candidate.end : candidate.end + 60]).lstrip(" .…,،，、$*)}\\]—-")
    for book in candidate.books:
        word = book.pattern("alternatives").match(after)
        if word is not None:
            other = _VALUE_AFTER.match(after, word.end())
            if other is not None and _plain_value(other[1] or other[2] or "") != value:
                return True
        head = book.beside(candidate.beside, "alternatives")
        if head is not None:
            other = _VALUE_BEFORE.search(head.upper())
            if other is not None and _plain_value(other[1] or other[2] or "") != value:
                return True
    return False


def _plain_value(span: str) -> int | str | None:
    """The whole number or the letter that a span is, or None."""
    text = span.strip(" ()")
    if len(text) == 1 and text.isalpha():
        return text.upper()
    text = text.replace("−", "-")
    digits = text.lstrip("-+")
    if not digits.isdecimal():
        return None
    minus = text[: len(text) - len(digits)].count("-") % 2
    return -int(digits[:40]) if minus else int(digits[:40])


def is_retracted(candidate: Candidate) -> bool:
    """Whether the text after the candidate takes it back or gives up."""
    return any(
        candidate.occurs(field, part)
        for part in candidate.later
        if part and not part.isspace()
        for field in ("retracting", "giving_up")
    )


def fails_check(candidate: Candidate) -> bool:
    """Whether the text after the candidate says that it fails a check."""
    return refusals.fails_check(candidate.later, candidate.span, candidate.books)


def is_one_case(candidate: Candidate) -> bool:
    """Whether the candidate is the answer to one of several cases, of which none is chosen."""
    # Boxes in a row are one candidate: a list, or a correction of which the last one counts.
    last = candidate.text.rfind("\\boxed", candidate.start, candidate.end)
    start = max(candidate.start, last)
    if start > candidate.start and candidate.span not in candidate.text[start : candidate.end]:
        return False
    before = candidate.text[max(0, start - _WINDOW) : start]
    after = candidate.text[candidate.end : candidate.end + _WINDOW]
    return refusals.is_one_case(before, after, candidate.span, candidate.books, weak=candidate.weak)


def is_corrected(candidate: Candidate) -> bool:
    """Whether a later clause, after a word such as "actually", gives another value."""
    if _ARROW.match(candidate.text, candidate.end) is not None:
        return True
    span = _SPACES.sub("", fold(candidate.span[:_WINDOW]).strip(" $*_."))
    for part in candidate.later:
        for book in candidate.books:
            for word in book.pattern("correcting").finditer(part):
                if _starts_clause(part, word.start()) and _is_other_value(
                    part[word.end() : word.end() + _BESIDE], span
                ):
                    return True
    return False


def _starts_clause(folded: str, at: int) -> bool:
    """Whether nothing, or a mark that ends a clause, stands before a place in a text."""
    before = folded[:at].rstrip(" $*_\"'”’»」)]}\\(")
    return not before or before[-1] in _CLAUSE_MARKS


def _is_other_value(rest: str, span: str) -> bool:
    """Whether what follows a word of correction has a value, and not the candidate's own."""
    if _ANY_VALUE.search(rest) is None:
        return False
    at = _SPACES.sub("", rest).find(span)
    return at < 0 or not span


def is_given_up(candidate: Candidate) -> bool:
    """Whether the text around an unmarked candidate says that its author has no answer."""
    return candidate.weak and gives_up(candidate.text)


def is_no_value(candidate: Candidate) -> bool:
    """Whether a candidate without a box is words to a grader, code, or the name of a page."""
    if not candidate.weak and candidate.announced is None:
        return False
    around = fold(candidate.text[max(0, candidate.start - _WINDOW) : candidate.end + _WINDOW])
    if _CODE.search(_line(candidate)) or candidate.occurs("grading", around):
        return True
    return candidate.weak and _is_label(candidate)


def _line(candidate: Candidate) -> str:
    """The line that the candidate stands in."""
    at = candidate.text.rfind("\n", 0, candidate.start) + 1
    return candidate.text[max(at, candidate.start - _WINDOW) :][:_WINDOW]


def _is_label(candidate: Candidate) -> bool:
    """Whether the candidate is a cell, one of numbered guesses, or the number of a page."""
    line = _line(candidate)
    if line.lstrip().startswith("|") or _LABELLED.match(line):
        return True
    return _CODE.search(candidate.text[:_WINDOW]) is not None or any(
        book.at_end(candidate.beside.rstrip(" $*_#(（"), "labels") is not None
        or book.pattern("labels_after").match(candidate.after) is not None
        for book in candidate.books
    )


def is_another_value(candidate: Candidate) -> bool:
    """Whether words beside a number that was picked from its sentence make another value of it."""
    if not candidate.picked:
        return False
    return candidate.occurs("operations", candidate.beside[-40:]) or candidate.occurs(
        "operations", candidate.after[:25]
    )


def is_unfinished(candidate: Candidate) -> bool:
    """Whether the text stops before the sentence of the candidate ends."""
    tail = candidate.text[candidate.end : candidate.end + _WINDOW].rstrip()
    rest = _CLOSERS.sub("", tail, count=1)
    last_words = fold(f"{candidate.span[-60:]} {rest}").rstrip(" $*_")
    if candidate.end + _WINDOW < len(candidate.text) or "\n" in rest:
        return False
    if candidate.announced is None and not candidate.weak:
        return False
    leads = candidate.text[max(0, candidate.start - _WINDOW) : candidate.start].strip(" $*")
    if (
        leads
        and not rest
        and _OPEN_FORMULA.search(candidate.text[max(0, candidate.start - 60) :][:_WINDOW])
    ):
        return True
    if not rest or candidate.announced is not None:
        return any(book.at_end(last_words, "trailing") is not None for book in candidate.books)
    return not rest.endswith((".", "!", "。", "！", ")", '"', "”", "»", "*", "]", ":", "）"))


RULES: tuple[tuple[Callable[[Candidate], bool], str], ...] = (
    (is_struck_out, "the text strikes {} out"),
    (is_denied, "the text denies {}"),
    (is_doubted, "the text doubts {}"),
    (is_only_possible, "the text does not commit to {}"),
    (is_asked, "{} is part of a question"),
    (is_conditional, "{} is the answer only under a condition"),
    (is_quoted, "{} is quoted, not said"),
    (is_example, "{} is an example of the form"),
    (is_one_of_several, "{} is one of several values on offer"),
    (is_one_case, "{} is the answer to one of several cases"),
    (is_retracted, "{} is taken back afterwards"),
    (fails_check, "{} fails a check afterwards"),
    (is_corrected, "{} is corrected afterwards"),
    (is_given_up, "the response gives up"),
    (is_no_value, "{} is no value"),
    (is_another_value, "words beside {} make another value of it"),
    (is_unfinished, "the sentence of {} is unfinished"),
)
"""Every reason to refuse a candidate: the question, and what is said if it is so."""


def objection(candidate: Candidate) -> str | None:
    """Why the text does not offer the candidate as its answer; None if it does."""
    if denies_itself(candidate.span):
        return "{} says of itself that it is wrong"
    if candidate.stands_alone:
        return None
    return next((because for asks, because in RULES if asks(candidate)), None)


def gives_up(text: str) -> bool:
    """Whether the end of the text says that its author has no answer."""
    tail = fold(text[-_WINDOW:])
    books = books_for(tail)
    tail = without(tail, books, "affirming")
    return any(book.pattern("giving_up").search(tail) is not None for book in books)


def denies_itself(span: str) -> bool:
    """Whether the slot itself says that what it holds is wrong (`42 \\text{ is wrong}`)."""
    return len(span) > 4 and _WRONG_INSIDE.search(span[:_WINDOW]) is not None


def offers_alternatives(span: str) -> bool:
    """Whether the span names several values joined by "or"."""
    return _ALTERNATIVES.search(span[:_WINDOW]) is not None


def names_several(reference: str) -> bool:
    """Whether a reference itself may have several values, so that "or" in an answer is no hedge."""
    return _SEVERAL.search(reference) is not None and _ONE_GROUP.match(reference) is None
