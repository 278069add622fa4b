"""Makes a text that shows a flaw as short as a bounded number of questions allows."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

TOKEN = re.compile(r"\w+|\s+|[^\w\s]")


def shrink(text: str, bad: Callable[[str], bool], questions: int) -> str:
    """A text, no longer, of which `bad` is still true; `text` itself is taken to be bad.

    Removes runs of words, ever shorter ones, as delta debugging does; a word is kept or lost whole,
    so that what is left can still be read.
    """
    best: Sequence[str] = TOKEN.findall(text)
    size = max(1, len(best) // 2)
    while questions > 0 and best:
        shorter, questions = _without_runs(best, size, bad, questions)
        if len(shorter) == len(best):
            if size == 1:
                break
            size //= 2
        else:
            best = shorter
            size = max(1, min(size, len(best) // 2))
    return "".join(best)


def _without_runs(
    tokens: Sequence[str], size: int, bad: Callable[[str], bool], questions: int
) -> tuple[Sequence[str], int]:
    """The tokens without every run of that size that they can lose, and the questions left."""
    start = 0
    while start < len(tokens) and questions > 0:
        shorter = [*tokens[:start], *tokens[start + size :]]
        questions -= 1
        if bad("".join(shorter)):
            tokens = shorter
        else:
            start += size
    return tokens, questions
