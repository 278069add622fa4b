"""The final text of a response, without thoughts, tool calls and other turns.

Chat templates mark sections of a turn with strings of their own: `sections.toml` has them, and
`turns.toml` what opens and ends a turn. A template is supported by its rows. One pass reads the
marks in order, so the time is linear, also where sections never close.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from assay.text.slices import Cut, VisibleText, matches
from assay.text.word_tables import read_rows, read_table

SectionKind: TypeAlias = Literal["thought", "tool", "answer", "box"]


@dataclass(frozen=True, slots=True)
class SectionMarks:
    """The strings that open and close one type of section in a chat template."""

    opening: str
    closing: str
    kind: SectionKind


@dataclass(frozen=True, slots=True)
class TurnMarks:
    """The strings that open a turn of a conversation, and the tokens that end a response."""

    speakers: tuple[str, ...]
    end_tokens: tuple[str, ...]


SECTIONS: Final = read_rows(SectionMarks, "assay.text", "sections.toml")
"""Every section that a template marks. Thoughts and tools are not said to the reader; the marks of
an answer are dropped; a box is `\\boxed{…}`."""
_TURN_MARKS: Final = read_table(TurnMarks, "assay.text", "turns.toml")
SPEAKERS: Final = _TURN_MARKS.speakers
"""What opens a turn: at the start of a response the header of its own, later that of another."""
END_TOKENS: Final = _TURN_MARKS.end_tokens
"""What a decoded response may end with, where the trainer keeps special tokens. A closed table."""

FINAL_CHANNEL = "final"
"""The one channel of a harmony message that speaks to the reader."""

_ROWS: Mapping[str, tuple[SectionMarks, bool]] = MappingProxyType(
    {row.opening.lower(): (row, True) for row in SECTIONS}
    | {row.closing.lower(): (row, False) for row in SECTIONS}
)
_TURN_ENDS = frozenset((*END_TOKENS, *SPEAKERS))
_MARK = re.compile(
    r"<[^<>\s]{1,44}(?:\s[^<>]{0,200})?>|\[/?[A-Z_]{3,16}\]|\[e~\[|◁/?think▷", re.IGNORECASE
)
"""Whatever has the shape of a mark; the tables say whether it is one."""
_LONGEST_MARK = 248
_ATTRIBUTES = re.compile(r"\s[^<>]*>\Z")
_HEADER = re.compile(
    r"\s*+(?:" + "|".join(map(re.escape, SPEAKERS)) + r")"
    r"\s{0,3}(?:assistant|model|CHATBOT|<\|CHATBOT_TOKEN\|>)?"
    r"(?:<\|(?:im_middle|end_header_id|header_end|end_of_role)\|>)?\s*"
)
_CHANNEL = re.compile(r"<\|channel\|>\s*([a-z]{1,20})[^<]{0,200}(?:<\|constrain\|>[^<]{0,40})?")
_MESSAGE = "<|message|>"
_MESSAGE_END = re.compile(r"<\|(?:end|return|call|start|channel)\|>")
_BARE_CHANNELS = re.compile(r"\A\s*+(?:assistant)?(?:analysis|commentary)(?=[A-Z\s])")
_BARE_FINAL = "assistantfinal"


@dataclass(frozen=True, slots=True)
class FinalText:
    """A response without its thoughts and tool calls."""

    text: str
    start: int
    """Where in the response its first character stands, and `end` where its last one ends."""
    end: int
    because: str
    """What was left out; where there is no text, why."""


def final_text(response: str) -> FinalText:
    """The response without thoughts, tool calls, tool results and later turns.

    A closing mark of a thought without an opening one ends a thought that the prompt opened: what
    stands before it is thought, too. A section that never closes lasts to the end.
    """
    visible = visible_turn(response)
    start, end = visible.origin(0, len(visible.text))
    if visible.text is response:
        because = "the whole response" if response else "there is no response"
    elif visible.text:
        because = "the response without thoughts, tools and other turns"
    else:
        start, because = end, "everything is thought, or said to a tool"
    return FinalText(visible.text, start, end, because)


def visible_turn(response: str) -> VisibleText:
    """The text of `final_text`, which knows the original positions of its parts."""
    visible = VisibleText(response)
    if "<|channel|>" in response:
        # The last message on the final channel of a harmony transcript.
        start = end = len(response)
        for match in _CHANNEL.finditer(response):
            if match[1] == FINAL_CHANNEL and response.startswith(_MESSAGE, match.end()):
                start = match.end() + len(_MESSAGE)
                message_end = _MESSAGE_END.search(response, start)
                end = message_end.start() if message_end is not None else len(response)
        visible.leave_out((Cut(0, start), Cut(end, len(response))))
    elif _BARE_CHANNELS.match(response):
        start = response.rfind(_BARE_FINAL)
        end = start + len(_BARE_FINAL) if start >= 0 else len(response)
        visible.leave_out((Cut(0, end),))
    text = visible.text
    if "<" in text or "◁" in text or "[" in text:
        visible.leave_out(_cuts_of_turn(text))
    return visible


def after_thoughts(response: str) -> str:
    """The response after its leading thoughts only, since a program may contain the same marks."""
    start = response.lstrip()
    for section in SECTIONS:
        # Where the mark that opens it is missing, the prompt opened it.
        if section.kind == "thought" and (
            start.startswith(section.opening)
            or (section.closing in response and section.opening not in response)
        ):
            return response.partition(section.closing)[2]
    return response


def _cuts_of_turn(text: str) -> list[Cut]:
    """The cuts that remove thoughts, tool sections and other turns, and rewrite box tags."""
    header = _HEADER.match(text)
    cuts = [Cut(0, header.end())] if header is not None else []
    hidden: SectionMarks | None = None
    start, struck = 0, False
    for match in matches(_MARK, text, header.end() if header else 0, longest=_LONGEST_MARK):
        row = _ROWS.get(_ATTRIBUTES.sub(">", match[0]).lower())
        if hidden is not None:
            if row == (hidden, False):
                cuts.append(Cut(start, match.end()))
                hidden = None
            continue
        struck = struck or match[0] == "<s>"
        # The end of `<s>…</s>` is that of text that is struck out.
        if match[0] in _TURN_ENDS and not (struck and match[0] == "</s>"):
            return [*cuts, Cut(match.start(), len(text))]
        if row is None:
            continue
        section, opens = row
        if opens and section.kind in ("thought", "tool"):
            hidden, start = section, match.start()
        elif section.kind == "thought":
            cuts = [Cut(0, match.end())]
        elif section.kind == "box":
            cuts.append(Cut(*match.span(), "\\boxed{" if opens else "}"))
        else:
            cuts.append(Cut(*match.span()))
    return cuts if hidden is None else [*cuts, Cut(start, len(text))]


def strip_end_tokens(response: str, tokens: Sequence[str] = END_TOKENS) -> str:
    """Remove end tokens, and the white space around them, from the end of a response.

    A response that ends with none of them is returned unchanged, white space included. Tokens in
    the middle stay: they are what the model wrote. The time is linear in the length.
    """
    end = text_end = _before_space(response, len(response))
    # That of the last `<s>…</s>`, text that is struck out, is no token.
    struck = response.rfind("<s>")
    element_end = response.find("</s>", struck) + len("</s>") if struck >= 0 else -1
    while token := next((token for token in tokens if response.endswith(token, 0, end)), ""):
        if end == element_end:
            break
        end = _before_space(response, end - len(token))
    return response if end == text_end else response[:end]


def _before_space(text: str, end: int) -> int:
    while end > 0 and text[end - 1].isspace():
        end -= 1
    return end
