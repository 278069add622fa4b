"""Compare a predicted answer with a reference answer: the entry point of this package.

The decision is made by the first rule that can make it:

1. an empty reference is not understood; an empty prediction is wrong;
2. the same text is equal, whatever it says;
3. two plain numbers are compared at once;
4. beyond the length limit, the reference is not understood and the prediction is wrong;
5. the same tokens are equal: TeX layout, spacing and delimiters are not part of an answer;
6. choice letters, and answers in words, are compared as such;
7. both texts are read into typed nodes; a reference that cannot be read is not understood, a
   prediction that cannot be read is wrong;
8. the nodes are compared by shape (`shapes`): real sets, relations, lists, quantities, ratios,
   matrices, and at the bottom expressions (`scalars`): exact rationals, then polynomials over
   radicals and constants, then values at fixed points to high precision;
9. where a comma is ambiguous, the other reading of it is tried.

Nothing is executed, no text is partly read, and every step is bounded before it is taken.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple, TypeVar

from assay.rewards.outcome.maths.compare import words
from assay.rewards.outcome.maths.compare.comparison import AnswerComparer, AnswerConventions
from assay.rewards.outcome.maths.compare.matrices import reconcile_vectors
from assay.rewards.outcome.maths.compare.parameters import same_with_parameters
from assay.rewards.outcome.maths.compare.relations import statement
from assay.rewards.outcome.maths.compare.resolve import (
    cost,
    functions_in,
    kinds_in,
    settle,
    with_bound_names,
    with_combinations,
    with_products,
    with_same_names,
    with_terms,
)
from assay.rewards.outcome.maths.compare.shapes import same_answer
from assay.rewards.outcome.maths.compute.evaluate import is_unevaluated, rational
from assay.rewards.outcome.maths.limits import (
    MAX_CHARS,
    MAX_ROW_STEPS,
    MAX_STEPS,
    TooLarge,
    UnreadableAnswer,
    WorkBudget,
)
from assay.rewards.outcome.maths.nodes import (
    BigOperator,
    Call,
    CallOrProduct,
    ConditionSet,
    Expr,
    Group,
    IntervalNode,
    Node,
    Number,
    Power,
    Relation,
    SetDifference,
    Symbol,
    Union,
    kind_of,
    number,
    walk,
)
from assay.rewards.outcome.maths.read.answers import read
from assay.rewards.outcome.maths.read.clean import clean
from assay.rewards.outcome.maths.read.tokens import Token, scan
from assay.text import boxes

DEFAULT: Final = AnswerConventions()
_Source = TypeVar("_Source")
_Result = TypeVar("_Result")
_COMMA_DECIMAL: Final = re.compile(r"(-?)(\d{1,40}|\d{1,3}(?:\.\d{3}){1,10}),(\d{1,40})")
_POINTS_GROUP: Final = re.compile(r"-?\d{1,3}(?:\.\d{3}){1,10},\d{1,40}")
"""A comma after points that group digits, as in `1.234,56`, cannot separate members."""
_NUMBER: Final = re.compile(r"[-+]?\d{1,40}(?:\.\d{1,40})?")


def is_number(text: str) -> bool:
    """Whether the text is one plain number in digits."""
    return _NUMBER.fullmatch(text) is not None


def _attempt(rule: Callable[[_Source], _Result], source: _Source) -> _Result | UnreadableAnswer:
    """Call the rule; return its result, or the error that it raised."""
    try:
        return rule(source)
    except UnreadableAnswer as error:
        return error


@dataclass(slots=True)
class ParsedRowAnswers:
    """The parsed answers of one data row, and its remaining allowance of work.

    A row may list any number of acceptable answers. The prediction is scanned and read for the
    first of them only, and all comparisons spend from one allowance, so the cost of a row grows
    with the length of its references and not with their number times the prediction.
    """

    steps: int = MAX_ROW_STEPS
    tokens: dict[str, list[Token] | UnreadableAnswer] = field(default_factory=dict)
    nodes: dict[str, Node | UnreadableAnswer] = field(default_factory=dict)

    def budget(self) -> WorkBudget:
        """Return the work budget of the next comparison; pass it to `settle` afterwards."""
        return WorkBudget(min(MAX_STEPS, self.steps))

    def settle(self, budget: WorkBudget) -> None:
        """Subtract the steps of one comparison from the row's allowance."""
        spent = min(MAX_STEPS, self.steps) - max(0, budget.remaining)
        self.steps -= spent

    def scan(self, text: str) -> list[Token] | UnreadableAnswer:
        """The tokens of the text, from the cache if it was scanned before."""
        if text not in self.tokens:
            self.tokens[text] = _attempt(_scan, text)
        return self.tokens[text]

    def parse(self, text: str, tokens: list[Token]) -> Node | UnreadableAnswer:
        """The parsed node of a text, from the cache if it was parsed before."""
        if text not in self.nodes:
            self.nodes[text] = _attempt(read, tokens)
        return self.nodes[text]


