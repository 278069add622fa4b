"""What an audit says: record, verdict, badge, snippets, page, comparison, and the stored file."""

from __future__ import annotations

import ast
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay import __version__
from assay.audit.causes import CAUSES, PAID, REFUSED
from assay.audit.checks import ALL_CHECKS
from assay.audit.findings import Finding, GraderCall, rate_of
from assay.audit.result import Audit, compare, rank
from assay.audit.snippets import expression, snippet
from assay.errors import UsageError
from assay.schema.audit import (
    AUDIT_SCHEMA,
    AuditTarget,
    CheckRecord,
    Family,
    Outcome,
    Severity,
    Shape,
)

HOSTILE = "</pre><script>alert(1)</script>\u202e\ud800\0"


def _target(shape: Shape = "assay", text: str = "guest.py:f") -> AuditTarget:
    return AuditTarget(
        text=text,
        name="f",
        form="file",
        shape=shape,
        parts=None,
        parameters=("final_response", "answer", "trajectory"),
        is_async=False,
        picklable=True,
        pickle_error=None,
        source="guest.py:1",
        summary="",
        python="3.11",
    )


def _finding(severity: Severity, check: str = "or_list", text: str = "42 or 43") -> Finding:
    call = GraderCall(text, {"answer": "42", "prompt": "6 * 7?"})
    return Finding(
        check, "spray", severity, f"{check} is paid", "pays 1", "two answers", "refuse", 3, 8, None,
        check, call,
    )  # fmt: skip


def _audit(*findings: Finding, accepted: dict[str, str] | None = None) -> Audit:
    reasons = accepted or {}
    worst = {finding.check: finding.severity for finding in findings}
    checks = []
    for name in ("or_list", "hedge", "time_bound"):
        outcome: Outcome = "passed"
        if name in worst:
            outcome = "accepted" if name in reasons else "found"
        rates = (rate_of("wrong answers paid", 1, 8),) if name == "or_list" else ()
        family: Family = "machine" if name == "time_bound" else "spray"
        checks.append(
            CheckRecord(name, family, "What it means.", outcome, worst.get(name), rates, None)
        )
    return Audit(
        schema=AUDIT_SCHEMA,
        assay=__version__,
        target=_target(),
        kind="maths",
        budget="fast",
        seed=0,
        data="built in",
        samples=25,
        full_marks=1.0,
        frame="boxed",
        probes=212,
        checks=tuple(checks),
        findings=rank(list(findings), reasons),
        seconds=1.5,
        check_seconds={check.name: 0.5 for check in checks},
    )


@pytest.mark.parametrize(
    ("severities", "passes_at", "badge"),
    [
        ([], "info", "passed at info"),
        (["info"], "low", "passed at low"),
        (["low"], "medium", "passed at medium"),
        (["medium", "low"], "high", "1 medium, 1 low"),
        (["high", "high"], "critical", "2 high"),
        (["critical"], None, "1 critical"),
    ],
)
def test_the_badge_says_what_the_gate_would(
    severities: list[Severity], passes_at: str | None, badge: str
) -> None:
    result = _audit(*map(_finding, severities))
    assert result.passes_at == passes_at
    assert result.badge == f"assay audit: {badge}, 2 families, 212 probes (f)"


def test_the_verdict_names_what_is_serious() -> None:
    result = _audit(_finding("low", "hedge"), _finding("high", "or_list"))
    assert result.fooled
    assert result.verdict == (
        "f: fooled: the answer is taken from anywhere in the text; recall: not measured; "
        "3 checks, 212 probes (1 minor finding)"
    )
    assert _audit(_finding("low")).verdict == (
        "f: fooled: no; recall: not measured; 3 checks, 212 probes (1 minor finding)"
    )


def test_findings_are_ranked_and_accepted_ones_come_last() -> None:
    result = _audit(
        _finding("low", "hedge"), _finding("critical", "or_list"), _finding("high", "time_bound"),
        accepted={"or_list": "by definition"},
    )  # fmt: skip
    assert [finding.check for finding in result.findings] == ["time_bound", "hedge", "or_list"]
    assert result.findings[-1].accepted == "by definition"
    assert result.worst == "high"


