"""Why an attempt lost points: explicit rules, tried in their order, the most specific first.

Each rule is a function from a `DiagnosisCase` to the evidence for its cause, empty where there is
none. The first rule with evidence names the cause. What a rule needs is in its docstring, which is
what the documentation shows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

from assay.ledger.summary import PERFECT, primary_score
from assay.report.alignment import AlignedItem, items_of, number_in
from assay.report.traces import AttemptTrace, EvidenceLine
from assay.schema.score import Abstained

Cause: TypeAlias = Literal[
    "environment_error",
    "scorer_error",
    "agent_error",
    "not_recorded",
    "format_rejection",
    "payload_truncated",
    "observation_truncated",
    "blocked",
    "looping",
    "navigation_failure",
    "time_budget",
    "step_budget",
    "stale_gold",
    "no_answer",
    "partial_list",
    "near_miss",
    "wrong_answer",
]

SUGGESTIONS: Mapping[Cause, str] = MappingProxyType(
    {
        "environment_error": "make the environment steadier, or raise its time limits; rerun these",
        "scorer_error": "mend the reward or the golds, then score the run again",
        "agent_error": "mend the agent: these attempts never reached an answer of its own",
        "not_recorded": "keep the submitted answer: nothing can be said without it",
        "format_rejection": "ask for the bare value in the form that the reward reads",
        "payload_truncated": "ask for less in one call, or raise the budget for payloads",
        "observation_truncated": "raise the observation budget, or narrow the page down first",
        "blocked": "send the agent to another source; what it is after is behind a wall",
        "looping": "notice a repeated action and try something else",
        "navigation_failure": "retry, wait longer, or check the addresses that the agent makes up",
        "time_budget": "raise the time limits, or make the steps faster",
        "step_budget": "raise the step budget, or shorten the way to the answer",
        "stale_gold": "check the gold against the live page before blaming the agent",
        "no_answer": "always give an answer: a guess costs nothing here",
        "partial_list": "read every page of the list before answering",
        "near_miss": "check the last step: rounding, the exact name, the exact range",
        "wrong_answer": "read the trace: nothing recorded explains it",
    }
)
"""The one change that each cause suggests."""

ROTTING = frozenset({"Unlikely"})
"""Classes of staleness whose golds may have changed since they were written."""
NEAR = 0.25
"""A number off by no more than this part of the gold, and a text with at least half its tokens."""
HALF = 0.5
GAIN = 0.1
LOOPS = 3
_REFUSAL = re.compile(
    r"\W*(?:(?:the )?answer(?: is)?:? )?(?:unknown|n/?a|none|null|nan|"
    r"not (?:found|available|sure|known)|"
    r"no answer|unable to\b.*|i (?:do not|don'?t|could not|couldn'?t|cannot|can'?t)\b.*)\W*",
    re.IGNORECASE | re.DOTALL,
)
_REFERENCE = re.compile(r"\[\d+\] ")


@dataclass(frozen=True, slots=True)
class CauseThresholds:
    """What of a run's configuration the rules ask for."""

    steps: int | None = None
    answer_margin: int = 0

    @property
    def answer_from(self) -> int | None:
        """The step from which the agent has to answer."""
        return None if self.steps is None else self.steps - self.answer_margin


@dataclass(frozen=True)
class DiagnosisCase:
    """Everything that the rules may look at for one attempt."""

    trace: AttemptTrace
    reward: float | None
    recovered: float | None
    """The reward of the best other form of the answer."""
    recovered_form: str
    aligned: tuple[AlignedItem, ...]
    limits: CauseThresholds

    @cached_property
    def answer(self) -> str:
        return (self.trace.episode.final_response or "")[:20_000]

    @cached_property
    def says_something(self) -> bool:
        """Whether there is an answer that is more than "I do not know"."""
        answer = self.answer.strip()
        return bool(answer) and (len(answer) > 300 or _REFUSAL.fullmatch(answer) is None)

    @cached_property
    def answer_step(self) -> int:
        steps = self.trace.steps
        return steps[-1].index if steps else 0


Rule: TypeAlias = Callable[[DiagnosisCase], tuple[EvidenceLine, ...]]


def cause_of(case: DiagnosisCase) -> tuple[Cause, tuple[EvidenceLine, ...]]:
    """The first rule that finds evidence, and what it found."""
    for cause, rule in RULES.items():
        signs = rule(case)
        if signs:
            return cause, signs
    return "wrong_answer", (EvidenceLine(case.answer_step, "the answer differs from the gold"),)


