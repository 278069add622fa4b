"""Whether two parsed answers of any shape are equal, and the code of the rule that says so."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

from assay.rewards.outcome.maths import matrices, members, realsets, statements
from assay.rewards.outcome.maths.cursor import hundredth, number
from assay.rewards.outcome.maths.limits import WorkBudget
from assay.rewards.outcome.maths.nodes import (
    Based,
    Call,
    Degree,
    Div,
    Expr,
    Group,
    Matrix,
    Mul,
    Node,
    Number,
    PlusMinus,
    Power,
    Quantity,
    Ratio,
    Relation,
    Symbol,
    Text,
)
from assay.rewards.outcome.maths.points import value_of
from assay.rewards.outcome.maths.resolve import has_signs
from assay.rewards.outcome.maths.scalars import Tolerance, same_scalar
from assay.rewards.outcome.maths.texts import plain
from assay.rewards.outcome.maths.units import SPELLINGS, Unit, factor_between, multiply

_PERCENT: Final[Unit] = (("percent", 1),)
_DEGREE: Final[Unit] = (("deg", 1),)


@dataclass(frozen=True, slots=True)
class AnswerConventions:
    """What counts as the same answer where people disagree."""

    tolerance: Tolerance = field(default_factory=Tolerance)
    percent: Literal["either", "sign", "value", "strict"] = "either"
    """`either`: a reference `50%` is met by `50` and `0.5`; a bare reference g is met by `g%` if it
    is beyond 1 and by `(100 g)%` if not. `sign`: the sign may be left out. `value`: `50%` is 0.5.
    `strict`: the sign must be there exactly when the reference has it."""
    units: Literal["optional", "required"] = "optional"
    """`optional`: a unit on one side only is not compared; two units must agree, or convert."""
    list_order: Literal["free", "kept"] = "free"
    """Whether a list without brackets is a collection or a sequence."""


class AnswerComparer:
    """Compares two nodes under conventions, within one budget of work."""

    def __init__(
        self, conventions: AnswerConventions, budget: WorkBudget, kinds: frozenset[type]
    ) -> None:
        self.conventions = conventions
        self.budget = budget
        self.kinds = kinds
        """The node types that occur in either answer, so that rules for others are passed over."""

    def same(self, prediction: Node, reference: Node) -> bool:
        return self.rule(prediction, reference) is not None

    def rule(self, prediction: Node, reference: Node) -> str | None:
        """The code of the rule by which the two are equal, or None."""
        self.budget.spend()
        if isinstance(prediction, Expr) and isinstance(reference, Expr):
            return self._expressions(prediction, reference)
        if prediction == reference:
            return "identical"
        if realsets.is_explicit(prediction) or realsets.is_explicit(reference):
            rule = self._real_sets(prediction, reference)
            if rule is not None:
                return rule
        shapes = type(prediction), type(reference)
        if Relation in shapes:
            return self._relations(prediction, reference)
        if Group in shapes:
            return members.same_members(prediction, reference, self)
        if Quantity in shapes:
            return self._quantities(prediction, reference)
        if Ratio in shapes:
            return self._ratios(prediction, reference)
        if isinstance(prediction, Text) and isinstance(reference, Text):
            return "text" if plain(prediction.words) == plain(reference.words) else None
        return None

    def _expressions(self, prediction: Expr, reference: Expr) -> str | None:
        if isinstance(reference, Based) or isinstance(prediction, Based):
            return self._based(prediction, reference)
        if PlusMinus in self.kinds and (has_signs(prediction) or has_signs(reference)):
            return members.same_members(prediction, reference, self)
        if Matrix not in self.kinds:
            return self.scalars(prediction, reference)
        if matrices.involves_matrix(prediction) or matrices.involves_matrix(reference):
            return matrices.same_matrix(prediction, reference, self)
        return self.scalars(prediction, reference)

    def scalars(self, prediction: Expr, reference: Expr) -> str | None:
        """The rule for two expressions without signs to choose and matrices to work out."""
        return same_scalar(prediction, reference, self.conventions.tolerance, self.budget)

    def _based(self, prediction: Expr, reference: Expr) -> str | None:
        """A numeral in a base is met by the same numeral, with or without its base.

        Base ten may be named on either side.
        """
        if not isinstance(reference, Based):
            if not isinstance(prediction, Based) or prediction.base != 10:
                return None
            return self.rule(number(prediction.numeral), reference)
        if isinstance(prediction, Based):
            numerals = prediction.numeral.lstrip("0"), reference.numeral.lstrip("0")
            same = prediction.base == reference.base and numerals[0] == numerals[1]
            return "base" if same else None
        if isinstance(prediction, Number) and isinstance(prediction.value, int):
            same = reference.numeral.isdigit() and number(reference.numeral) == prediction
            return "base" if same else None
        return self.rule(prediction, number(reference.numeral)) if reference.base == 10 else None

    def _real_sets(self, prediction: Node, reference: Node) -> str | None:
        names, reference_names = realsets.subjects(prediction), realsets.subjects(reference)
        if names and reference_names and names != reference_names:
            return None
        left = realsets.real_set(prediction, self.budget)
        right = realsets.real_set(reference, self.budget)
        if left is None or right is None:
            return None
        return "interval" if realsets.same_set(left, right, self.same) else None

    def _relations(self, prediction: Node, reference: Node) -> str | None:
        if isinstance(prediction, Relation) and isinstance(reference, Relation):
            return self._two_relations(prediction, reference)
        if isinstance(prediction, Relation):
            named = statements.statement(prediction, self.same)
            return None if named is None else self.rule(named.value, reference)
        if not isinstance(reference, Relation):
            return None
        expected = statements.statement(reference, None)
        if expected is None:
            return None
        equations = members.spread(expected)
        if equations is not None and isinstance(prediction, Group):
            return self.rule(prediction, equations)
        return self.rule(prediction, expected.value)

    def _two_relations(self, prediction: Relation, reference: Relation) -> str | None:
        left = statements.statement(prediction, self.same)
        right = statements.statement(reference, None)
        if left is not None and right is not None:
            rule = self.rule(left.value, right.value) if self.same_label(left, right) else None
            if rule is not None:
                return rule
        if statements.same_equation(prediction, reference, self.budget):
            return "relation"
        return "relation" if statements.same_chain(prediction, reference, self.same) else None

    def same_label(self, one: statements.NamedValue, other: statements.NamedValue) -> bool:
        """Names agree; of a function with a constant value only the function's name matters."""
        left, right = one.label, other.label
        if left is None or right is None:
            return True
        if isinstance(left, Call) and isinstance(right, Call) and left.opaque and right.opaque:
            free = statements.has_variables(one.value) or statements.has_variables(other.value)
            if not free and left.name == right.name:
                return len(left.arguments) == len(right.arguments)
        if Symbol("y") in (left, right) and self._is_function_value(left, right):
            return True
        return self.same(left, right)

    def _is_function_value(self, left: Node, right: Node) -> bool:
        """`y` and `f(x)` name the same thing."""
        calls = [side for side in (left, right) if isinstance(side, Call)]
        return any(call.opaque and len(call.arguments) == 1 for call in calls)

    def _quantities(self, prediction: Node, reference: Node) -> str | None:
        value, unit = _parts(prediction)
        target, target_unit = _parts(reference)
        if not unit:
            value, unit = _letter_unit(value)
        if not target_unit:
            target, target_unit = _letter_unit(target)
        if unit == target_unit:
            return self.rule(value, target)
        if unit and target_unit:
            factor = factor_between(unit, target_unit)
            if factor is None or not isinstance(value, Expr):
                return None
            return self.rule(Mul((Number(factor), value)), target) and "unit"
        if _PERCENT in (unit, target_unit):
            return self._percent(value, target, percent_in_reference=target_unit == _PERCENT)
        if self.conventions.units == "required" and target_unit:
            return None
        rule = self.rule(value, target)
        if rule is None and _DEGREE in (unit, target_unit):
            return self._angle(prediction, reference)
        return rule

    def _percent(self, value: Node, target: Node, *, percent_in_reference: bool) -> str | None:
        policy = self.conventions.percent
        if policy == "strict" or not isinstance(value, Expr) or not isinstance(target, Expr):
            return None
        by_sign = policy in ("either", "sign")
        by_value = policy in ("either", "value")
        if policy == "either" and not percent_in_reference:
            by_sign = not _is_proportion(target, self.budget)
            by_value = not by_sign
        if by_sign and self.same(value, target):
            return "percent"
        if percent_in_reference:
            target = hundredth(target)
        else:
            value = hundredth(value)
        return "percent" if by_value and self.same(value, target) else None

    def _angle(self, prediction: Node, reference: Node) -> str | None:
        """Degrees against radians."""
        sides: list[Expr] = []
        for node in (prediction, reference):
            value, unit = _parts(node)
            if not isinstance(value, Expr):
                return None
            sides.append(Degree(value) if unit else value)
        return "unit" if self.same(sides[0], sides[1]) else None

    def _ratios(self, prediction: Node, reference: Node) -> str | None:
        if isinstance(prediction, Ratio) and isinstance(reference, Ratio):
            if len(prediction.terms) != len(reference.terms):
                return None
            if prediction.clock and reference.clock:
                return "time" if prediction.terms == reference.terms else None
            first, second = prediction.terms[0], reference.terms[0]
            pairs = list(zip(prediction.terms, reference.terms, strict=True))
            if any(self.same(term, Number(0)) for pair in pairs for term in pair):
                return "ratio" if all(self.same(a, b) for a, b in pairs) else None
            agree = all(self.same(Mul((a, second)), Mul((b, first))) for a, b in pairs[1:])
            return "ratio" if agree else None
        ratio, other = (
            (prediction, reference) if isinstance(prediction, Ratio) else (reference, prediction)
        )
        if not isinstance(ratio, Ratio) or not isinstance(other, Expr):
            return None
        if len(ratio.terms) != 2:
            return None
        return "ratio" if self.same(Div(ratio.terms[0], ratio.terms[1]), other) else None


def _parts(node: Node) -> tuple[Node, Unit]:
    return (node.value, node.unit) if isinstance(node, Quantity) else (node, ())


def _letter_unit(node: Node) -> tuple[Node, Unit]:
    """`5 m/s^2` with its unit: letters are units only where the other side has one."""
    if not isinstance(node, (Mul, Div)):
        return node, ()
    value, unit = _split_unit(node)
    return (node, ()) if statements.has_variables(value) else (value, unit)


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
