"""Outcome contracts: what must be true of the page for a step or a task to have succeeded.

A verdict has three values. Facts that are missing, old or cut make a check inconclusive, and
nothing turns that into a pass or a fail: `all` fails if one part fails, `any` passes if one part
passes, and `not` leaves the inconclusive as it is. A contract can be checked again on an old run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import fsum
from typing import Literal, NamedTuple, TypeAlias

from assay.browser.steps.checks import Check, CheckCode
from assay.browser.steps.inputs import ContractStatus, ContractVerdict
from assay.schema.evidence import PageFacts

FULL = 1000
"""The subgoal count of a contract that holds: progress is given in thousandths of it."""


@dataclass(frozen=True, slots=True)
class ContractLeaf:
    """One check, or its opposite."""

    path: str
    """Where it stands in the contract as written, such as `all[1].dom_text`."""
    check: Check
    negated: bool = False


@dataclass(frozen=True, slots=True)
class ContractBranch:
    """Several parts of which all, or any, must hold.

    `not` is at the leaves only, so that the share that holds is 1 exactly when a contract passes.
    """

    op: Literal["all", "any"]
    parts: tuple[Node, ...]


Node: TypeAlias = ContractLeaf | ContractBranch


@dataclass(frozen=True, slots=True)
class Contract:
    """What must be true, how much it matters, and how old the facts may be."""

    root: Node
    id: str = ""
    critical: bool = False
    max_age_steps: int = 0
    """Facts of up to this many steps ago count as fresh."""

    def leaves(self) -> list[ContractLeaf]:
        """The checks, in the order of writing."""
        return _leaves(self.root)


class CheckOutcome(NamedTuple):
    """The result of one check, without the page's text."""

    path: str
    kind: str
    verdict: ContractVerdict
    code: CheckCode


class ContractReport(NamedTuple):
    """The verdict on a contract, and the outcome of each of its checks, in order of writing."""

    verdict: ContractVerdict
    outcomes: tuple[CheckOutcome, ...]

    @property
    def undecided(self) -> tuple[CheckOutcome, ...]:
        """The checks that could not be decided, with their codes."""
        return tuple(f for f in self.outcomes if f.verdict == "inconclusive")


class ContractProgress(NamedTuple):
    """How much of a contract holds, by the latest decided result of each check."""

    value: float = 0.0
    """From 0 to 1, and 1 exactly when every check needed for a pass holds."""
    holding: tuple[bool, ...] = ()
    """Whether each check holds, in order; one that cannot be decided keeps its earlier value."""


def evaluate(contract: Contract, facts: PageFacts | None, *, step: int) -> ContractReport:
    """Check the contract after `step`: the verdict, and the outcome of each check."""
    age = contract.max_age_steps
    outcomes = tuple(_check(leaf, facts, step, age) for leaf in contract.leaves())
    verdicts = iter(outcome.verdict for outcome in outcomes)
    return ContractReport(_combine(contract.root, verdicts), outcomes)


def contract_progress(
    contract: Contract, report: ContractReport, before: ContractProgress | None = None
) -> ContractProgress:
    """How much of the contract holds: the mean over `all`, the best of `any`.

    An undecided check keeps its earlier result; without one, it does not hold.
    """
    earlier = (before.holding if before else ()) or (False,) * len(report.outcomes)
    holding = tuple(
        was if outcome.verdict == "inconclusive" else outcome.verdict == "pass"
        for outcome, was in zip(report.outcomes, earlier, strict=True)
    )
    return ContractProgress(_share(contract.root, iter(holding)), holding)


def follow(
    contract: Contract,
    facts: PageFacts | None,
    *,
    step: int,
    before: ContractProgress | None = None,
    due: bool = True,
) -> tuple[ContractProgress, ContractStatus]:
    """Update the progress of the contract after `step`, also as the step scorer reads it.

    A contract that is not `due` (the task goes on) gives no verdict until it passes.
    """
    report = evaluate(contract, facts, step=step)
    now = contract_progress(contract, report, before)
    verdict = report.verdict if due or report.verdict == "pass" else None
    earlier = None if before is None else round(before.value * FULL)
    satisfied, critical = round(now.value * FULL), contract.critical
    return now, ContractStatus(verdict, satisfied, FULL, earlier, critical, id=contract.id)


def _check(
    leaf: ContractLeaf, facts: PageFacts | None, step: int, max_age_steps: int
) -> CheckOutcome:
    check = leaf.check
    code: CheckCode
    if facts is None:
        code = "fact_missing"
    elif not 0 <= step - facts.taken.get(check.channel, facts.step) <= max_age_steps:
        code = "fact_stale"
    else:
        code = check.answer(facts)
    verdict: ContractVerdict = "inconclusive"
    if code in ("holds", "differs"):
        verdict = "pass" if (code == "holds") is not leaf.negated else "fail"
    return CheckOutcome(leaf.path, check.kind, verdict, code)


def _combine(node: Node, verdicts: Iterator[ContractVerdict]) -> ContractVerdict:
    if isinstance(node, ContractLeaf):
        return next(verdicts)
    # Every part takes its verdicts, also when the outcome is settled before the last one.
    parts = [_combine(part, verdicts) for part in node.parts]
    deciding: ContractVerdict = "fail" if node.op == "all" else "pass"
    if deciding in parts:
        return deciding
    undecided = "inconclusive" in parts
    return "inconclusive" if undecided else "pass" if node.op == "all" else "fail"


def _share(node: Node, holding: Iterator[bool]) -> float:
    if isinstance(node, ContractLeaf):
        return float(next(holding))
    parts = [_share(part, holding) for part in node.parts]
    return fsum(parts) / len(parts) if node.op == "all" else max(parts)


def _leaves(node: Node) -> list[ContractLeaf]:
    if isinstance(node, ContractLeaf):
        return [node]
    return [leaf for part in node.parts for leaf in _leaves(part)]
