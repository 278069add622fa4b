"""The audit of rewards of queries and of tool calls."""

from pathlib import Path

import pytest

from assay.audit.checks import execution, tools
from assay.audit.data import built_in, from_row
from assay.audit.engine import audit_reward
from assay.audit.isolation import ProcessLimits
from assay.errors import BadRecord
from tests.audit.in_process import context_of, findings_of
from tests.audit.rewards import callers

REWARDS = Path(__file__).parent / "rewards" / "callers.py"
TOOL_CHECKS = [check.name for check in tools.CHECKS]


@pytest.mark.slow
def test_a_grader_that_opens_the_database_to_write_is_found() -> None:
    limits = ProcessLimits(call_s=1.0)
    audit = audit_reward(f"{REWARDS}:opens_read_write", families=["execution"], limits=limits)
    assert audit.kind == "sql"
    assert {finding.check for finding in audit.findings} == {
        "changed_database", "files_outside", "endless_query", "several_statements",
    }  # fmt: skip
    assert audit.worst == "critical"


def test_a_grader_that_looks_for_right_calls_alone_is_found() -> None:
    names = {
        one.check for one in findings_of(context_of(callers.ignores_extra, "tools"), *TOOL_CHECKS)
    }
    assert names == {"extra_arguments", "duplicated_calls", "calls_of_others", "uncalled_for"}


def test_a_grader_that_compares_texts_is_found() -> None:
    names = {
        one.check for one in findings_of(context_of(callers.compares_texts, "tools"), *TOOL_CHECKS)
    }
    assert names == set(TOOL_CHECKS)


def test_tool_call_reward_is_held_against_nothing() -> None:
    assert findings_of(context_of("tool_call_reward", "tools")) == []


def test_sql_reward_is_held_against_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The database of the rows is made in the working folder.
    monkeypatch.chdir(tmp_path)
    first = ("gold_accepted", "rewrites_accepted", "near_misses_refused", "other_gold")
    names = (*first, "changed_database", "several_statements", "format_only", "refusal")
    assert findings_of(context_of("sql_reward", "sql"), *names) == []


def test_json_reward_is_held_against_nothing_of_weight() -> None:
    context = context_of("json_reward", "structured")
    checks = ("gold_accepted", "rewrites_accepted", "near_misses_refused", "or_list", "think_leak")
    assert findings_of(context, *checks, "monotone", "lazy_constant", "retraction") == []


def test_data_of_ones_own_names_what_the_kind_needs(tmp_path: Path) -> None:
    with pytest.raises(BadRecord, match="needs answer, database"):
        from_row("sql", {"answer": "SELECT 1"})
    with pytest.raises(BadRecord, match="needs answer, tools, calls"):
        from_row("tools", {"answer": []})
    sample = from_row("sql", {"answer": "SELECT 1", "database": "a.db"})
    assert Path(sample.columns["database"]).is_absolute()
    assert from_row("tools", {"answer": [], "tools": [], "calls": "None fits."}).right == (
        "None fits.",
    )


def test_every_kind_has_its_checks_and_rows() -> None:
    queries = [check.name for check in execution.CHECKS if check.kinds == frozenset(("sql",))]
    assert queries == ["changed_database", "files_outside", "endless_query", "several_statements"]
    assert {check.kinds for check in tools.CHECKS} == {frozenset(("tools",))}
    assert len(built_in("sql")) == len(built_in("tools")) == 8
