"""Remove ASCII punctuation and articles from tokens, as the published scripts do.

A token may be as long as a response. What costs more than a few nanoseconds for each character is
done in slices, or on bytes: a call into C that goes over a megabyte keeps every other thread of a
server waiting.
"""

from __future__ import annotations

import re
import string

ARTICLES = frozenset(("a", "an", "the"))

_SLICE_CHARS = 20_000
_LONG_CHARS = 1_000
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")
_NO_WORD = re.compile(r"\W")
_NUMERIC = re.compile(r"[\s\d+\-._einfatyEINFATY]*")
_PUNCTUATION = string.punctuation.encode()
_DELETE = str.maketrans("", "", string.punctuation)


def without_articles(token: str) -> list[str]:
    """Split a token into words, without articles between punctuation marks."""
    if len(token) <= _SLICE_CHARS:
        return _ARTICLE.sub(" ", token).split()
    pieces: list[str] = []
    start = 0
    while start < len(token):
        # After a sign, no article goes over the cut, and both sides see the same word boundaries.
        sign = _NO_WORD.search(token, start + _SLICE_CHARS)
        end = len(token) if sign is None else sign.end()
        pieces.append(_ARTICLE.sub(" ", token[start:end]))
        start = end
    return "".join(pieces).split()


def without_punctuation(token: str) -> str:
    """The token without ASCII punctuation."""
    if len(token) <= _LONG_CHARS:
        return token.translate(_DELETE)
    # No byte of a longer UTF-8 character is an ASCII mark, so bytes can be deleted.
    data = token.encode("utf-8", "surrogatepass").translate(None, _PUNCTUATION)
    return data.decode("utf-8", "surrogatepass")


def to_float(text: str) -> float | None:
    """Parse a number as Python does; `None` if the text is not a number."""
    if len(text) > _LONG_CHARS and not _NUMERIC.fullmatch(text):
        # The message of a failed `float` quotes the whole text.
        return None
    try:
        return float(text)
    except ValueError:
        return None
