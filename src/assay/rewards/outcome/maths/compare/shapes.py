"""The table of comparison rules, one for each type of answer.

Two expressions are compared as such; sets of reals in any notation as sets; any other pair by the
first shape in the table that either of the two has.
"""

from __future__ import annotations

from typing import Final

from assay.rewards.outcome.maths.compare import (
    matrices,
    members,
    parameters,
    pieces,
    quantities,
    realsets,
    relations,
    words,
)
from assay.rewards.outcome.maths.compare.comparison import (
    AnswerComparer,
    Decision,
)
from assay.rewards.outcome.maths.compare.resolve import has_signs
from assay.rewards.outcome.maths.compare.scalars import same_scalar
from assay.rewards.outcome.maths.nodes import (
    BasedNumeral,
    Call,
    ConditionSet,
    Expr,
    Group,
    Matrix,
    Node,
    Number,
    PlusMinus,
    Quantity,
    Ratio,
    Relation,
    Symbol,
    Text,
    number,
)

SHAPES: Final[tuple[tuple[type[Node], Decision], ...]] = (
    (Relation, relations.same_relations),
    (Group, members.same_members),
    (Quantity, quantities.same_quantities),
    (Ratio, quantities.same_ratios),
    (Text, words.same_words),
)


def same_answer(prediction: Node, reference: Node, comparison: AnswerComparer) -> str | None:
    """Return the rule by which two answers of any type are equal, or None."""
    if isinstance(prediction, Expr) and isinstance(reference, Expr):
        return same_expressions(prediction, reference, comparison)
    if prediction == reference:
        return "identical"
    if ConditionSet in comparison.kinds:
        prediction = pieces.listed_integers(prediction, comparison.budget)
        reference = pieces.listed_integers(reference, comparison.budget)
    if realsets.is_explicit(prediction) or realsets.is_explicit(reference):
        rule = realsets.same_real_sets(prediction, reference, comparison)
        if rule is None:
            rule = realsets.same_spans(prediction, reference, comparison)
        if rule is not None:
            return rule or None
    if Call in comparison.kinds and pieces.same_pieces(prediction, reference, comparison):
        return "pieces"
    shapes = type(prediction), type(reference)
    for shape, same in SHAPES:
        if shape in shapes:
            return same(prediction, reference, comparison)
    return None


def same_expressions(prediction: Expr, reference: Expr, comparison: AnswerComparer) -> str | None:
    """Return the rule by which two expressions are equal, or None."""
    if isinstance(reference, BasedNumeral) or isinstance(prediction, BasedNumeral):
        return _same_based(prediction, reference, comparison)
    kinds = comparison.kinds
    if PlusMinus in kinds and (has_signs(prediction) or has_signs(reference)):
        return members.same_members(prediction, reference, comparison)
    if Matrix in kinds and (
        matrices.involves_matrix(prediction) or matrices.involves_matrix(reference)
    ):
        return matrices.same_matrix(prediction, reference, comparison)
    rule = same_scalar(prediction, reference, comparison)
    if rule is None and Symbol in kinds:
        open_constants = parameters.same_up_to_constants(prediction, reference, comparison)
        return "constants" if open_constants else None
    return rule


def _same_based(prediction: Expr, reference: Expr, comparison: AnswerComparer) -> str | None:
    """Compare numerals with a base; the answer may omit the base, or name base ten."""
    if not isinstance(reference, BasedNumeral):
        if not isinstance(prediction, BasedNumeral) or prediction.base != 10:
            return None
        return comparison.rule(number(prediction.numeral), reference)
    if isinstance(prediction, BasedNumeral):
        numerals = prediction.numeral.lstrip("0"), reference.numeral.lstrip("0")
        same = prediction.base == reference.base and numerals[0] == numerals[1]
        return "base" if same else None
    if isinstance(prediction, Symbol):
        return "base" if prediction.name == reference.numeral else None
    if isinstance(prediction, Number) and isinstance(prediction.value, int):
        same = reference.numeral.isdigit() and number(reference.numeral) == prediction
        return "base" if same else None
    return comparison.rule(prediction, number(reference.numeral)) if reference.base == 10 else None
