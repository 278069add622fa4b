"""The content checks: what a reward pays for, family by family.

A check asks the target about answers whose worth a careful person does not doubt, and turns the
results into findings. Adding one: name it in its family's module with what it runs (most are
`never_paid` with probes), say in `data/checks.toml` what it reports, and put a broken reward that
it finds into the zoo.
"""

from __future__ import annotations

from typing import Final

from assay.audit.checks import (
    agent,
    correctness,
    degenerate,
    execution,
    queries,
    shape,
    spray,
    text,
    tools,
)
from assay.audit.findings import Check

CHECKS: Final[tuple[Check, ...]] = (
    *correctness.CHECKS,
    *degenerate.CHECKS,
    *spray.CHECKS,
    *text.CHECKS,
    *shape.CHECKS,
    *agent.CHECKS,
    *tools.CHECKS,
    *execution.CHECKS,
    *queries.CHECKS,
)
