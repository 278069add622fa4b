"""Remove what a reader does not see: comments, hidden elements, code, quoted lines.

Markup that only lays text out (`<b>42</b>`) is dropped, and what it surrounds stays.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from assay.text.blocks import fences_anywhere
from assay.text.slices import Cut, VisibleText, matches, matches_in_lines
from assay.text.word_tables import read_rows


@dataclass(frozen=True, slots=True)
class HiddenMarkup:
    """The opening and closing strings of hidden text, such as a comment."""

    opening: str
    closing: str
    lasts: bool = False
    """Whether it hides the rest of the text where it never closes."""


UNSEEN: Final = read_rows(HiddenMarkup, "assay.text", "unseen.toml")
"""Comments, hidden elements and struck-out text, each with its two ends."""

LAYOUT_TAGS = frozenset(
    "b i em strong u p div span center font mark code pre h1 h2 h3 h4 h5 h6 big small li ul ol "
    "td tr table tbody th section article main a tt kbd var output details summary".split()
)
"""Elements that lay text out and say nothing about it."""

TEXT_FENCES = frozenset(
    ("", "text", "txt", "plain", "plaintext", "latex", "tex", "math", "markdown", "md", "json")
)
"""Languages of code fences that hold text; in all others is source code, or what it printed."""

_VERB = re.compile(r"\\verb\*?([^\sA-Za-z*])[^\n]{0,400}?\1|\\lstinline\{[^{}\n]{0,400}\}")
_COMMENT_LINE = re.compile(r"(?:^[ \t]*%|%(?<=[.!?:;,][ \t]%))[^\n]*", re.MULTILINE)
_DEFINITION = re.compile(
    r"\\(?:(?:re)?newcommand\*?|providecommand\*?|[gx]?def)\s{0,5}\{?\\\w{1,40}\}?(?:\[\d\]|#\d){0,3}\s{0,5}\{"
)
"""The beginning of a command's definition, up to the brace that opens its text."""
_HIDDEN = re.compile(
    r"<(?P<name>\w{1,20})\s[^<>]{0,300}?(?:display\s{0,99}:\s{0,99}none|"
    r"visibility\s{0,99}:\s{0,99}hidden|font-size\s{0,99}:\s{0,99}0|"
    r"opacity\s{0,99}:\s{0,99}0(?![.\d])|"
    r"color\s{0,99}:\s{0,99}(?:white|transparent|#fff)|"
    r"\bhidden\b|aria-hidden\s{0,99}=\s{0,99}\"true)[^<>]{0,300}>",
    re.IGNORECASE,
)
_TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9]{0,10})(?:\s[^<>]{0,200})?/?>")
_QUOTED_LINE = re.compile(r"^[ \t]*>(?!>>)[^\n]*", re.MULTILINE)
_STRUCK = re.compile(r"(?<![^\s*_(])~~(?=[^\s~])[^\n~]{1,400}(?<=\S)~~(?![^\s.,;:!?*_)])")
_SPACES = re.compile(r"&(?:nbsp|ensp|emsp|thinsp);")
_LONGEST = 900
"""No match is longer, but a line."""


def leave_out_unseen(visible: VisibleText) -> None:
    """Remove the parts of a text that a reader does not see as an answer, in linear time."""
    text = visible.text
    for unseen in UNSEEN:
        if unseen.opening in text:
            visible.leave_out(_unseen(text, unseen))
            text = visible.text
    for one, other, cuts in _PASSES:
        if one in text or other in text:
            visible.leave_out(cuts(text))
            text = visible.text


def _unseen(text: str, unseen: HiddenMarkup) -> Iterator[Cut]:
    position = 0
    while (start := text.find(unseen.opening, position)) >= 0:
        end = text.find(unseen.closing, start + len(unseen.opening))
        if end < 0 and not unseen.lasts:
            break
        position = end + len(unseen.closing) if end >= 0 else len(text)
        yield Cut(start, position, " ")


def _matched(pattern: re.Pattern[str], new: str = " ") -> Callable[[str], Iterator[Cut]]:
    """Make a function that cuts out each match of a pattern."""

    def cuts(text: str) -> Iterator[Cut]:
        return (Cut(*match.span(), new) for match in matches(pattern, text, longest=_LONGEST))

    return cuts


def _definitions(text: str) -> Iterator[Cut]:
    """Cut out definitions of LaTeX commands, which print nothing."""
    position = 0
    for opening in matches(_DEFINITION, text, longest=_LONGEST):
        if opening.start() < position:
            continue
        depth, end = 1, opening.end()
        while depth and end < len(text):
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        position = end
        yield Cut(opening.start(), end, " ")


def _code(text: str) -> Iterator[Cut]:
    """Cut out fenced blocks of source code; an open block lasts to the end."""
    for block in fences_anywhere(text):
        line = text.find("\n", block.start, block.start + 60)
        name = text[block.start + 3 : max(line, block.start + 3)].strip().lower()
        if name.split(" ")[0].strip("{}.") not in TEXT_FENCES:
            yield Cut(block.start, block.end)


def _hidden_elements(text: str) -> Iterator[Cut]:
    """Elements whose style hides them."""
    position = 0
    for match in matches(_HIDDEN, text, longest=_LONGEST):
        if match.start() < position:
            continue
        end = text.find(f"</{match['name']}>", match.end())
        position = len(text) if end < 0 else end + len(match["name"]) + 3
        yield Cut(match.start(), position, " ")


def _tags(text: str) -> Iterator[Cut]:
    """Cut out layout tags; `<sup>` and `<sub>` become powers and indices."""
    closed = {match[2].lower() for match in matches(_TAG, text, longest=_LONGEST) if match[1]}
    for match in matches(_TAG, text, longest=_LONGEST):
        name = match[2].lower()
        if name in ("br", "hr"):
            yield Cut(*match.span(), "\n")
        elif name in closed and name in ("sup", "sub"):
            yield Cut(*match.span(), "}" if match[1] else ("^{" if name == "sup" else "_{"))
        elif name in closed and name in LAYOUT_TAGS:
            yield Cut(*match.span())


def _quoted_lines(text: str) -> Iterator[Cut]:
    """Cut out quoted lines, if other text follows them."""
    last = deque(matches_in_lines(_QUOTED_LINE, text), maxlen=1)
    if last and text[last[0].end() :].strip():
        yield from (Cut(*match.span()) for match in matches_in_lines(_QUOTED_LINE, text))


_PASSES: Final[tuple[tuple[str, str, Callable[[str], Iterator[Cut]]], ...]] = (
    ("\\verb", "\\lstinline", _matched(_VERB)),
    ("command", "def", _definitions),
    ("%", "%", lambda text: (Cut(*each.span()) for each in matches_in_lines(_COMMENT_LINE, text))),
    ("~~", "~~", _matched(_STRUCK)),
    ("```", "~~~", _code),
    ("<", "<", _hidden_elements),
    ("<", "<", _tags),
    (">", ">", _quoted_lines),
    ("&", "&", _matched(_SPACES)),
)
"""What is left out, one after the other: two marks, one of which is there, and the cuts."""
