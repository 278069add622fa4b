"""Equality of two answers of any shape, by rules that each name themselves."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

from assay.rewards.outcome.maths import matrices, members, realsets, statements
from assay.rewards.outcome.maths.cursor import number
from assay.rewards.outcome.maths.limits import Effort
from assay.rewards.outcome.maths.nodes import (
    EXPRESSIONS,
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
class Conventions:
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


class Judge:
    """Compares two nodes under conventions, within one budget of effort."""

    def __init__(self, conventions: Conventions, effort: Effort, kinds: frozenset[type]) -> None:
        self.conventions = conventions
        self.effort = effort
        self.kinds = kinds
        """The node types that occur in either answer, so that rules for others are passed over."""

    def same(self, prediction: Node, gold: Node) -> bool:
        return self.rule(prediction, gold) is not None

    def rule(self, prediction: Node, gold: Node) -> str | None:
        """The code of the rule by which the two are equal, or None."""
        self.effort.spend()
        if isinstance(prediction, EXPRESSIONS) and isinstance(gold, EXPRESSIONS):
            return self._expressions(prediction, gold)
        if prediction == gold:
            return "identical"
        if realsets.is_explicit(prediction) or realsets.is_explicit(gold):
            found = self._real_sets(prediction, gold)
            if found is not None:
                return found
        if isinstance(prediction, Relation) or isinstance(gold, Relation):
            return self._relations(prediction, gold)
        if isinstance(prediction, Group) or isinstance(gold, Group):
            return members.same_members(prediction, gold, self)
        if isinstance(prediction, Quantity) or isinstance(gold, Quantity):
            return self._quantities(prediction, gold)
        if isinstance(prediction, Ratio) or isinstance(gold, Ratio):
            return self._ratios(prediction, gold)
        if isinstance(prediction, Text) and isinstance(gold, Text):
            return "text" if plain(prediction.words) == plain(gold.words) else None
        return None

    def _expressions(self, prediction: Expr, gold: Expr) -> str | None:
        if isinstance(gold, Based) or isinstance(prediction, Based):
            return self._based(prediction, gold)
        if PlusMinus in self.kinds and (has_signs(prediction) or has_signs(gold)):
            return members.same_members(prediction, gold, self)
        if Matrix not in self.kinds:
            return self.scalars(prediction, gold)
        if matrices.involves_matrix(prediction) or matrices.involves_matrix(gold):
            return matrices.same_matrix(prediction, gold, self)
        return self.scalars(prediction, gold)

    def scalars(self, prediction: Expr, gold: Expr) -> str | None:
        """The rule for two expressions without signs to choose and matrices to work out."""
        return same_scalar(prediction, gold, self.conventions.tolerance, self.effort)

    def _based(self, prediction: Expr, gold: Expr) -> str | None:
        """A numeral in a base is met by the same numeral, with or without its base.

        Base ten may be named on either side.
        """
        if not isinstance(gold, Based):
            if not isinstance(prediction, Based) or prediction.base != 10:
                return None
            return self.rule(number(prediction.numeral), gold)
        if isinstance(prediction, Based):
            numerals = prediction.numeral.lstrip("0"), gold.numeral.lstrip("0")
            same = prediction.base == gold.base and numerals[0] == numerals[1]
            return "base" if same else None
        if isinstance(prediction, Number) and isinstance(prediction.value, int):
            same = gold.numeral.isdigit() and number(gold.numeral) == prediction
            return "base" if same else None
        return self.rule(prediction, number(gold.numeral)) if gold.base == 10 else None

    def _real_sets(self, prediction: Node, gold: Node) -> str | None:
        named, wanted = realsets.subjects(prediction), realsets.subjects(gold)
        if named and wanted and named != wanted:
            return None
        left = realsets.real_set(prediction, self.effort)
        right = realsets.real_set(gold, self.effort)
        if left is None or right is None:
            return None
        return "interval" if realsets.same_set(left, right, self.same) else None

    def _relations(self, prediction: Node, gold: Node) -> str | None:
        if isinstance(prediction, Relation) and isinstance(gold, Relation):
            return self._two_relations(prediction, gold)
        if isinstance(prediction, Relation):
            said = statements.statement(prediction, self.same)
            return None if said is None else self.rule(said.value, gold)
        if not isinstance(gold, Relation):
            return None
        meant = statements.statement(gold, None)
        if meant is None:
            return None
        spread = members.spread(meant)
        if spread is not None and isinstance(prediction, Group):
            return self.rule(prediction, spread)
        return self.rule(prediction, meant.value)

    def _two_relations(self, prediction: Relation, gold: Relation) -> str | None:
        said = statements.statement(prediction, self.same)
        meant = statements.statement(gold, None)
        if said is not None and meant is not None:
            found = self.rule(said.value, meant.value) if self.same_label(said, meant) else None
            if found is not None:
                return found
        if statements.same_equation(prediction, gold, self.effort):
            return "relation"
        return "relation" if statements.same_chain(prediction, gold, self.same) else None

    def same_label(self, said: statements.Statement, meant: statements.Statement) -> bool:
        """Names agree; of a function with a constant value only the function's name matters."""
        left, right = said.label, meant.label
        if left is None or right is None:
            return True
        if isinstance(left, Call) and isinstance(right, Call) and left.opaque and right.opaque:
            free = statements.has_variables(said.value) or statements.has_variables(meant.value)
            if not free and left.name == right.name:
                return len(left.arguments) == len(right.arguments)
        if Symbol("y") in (left, right) and self._is_function_value(left, right):
            return True
        return self.same(left, right)

    def _is_function_value(self, left: Node, right: Node) -> bool:
        """`y` and `f(x)` name the same thing."""
        calls = [side for side in (left, right) if isinstance(side, Call)]
        return any(call.opaque and len(call.arguments) == 1 for call in calls)

    def _quantities(self, prediction: Node, gold: Node) -> str | None:
        value, unit = _parts(prediction)
        target, wanted = _parts(gold)
        if not unit:
            value, unit = _letter_unit(value)
        if not wanted:
            target, wanted = _letter_unit(target)
        if unit == wanted:
            return self.rule(value, target)
        if unit and wanted:
            factor = factor_between(unit, wanted)
            if factor is None or not isinstance(value, EXPRESSIONS):
                return None
            return self.rule(Mul((Number(factor), value)), target) and "unit"
        if _PERCENT in (unit, wanted):
            return self._percent(value, target, percent_is_gold=wanted == _PERCENT)
        if self.conventions.units == "required" and wanted:
            return None
        found = self.rule(value, target)
        if found is None and _DEGREE in (unit, wanted):
            return self._angle(prediction, gold)
        return found

    def _percent(self, value: Node, target: Node, *, percent_is_gold: bool) -> str | None:
        policy = self.conventions.percent
        if policy == "strict" or not isinstance(value, EXPRESSIONS):
            return None
        if not isinstance(target, EXPRESSIONS):
            return None
        hundredths: tuple[Expr, Expr] = (value, Div(target, Number(100)))
        if not percent_is_gold:
            hundredths = (Div(value, Number(100)), target)
        by_sign = policy in ("either", "sign")
        by_value = policy in ("either", "value")
        if policy == "either" and not percent_is_gold:
            by_sign = not _is_proportion(target, self.effort)
            by_value = not by_sign
        if by_sign and self.same(value, target):
            return "percent"
        return "percent" if by_value and self.same(*hundredths) else None

    def _angle(self, prediction: Node, gold: Node) -> str | None:
        """Degrees against radians."""
        sides: list[Expr] = []
        for node in (prediction, gold):
            value, unit = _parts(node)
            if not isinstance(value, EXPRESSIONS):
                return None
            sides.append(Degree(value) if unit else value)
        return "unit" if self.same(sides[0], sides[1]) else None

    def _ratios(self, prediction: Node, gold: Node) -> str | None:
        if isinstance(prediction, Ratio) and isinstance(gold, Ratio):
            if len(prediction.terms) != len(gold.terms):
                return None
            if prediction.clock and gold.clock:
                return "time" if prediction.terms == gold.terms else None
            first, second = prediction.terms[0], gold.terms[0]
            pairs = list(zip(prediction.terms, gold.terms, strict=True))
            if any(self.same(term, Number(0)) for pair in pairs for term in pair):
                return "ratio" if all(self.same(a, b) for a, b in pairs) else None
            agree = all(self.same(Mul((a, second)), Mul((b, first))) for a, b in pairs[1:])
            return "ratio" if agree else None
        ratio, other = (prediction, gold) if isinstance(prediction, Ratio) else (gold, prediction)
        if not isinstance(ratio, Ratio) or not isinstance(other, EXPRESSIONS):
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


def _is_proportion(node: Expr, effort: Effort) -> bool:
    """Whether a bare number is at most 1, so that it is read as a share, not a percentage."""
    value = value_of(node, effort)
    return value is not None and -1 <= value.re <= 1
