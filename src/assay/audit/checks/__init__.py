"""All checks of an audit, grouped by family; the machine family comes last.

A check asks the target about answers whose worth a careful person does not doubt, and turns the
results into findings. Adding one: name it in its family's module with what it runs (most are
`never_paid` with probes), say in `data/checks.toml` what it reports, and add a broken reward that
it finds to the tests.
"""

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
