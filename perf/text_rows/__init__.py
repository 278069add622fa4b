"""Generated rows for the text rewards: hostile and odd responses, references and trajectories.

Row `index` of a seed is the same in every process. Texts are built from the pieces that answers
are made of (formulas, JSON, chat templates, numbers, dates, lists, tags), then cut, doubled and
spliced; one in a thousand is as long as a model's longest response. One value in twelve is no
text.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from perf.text_rows.odd import odd_value
from perf.text_rows.texts import REFERENCES, frame, generated_text, long_text

ODD_SHARE = 1 / 12
LONG_SHARE = 1 / 1_000
RIGHT_SHARE = 3 / 5
"""Of the responses that are made from the reference; the others are made from another."""
FUZZED_REFERENCE_SHARE = 1 / 4

OPTIONS: dict[str, tuple[dict[str, Any], ...]] = {
    "qa_f1_reward": tuple(
        {"mode": mode, "extract": extract}
        for mode in ("squad1", "squad2", "hotpot", "musique", "drop", "inspect")
        for extract in ("none", "answer_tag", "first_answer_tag")
    ),
    "qa_f1_reward_tool": (
        {}, {"mode": "drop", "correct_at": 0.5}, {"mode": "hotpot", "extract": "answer_tag"},
        {"agentfly": True}, {"mode": "inspect", "tool_policy": "any"},
        {"tool_policy": {"distinct": True, "json_errors": True, "before_answer": True}},
    ),
    "math_equal_reward": (
        {}, {}, {"extraction": "boxed"}, {"extraction": "anchored"},
        {"extraction": ["last_statement", "last_number"]}, {"tolerance": "relative"},
        {"tolerance": "exact", "percent": "strict"}, {"units": "required", "list_order": "kept"},
    ),
    "math_equal_reward_tool": (
        {}, {"tool_policy": "agentfly"}, {"tool_policy": "any", "tolerance": "relative"},
        {"tool_policy": {"distinct": True, "json_errors": True, "count": "either"}},
    ),
    "assistantbench_reward": ({}, {"hidden_gold": "abstain"}, {"negatives": "mirrored"}),
    "fuzzy_answer_reward": ({}, {"tolerance": 0.05}),
}  # fmt: skip
"""The text rewards, and the options that their rows are scored with; sympy's opinion, which is
asked in a process with a deadline of its own, is left out."""


@dataclass(frozen=True, slots=True)
class TextRow:
    """One row, the options that it is scored with, and whether only plain data is in it."""

    columns: dict[str, Any]
    params: dict[str, Any]
    is_plain: bool

    @property
    def has_text_response(self) -> bool:
        return type(self.columns["final_response"]) is str


def text_row(reward: str, seed: int, index: int) -> TextRow:
    """Row `index` for a reward."""
    rng = random.Random(f"{reward}:{seed}:{index}")
    gold = rng.choice(REFERENCES)
    stated = gold if rng.random() < RIGHT_SHARE else rng.choice(("", *REFERENCES))
    is_plain = True
    response: Any
    answer: Any
    if rng.random() < LONG_SHARE:
        response = long_text(rng, stated)
    elif rng.random() < ODD_SHARE:
        response, is_plain = odd_value(rng, stated)
    else:
        response = frame(rng, generated_text(rng, stated))
    if rng.random() < ODD_SHARE:
        answer, plain = odd_value(rng, gold)
        is_plain = is_plain and plain
    else:
        answer = _reference(rng, gold)
    columns = {"final_response": response, "answer": answer}
    if reward.endswith("_tool"):
        columns["trajectory"], plain = _trajectory(rng, gold)
        is_plain = is_plain and plain
    return TextRow(columns, rng.choice(OPTIONS[reward]), is_plain)


def _reference(rng: random.Random, gold: str) -> Any:
    make = rng.random()
    if make > 2 * FUZZED_REFERENCE_SHARE:
        return gold
    if make > FUZZED_REFERENCE_SHARE:
        return [rng.choice(REFERENCES) for _ in range(rng.choice((1, 2, 3, 8)))]
    return generated_text(rng, gold)


def _trajectory(rng: random.Random, gold: str) -> tuple[Any, bool]:
    if rng.random() < ODD_SHARE:
        return odd_value(rng, gold)
    messages: list[Any] = []
    is_plain = True
    for _ in range(rng.randint(0, 6)):
        if rng.random() < ODD_SHARE / 4:
            message, plain = odd_value(rng, gold)
            is_plain = is_plain and plain
        else:
            message = rng.choice(_MESSAGES)(rng, gold)
        messages.append(message)
    return ([messages, messages[:2]] if rng.random() < 0.1 else messages), is_plain


def _call_message(rng: random.Random, gold: str) -> dict[str, Any]:
    arguments = rng.choice(('{"q": 1}', '{"q": ', generated_text(rng, gold), None, {"q": [1]}))
    function = {"name": rng.choice(("search", "submit", "", None, 3)), "arguments": arguments}
    calls = [{"id": rng.choice(("a", "b", None, 7)), "type": "function", "function": function}]
    return {
        "role": "assistant",
        "content": rng.choice((None, "", gold)),
        "tool_calls": calls * rng.choice((0, 1, 1, 2)),
    }


def _result_message(rng: random.Random, gold: str) -> dict[str, Any]:
    message: dict[str, Any] = {
        "role": rng.choice(("tool", "tool", "function", "tool_result")),
        "tool_call_id": rng.choice(("a", "b", None, [1])),
        "content": rng.choice((gold, '{"error": 1}', generated_text(rng, gold), None, [gold])),
    }
    for key in ("is_error", "status", "error", "name"):
        if rng.random() < 0.2:
            message[key] = rng.choice((True, "error", "", None, 0, "search"))
    return message


def _block_message(rng: random.Random, gold: str) -> dict[str, Any]:
    blocks = [
        {"type": "tool_use", "id": "a", "name": "search", "input": {"q": gold}},
        {"type": "tool_result", "tool_use_id": "a", "content": gold, "is_error": None},
        {"type": "text", "text": generated_text(rng, gold)},
        gold, None,
    ]  # fmt: skip
    return {"role": rng.choice(("assistant", "user")), "content": rng.sample(blocks, 2)}


def _text_message(rng: random.Random, gold: str) -> dict[str, Any]:
    return {
        "role": rng.choice(("user", "assistant", "system", "", None, 5)),
        "content": frame(rng, generated_text(rng, gold)),
    }


_MESSAGES: tuple[Callable[[random.Random, str], dict[str, Any]], ...] = (
    _call_message, _result_message, _block_message, _text_message,
)  # fmt: skip
