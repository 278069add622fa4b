"""The agent that passes a conversation on to a model: the model's reply is what it says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from assay.agents.functions import recorded
from assay.agents.models.calls import call_timeout_s, model_call
from assay.agents.models.make import make_model
from assay.agents.models.protocol import Model
from assay.agents.protocol import Action, EpisodeLimits, as_action
from assay.agents.transcript import Transcript
from assay.schema.observation import Observation
from assay.schema.task import Task

GRACE_S = 5.0
"""Beyond its time-out, for a model that does not keep it."""


class ChatAgent:
    """Asks a model the question; its reply calls a tool, or is the answer.

    `system` stands before the question, as the system message.
    """

    name = "chat"

    def __init__(
        self,
        *,
        model: str | Model = "openai",
        model_options: Mapping[str, Any] | None = None,
        system: str = "",
    ) -> None:
        self._model = make_model(model, model_options or {})
        self._system = system
        self._begin()

    def _begin(self) -> None:
        self._session: str | None = None
        self._conversation: list[dict[str, Any]] = []
        self._transcript = Transcript()
        if self._system:
            self._conversation.append({"role": "system", "content": self._system})
            self._transcript.add_system(self._system)

    async def start(self, task: Task, *, limits: EpisodeLimits) -> None:  # noqa: ARG002 - the protocol's
        """Begin a fresh conversation."""
        self._begin()

    async def act(self, observation: Observation, *, step: int) -> Action:  # noqa: ARG002
        """The model's reply."""
        self._transcript.add_observation(observation.text)
        self._conversation.append({"role": "user", "content": observation.text})
        timeout_s = call_timeout_s(self._model)
        async with model_call(timeout_s + GRACE_S):
            reply = await self._model.complete(
                self._conversation, timeout_s=timeout_s, session=self._session
            )
        self._session = reply.session
        self._conversation.append({"role": "assistant", "content": reply.text})
        action = as_action(reply.text, observation)
        return replace(recorded(action, observation, self._transcript), usage=reply.usage)

    async def close(self) -> None:
        """Close the model's connections or processes."""
        await self._model.close()
