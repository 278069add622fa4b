"""What a chat template marks as thought, tool or final answer is read as such."""

from __future__ import annotations

import pytest

from assay.text.answers import find_answer
from assay.text.channels import END_TOKENS, SECTIONS, SPEAKERS, SectionMarks, final_text

HIDDEN = [row for row in SECTIONS if row.kind in ("thought", "tool")]
TRANSCRIPTS = [
    (
        "<|channel|>analysis<|message|>41?<|end|><|start|>assistant<|channel|>final<|message|>42<|return|>",
        "42",
        "harmony: the final channel speaks",
    ),
    ("<|channel|>analysis<|message|>42<|end|>", "", "harmony: analysis is thought"),
    (
        "<|channel|>commentary to=functions.python <|constrain|>json<|message|>42<|call|>",
        "",
        "harmony: a tool call",
    ),
    ("<|channel|>final <|constrain|>json<|message|>42", "42", "harmony: a constrained answer"),
    ("analysisSome thought.assistantfinal42", "42", "harmony, decoded without special tokens"),
    ("analysis We think 42.", "", "the same, cut off in thought"),
    ("<think>41</think>42", "42", "a thought"),
    ("41</think>42", "42", "a thought that the prompt opened"),
    ("42<think>41", "42", "a thought that never ends"),
    ("<think>a<think>41</think>b</think>42", "42", "a thought inside a thought"),
    ("<think>41</think>a<think>40</think>42", "a42", "thoughts between the parts of an answer"),
    ("<THINKING>41</Thinking>42", "42", "case does not matter"),
    ('<think effort="high">41</think>42', "42", "a tag with attributes"),
    ("◁think▷41◁/think▷42", "42", "Kimi"),
    ("[THINK]41[/THINK]42</s>", "42", "Mistral"),
    ("<|channel>thought\n41<channel|>42<turn|>", "42", "Gemma 4"),
    ("<tool_call>41</tool_call>42", "42", "a tool call before the answer"),
    ("<|START_RESPONSE|>42<|END_RESPONSE|>", "42", "the marks of an answer are dropped"),
    ("<|begin_of_box|>42<|end_of_box|>", r"\boxed{42}", "a box is a box"),
    ("<|im_start|>assistant\n42<|im_end|>\n<|im_start|>user\n41", "42", "ChatML, with its header"),
    ("<|start_header_id|>assistant<|end_header_id|>\n\n42<|eot_id|>", "42", "Llama 3"),
    ("42<｜end▁of▁sentence｜>41", "42", "DeepSeek's end of turn"),
    ("<s>41</s>42</s>", "<s>41</s>42</s>", "struck-out text is no end of turn"),
    ("if a<b and b>c, [EXAMPLE] x", "if a<b and b>c, [EXAMPLE] x", "no marks at all"),
]


@pytest.mark.parametrize(("response", "visible", "reason"), TRANSCRIPTS)
def test_only_what_is_said_to_the_reader_is_left(response: str, visible: str, reason: str) -> None:
    assert final_text(response).text == visible, reason


@pytest.mark.parametrize("section", HIDDEN, ids=lambda section: section.opening)
def test_thoughts_and_tools_never_answer(section: SectionMarks) -> None:
    inside = f"{section.opening}The answer is \\boxed{{42}}.{section.closing}"
    assert find_answer(inside).text is None
    unclosed = f"{section.opening}The answer is \\boxed{{42}}."
    assert find_answer(unclosed).text is None
    assert find_answer(f"{inside}\nThe answer is \\boxed{{7}}.").text == "7"


@pytest.mark.parametrize(
    "section", [row for row in HIDDEN if row.kind == "thought"], ids=lambda section: section.closing
)
def test_a_thought_that_the_prompt_opened_never_answers(section: SectionMarks) -> None:
    assert find_answer(f"So \\boxed{{42}}.{section.closing} No idea.").text is None


@pytest.mark.parametrize("token", [*END_TOKENS, *SPEAKERS])
def test_what_follows_the_turn_is_not_read(token: str) -> None:
    assert find_answer(f"\\boxed{{7}}{token}\n\\boxed{{42}}").text == "7"
