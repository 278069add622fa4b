"""Align the submitted answer with the reference, item by item, for display only."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from math import isfinite
from typing import Any

from assay.report.reformatting import read_json

MOST_ITEMS = 40
ITEM_CHARS = 400
MATCHED = 0.999
_TOKEN = re.compile(r"[^\W_]+(?:[.,:]\d+)*")
_NUMBER = re.compile(r"[-+]?[$€£]?\s?\d[\d,_ \u00a0]*(?:\.\d+)?(?:[eE][-+]?\d{1,3})?\s?%?")


@dataclass(frozen=True, slots=True)
class AlignedItem:
    """An item of the reference and its most similar submitted item; one of them may be missing."""

    gold: str | None
    answer: str | None
    overlap: float
    """Of their tokens, from 0 to 1."""

    @property
    def matched(self) -> bool:
        return self.overlap >= MATCHED

    @property
    def numbers(self) -> bool:
        """Whether both items are numbers."""
        return all(number_in(text or "") is not None for text in (self.gold, self.answer))


def align(answer: str | None, reference: Any) -> tuple[AlignedItem, ...]:
    """Pair each reference item with its most similar submitted item, then add unpaired items."""
    references, answers = items_of(reference), items_of(answer)
    pairs = sorted(
        ((overlap(r, a), -i, -j) for i, r in enumerate(references) for j, a in enumerate(answers)),
        reverse=True,
    )
    partners: dict[int, tuple[str, float]] = {}
    used: set[int] = set()
    for alike, i, j in pairs:
        if -i not in partners and -j not in used and (alike > 0 or len(references) == 1):
            partners[-i] = (answers[-j], alike)
            used.add(-j)
    rows = [AlignedItem(r, *partners.get(i, (None, 0.0))) for i, r in enumerate(references)]
    rows += [AlignedItem(None, a, 0.0) for j, a in enumerate(answers) if j not in used]
    return tuple(rows)


def items_of(value: Any) -> list[str]:
    """The items of a reference or an answer: the elements of a list, or the lines of a text."""
    if value is None:
        return []
    if isinstance(value, str):
        read = read_json(value) if value.startswith("[") else None
        lines = [line for line in value.splitlines() if line.strip()]
        value = read if isinstance(read, list) else lines
    items = value if isinstance(value, (list, tuple)) else [value]
    return [_text(item)[:ITEM_CHARS] for item in items[:MOST_ITEMS]]


def overlap(reference: str, answer: str) -> float:
    """F1 of the two token sets, ignoring case and punctuation; 1.0 for equal numbers."""
    left, right = number_in(reference), number_in(answer)
    if left is not None and right is not None:
        return 1.0 if left == right else 0.0
    here, there = _tokens(reference), _tokens(answer)
    if not here or not there:
        return 0.0
    return 2 * len(here & there) / (len(here) + len(there))


def number_in(text: str) -> float | None:
    """The number that the text consists of; a currency or percent sign is ignored."""
    if len(text) > 60 or _NUMBER.fullmatch(text.strip()) is None:
        return None
    try:
        number = float(re.sub(r"[$€£%,_\s]", "", text))
    except ValueError:
        return None
    return number if isfinite(number) else None


def _tokens(text: str) -> frozenset[str]:
    return frozenset(_TOKEN.findall(text.casefold())) - {"a", "an", "the"}


def _text(item: Any) -> str:
    if isinstance(item, str):
        return item.strip()
    try:
        return json.dumps(item, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return repr(item)
