"""The text that a reader sees: without comments, hidden elements, code and quoted lines.

Markup that only lays text out (`<b>42</b>`) is dropped, and what it surrounds stays.
"""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass

from assay.text.slices import matches, matches_in_lines, replace


@dataclass(frozen=True, slots=True)
class Unseen:
    """A piece of text that prints nothing, or that is shown as source."""

    opening: str
    closing: str
    lasts: bool = False
    """Whether it hides the rest of the text where it never closes."""


UNSEEN: tuple[Unseen, ...] = (
    Unseen("<!--", "-->", lasts=True),
    Unseen("\\iffalse", "\\fi", lasts=True),
    Unseen("\\if0", "\\fi", lasts=True),
    Unseen("\\begin{comment}", "\\end{comment}", lasts=True),
    Unseen("\\begin{verbatim}", "\\end{verbatim}"),
    Unseen("\\begin{lstlisting}", "\\end{lstlisting}"),
    Unseen("/*", "*/"),
    Unseen("[//]: #", "\n", lasts=True),
    Unseen("[comment]: #", "\n", lasts=True),
    Unseen("<script", "</script>", lasts=True),
    Unseen("<style", "</style>", lasts=True),
    Unseen("<template", "</template>", lasts=True),
    Unseen("<del>", "</del>"),
    Unseen("<s>", "</s>"),
    Unseen("<strike>", "</strike>"),
    Unseen("{% comment %}", "{% endcomment %}"),
    Unseen("{#", "#}"),
)
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


def seen_text(text: str) -> str:
    """The text without what its reader does not see as an answer; linear in its length."""
    for unseen in UNSEEN:
        if unseen.opening in text:
            text = _without(text, unseen)
    if "\\verb" in text or "\\lstinline" in text:
        text = replace(matches(_VERB, text, longest=_LONGEST), text, " ")
    if "command" in text or "def" in text:
        text = _without_definitions(text)
    if "%" in text:
        text = replace(matches_in_lines(_COMMENT_LINE, text), text, "")
    if "~~" in text:
        text = replace(matches(_STRUCK, text, longest=_LONGEST), text, " ")
    if "```" in text or "~~~" in text:
        text = _without_code(text)
    if "<" in text:
        text = _without_tags(_without_hidden(text))
    if ">" in text:
        text = _without_quoted_lines(text)
    return replace(matches(_SPACES, text, longest=_LONGEST), text, " ") if "&" in text else text


def _without(text: str, unseen: Unseen) -> str:
    pieces: list[str] = []
    position = 0
    while (start := text.find(unseen.opening, position)) >= 0:
        end = text.find(unseen.closing, start + len(unseen.opening))
        if end < 0 and not unseen.lasts:
            break
        pieces.append(text[position:start])
        position = end + len(unseen.closing) if end >= 0 else len(text)
    return " ".join([*pieces, text[position:]])


def _without_definitions(text: str) -> str:
    """The text without definitions of commands, which print nothing where they stand."""
    pieces: list[str] = []
    position = 0
    for opening in matches(_DEFINITION, text, longest=_LONGEST):
        if opening.start() < position:
            continue
        depth, end = 1, opening.end()
        while depth and end < len(text):
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        pieces.append(text[position : opening.start()])
        position = end
    return " ".join([*pieces, text[position:]]) if pieces else text


def _without_code(text: str) -> str:
    """The text without fenced blocks of source code; a block that never closes lasts to the end."""
    pieces: list[str] = []
    position = 0
    while (start := text.find("```", position)) >= 0:
        line = text.find("\n", start, start + 60)
        name = text[start + 3 : line if line >= 0 else start + 3].strip().lower()
        end = text.find("```", start + 3)
        stop = len(text) if end < 0 else end + 3
        keeps = name.split(" ")[0].strip("{}.") in TEXT_FENCES
        pieces.append(text[position : stop if keeps else start])
        position = stop
    return "".join([*pieces, text[position:]])


def _without_hidden(text: str) -> str:
    """The text without elements whose style hides them."""
    pieces: list[str] = []
    position = 0
    for match in matches(_HIDDEN, text, longest=_LONGEST):
        if match.start() < position:
            continue
        end = text.find(f"</{match['name']}>", match.end())
        pieces.append(text[position : match.start()])
        position = len(text) if end < 0 else end + len(match["name"]) + 3
    return " ".join([*pieces, text[position:]]) if pieces else text


def _without_tags(text: str) -> str:
    """The text without tags of layout, and with powers and indices for raised and lowered text."""
    closed = {match[2].lower() for match in matches(_TAG, text, longest=_LONGEST) if match[1]}

    def layout(match: re.Match[str]) -> str:
        name = match[2].lower()
        if name in ("br", "hr"):
            return "\n"
        if name not in closed:
            return match[0]
        if name in ("sup", "sub"):
            return "}" if match[1] else ("^{" if name == "sup" else "_{")
        return "" if name in LAYOUT_TAGS else match[0]

    return replace(matches(_TAG, text, longest=_LONGEST), text, layout)


def _without_quoted_lines(text: str) -> str:
    """The text without lines that quote, if it goes on after them."""
    last = deque(matches_in_lines(_QUOTED_LINE, text), maxlen=1)
    if not last or not text[last[0].end() :].strip():
        return text
    return replace(matches_in_lines(_QUOTED_LINE, text), text, "")
