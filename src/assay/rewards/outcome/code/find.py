"""The program that a response offers: its last fenced block, after its thoughts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple, TypeAlias, get_args

from assay.errors import BadParameter
from assay.text.channels import SECTIONS

CodeExtraction: TypeAlias = Literal["default", "fenced", "whole"]
"""`default`: the last fenced block, or the whole response where there is none; `fenced`: a block
or nothing; `whole`: the response as it is."""

TAGS: dict[str, frozenset[str]] = {
    "python": frozenset({"python", "py", "python3", "python2"}),
    "c++": frozenset({"c++", "cpp", "cxx", "cc"}),
    "c": frozenset({"c"}),
    "node": frozenset({"node", "javascript", "js", "mjs"}),
    "bash": frozenset({"bash", "sh", "shell"}),
}
"""How a fence names each language."""
_FENCE = re.compile(r"[ \t]{0,3}(?P<mark>`{3,}|~{3,})[ \t]*(?P<tag>[^\s`{]*)[^\n`]*\Z")


class ProgramText(NamedTuple):
    """The text of a program, empty if there is none, and where it was."""

    text: str
    because: str


class _Block(NamedTuple):
    tag: str
    text: str


def find_program(response: str, *, extraction: CodeExtraction, language: str) -> ProgramText:
    """The program of a response. Raises `BadParameter` for an unknown policy."""
    if extraction not in get_args(CodeExtraction):
        choices = ", ".join(map(repr, get_args(CodeExtraction)))
        raise BadParameter(f"extraction is {extraction!r}; choose one of {choices}")
    if extraction == "whole":
        return ProgramText(response, "the whole response")
    text = without_thoughts(response)
    blocks = list(_blocks(text))
    tags = TAGS.get(language, frozenset({language.lower()}))
    for names in (tags, frozenset({""})):
        for block in reversed(blocks):
            if block.tag in names and block.text.strip():
                return ProgramText(block.text, "the last fenced block")
    if blocks or extraction == "fenced":
        return ProgramText("", f"there is no fenced block of {language}")
    return ProgramText(text if text.strip() else "", "the whole response, which has no fence")


def without_thoughts(response: str) -> str:
    """The response after the thoughts at its beginning; nothing if they never end.

    Only there: a program may hold the same marks in its texts.
    """
    text = response
    start = text.lstrip()
    for section in SECTIONS:
        if section.kind != "thought":
            continue
        if start.startswith(section.opening):
            return text.partition(section.closing)[2]
        if section.closing in text and section.opening not in text:
            # The prompt opened it.
            return text.partition(section.closing)[2]
    return text


def _blocks(text: str) -> Iterator[_Block]:
    """The fenced blocks, in order; one that is not closed lasts to the end."""
    mark, tag = "", ""
    lines: list[str] = []
    for line in text.split("\n"):
        fence = _FENCE.match(line.rstrip("\r"))
        if not mark:
            if fence is not None:
                mark, tag, lines = fence["mark"], fence["tag"].lower(), []
        elif fence is not None and not fence["tag"] and _closes(fence["mark"], mark):
            yield _Block(tag, "\n".join(lines) + "\n")
            mark = ""
        else:
            lines.append(line)
    if mark:
        yield _Block(tag, "\n".join(lines) + "\n")


def _closes(closing: str, opening: str) -> bool:
    return closing[0] == opening[0] and len(closing) >= len(opening)