def _scan(text: str) -> list[Token]:
    if not is_number(text):
        return scan(clean(text))
    literal = [Token("number", text.lstrip("+-")), Token("end", "")]
    return [Token("op", text[0]), *literal] if text[0] in "+-" else literal


@dataclass(frozen=True, slots=True)
class Equality:
    """The result of one comparison, with the rule that decided."""

    equal: bool | None
    """None: the reference could not be understood. A prediction never makes it None."""
    rule: str
    """Stable short code of the rule that decided.

    Equal: identical, tokens, layout, choice, text, integer, rational, decimal, infinity,
    polynomial, points, constants, family, matrix, tuple, list, set, interval, pieces, relation,
    ratio, time, unit, percent, base. Different: the shape of the reference (integer, decimal,
    number, matrix, tuple, list, set, interval, relation, ratio, quantity, choice, text; for
    expressions their outermost node: add, mul, div, power, call, symbol, constant, degree,
    plusminus, big, based), or why the answer was not read: empty_prediction,
    unparseable_prediction, limit_prediction.
    Unknown: empty_gold, unparseable_gold, limit_gold, unevaluated_gold.
    """
    because: str
    """One sentence for a person, with both answers cut short."""


def compare(
    prediction: str,
    reference: str,
    *,
    conventions: AnswerConventions = DEFAULT,
    row: ParsedRowAnswers | None = None,
) -> Equality:
    """Compare an extracted answer with one reference answer, under the conventions."""
    row = ParsedRowAnswers() if row is None else row
    pair = _TextPair(prediction.strip(), reference.strip(), conventions, row)
    prediction, reference = pair.prediction, pair.reference
    if not reference:
        return Equality(None, "empty_gold", "the reference answer is empty")
    if not prediction:
        return Equality(equal=False, rule="empty_prediction", because="the answer is empty")
    if prediction == reference:
        return pair.equal("identical")
    if is_number(prediction) and is_number(reference):
        return _compare_numbers(pair)
    if len(prediction) > MAX_CHARS:
        return pair.wrong("limit_prediction", f"it has {len(prediction):,} characters")
    if len(reference) > MAX_CHARS:
        return pair.not_understood("limit_gold", f"it has {len(reference):,} characters")
    return _compare_within_limits(pair._replace(reference=_without_box(reference)))


class _TextPair(NamedTuple):
    """The texts of two answers, with methods that make the result of their comparison."""

    prediction: str
    reference: str
    conventions: AnswerConventions
    row: ParsedRowAnswers

    def equal(self, rule: str) -> Equality:
        because = f"{_shorten(self.prediction)} equals {_shorten(self.reference)} ({rule})"
        return Equality(equal=True, rule=rule, because=because)

    def different(self, rule: str) -> Equality:
        because = f"{_shorten(self.prediction)} is not {_shorten(self.reference)}"
        return Equality(equal=False, rule=rule, because=because)

    def wrong(self, rule: str, fault: object) -> Equality:
        because = f"{_shorten(self.prediction)} cannot be read as an answer: {fault}"
        return Equality(equal=False, rule=rule, because=because)

    def not_understood(self, rule: str, fault: object) -> Equality:
        because = f"the reference {_shorten(self.reference)} was not understood: {fault}"
        return Equality(None, rule, because)


def _shorten(text: str) -> str:
    flat = " ".join(text[:400].split())
    return repr(flat if len(flat) <= 120 else flat[:117] + "...")


def _compare_within_limits(pair: _TextPair) -> Equality:
    """Compare two texts, and treat an overflow of the arithmetic as a limit.

    Every step checks its own size first, but answers are hostile and there are many steps: what
    still overflows, nests too deeply or prints too many digits is beyond a limit like any other.
    It is the reference's fault if the plainest answer breaks it as well.
    """
    try:
        return _compare_texts(pair)
    except _LIMIT_ERRORS as error:
        fault = type(error).__name__
    try:
        _compare_texts(pair._replace(prediction="0"))
    except _LIMIT_ERRORS:
        return pair.not_understood("limit_gold", fault)
    return pair.wrong("limit_prediction", fault)


_LIMIT_ERRORS: Final = (ArithmeticError, LookupError, ValueError, RecursionError, MemoryError)


def _without_box(reference: str) -> str:
    if "\\boxed" not in reference and "\\fbox" not in reference:
        return reference
    answer = boxes.last_answer(reference, as_list=True)
    return answer.span if answer is not None and answer.span.strip() else reference


