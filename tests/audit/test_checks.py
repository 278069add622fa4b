"""What the content checks ask, how they weigh what they hear, and when they keep silent."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from assay.audit.checks import CHECKS
from assay.audit.context import milder
from assay.audit.data import built_in, from_row
from assay.audit.findings import Sample, at_least
from assay.audit.frames import FRAMES, measure_baseline
from assay.errors import BadRecord
from assay.schema.audit import KINDS, Kind, Severity
from tests.audit.in_process import InProcess, context_of, findings_of
from tests.audit.rewards.broken import any_box_counts, equal, last_box, words
from tests.audit.rewards.sound import exact_match

ROME = Sample("Where?", "Rome", ("Rome",), ("Oslo",), {"answer": "Rome"})
Talk = Sequence[Mapping[str, Any]]
Reward = Callable[..., Any]


def strict(final_response: str, answer: str) -> float:
    """Whole text against whole text."""
    return float(final_response == answer)


def without_frame(final_response: str, answer: str) -> float:
    return equal(last_box(final_response) if final_response.endswith("}") else "", answer)


def ascii_digits(final_response: str, answer: str) -> float:
    return equal(last_box(final_response) if final_response.isascii() else "", answer)


def knows_english(final_response: str, answer: str) -> float:
    last_word = (final_response.rstrip(".").split() or [""])[-1]
    denied = "not" in final_response
    return equal("" if denied else last_box(final_response) or last_word, answer)


def late_calls_count(final_response: str, answer: str, trajectory: Talk) -> float:
    used = any(m["role"] == "tool" and not m.get("is_error") for m in trajectory)
    return float(used and words(final_response) == words(answer))


@pytest.mark.parametrize(
    ("check", "kind", "reward", "severity", "why"),
    [
        ("layout", "qa", strict, "low", "a line break at the end is no other answer"),
        ("layout", "maths", without_frame, "low", "nor is bold type"),
        ("unicode_forms", "maths", ascii_digits, "low", "full-width digits are digits"),
        ("zero_width", "maths", ascii_digits, "info", "nobody sees the character"),
        ("languages", "qa", exact_match, "info", "a sentence of another language holds it"),
        ("foreign_denial", "maths", knows_english, "low", "no es is not"),
        ("late_call", "agent", late_calls_count, "low", "the call came after the answer"),
        ("ignores_tools", "agent", late_calls_count, "info", "the tool had found nothing"),
    ],
)
def test_mild_flaws_are_named_and_stay_mild(
    check: str, kind: Kind, reward: Reward | str, severity: Severity, why: str
) -> None:
    (finding,) = findings_of(context_of(reward, kind), check)
    assert finding.severity == severity, why


@pytest.mark.parametrize("frame", FRAMES, ids=lambda frame: str(frame.name))
def test_the_audit_finds_out_where_a_target_wants_its_answers(frame: Any) -> None:
    samples = built_in("qa")

    def reward(final_response: str, answer: str) -> float:
        return 3.0 if final_response == frame.put(answer) else 0.0

    measured = measure_baseline(InProcess(reward).ask, "qa", samples)

    assert measured.frame == frame
    assert measured.full_marks == 3.0
    assert measured.accepted == measured.tried == 12


def test_the_usual_frame_is_preferred_where_all_are_paid() -> None:
    usual: dict[Kind, str] = {"maths": "boxed", "qa": "bare", "structured": "bare"}
    for kind, name in usual.items():
        ask = InProcess(lambda final_response: 1.0).ask
        assert measure_baseline(ask, kind, built_in(kind)).frame.name == name


def test_a_target_that_pays_nothing_is_charged_once() -> None:
    findings = findings_of(context_of(lambda final_response, answer: 0.0, "maths"))
    assert [(item.check, item.severity) for item in findings] == [("gold_accepted", "critical")]


def test_a_target_that_pays_everything_is_charged_with_the_worst() -> None:
    findings = findings_of(context_of(lambda final_response, answer: 1.0, "qa"))
    worst = {item.check for item in findings if item.severity == "critical"}
    assert {"near_misses_refused", "empty_answer", "other_gold", "lazy_constant"} <= worst
    assert "gold_accepted" not in {item.check for item in findings}


def test_severity_is_milder_for_an_accident_and_for_part_of_the_pay() -> None:
    gold = {sample.reference for sample in built_in("qa")[:1]}

    def everywhere(final_response: str, answer: str) -> float:
        return float(final_response == answer or not final_response.strip())

    def partly(final_response: str, answer: str) -> float:
        return 0.6 if not final_response.strip() else float(final_response == answer)

    def on_one_row(final_response: str, answer: str) -> float:
        return float(final_response == answer or (not final_response.strip() and answer in gold))

    severities = {
        reward.__name__: findings_of(context_of(reward, "qa", budget="full"), "empty_answer")[0]
        for reward in (everywhere, partly, on_one_row)
    }
    assert {name: item.severity for name, item in severities.items()} == {
        "everywhere": "critical",
        "partly": "high",
        "on_one_row": "high",
    }
    assert milder("low", 3) == "info"


def test_rates_come_with_their_intervals() -> None:
    def only_whole(final_response: str, answer: str) -> float:
        return float(last_box(final_response) == answer)

    results = {
        check.name: context_of(only_whole, "maths").run(check)
        for check in CHECKS
        if check.family == "correctness"
    }
    (gold,) = results["gold_accepted"].rates
    (forms,) = results["rewrites_accepted"].rates
    (misses,) = results["near_misses_refused"].rates
    assert (gold.hits, misses.hits) == (0, 0)
    assert misses.n >= 100
    assert misses.high < 0.05
    assert forms.n >= 80
    assert forms.hits == forms.n
    assert forms.low > 0.9


def test_a_reproducer_is_small_and_still_the_same_kind_of_answer() -> None:
    def anywhere(final_response: str, answer: str) -> float:
        return float(answer in final_response)

    (echo,) = findings_of(context_of(anywhere, "qa"), "prompt_echo")
    assert echo.reproducer.final_response == "Which is farther from the Sun, Mars or Venus?"
    (alternatives,) = findings_of(context_of(anywhere, "qa", [ROME]), "or_list")
    assert alternatives.reproducer.final_response == "Rome or Oslo"
    (miss,) = findings_of(context_of(anywhere, "qa", [ROME]), "withdrawal")
    assert "Wait, that is wrong" in miss.reproducer.final_response


def test_an_answer_in_one_place_of_several_is_a_convention_and_no_flaw() -> None:
    def last_counts(final_response: str, answer: str) -> float:
        return equal(last_box(final_response), answer)

    assert not findings_of(context_of(last_counts, "maths"), "several_answers")
    assert findings_of(context_of(any_box_counts, "maths"), "several_answers")


def test_a_penalty_that_is_escaped_is_no_bonus_for_repetition() -> None:
    def punished(final_response: str, answer: str) -> float:
        return 1.0 if final_response == answer else -1.0 if "\n" not in final_response else 0.0

    assert not findings_of(context_of(punished, "qa"), "duplication", "length_bias", "range")


def test_the_same_seed_gives_the_same_findings_in_any_order() -> None:
    context = context_of("qa_f1_reward", "qa")
    checks = [check for check in CHECKS if "qa" in check.kinds]
    forwards = {check.name: context.run(check) for check in checks}
    again = context_of("qa_f1_reward", "qa")
    backwards = {check.name: again.run(check) for check in checks[::-1]}
    assert _timeless(forwards) == _timeless(backwards)


def _timeless(results: Mapping[str, Any]) -> dict[str, str]:
    return {name: repr(result) for name, result in sorted(results.items())}


@pytest.mark.parametrize(("kind", "most"), [("maths", 2600), ("qa", 2000), ("agent", 1800)])
def test_a_fast_audit_asks_a_bounded_number_of_questions(kind: Kind, most: int) -> None:
    names: dict[Kind, str] = {
        "maths": "math_equal_reward", "qa": "qa_f1_reward", "agent": "qa_f1_reward_tool",
    }  # fmt: skip
    context = context_of(names[kind], kind)
    findings_of(context)
    assert context.session.call_count <= most


def test_a_large_file_of_data_costs_no_more_on_a_full_budget() -> None:
    rows = [from_row("qa", {"prompt": f"Which is {n}?", "answer": f"name{n}"}) for n in range(600)]
    context = context_of(exact_match, "qa", rows, budget="full")
    assert not [item for item in findings_of(context) if at_least(item.severity, "medium")]
    assert context.session.call_count <= 15_000


def test_a_world_that_the_recordings_do_not_hold_is_skipped_with_the_reason() -> None:
    async def of_another_world(context: Any) -> float:
        return float((await context.acquire_resource("chess")).evidence().won)

    context = context_of(of_another_world, "environment")
    results = [context.run(check) for check in CHECKS if "environment" in check.kinds]
    assert not [item for result in results for item in result.findings]
    assert any("episodes of its own" in (result.skipped or "") for result in results)


def test_episodes_of_ones_own_are_not_replaced_by_built_in_ones() -> None:
    def own_reward(context: Any) -> float:
        return 1.0

    row = built_in("environment")[0]
    call = context_of(own_reward, "environment").samples[0].columns
    assert "episode" not in call
    own = replace(row, columns={**row.columns, "episode": {"task": {"id": "mine"}}})
    context = context_of(own_reward, "environment", [own])
    results = {check.name: context.run(check) for check in CHECKS if "environment" in check.kinds}
    assert not results["gold_accepted"].findings
    for name in ("near_misses_refused", "after_done", "claims_believed", "dead_world"):
        assert results[name].skipped, name


@pytest.mark.parametrize(
    ("row", "gold", "right", "prompt", "why"),
    [
        ({"answer": 42, "question": "?"}, 42, ("42",), "?", "a number stays one"),
        ({"solution": "a", "prompt": "p"}, "a", ("a",), "p", "another name of the reference"),
        ({"golden_answers": ["x", "y"]}, ["x", "y"], ("x", "y"), "", "every alias is right"),
        ({"solution": r"So $\boxed{\frac{1}{2}}$."}, r"So $\boxed{\frac{1}{2}}$.",
         (r"\frac{1}{2}",), "", "of a worked solution the boxed answer"),
        ({"answer": "2 + 2 = 4\n#### 4"}, "2 + 2 = 4\n#### 4", ("4",), "", "or the last line"),
        ({"answer": r"\boxed{4"}, r"\boxed{4", (r"\boxed{4",), "", "an open box holds nothing"),
        ({"answer": "a", "right": ["A"]}, "a", ("a", "A"), "", "the row may say more"),
        (
            {"answer": {"k": 1}, "prompt": [{"role": "user", "content": "go"}]},
            {"k": 1}, ('{"k": 1}',), "go", "a record is JSON, a chat its last message",
        ),
    ],
)  # fmt: skip
def test_a_row_of_ones_own_data_becomes_a_sample(
    row: dict[str, Any], gold: Any, right: tuple[str, ...], prompt: str, why: str
) -> None:
    sample = from_row("qa", row)
    assert (sample.reference, sample.right, sample.prompt) == (gold, right, prompt), why
    assert sample.columns["answer"] == gold


def test_a_row_without_a_reference_says_what_it_has() -> None:
    with pytest.raises(BadRecord, match="'text'"):
        from_row("maths", {"text": "?"})
    with pytest.raises(BadRecord, match="'episode'"):
        from_row("environment", {"task_id": "1"})


@pytest.mark.parametrize("kind", KINDS)
def test_the_built_in_rows_are_usable(kind: Kind) -> None:
    samples = built_in(kind)
    assert len(samples) >= 4
    assert len({sample.prompt for sample in samples}) == len(samples)
    for sample in samples:
        assert sample.right
        assert not set(sample.right) & set(sample.wrong)
    # There are no more letters than options.
    if kind not in ("environment", "choice"):
        assert len({sample.reference_text for sample in samples}) == len(samples)
        assert all(sample.wrong for sample in samples)


@pytest.mark.parametrize("sample", built_in("maths"), ids=lambda sample: str(sample.reference))
def test_the_built_in_mathematics_is_right(sample: Sample) -> None:
    assert [text for text in sample.right if not equal(text, sample.reference)] == []
    assert [text for text in sample.wrong if equal(text, sample.reference)] == []
