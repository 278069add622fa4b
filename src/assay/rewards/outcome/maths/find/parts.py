"""The answers to the parts of one question, each in a box of its own: "(a) …", "Part 2: …"."""

from __future__ import annotations

import re
from itertools import islice

from assay.rewards.outcome.maths.find.boxes import BoxSpan, boxes_from_end

_LABEL = re.compile(
    r"(?:^|(?<=[\s*_#(]))(?:part|question)\s*\(?(?P<part>[a-h]|[1-9])\)?(?![\w])"
    r"|(?:^|(?<=[\s*_#]))\(?(?P<roman>iii|ii|iv|i|v)\)"
    r"|(?:^|(?<=[\s*_#]))\(?(?P<letter>[a-h])\)"
    r"|(?:^|(?<=[\s*_#]))\((?P<number>[1-9])\)",
    re.IGNORECASE | re.MULTILINE,
)
_ROMAN = {"i": 1, "ii": 2, "iii": 3, "iv": 4, "v": 5}
_MOST = 8
_LONGEST_LEAD = 4_000
"""Characters before a box in which its label is looked for."""


def labelled_parts(text: str) -> list[BoxSpan]:
    """The boxes of a text, if each has the label of its part before it, in order; else none."""
    boxes = list(islice(boxes_from_end(text), _MOST + 1))[::-1]
    if not 2 <= len(boxes) <= _MOST:
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
    """Which part a label names, from 1."""
    name = label[label.lastgroup or 0].lower()
    if label.lastgroup == "roman":
        return _ROMAN[name]
    return int(name) if name.isdecimal() else ord(name) - ord("a") + 1
