"""All checks of an audit, grouped by family; the machine family comes last."""

from __future__ import annotations

from typing import Final

from assay.audit.checks import agent, correctness, degenerate, execution, shape, spray, text, tools
from assay.audit.findings import Check
from assay.audit.machine import attacks, behaviour, repeats

CHECKS: Final[tuple[Check, ...]] = (
    *correctness.CHECKS, *degenerate.CHECKS, *spray.CHECKS, *text.CHECKS, *shape.CHECKS,
    *agent.CHECKS, *tools.CHECKS, *execution.CHECKS,
)  # fmt: skip
ALL_CHECKS: Final = (*CHECKS, *attacks.CHECKS, *repeats.CHECKS, *behaviour.CHECKS)
"""In the order in which they run: what looks at side effects comes last."""
