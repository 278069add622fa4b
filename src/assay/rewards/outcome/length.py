"""`length_reward`: what the length of a response is worth, by one of four published curves.

It pays length alone, so it is a part to compose with. Without a gate on the outcome a group of
wrong answers is ranked by its lengths, and a policy learns to fail in the cheapest way:
`assay audit --group` shows it.
"""

from __future__ import annotations

import re
from math import cos, pi
from typing import Literal, TypeAlias, get_args

from assay.errors import BadParameter, check_choice
from assay.registry import reward
from assay.schema.score import Abstained, Scored
from assay.schema.values import Unreadable, read_response
from assay.text.tags import is_blank

Curve: TypeAlias = Literal["soft", "cosine", "linear", "dapo"]
Unit: TypeAlias = Literal["chars", "words", "tokens"]

PARTS = ("length",)
WORD = re.compile(r"\S+")


@reward(name="length_reward", version=1, parts=PARTS, kind="format")
def length_reward(
    final_response: str | None,
    response_tokens: int | None = None,
    *,
    curve: Curve = "soft",
    max_length: int = 16_000,
    buffer: int | None = None,
    unit: Unit = "chars",
) -> Scored | Abstained:
    """From 1.0 for a short response down to 0.0 at `max_length`, by `curve`; 0.0 for an empty one.

    `soft` is 1.0 up to `buffer` before the limit (by default a quarter of it), then falls in a
    straight line: DAPO's soft overlong punishment, plus one. `dapo` is that punishment itself, from
    0.0 to -1.0, which knows no empty response. `cosine` falls by half a wave over the whole length,
    `linear` in a straight line.

    `unit` counts characters, words, or tokens; tokens come in the column `response_tokens`, since
    only the trainer can count them.
    """
    _check_options(curve, unit, max_length, buffer)
    response = read_response(final_response)
    if isinstance(response, Unreadable):
        return Abstained("bad_response", f"'final_response' {response.because}", PARTS)
    text = response or ""
    if unit == "tokens" and response_tokens is None:
        because = "unit='tokens', and the row has no 'response_tokens'"
        return Abstained("missing_tokens", because, PARTS)
    if unit == "tokens" and response_tokens is not None and response_tokens < 0:
        because = f"'response_tokens' is {response_tokens}, no number of tokens"
        return Abstained("bad_reference", because, PARTS)
    length = _length(text, unit, response_tokens or 0)
    parts = {"length": float(length)}
    if curve != "dapo" and is_blank(text):
        return Scored(0.0, "there is no response", parts)
    start = max_length - (max_length // 4 if buffer is None else buffer)
    value = _value(length, curve, start, max_length)
    return Scored(value, f"{length:,} of {max_length:,} {unit}", parts)


def _length(text: str, unit: Unit, tokens: int) -> int:
    if unit == "tokens":
        return tokens
    # One at a time: a list of a million words would be in memory at once.
    return len(text) if unit == "chars" else sum(1 for _ in WORD.finditer(text))


def _value(length: int, curve: Curve, start: int, limit: int) -> float:
    share = min(length / limit, 1.0)
    if curve == "cosine":
        return (1 + cos(pi * share)) / 2
    if curve == "linear":
        return 1 - share
    over = min(max(0, length - start) / max(1, limit - start), 1.0)
    return -over if curve == "dapo" else 1 - over


def _check_options(curve: Curve, unit: Unit, max_length: int, buffer: int | None) -> None:
    for name, value, kind in (("curve", curve, Curve), ("unit", unit, Unit)):
        check_choice(name, value, get_args(kind))
    if max_length < 1:
        raise BadParameter(f"max_length is {max_length!r}; it is at least 1")
    if buffer is not None and not 0 <= buffer <= max_length:
        raise BadParameter(f"buffer is {buffer!r}; it is between 0 and max_length ({max_length})")
