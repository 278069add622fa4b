"""Which part of a response is the answer, when the prompt asked for it in tags.

Tags are written exactly `<answer>` and `</answer>`. Every search goes once over the text, so a
response of nothing but tags takes linear time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Literal, TypeAlias

Extraction: TypeAlias = Literal["none", "answer_tag", "first_answer_tag"]

_OPEN = "<answer>"
_CLOSE = "</answer>"


def last_answer(text: str) -> str | None:
    """What the last complete tag holds; a mention of `<answer>` before it does no harm."""
    close = text.rfind(_CLOSE)
    if close < 0:
        return None
    start = text.rfind(_OPEN, 0, close)
    if start < 0:
        return None
    # The closing tag that was found may be a stray one after a pair.
    return text[start + len(_OPEN) : text.find(_CLOSE, start)].strip()


def first_answer(text: str) -> str | None:
    """What stands between the first opening tag and the next closing one, as AgentFly reads it."""
    start = text.find(_OPEN)
    if start < 0:
        return None
    close = text.find(_CLOSE, start)
    return None if close < 0 else text[start + len(_OPEN) : close].strip()


EXTRACTORS: Mapping[str, Callable[[str], str | None]] = MappingProxyType(
    {"answer_tag": last_answer, "first_answer_tag": first_answer}
)
