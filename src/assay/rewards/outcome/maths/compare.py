"""Whether a predicted answer and a reference answer are the same: the comparator's one entry.

The decision is made by the first rule that can make it:

1. an empty reference is not understood; an empty prediction is wrong;
2. the same text is equal, whatever it says;
3. two plain numbers are compared at once;
4. beyond the length limit, the reference is not understood and the prediction is wrong;
5. the same tokens are equal: TeX layout, spacing and delimiters are not part of an answer;
6. choice letters, and answers in words, are compared as such;
7. both texts are read into typed nodes; a reference that cannot be read is not understood, a
   prediction that cannot be read is wrong;
8. the nodes are compared by shape (`judge`): real sets, relations, lists, quantities, ratios,
   matrices, and at the bottom expressions (`scalars`): exact rationals, then polynomials over
   radicals and constants, then values at fixed points to high precision;
9. where a comma is ambiguous, the other reading of it is tried.

Nothing is executed, no text is partly read, and every step is bounded before it is taken.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from assay.rewards.outcome.maths import boxes, spelling, texts, vectors
from assay.rewards.outcome.maths.clean import clean
from assay.rewards.outcome.maths.cursor import number
from assay.rewards.outcome.maths.evaluate import is_unevaluated
from assay.rewards.outcome.maths.exact import rational
from assay.rewards.outcome.maths.judge import Conventions, Judge
from assay.rewards.outcome.maths.limits import MAX_CHARS, MAX_STEPS, Effort, TooLarge, Unreadable
from assay.rewards.outcome.maths.nodes import (
    EXPRESSIONS,
    Apply,
    Big,
    Builder,
    Group,
    Node,
    Number,
    Relation,
    Symbol,
    Union,
    Without,
)
from assay.rewards.outcome.maths.parse import read
from assay.rewards.outcome.maths.resolve import (
    cost,
    functions_in,
    kinds_in,
    settle,
    with_bound_names,
)
from assay.rewards.outcome.maths.statements import statement
from assay.rewards.outcome.maths.tokens import Token, scan

DEFAULT: Final = Conventions()
_NUMBER: Final = re.compile(r"[-+]?\d{1,40}(?:\.\d{1,40})?")
_COMMA_DECIMAL: Final = re.compile(r"(-?)(\d{1,40}|\d{1,3}(?:\.\d{3}){1,10}),(\d{1,40})")


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether the prediction equals the reference, and which rule said so."""

    equal: bool | None
    """None: the reference could not be understood. A prediction never makes it None."""
    rule: str
    """Stable short code of the rule that decided.

    Equal: identical, tokens, layout, choice, text, integer, rational, decimal, infinity,
    polynomial, points, matrix, tuple, list, set, interval, relation, ratio, time, unit, percent,
    base. Different: the shape of the reference (integer, decimal, number, matrix, tuple, list,
    set, interval, relation, ratio, quantity, choice, text; for expressions their outermost node:
    add, mul, div, power, call, symbol, constant, degree, plusminus, big, based), or why the answer
    was not read: empty_prediction, unparseable_prediction, limit_prediction.
    Unknown: empty_gold, unparseable_gold, limit_gold, unevaluated_gold.
    """
    because: str
    """One sentence for a person, with both answers cut short."""


def compare(prediction: str, gold: str, *, conventions: Conventions = DEFAULT) -> Verdict:
    """The verdict on an extracted answer against a reference, under the conventions."""
    said, meant = prediction.strip(), gold.strip()
    if not meant:
        return Verdict(None, "empty_gold", "the reference answer is empty")
    if not said:
        return Verdict(equal=False, rule="empty_prediction", because="the answer is empty")
    if said == meant:
        return _equal("identical", said, meant)
    if _NUMBER.fullmatch(said) and _NUMBER.fullmatch(meant):
        return _two_numbers(said, meant, conventions)
    if len(said) > MAX_CHARS:
        return _wrong("limit_prediction", said, f"it has {len(said):,} characters")
    if len(meant) > MAX_CHARS:
        return _lost("limit_gold", meant, f"it has {len(meant):,} characters")
    return _guarded(said, _without_box(meant), conventions)


def _guarded(said: str, meant: str, conventions: Conventions) -> Verdict:
    """The verdict on two texts, also where a bound of the arithmetic was set too high.

    Every step checks its own size first, but answers are hostile and there are many steps: what
    still overflows, nests too deeply or prints too many digits is beyond a limit like any other.
    It is the reference's fault if the plainest answer breaks it as well.
    """
    try:
        return _compare_texts(said, meant, conventions)
    except _BEYOND as error:
        fault = type(error).__name__
    try:
        _compare_texts("0", meant, conventions)
    except _BEYOND:
        return _lost("limit_gold", meant, fault)
    return _wrong("limit_prediction", said, fault)