def _compare_numbers(pair: _TextPair) -> Equality:
    numbers = frozenset({Number})
    comparer = AnswerComparer(pair.conventions, WorkBudget(), numbers, same_answer)
    left, right = map(_signed_number, (pair.prediction, pair.reference))
    rule = comparer.rule(left, right)
    if rule is not None:
        return pair.equal(rule)
    whole = isinstance(left.value, int) and isinstance(right.value, int)
    return pair.different("integer" if whole else "decimal")


def _signed_number(text: str) -> Number:
    literal = number(text.lstrip("+-"))
    return replace(literal, value=-literal.value) if text[0] == "-" else literal


def _compare_texts(pair: _TextPair) -> Equality:
    prediction, reference, _, row = pair
    if prediction == reference:
        return pair.equal("identical")
    reference_tokens, tokens = row.scan(reference), row.scan(prediction)
    if _same_tokens(tokens, reference_tokens):
        return pair.equal("tokens")
    equality = _compare_content(pair) if is_number(reference) else _compare_words(pair)
    if equality is not None:
        return equality
    figures = words.in_figures(prediction), words.in_figures(reference)
    if any(figures):
        return _compare_texts(
            pair._replace(prediction=figures[0] or prediction, reference=figures[1] or reference)
        )
    if isinstance(reference_tokens, UnreadableAnswer):
        return _unread_reference(pair, reference_tokens)
    right = row.parse(reference, reference_tokens)
    if isinstance(right, UnreadableAnswer):
        return _unread_reference(pair, right)
    if isinstance(tokens, UnreadableAnswer):
        return _unread_prediction(pair, tokens)
    left = row.parse(prediction, tokens)
    if isinstance(left, UnreadableAnswer):
        return _unread_prediction(pair, left)
    equality = _compare_nodes(pair, left, right)
    if equality.equal or "," not in prediction + reference:
        return equality
    reread = _reread(pair, tokens, reference_tokens)
    return reread if reread is not None and reread.equal else equality


def _same_tokens(
    left: list[Token] | UnreadableAnswer, right: list[Token] | UnreadableAnswer
) -> bool:
    if not isinstance(left, list) or not isinstance(right, list) or not 1 < len(left) == len(right):
        return False
    return all(a.kind == b.kind and a.text == b.text for a, b in zip(left, right, strict=True))


def _compare_words(pair: _TextPair) -> Equality | None:
    """Compare choice letters, times of day and equal words; return None for other answers."""
    prediction, reference, *_ = pair
    expected = words.option(reference)
    if expected is not None:
        return _compare_option(pair, expected)
    listed = "," in reference or words.is_selection(reference, prediction)
    letters = words.choices(reference) if listed else None
    if letters is not None and letters == words.choices(prediction):
        return pair.equal("choice")
    content = None if listed else _compare_content(pair)
    if content is not None:
        return content
    phrase = words.plain(reference)
    if words.is_words(phrase) and words.plain(prediction) == phrase:
        return pair.equal("text")
    same_time = words.same_time(prediction, reference)
    if same_time is None:
        return None
    return pair.equal("time") if same_time else pair.different("time")


def _compare_content(pair: _TextPair) -> Equality | None:
    """Accept an option letter with its text, such as `(C) 7`, for the reference `7`."""
    if pair.prediction[:1] not in _OPTION_STARTS:
        return None
    chosen = words.option(pair.prediction)
    if chosen is None or not chosen.content:
        return None
    content = _compare_texts(pair._replace(prediction=chosen.content))
    return pair.equal("choice") if content.equal else None


_OPTION_STARTS: Final = tuple("(ABCDEFGHIJ\\$oOcC")


def _compare_option(pair: _TextPair, expected: words.ChoiceOption) -> Equality | None:
    """Compare a choice option by its letter, its text, or both."""
    option = words.option(pair.prediction, any_case=True)
    if option is None:
        if not expected.content:
            return None
        option = words.ChoiceOption(expected.letter, pair.prediction)
    same = option.letter == expected.letter
    if same and option.content and expected.content:
        contents = pair._replace(prediction=option.content, reference=expected.content)
        same = _compare_texts(contents).equal is True
    return pair.equal("choice") if same else pair.different("choice")


def _unread_reference(pair: _TextPair, fault: UnreadableAnswer) -> Equality:
    """Compare the answer with a reference that cannot be parsed, by its words."""
    phrase = words.plain(pair.reference)
    if isinstance(fault, TooLarge):
        return pair.not_understood("limit_gold", fault)
    if words.skeleton(pair.prediction) == words.skeleton(pair.reference):
        return pair.equal("layout")
    if words.is_words(phrase) and not words.is_prose(phrase):
        return pair.different("text")
    return pair.not_understood("unparseable_gold", fault)


