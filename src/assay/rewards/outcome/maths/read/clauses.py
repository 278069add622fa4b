"""Clauses that say of a letter what it ranges over, after the answer proper.

`f(x) = 2x \text{ for all real } x` is the function; `x = k\\pi \text{ where } k \text{ is an
integer}` is the answer with the condition `k \\in \\mathbb{Z}`. A clause that says anything else is
left in its place, where nothing reads it.
"""

from __future__ import annotations

import re
from typing import Final

_LEAD: Final = r"where|with|for\s+all|for\s+any|for\s+every|for\s+each|for\s+some|for|\\forall"
_CLAUSE: Final = re.compile(
    rf"(?P<answer>.*?[^\s,;(])[\s,;(]*(?:\\text\s*\{{\s*)?,?\s*\(?(?<![A-Za-z])(?:{_LEAD})"
    r"(?![A-Za-z])(?P<clause>.*)",
    re.DOTALL,
)
_MARKUP: Final = re.compile(
    r"\\(?:text|mathrm|mbox)\s*\{|\\(?:quad|qquad|displaystyle)|\\[ ,;!]|[{}$~]"
)
_NAME: Final = r"(\\[A-Za-z]+|[A-Za-z](?:_\d)?)"
_NAMES: Final = rf"{_NAME}(?:(?:,| and|, and) ?{_NAME}){{1,3}}"
_Z: Final = r"(?:\\(?:mathbb|mathbf|bf|rm|mathrm)\s*)?\{?\s*Z\s*\}?"
_DOMAIN: Final = re.compile(
    rf"(.*[^\s\\,;])(?:\s|\\[ ,;]|\\q?quad|~|,)*\(\s*([A-Za-z])\s*\\in\s*{_Z}\s*\)", re.DOTALL
)
_COUNTING: Final = re.compile(
    r"(.*[^\s\\,;])(?:\s|\\[ ,;]|\\q?quad|~|,)*\(\s*[nkm]\s*\\in\s*"
    r"\\math(?:bb|bf)\s*\{?\s*[NZ]\s*\}?\s*(?:[_^]\s*\{?\s*(?:\*|\+|\\ast|>\s*0)\s*\}?)?\s*\)",
    re.DOTALL,
)
"""What an index runs over, after the formula of a sequence."""
_NUMBERS: Final = r"(?:numbers?|values?(?: of)?|constants?|scalars?)"
_WHOLE: Final = r"(?:an?|any|some|all|every|arbitrary|each|the| )*"
_KIND: Final = r"(?:real|complex|positive|possible|nonnegative|fixed| )*"
_INTEGER: Final = (
    re.compile(rf"{_WHOLE}integers?(?: values of)? {_NAME}"),
    re.compile(rf"{_NAME} (?:is|are|be|being){_WHOLE}(?:integers?|whole numbers?)"),
    re.compile(rf"{_NAME} ?\\in ?(?:\\mathbb ?Z|\\mathbf ?Z|Z)"),
)
_FREE: Final = (
    re.compile(
        rf"{_WHOLE}(?:real|complex|positive|possible|nonnegative| )*(?:{_NUMBERS})? ?{_NAME}"
    ),
    re.compile(
        rf"{_WHOLE}(?:positive|natural|nonnegative|non-negative|whole)? ?"
        rf"(?:integers?|numbers?) {_NAME} ?"
    ),
    re.compile(rf"{_WHOLE}{_KIND}(?:constants|numbers|parameters) {_NAMES}"),
    re.compile(rf"{_NAMES} (?:is|are|be|being){_WHOLE}{_KIND}{_NUMBERS}(?: of integration)?"),
    re.compile(rf"{_NAME} (?:is|are|be|being){_WHOLE}{_KIND}{_NUMBERS}(?: of integration)?"),
    re.compile(rf"{_NAME} (?:is|are){_WHOLE}real"),
    re.compile(rf"{_NAME} ?\\in ?(?:\\mathbb ?[RCN]|[RCN])"),
)
_FROM: Final = re.compile(
    r"(?:all )?([nkm]) ?(?:(?:\\geq?|\\geqslant|>=|>) ?\d|= ?\d(?:, ?\d)*, ?\\[lc]?dots)"
)
"""From where an index of the answer runs."""
_EXCEPT: Final = re.compile(
    r"(?:\\text\s*\{)?\s*[Aa]ll real numbers(?: except(?: for)?| other than)\s*\}?\s*"
    r"(?:\$?[a-z]\s*=\s*)?([^=<>{}]{1,40}?)\$?\}?"
)
_LONGEST: Final = 400
"""Characters beyond which no clause is looked for."""


def without_clause(text: str) -> str:
    """The text without a clause that leaves its letter free, or with it as a condition."""
    if len(text) > _LONGEST:
        return text
    excepted = _EXCEPT.fullmatch(text)
    if excepted is not None:
        return rf"\mathbb{{R}} \setminus \{{{excepted[1]}\}}"
    domain = _DOMAIN.fullmatch(text)
    if domain is not None:
        return rf"{domain[1]}, {domain[2]} \in \mathbb{{Z}}"
    counting = _COUNTING.fullmatch(text) if "=" in text else None
    if counting is not None:
        return counting[1]
    match = _CLAUSE.fullmatch(text)
    if match is None or len(match["clause"]) > 80:
        return text
    clause = " ".join(_MARKUP.sub(" ", match["clause"]).split()).strip(" .,;)")
    for pattern in _INTEGER:
        integer = pattern.fullmatch(clause)
        if integer is not None:
            return rf"{match['answer']}, {integer[1]} \in \mathbb{{Z}}"
    index = _FROM.fullmatch(clause)
    free = index is not None and re.search(rf"(?<![A-Za-z\\]){index[1]}", match["answer"])
    if free or any(pattern.fullmatch(clause) for pattern in _FREE):
        return match["answer"]
    return text
