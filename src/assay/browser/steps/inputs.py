"""What the step scorer reads: codes and digests, never text of a page.

These are named tuples because one of each is built on every step. Nothing here is checked when it
is built; the scorer accepts any value, and takes an unknown code as "other" and a count beyond a
limit as the limit.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from assay.schema.evidence import PageEvidence, StepEvents
from assay.schema.outcome import ErrorCode, ToolOutcome, reported_failure

ContractVerdict: TypeAlias = Literal["pass", "fail", "inconclusive"]

Progress: TypeAlias = Literal["progressing", "stalling", "stuck", "unknown"]
"""What a progress tracker of the caller says about the run of steps."""


class ContractStatus(NamedTuple):
    """How much of an outcome contract holds after the step."""

    verdict: ContractVerdict | None = None
    """`None` while the contract is not due: progress counts, and not yet holding is no failure."""
    satisfied: int = 0
    total: int = 0
    prev_satisfied: int | None = None
    """`None` is "not known", so that nothing was gained or lost."""
    critical: bool = False
    fresh: bool = True
    """Whether the facts are of this step."""
    id: str = ""


class RecentSteps(NamedTuple):
    """What the history says about one step, before that step is added to it."""

    same_call: int = 0
    """How often the same call was made in the same page state."""
    same_error: int = 0
    """How often the same call failed."""
    revisits: int = 0
    """How often the page had been in the state that the step led into; 0 if it stayed."""
    seen_info: bool | None = None
    """Whether the same result was returned before; `None` when the result was not recorded."""
    pending: ErrorCode | None = None
    """The failure that has not been repaired yet."""
    same_target: bool = False
    """Whether this call is meant to achieve what the pending failure missed."""
    fresh_refs: bool = False
    """Whether this is the first step after a stale reference that shows other elements."""
    passed: bool = False
    """Whether the same contract passed at an earlier step."""
    blocked: bool = False
    """Whether something stood in the agent's way at the step before."""
    barren: int = 0
    """How many steps in a row before this one led to nothing new."""


class StepInput(NamedTuple):
    """One observed step: the call and its outcome, and the page before and after it."""

    outcome: ToolOutcome
    before: PageEvidence | None = None
    after: PageEvidence | None = None
    progress: Progress = "unknown"
    contract: ContractStatus | None = None
    recent: RecentSteps | None = None
    events: StepEvents | None = None


def failure_code(step: StepInput) -> ErrorCode | None:
    """How the step failed, by the tool's word or by what the browser reported; `None` if not."""
    outcome = step.outcome
    if outcome.error is not None:
        return outcome.error
    if outcome.ok is False:
        return "other"
    # Behind a wall nothing of the page is the step's own failure.
    if step.events is None or outcome.block is not None:
        return None
    return reported_failure(step.events)


def contract_change(contract: ContractStatus | None) -> tuple[int, int]:
    """How much of the contract was gained and how much lost by the step, in thousandths."""
    if contract is None or contract.prev_satisfied is None or contract.total <= 0:
        return 0, 0
    total = contract.total
    now = min(max(contract.satisfied, 0), total)
    before = min(max(contract.prev_satisfied, 0), total)
    if now > before:
        # Rounded up, so that the smallest gain is one.
        return (1000 * (now - before) + total - 1) // total, 0
    return 0, 1000 * (before - now) // total
