"""Reads a conversation: its instructions, its question and its turns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from assay.browser.research.actions import Decision, read_reply
from assay.browser.research.agent import PAGE, QUESTION
from assay.schema.action import ActionCall
from townsquare.rules.view import Page, read_page

_ACTION = re.compile(r"^- ([a-z_]+) \{", re.MULTILINE)
_STEP = re.compile(r"^Step (\d+) of (\d+)\.", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Instructions:
    """The instructions that the system prompt contains."""

    actions: frozenset[str]
    bare_answer: bool
    whole_range: bool
    prefers_official: bool
    prefers_api: bool


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn: the page, and the action that followed, if there was one."""

    page: Page
    call: ActionCall | None


@dataclass(frozen=True, slots=True)
class Dialogue:
    """A conversation as the rules read it."""

    instructions: Instructions
    question: str
    turns: tuple[Turn, ...]
    must_answer: bool

    @property
    def page(self) -> Page:
        """The page of the latest turn."""
        return self.turns[-1].page

    @property
    def last_call(self) -> ActionCall | None:
        return self.turns[-2].call if len(self.turns) > 1 else None

    def visited(self) -> frozenset[str]:
        """Return the addresses that were opened by a click or by the action `goto`."""
        opened = set()
        for turn in self.turns:
            if turn.call is None or not turn.call.arguments:
                continue
            element = turn.page.element(turn.call.arguments[0])
            if turn.call.name == "click" and element is not None and element.target:
                opened.add(element.target)
            elif turn.call.name == "goto":
                opened.add(turn.call.arguments[0])
        return frozenset(opened)

    def arguments_of(self, name: str) -> list[tuple[str, ...]]:
        """Return the arguments of every earlier action of that name."""
        calls = (turn.call for turn in self.turns)
        return [call.arguments for call in calls if call is not None and call.name == name]


def read_dialogue(messages: Sequence[dict[str, Any]]) -> Dialogue:
    """Return the dialogue in the messages to a model."""
    system = "\n".join(str(m["content"]) for m in messages if m["role"] == "system")
    turns: list[Turn] = []
    question = ""
    head = ""
    for message in messages:
        content = str(message["content"])
        if message["role"] == "user":
            head, _, page = content.partition(PAGE)
            if not question and head.startswith(QUESTION):
                question = _STEP.split(head)[0].removeprefix(QUESTION).strip()
            turns.append(Turn(read_page(page), None))
        elif message["role"] == "assistant" and turns:
            decision = read_reply(content)
            if isinstance(decision, Decision):
                turns[-1] = Turn(turns[-1].page, decision.call)
    return Dialogue(
        instructions=_instructions(system),
        question=question,
        turns=tuple(turns) or (Turn(read_page(""), None),),
        must_answer="You have to answer now" in head,
    )


def _instructions(system: str) -> Instructions:
    lower = system.lower()
    return Instructions(
        actions=frozenset(_ACTION.findall(system)),
        bare_answer="only the value that was asked for" in lower,
        whole_range="one call for the whole range" in lower,
        prefers_official="prefer the official site" in lower,
        prefers_api="json api" in lower,
    )
