"""The machine family: bounds, code execution, threads and processes, determinism, failure policy.

These checks need processes of their own, and look at more than what the target pays.
"""

from __future__ import annotations

from typing import Final

from assay.audit.findings import Check
from assay.audit.machine import attacks, behaviour, repeats, surroundings

MACHINE_CHECKS: Final[tuple[Check, ...]] = (
    *attacks.CHECKS,
    *repeats.CHECKS,
    *surroundings.CHECKS,
    *behaviour.CHECKS,
)
"""In the order in which they run: what looks at traces comes last."""
