"""What a response says to its reader: its final channel, without thoughts, tools and other turns.

Chat templates mark sections of a turn with strings of their own. `SECTIONS` is the table of them: a
template is supported by its rows. One pass reads the marks in order, so the time is linear, also
where sections never close.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias

from assay.text.end_tokens import END_TOKENS
from assay.text.slices import matches

SectionKind: TypeAlias = Literal["thought", "tool", "answer", "box"]


@dataclass(frozen=True, slots=True)
class Section:
    """One kind of section of a chat template, and the strings that open and close it."""

    opening: str
    closing: str
    kind: SectionKind
    templates: str


SECTIONS: tuple[Section, ...] = (
    Section("<think>", "</think>", "thought", "DeepSeek, Qwen, GLM, MiniMax, Nemotron, Hunyuan"),
    Section("<thinking>", "</thinking>", "thought", "prompts for Claude, Cogito"),
    Section("<thought>", "</thought>", "thought", "EXAONE Deep, Reflection"),
    Section("<thoughts>", "</thoughts>", "thought", "prompts"),
    Section("<reasoning>", "</reasoning>", "thought", "prompts of GRPO recipes"),
    Section("<analysis>", "</analysis>", "thought", "prompts"),
    Section("<scratchpad>", "</scratchpad>", "thought", "prompts"),
    Section("<reflection>", "</reflection>", "thought", "Reflection"),
    Section("<inner_monologue>", "</inner_monologue>", "thought", "prompts"),
    Section("<planning>", "</planning>", "thought", "prompts"),
    Section("<seed:think>", "</seed:think>", "thought", "Seed-OSS"),
    Section("<longcat_think>", "</longcat_think>", "thought", "LongCat"),
    Section("◁think▷", "◁/think▷", "thought", "Kimi"),
    Section("[THINK]", "[/THINK]", "thought", "Mistral"),
    Section("<|START_THINKING|>", "<|END_THINKING|>", "thought", "Command A"),
    Section("<|begin_of_thought|>", "<|end_of_thought|>", "thought", "Sky-T1, OpenThinker"),
    Section("<|inner_prefix|>", "<|inner_suffix|>", "thought", "Apertus"),
    Section("<|channel>", "<channel|>", "thought", "Gemma 4"),
    Section("<unused94>", "<unused95>", "thought", "MedGemma"),
    Section("<tool_call>", "</tool_call>", "tool", "Qwen, GLM, Hermes"),
    Section("<tool_calls>", "</tool_calls>", "tool", "Hunyuan"),
    Section("<tool_response>", "</tool_response>", "tool", "Qwen, Hermes"),
    Section("<tool_output>", "</tool_output>", "tool", "prompts"),
    Section("<tool_result>", "</tool_result>", "tool", "prompts"),
    Section("<function_calls>", "</function_calls>", "tool", "prompts"),
    Section("<function_results>", "</function_results>", "tool", "prompts"),
    Section("<minimax:tool_call>", "</minimax:tool_call>", "tool", "MiniMax"),
    Section("<seed:tool_call>", "</seed:tool_call>", "tool", "Seed-OSS"),
    Section("<interpreter>", "</interpreter>", "tool", "ReTool"),
    Section("<observation>", "</observation>", "tool", "ReAct prompts"),
    Section("<information>", "</information>", "tool", "Search-R1"),
    Section("<search>", "</search>", "tool", "Search-R1"),
    Section("<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>", "tool", "DeepSeek"),
    Section("<｜tool▁outputs▁begin｜>", "<｜tool▁outputs▁end｜>", "tool", "DeepSeek"),
    Section("<｜DSML｜function_calls>", "</｜DSML｜function_calls>", "tool", "DeepSeek V3.2"),
    Section("<|tool_calls_section_begin|>", "<|tool_calls_section_end|>", "tool", "Kimi K2"),
    Section("[TOOL_CALLS]", "[/TOOL_CALLS]", "tool", "Mistral"),
    Section("[TOOL_RESULTS]", "[/TOOL_RESULTS]", "tool", "Mistral"),
    Section("<|START_ACTION|>", "<|END_ACTION|>", "tool", "Command A"),
    Section("<|START_TOOL_RESULT|>", "<|END_TOOL_RESULT|>", "tool", "Command A"),
    Section("<|python_tag|>", "<|eom_id|>", "tool", "Llama 3"),
    Section("<|action_start|>", "<|action_end|>", "tool", "InternLM"),
    Section("<|tool_call|>", "<|/tool_call|>", "tool", "Phi 4"),
    Section("<|tool_call>", "<tool_call|>", "tool", "Gemma 4"),
    Section("<|tool_response>", "<tool_response|>", "tool", "Gemma 4"),
    Section("<|START_RESPONSE|>", "<|END_RESPONSE|>", "answer", "Command A"),
    Section("<|begin_of_solution|>", "<|end_of_solution|>", "answer", "Sky-T1, OpenThinker"),
    Section("<response>", "</response>", "answer", "prompts"),
    Section("<|begin_of_box|>", "<|end_of_box|>", "box", "GLM-V"),
)
"""Every section that a template marks. Thoughts and tools are not said to the reader; the marks of
an answer are dropped; a box is `\\boxed{…}`."""

FINAL_CHANNEL = "final"
"""The one channel of a harmony message that speaks to the reader."""

SPEAKERS: tuple[str, ...] = (
    "<|im_start|>",
    "<|start_header_id|>",
    "<|header_start|>",
    "<start_of_turn>",
    "<|turn>",
    "<|start_of_role|>",
    "<|START_OF_TURN_TOKEN|>",
    "<|im_assistant|>",
    "<|im_user|>",
    "<|im_system|>",
    "<｜Assistant｜>",
    "<｜User｜>",
    "<|assistant|>",
    "<|system|>",
    "[INST]",
)
"""What opens a turn: at the start of a response the header of its own, later that of another."""

_ROWS: Mapping[str, tuple[Section, bool]] = MappingProxyType(
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


def final_text(response: str) -> str:
    """The response without thoughts, tool calls and results, and whatever follows its turn.

    A closing mark of a thought without an opening one ends a thought that the prompt opened: what
    stands before it is thought, too. A section that never closes lasts to the end.
    """
    text = response
    if "<|channel|>" in text:
        text = _final_channel(text)
    elif _BARE_CHANNELS.match(text):
        text = text.rpartition(_BARE_FINAL)[2] if _BARE_FINAL in text else ""
    if "<" not in text and "◁" not in text and "[" not in text:
        return text
    return _visible_turn(text)


def _final_channel(text: str) -> str:
    """What the last message on the final channel of a harmony transcript says."""
    final = ""
    for match in _CHANNEL.finditer(text):
        start = match.end()
        if match[1] != FINAL_CHANNEL or not text.startswith(_MESSAGE, start):
            continue
        start += len(_MESSAGE)
        end = _MESSAGE_END.search(text, start)
        final = text[start : end.start() if end is not None else len(text)]
    return final


def _visible_turn(text: str) -> str:
    """The turn from its own header to its end, without thoughts and tools, with boxes for boxes."""
    header = _HEADER.match(text)
    position = header.end() if header is not None else 0
    pieces: list[str] = []
    hidden: Section | None = None
    struck = False
    for match in matches(_MARK, text, position, longest=_LONGEST_MARK):
        row = _ROWS.get(_ATTRIBUTES.sub(">", match[0]).lower())
        if hidden is not None:
            if row == (hidden, False):
                hidden, position = None, match.end()
            continue
        struck = struck or match[0] == "<s>"
        # The end of `<s>…</s>` is that of text that is struck out.
        if match[0] in _TURN_ENDS and not (struck and match[0] == "</s>"):
            pieces.append(text[position : match.start()])
            return "".join(pieces)
        if row is not None:
            pieces.append(text[position : match.start()])
            position = match.end()
            hidden = _enter(*row, pieces)
    if hidden is None:
        pieces.append(text[position:])
    return "".join(pieces)


def _enter(section: Section, opens: bool, pieces: list[str]) -> Section | None:
    """The section that hides what follows, if any; the pieces as the mark leaves them."""
    if section.kind == "box":
        pieces.append("\\boxed{" if opens else "}")
    elif section.kind == "thought" and not opens:
        pieces.clear()
    return section if opens and section.kind in ("thought", "tool") else None
