"""Find answers in fenced blocks, in `<answer>` tags, or in the whole response."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, TypeAlias

from assay.text.channels import after_thoughts, final_text
from assay.text.tags import ANSWER_TAGS, insides

BlockRule: TypeAlias = Literal["single", "last", "whole"]
"""Which block of a response counts: the only one, the last one, or the text as it is."""

FENCE: Final = "```"
_FENCE_LINE: Final = re.compile(r"[ \t]{0,3}(?P<mark>`{3,}|~{3,})[ \t]*(?P<tag>[^\s`{]*)[^\n`]*\Z")


class CodeBlock(NamedTuple):
    """One fenced block: its language in lower case, its text and its position."""

    language: str
    text: str
    start: int
    end: int
    closed: bool = True


@dataclass(frozen=True, slots=True)
class CodeBlocks:
    """The fenced blocks of a response, in order."""

    blocks: tuple[CodeBlock, ...]
    because: str
    """How many there are; where there is none, why."""


def code_blocks(response: str, languages: Collection[str] | None = None) -> CodeBlocks:
    """The fenced blocks of a response after its thoughts; the last may lack its end.

    A fence is a line of its own, of three or more backticks or tildes; the block goes on to a line
    of at least as many. `""` is the language of a block that names none.
    """
    text = after_thoughts(response)
    shift = len(response) - len(text)
    blocks = tuple(
        block._replace(start=block.start + shift, end=block.end + shift)
        for block in fence_lines(text)
        if languages is None or block.language in languages
    )
    kinds = "" if languages is None else f" of {' or '.join(sorted(languages))}"
    because = f"{len(blocks) or 'no'} fenced block{'' if len(blocks) == 1 else 's'}{kinds}"
    return CodeBlocks(blocks, because if text.strip() or not response else "everything is thought")


def fence_lines(text: str) -> Iterator[CodeBlock]:
    """The blocks between fences on lines of their own; the last may lack its end."""
    opening, start, body, position = "", 0, 0, 0
    language = ""
    for line in text.split("\n"):
        end = position + len(line) + 1
        fence = _FENCE_LINE.match(line.rstrip("\r"))
        if fence is not None and not opening:
            opening, language, start, body = fence["mark"], fence["tag"].lower(), position, end
        elif fence is not None and not fence["tag"] and fence["mark"].startswith(opening):
            yield CodeBlock(language, text[body:position], start, end - 1)
            opening = ""
        position = end
    if opening:
        yield CodeBlock(language, f"{text[body:]}\n", start, len(text), closed=False)


def fences_anywhere(text: str) -> Iterator[CodeBlock]:
    """The blocks between each "```" and the next, also in the middle of a line.

    The language is the rest of the line behind the first; a block without an end lasts to that of
    the text.
    """
    end = 0
    while (start := text.find(FENCE, end)) >= 0:
        stop = text.find(FENCE, start + len(FENCE))
        end = len(text) if stop < 0 else stop + len(FENCE)
        first, _, rest = text[start + len(FENCE) : end if stop < 0 else stop].partition("\n")
        yield CodeBlock(first.strip().lower(), rest, start, end, closed=stop >= 0)


def sole_block(text: str) -> CodeBlock | None:
    """The fenced block that is the whole text, if it is closed and has no backtick inside."""
    if not text.startswith(FENCE) or "\n" not in text:
        return None
    block = next(fences_anywhere(text))
    language = block.language
    is_name = text.startswith(language, len(FENCE)) and (language.isalpha() or not language)
    whole = block.closed and block.end == len(text) and FENCE[0] not in block.text
    return block if whole and is_name else None


def closed_blocks(text: str, languages: Collection[str]) -> list[str]:
    """The texts of closed blocks in one of the languages, or without a language."""
    return [
        block.text
        for block in fences_anywhere(text)
        if block.closed and (block.language in languages or not block.language)
    ]


def offered_blocks(response: str, languages: Collection[str], rule: BlockRule) -> list[str]:
    """The different answers that a response offers, without its thoughts and tool calls.

    What stands in `<answer>` tags, if there are any, and there in fenced blocks of one of these
    languages or of none; without a fence, the whole. "last" looks for fences outside of tags first.
    """
    if rule == "whole":
        return [response.strip()]
    text = final_text(response).text
    if rule == "last" and (fenced := closed_blocks(text, languages)):
        return fenced[-1:]
    blocks: list[str] = []
    for part in [text[start:end] for start, end in insides(text, *ANSWER_TAGS)] or [text]:
        blocks += closed_blocks(part, languages) or [part]
    blocks = list(dict.fromkeys(block.strip() for block in blocks))
    return blocks[-1:] if rule == "last" else blocks
