"""The question-answering rewards: token F1, alone or behind a gate on tool use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.errors import BadParameter
from assay.registry import reward
from assay.rewards.outcome.qa.extract import EXTRACTORS, Extraction
from assay.rewards.outcome.qa.match import Match, Spans
from assay.rewards.outcome.qa.modes import MODES, Mode, ModeName
from assay.rewards.outcome.qa.values import as_text, plain, references, spans
from assay.rewards.outcome.tool_use import BadTrajectory, to_policy, tool_use
from assay.schema.score import Abstained, Scored

PARTS = ("f1", "em", "precision", "recall")

USED_TOOL = 0.1
"""What a wrong answer earns when a tool was used."""


@reward(name="qa_f1_reward", version=1, parts=PARTS)
def qa_f1_reward(
    final_response: object,
    answer: object,
    trajectory: object = None,  # noqa: ARG001 - part of the signature that trainers call
    *,
    mode: ModeName = "squad2",
    extract: Extraction = "none",
) -> Scored | Abstained:
    """Token F1 between the response and the nearest reference answer.

    `answer` is a string, a number, or a list of aliases. `mode` names the published script whose
    numbers are reproduced: `squad1`, `squad2`, `hotpot` (also AgentFly's), `musique`, `drop`,
    `inspect`. `extract` takes the answer out of `<answer>` tags: the last pair (`answer_tag`) or
    the first (`first_answer_tag`); a response without one then earns 0.

    An empty reference says "unanswerable" in squad2, musique and drop: an empty answer earns 1.
    In squad1 and hotpot it earns 0 (with em 1), in inspect 0. No response counts as an empty
    answer. No reference (`None`, NaN, an empty list) cannot be judged.
    """
    rule = MODES.get(mode)
    if rule and type(final_response) is str and type(answer) is str and extract == "none":
        # Nearly every call, so it takes the shortest way; `grade` comes to the same.
        match = rule.compare(rule.read(final_response), rule.gold(answer))
        f1, em, precision, recall, because = match
    else:
        graded = grade(final_response, answer, mode, extract)
        if not isinstance(graded, tuple):
            return graded
        f1, em, precision, recall, because = graded
    return Scored(f1, because, {"f1": f1, "em": em, "precision": precision, "recall": recall})


@reward(name="qa_f1_reward_tool", version=1, parts=PARTS)
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
    """0.0 without a tool, 0.1 for a wrong answer with one, 1.0 for a correct answer with one.

    Correct is an exact match, or an F1 of at least `correct_at`. `tool_policy` says what using a
    tool means (see `assay.rewards.outcome.tool_use`). The parts are those of `qa_f1_reward` and
    do not depend on the gate.

    `agentfly=True` pays what AgentFly's code pays instead: the HotpotQA F1 of the whole response
    when at least two messages have the role "tool", else 0. It overrides the other options; the
    parts stay as they are, where AgentFly would zero them.
    """
    if correct_at is not None and not 0 < correct_at <= 1:
        raise BadParameter(f"correct_at is {correct_at!r}; it is None or a number in (0, 1]")
    policy = to_policy("agentfly" if agentfly else tool_policy, agentfly_minimum=2)
    use = tool_use(trajectory, policy)
    if isinstance(use, BadTrajectory):
        return Abstained("bad_trajectory", use.because, PARTS)
    if agentfly:
        mode, extract = "hotpot", "none"
    match = grade(final_response, answer, mode, extract)
    if not isinstance(match, tuple):
        return match
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


def grade(
    final_response: object, answer: object, mode: ModeName, extract: Extraction
) -> Match | Abstained:
    """The best match of a response with its references, or why there is none."""
    rule = MODES.get(mode)
    if rule is None:
        raise BadParameter(f"mode is {mode!r}; choose one of {', '.join(map(repr, MODES))}")
    golds = references(answer, takes_spans=rule.takes_spans)
    if not golds:
        return _unusable(answer, golds)
    said = _said(final_response, rule)
    if isinstance(said, Abstained):
        return said
    if extract == "none":
        return rule.best(said, golds)
    return _grade_extracted(said, golds, rule, extract)


def _said(final_response: object, rule: Mode) -> str | Spans | Abstained:
    if final_response is None:
        return ""
    value = plain(final_response)
    if rule.takes_spans and isinstance(value, (list, tuple)):
        said: str | Spans | None = spans(value) if value else ""
    else:
        said = as_text(value)
    if said is None:
        kind = type(final_response).__name__
        because = f"final_response is a {kind}, not text; pass the answer itself"
        return Abstained("bad_response", because, PARTS)
    return said


def _grade_extracted(
    said: str | Spans, golds: list[str | Spans], rule: Mode, extract: Extraction
) -> Match:
    extractor = EXTRACTORS.get(extract)
    if extractor is None:
        choices = ", ".join(map(repr, ("none", *EXTRACTORS)))
        raise BadParameter(f"extract is {extract!r}; choose one of {choices}")
    inner = extractor(said) if isinstance(said, str) else None
    if inner is None:
        # Saying nothing in the agreed place is not the same as answering "unanswerable".
        return (0.0, 0.0, 0.0, 0.0, "no complete <answer> tag in the response")
    return rule.best(inner, golds)


def _unusable(answer: object, golds: list[str | Spans] | None) -> Abstained:
    if golds is None:
        because = (
            f"the reference answer is a {type(answer).__name__} that is neither text, a number, "
            "nor a list of them"
        )
        return Abstained("unparseable_reference", because, PARTS)
    return Abstained("missing_reference", "the row has no reference answer", PARTS)
