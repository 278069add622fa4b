"""Outcome contracts: the conditions under which a step or a task has succeeded.

Missing, old or cut facts make a check inconclusive: `all` fails if one part fails, `any` passes
if one part passes, and `not` leaves the inconclusive as it is.
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
    """Parts of a contract, of which all or any must hold.

    `not` is at the leaves only, so that the share that holds is 1 exactly when a contract passes.
    """

    op: Literal["all", "any"]
    parts: tuple[Node, ...]


Node: TypeAlias = ContractLeaf | ContractBranch


@dataclass(frozen=True, slots=True)
class Contract:
    """An outcome contract: its conditions, whether it is critical, and how old its facts may be."""

    root: Node
    id: str = ""
    critical: bool = False
    max_age_steps: int = 0
    """Facts of up to this many steps ago count as fresh."""

    def leaves(self) -> list[ContractLeaf]:
        """The checks of the contract, in written order."""
        return _leaves(self.root)


class CheckOutcome(NamedTuple):
    """The result of one check, without the page's text."""

    path: str
    kind: str
    verdict: ContractVerdict
    code: CheckCode


class ContractReport(NamedTuple):
    """The verdict on a contract, and the outcome of each check in written order."""

    verdict: ContractVerdict
    outcomes: tuple[CheckOutcome, ...]

    @property
    def undecided(self) -> tuple[CheckOutcome, ...]:
        """The checks that could not be decided, with their codes."""
        return tuple(f for f in self.outcomes if f.verdict == "inconclusive")


class ContractProgress(NamedTuple):
    """The share of a contract that holds, by the latest decided result of each check."""

    value: float = 0.0
    """From 0 to 1, and 1 exactly when every check needed for a pass holds."""
    holding: tuple[bool, ...] = ()
    """Whether each check holds, in order; one that cannot be decided keeps its earlier value."""


def evaluate(contract: Contract, facts: PageFacts | None, *, step: int) -> ContractReport:
    """Check the contract against the facts after `step`."""
    age = contract.max_age_steps
    outcomes = tuple(_check(leaf, facts, step, age) for leaf in contract.leaves())
    verdicts = iter(outcome.verdict for outcome in outcomes)
    return ContractReport(_combine(contract.root, verdicts), outcomes)


def contract_progress(
    contract: Contract, report: ContractReport, before: ContractProgress | None = None
) -> ContractProgress:
    """The share of the contract that holds: the mean over `all`, the best of `any`."""
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
    """Update the contract's progress after `step`; also return it for the step scorer.

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
