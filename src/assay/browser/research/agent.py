"""The research agent, which asks a model for one browser action per turn."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args
from urllib.parse import urljoin, urlsplit

from assay.agents.models.make import make_model
from assay.agents.models.protocol import Model, Reply
from assay.agents.models.timeouts import call_timeout_s, model_call
from assay.agents.protocol import Action, EpisodeLimits
from assay.agents.tool_calls import CUT_OFF, CallQueue, ReadyCall, ToolCalls, calls_natively
from assay.agents.transcript import Transcript
from assay.browser.research.actions import (
    ACTIONS,
    PROMPT,
    THINK_CHARS,
    TOOLS,
    Decision,
    call_of,
    read_reply,
)
from assay.errors import BadParameter
from assay.schema.action import ActionCall
from assay.schema.observation import Observation
from assay.schema.task import Task
from assay.schema.usage import Usage

PAGE = "Page:\n"
"""What stands before the page in every turn's message; everything after it is the page."""
QUESTION = "Question: "

ApiCalls = Literal["per_year", "whole_range"]

LEAST = {
    **dict.fromkeys(("observation_chars", "json_chars", "bad_replies"), 1),
    **dict.fromkeys(("history_chars", "sparse_chars", "auto_scrolls", "answer_margin"), 0),
}


@dataclass(kw_only=True, eq=False)
class ResearchOptions:
    """The options of the research agent that an experiment may change."""

    model: str | Model = "openai"
    model_options: Mapping[str, Any] | None = None
    observation_chars: int = 24_000
    json_chars: int = 6_000
    history_chars: int = 60_000
    sparse_chars: int = 200
    auto_scrolls: int = 3
    blocked_domains: str | Sequence[str] = ()
    actions: str | Sequence[str] | None = None
    workflow: str = "web"
    timezone: str | None = None
    bare_answer: bool = True
    api_calls: ApiCalls = "per_year"
    answer_margin: int = 3
    bad_replies: int = 3
    model_timeout_s: float | None = None
    tool_calls: ToolCalls = "auto"

    def __post_init__(self) -> None:
        self.blocked = _split_names(self.blocked_domains)
        self.action_names = _choose_actions(self.actions)
        for name, least in LEAST.items():
            value = getattr(self, name)
            if type(value) is not int or value < least:
                raise BadParameter(f"{name} is {value!r}; it must be a whole number >= {least}")
        if self.api_calls not in get_args(ApiCalls):
            choices = " or ".join(map(repr, get_args(ApiCalls)))
            raise BadParameter(f"api_calls is {self.api_calls!r}; choose {choices}")
        if type(self.bare_answer) is not bool:
            raise BadParameter(f"bare_answer is {self.bare_answer!r}; it must be true or false")
        limit_s = self.model_timeout_s
        if limit_s is not None and not limit_s > 0:
            raise BadParameter(
                f"model_timeout_s is {limit_s!r}; it must be a number of seconds > 0"
            )


def _choose_actions(choice: str | Sequence[str] | None) -> tuple[str, ...]:
    """The chosen actions: all, only the named ones, or all without `-excluded` ones."""
    names = _split_names(list(ACTIONS) if choice is None else choice)
    plain = {name.removeprefix("-") for name in names}
    unknown = sorted(plain - set(ACTIONS))
    if unknown:
        raise BadParameter(
            f"no action is named {unknown[0]!r}; the actions are {', '.join(ACTIONS)}"
        )
    minus = [name for name in names if name.startswith("-")]
    if minus and len(minus) < len(names):
        raise BadParameter(
            f"actions is {choice!r}; list only names to use, or only `-names` to exclude"
        )
    return tuple(name for name in ACTIONS if (name in plain) != bool(minus) or name == "answer")


def _split_names(names: str | Sequence[str]) -> tuple[str, ...]:
    """Names from a list, or from a text that separates them by commas."""
    several = names.split(",") if isinstance(names, str) else names
    return tuple(name.strip() for name in several if name.strip())


