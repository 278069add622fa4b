"""Where a response puts an answer that is no sentence: a tag, a fence, or the whole of it."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from assay.text.channels import final_text

FENCE: Final = "```"
_OPEN: Final = "<answer>"
_CLOSE: Final = "</answer>"


def answer_blocks(response: str, languages: Collection[str]) -> list[str]:
    """The blocks that a response offers, without thoughts and tool calls, each different text once.

    What stands in `<answer>` tags, if there are any, and there in fenced blocks of one of these
    languages or of none; without a fence, the whole. Every search goes once over the text.
    """
    text = final_text(response)
    tagged = between(text, _OPEN, _CLOSE)
    blocks: list[str] = []
    for part in tagged or [text]:
        blocks += fenced_blocks(part, languages) or [part]
    return list(dict.fromkeys(block.strip() for block in blocks))


def between(text: str, opening: str, closing: str) -> list[str]:
    """What stands between each opening mark and the closing one that follows it."""
    parts: list[str] = []
    end = 0
    while (start := text.find(opening, end)) >= 0:
        start += len(opening)
        end = text.find(closing, start)
        if end < 0:
            break
        parts.append(text[start:end])
    return parts


def fenced_blocks(text: str, languages: Collection[str]) -> list[str]:
    """The contents of the closed fences that name one of the languages, or none."""
    blocks: list[str] = []
    end = 0
    while (start := text.find(FENCE, end)) >= 0:
        start += len(FENCE)
        end = text.find(FENCE, start)
        if end < 0:
            break
        first, _, rest = text[start:end].partition("\n")
        language = first.strip().lower()
        end += len(FENCE)
        if language in languages or not language:
            blocks.append(rest)
    return blocks