def test_what_is_accepted_is_not_passed_over_in_silence() -> None:
    result = _audit(_finding("high"), accepted={"or_list": "by definition"})
    assert result.verdict.endswith("212 probes (1 accepted, the worst high)")
    assert result.badge == ("assay audit: passed at info, 1 accepted, 2 families, 212 probes (f)")


def test_seconds_are_in_the_record_only_when_asked_for() -> None:
    result = _audit(_finding("low"))
    later = replace(result, seconds=99.0)
    assert result.to_record() == later.to_record()
    assert result.to_record(timings=True) != later.to_record(timings=True)


def test_the_record_is_json_whatever_the_model_wrote() -> None:
    record = _audit(_finding("low", text=HOSTILE)).to_record()
    assert json.loads(json.dumps(record, allow_nan=False)) == record
    assert record["findings"][0]["reproducer"]["final_response"] == HOSTILE
    odd = replace(_finding("low"), reproducer=GraderCall("x", {"answer": [float("nan")]}))
    (finding,) = _audit(odd).to_record()["findings"]
    assert finding["reproducer"]["columns"] == {"answer": ["nan"]}


def test_a_saved_audit_is_found_again(tmp_path: Path) -> None:
    result = _audit(_finding("low"))
    file = result.save(tmp_path / "audits")
    assert file.name == "guest.py_f.json"
    assert json.loads(file.read_bytes()) == result.to_record(timings=True)
    assert file.read_bytes().isascii()
    assert result.save(tmp_path / "audits") == file
    assert list((tmp_path / "audits").iterdir()) == [file]


def test_the_page_is_whole_and_nothing_in_it_runs() -> None:
    result = _audit(
        _finding("high", text=HOSTILE), _finding("low", "hedge"), accepted={"hedge": "<b>why</b>"}
    )
    page = result.to_html()
    assert "<script" not in page
    assert "<b>why" not in page
    assert "\u202e" not in page
    assert not re.search(r"(src|href)=", page)
    assert "default-src 'none'" in page
    for text in ("accepted: &lt;b&gt;why", "1 of 8", "12.5 %", "or_list is paid", result.badge):
        assert text in page
    page.encode("utf-8")


@pytest.mark.parametrize(
    ("shape", "part"),
    [
        ("assay", "final_response='42 or 43'"),
        ("trl", 'completions=[[{"role": "assistant", "content": \'42 or 43\'}]]'),
        ("trl-text", "completions=['42 or 43']"),
        ("verl", "solution_str='42 or 43'"),
        ("openrlhf", "labels=['42']"),
        ("verifiers", "answer='42'"),
        ("plain", "'42 or 43',"),
    ],
)
def test_a_snippet_is_python_that_asks_the_same(shape: Shape, part: str) -> None:
    code = snippet(_target(shape), _finding("low"))
    ast.parse(code)
    assert part in code


@pytest.mark.parametrize("check", ["worker_thread", "event_loop"])
def test_a_snippet_goes_where_the_finding_was_made(check: str) -> None:
    code = snippet(_target(), _finding("high", check))
    ast.parse(code)
    assert {"worker_thread": "threading.Thread", "event_loop": "async def"}[check] in code


def test_a_snippet_of_a_registered_reward_runs(capsys: pytest.CaptureFixture[str]) -> None:
    target = replace(_target(text="math_equal_reward"), form="registered")
    exec(compile(snippet(target, _finding("low", text=r"\boxed{42}")), "snippet", "exec"), {})
    assert "1.0" in capsys.readouterr().out


@given(st.text(max_size=40), st.text(min_size=1, max_size=30), st.integers(0, 400))
def test_an_expression_gives_the_text_back(start: str, unit: str, count: int) -> None:
    text = start + unit * count
    code = expression(text)
    if "# cut" not in code:
        assert ast.literal_eval(code) == text if "*" not in code else eval(code) == text


def test_a_long_repetition_is_written_as_one() -> None:
    assert expression("x" + "(" * 5000 + "y") == "'x' + '(' * 5000 + 'y'"


