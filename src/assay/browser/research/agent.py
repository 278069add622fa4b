"""The research agent: page, prompt, model, parsed action; everything about it is an option."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any
from urllib.parse import urljoin, urlsplit

from assay.agents.models.calls import call_timeout_s, model_call
from assay.agents.models.make import make_model
from assay.agents.models.protocol import Reply
from assay.agents.protocol import Action, EpisodeLimits
from assay.agents.tool_calls import CUT_OFF, CallQueue, ReadyCall, calls_natively
from assay.agents.transcript import Transcript
from assay.browser.research.actions import (
    ACTIONS,
    THINK_CHARS,
    TOOLS,
    Decision,
    call_of,
    read_reply,
)
from assay.browser.research.prompt import (
    ResearchOptions,
    messages_for_model,
    system_prompt,
    turn_prompt,
)
from assay.schema.action import ActionCall
from assay.schema.observation import Observation
from assay.schema.task import Task
from assay.schema.usage import Usage

GRACE_S = 5.0
"""Beyond its time-out, for a model that does not keep it."""
NOOP = ActionCall("noop")
URL_ACTIONS = ("goto", "fetch_json")
"""Actions whose parameter is an address; models copy relative ones from links."""
_URL = re.compile(r"^url: (\S+)", re.MULTILINE)
_PAYLOAD = re.compile(r"^result of fetch_json [^\n]*:\n", re.MULTILINE)


class WebResearchAgent(ResearchOptions):
    """Answers questions by browsing: reads the page, asks the model, does the action in its reply.

    A reply without a readable action, with one that is not in the action set, or towards a
    blocked domain costs a step: the environment gets `noop()`, and the model a note that says
    why. Too many in a row, and the agent gives up.
    """

    name = "web_research"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._model = make_model(self.model, self.model_options or {})
        self._native = calls_natively(self.tool_calls, self._model)
        self._reset(Task(id=""), EpisodeLimits())

    def _reset(self, task: Task, limits: EpisodeLimits) -> None:
        self._goal: str | None = task.goal
        self._limits = limits
        self._transcript = Transcript()
        self._queue = CallQueue(self._transcript)
        self._session: str | None = None
        self._last_call = NOOP
        self._notes: list[str] = []
        self._refusals = 0
        self._scrolls: Counter[str] = Counter()

    async def start(self, task: Task, *, limits: EpisodeLimits) -> None:
        self._reset(task, limits)
        self._transcript.add_system(system_prompt(self, native=self._native))

    async def act(self, observation: Observation, *, step: int) -> Action:
        """One turn: wait or scroll on a nearly empty page, or do what the model replies."""
        page = self._page(observation.text)
        must_answer = step >= self.first_answer_step(self._limits.steps)
        if must_answer:
            self._notes.append("You have to answer now; no other action is taken any more.")
        self._add_turn(page, step, failed=_action_failed(observation))
        url = page_url(observation.text)
        if not must_answer and not self._queue and self._is_sparse(observation.text, url):
            return self._wait_or_scroll(observation.text, url)

        def object_to(use: ReadyCall) -> str:
            call = _with_absolute_url(call_of(use.tool.name, use.arguments), url)
            return self._objection(call, page, must_answer=must_answer)

        use = self._queue.take(object_to)
        if use is not None:
            return self._use(use, url, Usage())
        reply = await self._ask()
        if self._native and reply.calls:
            self._queue.add(reply, [TOOLS[name] for name in self.action_names])
            use = self._queue.take(object_to)
            if use is None:
                return self._refused(self._queue.take_refusal(), reply)
            return self._use(use, url, reply.usage)
        decision = read_reply(reply.text)
        if not isinstance(decision, Decision):
            because = f"{CUT_OFF} before its action; be briefer" if reply.cut_off else ""
            return self._refuse(reply, because or decision.because, unreadable=True)
        call = _with_absolute_url(decision.call, url)
        objection = self._objection(call, page, must_answer=must_answer)
        if objection:
            return self._refuse(reply, objection, think=decision.think)
        return self._do(call, decision.think, reply)

    async def _ask(self) -> Reply:
        timeout_s = self.model_timeout_s or call_timeout_s(self._model)
        options: dict[str, Any] = {}
        if self._native:
            options["tools"] = [TOOLS[name].schema() for name in self.action_names]
        async with model_call(timeout_s + GRACE_S):
            reply = await self._model.complete(
                messages_for_model(
                    self._transcript.messages, self.history_chars, native=self._native
                ),
                timeout_s=timeout_s,
                session=self._session,
                **options,
            )
        self._session = reply.session
        return reply

    async def close(self) -> None:
        await self._model.close()

    def _page(self, text: str) -> str:
        if self._last_call.name == "fetch_json":
            text = cut_json(text, self.json_chars)
        return cut(text, self.observation_chars)

    def _add_turn(self, page: str, step: int, *, failed: bool) -> None:
        prompt = turn_prompt(
            page, step=step, steps=self._limits.steps, goal=self._goal, notes=self._notes
        )
        self._transcript.add_observation(prompt, failed=failed)
        self._goal = None
        self._notes = []

    def _is_sparse(self, text: str, url: str) -> bool:
        return (
            self._last_call.name != "fetch_json"
            and len(page_body(text)) < self.sparse_chars
            and self._scrolls[url] < self.auto_scrolls
        )

    def _wait_or_scroll(self, text: str, url: str) -> Action:
        """Scroll on a nearly empty page, or wait for it, without asking the model."""
        scrolls = can_scroll(text) and "scroll" in self.action_names
        self._last_call = ActionCall("scroll", ("down",)) if scrolls else NOOP
        self._scrolls[url] += 1
        think = (
            f"the page shows fewer than {self.sparse_chars} characters; "
            f"{'scrolled' if scrolls else 'waited'} without asking the model "
            f"({self._scrolls[url]} of {self.auto_scrolls})"
        )
        parameters = ACTIONS[self._last_call.name].parameters
        self._transcript.add_call(
            self._last_call.text,
            parameters=parameters,
            reply=f"({think})",
            fields={"made_by": "agent"} if self._native else None,
        )
        return Action(self._last_call.text, think=think, messages=self._transcript.take_new())

    def _objection(self, call: ActionCall, page: str, *, must_answer: bool) -> str:
        """Why the agent does not do the call; empty when it does."""
        if must_answer and call.name != "answer":
            return f"{call.name} was not done: only the action answer is taken now"
        if call.name not in self.action_names:
            return f"{call.name} is not one of the actions; use {', '.join(self.action_names)}"
        target = ""
        if call.name == "click":
            target = link_target(page, call.arguments[0])
        elif call.name in URL_ACTIONS:
            target = call.arguments[0]
        blocked = in_domain(target, self.blocked)
        return f"{blocked} does not work here and was not opened; use another site" * bool(blocked)

    def _refuse(
        self, reply: Reply, because: str, *, think: str = "", unreadable: bool = False
    ) -> Action:
        mark = because if unreadable else ""
        self._transcript.add_reply(reply.text, unreadable=mark, fields=reply.fields)
        self._notes.append(because)
        return self._refused(because, reply, think=think)

    def _refused(self, because: str, reply: Reply, *, think: str = "") -> Action:
        """The action `noop()`, after a reply that was refused."""
        self._refusals += 1
        self._last_call = NOOP
        count = f"reply refused ({self._refusals} of {self.bad_replies} in a row): {because}"
        return Action(
            NOOP.text,
            gave_up=self._refusals >= self.bad_replies,
            think=f"{think}\n{count}".strip(),
            messages=self._transcript.take_new(),
            usage=reply.usage,
        )

    def _use(self, use: ReadyCall, url: str, usage: Usage) -> Action:
        """The action of a native call."""
        call = _with_absolute_url(call_of(use.tool.name, use.arguments), url)
        return self._acted(call, use.think[:THINK_CHARS], usage, answer=use.answer)

    def _do(self, call: ActionCall, think: str, reply: Reply) -> Action:
        answer = call.arguments[0] if call.name == "answer" else None
        if answer is None:
            parameters = ACTIONS[call.name].parameters
            self._transcript.add_call(
                call.text, parameters=parameters, reply=reply.text, fields=reply.fields
            )
        else:
            self._transcript.add_reply(reply.text, fields=reply.fields)
        return self._acted(call, think, reply.usage, answer=answer)

    def _acted(self, call: ActionCall, think: str, usage: Usage, *, answer: str | None) -> Action:
        self._refusals, self._last_call = 0, call
        new = self._transcript.take_new()
        return Action(call.text, answer=answer, think=think, messages=new, usage=usage)


def _with_absolute_url(call: ActionCall, base: str) -> ActionCall:
    if call.name not in URL_ACTIONS:
        return call
    try:
        return ActionCall(call.name, (urljoin(base, call.arguments[0].strip()),))
    except ValueError:
        return call


def _action_failed(observation: Observation) -> bool:
    """Whether the environment reports, as a code, that the last action failed."""
    return observation.outcome is not None and observation.outcome.error is not None


def page_url(text: str) -> str:
    """The address of the page that the observation shows; empty when it names none."""
    match = _URL.search(text, 0, 10_000)
    return match[1] if match else ""


def page_body(text: str) -> str:
    """What the page itself shows: the observation without its head."""
    return text.partition("\n\n")[2]


def can_scroll(text: str) -> bool:
    """Whether the observation says that the page is longer than the window."""
    return "\nscrolled to " in text.partition("\n\n")[0]


def link_target(text: str, element: str) -> str:
    """Where the link with this number leads, as a whole address; empty when it is no such link."""
    at = text.find(f"[{element}] link ")
    if at < 0:
        return ""
    line = text[at : text.find("\n", at) if "\n" in text[at:] else len(text)]
    # Other elements may follow on the same line.
    following = re.search(r" \[\d+\] ", line[1:])
    own = line[: following.start() + 1] if following else line
    _, arrow, target = own.rpartition(" -> ")
    # In a heading the line ends in the heading's own quote.
    address = target.split(" ")[0].rstrip('"')
    return urljoin(page_url(text), address) if arrow else ""


def in_domain(url: str, domains: tuple[str, ...]) -> str:
    """The first of the domains that the address is in, itself or below it; empty for none."""
    try:
        host = (urlsplit(url).hostname or "").rstrip(".").lower()
    except ValueError:
        return ""
    for domain in domains:
        if host == domain.lower() or host.endswith(f".{domain.lower()}"):
            return domain
    return ""


def cut(text: str, budget: int) -> str:
    """The text within the budget, whole lines where there are any, and a mark for what is gone."""
    if len(text) <= budget:
        return text
    head = text[:budget]
    line_end = head.rfind("\n")
    if line_end > budget // 2:
        head = head[:line_end]
    return f"{head}\n… {len(text) - len(head)} characters not shown; scroll or narrow down …"


def cut_json(text: str, budget: int) -> str:
    """The observation with the payload of `fetch_json` in it within the budget, visibly cut."""
    head = _PAYLOAD.search(text)
    if head is None:
        return text
    end = text.find("\n\n", head.end())
    payload = text[head.end() : end if end >= 0 else len(text)]
    if len(payload) <= budget:
        return text
    mark = f"\n… {len(payload) - budget} characters not shown; ask for less"
    return text[: head.end() + budget] + mark + text[head.end() + len(payload) :]
