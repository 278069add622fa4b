"""The engine: kinds, data, acceptances, determinism, and the context that checks hold."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.audit.checks import ALL_CHECKS
from assay.audit.context import CheckContext, shrink
from assay.audit.data import built_in
from assay.audit.engine import audit_reward, find_kind, read_samples
from assay.audit.findings import CallResult, GraderCall, rate_of
from assay.audit.isolation import AuditSession, ProcessLimits
from assay.audit.target import parse_target
from assay.errors import BadParameter, BadRecord
from assay.registry import REWARDS, find_reward
from assay.schema.audit import KINDS
from tests.audit.in_process import context_of

GUESTS = r"""
import json, re

def boxed(final_response, answer):
    found = re.findall(r"\\boxed\{([^{}]*)\}", final_response)
    return float(bool(found) and found[-1].strip() == str(answer))

def words(final_response, answer):
    return float(final_response.strip().lower() == str(answer).lower())

def record(final_response, answer):
    try:
        record, reference = json.loads(final_response), json.loads(answer)
    except ValueError:
        return 0.0
    return float(isinstance(record, dict) and record == reference)

def anything(final_response, answer):
    return 1.0

def letter(final_response, answer):
    found = re.fullmatch(r"\(?([A-D])\)?\.?", final_response.strip())
    return float(bool(found) and found[1] == answer)

def anyone_said_it(final_response, answer, trajectory=None):
    return float(any(answer in str(message.get("content")) for message in trajectory or []))

def form(final_response, **kwargs):
    return float(bool(re.fullmatch(r"<answer>[^<]+</answer>", final_response.strip())))

def hidden_reference(final_response, **kwargs):
    return float(final_response.strip().lower() == str(kwargs["answer"]).lower())

def half_for_anything(final_response, answer):
    try:
        return float(float(final_response) == float(answer))
    except ValueError:
        return 0.5
