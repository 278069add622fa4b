"""Read the text of a query: its order, its limit and its select list.

Nothing here knows the grammar. A query is cut into words, quoted names and marks, and what stands
outside of every bracket is its own: sub-queries, common table expressions and windows are inside.
A clause that cannot be read so is left alone, and the comparison is then by the rows alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

_TOKEN = re.compile(
    r"""(?P<space>\s+|--[^\n]*|/\*(?:[^*]|\*(?!/))*+(?:\*/)?)
    |(?P<quoted>'(?:[^']|'')*+'|"(?:[^"]|"")*+"|`(?:[^`]|``)*+`|\[[^\]]*+\])
    |(?P<word>[^\W\d][\w$]*)
    |(?P<number>\d[\w.]*)
    |(?P<mark>.)""",
    re.VERBOSE | re.DOTALL,
)
_DEEPER = {"(": 1, ")": -1}
READING = frozenset(("SELECT", "WITH", "VALUES"))
_COMPOUND = frozenset(("UNION", "INTERSECT", "EXCEPT"))


class SqlToken(NamedTuple):
    """One token of a query, with its position and the number of open brackets around it."""

    kind: str
    text: str
    start: int
    end: int
    depth: int

    @property
    def word(self) -> str:
        """The word in upper case; empty for other tokens."""
        return self.text.upper() if self.kind == "word" else ""


@dataclass(frozen=True, slots=True)
class OrderTerm:
    """One term of ORDER BY."""

    text: str
    """The expression, with its collation."""
    descends: bool = False
    nulls: str = ""
    """`FIRST` or `LAST` where the query says so."""

    def to_sql(self, expression: str) -> str:
        """Write the term in SQL with another expression."""
        nulls = f" NULLS {self.nulls}" if self.nulls else ""
        return f"{expression}{' DESC' if self.descends else ''}{nulls}"

    def flipped(self) -> OrderTerm:
        """The term with NULL sorted at the other end; unchanged if the query places NULL."""
        # SQLite takes NULL for the least value.
        return self if self.nulls else replace(self, nulls="FIRST" if self.descends else "LAST")


@dataclass(frozen=True, slots=True)
class QueryShape:
    """The parts of a query's text that decide its result: order, limit, select list."""

    body: str
    """The query without its ORDER BY and LIMIT."""
    terms: tuple[OrderTerm, ...] = ()
    limit: int | None = None
    """`None` without a LIMIT."""
    offset: int = 0
    items: tuple[tuple[str, str], ...] = ()
    """Expression and alias of each item of the select list; none where they cannot be read."""
    list_end: int = 0
    """Where the select list ends in `body`."""

    @property
    def ordered(self) -> bool:
        return bool(self.terms)


def tokens_of(query: str) -> list[SqlToken]:
    """Split a query into tokens, without spaces and comments."""
    tokens: list[SqlToken] = []
    depth = 0
    for match in _TOKEN.finditer(query):
        kind = match.lastgroup or ""
        if kind == "space":
            continue
        text = match[0]
        change = _DEEPER.get(text, 0) if kind == "mark" else 0
        depth += min(change, 0)
        tokens.append(SqlToken(kind, text, match.start(), match.end(), depth))
        depth += max(change, 0)
    return tokens


def first_word(query: str) -> str:
    """The first word of a query in upper case; spaces, comments and `(` may precede it."""
    for match in _TOKEN.finditer(query):
        if match.lastgroup == "word":
            return match[0].upper()
        if match.lastgroup != "space" and match[0] != "(":
            break
    return ""


def without_end(query: str) -> str:
    """Remove semicolons and comments from the end of a query."""
    tokens = tokens_of(query)
    while tokens and tokens[-1].text == ";":
        tokens.pop()
    return query[: tokens[-1].end] if tokens else ""


