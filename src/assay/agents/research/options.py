"""The options of the research agent, checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from assay.agents.research.actions import ACTIONS
from assay.errors import BadParameter

ApiCalls = Literal["per_year", "whole_range"]

BLOCKED_DOMAINS = ("zillow.com", "trulia.com", "apartments.com")


@dataclass(frozen=True, slots=True)
class ResearchOptions:
    """Everything about the research agent that an experiment may want to change."""

    observation_chars: int
    json_chars: int
    history_chars: int
    sparse_chars: int
    auto_scrolls: int
    blocked_domains: tuple[str, ...]
    actions: tuple[str, ...]
    workflow: str
    timezone: str | None
    bare_answer: bool
    api_calls: ApiCalls
    answer_margin: int
    bad_replies: int
    model_timeout_s: float | None

    def __post_init__(self) -> None:
        for name, least in (
            ("observation_chars", 1),
            ("json_chars", 1),
            ("history_chars", 0),
            ("sparse_chars", 0),
            ("auto_scrolls", 0),
            ("answer_margin", 0),
            ("bad_replies", 1),
        ):
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


def choose_actions(choice: str | Sequence[str] | None) -> tuple[str, ...]:
    """The actions in the order of the prompt: all, those named, or all but `-those`."""
    if choice is None:
        return tuple(ACTIONS)
    names = split_names(choice)
    plain = {name.removeprefix("-") for name in names}
    unknown = sorted(plain - set(ACTIONS))
    if unknown:
        raise BadParameter(f"no action named {unknown[0]!r}; there are {', '.join(ACTIONS)}")
    minus = [name for name in names if name.startswith("-")]
    if minus and len(minus) < len(names):
        raise BadParameter(f"actions is {choice!r}; name the actions to have, or `-those` to leave")
    return tuple(name for name in ACTIONS if (name in plain) != bool(minus) or name == "answer")


def split_names(names: str | Sequence[str]) -> tuple[str, ...]:
    """Names from a list, or from text with commas between them."""
    several = names.split(",") if isinstance(names, str) else names
    return tuple(name.strip() for name in several if name.strip())
