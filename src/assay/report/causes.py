"""Why an attempt lost reward: explicit rules, tried in a fixed order.

The first rule that finds evidence names the cause; the viewer shows the rules' docstrings.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sized
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias, cast

from assay.lazy import package_table
from assay.ledger.passes import PERFECT
from assay.ledger.summary import primary_score
from assay.report.alignment import AlignedItem, items_of, number_in
from assay.report.reformatting import ReformattedAnswer
from assay.report.traces import AttemptTrace, EvidenceLine
from assay.schema.episode import NO_FAULT_OF_THE_AGENT, StopReason
from assay.schema.evidence import WorldEvidence
from assay.schema.score import Abstained
from assay.schema.worlds import TEXT_WORLDS, did_nothing

Cause: TypeAlias = Literal[
    "model_error", "environment_error", "not_scored", "scorer_error", "agent_error",
    "unreadable_reply", "not_recorded", "format_rejection", "payload_truncated",
    "observation_truncated", "blocked", "no_effect", "looping", "navigation_failure",
    "time_budget", "token_budget", "step_budget", "stale_gold", "goal_not_reached", "no_answer",
    "partial_list", "extra_words", "near_miss", "wrong_answer",
]  # fmt: skip

ROTTING = frozenset({"Unlikely"})
"""Classes of staleness whose references may have changed since they were written."""
NEAR = 0.25
"""A number at most this part of the reference away is a near miss."""
HALF = 0.5
"""So is a text with at least this part of the reference's tokens, and a reward of at least this."""
SENTENCE = 40
"""Words of an answer beyond which the reference may be in it by chance."""
GAIN = 0.1
LOOPS = 3
_REFUSAL = re.compile(
    r"\W*(?:(?:the )?answer(?: is)?:? )?(?:unknown|n/?a|none|null|nan|"
    r"not (?:found|available|sure|known)|"
    r"no answer|unable to\b.*|i (?:do not|don'?t|could not|couldn'?t|cannot|can'?t)\b.*)\W*",
    re.IGNORECASE | re.DOTALL,
)
_MARKS = ".,;:!?\"'`*()[]{}<>“”‘’…"
_REFERENCE = re.compile(r"\[\d+\] ")


@dataclass(frozen=True)
class DiagnosisCase:
    """The facts about one attempt that the rules of the diagnosis use."""

    trace: AttemptTrace
    reward: float | None
    recovery: ReformattedAnswer | None
    """The best other form of the answer."""
    aligned: tuple[AlignedItem, ...]
    steps: int | None = None
    """How many steps the run allows, where it says so."""
    answer_margin: int = 0
    """How many steps before that the agent has to answer."""

    @cached_property
    def answer(self) -> str:
        return (self.trace.episode.final_response or "")[:20_000]

    @cached_property
    def says_something(self) -> bool:
        """Whether the agent gave an answer other than "I do not know"."""
        answer = self.answer.strip()
        return bool(answer) and (len(answer) > 300 or _REFUSAL.fullmatch(answer) is None)

    @cached_property
    def world(self) -> WorldEvidence | None:
        """The last evidence of a text environment; `None` for a conversation or a browser."""
        for step in reversed(self.trace.steps):
            evidence = step.evidence
            if isinstance(evidence, WorldEvidence):
                return None if evidence.world == "chat" else evidence
        return None

    @cached_property
    def answer_step(self) -> int:
        steps = self.trace.steps
        return steps[-1].index if steps else 0

    def at_answer(self, text: str) -> Evidence:
        """One line of evidence, at the step of the answer."""
        return (EvidenceLine(self.answer_step, text),)


Evidence: TypeAlias = tuple[EvidenceLine, ...]
Rule: TypeAlias = Callable[[DiagnosisCase], Evidence]

RULES: dict[Cause, Rule] = {}
"""The rules by their causes, in the order in which they are tried."""
SUGGESTIONS: dict[Cause, str] = {}
"""The one change that each cause suggests."""


def _rule(suggestion: str) -> Callable[[Rule], Rule]:
    """A decorator that adds the function to `RULES`, under the function's own name."""

    def add(rule: Rule) -> Rule:
        cause = cast(Cause, rule.__name__)
        RULES[cause], SUGGESTIONS[cause] = rule, suggestion
        return rule

    return add


def cause_of(case: DiagnosisCase) -> tuple[Cause, Evidence]:
    """The cause of the first rule that finds evidence, and that evidence."""
    for cause, rule in RULES.items():
        signs = rule(case)
        if signs:
            return cause, signs
    return "wrong_answer", case.at_answer("the answer differs from the reference")