def test_the_one_with_fewer_bad_findings_is_harder_to_fool() -> None:
    strong = _audit(_finding("low", "hedge"))
    weak = replace(
        _audit(_finding("high", "or_list")), target=replace(_target(), name="g", text="guest.py:g")
    )
    comparison = compare(strong, weak)
    assert comparison.harder == "first"
    assert comparison.sentence == (
        "f is harder to fool: f does better in 1 checks, g in 1, 1 come out alike"
    )
    assert {row.check: row.better for row in comparison.rows} == {
        "or_list": "first", "hedge": "second", "time_bound": "alike",
    }  # fmt: skip
    assert compare(strong, strong).sentence.startswith("neither is harder to fool")


def test_accepting_a_finding_does_not_make_a_reward_harder_to_fool() -> None:
    accepted = _audit(_finding("high"), accepted={"or_list": "by definition"})
    assert compare(accepted, _audit()).harder == "second"


def test_refusing_right_forms_does_not_make_a_reward_easier_to_fool() -> None:
    strict = replace(_audit(), checks=(_refused(),))
    fooled = replace(_audit(_finding("medium")), checks=(*_audit(_finding("medium")).checks,))
    assert compare(strict, fooled).harder == "first"


def _refused() -> CheckRecord:
    return CheckRecord("rewrites_accepted", "correctness", "…", "found", "high", (), None)


def test_audits_that_asked_different_things_are_not_compared() -> None:
    with pytest.raises(UsageError, match="differ in kind"):
        compare(_audit(), replace(_audit(), kind="qa"))


def test_one_flaw_is_one_cause_with_its_findings() -> None:
    names = ("answer_list", "or_list", "negation", "think_leak", "hidden_tail", "time_bound")
    result = _audit(*(_finding("high", name) for name in names))
    causes = {cause.name: cause.checks for cause in result.causes}
    assert causes == {
        "anywhere": ("answer_list", "hidden_tail", "negation", "or_list", "think_leak"),
        "unbounded": ("time_bound",),
    }
    assert {finding.check: finding.cause for finding in result.findings}["or_list"] == "anywhere"
    record = result.to_record()
    assert [finding["cause"] for finding in record["findings"]].count("anywhere") == 5
    assert [cause["concern"] for cause in record["causes"]] == ["fooled", "robustness"]
    assert result.to_html().index("<h2>Causes") < result.to_html().index("<h2>Findings")


def test_two_flaws_are_two_causes() -> None:
    half = replace(_finding("high", "empty_answer"), pay=0.5)
    full = replace(_finding("high", "several_answers"), pay=1.0)
    assert {cause.name for cause in _audit(half, full).causes} == {
        "unreadable_paid", "several_places",
    }  # fmt: skip
    alike = replace(full, pay=0.5)
    assert {cause.name for cause in _audit(half, alike).causes} == {"unreadable_paid"}


def test_refusing_right_forms_is_recall_and_not_being_fooled() -> None:
    result = _audit(_finding("high", "rewrites_accepted"))
    refused = CheckRecord(
        "rewrites_accepted", "correctness", "…", "found", "high", (rate_of("x", 9, 71),), None
    )
    result = replace(result, checks=(*result.checks, refused))
    assert not result.fooled
    assert result.verdict.startswith(
        "f: fooled: no; recall: refuses 9 of 71 right answers in another form"
    )
    assert result.causes[0].concern == "recall"


def test_every_check_is_about_one_thing_and_every_cause_names_checks() -> None:
    names = {check.name for check in ALL_CHECKS}
    assert names >= PAID | REFUSED
    assert not PAID & REFUSED
    for cause in CAUSES:
        assert cause.shows | cause.explains <= names
    assert len({cause.name for cause in CAUSES}) == len(CAUSES)


def test_no_check_that_ran_passes_no_gate() -> None:
    checks = tuple(replace(one, outcome="skipped", skipped="why") for one in _audit().checks)
    result = replace(_audit(), checks=checks)
    assert result.passes_at is None
    assert result.fails("critical")
    assert result.verdict == "f: no check ran, so nothing is known: why"
