"""The audit of rewards that run programs: who cheats is not paid by a sound one."""

from pathlib import Path

import pytest

from assay.audit.checks.execution import CHECKS
from assay.audit.data import built_in, cheats
from assay.audit.engine import audit_reward
from assay.audit.isolation import ProcessLimits
from assay.audit.result import Audit
from assay.errors import BadRecord
from assay.isolation.sandbox import shared_sandbox

REWARDS = Path(__file__).parent / "rewards" / "programs.py"


def audit(name: str) -> Audit:
    limits = ProcessLimits(call_s=2.0)
    return audit_reward(f"{REWARDS}:{name}", families=["execution"], limits=limits)


def checks_of(audit: Audit) -> set[str]:
    return {finding.check for finding in audit.findings}


def test_a_grader_that_shares_its_interpreter_is_fooled() -> None:
    result = audit("shares_interpreter")
    assert result.kind == "code"
    assert {"equal_object", "expected_values", "forged_verdict"} <= checks_of(result)
    assert result.worst == "critical"
    assert {cause.name for cause in result.causes} == {"shared_process"}


def test_a_grader_that_reads_a_file_of_the_agents_folder_is_fooled() -> None:
    result = audit("reads_reward_file")
    assert result.kind == "files"
    assert {"planted_reward", "late_process"} <= checks_of(result)


def test_a_sound_grader_of_folders_passes() -> None:
    assert checks_of(audit("judges_apart")) == set()


@pytest.mark.skipif(
    not all(layer.holds for layer in shared_sandbox().layers() if layer.required),
    reason="programs are not isolated here",
)
def test_code_reward_is_not_fooled() -> None:
    result = audit_reward("code_reward", families=["execution"])
    assert (result.kind, checks_of(result)) == ("code", set())
    assert result.full_marks == 1.0


def test_every_cheat_belongs_to_a_check_and_every_row_has_a_solution() -> None:
    names = {check.name for check in CHECKS if "code" in check.kinds} - {"no_op"}
    assert {cheat.check for cheat in cheats("code")} == names
    assert {cheat.check for cheat in cheats("files")} <= names
    assert len(cheats("code")) >= 20
    for sample in (*built_in("code"), *built_in("files")):
        assert sample.reference_text == sample.right[0]


def test_data_of_ones_own_has_tests_and_what_passes_them(tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"prompt": "add", "tests": {"fn": "add"}}\n')
    with pytest.raises(BadRecord, match="needs tests, solution, fn_name"):
        audit_reward("code_reward", data=rows)