@_rule("mend the endpoint, its key, quota or time-out, then resume the run with --retry-errors")
def model_error(case: DiagnosisCase) -> Evidence:
    """The episode ended in a `model_error`: the model did not reply, so there is no reward."""
    return _no_fault(case, "model_error")


@_rule("steady the environment, or raise its time limits; resume the run with --retry-errors")
def environment_error(case: DiagnosisCase) -> Evidence:
    """The episode ended in an `env_error`: the environment failed, so there is no reward."""
    return _no_fault(case, "env_error")


def _no_fault(case: DiagnosisCase, stop_reason: StopReason) -> Evidence:
    """The failure message as evidence, if the episode has this ending."""
    failure, default = case.trace.episode.failure, NO_FAULT_OF_THE_AGENT[stop_reason]
    if case.trace.episode.stop_reason != stop_reason:
        return ()
    return case.at_answer((failure.message if failure else default)[:300])


@_rule("score the run: assay score RUN --reward NAME (`assay list rewards`)")
def not_scored(case: DiagnosisCase) -> Evidence:
    """No reward has scored the attempt yet, as in an imported log without scores."""
    return () if case.trace.episode.scores else case.at_answer("not scored yet")


@_rule("mend the reward or the references, then score the run again")
def scorer_error(case: DiagnosisCase) -> Evidence:
    """The primary reward abstained, or the reference answer is hidden."""
    score = primary_score(case.trace.episode)
    if isinstance(score, Abstained):
        return case.at_answer(f"{score.reason}: {score.because[:200]}")
    if score is None:
        return case.at_answer("no reward was recorded")
    if score.parts.get("gold_hidden") == 1.0:
        return case.at_answer("the reference is hidden: every answer scores 0.0")
    return ()


@_rule("mend the agent: these attempts never reached an answer of its own")
def agent_error(case: DiagnosisCase) -> Evidence:
    """The agent failed, or it gave no answer and most of its calls failed by its own mistake."""
    episode = case.trace.episode
    if episode.stop_reason == "agent_error":
        message = episode.failure.message if episode.failure else "the agent failed"
        return case.at_answer(message[:300])
    tools = tuple(sign for sign, navigation in case.trace.failures if not navigation)
    mostly = len(tools) * 2 > len(case.trace.acted)
    return tools if mostly and not case.says_something else ()


@_rule("read what the model wrote: raise max_tokens, or set tool_calls to what it can do")
def unreadable_reply(case: DiagnosisCase) -> Evidence:
    """The model's last reply was unreadable; or half were, and there is no real answer.

    It names no action or calls no tool, calls one that there is not, has arguments that are no
    JSON, is empty, or was cut off by the limit of tokens.
    """
    signs = case.trace.unreadable
    if not signs:
        return ()
    half = not case.says_something and len(signs) * 2 >= case.trace.n_replies
    return signs if case.trace.ends_unreadable or half else ()


@_rule("keep the submitted answer: nothing can be said without it")
def not_recorded(case: DiagnosisCase) -> Evidence:
    """The agent answered, but the record does not contain the answer."""
    episode = case.trace.episode
    if episode.stop_reason != "answered" or episode.final_response is not None:
        return ()
    return case.at_answer("the submitted answer is not in the record")


@_rule("ask for the bare value in the form that the reward reads")
def format_rejection(case: DiagnosisCase) -> Evidence:
    """Another form of the same answer scores at least 0.1 more, or reaches full reward."""
    best = case.recovery
    if best is None or case.reward is None:
        return ()
    gain = best.reward - case.reward
    if gain >= GAIN or (best.reward >= PERFECT > case.reward and gain > 0.01):
        better = f"{best.form} scores {best.reward:.3f} instead of {case.reward:.3f}"
        return case.at_answer(better)
    return ()


@_rule("ask for less in one call, or raise the budget for payloads")
def payload_truncated(case: DiagnosisCase) -> Evidence:
    """The agent saw only a part of the result of a call."""
    return tuple(
        EvidenceLine(cut.step, f"{cut.chars:,} characters of the result were not shown")
        for cut in case.trace.cuts
        if cut.payload
    )


