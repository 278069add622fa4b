"""Find the boxes of a text, such as `\\boxed{…}`, `\\boxed 42` or `\\fbox{…}`, from its end.

Only as many boxes as could matter are looked at, and no character is scanned twice on behalf of
boxes that never close, so a megabyte of `\\boxed{` costs milliseconds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Literal, NamedTuple, TypeAlias

from assay.text.phrasebook import all_books, fold

_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
_OPEN = re.compile(r"\s*\{")
_UNBRACED = re.compile(r"[ \t]*([-+−]?(?!\\[bf]?box)(?:\\[a-zA-Z]+|[^\s$\\{}]){1,40})")
_MARKUP = re.compile(r"\\(?:quad|qquad|text|mathrm|textbf|mbox|[\[\]()!,;: ])|[\s$~{}*_]|\\\\")
_WORD = re.compile(r"[A-Za-z]+")
_CONCLUDES = frozenset(
    "so thus hence therefore then is the answer finally gives get but no not wait actually "
    "which means since because if we i it".split()
)
_ATTEMPT = re.compile(
    r"\b(?:attempt|guess|try|option|candidate|intento|opción|versuch|essai|tentative|tentativa"
    r"|попытка|вариант|محاولة)\s*#?\d|第.{1,3}次|시도|尝试|猜",
    re.IGNORECASE,
)
"""What numbers one guess after another."""
_VERSUS = frozenset(("/", "|", "vs", "vs.", "versus"))
_MOST = 64
_MOST_COMMANDS = 2_000
"""Places looked at for a box, from the end; further back is not where a final answer stands."""
_LONGEST_GAP = 60
"""Characters between two boxes that may still belong together."""
_LONGEST = 262_144
"""Characters looked through for the end of a box."""
_LABEL = re.compile(
    r"(?:^|(?<=[\s*_#(]))(?:part|question)\s*\(?(?P<part>[a-h]|[1-9])\)?(?![\w])"
    r"|(?:^|(?<=[\s*_#]))\(?(?P<roman>iii|ii|iv|i|v)\)"
    r"|(?:^|(?<=[\s*_#]))\(?(?P<letter>[a-h])\)"
    r"|(?:^|(?<=[\s*_#]))\((?P<number>[1-9])\)",
    re.IGNORECASE | re.MULTILINE,
)
_ROMAN = {"i": 1, "ii": 2, "iii": 3, "iv": 4, "v": 5}
_MOST_PARTS = 8
_LONGEST_LEAD = 4_000
"""Characters before a box in which its label is looked for."""

Gap: TypeAlias = Literal["list", "or", "nothing", "few_words", "prose"]


class BoxSpan(NamedTuple):
    """One closed box: its position and its content."""

    start: int
    end: int
    content: str


class BoxedAnswer(NamedTuple):
    """One answer that the last boxes of a text give together."""

    span: str
    start: int
    end: int
    in_a_row: int
    """How many different boxes stand there with hardly a word between them."""


def boxes_from_end(text: str) -> Iterator[BoxSpan]:
    """Yield the closed boxes, last first; boxes that never close are skipped."""
    limit = len(text)
    for start, after in _commands_from_end(text):
        opening = _OPEN.match(text, after, limit)
        if opening is None:
            bare = _UNBRACED.match(text, after, limit)
            if bare is not None:
                yield BoxSpan(start, bare.end(), bare[1].rstrip(".,;:!"))
            continue
        closing = _closing_brace(text, opening.end(), min(limit, opening.end() + _LONGEST))
        if closing is None:
            # Whatever encloses a box that never closes does not close either.
            limit = start
            continue
        yield BoxSpan(start, closing + 1, text[opening.end() : closing].strip())


def last_answer(text: str, *, as_list: bool = False) -> BoxedAnswer | None:
    """The content of the last box that is not empty, with other boxes of the same list.

    `\\boxed{1}, \\boxed{2}` and `\\boxed{1} and \\boxed{2}` state one list. Boxes with nothing
    between them are a self-correction, of which the last counts, unless
    `as_list` (a reference does not correct itself).
    """
    boxes = islice((box for box in boxes_from_end(text) if box.content), _MOST)
    last = next(boxes, None)
    if last is None:
        return None
    contents, start = [last.content], last.start
    separators: list[str] = []
    row = {last.content}
    run: Literal["list", "correction"] | None = None
    for box in boxes:
        near = box.end <= start <= box.end + _LONGEST_GAP
        gap = _gap(text[box.end : start]) if near else "prose"
        joins = gap in ("list", "or") or (as_list and gap == "nothing")
        kind: Literal["list", "correction"] = "list" if joins else "correction"
        if gap == "prose" or kind != (run or kind):
            break
        run, start = kind, box.start
        row.add(box.content)
        if joins:
            contents.append(box.content)
            separators.append(" or " if gap == "or" else ", ")
    # From the end, each content has the separator behind it.
    tail = zip(contents[1:], separators, strict=True)
    span = "".join(content + separator for content, separator in [*tail][::-1]) + last.content
    span = last.content if len(set(contents)) == 1 else span
    return BoxedAnswer(span, start, last.end, in_a_row=1 if separators else len(row))


def has_box(text: str) -> bool:
    """Whether the text has a box command; the box may be open or empty."""
    return next(_commands_from_end(text), None) is not None


def _commands_from_end(text: str) -> Iterator[tuple[int, int]]:
    """The position of each `\\boxed` and `\\fbox` command, last first."""
    boxed, framed = text.rfind("boxed"), text.rfind("\\fbox")
    for _ in range(_MOST_COMMANDS):
        if boxed < 0 and framed < 0:
            return
        if framed > boxed:
            yield framed, framed + 5
            framed = text.rfind("\\fbox", 0, framed)
            continue
        backslash = text.rfind("\\", max(0, boxed - 6), boxed)
        if backslash >= 0 and text[backslash + 1 : boxed] in ("", "begin"):
            yield backslash, boxed + 5
        boxed = text.rfind("boxed", 0, boxed)


def _closing_brace(text: str, start: int, limit: int) -> int | None:
    depth = 1
    for match in _BRACE.finditer(text, start, limit):
        depth += {"{": 1, "}": -1}.get(match[0], 0)
        if depth == 0:
            return match.start()
    return None


def _gap(between: str) -> Gap:
    """Classify the text between two boxes, such as "list", "or" or "prose"."""
    if "\n\n" in between.strip("\n $"):
        return "prose"
    plain = _MARKUP.sub(" ", between).strip()
    words = [word.lower() for word in _WORD.findall(plain)]
    folded = fold(plain)
    is_or = any(book.pattern("alternatives").search(folded) for book in all_books())
    if is_or or "or" in words or plain in _VERSUS or _ATTEMPT.search(plain):
        return "or"
    if len(words) > 4 or _CONCLUDES.intersection(words):
        return "prose" if len(words) > 3 else "few_words"
    if "and" in words:
        return "list"
    if words:
        return "few_words"
    return "list" if plain and plain[0] in ",;&+" else "nothing"


def labelled_parts(text: str) -> list[BoxSpan]:
    """The boxes of a text if each has its part's label before it; else an empty list."""
    boxes = list(islice(boxes_from_end(text), _MOST_PARTS + 1))[::-1]
    if not 2 <= len(boxes) <= _MOST_PARTS:
        return []
    start = 0
    kinds: set[str] = set()
    for place, box in enumerate(boxes, 1):
        lead = text[max(start, box.start - _LONGEST_LEAD) : box.start]
        labels = list(_LABEL.finditer(lead))
        if len(labels) != 1 or _place(labels[0]) != place or not box.content:
            return []
        kinds.add(labels[0].lastgroup or "")
        start = box.end
    return boxes if len(kinds) == 1 and _LABEL.search(text, start) is None else []


def _place(label: re.Match[str]) -> int:
    """The number of the part that a label names, from 1."""
    name = label[label.lastgroup or 0].lower()
    if label.lastgroup == "roman":
        return _ROMAN[name]
    return int(name) if name.isdecimal() else ord(name) - ord("a") + 1
