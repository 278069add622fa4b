"""Comparison of quantities with units, percentages, angles and ratios."""

from __future__ import annotations

from functools import reduce
from typing import Final, TypeAlias

from assay.rewards.outcome.maths.compare import relations
from assay.rewards.outcome.maths.compare.comparison import AnswerComparer
from assay.rewards.outcome.maths.compute.points import value_of
from assay.rewards.outcome.maths.nodes import (
    Call,
    Constant,
    DegreeAngle,
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

_Measured: TypeAlias = tuple[Node, Unit]
_PERCENT: Final[Unit] = (("percent", 1),)
_DEGREE: Final[Unit] = (("deg", 1),)
_RADIAN: Final[Unit] = (("rad", 1),)
_ANGLES: Final = frozenset("arcsin arccos arctan arccot arcsec arccsc".split())


def same_quantities(prediction: Node, reference: Node, comparison: AnswerComparer) -> str | None:
    """Return the rule by which two values with units are equal, or None."""
    left, right = _letter_unit(prediction), _letter_unit(reference)
    (value, unit), (target, target_unit) = left, right
    if unit == target_unit:
        return comparison.rule(value, target)
    if is_unlisted(unit):
        return None
    if unit and target_unit:
        return _same_in_two_units(left, right, comparison)
    if _PERCENT in (unit, target_unit):
        return _same_percent(value, target, comparison, in_reference=target_unit == _PERCENT)
    if comparison.conventions.units == "required" and target_unit:
        return None
    angles = _DEGREE in (unit, target_unit)
    if angles and _is_in_radians(value if target_unit else target):
        return _same_angle(left, right, comparison)
    rule = comparison.rule(value, target)
    return _same_angle(left, right, comparison) if rule is None and angles else rule


def _is_in_radians(value: Node) -> bool:
    """Whether a number contains pi or an inverse trigonometric function, and so is in radians."""
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


def _same_in_two_units(left: _Measured, right: _Measured, comparison: AnswerComparer) -> str | None:
    """Return the rule by which values in two different units are equal, or None."""
    (value, unit), (target, target_unit) = left, right
    if {unit, target_unit} == {_DEGREE, _RADIAN}:
        return _same_angle(left, right, comparison)
    if same_noun(unit, target_unit):
        return comparison.rule(value, target)
    factor = factor_between(unit, target_unit)
    if factor is None or not isinstance(value, Expr):
        return None
    return comparison.rule(Mul((Number(factor), value)), target) and "unit"


def _same_percent(
    value: Node, target: Node, comparison: AnswerComparer, *, in_reference: bool
) -> str | None:
    policy = comparison.conventions.percent
    if policy == "strict" or not isinstance(value, Expr) or not isinstance(target, Expr):
        return None
    by_sign = policy in ("either", "sign")
    by_value = policy in ("either", "value")
    if policy == "either" and not in_reference:
        # A bare number up to 1 is read as a share, beyond it as a percentage.
        share = value_of(target, comparison.budget)
        by_value = share is not None and -1 <= share.re <= 1
        by_sign = not by_value
    if by_sign and comparison.same(value, target):
        return "percent"
    if not by_value:
        return None
    value, target = (value, hundredth(target)) if in_reference else (hundredth(value), target)
    return "percent" if comparison.same(value, target) else None


def _same_angle(left: _Measured, right: _Measured, comparison: AnswerComparer) -> str | None:
    """Degrees against radians."""
    sides = [
        DegreeAngle(value) if unit == _DEGREE else value
        for value, unit in (left, right)
        if isinstance(value, Expr)
    ]
    return "unit" if len(sides) == 2 and comparison.same(*sides) else None


def same_ratios(prediction: Node, reference: Node, comparison: AnswerComparer) -> str | None:
    """Return the rule by which a ratio equals another ratio or a quotient, or None."""
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


def _letter_unit(node: Node) -> _Measured:
    """Split a quantity such as `5 m/s^2` into its value and its unit."""
    if isinstance(node, Quantity):
        return node.value, node.unit
    if not isinstance(node, (Mul, Div)):
        return node, ()
    value, unit = _split_unit(node)
    return (node, ()) if relations.has_variables(value) else (value, unit)


def _split_unit(node: Expr) -> tuple[Expr, Unit]:
    match node:
        case Symbol(name) if name in SPELLINGS:
            return Number(1), ((SPELLINGS[name], 1),)
        case Power(Symbol(name), Number(int(power))) if name in SPELLINGS and abs(power) < 10:
            return Number(1), ((SPELLINGS[name], power),)
        case Mul(factors):
            values, units = zip(*map(_split_unit, factors), strict=True)
            return Mul(values), reduce(multiply, units, ())
        case Div(top, bottom):
            (above, unit), (below, part) = _split_unit(top), _split_unit(bottom)
            return Div(above, below), multiply(unit, part, -1)
        case _:
            return node, ()
