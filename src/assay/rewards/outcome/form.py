"""`format_reward`: whether a response keeps the agreed form, and says something in it.

It pays the form alone, so it is a part to compose with: behind a gate on the outcome, or beside one
at a small weight.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from assay.errors import BadParameter
from assay.registry import reward
from assay.rewards.outcome.patterns import (
    Pattern,
    TooMuchWork,
    UnsafePattern,
    compile_pattern,
)
from assay.schema.score import Abstained, Scored
from assay.schema.values import Unreadable, read_response
from assay.text.tags import is_blank, read_tag

PARTS = ("tags",)
THINK_AND_ANSWER = ("think", "answer")
MAX_TAGS = 16
_NAME = re.compile(r"[A-Za-z][\w.-]{0,63}")


class Form(NamedTuple):
    """What became of the agreed form in one response."""

    share: float
    """Of the tags: those that are there once, closed, and hold something."""
    fault: str
    """What breaks it; empty where it is kept."""


@reward(name="format_reward", version=1, parts=PARTS, kind="format")
def format_reward(
    final_response: str | None,
    *,
    tags: Sequence[str] = THINK_AND_ANSWER,
    opened: bool = False,
    pattern: str | None = None,
) -> Scored | Abstained:
    """1.0 when the response keeps the agreed form with something in it, else 0.0.

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
    response = read_response(final_response)
    if isinstance(response, Unreadable):
        return Abstained("bad_response", f"'final_response' {response.because}", PARTS)
    if response is None or is_blank(response):
        return Scored(0.0, "there is no response", {"tags": 0.0})
    if expression is not None:
        return _match(expression, response.strip())
    form = read_form(response, names, opened=opened)
    because = form.fault or f"{', '.join(f'<{name}>' for name in names)}: each once, and none empty"
    return Scored(float(not form.fault), because, {"tags": form.share})


def _match(expression: Pattern, text: str) -> Scored:
    try:
        value = float(expression.matches(text))
    except TooMuchWork:
        return Scored(0.0, "the response takes too long to match", {"tags": 0.0})
    because = f"the response {'matches' if value else 'does not match'} the pattern"
    return Scored(value, because, {"tags": value})


def read_form(response: str, names: Sequence[str], *, opened: bool = False) -> Form:
    """Which of the tags are kept, and the first fault."""
    if opened and f"<{names[0]}>" not in response:
        response = f"<{names[0]}>{response}"
    count, fault, position = 0, "", 0
    for name in names:
        problem, start, end = read_tag(response, name)
        if not problem and start < position:
            problem = f"<{name}> stands before, or inside, the tag that it follows"
        if not problem and response[position:start].strip():
            problem = f"there is text before <{name}>"
        count += not problem
        fault = fault or problem
        position = max(position, end)
    if not fault and response[position:].strip():
        fault = f"there is text after </{names[-1]}>"
    return Form(count / len(names), fault)


@lru_cache(maxsize=64)
def _names(tags: tuple[str, ...]) -> tuple[str, ...]:
    if not tags or len(tags) > MAX_TAGS or len(set(tags)) < len(tags):
        raise BadParameter(f"tags is {tags!r:.200}; name 1 to {MAX_TAGS} different tags")
    for name in tags:
        if not _NAME.fullmatch(str(name)):
            raise BadParameter(f"{name!r:.80} is no tag; give its name alone, as in 'answer'")
    return tags


@lru_cache(maxsize=64)
def _expression(pattern: str | None) -> Pattern | None:
    if pattern is None:
        return None
    try:
        return compile_pattern(pattern)
    except UnsafePattern as error:
        raise BadParameter(f"pattern {pattern!r:.200} {error}") from None
