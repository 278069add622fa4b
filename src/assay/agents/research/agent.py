"""The research agent: page state, prompt, model, parsed action, with every knob a parameter."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urljoin

from assay.agents.models.protocol import Model, Reply
from assay.agents.protocol import Action, Limits
from assay.agents.research.actions import ACTIONS, Decision, read_reply
from assay.agents.research.knobs import (
    BLOCKED_DOMAINS,
    ApiCalls,
    Knobs,
    action_names,
    listed,
)
from assay.agents.research.page import (
    can_scroll,
    cut,
    cut_json,
    in_domain,
    link_target,
    page_body,
    page_url,
)
from assay.agents.research.prompt import sent_messages, system_prompt, turn_prompt
from assay.agents.transcript import Transcript
from assay.errors import BadParameter
from assay.registry import MODELS
from assay.schema.action import ActionCall
from assay.schema.observation import Observation
from assay.schema.task import Task

STEP_SHARE = 0.9
"""The part of a step's time that the model may take, so that its time-out comes first."""
NOTHING = ActionCall("noop")
ADDRESSED = ("goto", "fetch_json")
"""Actions whose parameter is an address; models copy relative ones from links."""


class WebResearchAgent:
    """Answers questions by browsing: reads the page, asks the model, does what it says.

    A reply without a readable action, with one that is not in the action set, or towards a
    blocked domain costs a step: the world is told `noop()`, and the model is told why. Too many
    in a row, and the agent gives up.
    """

    name = "web_research"

    def __init__(
        self,
        *,
        model: str | Model = "openai",
        model_options: Mapping[str, Any] | None = None,
        observation_chars: int = 24_000,
        json_chars: int = 6_000,
        history_chars: int = 60_000,
        sparse_chars: int = 200,
        auto_scrolls: int = 3,
        blocked_domains: str | Sequence[str] = BLOCKED_DOMAINS,
        actions: str | Sequence[str] | None = None,
        workflow: str = "web",
        timezone: str | None = None,
        bare_answer: bool = True,
        api_calls: ApiCalls = "per_year",
        answer_margin: int = 3,
        bad_replies: int = 3,
        model_timeout_s: float | None = None,
    ) -> None:
        self._knobs = Knobs(
            observation_chars=observation_chars,
            json_chars=json_chars,
            history_chars=history_chars,
            sparse_chars=sparse_chars,
            auto_scrolls=auto_scrolls,
            blocked_domains=listed(blocked_domains),
            actions=action_names(actions),
            workflow=workflow,
            timezone=timezone,
            bare_answer=bare_answer,
            api_calls=api_calls,
            answer_margin=answer_margin,
            bad_replies=bad_replies,
            model_timeout_s=model_timeout_s,
        )
        self._model = make_model(model, model_options or {})
        self._begin(Task(id=""), Limits())

    def _begin(self, task: Task, limits: Limits) -> None:
        self._goal: str | None = task.goal
        self._limits = limits
        self._transcript = Transcript()
        self._session: str | None = None
        self._last = NOTHING
        self._notes: list[str] = []
        self._bad = 0
        self._scrolls: Counter[str] = Counter()

    async def start(self, task: Task, *, limits: Limits) -> None:
        """Begin a fresh conversation about the task's goal."""
        self._begin(task, limits)
        self._transcript.system(system_prompt(self._knobs))

    async def act(self, observation: Observation, *, step: int) -> Action:
        """One turn: another look where the page has next to nothing, or what the model says."""
        page = self._page(observation.text)
        must_answer = step >= self._knobs.answer_from(self._limits.steps)
        if must_answer:
            self._notes.append("You have to answer now; no other action is taken any more.")
        self._tell(page, step, failed=_failed(observation))
        url = page_url(observation.text)
        if not must_answer and self._is_sparse(observation.text, url):
            return self._wait_or_scroll(observation.text, url)
        reply = await self._model.complete(
            sent_messages(self._transcript.messages, self._knobs.history_chars),
            timeout_s=self._knobs.model_timeout_s or self._limits.step_s * STEP_SHARE,
            session=self._session,
        )
        self._session = reply.session
        decision = read_reply(reply.text)
        if not isinstance(decision, Decision):
            return self._refuse(reply, decision.because)
        call = _whole_address(decision.call, url)
        objection = self._objection(call, page, must_answer=must_answer)
        if objection:
            return self._refuse(reply, objection, think=decision.think)
        return self._do(call, decision.think, reply)

    async def close(self) -> None:
        """Let go of the model's connections or processes."""
        await self._model.close()

    def _page(self, text: str) -> str:
        if self._last.name == "fetch_json":
            text = cut_json(text, self._knobs.json_chars)
        return cut(text, self._knobs.observation_chars)

    def _tell(self, page: str, step: int, *, failed: bool) -> None:
        prompt = turn_prompt(
            page, step=step, steps=self._limits.steps, goal=self._goal, notes=self._notes
        )
        self._transcript.observed(prompt, failed=failed)
        self._goal = None
        self._notes = []

    def _is_sparse(self, text: str, url: str) -> bool:
        return (
            self._last.name != "fetch_json"
            and len(page_body(text)) < self._knobs.sparse_chars
            and self._scrolls[url] < self._knobs.auto_scrolls
        )

    def _wait_or_scroll(self, text: str, url: str) -> Action:
        """Give a page that has next to nothing on it another chance, without asking the model.

        Where there is nothing to scroll, as on a page that a script has yet to draw, the same
        turn is spent on waiting.
        """
        scrolls = can_scroll(text) and "scroll" in self._knobs.actions
        self._last = ActionCall("scroll", ("down",)) if scrolls else NOTHING
        self._scrolls[url] += 1
        think = (
            f"the page shows fewer than {self._knobs.sparse_chars} characters; "
            f"{'scrolled' if scrolls else 'waited'} without asking the model "
            f"({self._scrolls[url]} of {self._knobs.auto_scrolls})"
        )
        parameters = ACTIONS[self._last.name].parameters
        self._transcript.called(self._last.text, parameters=parameters, said=f"({think})")
        return Action(self._last.text, think=think, messages=self._transcript.added())

    def _objection(self, call: ActionCall, page: str, *, must_answer: bool) -> str:
        """Why the agent does not do what the model says; empty when it does."""
        if must_answer and call.name != "answer":
            return f"{call.name} was not done: only the action answer is taken now"
        if call.name not in self._knobs.actions:
            return f"{call.name} is not one of the actions; use {', '.join(self._knobs.actions)}"
        target = ""
        if call.name == "click":
            target = link_target(page, call.arguments[0])
        elif call.name in ADDRESSED:
            target = call.arguments[0]
        blocked = in_domain(target, self._knobs.blocked_domains)
        return f"{blocked} does not work here and was not opened; use another site" * bool(blocked)

    def _refuse(self, reply: Reply, because: str, *, think: str = "") -> Action:
        self._bad += 1
        self._last = NOTHING
        self._transcript.said(reply.text)
        self._notes.append(because)
        count = f"reply refused ({self._bad} of {self._knobs.bad_replies} in a row): {because}"
        return Action(
            NOTHING.text,
            gave_up=self._bad >= self._knobs.bad_replies,
            think=f"{think}\n{count}".strip(),
            messages=self._transcript.added(),
            usage=reply.usage,
        )

    def _do(self, call: ActionCall, think: str, reply: Reply) -> Action:
        self._bad = 0
        self._last = call
        answer = call.arguments[0] if call.name == "answer" else None
        if answer is None:
            parameters = ACTIONS[call.name].parameters
            self._transcript.called(call.text, parameters=parameters, said=reply.text)
        else:
            self._transcript.said(reply.text)
        return Action(
            call.text,
            answer=answer,
            think=think,
            messages=self._transcript.added(),
            usage=reply.usage,
        )


def make_model(model: str | Model, options: Mapping[str, Any]) -> Model:
    """The model of that name with these options, or the model itself."""
    if not isinstance(model, str):
        if options:
            raise BadParameter("`model_options` go with the name of a model, not with a model")
        return model
    factory = MODELS.get(model)
    try:
        inspect.signature(factory).bind(**options)
    except TypeError as error:
        known = ", ".join(inspect.signature(factory).parameters)
        raise BadParameter(
            f"model_options of model {model!r}: {error}; its options are: {known or 'none'}"
        ) from error
    made: Model = factory(**options)
    return made


def _whole_address(call: ActionCall, base: str) -> ActionCall:
    if call.name not in ADDRESSED:
        return call
    try:
        return ActionCall(call.name, (urljoin(base, call.arguments[0].strip()),))
    except ValueError:
        return call


def _failed(observation: Observation) -> bool:
    """Whether the world says, as a code, that the last action failed."""
    return observation.outcome is not None and observation.outcome.error is not None
