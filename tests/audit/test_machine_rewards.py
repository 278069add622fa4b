"""Every planted flaw of the machine rewards is found by the check that is meant for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.audit.checks import ALL_CHECKS
from assay.audit.context import CheckContext
from assay.audit.data import built_in
from assay.audit.findings import Finding, at_least
from assay.audit.isolation import AuditSession, ProcessLimits
from assay.audit.target import parse_target
from assay.schema.audit import KINDS
from tests.audit.rewards import outsiders
from tests.audit.rewards.machine import PLANTED, SLOW

REWARDS = Path(__file__).parent / "rewards" / "machine.py"
CHECKS = {check.name: check for check in ALL_CHECKS}


def _findings(name: str, *checks: str, rows: int = 4) -> list[Finding]:
    # A limit that only what never ends can reach; memory is measured on calls that end.
    limits = ProcessLimits(call_s=1.0 if "time_bound" in checks else 10.0, memory_mb=1024)
    with AuditSession(parse_target(f"{REWARDS}:{name}"), limits) as session:
        context = CheckContext(session, "maths", built_in("maths")[:rows], "fast")
        return [finding for check in checks for finding in context.run(CHECKS[check]).findings]


@pytest.mark.parametrize("name", [name for name in PLANTED if name not in SLOW])
def test_a_planted_flaw_is_found_by_its_check(name: str) -> None:
    check = PLANTED[name]
    rows = 1 if name == "blocks_the_loop" else 4
    findings = _findings(name, check, rows=rows)
    assert [finding.check for finding in findings] == [check]
    assert findings[0].family == "machine"
    assert findings[0].count >= 1
    assert at_least(findings[0].severity, "low" if check == "pickling" else "medium")


def test_a_predefined_reward_has_no_flaw_of_the_machine() -> None:
    with AuditSession(parse_target("math_equal_reward")) as session:
        context = CheckContext(session, "maths", built_in("maths")[:6], "fast")
        findings = [
            found
            for check in ALL_CHECKS
            if check.family == "machine"
            for found in context.run(check).findings
        ]
    assert findings == []


@pytest.mark.parametrize("name", outsiders.BROKEN)
def test_a_flaw_that_nobody_here_planted_is_found(name: str) -> None:
    kind_name, check_name = outsiders.BROKEN[name]
    kind = next(one for one in KINDS if one == kind_name)
    check = next(one for one in ALL_CHECKS if one.name == check_name)
    file = REWARDS.with_name("outsiders.py")
    limits = ProcessLimits(call_s=1.0 if check_name == "time_bound" else 10.0, memory_mb=1024)
    with AuditSession(parse_target(f"{file}:{name}"), limits) as session:
        rows = built_in(kind)[: 2 if check.family == "machine" and kind != "choice" else None]
        findings = CheckContext(session, kind, rows).run(check).findings
    assert findings
    assert at_least(findings[0].severity, "medium")
