"""Where the answer is in a response, by an explicit, ordered policy; the rule is recorded.

A policy is a value: the rules in the order in which they are tried, and the limits that they keep.
The first rule that finds a candidate decides; a candidate that the text negates, retracts or
hides is refused, and no later rule is tried instead.

The response is model output, so every rule is linear in its length and reads from the end, nothing
is executed, and an answer that the response itself hides, negates, takes back or sprays is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias, get_args

from assay.rewards.outcome.maths.find import clauses, hedges
from assay.rewards.outcome.maths.find.boxes import has_box, last_answer

Rule: TypeAlias = Literal[
    "boxed",
    "answer_tag",
    "hash",
    "phrase",
    "whole_text",
    "last_statement",
    "last_number",
]


@dataclass(frozen=True, slots=True)
class ExtractionPolicy:
    """The rules that may find an answer, in order, and their limits."""

    rules: tuple[Rule, ...] = get_args(Rule)
    hidden_tags: tuple[str, ...] = ("think",)
    """What stands inside tags whose names start like this (`<think>`, `<thinking>`) is not
    part of the response: an answer that is only there is no answer."""
    max_boxes_in_a_row: int = 3
    """Different boxes with hardly a word between them: up to this many are a self-correction, of
    which the last counts; more are a spray of guesses, and none counts."""
    max_whole_text: int = 1000
    """A longer response is not a bare answer, however little prose it holds."""


@dataclass(frozen=True, slots=True)
class Extraction:
    """The span that holds the answer, or why there is none."""

    span: str | None
    rule: Rule | Literal["none"]
    """The rule that found the candidate; with no span, the rule whose candidate was refused."""
    because: str


DEFAULT = ExtractionPolicy()

POLICIES: Mapping[str, ExtractionPolicy] = MappingProxyType(
    {
        "default": DEFAULT,
        "anchored": ExtractionPolicy(rules=("boxed", "answer_tag", "hash", "phrase")),
        "boxed": ExtractionPolicy(rules=("boxed",)),
    }
)
"""`default` also reads bare answers and the last statement; `anchored` wants the answer marked as
one; `boxed` wants it in a box."""

_TURN_END = re.compile(
    r"<\|(?:im_start|im_end|endoftext|eot_id|end|end_of_text|start_header_id)\|>|<｜end▁of▁sentence｜>"
)
_ANSWER_LINK = re.compile(
    r"""(?:s|S)?\b["'”*_]{0,4}\s{0,3}
        (?:(?:to|of|for)\b[^.\n:=]{0,60}?)?
        (?P<link>\s{0,3}\b(?:is|are|was|must\ be|should\ be|would\ be|will\ be|equals|becomes
             |isn't|is\ not|could\ be|might\ be|may\ be|can\ be|can't\ be|cannot\ be)\b
          | \s{0,3}[:=：])
    """,
    re.VERBOSE | re.IGNORECASE,
)
_HEADING = re.compile(r"[*_:：]{0,4}\s+(?=[$\\\d(\[{+−-]|\*\*)")
_FOREIGN = re.compile(
    r"(?:答案|正确答案)\s*(?:是|为|为：|：|:)|(?:Respuesta|Réponse|Antwort|Ответ|Resposta)\s*[:：]"
    r"|respuesta(?: final)? es|réponse(?: finale)? est|Antwort(?: ist| lautet)|ответ(?: равен)?:"
)
_UNCOMMITTED = re.compile(r"(?:could|might|may|can) be\b|not\b|n't\b|cannot", re.IGNORECASE)
_NOT_A_NUMBER = re.compile(r"\A(?:\w+\s+){0,2}(?:not|never|n't)\b.*\d", re.IGNORECASE | re.DOTALL)
_HASH_LINE = re.compile(r"####[ \t]*([^\n#]{1,200})")
_PHRASES_TRIED = 32
_LONG_REFERENCE = 400
_NO_ANSWER = "the response gives no answer"


def extract(response: str, policy: ExtractionPolicy = DEFAULT) -> Extraction:
    """The span that the response offers as its final answer, and the rule that it was found by.

    The first rule of the policy with a candidate decides.
    """
    text = _visible_text(response, policy)
    if not text or text.isspace():
        hidden = bool(response) and not response.isspace()
        return Extraction(None, "none", "everything is inside <think>" if hidden else _NO_ANSWER)
    for rule in policy.rules:
        extraction = _RULES[rule](text, policy)
        if extraction is not None:
            return extraction
    return Extraction(None, "none", "no rule of the policy found an answer")


def reference_span(reference: str) -> str:
    """The answer that a reference states: its boxes if it has any, else the reference itself.

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
        place = _last_phrase(reference)
        if place is not None:
            clause = clauses.first_clause(reference[place[2] : place[2] + 2000])
            return clauses.statement(clause) or clauses.without_wrapping(clause)
    return reference.strip()


def _visible_text(response: str, policy: ExtractionPolicy) -> str:
    """The response without what follows its end of turn and without hidden reasoning."""
    # `rfind` is several times faster than `find` or `in` on long texts without a match.
    text = response
    if text.rfind("<|") >= 0 or "<｜" in text:
        end = _TURN_END.search(text)
        if end is not None:
            text = text[: end.start()]
    for tag in policy.hidden_tags:
        closed = text.rfind(f"</{tag}")
        if closed >= 0:
            shut = text.find(">", closed, closed + len(tag) + 20)
            text = text[shut + 1 if shut >= 0 else closed + len(tag) + 2 :]
        if text.rfind(f"<{tag}") >= 0:
            text = text[: text.find(f"<{tag}")]
    return text


def _boxed(text: str, policy: ExtractionPolicy) -> Extraction | None:
    answer = last_answer(text)
    if answer is None:
        if has_box(text):
            return Extraction(None, "boxed", "the box is empty or never closes")
        return None
    if answer.in_a_row > policy.max_boxes_in_a_row:
        return Extraction(
            None, "boxed", f"{answer.in_a_row} different boxes in a row are a spray of guesses"
        )
    after = text[answer.end :]
    later = _phrase(after, policy) if "phrase" in policy.rules and after else None
    if later is not None and _contradicts(later.span, answer.span):
        return later
    return _accept_or_refuse(
        "boxed", answer.span, text[max(0, answer.start - 160) : answer.start], after
    )


def _contradicts(later: str | None, boxed: str) -> bool:
    """Whether a later "the answer is …" names another number than the box."""
    if later is None or not (clauses.is_plain_number(later) and clauses.is_plain_number(boxed)):
        return False
    return later.strip(" $%+").replace(",", "") != boxed.strip(" $%+").replace(",", "")


def _answer_tag(text: str, policy: ExtractionPolicy) -> Extraction | None:
    start = text.rfind("<answer>")
    if start < 0:
        return None
    end = text.find("</answer>", start)
    # A stop string at "</answer>" leaves the tag open.
    inside = text[start + 8 : end if end >= 0 else len(text)].strip()
    if not inside:
        return Extraction(None, "answer_tag", "the answer tag is empty")
    span = clauses.without_wrapping(inside)
    if not clauses.is_bare(span):
        nested = _phrase(inside, policy)
        stated = nested.span if nested else clauses.statement(clauses.last_clause(inside))
        span = stated or span
    return _accept_or_refuse(
        "answer_tag", span, text[max(0, start - 160) : start], text[end + 9 :] if end >= 0 else ""
    )


def _hash(text: str, _policy: ExtractionPolicy) -> Extraction | None:
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
    return _accept_or_refuse("hash", span, text[max(0, start - 160) : start], after)


def _phrase(text: str, _policy: ExtractionPolicy) -> Extraction | None:
    place = _last_phrase(text)
    if place is None:
        return None
    start, link, rest_at = place
    clause = clauses.first_clause(text[rest_at : rest_at + 2000])
    span = clauses.without_wrapping(clauses.without_aside(clause))
    if not span:
        return Extraction(None, "phrase", "an answer is announced, but none follows")
    if _UNCOMMITTED.search(link) or _NOT_A_NUMBER.match(clause):
        return Extraction(None, "phrase", f"{link.strip()!r} does not commit to an answer")
    if not clauses.is_bare(span):
        number = clauses.last_number(clause)
        span = clauses.statement(clause) or (number[0] if number is not None else span)
    return _accept_or_refuse(
        "phrase", span, text[max(0, start - 160) : start], text[rest_at + len(clause) :]
    )


def _last_phrase(text: str) -> tuple[int, str, int] | None:
    """(start, linking words, end) of the last "answer is", "Answer:" or their like."""
    end = len(text)
    for _ in range(_PHRASES_TRIED):
        at = max(text.rfind("nswer", 0, end), text.rfind("NSWER", 0, end))
        if at < 0:
            break
        match = _ANSWER_LINK.match(text, at + 5)
        if match is not None:
            return max(0, at - 1), match["link"], match.end()
        heading = _HEADING.match(text, at + 5)
        if heading is not None and _starts_line(text, at):
            return max(0, at - 1), ":", heading.end()
        end = at
    foreign = list(_FOREIGN.finditer(text[-2000:]))
    if foreign:
        shift = max(0, len(text) - 2000)
        return shift + foreign[-1].start(), ":", shift + foreign[-1].end()
    return None


def _starts_line(text: str, at: int) -> bool:
    line = text[max(text.rfind("\n", 0, at) + 1, at - 40) : at - 1]
    return line.strip(" *_#").lower() in ("", "final", "the", "the final", "correct")


def _whole_text(text: str, policy: ExtractionPolicy) -> Extraction | None:
    if len(text) > policy.max_whole_text:
        return None
    span = clauses.without_wrapping(text)
    if not span or not clauses.is_bare(span) or span.count("\n") > 20:
        return None
    if hedges.gives_up(text):
        return Extraction(None, "whole_text", "the response gives up")
    bare = span.strip("~")
    return _accept_or_refuse("whole_text", span, *span.split(bare, 1) if bare else ("", ""))


def _last_statement(text: str, _policy: ExtractionPolicy) -> Extraction | None:
    clause = clauses.last_clause(text)
    if not clause or clause.endswith(("?", "？")):
        return None
    span = clauses.statement(clause)
    if not span or not any(char.isalnum() for char in span):
        return None
    if hedges.gives_up(text):
        return Extraction(None, "last_statement", "the response gives up")
    if _NOT_A_NUMBER.match(span):
        return Extraction(None, "last_statement", "the last statement says what it is not")
    position = clause.rfind(span)
    return _accept_or_refuse("last_statement", span, clause[: max(0, position)], "")


def _last_number(text: str, _policy: ExtractionPolicy) -> Extraction | None:
    clause = clauses.last_clause(text)
    number = clauses.last_number(clause) if clause and not clause.endswith(("?", "？")) else None
    if number is None:
        return None
    if hedges.gives_up(text):
        return Extraction(None, "last_number", "the response gives up")
    span, position = number
    return _accept_or_refuse("last_number", span, clause[:position], clause[position + len(span) :])


def _accept_or_refuse(rule: Rule, span: str, before: str, after: str) -> Extraction:
    """The candidate, unless the text around it or the candidate itself says that it is none."""
    if not span or span.isspace():
        return Extraction(None, rule, "the place for the answer is empty")
    if hedges.is_negated_before(before) or hedges.is_struck_out(before, after):
        return Extraction(None, rule, f"the text denies {_short(span)}")
    if hedges.denies_itself(span):
        return Extraction(None, rule, f"{_short(span)} says of itself that it is wrong")
    if hedges.has_other_value_beside(span, before, after):
        return Extraction(None, rule, f"{_short(span)} is one of several values on offer")
    if hedges.is_retracted_after(after):
        return Extraction(None, rule, f"{_short(span)} is taken back afterwards")
    return Extraction(span, rule, f"{_short(span)} by {rule}")


def _short(span: str) -> str:
    return repr(span if len(span) <= 80 else f"{span[:77]}...")


_RULES: Mapping[Rule, Callable[[str, ExtractionPolicy], Extraction | None]] = MappingProxyType(
    {
        "boxed": _boxed,
        "answer_tag": _answer_tag,
        "hash": _hash,
        "phrase": _phrase,
        "whole_text": _whole_text,
        "last_statement": _last_statement,
        "last_number": _last_number,
    }
)