def system_prompt(options: ResearchOptions, *, native: bool = False) -> str:
    """The instructions for the model; with `native`, the API describes the actions."""
    kinds = ((name, ACTIONS[name]) for name in options.action_names)
    actions = "\n".join(f"- {name} {kind.example}: {kind.description}" for name, kind in kinds)
    texts = PROMPT["rules"]
    rules = [texts["number"], texts["cut"]]
    if options.blocked:
        rules.append(f"- Do not open these sites: {', '.join(options.blocked)}.")
    if options.bare_answer:
        rules.append(texts["bare_answer"])
    if "fetch_json" in options.action_names:
        rules.append(texts[options.api_calls])
    if options.timezone:
        rules.append(f"- Days and hours are those of the timezone {options.timezone}.")
    form = [PROMPT["native"]] if native else [PROMPT["form"], f"Actions:\n{actions}"]
    parts = [PROMPT["work"], *form, "Rules:\n" + "\n".join(rules)]
    # Any text that names none of the ways to work is one itself.
    workflow = PROMPT["workflows"].get(options.workflow, options.workflow).strip()
    if workflow:
        parts.append(f"How to work:\n{workflow}")
    return "\n\n".join(parts)


def turn_prompt(
    page: str, *, step: int, steps: int, goal: str | None = None, notes: Sequence[str] = ()
) -> str:
    """The message of one turn: the question in the first turn, the notes and the page."""
    head = [f"{QUESTION}{goal}\n"] if goal is not None else []
    head.append(f"Step {step} of {steps}.")
    head += [f"Note: {note}" for note in notes]
    return "\n".join([*head, f"{PAGE}{page}"])


def messages_for_model(
    messages: Sequence[dict[str, Any]], history_chars: int, *, native: bool = False
) -> list[dict[str, Any]]:
    """The recorded conversation for the model, without older pages beyond `history_chars`.

    Without native calls it is plain text; with them, what the agent did without asking is text.
    """
    remaining, newest = history_chars, True
    selected: list[dict[str, Any]] = []
    by_agent = (message for message in messages if message.get("made_by") == "agent")
    own = {call["id"] for message in by_agent for call in message["tool_calls"]}
    for message in reversed(messages):
        role, content = message["role"], str(message["content"])
        head, mark, page = content.partition(PAGE)
        if mark and role in ("user", "tool"):
            if not newest:
                remaining -= len(page)
            if remaining < 0 and not newest:
                content = f"{head}{PAGE}(left out: {len(page)} characters)"
            newest = False
        if native and message.get("tool_call_id") not in own and "made_by" not in message:
            selected.append({**message, "content": content})
        else:
            is_report = role == "tool" or "made_by" in message
            selected.append({"role": "user" if is_report else role, "content": content})
    return selected[::-1]


GRACE_S = 5.0
"""Beyond its time-out, for a model that does not keep it."""
NOOP = ActionCall("noop")
URL_ACTIONS = ("goto", "fetch_json")
"""Actions whose parameter is an address; models copy relative ones from links."""
_URL = re.compile(r"^url: (\S+)", re.MULTILINE)
_PAYLOAD = re.compile(r"^result of fetch_json [^\n]*:\n", re.MULTILINE)