_BEYOND: Final = (ArithmeticError, ValueError, RecursionError, MemoryError)


def _without_box(gold: str) -> str:
    if "\\boxed" not in gold and "\\fbox" not in gold:
        return gold
    answer = boxes.last_answer(gold, joined=True)
    return answer.span if answer is not None and answer.span.strip() else gold


def _two_numbers(said: str, meant: str, conventions: Conventions) -> Verdict:
    judge = Judge(conventions, Effort(), frozenset({Number}))
    left, right = (number(text.lstrip("+-")) for text in (said, meant))
    if said[0] == "-":
        left = Number(-left.value, left.digits, left.places)
    if meant[0] == "-":
        right = Number(-right.value, right.digits, right.places)
    rule = judge.rule(left, right)
    if rule is None:
        whole = isinstance(left.value, int) and isinstance(right.value, int)
        kind = "integer" if whole else "decimal"
        return _different(kind, said, meant)
    return _equal(rule, said, meant)


def _compare_texts(said: str, meant: str, conventions: Conventions) -> Verdict:
    if said == meant:
        return _equal("identical", said, meant)
    gold_tokens, gold_fault = _scanned(meant)
    tokens, fault = _scanned(said)
    if tokens is not None and gold_tokens is not None and _same_tokens(tokens, gold_tokens):
        return _equal("tokens", said, meant)
    by_words = _compare_words(said, meant, conventions)
    if by_words is not None:
        return by_words
    figures = spelling.in_figures(said), spelling.in_figures(meant)
    if any(figures):
        return _compare_texts(figures[0] or said, figures[1] or meant, conventions)
    if gold_tokens is None:
        return _unread_gold(said, meant, gold_fault)
    try:
        gold_node = read(gold_tokens)
    except Unreadable as error:
        return _unread_gold(said, meant, error)
    if tokens is None:
        return _unread_prediction(said, fault)
    try:
        node = read(tokens)
    except Unreadable as error:
        return _unread_prediction(said, error)
    verdict = _compare_nodes(node, gold_node, said, meant, conventions)
    if verdict.equal or "," not in said + meant:
        return verdict
    return _reread(tokens, gold_tokens, said, meant, conventions) or verdict


def _scanned(text: str) -> tuple[list[Token] | None, Unreadable | None]:
    try:
        return scan(clean(text)), None
    except Unreadable as error:
        return None, error


def _same_tokens(left: list[Token], right: list[Token]) -> bool:
    return (
        len(left) == len(right)
        and len(left) > 1
        and all(a.kind == b.kind and a.text == b.text for a, b in zip(left, right, strict=True))
    )


def _compare_words(said: str, meant: str, conventions: Conventions) -> Verdict | None:
    """A verdict if the reference is an option or a time, or the two texts use the same words."""
    wanted = texts.option(meant)
    if wanted is not None:
        return _compare_option(said, wanted, meant, conventions)
    letters = texts.choices(meant) if "," in meant else None
    if letters is not None and letters == texts.choices(said):
        return _equal("choice", said, meant)
    words = texts.plain(meant)
    if texts.is_words(words) and texts.plain(said) == words:
        return _equal("text", said, meant)
    same_time = spelling.same_time(said, meant)
    if same_time is not None:
        return _equal("time", said, meant) if same_time else _different("time", said, meant)
    return None


def _compare_option(
    said: str, wanted: texts.Option, meant: str, conventions: Conventions
) -> Verdict | None:
    """A reference with letter and content is met by either; by both only if both agree."""
    option = texts.option(said, any_case=True)
    if option is None:
        if not wanted.content:
            return None
        option = texts.Option(wanted.letter, said)
    same = option.letter == wanted.letter
    if same and option.content and wanted.content:
        same = _compare_texts(option.content, wanted.content, conventions).equal is True
    return _equal("choice", said, meant) if same else _different("choice", said, meant)


def _unread_gold(said: str, meant: str, fault: Unreadable | None) -> Verdict:
    """Words that are not formulas can still be told apart; anything else is not understood."""
    words = texts.plain(meant)
    if isinstance(fault, TooLarge):
        return _lost("limit_gold", meant, str(fault))
    if texts.skeleton(said) == texts.skeleton(meant):
        return _equal("layout", said, meant)
    if texts.is_words(words) and not texts.is_prose(words):
        return _different("text", said, meant)
    return _lost("unparseable_gold", meant, str(fault))


