"""An environment that only asks a question, and an agent that does what a model replies.

`assay run --import` loads this file into the runner that is to be killed. The model is Assay's own
client of chat completions; it tells the server which task and step it is about, so that the
server can reply what the script of that task says.
"""

from __future__ import annotations

import json

from assay.agents.models.openai import OpenAIModel
from assay.agents.models.retries import RetryPolicy
from assay.agents.protocol import Action, EpisodeLimits
from assay.agents.transcript import Transcript
from assay.errors import NotReset
from assay.registry import AGENTS, ENVIRONMENTS
from assay.resources.backoff import Backoff
from assay.schema.action import answer_in
from assay.schema.evidence import WorldEvidence
from assay.schema.observation import Observation
from assay.schema.task import Task

CALL_S = 0.5
"""How long one call of the model may take, its retries included."""


class Question:
    """An environment that shows the task's question and knows no action."""

    name = "question"

    def __init__(self) -> None:
        self._task: Task | None = None

    async def reset(self, task: Task) -> Observation:
        self._task = task
        return Observation(task.goal, self.evidence())

    async def step(self, action: str) -> Observation:
        return Observation(f"nothing here does {action!r}", self.evidence())

    def evidence(self) -> WorldEvidence:
        if self._task is None:
            raise NotReset("the question was never asked")
        return WorldEvidence(world=self.name, task_id=self._task.id)

    def forget(self) -> None:
        self._task = None

    def alive(self) -> bool:
        return True

    async def close(self) -> None:
        self._task = None


class ModelAgent:
    """Does what the model replies, word for word."""

    name = "model-agent"

    def __init__(self, *, base_url: str, stream: bool = False) -> None:
        self._model = OpenAIModel(
            model="scripted",
            base_url=base_url,
            api_key_env="ENDPOINT_FAULTS_NO_KEY",
            stream=stream,
            retry=RetryPolicy(backoff=Backoff(attempts=3, base_s=0.005, cap_s=0.02)),
        )
        self._task = ""
        self._transcript = Transcript()

    async def start(self, task: Task, *, limits: EpisodeLimits) -> None:  # noqa: ARG002
        self._task = task.id
        self._transcript = Transcript()
        self._transcript.add_observation(task.goal)

    async def act(self, observation: Observation, *, step: int) -> Action:
        self._transcript.add_observation(observation.text)
        question = json.dumps({"task": self._task, "step": step})
        reply = await self._model.complete(
            [{"role": "user", "content": question}], timeout_s=CALL_S
        )
        answer = answer_in(reply.text)
        if answer is None:
            self._transcript.add_call(reply.text)
        else:
            self._transcript.add_reply(answer)
        return Action(
            reply.text, answer=answer, messages=self._transcript.take_new(), usage=reply.usage
        )

    async def close(self) -> None:
        await self._model.close()


ENVIRONMENTS.add(Question.name, Question)
AGENTS.add(ModelAgent.name, ModelAgent)
