"""Read the answer from a clause: "Therefore the product is **42**." gives 42.

Clauses are at most a few hundred characters. What may be as long as a response, such as the inside
of a tag, is looked at in one pass.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import islice
from typing import NamedTuple

from assay.text.blocks import sole_block
from assay.text.phrasebook import (
    Phrasebook,
    books_for,
    fold,
    is_sentence,
    link_spans,
    without_copula,
)

LONGEST_CLAUSE = 600

_SENTENCE_END = re.compile(r"[.!?](?=[\s\"'*$]|\\\]|\Z)|[。！？؟]|\n")
_NUMBER = re.compile(
    r"\d{1,2}:\d{2}(?:\s?[AaPp]\.?[Mm]\b)?(?![\d:])|[-+−]?[$€£]?(?:\d[\d,]*(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?(?:\s?/\s?\d+)?(?:\s?\\?%)?"
)
_MATH_OPENS = re.compile(r"\$|\\[(\[]")
_DOLLARS = re.compile(r"\$\$(?P<a>[^$]+)\$\$|\$(?P<b>[^$]+)\$")
_MATH_CLOSES = {"\\(": "\\)", "\\[": "\\]"}
_WORDS = re.compile(r"(?<![\\A-Za-z{])[A-Za-zÀ-ÿœŒЀ-ӿ\u0620-\u064a]{2,}(?:['’][a-zà-ÿ]+)?")
_LABEL = re.compile(r"[A-Za-z][A-Za-z ]{2,40}[:：]\s")
_NOT_PROSE = frozenset(
    "sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh log ln exp sqrt pi lim max min "
    "mod gcd lcm det abs inf infty and or".split()
)
_VERBS = frozenset(
    "is are was were be equals equal gives give get got have has find it's that's we i so "
    "therefore thus hence because since asks ask think let means must should could might can "
    "cannot compute obtain need want know say says".split()
)
_DISPLAY = re.compile(r"(?:\$\$[^$]+\$\$|\\\[(?:[^\\]|\\[^\[\]])+\\\])[\s.]*\Z")
_REMARK = re.compile(r"\s+(?:I hope|Let me know|Hope this)\b", re.IGNORECASE)
_REMARKS = frozenset(("correct", "right", "clear", "done", "obvious", "it", "that", "this"))
_IS_THE_ANSWER = re.compile(
    r"\s+(?:is|are)\s+(?:thus\s+|therefore\s+)?(?:(?:the|our|my)\s+(?:\w+\s+)?"
    r"(?:answer|solution|result|value|option|choice)s?|correct)\W*\Z",
    re.IGNORECASE,
)
_OPTION_WORD = re.compile(r"(?:option|choice)\s+(?=\(?[A-J]\)?\W*\Z)", re.IGNORECASE)
_HOW = re.compile(
    r"\s*\((?:after (?:simplif|round|reduc|cancel|expan)\w+|in total|exactly"
    r"|as (?:required|desired|expected|claimed|needed)"
    r"|by (?:symmetry|induction|substitution|inspection|calculation))\)\s*\Z"
)
"""A remark in brackets on how the answer came about."""
_TWO_VALUES = re.compile(
    r"(?<![\w\\$])([A-Za-z])\s*=\s*([^\s=$]{1,30}?),?\s+(?:or|and)\s+\1\s*=\s*([^\s=$]{1,30})\s*\Z"
)
_VERDICT = re.compile(r"(yes|no|true|false)(?:[,.!]\s[^\d$\\=]*|[,.!]?)\Z", re.IGNORECASE)
"""A sentence without a value that starts with its answer."""
_RELATIVE = re.compile(r"(?<=[\d$}%)]),\s+which\s[^\d$]{1,200}\Z", re.IGNORECASE)
_COPULA = re.compile(
    r"(?:\b(?:is|are|was|equals|equal\s+to|be|it's|becomes?|gives|obtain|get)\b"
    r"(?:\s+(?:exactly|equal\s+to|approximately|about|therefore|thus|then|just|simply|only|"
    r"given\s+by))?|(?<!\d):|[:：](?!\d)|\s=(?=\s))\s*",
    re.IGNORECASE,
)
_WRAPPERS = (("**", "**"), ("__", "__"), ("`", "`"), ('"', '"'), ("“", "”"), ("'", "'"), ("*", "*"))
_BOILERPLATE = re.compile(
    r"\A\W*(?:i hope|hope this|let me know|please|feel free|thank|if you (?:have|would|need)|"
    r"is there anything|do you)\b",
    re.IGNORECASE,
)


class FormulaSpan(NamedTuple):
    """A formula between delimiters: its position and its content."""

    start: int
    end: int
    content: str


def formulas(text: str) -> Iterator[FormulaSpan]:
    """Yield the formulas of a text in order, in linear time."""
    last = {opening: text.rfind(closing) for opening, closing in _MATH_CLOSES.items()}
    position = 0
    while (opening := _MATH_OPENS.search(text, position)) is not None:
        formula: FormulaSpan | None = None
        dollars = _DOLLARS.match(text, opening.start())
        start = opening.end()
        if dollars is not None:
            formula = FormulaSpan(*dollars.span(), dollars["a"] or dollars["b"])
        # The content has at least one character.
        elif last.get(opening[0], 0) > start:
            end = text.find(_MATH_CLOSES[opening[0]], start + 1)
            formula = FormulaSpan(opening.start(), end + 2, text[start:end])
        position = opening.start() + 1 if formula is None else formula.end
        if formula is not None:
            yield formula


def without_formulas(text: str) -> str:
    """Replace each formula in a text with a space."""
    pieces: list[str] = []
    position = 0
    for formula in formulas(text):
        pieces.append(text[position : formula.start])
        position = formula.end
    pieces.append(text[position:])
    return " ".join(pieces)


def without_wrapping(span: str) -> str:
    """Remove quotes, emphasis, a code fence and a full stop from around a text."""
    text = span.strip()
    fenced = sole_block(text)
    if fenced is not None:
        text = fenced.text.strip()
    for _ in range(4):
        before = text
        text = text.rstrip(" \t\r\n.,;:。，；")
        for left, right in _WRAPPERS:
            is_longer = len(text) > len(left) + len(right)
            if is_longer and text.startswith(left) and text.endswith(right):
                text = text[len(left) : -len(right)].strip()
        text = _without_stray_brackets(text)
        # An interval, a list or a matrix keeps its brackets.
        in_brackets = len(text) > 2 and text[0] == "[" and text[-1] == "]"
        if in_brackets and not set(text[1:-1]) & set("[],;&"):
            text = text[1:-1].strip()
        if text == before:
            break
    return text


def is_bare(text: str) -> bool:
    """Whether the text is a bare answer: at most three words of prose, and no verb."""
    if text.endswith(("?", "？")) or _LABEL.match(text):
        return False
    words = (match[0].lower() for match in _WORDS.finditer(without_formulas(text)))
    prose = list(islice((word for word in words if word not in _NOT_PROSE), 4))
    return len(prose) <= 3 and not _VERBS.intersection(prose) and not is_sentence(text)


def first_clause(text: str) -> str:
    """The text up to the end of its first sentence or line, never inside a formula."""
    text = text.lstrip(" \t\r\n*_:：")[:LONGEST_CLAUSE]
    formula = next(formulas(text), None)
    start = formula.end if formula is not None and formula.start == 0 else 0
    end = _SENTENCE_END.search(text, start)
    clause = text[: end.start()] if end is not None else text
    remark = _REMARK.search(clause, start)
    return clause[: remark.start()] if remark is not None else clause


def last_clause(text: str) -> str:
    """The last sentence, or displayed formula, of a text; polite endings are skipped."""
    tail = text[-3 * LONGEST_CLAUSE :].rstrip()
    display = _DISPLAY.search(tail)
    if display is not None:
        return display[0]
    while tail:
        body = tail.rstrip(" \t\r\n.!?。！？؟*_`\"'$")
        ends = [match.end() for match in _SENTENCE_END.finditer(body)]
        start = ends[-1] if ends else 0
        sentence = tail[start:].strip()
        if sentence and not _BOILERPLATE.match(sentence):
            # The tail of a long one does not start inside a word or a number.
            is_long = len(sentence) > LONGEST_CLAUSE
            return sentence[-LONGEST_CLAUSE:].partition(" ")[2] if is_long else sentence
        if start in (0, len(tail)):
            return ""
        tail = tail[:start].rstrip()
    return ""


class AnswerText(NamedTuple):
    """An answer, and the part of the clause from which it was read."""

    span: str
    source: str


def answer_in(
    clause: str, books: tuple[Phrasebook, ...], *, denied: bool = False
) -> AnswerText | None:
    """The answer in a clause after "the answer is"; None if the clause only denies a value."""
    text = _after_contrast(_HOW.sub("", clause), books, denied=denied)
    if text is None:
        return None
    joined = _joined_alternatives(text, books)
    if joined is not None:
        return AnswerText(joined, text)
    source = without_copula(without_aside(text, books)).strip()
    span = _EXACTLY.sub("", _without_counted(without_wrapping(source), books))
    if span and not is_bare(span):
        stated = statement(text) or _only_number(text, books)
        if stated is not None:
            return AnswerText(stated, stated if stated in clause else text)
    return AnswerText(span, span if span and span in clause else source)


_EXACTLY = re.compile(r"\A(?:exactly|precisely)\s+(?=[-+−]?[\d$\\(\[])", re.IGNORECASE)
_COUNT = re.compile(r"[$*]{0,3}([-+−]?\d[\d.,/]*)[$*]{0,3}\s*([^\W\d_][\w .]{0,30})\Z")


def _without_counted(span: str, books: tuple[Phrasebook, ...]) -> str:
    """Remove the counted noun after a number, as in `42个` or "42 Äpfel"."""
    count = _COUNT.match(span)
    if count is None:
        return span
    noun = fold(count[2])
    return count[1] if any(noun in book.endings("counted") for book in books[1:]) else span


def _only_number(clause: str, books: tuple[Phrasebook, ...]) -> str | None:
    """The number of a clause with exactly one number, unless an operation changes that number."""
    is_alone = len(_NUMBER.findall(clause)) == 1
    if not is_alone or any(book.pattern("operations").search(fold(clause)) for book in books):
        return None
    number = last_number(clause)
    return number[0] if number is not None else None


_BEFORE_VALUE = re.compile(r"[^\d$\\]{0,60}")


def _after_contrast(clause: str, books: tuple[Phrasebook, ...], *, denied: bool) -> str | None:
    """Remove the denied value from "not 41 but 42"; None if no other value follows."""
    folded = fold(clause)
    head = _BEFORE_VALUE.match(folded)
    denied = denied or any(
        book.pattern("denying").search(head[0] if head is not None else "") for book in books
    )
    for book in books:
        grows = book.language.code in ("ja", "ko")
        turns = list(_raw_pattern(book, "contrasting").finditer(clause)) if denied or grows else []
        if turns and clause[turns[-1].end() :].strip():
            return clause[turns[-1].end() :]
    return None if denied else clause


def _joined_alternatives(clause: str, books: tuple[Phrasebook, ...]) -> str | None:
    """Values joined by "or", if the clause gives alternatives; None if it does not."""
    for book in books:
        words = _raw_pattern(book, "alternatives")
        pieces = [without_wrapping(without_copula(piece)) for piece in words.split(clause)]
        values = [value for value in map(_value_at_end, filter(None, pieces)) if value]
        if len(values) > 1 and len(values) == len([piece for piece in pieces if piece]):
            return " or ".join(values)
    return None


_PLAIN_VALUE = re.compile(
    r"(?:\A|(?<=[\s(]))(?:\$[^$]+\$|\\\(.+?\\\)|[-+−]?\d[\d.,/]*(?:\s?%)?|\(?[A-H]\)?|\\[a-z]+\S*)\Z"
)


def _value_at_end(piece: str) -> str | None:
    """The value at the end of a short text, as in "la alternativa C"; or None."""
    piece = piece.strip(" ,،，、")
    if len(piece) > 80:
        return None
    match = _PLAIN_VALUE.search(piece)
    if match is None or len(_WORDS.findall(piece[: match.start()])) > 3:
        return None
    return match[0].strip()


_VARIANTS = {"'": "['’]", "ا": "[اأإآ]", "ي": "[يى]", "ه": "[هة]", "е": "[её]"}


@cache
def _raw_pattern(book: Phrasebook, field: str) -> re.Pattern[str]:
    """The pattern of a table's phrases for text that is not normalised."""
    pattern = book.pattern(field).pattern
    for letter, variants in _VARIANTS.items():
        pattern = pattern.replace(letter, variants)
    return re.compile(pattern, re.IGNORECASE)