def environment_error(case: DiagnosisCase) -> tuple[EvidenceLine, ...]:
    """The episode ended in an `env_error`: it has no reward, and nobody is to blame for it."""
    episode = case.trace.episode
    if episode.stop_reason != "env_error":
        return ()
    message = episode.failure.message if episode.failure else "the environment failed"
    return (EvidenceLine(case.answer_step, message[:300]),)


def scorer_error(case: DiagnosisCase) -> tuple[EvidenceLine, ...]:
    """The primary reward abstained, is missing, or has only a hidden gold to compare with."""
    score = primary_score(case.trace.episode)
    if isinstance(score, Abstained):
        return (EvidenceLine(case.answer_step, f"{score.reason}: {score.because[:200]}"),)
    if score is None:
        return (EvidenceLine(case.answer_step, "no reward was recorded"),)
    if score.parts.get("gold_hidden") == 1.0:
        return (EvidenceLine(case.answer_step, "the gold is hidden: every answer scores 0.0"),)
    return ()


def agent_error(case: DiagnosisCase) -> tuple[EvidenceLine, ...]:
    """The agent broke, or no answer was given and most of its calls failed by its own mistake."""
    episode = case.trace.episode
    if episode.stop_reason == "agent_error":
        message = episode.failure.message if episode.failure else "the agent failed"
        return (EvidenceLine(case.answer_step, message[:300]),)
    tools = tuple(sign for sign, navigation in case.trace.failures if not navigation)
    mostly = len(tools) * 2 > len(case.trace.acted)
    return tools if mostly and not case.says_something else ()


def not_recorded(case: DiagnosisCase) -> tuple[EvidenceLine, ...]:
    """The agent answered, and the record does not say what."""
    episode = case.trace.episode
    if episode.stop_reason != "answered" or episode.final_response is not None:
        return ()
    return (EvidenceLine(case.answer_step, "the submitted answer is not in the record"),)


def format_rejection(case: DiagnosisCase) -> tuple[EvidenceLine, ...]:
    """Another form of the same answer scores at least 0.1 more, or reaches full reward."""
    if case.recovered is None or case.reward is None:
        return ()
    gain = case.recovered - case.reward
    if gain >= GAIN or (case.recovered >= PERFECT > case.reward and gain > 0.01):
        what = f"{case.recovered_form} scores {case.recovered:.3f} instead of {case.reward:.3f}"
        return (EvidenceLine(case.answer_step, what),)
    return ()


def payload_truncated(case: DiagnosisCase) -> tuple[EvidenceLine, ...]:
    """The result of a call was cut before the agent saw the end of it."""
    return tuple(
        EvidenceLine(cut.step, f"{cut.chars:,} characters of the result were not shown")
        for cut in case.trace.cuts
        if cut.payload
    )


def observation_truncated(case: DiagnosisCase) -> tuple[EvidenceLine, ...]:
    """The gold was on a page, in the part that the agent was not shown.

    Where the gold is not written on any recorded page, as a computed number: one of the last two
    pages before the answer was cut.
    """
    cuts = [cut for cut in case.trace.cuts if not cut.payload]
    if not cuts:
        return ()
    target = _looks_for(case.trace.episode.task.answer)
    if target is not None:
        if case.trace.first_shown(target) is not None:
            return ()
        there = case.trace.first_recorded(target)
        if there is not None:
            return (
                EvidenceLine(there, "the gold is on this page, in the part that was not shown"),
            )
    last = cuts[-1]
    if last.step < case.answer_step - 2:
        return ()
    how = f"{last.chars:,} characters" if last.chars else "a part"
    return (EvidenceLine(last.step, f"{how} of the page were not shown, one of the last two"),)


def blocked(case: DiagnosisCase) -> tuple[EvidenceLine, ...]:
    """There is no real answer, and the agent met a wall twice, or within its last three steps."""
    signs = case.trace.blocks
    if not signs or case.says_something:
        return ()
    late = signs[-1].step >= case.answer_step - 3
    return signs if late or len(signs) > 1 else ()


def looping(case: DiagnosisCase) -> tuple[EvidenceLine, ...]:
    """At least three steps, and two in five, repeat an earlier action with the same result."""
    signs = case.trace.repeats
    enough = len(signs) >= LOOPS and len(signs) * 5 >= len(case.trace.acted) * 2
    return signs if enough else ()


def navigation_failure(case: DiagnosisCase) -> tuple[EvidenceLine, ...]:
    """There is no real answer, and the last call, or half of all, failed on the way to a page."""
    signs = tuple(sign for sign, navigation in case.trace.failures if navigation)
    if not signs or case.says_something:
        return ()
    last = signs[-1].step == case.trace.acted[-1].index
    return signs if last or len(signs) * 2 >= len(case.trace.acted) else ()