@_rule("raise the observation budget, or narrow the page down first")
def observation_truncated(case: DiagnosisCase) -> Evidence:
    """The agent did not see a part of a page that it may have needed.
    That part held the reference; or no recorded page holds the reference, and one of the last
    two pages before the answer was cut.
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
            where = "the reference is on this page, in the part that was not shown"
            return (EvidenceLine(there, where),)
    last = cuts[-1]
    if last.step < case.answer_step - 2:
        return ()
    how = f"{last.chars:,} characters" if last.chars else "parts"
    text = f"{how} of this page were not shown; whether the answer needs them is not known"
    return (EvidenceLine(last.step, text),)


@_rule("send the agent to another source; what it is after is behind a wall")
def blocked(case: DiagnosisCase) -> Evidence:
    """There is no real answer, and pages were blocked twice, or within the last three steps."""
    signs = case.trace.blocks
    if not signs or case.says_something:
        return ()
    late = signs[-1].step >= case.answer_step - 3
    return signs if late or len(signs) > 1 else ()


@_rule("tell the agent which actions the environment takes, in its prompt or as tools")
def no_effect(case: DiagnosisCase) -> Evidence:
    """In a text environment, at least three actions and 40 % of all had no effect."""
    world = case.world
    if world is None:
        return ()
    idle = tuple(
        EvidenceLine(step.index, f"{step.action[:80]} had no effect")
        for step in case.trace.acted
        if did_nothing(world.world, case.trace.observation(step))
    )
    return idle if _is_often(idle, case) else ()


@_rule("notice a repeated action and try something else")
def looping(case: DiagnosisCase) -> Evidence:
    """At least three steps and 40 % of all repeat an earlier action with the same result."""
    return case.trace.repeats if _is_often(case.trace.repeats, case) else ()


def _is_often(signs: Evidence, case: DiagnosisCase) -> bool:
    return len(signs) >= LOOPS and len(signs) * 5 >= len(case.trace.acted) * 2


@_rule("retry, wait longer, or check the addresses that the agent makes up")
def navigation_failure(case: DiagnosisCase) -> Evidence:
    """There is no real answer, and the last call or half of all calls failed to load a page."""
    signs = tuple(sign for sign, navigation in case.trace.failures if navigation)
    if not signs or case.says_something:
        return ()
    last = signs[-1].step == case.trace.acted[-1].index
    return signs if last or len(signs) * 2 >= len(case.trace.acted) else ()


@_rule("raise the time limits, or make the steps faster")
def time_budget(case: DiagnosisCase) -> Evidence:
    """The episode ended in a `timeout`."""
    if case.trace.episode.stop_reason != "timeout":
        return ()
    limit = case.trace.episode.metadata.get("limit", "a time limit")
    return case.at_answer(f"stopped by {limit}")


@_rule("raise the attempt's budget (--max-attempt-tokens, --max-attempt-cost), or ask less often")
def token_budget(case: DiagnosisCase) -> Evidence:
    """The episode ended in a `budget_limit`."""
    episode = case.trace.episode
    if episode.stop_reason != "budget_limit":
        return ()
    tokens = episode.usage.prompt_tokens + episode.usage.completion_tokens
    limit = episode.metadata.get("limit", "a budget")
    return case.at_answer(f"stopped by {limit}: {tokens:,} tokens used")


@_rule("raise the step budget, or shorten the way to the answer")
def step_budget(case: DiagnosisCase) -> Evidence:
    """The agent used all steps, or came so near the limit that it had to answer."""
    episode = case.trace.episode
    if episode.stop_reason == "step_limit":
        return case.at_answer(f"all {episode.n_steps} steps were used")
    steps, margin = case.steps, case.answer_margin
    if steps is not None and margin and episode.n_steps >= steps - margin:
        return case.at_answer(f"the agent had to answer from step {steps - margin} on")
    return ()


@_rule("check the reference against the live page before blaming the agent")
def stale_gold(case: DiagnosisCase) -> Evidence:
    """The reference may be out of date, and the answer is on a page that the agent saw."""
    task = case.trace.episode.task
    if task.metadata.get("time_dependency") not in ROTTING or not case.says_something:
        return ()
    target = _looks_for(case.answer, least=1)
    step = None if target is None else case.trace.first_shown(target)
    where = "the answer stands on this page; the reference may be out of date"
    return () if step is None else (EvidenceLine(step, where),)


@_rule("read the last steps: what of the goal was left, and what would have led there")
def goal_not_reached(case: DiagnosisCase) -> Evidence:
    """The episode in a text environment ended before its goal was reached."""
    world = case.world
    if world is None or world.won or case.says_something:
        return ()
    return case.at_answer(_what_is_left(world))


@_rule("always give an answer: a guess costs nothing here")
def no_answer(case: DiagnosisCase) -> Evidence:
    """The agent submitted no answer, or said that it does not know."""
    episode = case.trace.episode
    if case.says_something or (episode.stop_reason == "finished" and not case.answer):
        return ()
    return case.at_answer(f"{episode.stop_reason}, {case.answer[:60]!r} submitted")


@_rule("read every page of the list before answering")
def partial_list(case: DiagnosisCase) -> Evidence:
    """The answer has at least one of several items of the reference."""
    references = [row for row in case.aligned if row.gold is not None]
    right = sum(row.matched for row in references)
    if len(references) < 2 or not right:
        return ()
    extra = len(case.aligned) - len(references)
    more = f", {extra} not asked for" if extra else ""
    return case.at_answer(f"{right} of {len(references)} items are right{more}")


@_rule("ask for the bare answer: the reference stands in what was answered, among other words")
def extra_words(case: DiagnosisCase) -> Evidence:
    """The answer has at most 40 words, and contains the reference word by word."""
    items = items_of(case.trace.episode.task.answer)
    words = _words(case.answer[:2_000])
    target = _words(items[0]) if len(items) == 1 else []
    extra = len(words) - len(target)
    if not target or extra < 1 or len(words) > SENTENCE or len(case.answer) > 2_000:
        return ()
    places = range(extra + 1)
    if not any(words[place : place + len(target)] == target for place in places):
        return ()
    more = "1 other word" if extra == 1 else f"{extra} other words"
    return case.at_answer(f"{items[0][:60]!r} stands in the answer, with {more}")


def _words(text: str) -> list[str]:
    """The words of a text in lower case, without surrounding punctuation."""
    stripped = (word.strip(_MARKS) for word in text.casefold().split())
    return [word for word in stripped if word]


@_rule("check the last step: rounding, the exact name, the exact range")
def near_miss(case: DiagnosisCase) -> Evidence:
    """The number is at most 25 % off, half of the tokens agree, or the reward is at least 0.5."""
    items = items_of(case.trace.episode.task.answer)
    target = number_in(items[0]) if len(items) == 1 else None
    number = number_in(case.answer)
    if target and number is not None:
        off = abs(number - target) / abs(target)
        if off <= NEAR:
            return case.at_answer(f"{number:g} is {off:.1%} off {target:g}")
    best = max((row.overlap for row in case.aligned if row.gold is not None), default=0.0)
    if best >= HALF:
        return case.at_answer(f"{best:.0%} of the tokens agree")
    near = case.reward is not None and case.reward >= HALF
    return case.at_answer(f"reward {case.reward:.3f}") if near else ()


IN_A_LOG: dict[Cause, str] = {
    "model_error": "these are in no mean; run them again with the tool that wrote the log",
    "environment_error": "these are in no mean; run them again with the tool that wrote the log",
}
"""What is suggested instead for an imported log: nothing of it can be resumed."""
SUGGESTIONS["wrong_answer"] = "read the trace: nothing recorded explains it"
WORLD_SUGGESTIONS: dict[tuple[Cause, str], str] = {
    (cast(Cause, cause), world): text
    for cause, texts in package_table(__package__, "suggestions").items()
    for world, text in texts.items()
}
"""What a cause suggests in one text environment."""


def suggestion_for(cause: Cause, world: WorldEvidence | None, *, imported: bool) -> str:
    """The suggested change for a cause; in a text environment it may be a special one."""
    if imported and cause in IN_A_LOG:
        return IN_A_LOG[cause]
    own = WORLD_SUGGESTIONS.get((cause, world.world)) if world is not None else None
    return own or SUGGESTIONS[cause]


def _what_is_left(world: WorldEvidence) -> str:
    """The final state of a text environment, in words."""
    progress = world.progress
    if world.world == "webshop":
        return _bought(progress) if world.done else "nothing was bought"
    met, total = progress.get("goal_conditions_met"), progress.get("goal_conditions_total")
    if met is not None and total:
        return f"{met} of {total} conditions of the goal hold"
    if world.score is None:
        return "the goal was not reached"
    known = TEXT_WORLDS.get(world.world)
    most = f" of {known.full_score:g}" if known else ""
    return f"the environment's score is {world.score:g}{most}"


def _bought(progress: Mapping[str, Any]) -> str:
    """How the bought product differs from the requested product."""
    parts = []
    for name, goal in (("attributes", "attributes"), ("options", "goal_options")):
        goals, fitting = progress.get(goal), progress.get(f"{name}_matched")
        if isinstance(goals, Sized) and isinstance(fitting, (int, Sized)):
            n = fitting if isinstance(fitting, int) else len(fitting)
            parts.append(f"{n} of {len(goals)} {name} fit")
    if progress.get("price_ok") is False:
        parts.append("the price is too high")
    return f"the product differs from the goal: {', '.join(parts) or 'see the last step'}"


def _looks_for(value: Any, *, least: int = 3) -> Callable[[str], bool] | None:
    """A function that finds an item in a text; `None` if all items are too short."""
    items = [item.casefold() for item in items_of(value) if len(item) > least]
    numbers = [item for item in items if number_in(item) is not None]
    words = [item for item in items if item not in numbers and not item.startswith("{")]
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