def without_aside(clause: str, books: tuple[Phrasebook, ...]) -> str:
    """Remove what follows the answer, as in "42, not 43" or "42 because it divides 84"."""
    for book in books:
        for aside in _raw_pattern(book, "asides").finditer(clause):
            head = clause[: aside.start()].rstrip(" ,،，、;—–-(（")
            if _ENDS_IN_VALUE.search(head) and is_bare(head):
                return head
    return clause


_ENDS_IN_VALUE = re.compile(r"[\d$)}\]%°!*²³√π]\Z|(?<![^\W\d_])[^\W\d_]\Z|\d[\w\s]{0,30}\Z")


MOST_LINKS = 40
"""Words such as "is", and colons, of one clause that are looked at from its end."""


def statement(clause: str) -> str | None:
    """The answer that a clause states: after its last "is", or its last formula."""
    verdict = _VERDICT.match(clause)
    if verdict is not None:
        return verdict[1]
    named = _IS_THE_ANSWER.search(clause)
    if named is not None:
        option = _OPTION_WORD.search(clause[: named.start()])
        if option is not None:
            return clause[option.end() : named.start()].strip(" .*")
    clause = _RELATIVE.sub("", _IS_THE_ANSWER.sub("", clause))
    two = _TWO_VALUES.search(without_wrapping(clause))
    if two is not None:
        return f"{two[1]}={two[2]} or {two[1]}={two[3]}"
    books = books_for(fold(clause))
    links = [match.span() for match in _COPULA.finditer(clause)]
    for start, end in sorted({*links, *link_spans(clause)}, reverse=True)[:MOST_LINKS]:
        rest = without_wrapping(without_copula(without_aside(clause[end:], books)))
        if not rest or rest.lower() in _REMARKS or not is_bare(rest):
            continue
        # A ":" or "=" may belong to a formula rather than to the sentence.
        in_math = (formula.start < start < formula.end for formula in formulas(clause))
        if clause[start].isalpha() or not any(in_math):
            return _joined_alternatives(clause[end:], books) or _without_counted(rest, books)
    return _last_formula(clause, books)