class WebResearchAgent(ResearchOptions):
    """Answers questions by browsing: it reads a page, asks a model and carries out the action.

    A reply without an allowed action costs a step; after too many in a row, the agent gives up.
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
        """Return the next action: from the model, or a scroll on a nearly empty page."""
        page = self._page(observation.text)
        must_answer = self.answer_margin > 0 and step >= self._limits.steps - self.answer_margin
        if must_answer:
            self._notes.append("You have to answer now; no other action is taken any more.")
        self._add_turn(page, step, observation)
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
        options: dict[str, Any] = {"timeout_s": timeout_s, "session": self._session}
        if self._native:
            options["tools"] = [TOOLS[name].schema() for name in self.action_names]
        recorded = self._transcript.messages
        messages = messages_for_model(recorded, self.history_chars, native=self._native)
        async with model_call(timeout_s + GRACE_S):
            reply = await self._model.complete(messages, **options)
        self._session = reply.session
        return reply

    async def close(self) -> None:
        await self._model.close()

    def _page(self, text: str) -> str:
        if self._last_call.name == "fetch_json":
            text = cut_json(text, self.json_chars)
        return cut(text, self.observation_chars)

    def _add_turn(self, page: str, step: int, observation: Observation) -> None:
        outcome = observation.outcome
        failed = outcome is not None and outcome.error is not None
        steps, goal, notes = self._limits.steps, self._goal, self._notes
        prompt = turn_prompt(page, step=step, steps=steps, goal=goal, notes=notes)
        self._transcript.add_observation(prompt, failed=failed)
        self._goal, self._notes = None, []

    def _is_sparse(self, text: str, url: str) -> bool:
        return (
            self._last_call.name != "fetch_json"
            # The page itself stands below the head of the observation.
            and len(text.partition("\n\n")[2]) < self.sparse_chars
            and self._scrolls[url] < self.auto_scrolls
        )

    def _wait_or_scroll(self, text: str, url: str) -> Action:
        """Scroll or wait on a nearly empty page, without asking the model."""
        # A page that is longer than the window says so in its head.
        can_scroll = "\nscrolled to " in text.partition("\n\n")[0]
        scrolls = can_scroll and "scroll" in self.action_names
        self._last_call = ActionCall("scroll", ("down",)) if scrolls else NOOP
        self._scrolls[url] += 1
        think = (
            f"the page shows fewer than {self.sparse_chars} characters; "
            f"{'scrolled' if scrolls else 'waited'} without asking the model "
            f"({self._scrolls[url]} of {self.auto_scrolls})"
        )
        call, fields = self._last_call, {"made_by": "agent"} if self._native else None
        parameters = ACTIONS[call.name].parameters
        self._transcript.add_call(
            call.text, parameters=parameters, reply=f"({think})", fields=fields
        )
        return Action(call.text, think=think, messages=self._transcript.take_new())

    def _objection(self, call: ActionCall, page: str, *, must_answer: bool) -> str:
        """The reason to refuse a call; empty for an allowed call."""
        if must_answer and call.name != "answer":
            return f"{call.name} was not done: only the action answer is taken now"
        if call.name not in self.action_names:
            return f"{call.name} is not one of the actions; use {', '.join(self.action_names)}"
        target = call.arguments[0] if call.name in URL_ACTIONS else ""
        if call.name == "click":
            target = link_target(page, call.arguments[0])
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
        """The action `noop()` after a refused reply."""
        self._refusals += 1
        self._last_call = NOOP
        count = f"reply refused ({self._refusals} of {self.bad_replies} in a row): {because}"
        think, new = f"{think}\n{count}".strip(), self._transcript.take_new()
        gave_up = self._refusals >= self.bad_replies
        return Action(NOOP.text, gave_up=gave_up, think=think, messages=new, usage=reply.usage)

    def _use(self, use: ReadyCall, url: str, usage: Usage) -> Action:
        """The action of a native call."""
        call = _with_absolute_url(call_of(use.tool.name, use.arguments), url)
        return self._acted(call, use.think[:THINK_CHARS], usage, answer=use.answer)

    def _do(self, call: ActionCall, think: str, reply: Reply) -> Action:
        answer = call.arguments[0] if call.name == "answer" else None
        text, fields = reply.text, reply.fields
        if answer is None:
            parameters = ACTIONS[call.name].parameters
            self._transcript.add_call(call.text, parameters=parameters, reply=text, fields=fields)
        else:
            self._transcript.add_reply(text, fields=fields)
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


def page_url(text: str) -> str:
    """The address of the page in an observation; empty if the observation has none."""
    match = _URL.search(text, 0, 10_000)
    return match[1] if match else ""


def link_target(text: str, element: str) -> str:
    """The whole address of the link with this number; empty if there is no such link."""
    _, link, rest = text.partition(f"[{element}] link ")
    if not link:
        return ""
    line = link + rest.partition("\n")[0]
    # Other elements may follow on the same line.
    following = re.search(r" \[\d+\] ", line[1:])
    own = line[: following.start() + 1] if following else line
    _, arrow, target = own.rpartition(" -> ")
    # In a heading the line ends in the heading's own quote.
    address = target.split(" ")[0].rstrip('"')
    return urljoin(page_url(text), address) if arrow else ""


def in_domain(url: str, domains: tuple[str, ...]) -> str:
    """The first listed domain to which the address belongs; empty if there is none."""
    try:
        host = (urlsplit(url).hostname or "").rstrip(".").lower()
    except ValueError:
        return ""
    return next((each for each in domains if f".{host}".endswith(f".{each.lower()}")), "")


def cut(text: str, budget: int) -> str:
    """Cut the text to the budget, if possible after a line, and mark the cut."""
    if len(text) <= budget:
        return text
    head = text[:budget]
    line_end = head.rfind("\n")
    if line_end > budget // 2:
        head = head[:line_end]
    return f"{head}\n… {len(text) - len(head)} characters not shown; scroll or narrow down …"


def cut_json(text: str, budget: int) -> str:
    """Cut the payload of `fetch_json` in an observation to the budget, and mark the cut."""
    head = _PAYLOAD.search(text)
    if head is None:
        return text
    end = text.find("\n\n", head.end())
    payload = text[head.end() : end if end >= 0 else len(text)]
    if len(payload) <= budget:
        return text
    mark = f"\n… {len(payload) - budget} characters not shown; ask for less"
    return text[: head.end() + budget] + mark + text[head.end() + len(payload) :]
