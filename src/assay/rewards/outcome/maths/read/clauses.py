"""Clauses that say of a letter what it ranges over, after the answer proper.

`f(x) = 2x \text{ for all real } x` is the function; `x = k\\pi \text{ where } k \text{ is an
integer}` is the answer with the condition `k \\in \\mathbb{Z}`. A clause that says anything else is
left in its place, where nothing reads it.
"""

from __future__ import annotations

import re
from typing import Final

from assay.rewards.outcome.maths.read.lexicon import read_patterns

_PATTERNS: Final = read_patterns("clauses")
_LONGEST: Final = 400
"""Characters beyond which no clause is looked for."""


def without_clause(text: str) -> str:
    """The text without a clause that leaves its letter free, or with it as a condition."""
    if len(text) > _LONGEST:
        return text
    excepted = _PATTERNS["except"].fullmatch(text)
    if excepted is not None:
        return rf"\mathbb{{R}} \setminus \{{{excepted[1]}\}}"
    domain = _PATTERNS["domain"].fullmatch(text)
    if domain is not None:
        return rf"{domain[1]}, {domain[2]} \in \mathbb{{Z}}"
    counting = _PATTERNS["counting"].fullmatch(text) if "=" in text else None
    if counting is not None:
        return counting[1]
    match = _PATTERNS["clause"].fullmatch(text)
    if match is None or len(match["clause"]) > 80:
        return text
    clause = " ".join(_PATTERNS["markup"].sub(" ", match["clause"]).split()).strip(" .,;)")
    integer = _PATTERNS["integer"].fullmatch(clause)
    if integer is not None:
        return rf"{match['answer']}, {integer[integer.lastindex or 1]} \in \mathbb{{Z}}"
    index = _PATTERNS["from"].fullmatch(clause)
    free = index is not None and re.search(rf"(?<![A-Za-z\\]){index[1]}", match["answer"])
    if free or _PATTERNS["free"].fullmatch(clause):
        return match["answer"]
    return text