def _last_formula(clause: str, books: tuple[Phrasebook, ...]) -> str | None:
    """The last formula of a clause, with the formulas joined to it by "or"."""
    spans = list(formulas(clause))
    if not spans:
        return None
    contents = [spans[-1].content.strip()]
    for left, right in zip(spans[-2::-1], spans[:0:-1], strict=True):
        between = clause[left.end : right.start]
        if not any(_raw_pattern(book, "alternatives").search(between) for book in books):
            break
        contents.append(left.content.strip())
    return " or ".join(reversed(contents))


def last_number(clause: str) -> tuple[str, int] | None:
    """The last number of a clause that is not part of a word, and its position."""
    for match in reversed(list(_NUMBER.finditer(clause))):
        before = clause[match.start() - 1] if match.start() else " "
        after = clause[match.end()] if match.end() < len(clause) else " "
        if not (before.isalpha() or before == "_" or after == "_"):
            return match[0].strip(), match.start()
    return None


def is_plain_number(span: str) -> bool:
    """Whether the text is one number and nothing more."""
    return _NUMBER.fullmatch(span.strip(" $")) is not None


def _without_stray_brackets(text: str) -> str:
    """Remove closing brackets that have no opening bracket."""
    surplus = text.count("}") - text.count("{")
    end = len(text)
    while surplus > 0 and text.endswith("}", 0, end) and not text.endswith("\\}", 0, end):
        surplus -= 1
        end -= 1
        while end and text[end - 1].isspace():
            end -= 1
    text = text[:end]
    if text.endswith(")") and "(" not in text and "[" not in text:
        text = text[:-1].rstrip()
    return text
