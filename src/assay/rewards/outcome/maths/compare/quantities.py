"""Quantities and ratios: units that agree or convert, percentages, angles, and proportions."""

from __future__ import annotations

from typing import Final

from assay.rewards.outcome.maths.compare import relations
from assay.rewards.outcome.maths.compare.comparison import AnswerComparison
from assay.rewards.outcome.maths.compute.points import value_of
from assay.rewards.outcome.maths.limits import WorkBudget
from assay.rewards.outcome.maths.nodes import (
    Call,
    Constant,
    Degree,
    Div,
    Expr,
    Mul,
    Node,
    Number,
    Power,
    Quantity,
    Ratio,
    Symbol,
    children,
    hundredth,
)
from assay.rewards.outcome.maths.read.nouns import is_unlisted, same_noun
from assay.rewards.outcome.maths.read.units import SPELLINGS, Unit, factor_between, multiply

_PERCENT: Final[Unit] = (("percent", 1),)
_DEGREE: Final[Unit] = (("deg", 1),)
_RADIAN: Final[Unit] = (("rad", 1),)
_ANGLES: Final = frozenset("arcsin arccos arctan arccot arcsec arccsc".split())


def same_quantities(prediction: Node, reference: Node, comparison: AnswerComparison) -> str | None:
    """The rule by which two values agree with what they are counted in, or None."""
    value, unit = _letter_unit(prediction)
    target, target_unit = _letter_unit(reference)
    if unit == target_unit:
        return comparison.rule(value, target)
    if is_unlisted(unit):
        return None
    if unit and target_unit:
        return _same_in_two_units(prediction, reference, comparison)
    if _PERCENT in (unit, target_unit):
        return _same_percent(
            value, target, comparison, percent_in_reference=target_unit == _PERCENT
        )
    if comparison.conventions.units == "required" and target_unit:
        return None
    if _DEGREE in (unit, target_unit) and _is_in_radians(value if target_unit else target):
        return _same_angle(prediction, reference, comparison)
    rule = comparison.rule(value, target)
    if rule is None and _DEGREE in (unit, target_unit):
        return _same_angle(prediction, reference, comparison)
    return rule


def _is_in_radians(value: Node) -> bool:
    """Whether a bare number can only be an angle in radians: a multiple of pi, or an arctangent."""
    match value:
        case Div(top, _):
            return _is_in_radians(top)
        case Constant("pi"):
            return True
        case Call(name) if name in _ANGLES:
            return True
        case Expr():
            return any(map(_is_in_radians, children(value)))
        case _:
            return False


def _same_in_two_units(
    prediction: Node, reference: Node, comparison: AnswerComparison
) -> str | None:
    """The rule by which values in different units agree: nouns, angles, or a conversion."""
    value, unit = _letter_unit(prediction)
    target, target_unit = _letter_unit(reference)
    if {unit, target_unit} == {_DEGREE, _RADIAN}:
        return _same_angle(prediction, reference, comparison)
    if same_noun(unit, target_unit):
        return comparison.rule(value, target)
    factor = factor_between(unit, target_unit)
    if factor is None or not isinstance(value, Expr):
        return None
    return comparison.rule(Mul((Number(factor), value)), target) and "unit"


def _same_percent(
    value: Node, target: Node, comparison: AnswerComparison, *, percent_in_reference: bool
) -> str | None:
    policy = comparison.conventions.percent
    if policy == "strict" or not isinstance(value, Expr) or not isinstance(target, Expr):
        return None
    by_sign = policy in ("either", "sign")
    by_value = policy in ("either", "value")
    if policy == "either" and not percent_in_reference:
        by_sign = not _is_proportion(target, comparison.budget)
        by_value = not by_sign
    if by_sign and comparison.same(value, target):
        return "percent"
    if percent_in_reference:
        target = hundredth(target)
    else:
        value = hundredth(value)
    return "percent" if by_value and comparison.same(value, target) else None


def _same_angle(prediction: Node, reference: Node, comparison: AnswerComparison) -> str | None:
    """Degrees against radians."""
    sides: list[Expr] = []
    for node in (prediction, reference):
        value, unit = _parts(node)
        if not isinstance(value, Expr):
            return None
        sides.append(Degree(value) if unit == _DEGREE else value)
    return "unit" if comparison.same(sides[0], sides[1]) else None


def same_ratios(prediction: Node, reference: Node, comparison: AnswerComparison) -> str | None:
    """The rule by which two ratios, or a ratio and a quotient, agree, or None."""
    if isinstance(prediction, Ratio) and isinstance(reference, Ratio):
        if len(prediction.terms) != len(reference.terms):
            return None
        if prediction.clock and reference.clock:
            return "time" if prediction.terms == reference.terms else None
        first, second = prediction.terms[0], reference.terms[0]
        pairs = list(zip(prediction.terms, reference.terms, strict=True))
        if any(comparison.same(term, Number(0)) for pair in pairs for term in pair):
            return "ratio" if all(comparison.same(a, b) for a, b in pairs) else None
        agree = all(comparison.same(Mul((a, second)), Mul((b, first))) for a, b in pairs[1:])
        return "ratio" if agree else None
    ratio, other = (
        (prediction, reference) if isinstance(prediction, Ratio) else (reference, prediction)
    )
    if not isinstance(ratio, Ratio) or not isinstance(other, Expr):
        return None
    if len(ratio.terms) != 2:
        return None
    return "ratio" if comparison.same(Div(ratio.terms[0], ratio.terms[1]), other) else None


def _parts(node: Node) -> tuple[Node, Unit]:
    return (node.value, node.unit) if isinstance(node, Quantity) else (node, ())


def _letter_unit(node: Node) -> tuple[Node, Unit]:
    """A value and its unit; `5 m/s^2` has letters for it, where the other side has a unit."""
    if not isinstance(node, (Mul, Div)):
        return _parts(node)
    value, unit = _split_unit(node)
    return (node, ()) if relations.has_variables(value) else (value, unit)


def _split_unit(node: Expr) -> tuple[Expr, Unit]:
    match node:
        case Symbol(name) if name in SPELLINGS:
            return Number(1), ((SPELLINGS[name], 1),)
        case Power(Symbol(name), Number(int(power))) if name in SPELLINGS and abs(power) < 10:
            return Number(1), ((SPELLINGS[name], power),)
        case Mul(factors):
            values: list[Expr] = []
            unit: Unit = ()
            for factor in factors:
                value, part = _split_unit(factor)
                values.append(value)
                unit = multiply(unit, part)
            return Mul(tuple(values)), unit
        case Div(top, bottom):
            (above, unit), (below, part) = _split_unit(top), _split_unit(bottom)
            return Div(above, below), multiply(unit, part, -1)
        case _:
            return node, ()


def _is_proportion(node: Expr, budget: WorkBudget) -> bool:
    """Whether a bare number is at most 1, so that it is read as a share, not a percentage."""
    value = value_of(node, budget)
    return value is not None and -1 <= value.re <= 1
