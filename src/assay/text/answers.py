"""Find the final answer in a response, by an ordered list of rules.

A policy is a value: the rules in the order in which they are tried, and the limits that they keep.
The first rule that finds a candidate decides; a candidate that the text denies, doubts, quotes,
takes back or hides is refused, and no later rule is tried instead.

The response is model output, so every rule is linear in its length and reads from the end, and
nothing is executed.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, TypeVar, get_args

from assay.errors import BadParameter
from assay.text import clauses, hedges
from assay.text.blocks import sole_block
from assay.text.boxes import has_box, labelled_parts, last_answer
from assay.text.candidates import AnswerCandidate
from assay.text.channels import visible_turn
from assay.text.markup import leave_out_unseen
from assay.text.phrasebook import all_books, books_for, fold, last_announcement
from assay.text.slices import matches
from assay.text.typography import tidy_text

Value = TypeVar("Value")
Rule: TypeAlias = Literal[
    "boxed", "answer_tag", "hash", "phrase", "whole_text", "last_statement", "last_number"
]


@dataclass(frozen=True, slots=True)
class ExtractionPolicy:
    """An extraction policy: the rules in the order in which they are tried, and their limits."""

    rules: tuple[Rule, ...] = get_args(Rule)
    max_boxes_in_a_row: int = 3
    """Different boxes with hardly a word between them: up to this many are a self-correction, of
    which the last counts; more are a spray of guesses, and none counts."""
    max_whole_text: int = 1000
    """A longer response is not a bare answer, however little prose it holds."""


@dataclass(frozen=True, slots=True)
class FoundAnswer:
    """The final answer of a response, or the reason why there is none."""

    text: str | None
    rule: Rule | Literal["none"]
    """The rule that found the answer; without one, the rule whose candidate was refused."""
    because: str
    start: int = 0
    """Where in the response the answer starts, or what holds it if it is written in pieces."""
    end: int = 0
    parts: tuple[str, ...] = ()
    """The answers to the parts of the question, where each has a box with its label."""


DEFAULT = ExtractionPolicy()

POLICIES: Mapping[str, ExtractionPolicy] = {
    "default": DEFAULT,
    "anchored": ExtractionPolicy(rules=("boxed", "answer_tag", "hash", "phrase")),
    "boxed": ExtractionPolicy(rules=("boxed",)),
}
"""`default` also reads bare answers and the last statement; `anchored` wants the answer marked as
one; `boxed` wants it in a box."""

_ANSWER_TAG = re.compile(r"<(answer|final_answer|final-answer|ans)>", re.IGNORECASE)
_LONGEST_TAG = 14
_HASH_LINE = re.compile(r"####[ \t]*([^\n#]{1,200})")
_LONG_REFERENCE = 400
_LONGEST_VALUE = 160
"""Characters of a text that may be a number or a date; a longer text can only have one in it."""
_LONGEST_JSON = 20_000
_ANSWER_KEYS = frozenset("answer final_answer finalanswer final result solution value".split())
_OTHER_KEYS = frozenset(
    "alternatives alternative candidates candidate options guesses guess others other "
    "second_answer answer_2 answer2 backup fallback possible_answers".split()
)
_NO_ANSWER = "the response gives no answer"


def find_answer(
    response: str, policy: str | Sequence[str] | ExtractionPolicy = DEFAULT
) -> FoundAnswer:
    """Find the final answer of a response, its position, and the rule that found it.

    `policy` is "default", "anchored" or "boxed", or the rules to try; the first with a candidate
    decides. Raises `BadParameter` for an unknown one.
    """
    if not isinstance(policy, ExtractionPolicy):
        policy = to_policy(policy)
    visible = visible_turn(response)
    leave_out_unseen(visible)
    text = visible.text
    if not text or text.isspace():
        hidden = bool(response) and not response.isspace()
        because = "everything is thought, or hidden from its reader" if hidden else _NO_ANSWER
        return FoundAnswer(None, "none", because)
    for rule in policy.rules:
        answer = _RULES[rule](text, policy)
        if answer is None:
            continue
        if answer.text is None:
            return answer
        at = text.rfind(answer.text, answer.start, answer.end)
        place = (answer.start, answer.end) if at < 0 else (at, at + len(answer.text))
        return FoundAnswer(
            answer.text, answer.rule, answer.because, *visible.origin(*place), parts=answer.parts
        )
    return FoundAnswer(None, "none", "no rule of the policy found an answer")


def find_value(
    response: str, kind: str, value_in: Callable[[str], Value | None]
) -> tuple[Value | None, int, int, str]:
    """Read a value from the whole response or its final answer; with its position and a reason."""
    whole = response.strip()
    value = value_in(tidy_text(whole)) if len(whole) <= _LONGEST_VALUE else None
    if value is not None:
        start = response.find(whole)
        return value, start, start + len(whole), f"the whole response is {kind}"
    answer = find_answer(response)
    if answer.text is None:
        return None, 0, 0, answer.because
    text = answer.text[:_LONGEST_VALUE]
    # A number or date may be written as a formula.
    bare = text.removeprefix("$").removesuffix("$") if text.count("$") == 2 else text
    bare = bare.replace("\\%", "%").replace("\\$", "$").replace("{,}", ",")
    value = value_in(tidy_text(bare))
    because = f"{answer.because}, which is {'not ' if value is None else ''}{kind}"
    return value, answer.start, answer.end, because


def to_policy(extraction: str | Sequence[str]) -> ExtractionPolicy:
    """Make the policy from a name or a list of rules. Raises `BadParameter` for unknown ones."""
    if isinstance(extraction, str):
        if extraction in POLICIES:
            return POLICIES[extraction]
        raise BadParameter(
            f"no extraction policy named {extraction!r}; choose one of "
            f"{', '.join(map(repr, POLICIES))}, or pass a list of rules"
        )
    rules = tuple(rule for name in extraction for rule in _RULES if rule == name)
    if not rules or len(rules) != len(extraction):
        names = ", ".join(map(repr, _RULES))
        raise BadParameter(f"extraction is {extraction!r}; the rules are {names}")
    return ExtractionPolicy(rules=rules)


def reference_span(reference: str) -> str:
    """The answer in a reference: the content of its boxes, or else the whole reference.

    References are trusted: a whole solution is read as the answer that it boxes or announces,
    without looking for hedges, and boxes side by side are a list.
    """
    if "box" in reference:
        boxed = last_answer(reference, as_list=True)
        if boxed is not None:
            return boxed.span
        _, command, rest = reference.rpartition("\\boxed{")
        if command:
            return rest.strip()
    if len(reference) > _LONG_REFERENCE:
        announcement = last_announcement(reference)
        if announcement is not None:
            clause = clauses.first_clause(reference[announcement.end : announcement.end + 2000])
            return clauses.statement(clause) or clauses.without_wrapping(clause)
    return reference.strip()


def _boxed(text: str, policy: ExtractionPolicy) -> FoundAnswer | None:
    answer = last_answer(text)
    if answer is None:
        fault = FoundAnswer(None, "boxed", "the box is empty or never closes")
        return fault if has_box(text) else None
    if answer.in_a_row > policy.max_boxes_in_a_row:
        return FoundAnswer(
            None, "boxed", f"{answer.in_a_row} different boxes in a row are a spray of guesses"
        )
    after = text[answer.end :]
    later = _phrase(after, policy) if "phrase" in policy.rules and after else None
    if later is not None and _contradicts(later.text, answer.span):
        shift = answer.end
        return replace(later, start=later.start + shift, end=later.end + shift)
    answered = _accept_or_refuse(
        "boxed", AnswerCandidate(text, answer.start, answer.end, answer.span)
    )
    boxes = labelled_parts(text) if answered.text is not None and text.count("boxed") > 1 else []
    candidates = [AnswerCandidate(text, box.start, box.end, box.content) for box in boxes]
    # The text may refuse the answer to one of the parts.
    if any(map(hedges.objection, candidates)):
        return answered
    return replace(answered, parts=tuple(box.content for box in boxes))


def _contradicts(later: str | None, boxed: str) -> bool:
    """Whether a later "the answer is …" gives a different number than the box."""
    if later is None or not (clauses.is_plain_number(later) and clauses.is_plain_number(boxed)):
        return False
    one, other = (number.strip(" $%+").replace(",", "") for number in (later, boxed))
    return one != other


def _answer_tag(text: str, policy: ExtractionPolicy) -> FoundAnswer | None:
    all_tags = matches(_ANSWER_TAG, text, longest=_LONGEST_TAG) if "<" in text else ()
    tags = deque(all_tags, maxlen=2)
    if not tags:
        return None
    tag = tags[-1]
    between = fold(text[tags[0].end() : tag.start()][-60:]).strip()
    if between and any(book.at_end(between, "alternatives") for book in all_books()):
        return FoundAnswer(None, "answer_tag", "several answer tags are joined by a word for or")
    start = tag.end()
    end = text.find(f"</{tag[1]}>", start)
    # A stop string at "</answer>" leaves the tag open.
    inside = text[start : end if end >= 0 else len(text)]
    if not inside.strip():
        return FoundAnswer(None, "answer_tag", "the answer tag is empty")
    span = clauses.without_wrapping(inside)
    if not clauses.is_bare(span):
        nested = _phrase(inside, policy)
        if nested is not None and nested.text is None:
            return FoundAnswer(None, "answer_tag", nested.because)
        stated = nested.text if nested else clauses.statement(clauses.last_clause(inside))
        span = stated or span
    close = end + len(tag[1]) + 3 if end >= 0 else len(text)
    return _accept_or_refuse("answer_tag", AnswerCandidate(text, tag.start(), close, span))


def _hash(text: str, _policy: ExtractionPolicy) -> FoundAnswer | None:
    start = text.rfind("####")
    line = _HASH_LINE.match(text, start) if start >= 0 else None
    if line is None:
        return None
    span = clauses.without_wrapping(line[1])
    after = text[line.end() :]
    # "#### Step 3: simplify" is a heading, and so is "#### Solution" above a solution.
    formula = any(char.isdigit() or char in "\\$" for char in span)
    if not span or not clauses.is_bare(span) or not (formula or not after or after.isspace()):
        return None
    return _accept_or_refuse("hash", AnswerCandidate(text, start, line.end(), span))


def _phrase(text: str, _policy: ExtractionPolicy) -> FoundAnswer | None:
    record = _json_record(text)
    if record is not None:
        return _json_answer(text, *record)
    announcement = last_announcement(text)
    if announcement is None:
        return None
    clause = clauses.first_clause(text[announcement.end : announcement.end + 2000])
    if not clause.strip():
        return FoundAnswer(None, "phrase", "an answer is announced, but none follows")
    if not announcement.commits:
        return FoundAnswer(None, "phrase", f"{announcement.link.strip()!r} does not commit")
    books = books_for(fold(text[announcement.start : announcement.end + 300]))
    answer = clauses.answer_in(clause, books, denied=announcement.denied)
    if answer is None:
        return FoundAnswer(None, "phrase", "what follows says what the answer is not")
    if not answer.span:
        return FoundAnswer(None, "phrase", "an answer is announced, but none follows")
    base = text.find(clause, announcement.end)
    start = base + max(0, clause.rfind(answer.source))
    end = start + len(answer.source)
    candidate = AnswerCandidate(text, start, end, answer.span, announced=announcement.start)
    return _accept_or_refuse("phrase", candidate)


def _json_record(text: str) -> tuple[object, str] | None:
    """The JSON object at the end of a text, and the text before the object."""
    body = text.strip()
    fenced = sole_block(body)
    body = fenced.text.strip() if fenced and fenced.language in ("", "json") else body
    if not body.endswith(("}", "]")) or len(body) > _LONGEST_JSON:
        return None
    for start in (0, body.rfind("\n{") + 1, body.find('{"')):
        if start >= 0 and body[start : start + 1] in ("{", "["):
            try:
                record = json.loads(body[start:])
            except (ValueError, RecursionError):
                continue
            items = record if isinstance(record, list) else [record] if record else []
            if any(isinstance(item, dict) for item in items):
                return record, body[:start]
    return None


def _json_answer(text: str, record: object, before: str) -> FoundAnswer:
    """Read the answer from a JSON object, if the object gives exactly one."""
    if isinstance(record, list) and len(record) == 1:
        record = record[0]
    if not isinstance(record, dict):
        return FoundAnswer(None, "phrase", "several JSON objects are no answer")
    keys = {str(key).lower(): key for key in record}
    answers = [keys[key] for key in keys if key in _ANSWER_KEYS]
    if len(answers) > 1:
        answers = [key for key in answers if "answer" in str(key).lower()]
    if len(answers) != 1 or not _OTHER_KEYS.isdisjoint(keys):
        return FoundAnswer(None, "phrase", "the JSON object does not give one answer")
    value = record[answers[0]]
    if hedges.gives_up(before):
        return FoundAnswer(None, "phrase", "the response gives up")
    if isinstance(value, list) and all(isinstance(item, (str, int, float)) for item in value):
        value = ", ".join(map(str, value))
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return FoundAnswer(None, "phrase", "the JSON object gives no answer")
    span = clauses.without_wrapping(str(value))
    answer = _accept_or_refuse("phrase", AnswerCandidate(span, 0, len(span), span))
    start = text.rfind(f'"{answers[0]}"')
    at = text.find(span, start + len(answers[0]) + 2)
    return replace(answer, start=max(start, at), end=len(text) if at < 0 else at + len(span))


def _whole_text(text: str, policy: ExtractionPolicy) -> FoundAnswer | None:
    if len(text) > policy.max_whole_text:
        return None
    span = clauses.without_wrapping(text)
    if not span or not clauses.is_bare(span) or span.count("\n") > 20:
        return None
    start = text.find(span)
    bare = span.strip("~")
    if start < 0 or not bare:
        start, bare = 0, span
    start += span.find(bare)
    candidate = AnswerCandidate(text, start, start + len(bare), span, weak=True)
    return _accept_or_refuse("whole_text", candidate)


def _last_statement(text: str, _policy: ExtractionPolicy) -> FoundAnswer | None:
    clause = clauses.last_clause(text)
    if not clause or clause.endswith(("?", "？", "؟")):
        return None
    span = clauses.statement(clause)
    if not span or not any(char.isalnum() for char in span):
        return None
    base = max(0, text.rfind(clause))
    position = clause.rfind(span)
    start = base + max(0, position)
    end = start + len(span) if position >= 0 else base + len(clause)
    return _accept_or_refuse("last_statement", AnswerCandidate(text, start, end, span, weak=True))


def _last_number(text: str, _policy: ExtractionPolicy) -> FoundAnswer | None:
    clause = clauses.last_clause(text)
    number = clauses.last_number(clause) if clause and not clause.endswith(("?", "？")) else None
    if number is None:
        return None
    span, position = number
    start = max(0, text.rfind(clause)) + position
    candidate = AnswerCandidate(
        text, start, start + len(span), span.rstrip(","), weak=True, picked=True
    )
    return _accept_or_refuse("last_number", candidate)


def _accept_or_refuse(rule: Rule, candidate: AnswerCandidate) -> FoundAnswer:
    """Accept the candidate as the answer, or say why the text refuses it."""
    span = candidate.span
    if not span or span.isspace():
        return FoundAnswer(None, rule, "the place for the answer is empty")
    shown = repr(span if len(span) <= 80 else f"{span[:77]}...")
    because = hedges.objection(candidate)
    if because is not None:
        return FoundAnswer(None, rule, because.format(shown))
    return FoundAnswer(span, rule, f"{shown} by {rule}", candidate.start, candidate.end)


_RULES: Mapping[Rule, Callable[[str, ExtractionPolicy], FoundAnswer | None]] = {
    "boxed": _boxed,
    "answer_tag": _answer_tag,
    "hash": _hash,
    "phrase": _phrase,
    "whole_text": _whole_text,
    "last_statement": _last_statement,
    "last_number": _last_number,
}
