"""The two maths rewards: for a right answer, and for a right answer with use of a tool.

The answer is found by an explicit extraction policy, then compared without executing anything and
within fixed bounds of time and memory, so both rewards may be called in any thread, on an event
loop or in a worker process. `acc` is 1 for an equal answer and 0 otherwise; a gate changes only the
reward.

References: a text (a whole solution counts as the answer that it boxes), a number, or a list of
acceptable answers, of which the best counts. A missing or unreadable reference is no fault of the
agent: the rewards abstain, as they do from a response that is not text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final, get_args, get_type_hints

from assay.errors import BadParameter
from assay.registry import reward
from assay.rewards.outcome.maths.compare.comparison import (
    AnswerConventions,
    CommaConvention,
    OrderConvention,
    PercentConvention,
    UnitsConvention,
)
from assay.rewards.outcome.maths.compare.equality import Equality, ParsedRowAnswers, compare
from assay.rewards.outcome.maths.compare.tolerance import ToleranceKind
from assay.rewards.outcome.maths.read.lexicon import EATEN
from assay.rewards.outcome.tool_use import BadTrajectory, ToolPolicy, tool_use
from assay.rewards.outcome.tool_use import to_policy as to_tool_policy
from assay.schema.score import Abstained, Score, Scored
from assay.schema.values import Unreadable, read_references, read_response
from assay.text.answers import find_answer, reference_span, to_policy
from assay.text.hedges import names_several, offers_alternatives
from assay.text.slices import Cut, VisibleText, matches

PARTS = ("acc",)
CHANGES = {
    2: "answers have types, words after a number come from closed tables, thoughts and denied, "
    "hedged or repeated answers are not paid, and more notations are read"
}
TOOL_BUT_WRONG = 0.1
NOTE_CHARS = 1000
_CONTROLS: Final = dict(zip("abfnrtv", "\a\b\f\n\r\t\v", strict=True))
"""The control characters that a file turns these letters into, after a backslash."""
_EATEN_COMMAND: Final = re.compile(
    r"\\?(?:" + "|".join(_CONTROLS[name[0]] + name[1:] for name in EATEN) + ")(?![a-z])"
)
_LONGEST_COMMAND: Final = 16
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_LETTERS: Final = {control: letter for letter, control in _CONTROLS.items()}
_WORD: Final = re.compile(r"[^\W\d_]{2,}")
_FORMULA: Final = re.compile(r"[\\$=^_<>]")
PROSE_WORDS: Final = 6
_BETWEEN_PARTS = re.compile(r"[,;]\s+|;|\s+and\s+")


LAST_NUMBER = (
    "a response without a box, tag or phrase is read by its last number, as documented, and the "
    "reward is not given the question; extraction='anchored' refuses it"
)


@reward(
    name="math_equal_reward",
    version=2,
    parts=PARTS,
    changes=CHANGES,
    kind="maths",
    accepts={"prompt_echo": LAST_NUMBER},
)
def math_equal_reward(
    final_response: str | None,
    answer: object,
    *,
    extraction: str | Sequence[str] = "default",
    tolerance: ToleranceKind = "digits",
    percent: PercentConvention = "either",
    units: UnitsConvention = "optional",
    list_order: OrderConvention = "free",
    decimal_comma: CommaConvention = "answer",
    **kwargs: Any,  # noqa: ARG001 - rows carry columns of other rewards
) -> Score:
    """Return 1.0 if the final answer equals the reference answer, else 0.0.

    `extraction` is a policy ("default", "anchored", "boxed") or the rules to try, in order. The
    conventions are those of `AnswerConventions`. Further columns of the row are
    accepted and not looked at.
    """
    policy = to_policy(extraction)
    conventions = _conventions(tolerance, percent, units, list_order, decimal_comma)
    references = _references(answer)
    if isinstance(references, Unreadable):
        return Abstained("bad_reference", f"'answer' {references.because}", PARTS)
    if not references:
        return Abstained("missing_reference", f"the reference is {answer!r:.80}", PARTS)
    response = read_response(final_response)
    if isinstance(response, Unreadable):
        return Abstained("bad_response", f"'final_response' {response.because}", PARTS)
    if response is None:
        return _wrong("there is no response", {"extracted": "", "rule": "none"})
    extracted = find_answer(response, policy)
    if extracted.text is None:
        return _wrong(extracted.because, {"extracted": "", "rule": extracted.rule})
    # A copy of a reference as its file spoilt it is repaired as the reference is.
    span = repair_escapes(extracted.text) or extracted.text
    best = _compare_all(span, references, conventions)
    if not best.equal and extracted.parts:
        best = _compare_parts(extracted.parts, references, conventions) or best
    notes = {"extracted": extracted.text[:NOTE_CHARS], "rule": f"{extracted.rule}/{best.rule}"}
    if best.equal is None:
        return Abstained("unparseable_reference", best.because, PARTS, notes)
    value = float(best.equal)
    return Scored(value, f"{extracted.because}; {best.because}", {"acc": value}, notes)


@reward(name="math_equal_reward_tool", version=2, parts=PARTS, changes=CHANGES, kind="agent")
def math_equal_reward_tool(
    final_response: str | None,
    answer: object,
    trajectory: object,
    *,
    tool_policy: str | Mapping[str, Any] | ToolPolicy = "default",
    extraction: str | Sequence[str] = "default",
    tolerance: ToleranceKind = "digits",
    percent: PercentConvention = "either",
    units: UnitsConvention = "optional",
    list_order: OrderConvention = "free",
    decimal_comma: CommaConvention = "answer",
) -> Score:
    """Return 0.0 without a tool call, else 1.0 for a right answer and 0.1 for a wrong answer.

    `acc` says whether the answer is right, with or without a tool.
    """
    use = tool_use(trajectory, to_tool_policy(tool_policy))
    score = math_equal_reward(
        final_response,
        answer,
        extraction=extraction,
        tolerance=tolerance,
        percent=percent,
        units=units,
        list_order=list_order,
        decimal_comma=decimal_comma,
    )
    if isinstance(score, Abstained):
        return score
    if isinstance(use, BadTrajectory):
        return Abstained("bad_trajectory", use.because, PARTS, score.notes)
    value = max(score.value, TOOL_BUT_WRONG) if use.enough else 0.0
    return Scored(value, f"{use.because}; {score.because}", score.parts, score.notes)


def _compare_all(span: str, references: Sequence[str], conventions: AnswerConventions) -> Equality:
    """Compare an answer with all reference answers, and return the best result.

    A reference that cannot be read might have been the one that is equal, so it is not outvoted.
    """
    unread: Equality | None = None
    row = ParsedRowAnswers()
    for reference in dict.fromkeys(references):
        comparison = _compare_one(span, reference, conventions, row)
        if comparison.equal:
            return comparison
        unread = comparison if comparison.equal is None else unread
    return unread or comparison


def _compare_parts(
    parts: Sequence[str], references: Sequence[str], conventions: AnswerConventions
) -> Equality | None:
    """Compare the parts of an answer, in order, with references that list several values."""
    answer, row = ", ".join(parts), ParsedRowAnswers()
    if any("," in part or ";" in part for part in parts):
        return None
    ordered = replace(conventions, list_order="kept")
    for expected in map(reference_span, references):
        if names_several(expected) and len(_BETWEEN_PARTS.split(expected)) == len(parts):
            equality = compare(answer, expected, conventions=ordered, row=row)
            if equality.equal:
                return equality
    return None


def _compare_one(
    span: str, reference: str, conventions: AnswerConventions, row: ParsedRowAnswers
) -> Equality:
    expected = reference_span(reference)
    equality = compare(span, expected, conventions=conventions, row=row)
    # One family of values may be written as several.
    is_family = equality.rule == "family"
    if not is_family and offers_alternatives(span) and not names_several(expected):
        because = "alternatives are no answer to one value"
        return Equality(equal=False, rule="alternatives", because=because)
    if equality.equal is False and equality.rule == "text" and is_prose(expected):
        because = f"the reference {expected[:80]!r} is prose, which only its own words equal"
        return Equality(equal=None, rule="prose_gold", because=because)
    return equality


def _wrong(because: str, notes: Mapping[str, str]) -> Scored:
    return Scored(0.0, because, {"acc": 0.0}, notes)


def _references(answer: object) -> list[str] | Unreadable:
    """The reference answers as texts; the list is empty without a reference."""
    references = read_references(answer)
    if isinstance(references, Unreadable):
        return references
    texts: list[str] = []
    for reference in references:
        # 1E+999999999 is short only in this notation.
        is_short = isinstance(reference, Decimal) and abs(reference.adjusted()) < 1000
        text = repair_escapes(f"{reference:f}" if is_short else str(reference))
        if text is None:
            return Unreadable(
                "holds a control character, as an escape that JSON read leaves behind"
            )
        texts.append(text)
    return [text for text in texts if text.strip()]


@lru_cache(maxsize=64)
def _conventions(
    tolerance: ToleranceKind,
    percent: PercentConvention,
    units: UnitsConvention,
    list_order: OrderConvention,
    decimal_comma: CommaConvention,
) -> AnswerConventions:
    conventions = AnswerConventions(tolerance, percent, units, list_order, decimal_comma)
    for name, kind in get_type_hints(AnswerConventions).items():
        value, choices = getattr(conventions, name), get_args(kind)
        if value not in choices:
            raise BadParameter(
                f"{name} is {value!r}; choose one of {', '.join(map(repr, choices))}"
            )
    return conventions


def repair_escapes(reference: str) -> str | None:
    r"""Restore TeX commands that JSON read as control characters, or return None.

    A file that writes `\frac` where JSON wants two backslashes is read as a form feed and `rac`. A
    tab, a line's end or a carriage return is layout unless the rest of a command follows it.
    """
    eaten = matches(_EATEN_COMMAND, reference, longest=_LONGEST_COMMAND)
    repaired = VisibleText(reference)
    repaired.leave_out(Cut(*match.span(), _command(match[0])) for match in eaten)
    return None if _CONTROL.search(repaired.text) else repaired.text


def _command(eaten: str) -> str:
    rest = eaten.removeprefix("\\")
    return f"\\{_LETTERS[rest[0]]}{rest[1:]}"


def is_prose(reference: str) -> bool:
    """Whether the reference is a sentence and not a formula."""
    return not _FORMULA.search(reference) and len(_WORD.findall(reference)) >= PROSE_WORDS