def time_budget(case: DiagnosisCase) -> tuple[EvidenceLine, ...]:
    """The episode ended in a `timeout`."""
    if case.trace.episode.stop_reason != "timeout":
        return ()
    limit = case.trace.episode.metadata.get("limit", "a time limit")
    return (EvidenceLine(case.answer_step, f"stopped by {limit}"),)


def step_budget(case: DiagnosisCase) -> tuple[EvidenceLine, ...]:
    """The steps ran out, or the agent had come so far that it had to answer."""
    episode = case.trace.episode
    if episode.stop_reason == "step_limit":
        return (EvidenceLine(case.answer_step, f"all {episode.n_steps} steps were used"),)
    last = case.limits.answer_from
    if last is not None and case.limits.answer_margin and episode.n_steps >= last:
        return (EvidenceLine(case.answer_step, f"the agent had to answer from step {last} on"),)
    return ()


def stale_gold(case: DiagnosisCase) -> tuple[EvidenceLine, ...]:
    """The gold is of a kind that rots, and the answer stands on a page that the agent saw."""
    task = case.trace.episode.task
    if task.metadata.get("time_dependency") not in ROTTING or not case.says_something:
        return ()
    target = _looks_for(case.answer, least=1)
    step = None if target is None else case.trace.first_shown(target)
    if step is None:
        return ()
    return (EvidenceLine(step, "the answer stands on this page; the gold may be out of date"),)


def no_answer(case: DiagnosisCase) -> tuple[EvidenceLine, ...]:
    """Nothing was submitted, or only that it is not known."""
    episode = case.trace.episode
    if case.says_something or (episode.stop_reason == "finished" and not case.answer):
        return ()
    return (
        EvidenceLine(case.answer_step, f"{episode.stop_reason}, {case.answer[:60]!r} submitted"),
    )


def partial_list(case: DiagnosisCase) -> tuple[EvidenceLine, ...]:
    """Some of several gold items are there."""
    gold = [row for row in case.aligned if row.gold is not None]
    right = sum(row.matched for row in gold)
    if len(gold) < 2 or not right:
        return ()
    extra = len(case.aligned) - len(gold)
    more = f", {extra} not asked for" if extra else ""
    return (EvidenceLine(case.answer_step, f"{right} of {len(gold)} items are right{more}"),)


def near_miss(case: DiagnosisCase) -> tuple[EvidenceLine, ...]:
    """The number is at most 25 % off, half of the tokens are there, or the reward is over 0.5."""
    gold = case.trace.episode.task.answer
    items = items_of(gold)
    target = number_in(items[0]) if len(items) == 1 else None
    number = number_in(case.answer)
    if target and number is not None:
        off = abs(number - target) / abs(target)
        if off <= NEAR:
            return (EvidenceLine(case.answer_step, f"{number:g} is {off:.1%} off {target:g}"),)
    best = max((row.overlap for row in case.aligned if row.gold is not None), default=0.0)
    if best >= HALF or (case.reward or 0.0) >= HALF:
        why = f"{best:.0%} of the tokens agree" if best >= HALF else f"reward {case.reward:.3f}"
        return (EvidenceLine(case.answer_step, why),)
    return ()


RULES: Mapping[Cause, Rule] = MappingProxyType(
    {
        "environment_error": environment_error,
        "scorer_error": scorer_error,
        "agent_error": agent_error,
        "not_recorded": not_recorded,
        "format_rejection": format_rejection,
        "payload_truncated": payload_truncated,
        "observation_truncated": observation_truncated,
        "blocked": blocked,
        "looping": looping,
        "navigation_failure": navigation_failure,
        "time_budget": time_budget,
        "step_budget": step_budget,
        "stale_gold": stale_gold,
        "no_answer": no_answer,
        "partial_list": partial_list,
        "near_miss": near_miss,
    }
)


def _looks_for(value: Any, *, least: int = 3) -> Callable[[str], bool] | None:
    """Whether a text holds one of the items; `None` when they are too short to mean anything."""
    items = [item.casefold() for item in items_of(value) if len(item) > least]
    numbers = [item for item in items if number_in(item) is not None]
    words = [item for item in items if number_in(item) is None and not item.startswith("{")]
    patterns = [re.compile(rf"(?<![\d.,]){re.escape(n)}(?!\.?\d)") for n in numbers]
    if not words and not patterns:
        return None

    def holds(text: str) -> bool:
        page = _REFERENCE.sub("", text).casefold()
        if any(word in page for word in words):
            return True
        plain = re.sub(r"(?<=\d),(?=\d{3})", "", page) if patterns else page
        return any(pattern.search(plain) for pattern in patterns)

    return holds
