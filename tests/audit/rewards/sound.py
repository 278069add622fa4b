"""Rewards without a flaw that the audit should name, of several kinds and shapes."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from assay.adapters import openrlhf, trl, verl
from assay.errors import ResourceError
from assay.rewards.outcome.maths.reward import math_equal_reward
from assay.schema.score import Score

Talk = Sequence[Mapping[str, Any]]

ANCHORED = {"extraction": "anchored"}

trl_maths = trl.reward("math_equal_reward", params=ANCHORED)
"""TRL's shape, with an answer taken only from where one is announced."""

verl_maths = verl.reward("math_equal_reward", params=ANCHORED, abstained=0.0)

openrlhf_maths = openrlhf.reward("math_equal_reward", params=ANCHORED)


def words(text: str) -> list[str]:
    plain = re.sub(r"[^\w\s-]", "", text.lower())
    return [word for word in plain.split() if word not in ("a", "an", "the")]


def anchored_maths(final_response: str, answer: Any) -> Score:
    """Assay's comparison, for an answer that is announced."""
    return math_equal_reward(final_response, answer, extraction="anchored")


def whole_number(solution_str: str, ground_truth: str) -> float:
    """verl's shape: one tag, nothing around it but thought, and a number in it."""
    matches = re.fullmatch(
        r"(?:<think>.*?</think>)?\s*<answer>\s*\$?(-?\d{1,300}|-?\d{1,3}(?:,\d{3})+)(?:\.0+)?\$?\s*</answer>\s*",
        solution_str, re.DOTALL | re.ASCII,
    )  # fmt: skip
    return float(matches is not None and int(matches[1].replace(",", "")) == int(ground_truth))


def exact_match(prediction: str, reference: str | list[str]) -> float:
    """The plain shape of two texts: the same words, or nothing."""
    aliases = [reference] if isinstance(reference, str) else reference
    response = words(prediction)
    return float(bool(response) and any(response == words(alias) for alias in aliases))


def exact_match_batch(
    prompts: list[Any], completions: list[Any], answer: list[Any], **_: Any
) -> list[float]:
    """TRL's shape, for completions that are messages."""
    return [
        exact_match(str(completion[-1]["content"]), gold)
        for completion, gold in zip(completions, answer, strict=True)
    ]


def exact_match_with_metrics(final_response: str, answer: Any, **_: Any) -> dict[str, float]:
    """A mapping with the same keys every time."""
    right = exact_match(final_response, answer)
    return {"reward": 2.0 * right - 1.0, "em": right, "length": float(len(final_response))}


async def exact_match_later(final_response: str, answer: Any) -> float:
    """A coroutine function."""
    return exact_match(final_response, answer)


def same_record(final_response: str, answer: str) -> float:
    """JSON compared as values."""
    try:
        return float(json.loads(final_response) == json.loads(answer))
    except (ValueError, RecursionError):
        return 0.0


def share_of_fields(final_response: str, answer: str) -> dict[str, float]:
    """The share of fields that are right, of all fields on either side."""
    try:
        response, expected = json.loads(final_response), json.loads(answer)
    except (ValueError, RecursionError):
        return {"reward": 0.0, "readable": 0.0}
    if not isinstance(expected, dict) or not isinstance(response, dict):
        return {"reward": float(response == expected), "readable": 1.0}
    right = sum(key in response and response[key] == value for key, value in expected.items())
    return {"reward": right / len(response.keys() | expected.keys()), "readable": 1.0}


def answer_with_a_tool(final_response: str, answer: str, trajectory: Talk) -> float:
    """Right words after a result that answers a call and is no error."""
    called = {call["id"] for message in trajectory for call in message.get("tool_calls") or ()}
    used = any(
        message["role"] == "tool"
        and message.get("tool_call_id") in called
        and not message.get("is_error")
        for message in trajectory
    )
    return float(used and exact_match(final_response, answer))


def first_ending_counts(context: Any) -> float | None:
    """What the world paid up to its end; nothing for a world that broke."""
    try:
        context.evidence("alfworld")
    except ResourceError:
        return None
    paid = 0.0
    for step in context.steps:
        paid += step.reward or 0.0
        if step.reward is not None and step.evidence.done:
            break
    return paid


def option_letter(final_response: str, answer: str) -> float:
    """The one letter that the response is, in brackets or with a full stop if it likes."""
    match = re.fullmatch(r"\(?([A-Za-z])[).]?", final_response.strip())
    return float(match is not None and match.group(1).upper() == answer.strip("(). ").upper())


def thought_and_answer(final_response: str) -> float:
    """The form alone: one thought, then one answer, and nothing else."""
    form = r"<think>[^<>]+</think>\s*<answer>[^<>]+</answer>"
    return float(re.fullmatch(form, final_response.strip()) is not None)