"""


@pytest.fixture
def guests(tmp_path: Path) -> Path:
    (tmp_path / "guests.py").write_text(GUESTS)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("boxed", "maths"),
        ("words", "qa"),
        ("record", "structured"),
        ("letter", "choice"),
        ("anyone_said_it", "agent"),
        ("form", "format"),
        ("hidden_reference", "qa"),
        ("half_for_anything", "maths"),
    ],
)
def test_the_kind_is_the_one_whose_golds_are_paid(name: str, kind: str, guests: Path) -> None:
    with AuditSession(parse_target(f"guests.py:{name}", folder=guests)) as session:
        assert find_kind(session) == kind


@pytest.mark.parametrize("name", REWARDS.built_in())
def test_every_predefined_reward_declares_its_kind_in_each_version(name: str) -> None:
    versions = [find_reward(f"{name}@{version}") for version in REWARDS.versions(name)]
    assert all(spec.kind in KINDS for spec in versions)
    assert len({spec.kind for spec in versions}) == 1


def test_a_reward_of_ones_own_declares_its_kind_and_what_it_accepts(tmp_path: Path) -> None:
    (tmp_path / "declared.py").write_text(
        "import assay\n\n"
        "@assay.reward(register=False, kind='choice', accepts={'empty_answer': 'paid here'})\n"
        "def anything(final_response, answer):\n    return 1.0\n\n"
        "@assay.reward(register=False, accepts={'empty_anser': 'misspelt'})\n"
        "def misspelt(final_response, answer):\n    return 1.0\n"
    )
    result = audit_reward(
        parse_target("declared.py:anything", folder=tmp_path), families=("degenerate",)
    )
    assert result.kind == "choice"
    reasons = {finding.check: finding.accepted for finding in result.findings}
    assert reasons.pop("empty_answer") == "paid here"
    assert reasons
    assert set(reasons.values()) == {None}
    with pytest.raises(BadParameter, match="did you mean 'empty_answer'"):
        audit_reward(parse_target("declared.py:misspelt", folder=tmp_path))


def test_check_names_are_unique_and_acceptances_name_checks() -> None:
    names = [check.name for check in ALL_CHECKS]
    assert len(names) == len(set(names))
    for reasons in (find_reward(name).accepts for name in REWARDS.built_in()):
        assert reasons.keys() <= set(names)
        assert all(len(reason) > 40 for reason in reasons.values())


def test_an_unknown_check_cannot_be_accepted() -> None:
    with pytest.raises(BadParameter, match="did you mean 'time_bound'"):
        audit_reward(parse_target("math_equal_reward"), accept={"time_bounds": "because"})


def test_an_accepted_finding_is_kept_and_opens_the_gate(guests: Path) -> None:
    spec = parse_target("guests.py:anything", folder=guests)
    plain = audit_reward(spec, kind="maths", families=("degenerate",))
    assert plain.fails("critical")
    assert plain.passes_at is None
    reasons = {check.name: "it is a test" for check in plain.checks}
    lenient = audit_reward(spec, kind="maths", families=("degenerate",), accept=reasons)
    assert [replace(one, accepted=None) for one in lenient.findings] == list(plain.findings)
    assert not lenient.fails("info")
    assert {check.outcome for check in lenient.checks} <= {"accepted", "passed", "skipped"}


def test_two_audits_with_one_seed_give_the_same_record() -> None:
    spec = parse_target("qa_f1_reward")
    one, other = (
        json.dumps(audit_reward(spec, seed=7, families=("spray", "text", "shape")).to_record())
        for _ in range(2)
    )
    assert one == other


def test_the_rows_of_a_check_depend_on_seed_and_name_alone() -> None:
    context = context_of(lambda final_response, answer: 1.0, "maths")
    first, second = ALL_CHECKS[:2]
    drawn = [replace(context, check=check).rows(6) for check in (first, second, first)]
    assert drawn[0] == drawn[2]
    assert drawn[0] != drawn[1]
    assert drawn[0] != replace(context, check=first, seed=3).rows(6)


def test_the_same_call_is_asked_once_unless_it_has_to_be_fresh(tmp_path: Path) -> None:
    (tmp_path / "counting.py").write_text(
        "calls = 0\ndef f(final_response, answer):\n"
        "    global calls\n    calls += 1\n    return float(calls)\n"
    )
    with AuditSession(parse_target("counting.py:f", folder=tmp_path), ProcessLimits()) as session:
        context = CheckContext(session, "qa", built_in("qa")[:1], "fast")
        call = GraderCall("a", {"answer": "a"})
        assert context.ask([call]) == context.ask([call])
        assert [verdict.value for verdict in context.ask_fresh([call, call])] == [1.0, 2.0]


def test_rows_of_a_file_become_samples(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    rows = [{"question": f"{n} + {n}?", "answer": str(2 * n)} for n in range(60)]
    file.write_text("\n".join(map(json.dumps, rows)))
    samples = read_samples(file, "maths", "fast", seed=1)
    assert len(samples) == 40
    assert samples == read_samples(file, "maths", "fast", seed=1)
    assert samples != read_samples(file, "maths", "fast", seed=2)
    assert all(sample.columns["answer"] == sample.reference for sample in samples)


@pytest.mark.parametrize(
    ("text", "because"), [("", "has no rows"), ("[1]\n", "not an object"), ("{", "not JSON")]
)
def test_a_file_that_holds_no_rows_is_refused(text: str, because: str, tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text(text)
    with pytest.raises(BadRecord, match=because):
        read_samples(file, "maths", "fast", seed=0)


@pytest.mark.parametrize("kind", KINDS)
def test_there_are_built_in_samples_of_every_kind(kind: str) -> None:
    assert built_in(next(known for known in KINDS if known == kind))


@given(st.integers(0, 50), st.integers(0, 50))
def test_an_interval_holds_its_rate(hits: int, misses: int) -> None:
    n = hits + misses
    rate = rate_of("hits", hits, n)
    low, high = rate.low, rate.high
    assert 0.0 <= low <= high <= 1.0
    if n:
        assert low <= hits / n <= high


@given(st.text(alphabet="ab \n(", max_size=60), st.integers(0, 200))
def test_a_shrunk_text_is_still_bad_and_no_longer(text: str, questions: int) -> None:
    calls = 0

    def bad(candidate: str) -> bool:
        nonlocal calls
        calls += 1
        return candidate.count("b") >= 2

    if not bad(text):
        return
    calls = 0
    shorter = shrink(text, bad, questions)
    assert shorter.count("b") >= 2
    assert len(shorter) <= len(text)
    assert calls <= questions


def test_what_is_not_needed_is_shrunk_away() -> None:
    text = "I think that the answer may well be 42 or 43, who knows"
    assert shrink(text, lambda t: "42" in t and "43" in t, 200) == "4243"


def test_a_verdict_pays_above_half_of_full_marks() -> None:
    with AuditSession(parse_target("math_equal_reward")) as session:
        context = CheckContext(session, "maths", built_in("maths")[:3], "fast")
        assert context.full_marks == 1.0
        assert [context.pays(CallResult("scored", value)) for value in (1.0, 0.5, 0.51)] == [
            True, False, True,
        ]  # fmt: skip
        assert not context.pays(CallResult("abstained", None))


def test_references_that_are_letters_are_those_of_multiple_choice(guests: Path) -> None:
    rows = [{"question": "Which?", "answer": letter} for letter in "ABCDAB"]
    (guests / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    audit = audit_reward(
        parse_target("guests.py:words", folder=guests),
        data=guests / "rows.jsonl",
        families=("spray",),
    )
    assert audit.kind == "choice"
    assert not audit.fooled


def test_a_reward_of_the_form_is_not_asked_what_it_cannot_know(guests: Path) -> None:
    audit = audit_reward(
        parse_target("guests.py:form", folder=guests), families=("degenerate", "shape", "text")
    )
    assert audit.kind == "format"
    assert not audit.findings
    assert {"empty_answer", "duplication", "odd_text"} <= {check.name for check in audit.checks}
