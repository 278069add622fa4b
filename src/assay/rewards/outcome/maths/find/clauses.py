"""The answer inside one clause of prose: "Therefore the product is **42**." says 42.

Clauses are at most a few hundred characters. What may be as long as a response, such as the inside
of a tag, is looked at in one pass.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

LONGEST_CLAUSE = 600

_SENTENCE_END = re.compile(r"[.!?](?=[\s\"'*$]|\\\]|\Z)|[。！？]|\n")
_NUMBER = re.compile(
    r"[-+−]?[$€£]?(?:\d[\d,]*(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?(?:\s?/\s?\d+)?(?:\s?\\?%)?"
)
_MATH_OPENS = re.compile(r"\$|\\[(\[]")
_DOLLARS = re.compile(r"\$\$(?P<a>[^$]+)\$\$|\$(?P<b>[^$]+)\$")
_MATH_CLOSES = {"\\(": "\\)", "\\[": "\\]"}
_WORDS = re.compile(r"(?<![\\A-Za-z{])[A-Za-z]{2,}(?:'[a-z]+)?")
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
    r"\s+(?:is|are)\s+(?:thus\s+|therefore\s+)?(?:the|our|my)\s+(?:\w+\s+)?"
    r"(?:answer|solution|result|value)s?\W*\Z",
    re.IGNORECASE,
)
_ASIDE = re.compile(
    r"(?<=[\w$)}\]%]),?\s+(?:and\s+not|but\s+not|not|rather\s+than|instead\s+of|because|since|but)\b",
    re.IGNORECASE,
)
_COPULA = re.compile(
    r"(?:\b(?:is|are|was|equals|equal\s+to|be|it's|becomes?|gives|obtain|get)\b"
    r"(?:\s+(?:exactly|equal\s+to|approximately|about|therefore|thus|then|just|simply|only|"
    r"given\s+by))?|(?<!\d):|[:：](?!\d)|\s=(?=\s))\s*",
    re.IGNORECASE,
)
_WRAPPERS = (("**", "**"), ("__", "__"), ("`", "`"), ('"', '"'), ("“", "”"), ("'", "'"), ("*", "*"))
_FENCE = re.compile(r"\A```[a-z]*\n(?P<body>[^`]*?)\n?```\Z")
_BOILERPLATE = re.compile(
    r"\A\W*(?:i hope|hope this|let me know|please|feel free|thank|if you (?:have|would|need)|"
    r"is there anything|do you)\b",
    re.IGNORECASE,
)


class Formula(NamedTuple):
    """A formula between delimiters: where they start and end, and what stands between them."""

    start: int
    end: int
    content: str


def formulas(text: str) -> Iterator[Formula]:
    """The formulas of a text, in order; linear also where delimiters never close."""
    last = {opening: text.rfind(closing) for opening, closing in _MATH_CLOSES.items()}
    position = 0
    while (opening := _MATH_OPENS.search(text, position)) is not None:
        formula = _formula_at(text, opening, last)
        if formula is None:
            position = opening.start() + 1
        else:
            yield formula
            position = formula.end


def _formula_at(text: str, opening: re.Match[str], last: dict[str, int]) -> Formula | None:
    if opening[0] == "$":
        dollars = _DOLLARS.match(text, opening.start())
        if dollars is None:
            return None
        return Formula(dollars.start(), dollars.end(), dollars["a"] or dollars["b"])
    start = opening.end()
    # The content has at least one character.
    if last[opening[0]] <= start:
        return None
    end = text.find(_MATH_CLOSES[opening[0]], start + 1)
    return Formula(opening.start(), end + 2, text[start:end])


def without_formulas(text: str) -> str:
    """The text with a space in place of each formula."""
    pieces: list[str] = []
    position = 0
    for formula in formulas(text):
        pieces.append(text[position : formula.start])
        position = formula.end
    pieces.append(text[position:])
    return " ".join(pieces)


def without_wrapping(span: str) -> str:
    """The span without the quotes, emphasis, code fence and full stop around it."""
    text = span.strip()
    fence = _FENCE.match(text)
    if fence is not None:
        text = fence["body"].strip()
    for _ in range(4):
        before = text
        text = text.rstrip(" \t\r\n.,;:。，；")
        for left, right in _WRAPPERS:
            if (
                len(text) > len(left) + len(right)
                and text.startswith(left)
                and text.endswith(right)
            ):
                text = text[len(left) : -len(right)].strip()
        text = _without_square_brackets(_without_stray_brackets(text))
        if text == before:
            break
    return text


def is_bare(text: str) -> bool:
    """Whether the text is an answer by itself: hardly a word of prose, and no verb."""
    if text.endswith(("?", "？")) or _LABEL.match(text):
        return False
    words = (match[0].lower() for match in _WORDS.finditer(without_formulas(text)))
    prose = list(islice((word for word in words if word not in _NOT_PROSE), 4))
    return len(prose) <= 3 and not _VERBS.intersection(prose)


def first_clause(text: str) -> str:
    """The text up to the end of its first sentence or line; a formula is never cut."""
    text = text.lstrip(" \t\r\n*_:：")[:LONGEST_CLAUSE]
    formula = next(formulas(text), None)
    start = formula.end if formula is not None and formula.start == 0 else 0
    end = _SENTENCE_END.search(text, start)
    clause = text[: end.start()] if end is not None else text
    remark = _REMARK.search(clause, start)
    return clause[: remark.start()] if remark is not None else clause


def last_clause(text: str) -> str:
    """The last sentence that is not a polite ending; the tail of it when it is very long.

    A displayed formula at the end is a sentence of its own, on however many lines.
    """
    tail = text[-3 * LONGEST_CLAUSE :].rstrip()
    display = _DISPLAY.search(tail)
    if display is not None:
        return display[0]
    while tail:
        body = tail.rstrip(" \t\r\n.!?。！？*_`\"'$")
        ends = [match.end() for match in _SENTENCE_END.finditer(body)]
        start = ends[-1] if ends else 0
        sentence = tail[start:].strip()
        if sentence and not _BOILERPLATE.match(sentence):
            return sentence if len(sentence) <= LONGEST_CLAUSE else _whole_words(sentence)
        if start == 0:
            return ""
        tail = tail[:start].rstrip()
    return ""


def without_aside(clause: str) -> str:
    """ "42, not 43" and "42 because it divides 84" without what follows the answer."""
    aside = _ASIDE.search(clause)
    if aside is None or not is_bare(clause[: aside.start()]):
        return clause
    return clause[: aside.start()]


def statement(clause: str) -> str | None:
    """What the clause says the answer is: after its last "is", or its last formula."""
    clause = _IS_THE_ANSWER.sub("", clause)
    links = list(_COPULA.finditer(clause))
    for match in reversed(links):
        rest = without_wrapping(without_aside(clause[match.end() :]))
        if (
            rest
            and rest.lower() not in _REMARKS
            and is_bare(rest)
            and (match[0][0].isalpha() or not _inside_math(clause, match))
        ):
            return rest
    spans = list(formulas(clause))
    return spans[-1].content.strip() if spans else None


def last_number(clause: str) -> tuple[str, int] | None:
    """The last number of the clause that is not part of a word, and where it starts."""
    for match in reversed(list(_NUMBER.finditer(clause))):
        before = clause[match.start() - 1] if match.start() else " "
        after = clause[match.end()] if match.end() < len(clause) else " "
        if not (before.isalpha() or before == "_" or after == "_"):
            return match[0].strip(), match.start()
    return None


def is_plain_number(span: str) -> bool:
    """Whether the span is one number and nothing else."""
    return _NUMBER.fullmatch(span.strip(" $")) is not None


def _inside_math(clause: str, link: re.Match[str]) -> bool:
    """Whether a ":" or "=" belongs to a formula rather than to the sentence."""
    return any(formula.start < link.start() < formula.end for formula in formulas(clause))


def _without_stray_brackets(text: str) -> str:
    """The text without closing brackets whose partners were cut off before it."""
    surplus = text.count("}") - text.count("{") if text.endswith("}") else 0
    end = len(text)
    while surplus > 0 and text[end - 1 : end] == "}" and text[end - 2 : end] != "\\}":
        surplus -= 1
        end -= 1
        while end and text[end - 1].isspace():
            end -= 1
    text = text[:end]
    if text.endswith(")") and "(" not in text and "[" not in text:
        text = text[:-1].rstrip()
    return text


def _whole_words(sentence: str) -> str:
    """The tail of a long sentence, not starting inside a word or a number."""
    return sentence[-LONGEST_CLAUSE:].partition(" ")[2]


def _without_square_brackets(text: str) -> str:
    """`[90]` without its brackets; an interval, a list or a matrix keeps them."""
    if len(text) > 2 and text[0] == "[" and text[-1] == "]" and not set(text[1:-1]) & set("[],;&"):
        return text[1:-1].strip()
    return text
