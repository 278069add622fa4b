"""The agent that sends a conversation to a model and acts as the model replies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from assay.agents.functions import recorded
from assay.agents.models.make import make_model
from assay.agents.models.protocol import Model, Reply
from assay.agents.models.timeouts import call_timeout_s, model_call
from assay.agents.protocol import Action, EpisodeLimits, as_action
from assay.agents.tool_calls import CUT_OFF, EMPTY, CallQueue, ReadyCall, ToolCalls, calls_natively
from assay.agents.transcript import Transcript
from assay.errors import BadParameter
from assay.schema.observation import Observation
from assay.schema.task import Task
from assay.schema.tools import ANSWER, ANY_ACTION, ActionTool, describe_tools
from assay.schema.usage import Usage

GRACE_S = 5.0
"""Beyond its time-out, for a model that does not keep it."""


class ChatAgent:
    """An agent that asks a model: the model's reply calls tools, or is the answer.

    `system` stands before the question, as the system message. `tool_calls` says how tools are
    called: "native" by the API's own calls, "text" by the last line of the reply, "auto" natively
    where the model can. In an environment that is no conversation its actions are the tools, and
    the answer is one more. After `bad_replies` replies in a row without a call that can be done,
    the agent gives up.
    """

    name = "chat"

    def __init__(
        self,
        *,
        model: str | Model = "openai",
        model_options: Mapping[str, Any] | None = None,
        system: str = "",
        tool_calls: ToolCalls = "auto",
        bad_replies: int = 3,
    ) -> None:
        self._model = make_model(model, model_options or {})
        self._native = calls_natively(tool_calls, self._model)
        if type(bad_replies) is not int or bad_replies < 1:
            raise BadParameter(f"bad_replies is {bad_replies!r}; it must be a whole number >= 1")
        self._bad_replies = bad_replies
        self._system = system
        self._begin()

    def _begin(self) -> None:
        self._session: str | None = None
        self._actions: tuple[ActionTool, ...] = ()
        self._transcript = Transcript()
        self._queue = CallQueue(self._transcript)
        if self._system:
            self._transcript.add_system(self._system)

    async def start(self, task: Task, *, limits: EpisodeLimits) -> None:  # noqa: ARG002 - the protocol's
        """Begin a fresh conversation."""
        self._begin()

    async def act(self, observation: Observation, *, step: int) -> Action:  # noqa: ARG002
        """Ask the model, and return the action or the answer in its reply."""
        self._actions = observation.actions or self._actions
        tools = self._tools(observation) if self._native else ()
        if tools:
            return await self._act_with_tools(observation, tools)
        self._transcript.add_observation(observation.text)
        reply = await self._ask(_plain(self._transcript.messages))
        return self._speak(reply, observation, reply.usage)

    async def close(self) -> None:
        """Close the model's connections or processes."""
        await self._model.close()

    def _tools(self, observation: Observation) -> tuple[ActionTool, ...]:
        if observation.tools is not None:
            return self._actions
        return (*(self._actions or (ANY_ACTION,)), ANSWER)

    async def _ask(
        self, messages: Sequence[dict[str, Any]], tools: Sequence[ActionTool] = ()
    ) -> Reply:
        timeout_s = call_timeout_s(self._model)
        options = {"tools": [tool.schema() for tool in tools]} if tools else {}
        async with model_call(timeout_s + GRACE_S):
            reply = await self._model.complete(
                messages, timeout_s=timeout_s, session=self._session, **options
            )
        self._session = reply.session
        return reply

    async def _act_with_tools(
        self, observation: Observation, tools: tuple[ActionTool, ...]
    ) -> Action:
        text = observation.text.removesuffix(describe_tools(observation.actions))
        failed = observation.outcome is not None and observation.outcome.error is not None
        self._transcript.add_observation(text, failed=failed)
        usage, refusals = Usage(), list[str]()
        while (use := self._queue.take()) is None:
            refusals += filter(None, [self._queue.take_refusal()])
            if len(refusals) == self._bad_replies:
                return self._give_up(refusals, usage)
            reply = await self._ask(self._transcript.messages, tools)
            usage += reply.usage
            self._queue.add(reply, tools)
            if reply.calls:
                continue
            because = _objection(reply, observation, tools)
            if not because:
                return self._speak(reply, observation, usage, refusals)
            self._queue.refuse_reply(reply, because)
            self._transcript.add_observation(f"Note: {because}.")
        return self._use(use, usage, refusals)

    def _give_up(self, refusals: Sequence[str], usage: Usage) -> Action:
        messages = self._transcript.take_new()
        return Action("", gave_up=True, think=_refused(refusals), messages=messages, usage=usage)

    def _use(self, use: ReadyCall, usage: Usage, refusals: Sequence[str]) -> Action:
        return Action(
            use.tool.write(use.arguments),
            answer=use.answer,
            think=_refused(refusals, use.think),
            messages=self._transcript.take_new(),
            usage=usage,
        )

    def _speak(
        self,
        reply: Reply,
        observation: Observation,
        usage: Usage,
        refusals: Sequence[str] = (),
    ) -> Action:
        """Return the action of a reply of text: a tool call in its last line, or the answer."""
        action = recorded(as_action(reply.text, observation), observation, self._transcript)
        message = action.messages[-1]
        message.update(reply.fields)
        if reply.cut_off or not reply.text.strip():
            message["unreadable"] = CUT_OFF if reply.cut_off else _why_empty(reply)
        return replace(action, think=_refused(refusals), usage=usage)


def _objection(reply: Reply, observation: Observation, tools: Sequence[ActionTool]) -> str:
    """Return why a reply without a tool call is refused; empty if the reply may be the answer."""
    names = ", ".join(tool.name for tool in tools)
    if reply.cut_off:
        return f"{CUT_OFF} before a call or an answer; be briefer"
    if not reply.text.strip():
        return f"{EMPTY}; call one of the tools ({names}), or answer"
    if observation.tools is None:
        return f"the reply calls no tool; call one of {names}"
    return ""


def _why_empty(reply: Reply) -> str:
    names = ", ".join(call.name[:80] for call in reply.calls)
    return f"the reply calls {names}, and no tool was offered" if names else EMPTY


def _refused(refusals: Sequence[str], think: str = "") -> str:
    lines = [
        f"reply refused ({number} in a row): {because}"
        for number, because in enumerate(refusals, 1)
    ]
    return "\n".join(filter(None, (*lines, think)))


def _plain(messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the conversation as plain text: results of tools become messages of the user."""
    return [
        {
            "role": "user" if message["role"] == "tool" else message["role"],
            "content": message["content"],
        }
        for message in messages
    ]
