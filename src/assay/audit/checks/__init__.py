"""The content checks: what a reward pays for, family by family.

A check asks the bench about answers whose worth a careful person does not doubt, and turns the
verdicts into findings. Adding one: write a function from a `Trial` to a `CheckResult` in the module
of its family and put it into that module's table, with a broken reward in the zoo that it finds.
"""

from __future__ import annotations

from typing import Final

from assay.audit.checks import agent, correctness, degenerate, shape, spray, text
from assay.audit.findings import Check

CHECKS: Final[tuple[Check, ...]] = (
    *correctness.CHECKS,
    *degenerate.CHECKS,
    *spray.CHECKS,
    *text.CHECKS,
    *shape.CHECKS,
    *agent.CHECKS,
)
