"""Rewards for the format of a response: its tags or pattern, its length, its repetition.

Each pays one thing alone, whatever the answer is, so they are parts to compose with: behind a gate
on the outcome, or at a small weight. Without a gate, length ranks a group of wrong answers, and a
policy learns to fail in the cheapest way: `assay audit --group` shows it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import islice
from math import cos, pi
from typing import Literal, TypeAlias, get_args

from assay.errors import BadParameter, check_choice
from assay.registry import reward
from assay.rewards.outcome.patterns import TextPattern, TooMuchWork, UnsafePattern, compile_pattern
from assay.schema.score import Abstained, Scored
from assay.text.tags import is_blank

Curve: TypeAlias = Literal["soft", "cosine", "linear", "dapo"]
LengthUnit: TypeAlias = Literal["chars", "words", "tokens"]
ItemUnit: TypeAlias = Literal["words", "chars"]
Scale: TypeAlias = Literal["share", "penalty"]

LENGTH_PARTS = ("length",)
THINK_AND_ANSWER = ("think", "answer")
MAX_TAGS = 16
MAX_ITEMS = 100_000
"""Words or characters that are looked at for repetitions; what follows them is not."""
MAX_NGRAM = 64
_NAME = re.compile(r"[A-Za-z][\w.-]{0,63}")
_ITEMS = {"words": re.compile(r"\S+"), "chars": re.compile(r"\S")}
_NO_RESPONSE = "there is no response"


@reward(name="format_reward", version=1, parts=("tags",), kind="format")
def format_reward(
    final_response: str | None,
    *,
    tags: Sequence[str] = THINK_AND_ANSWER,
    opened: bool = False,
    pattern: str | None = None,
) -> Scored:
    """1.0 if the response has the required format and is not empty, else 0.0.

    The form is a sequence of `tags`, by default `<think>…</think><answer>…</answer>`: each once, in
    this order, closed, none inside another, holding more than white space, and nothing but white
    space around them. With `opened`, the prompt has written the first tag already, and the response
    may leave it out. Or it is a regular expression, `pattern`, that the whole response matches (a
    dot matches a line break too); one that needs a back-reference or looks around is refused, and
    the time it takes is linear in the response.

    `tags` among the parts is the share of the tags that are there once, closed, and not empty; with
    a pattern it is the reward.
    """
    names, expression = _names(tuple(tags)), _expression(pattern)
    if final_response is None or is_blank(final_response):
        return Scored(0.0, _NO_RESPONSE, {"tags": 0.0})
    if expression is not None:
        return _match(expression, final_response.strip())
    share, fault = _keeps_tags(final_response, names, opened=opened)
    because = fault or f"{', '.join(f'<{name}>' for name in names)}: each once, and none empty"
    return Scored(float(not fault), because, {"tags": share})


def _match(expression: TextPattern, text: str) -> Scored:
    try:
        value = float(expression.matches(text))
    except TooMuchWork:
        return Scored(0.0, "matching the response with the pattern takes too long", {"tags": 0.0})
    because = f"the response {'matches' if value else 'does not match'} the pattern"
    return Scored(value, because, {"tags": value})


def _keeps_tags(response: str, names: Sequence[str], *, opened: bool) -> tuple[float, str]:
    """The share of tags that are correct, and the first error; empty if there is none."""
    if opened and f"<{names[0]}>" not in response:
        response = f"<{names[0]}>{response}"
    count, fault, position = 0, "", 0
    for name in names:
        problem, end = _tag_fault(response, name, position)
        count += not problem
        fault = fault or problem
        position = max(position, end)
    if not fault and response[position:].strip():
        fault = f"there is text after </{names[-1]}>"
    return count / len(names), fault


def _tag_fault(response: str, name: str, position: int) -> tuple[str, int]:
    """The error of one tag after a position, empty if it is correct, and where the tag ends."""
    opening, closing = f"<{name}>", f"</{name}>"
    counts = response.count(opening), response.count(closing)
    if counts != (1, 1):
        return f"{opening} is there {counts[0]} times, {closing} {counts[1]} times", 0
    start, stop = response.index(opening), response.index(closing)
    if stop < start:
        return f"{closing} stands before {opening}", 0
    end = stop + len(closing)
    if is_blank(response[start + len(opening) : stop]):
        return f"{opening} is empty", end
    if start < position:
        return f"{opening} stands before, or inside, the tag that it follows", end
    return f"there is text before {opening}" if response[position:start].strip() else "", end


@lru_cache(maxsize=64)
def _names(tags: tuple[str, ...]) -> tuple[str, ...]:
    if not tags or len(tags) > MAX_TAGS or len(set(tags)) < len(tags):
        raise BadParameter(f"tags is {tags!r:.200}; name 1 to {MAX_TAGS} different tags")
    for name in tags:
        if not _NAME.fullmatch(str(name)):
            raise BadParameter(f"{name!r:.80} is not a tag; give only its name, such as 'answer'")
    return tags


@lru_cache(maxsize=64)
def _expression(pattern: str | None) -> TextPattern | None:
    if pattern is None:
        return None
    try:
        return compile_pattern(pattern)
    except UnsafePattern as error:
        raise BadParameter(f"pattern {pattern!r:.200} {error}") from None


@reward(name="length_reward", version=1, parts=LENGTH_PARTS, kind="format")
def length_reward(
    final_response: str | None,
    response_tokens: int | None = None,
    *,
    curve: Curve = "soft",
    max_length: int = 16_000,
    buffer: int | None = None,
    unit: LengthUnit = "chars",
) -> Scored | Abstained:
    """From 1.0 for a short response down to 0.0 at `max_length`; 0.0 for an empty response.

    `soft` is 1.0 up to `buffer` before the limit (by default a quarter of it), then falls in a
    straight line: DAPO's soft overlong punishment, plus one. `dapo` is that punishment itself, from
    0.0 to -1.0, which knows no empty response. `cosine` falls by half a wave over the whole length,
    `linear` in a straight line.

    `unit` counts characters, words, or tokens; tokens come in the column `response_tokens`, since
    only the trainer can count them.
    """
    check_choice("curve", curve, get_args(Curve))
    check_choice("unit", unit, get_args(LengthUnit))
    if max_length < 1:
        raise BadParameter(f"max_length is {max_length!r}; choose a number of at least 1")
    if buffer is not None and not 0 <= buffer <= max_length:
        raise BadParameter(f"buffer is {buffer!r}; it must be from 0 to max_length ({max_length})")
    text = final_response or ""
    if unit == "tokens" and response_tokens is None:
        because = "unit='tokens', and the row has no 'response_tokens'"
        return Abstained("missing_tokens", because, LENGTH_PARTS)
    if unit == "tokens" and response_tokens is not None and response_tokens < 0:
        because = f"'response_tokens' is {response_tokens}, no number of tokens"
        return Abstained("bad_reference", because, LENGTH_PARTS)
    length = _length(text, unit, response_tokens or 0)
    parts = {"length": float(length)}
    if curve != "dapo" and is_blank(text):
        return Scored(0.0, _NO_RESPONSE, parts)
    start = max_length - (max_length // 4 if buffer is None else buffer)
    value = _length_value(length, curve, start, max_length)
    return Scored(value, f"{length:,} of {max_length:,} {unit}", parts)


def _length(text: str, unit: LengthUnit, tokens: int) -> int:
    if unit == "tokens":
        return tokens
    # One at a time: a list of a million words would be in memory at once.
    return len(text) if unit == "chars" else sum(1 for _ in _ITEMS["words"].finditer(text))


def _length_value(length: int, curve: Curve, start: int, limit: int) -> float:
    share = min(length / limit, 1.0)
    if curve == "cosine":
        return (1 + cos(pi * share)) / 2
    if curve == "linear":
        return 1 - share
    over = min(max(0, length - start) / max(1, limit - start), 1.0)
    return -over if curve == "dapo" else 1 - over


@reward(name="repetition_reward", version=1, parts=("repeated", "ngrams"), kind="format")
def repetition_reward(
    final_response: str | None, *, ngram: int = 4, unit: ItemUnit = "words", scale: Scale = "share"
) -> Scored:
    """The share of the response's n-grams that are different: 1.0 if nothing is repeated.

    An n-gram is `ngram` words in a row, in lower case, or as many characters (`unit="chars"`, for
    languages that write no spaces). A response of fewer of them repeats nothing. An empty one earns
    0.0. `scale="penalty"` gives the share less one, from 0.0 down to -1.0, with 0.0 for an empty
    response: the penalty of Yeo et al. and of Open-R1.

    The first 100,000 words are looked at. Parts: `repeated`, the share that is said again, and
    `ngrams`, how many there are.
    """
    if not 1 <= ngram <= MAX_NGRAM:
        raise BadParameter(f"ngram is {ngram!r}; choose a number from 1 to {MAX_NGRAM}")
    if unit not in get_args(ItemUnit) or scale not in get_args(Scale):
        raise BadParameter(
            f"unit is {unit!r} and scale is {scale!r}; unit is 'words' or 'chars', "
            "scale is 'share' or 'penalty'"
        )
    if final_response is None or is_blank(final_response):
        return Scored(0.0, _NO_RESPONSE, {"repeated": 0.0, "ngrams": 0.0})
    different, total = _count_ngrams(final_response, ngram, unit)
    share = different / total if total else 1.0
    parts = {"repeated": 1.0 - share, "ngrams": float(total)}
    because = f"{different:,} of {total:,} {ngram}-grams are different"
    return Scored(share - 1.0 if scale == "penalty" else share, because, parts)


def _count_ngrams(text: str, ngram: int, unit: ItemUnit) -> tuple[int, int]:
    """The number of different n-grams, and the number of all n-grams."""
    matches = islice(_ITEMS[unit].finditer(text), MAX_ITEMS)
    items = [match.group().lower() for match in matches]
    total = len(items) - ngram + 1
    if total < 1:
        return 0, 0
    return len({tuple(items[at : at + ngram]) for at in range(total)}), total