def _unread_prediction(said: str, fault: Unreadable | None) -> Verdict:
    rule = "limit_prediction" if isinstance(fault, TooLarge) else "unparseable_prediction"
    return _wrong(rule, said, str(fault))


def _compare_nodes(
    node: Node, gold: Node, said: str, meant: str, conventions: Conventions
) -> Verdict:
    kinds = kinds_in(node, gold)
    effort = Effort()
    rule = None
    try:
        if Apply in kinds:
            functions = functions_in(node, gold)
            node, gold = settle(node, functions), settle(gold, functions)
        if Big in kinds:
            node, gold = with_bound_names(node), with_bound_names(gold)
        if not kinds.isdisjoint((Symbol, Apply)):
            node, gold = vectors.reconciled(node, gold)
        rule = Judge(conventions, effort, kinds).rule(node, gold)
    except TooLarge as error:
        effort.limit = error
    except Unreadable:
        return _different(_kind(gold), said, meant)
    if rule is not None:
        return _equal(rule, said, meant)
    if effort.limit is not None:
        if _is_manageable(gold):
            return _wrong("limit_prediction", said, str(effort.limit))
        return _lost("limit_gold", meant, str(effort.limit))
    if Big in kinds and Big not in kinds_in(node) and is_unevaluated(_stated(gold)):
        return _lost("unevaluated_gold", meant, "it has a sum, integral or limit")
    return _different(_kind(gold), said, meant)


def _stated(gold: Node) -> Node:
    """The value that a reference gives to what it names, or all of it."""
    meant = statement(gold, None) if isinstance(gold, Relation) else None
    return gold if meant is None else meant.value


def _is_manageable(gold: Node) -> bool:
    """Whether the reference on its own is far from the limits, so that it met none of them."""
    if cost(gold) > MAX_STEPS // 16:
        return False
    try:
        if isinstance(gold, EXPRESSIONS):
            rational(gold, Effort())
    except TooLarge:
        return False
    return True


def _reread(
    tokens: list[Token], gold_tokens: list[Token], said: str, meant: str, conventions: Conventions
) -> Verdict | None:
    """An equal verdict under the other reading of a comma: a separator, or a decimal point."""
    for text, others, swapped in ((said, gold_tokens, False), (meant, tokens, True)):
        match = _COMMA_DECIMAL.fullmatch(clean(text))
        pointed = len(others) < 4 and any("." in token.text for token in others)
        if match is None or not pointed:
            continue
        grouped = len(match[3]) == 3 and len(match[2]) <= 3 and match[2] != "0"
        if not grouped:
            decimal = scan(f"{match[1]}{match[2].replace('.', '')}.{match[3]}")
            left, right = (others, decimal) if swapped else (decimal, others)
            verdict = _compare_nodes(read(left), read(right), said, meant, conventions)
            return verdict if verdict.equal else None
    if not any(token.kind == "grouped" for token in (*tokens, *gold_tokens)):
        return None
    try:
        left_node, right_node = (_apart(t) for t in (tokens, gold_tokens))
    except Unreadable:
        return None
    verdict = _compare_nodes(left_node, right_node, said, meant, conventions)
    return verdict if verdict.equal else None


def _apart(tokens: list[Token]) -> Node:
    return read(tokens, commas_group=False)


def _kind(gold: Node) -> str:
    """The code of the comparison that failed, by the shape of the reference."""
    match gold:
        case Group(opening):
            return {"": "list", "{": "set"}.get(opening, "tuple")
        case Union() | Without() | Builder():
            return "interval"
        case _:
            return type(gold).__name__.lower()


def _cut(text: str) -> str:
    flat = " ".join(text[:400].split())
    return repr(flat if len(flat) <= 120 else flat[:117] + "...")


def _equal(rule: str, said: str, meant: str) -> Verdict:
    return Verdict(equal=True, rule=rule, because=f"{_cut(said)} equals {_cut(meant)} ({rule})")


def _different(rule: str, said: str, meant: str) -> Verdict:
    return Verdict(equal=False, rule=rule, because=f"{_cut(said)} is not {_cut(meant)}")


def _wrong(rule: str, said: str, fault: str) -> Verdict:
    return Verdict(
        equal=False, rule=rule, because=f"{_cut(said)} cannot be read as an answer: {fault}"
    )


def _lost(rule: str, meant: str, fault: str) -> Verdict:
    return Verdict(None, rule, f"the reference {_cut(meant)} was not understood: {fault}")
