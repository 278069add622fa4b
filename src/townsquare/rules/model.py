"""The rules model: reads the conversation, chooses a plan, and writes the next action."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from assay.agents.models.protocol import Reply
from assay.browser.research.actions import ACTIONS
from assay.lazy import package_table
from assay.schema.action import ActionCall
from assay.schema.usage import Usage
from townsquare.rules.conclusions import Value
from townsquare.rules.dialogue import Dialogue, read_dialogue
from townsquare.rules.plan import Move, Plan, plan_of, words_of
from townsquare.rules.terms import DAY
from townsquare.rules.weather import ANSWERS, RainyDays, rainy_days

CHARS_PER_TOKEN = 4
UNKNOWN = "unknown"
QUESTION_CHARS = 600
"""A longer question is read to here, which bounds the search for a plan."""

NO_PLAN = Plan(words={})
"""For a question of no known kind: search with its own words, and find nothing."""


class RulesModel:
    """A deterministic replacement for a language model, without key and network.

    Tokens are counted as four characters each, and cost nothing.
    """

    name = "rules"

    async def complete(
        self,
        messages: Sequence[dict[str, Any]],
        *,
        timeout_s: float,  # noqa: ARG002 - it never waits
        session: str | None = None,  # noqa: ARG002 - and keeps nothing
    ) -> Reply:
        """Return the next action for the page that was shown last."""
        text = reply_to(read_dialogue(messages))
        sent = sum(len(str(message["content"])) for message in messages)
        usage = Usage(sent // CHARS_PER_TOKEN, len(text) // CHARS_PER_TOKEN, 0.0, calls=1)
        return Reply(text, usage)

    async def close(self) -> None:
        """Do nothing: there is nothing to close."""


def reply_to(dialogue: Dialogue) -> str:
    """Return the model's reply: a thought and an action, in the form of the prompt."""
    move = plan_for(dialogue.question).move(dialogue)
    call = move.call or ActionCall("answer", (_answer(move, dialogue),))
    named = zip(ACTIONS[call.name].parameters, call.arguments, strict=True)
    params = json.dumps(dict(named), ensure_ascii=False)
    return f"{move.think}\nACTION: {call.name}\nPARAMS: {params}"


def plan_for(question: str) -> Plan | RainyDays:
    """Return the plan for a question, or `NO_PLAN`."""
    text = question[:QUESTION_CHARS]
    for name, plan in package_table(__package__, "plans").items():
        match = re.search(plan["question"].replace("DAY", DAY), text)
        if match is not None:
            return rainy_days(name, match) if name in ANSWERS else plan_of(name, words_of(match))
    return NO_PLAN


def _answer(move: Move, dialogue: Dialogue) -> str:
    if move.answer is None:
        return UNKNOWN
    value = _format_value(move.answer)
    if dialogue.instructions.bare_answer:
        return value
    return f"The answer is {value}, according to {dialogue.page.title or 'what I found'}."


def _format_value(value: Value) -> str:
    """Return a value as answer text: plain, a JSON list, or one JSON object per line."""
    if isinstance(value, str):
        return value
    if all(isinstance(item, dict) for item in value):
        return "\n".join(json.dumps(item, ensure_ascii=False) for item in value)
    return json.dumps(value, ensure_ascii=False)
