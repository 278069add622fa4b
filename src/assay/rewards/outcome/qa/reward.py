"""The question-answering rewards: token F1, alone or only after a tool was used.

The answer is the whole response, or what stands in its `<answer>` tags, written exactly so. Every
search for a tag goes once over the text, so a response of nothing but tags takes linear time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, get_args

from assay.errors import BadParameter, check_choice
from assay.registry import reward
from assay.rewards.outcome.qa import published
from assay.rewards.outcome.qa.published import Match, Spans
from assay.rewards.outcome.tool_use import BadTrajectory, to_policy, tool_use
from assay.schema.score import Abstained, CannotScore, Scored
from assay.schema.values import (
    LeafValue,
    Unreadable,
    is_list,
    plain,
    read_references,
    read_response,
)
from assay.text.tags import first_tagged_answer, last_tagged_answer

ModeName: TypeAlias = Literal["squad1", "squad2", "hotpot", "musique", "drop", "inspect"]
Extraction: TypeAlias = Literal["none", "answer_tag", "first_answer_tag"]

PARTS = ("f1", "em", "precision", "recall")

USED_TOOL = 0.1
"""What a wrong answer earns when a tool was used."""

EXACT_FLOAT = 2**53
"""Beyond it a float no longer tells neighbouring whole numbers apart."""


@dataclass(frozen=True, slots=True)
class QaMode:
    """The functions of one published script: read an answer and a reference, and compare them."""

    read: Callable[[Any], Any]
    reference: Callable[[Any], Any]
    compare: Callable[[Any, Any], Match]
    count: Callable[[Any], Any] = lambda tokens: tokens
    """What a read answer becomes for `compare_counted`, once for all references."""
    compare_counted: Callable[[Any, Any], Match] | None = None
    """What `compare` gives, in time that does not depend on the answer."""
    drops_blank: bool = False
    """Whether blank references are left out as long as another one remains."""
    takes_spans: bool = False
    """Whether one answer may consist of several spans."""

    def best(self, answer: str | Spans, references: Sequence[str | Spans]) -> Match:
        """The greatest F1 and the greatest exact match over all references."""
        tokens = self.read(answer)
        if len(references) == 1:
            return self.compare(tokens, self.reference(references[0]))
        prepared = [self.reference(reference) for reference in references]
        if self.drops_blank:
            prepared = [one for one in prepared if not one.blank] or prepared
        counted, compare = self.count(tokens), self.compare_counted or self.compare
        matches = [compare(counted, one) for one in prepared]
        f1, _, precision, recall, because = max(matches, key=itemgetter(0))
        return f1, max(em for _, em, *_ in matches), precision, recall, because


_SQUAD = partial(
    QaMode,
    published.words,
    compare=published.compare,
    count=published.CountedWords,
    compare_counted=published.compare_counted,
)

MODES: dict[str, QaMode] = {
    "squad1": _SQUAD(reference=published.squad1_reference),
    "squad2": _SQUAD(reference=published.squad2_reference, drops_blank=True),
    "hotpot": _SQUAD(
        reference=published.squad1_reference,
        compare=published.compare_closed,
        compare_counted=published.compare_counted_closed,
    ),
    "musique": _SQUAD(reference=published.squad2_reference),
    "drop": QaMode(
        published.read_spans,
        published.drop_reference,
        published.compare_drop,
        drops_blank=True,
        takes_spans=True,
    ),
    "inspect": QaMode(
        published.InspectAiAnswer, published.inspect_reference, published.compare_inspect
    ),
}

BAGS_OF_WORDS = (
    "token F1 as published compares bags of words: it dilutes alternatives and does not know a "
    "denial; use `em` or `correct_at` where a spray must earn nothing"
)
ACCEPTED = ("or_list", "negation", "retraction", "foreign_denial")
"""Checks of the audit whose findings token F1 brings with it."""


@reward(
    name="qa_f1_reward",
    version=1,
    parts=PARTS,
    kind="qa",
    accepts=dict.fromkeys(ACCEPTED, BAGS_OF_WORDS),
)
def qa_f1_reward(
    final_response: object,
    answer: object,
    trajectory: object = None,  # noqa: ARG001 - part of the signature that trainers call
    *,
    mode: ModeName = "squad2",
    extract: Extraction = "none",
) -> Scored | Abstained:
    """The token F1 between the response and the nearest reference answer.

    `answer` is a string, a number, or a list of aliases. `mode` names the published script whose
    numbers are reproduced: `squad1`, `squad2`, `hotpot` (also AgentFly's), `musique`, `drop`,
    `inspect`. `extract` takes the answer out of `<answer>` tags: the last pair (`answer_tag`) or
    the first (`first_answer_tag`); a response without one then earns 0.

    An empty reference says "unanswerable" in squad2, musique and drop: an empty answer earns 1.
    In squad1 and hotpot it earns 0 (with em 1), in inspect 0. No response counts as an empty
    answer. No reference (`None`, NaN, an empty list) abstains.
    """
    rule = MODES.get(mode)
    if rule and type(final_response) is str and type(answer) is str and extract == "none":
        # Nearly every call, so it takes the shortest way; `best_match` gives the same.
        match = rule.compare(rule.read(final_response), rule.reference(answer))
        f1, em, precision, recall, because = match
    else:
        try:
            match = best_match(final_response, answer, mode, extract)
        except CannotScore as error:
            return error.abstain(PARTS)
        f1, em, precision, recall, because = match
    return Scored(f1, because, {"f1": f1, "em": em, "precision": precision, "recall": recall})


@reward(name="qa_f1_reward_tool", version=1, parts=PARTS, kind="agent")
def qa_f1_reward_tool(
    final_response: object,
    answer: object,
    trajectory: object,
    *,
    mode: ModeName = "squad2",
    extract: Extraction = "none",
    correct_at: float | None = None,
    tool_policy: str | Mapping[str, Any] = "default",
    agentfly: bool = False,
) -> Scored | Abstained:
    """0.0 if no tool was used; with a tool, 0.1 for a wrong answer and 1.0 for a correct one.

    Correct is an exact match, or an F1 of at least `correct_at`. `tool_policy` says what using a
    tool means (see `assay.rewards.outcome.tool_use`). The parts are those of `qa_f1_reward` and
    do not depend on the gate.

    `agentfly=True` pays what AgentFly's code pays instead: the HotpotQA F1 of the whole response
    when at least two messages have the role "tool", else 0. It overrides the other options; the
    parts stay as they are, where AgentFly would zero them.
    """
    if correct_at is not None and not 0 < correct_at <= 1:
        raise BadParameter(f"correct_at is {correct_at!r}; it must be None or in (0, 1]")
    policy = to_policy("agentfly" if agentfly else tool_policy, agentfly_minimum=2)
    use = tool_use(trajectory, policy)
    if isinstance(use, BadTrajectory):
        return Abstained("bad_trajectory", use.because, PARTS)
    if agentfly:
        mode, extract = "hotpot", "none"
    try:
        match = best_match(final_response, answer, mode, extract)
    except CannotScore as error:
        return error.abstain(PARTS)
    f1, em, precision, recall, because = match
    if not use.enough:
        value = 0.0
    elif agentfly:
        value = f1
    else:
        correct = em == 1.0 if correct_at is None else f1 >= correct_at
        value = 1.0 if correct else USED_TOOL
    parts = {"f1": f1, "em": em, "precision": precision, "recall": recall}
    return Scored(value, f"{use.because}; f1 {f1:.2f}: {because}", parts)


def best_match(
    final_response: object, answer: object, mode: ModeName, extract: Extraction
) -> Match:
    """The best match of the response with its references. Raises `CannotScore`."""
    check_choice("mode", mode, MODES)
    rule = MODES[mode]
    # A list inside the list of references is one reference of several spans, where a mode has them.
    known = read_references(answer, spans=rule.takes_spans)
    if isinstance(known, Unreadable):
        raise CannotScore("bad_reference", f"'answer' {known.because}")
    references = list(map(_as_text, known))
    if not references:
        raise CannotScore("missing_reference", "the row has no reference answer")
    spans = [len(reference) for reference in references if not isinstance(reference, str)]
    if max(spans, default=0) > published.MAX_SPANS:
        because = f"a reference has over {published.MAX_SPANS} spans"
        raise CannotScore("unparseable_reference", because)
    response = _response_text(final_response, rule)
    if extract == "none":
        return rule.best(response, references)
    check_choice("extract", extract, get_args(Extraction))
    place = EXTRACTORS[extract](response) if isinstance(response, str) else None
    if place is None:
        # Nothing in the agreed place is not the same as the answer "unanswerable".
        return (0.0, 0.0, 0.0, 0.0, "no complete <answer> tag in the response")
    return rule.best(place, references)


def _response_text(final_response: object, rule: QaMode) -> str | Spans:
    value = plain(final_response)
    if rule.takes_spans and is_list(value):
        several = read_references([value], spans=True) if value else [""]
        response = several if isinstance(several, Unreadable) else _as_text(several[0])
    else:
        text = read_response(final_response)
        response = text if isinstance(text, Unreadable) else text or ""
    if isinstance(response, Unreadable):
        raise CannotScore("bad_response", f"'final_response' {response.because}")
    return response


def _as_text(value: LeafValue | tuple[LeafValue, ...]) -> str | Spans:
    """Convert a string, a number or several of these to text.

    A whole float is written without its `.0`: a column of integers with a gap in it arrives as
    floats, and `1000.0` would lose its point and read as 10000.
    """
    if isinstance(value, tuple):
        return tuple(str(_as_text(each)) for each in value)
    if isinstance(value, float) and value.is_integer() and abs(value) < EXACT_FLOAT:
        return str(int(value))
    return str(value)


EXTRACTORS: Mapping[str, Callable[[str], str | None]] = MappingProxyType(
    {"answer_tag": last_tagged_answer, "first_answer_tag": first_tagged_answer}
)