def shape_of(query: str) -> QueryShape | None:
    """Read the shape of a query; `None` if its ORDER BY or LIMIT cannot be read."""
    own = [token for token in tokens_of(query) if token.depth == 0]
    words = [token.word for token in own]
    order = _last(words, "ORDER", "BY")
    limit = _last(words, "LIMIT")
    if limit is not None and order is not None and limit < order:
        return None
    first = min(at for at in (order, limit, len(own)) if at is not None)
    body = query[: own[first].start].rstrip() if first < len(own) else query
    shape = QueryShape(body)
    if order is not None:
        end = own[limit].start if limit is not None else len(query)
        terms = tuple(map(_term, _split(query[own[order + 1].end : end])))
        if not all(term.text for term in terms):
            return None
        shape = replace(shape, terms=terms)
    if limit is not None:
        bounds = _bounds(own[limit + 1 :])
        if bounds is None:
            return None
        shape = replace(shape, limit=bounds[0], offset=bounds[1])
    return _with_items(shape)


def _last(words: Sequence[str], *sought: str) -> int | None:
    """The last position where these words follow each other."""
    size = len(sought)
    places = (at for at in range(len(words) - size, -1, -1) if (*words[at : at + size],) == sought)
    return next(places, None)


def _bounds(tokens: Sequence[SqlToken]) -> tuple[int, int] | None:
    """The limit and the offset; `None` if they are not plain numbers."""
    match [token.text.upper() for token in tokens]:
        case [count] if count.isdecimal():
            return int(count), 0
        case [count, "OFFSET", start] if count.isdecimal() and start.isdecimal():
            return int(count), int(start)
        case [start, ",", count] if count.isdecimal() and start.isdecimal():
            return int(count), int(start)
    return None


def _split(text: str) -> list[str]:
    """Split a list at the commas outside of brackets."""
    cuts = [token for token in tokens_of(text) if token.depth == 0 and token.text == ","]
    starts = [0, *(cut.end for cut in cuts)]
    ends = [*(cut.start for cut in cuts), len(text)]
    return [text[start:end].strip() for start, end in zip(starts, ends, strict=True)]


def _term(text: str) -> OrderTerm:
    tokens = tokens_of(text)
    nulls = ""
    descends = False
    if len(tokens) > 2 and tokens[-2].word == "NULLS" and tokens[-1].word in ("FIRST", "LAST"):
        nulls = tokens[-1].word
        del tokens[-2:]
    if len(tokens) > 1 and tokens[-1].word in ("ASC", "DESC"):
        descends = tokens.pop().word == "DESC"
    return OrderTerm(text[: tokens[-1].end] if tokens else "", descends, nulls)


def _with_items(shape: QueryShape) -> QueryShape:
    """Add the select list to the shape, if the query is one SELECT without DISTINCT."""
    own = [token for token in tokens_of(shape.body) if token.depth == 0]
    words = [token.word for token in own]
    if words.count("SELECT") != 1 or _COMPOUND & set(words):
        return shape
    start = words.index("SELECT")
    if words[start + 1 : start + 2] == ["DISTINCT"]:
        return shape
    begin = start + (words[start + 1 : start + 2] == ["ALL"])
    ends = (
        token.start
        for at, token in enumerate(own[begin + 1 :], begin + 1)
        # `a IS DISTINCT FROM b` is an expression.
        if token.word in ("FROM", "WHERE", "GROUP", "HAVING", "WINDOW")
        and words[at - 1] != "DISTINCT"
    )
    end = next(ends, len(shape.body))
    items = tuple(map(_item, _split(shape.body[own[begin].end : end])))
    return replace(shape, items=items, list_end=end)


def _item(text: str) -> tuple[str, str]:
    tokens = tokens_of(text)
    if len(tokens) > 2 and tokens[-2].word == "AS" and tokens[-2].depth == 0:
        return text[: tokens[-2].start].strip(), unquoted(tokens[-1].text)
    return text, ""


def unquoted(name: str) -> str:
    if len(name) > 1 and name[0] in "\"`'[" and name[-1] in "\"`']":
        return name[1:-1].replace(name[0] * 2, name[0])
    return name
