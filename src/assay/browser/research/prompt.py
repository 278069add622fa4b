"""The options of the research agent, and the text for its model: instructions, and each turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, get_args

from assay.agents.models.protocol import Model
from assay.agents.tool_calls import ToolCalls
from assay.browser.research.actions import ACTIONS, PROMPT
from assay.errors import BadParameter

PAGE = "Page:\n"
"""What stands before the page in every turn's message; everything after it is the page."""
QUESTION = "Question: "

WORKFLOWS: Mapping[str, str] = MappingProxyType(PROMPT["workflows"])
"""Ways to work that the option `workflow` can name; any other text is taken as it stands."""


ApiCalls = Literal["per_year", "whole_range"]

LEAST = {
    **dict.fromkeys(("observation_chars", "json_chars", "bad_replies"), 1),
    **dict.fromkeys(("history_chars", "sparse_chars", "auto_scrolls", "answer_margin"), 0),
}
"""The least value of each option that is a whole number."""


@dataclass(kw_only=True, eq=False)
class ResearchOptions:
    """Everything about the research agent that an experiment may want to change."""

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
                raise BadParameter(f"{name} is {value!r}; it is a whole number >= {least}")
        if self.api_calls not in get_args(ApiCalls):
            choices = " or ".join(map(repr, get_args(ApiCalls)))
            raise BadParameter(f"api_calls is {self.api_calls!r}; choose {choices}")
        if type(self.bare_answer) is not bool:
            raise BadParameter(f"bare_answer is {self.bare_answer!r}; it is true or false")
        if self.model_timeout_s is not None and not self.model_timeout_s > 0:
            raise BadParameter(
                f"model_timeout_s is {self.model_timeout_s!r}; it is a number of seconds > 0"
            )

    def first_answer_step(self, steps: int) -> int:
        """The step from which only an answer is taken, out of `steps`."""
        return steps - self.answer_margin if self.answer_margin else steps + 1


def _choose_actions(choice: str | Sequence[str] | None) -> tuple[str, ...]:
    """The actions in the order of the prompt: all, those named, or all but `-those`."""
    if choice is None:
        return tuple(ACTIONS)
    names = _split_names(choice)
    plain = {name.removeprefix("-") for name in names}
    unknown = sorted(plain - set(ACTIONS))
    if unknown:
        raise BadParameter(f"no action named {unknown[0]!r}; there are {', '.join(ACTIONS)}")
    minus = [name for name in names if name.startswith("-")]
    if minus and len(minus) < len(names):
        raise BadParameter(f"actions is {choice!r}; name the actions to have, or `-those` to leave")
    return tuple(name for name in ACTIONS if (name in plain) != bool(minus) or name == "answer")


def _split_names(names: str | Sequence[str]) -> tuple[str, ...]:
    """Names from a list, or from text with commas between them."""
    several = names.split(",") if isinstance(names, str) else names
    return tuple(name.strip() for name in several if name.strip())


def system_prompt(options: ResearchOptions, *, native: bool = False) -> str:
    """The instructions, for these options; native calls have their form and names by the API."""
    actions = "\n".join(
        f"- {name} {ACTIONS[name].example}: {ACTIONS[name].description}"
        for name in options.action_names
    )
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
    workflow = WORKFLOWS.get(options.workflow, options.workflow).strip()
    if workflow:
        parts.append(f"How to work:\n{workflow}")
    return "\n\n".join(parts)


def turn_prompt(
    page: str, *, step: int, steps: int, goal: str | None = None, notes: Sequence[str] = ()
) -> str:
    """One turn's message: the question on the first one, notes, and the page."""
    head = [f"{QUESTION}{goal}\n"] if goal is not None else []
    head.append(f"Step {step} of {steps}.")
    head += [f"Note: {note}" for note in notes]
    return "\n".join([*head, f"{PAGE}{page}"])


def messages_for_model(
    messages: Sequence[dict[str, Any]], history_chars: int, *, native: bool = False
) -> list[dict[str, Any]]:
    """The recorded conversation as the model gets it, older pages left out.

    The newest page is always there; earlier ones are, newest first, while they fit into
    `history_chars` together. Without native calls it is plain text. With them, what the agent did
    without asking is told as text: the model made no such call.
    """
    remaining = history_chars
    newest = True
    selected: list[dict[str, Any]] = []
    own = {
        call["id"]
        for message in messages
        if message.get("made_by") == "agent"
        for call in message["tool_calls"]
    }
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
