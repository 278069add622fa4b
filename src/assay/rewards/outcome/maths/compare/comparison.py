"""The conventions, the work budget and the comparer of one comparison of answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from assay.rewards.outcome.maths.compare.tolerance import ToleranceKind
from assay.rewards.outcome.maths.limits import WorkBudget
from assay.rewards.outcome.maths.nodes import Node

PercentConvention: TypeAlias = Literal["either", "sign", "value", "strict"]
UnitsConvention: TypeAlias = Literal["optional", "required"]
OrderConvention: TypeAlias = Literal["free", "kept"]
CommaConvention: TypeAlias = Literal["answer", "either", "never"]


@dataclass(frozen=True, slots=True)
class AnswerConventions:
    """The options that decide which answers count as equal."""

    tolerance: ToleranceKind = "digits"
    """`digits`: a decimal with six significant digits equals the exact value that rounds to it.
    `exact`: only equal values. `relative`: also values within a millionth of each other."""
    percent: PercentConvention = "either"
    """`either`: a reference `50%` is met by `50` and `0.5`; a bare reference g is met by `g%` if it
    is beyond 1 and by `(100 g)%` if not. `sign`: the sign may be left out. `value`: `50%` is 0.5.
    `strict`: the sign must be there exactly when the reference has it."""
    units: UnitsConvention = "optional"
    """`optional`: a unit on one side only is not compared; two units must agree, or convert."""
    list_order: OrderConvention = "free"
    """Whether a list without brackets is a collection or a sequence."""
    decimal_comma: CommaConvention = "answer"
    """`answer`: `3,5` answers a reference `3.5`, while a reference `3,5` is a list; `1.234,56` is
    none. `either`: also in a reference. `never`: a comma separates, or groups digits by three."""


@dataclass(frozen=True, slots=True)
class AnswerComparer:
    """Compares two answers under the chosen conventions, within one work budget."""

    conventions: AnswerConventions
    budget: WorkBudget
    kinds: frozenset[type]
    """The node types that occur in either answer, so that rules for others are passed over."""
    decide: Decision

    def same(self, prediction: Node, reference: Node) -> bool:
        return self.rule(prediction, reference) is not None

    def rule(self, prediction: Node, reference: Node) -> str | None:
        """Return the code of the rule by which two nodes are equal, or None."""
        self.budget.spend()
        return self.decide(prediction, reference, self)


Decision: TypeAlias = Callable[[Node, Node, AnswerComparer], str | None]