def _unread_prediction(pair: _TextPair, fault: UnreadableAnswer) -> Equality:
    rule = "limit_prediction" if isinstance(fault, TooLarge) else "unparseable_prediction"
    return pair.wrong(rule, fault)


def _compare_nodes(pair: _TextPair, left: Node, right: Node) -> Equality:
    kinds = kinds_in(left, right)
    starved = pair.row.steps < MAX_STEPS
    budget = pair.row.budget()
    rule = None
    try:
        left, right = _settled(left, right, kinds)
        comparer = AnswerComparer(pair.conventions, budget, kinds, same_answer)
        rule = comparer.rule(left, right)
        if rule is None and Symbol in kinds:
            rule = same_with_parameters(left, right, comparer)
    except TooLarge as error:
        budget.limit = error
    except UnreadableAnswer:
        pass  # what has no value equals nothing
    finally:
        pair.row.settle(budget)
    if rule is not None:
        return pair.equal(rule)
    if budget.limit is not None:
        # Once other references have taken the row's steps, only a large answer is at fault.
        if not _is_manageable(left) if starved else _is_manageable(right) or _is_too_large(left):
            return pair.wrong("limit_prediction", budget.limit)
        return pair.not_understood("limit_gold", budget.limit)
    # A reference may give the value to a name.
    named = statement(right, None) if isinstance(right, Relation) else None
    value = right if named is None else named.value
    if BigOperator in kinds and BigOperator not in kinds_in(left) and is_unevaluated(value):
        return pair.not_understood("unevaluated_gold", "it has a sum, integral or limit")
    return pair.different(_kind(right))


def _settled(left: Node, right: Node, kinds: frozenset[type]) -> tuple[Node, Node]:
    """Rewrite both answers where the meaning of one answer depends on the other."""
    if CallOrProduct in kinds or Call in kinds:
        left, right = with_combinations(left, right)
    if CallOrProduct in kinds:
        functions = functions_in(left, right)
        left, right = settle(left, functions), settle(right, functions)
    if Symbol in kinds:
        left, right = with_products(left, right)
    if BigOperator in kinds:
        left, right = with_terms(left, right)
        left, right = with_bound_names(left), with_bound_names(right)
    if not kinds.isdisjoint((Symbol, CallOrProduct)):
        left, right = with_same_names(*reconcile_vectors(left, right))
    return left, right


def _is_manageable(node: Node) -> bool:
    """Whether the answer is small and exceeds no limit by itself."""
    return cost(node) <= MAX_STEPS // 16 and not (isinstance(node, Expr) and _meets_limit(node))


def _is_too_large(node: Node) -> bool:
    """Whether a part of the answer exceeds a limit by itself."""
    return _meets_limit(
        *(part for part in walk(node) if isinstance(part, (Power, Call, BigOperator)))
    )


def _meets_limit(*nodes: Expr) -> bool:
    budget = WorkBudget()
    try:
        for node in nodes:
            rational(node, budget)
    except TooLarge:
        return True
    return False


def _reread(pair: _TextPair, tokens: list[Token], reference_tokens: list[Token]) -> Equality | None:
    """Compare again after reading an ambiguous comma in its other meaning."""
    convention = pair.conventions.decimal_comma
    if convention != "never":
        decimal = _with_point(pair.prediction, reference_tokens)
        if decimal is not None:
            return _compare_nodes(pair, read(decimal), read(reference_tokens))
        if convention == "either" or _POINTS_GROUP.fullmatch(pair.reference):
            decimal = _with_point(pair.reference, tokens)
            if decimal is not None:
                return _compare_nodes(pair, read(tokens), read(decimal))
    if not any(token.kind == "grouped" for token in (*tokens, *reference_tokens)):
        return None
    try:
        nodes = [read(each, commas_group=False) for each in (tokens, reference_tokens)]
    except UnreadableAnswer:
        return None
    return _compare_nodes(pair, nodes[0], nodes[1])


def _with_point(text: str, others: list[Token]) -> list[Token] | None:
    """Return the tokens of `3,5` as 3.5 if the other answer has a decimal point."""
    match = _COMMA_DECIMAL.fullmatch(clean(text))
    pointed = len(others) < 4 and any("." in token.text for token in others)
    if match is None or not pointed:
        return None
    grouped = len(match[3]) == 3 and len(match[2]) <= 3 and match[2] != "0"
    return None if grouped else scan(f"{match[1]}{match[2].replace('.', '')}.{match[3]}")


def _kind(node: Node) -> str:
    """The rule code of a failed comparison, named after the type of the reference."""
    match node:
        case Group(opening):
            return {"": "list", "{": "set"}.get(opening, "tuple")
        case IntervalNode() | Union() | SetDifference() | ConditionSet():
            return "interval"
        case _:
            return kind_of(node)
