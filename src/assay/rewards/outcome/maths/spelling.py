"""Answers spelt in words that have a formula: numbers, fractions, times of day, and sets."""

from __future__ import annotations

import re
from typing import Final

from assay.rewards.outcome.maths.texts import plain

_UNITS: Final = {
    word: value
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
        "fifteen sixteen seventeen eighteen nineteen".split()
    )
}
_TENS: Final = {
    word: value
    for value, word in zip(
        range(20, 100, 10),
        "twenty thirty forty fifty sixty seventy eighty ninety".split(),
        strict=True,
    )
}
_SCALES: Final = {"thousand": 10**3, "million": 10**6, "billion": 10**9}
_PARTS: Final = {
    "half": 2, "halves": 2, "third": 3, "thirds": 3, "quarter": 4, "quarters": 4, "fourth": 4,
    "fourths": 4, "fifth": 5, "fifths": 5, "sixth": 6, "sixths": 6, "eighth": 8, "eighths": 8,
    "tenth": 10, "tenths": 10,
}  # fmt: skip
_SETS: Final = {
    **dict.fromkeys(
        ("all real numbers", "all reals", "all real number", "real numbers", "any real number"),
        r"\mathbb{R}",
    ),
    **dict.fromkeys(("no solution", "no solutions", "empty set", "null set"), r"\emptyset"),
}
_CLOCK: Final = re.compile(r"(\d{1,2})(?::(\d{2}))?\s*([ap])\.?\s?m\.?", re.IGNORECASE)
_BARE_CLOCK: Final = re.compile(r"(\d{1,2}):(\d{2})")
_LONGEST: Final = 80


def in_figures(text: str) -> str | None:
    """The formula of an answer in words: `forty-two`, `three quarters`, `all real numbers`."""
    if len(text) > _LONGEST or not any(char.isalpha() for char in text):
        return None
    words = plain(text)
    if words in _SETS:
        return _SETS[words]
    parts = words.replace("-", " ").replace(" and ", " ").split()
    sign = "-" if parts and parts[0] in ("minus", "negative") else ""
    parts = parts[1:] if sign else parts
    if parts and parts[-1] in _PARTS:
        top = _whole(parts[:-1]) if parts[:-1] not in ([], ["a"]) else 1
        return None if top is None else f"{sign}{top}/{_PARTS[parts[-1]]}"
    if sign and len(parts) == 1 and parts[0].replace(".", "").isdecimal():
        return f"-{parts[0]}"
    value = _whole(parts)
    return None if value is None else f"{sign}{value}"


def _whole(words: list[str]) -> int | None:
    """The whole number that the words spell, or None."""
    if not words:
        return None
    total, current, last = 0, 0, 10**12
    for word in words:
        if word in _UNITS and current % 10 == 0 and (current % 100 == 0 or _UNITS[word] < 10):
            current += _UNITS[word]
        elif word in _TENS and current % 100 == 0:
            current += _TENS[word]
        elif word == "hundred" and 0 < current < 10:
            current *= 100
        elif word in _SCALES and current and _SCALES[word] < last:
            last = _SCALES[word]
            total, current = total + current * last, 0
        else:
            return None
    return total + current


def same_time(left: str, right: str) -> bool | None:
    """Whether two times of day agree; None unless one of them says a.m. or p.m."""
    times = _times(plain(left)), _times(plain(right))
    halves = [_CLOCK.fullmatch(plain(text)) is not None for text in (left, right)]
    if not any(halves) or not all(times):
        return None
    return bool(times[0] & times[1])


def _times(text: str) -> frozenset[int]:
    """The minutes of the day that the text may mean."""
    clock = _CLOCK.fullmatch(text)
    time = clock or _BARE_CLOCK.fullmatch(text)
    if time is None:
        return frozenset()
    hour, minute = int(time[1]), int(time[2] or "0")
    if clock is not None:
        hours = {hour % 12 + (12 if clock[3].lower() == "p" else 0)} if hour <= 12 else set()
    else:
        hours = {hour % 12, hour % 12 + 12} if hour <= 12 else {hour}
    return frozenset(h * 60 + minute for h in hours if minute < 60)
