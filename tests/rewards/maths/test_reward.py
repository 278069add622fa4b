"""The two maths rewards: values, reasons, abstentions."""

from __future__ import annotations

import asyncio
import pickle
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import assay.rewards.outcome.maths.reward as maths
from assay.errors import BadParameter
from assay.rewards.outcome.maths.compare.equality import Equality
from assay.rewards.outcome.maths.reward import math_equal_reward, math_equal_reward_tool
from assay.schema.score import Abstained, Scored
from assay.scoring.scorer import score, score_async

TOOL: list[dict[str, Any]] = [
    {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "calc"}}]},
    {"role": "tool", "tool_call_id": "1", "content": "42"},
]
NO_TOOL = [{"role": "assistant", "content": "I used a tool."}]

REFERENCES: list[tuple[object, str]] = [
    ("42", "a text"),
    (r"\boxed{42}", "a boxed text"),
    ("Six times seven is $\\boxed{42}$.", "a solution"),
    (42, "an integer, as JSON gives it"),
    (42.0, "a float"),
    (Decimal("42.0"), "a decimal"),
    (Fraction(84, 2), "a fraction"),
    (["41", "42"], "a list of acceptable answers: the best counts"),
    (("42", None), "a missing alternative is no alternative"),
    (np.array(["41", "42"], dtype=object), "an array, as Parquet gives it"),
    (np.int64(42), "a numpy number"),
]


@pytest.mark.parametrize(("answer", "reason"), REFERENCES)
def test_a_reference_may_be_a_text_a_number_or_a_list(answer: object, reason: str) -> None:
    assert float(math_equal_reward(r"so \boxed{42}", answer)) == 1.0, reason
    assert float(math_equal_reward(r"so \boxed{43}", answer)) == 0.0, reason


@pytest.mark.parametrize("answer", [None, "", "  ", [], [None, ""], np.array([])])
def test_a_missing_reference_is_not_the_agents_fault(answer: object) -> None:
    result = math_equal_reward(r"\boxed{42}", answer)
    assert isinstance(result, Abstained)
    assert result.reason == "missing_reference"
    assert dict(result.parts) == {"acc": None}


def test_a_reference_in_scientific_notation_is_not_written_out() -> None:
    assert math_equal_reward(r"\boxed{42}", Decimal("1E+999999999"))["reward"] in (0.0, None)


@pytest.mark.parametrize(
    ("reference", "reason"),
    [
        ({"answer": 42}, "bad_reference"),
        (b"42", "bad_reference"),
        ([["42", "43"]], "bad_reference"),
        (["42", {}], "bad_reference"),
        (float("inf"), "bad_reference"),
        (10**5000, "bad_reference"),
        (float("nan"), "missing_reference"),
        ([None, ""], "missing_reference"),
    ],
    ids=range(8),
)
def test_a_reference_that_cannot_be_read_abstains(reference: Any, reason: str) -> None:
    result = math_equal_reward(r"\boxed{42}", reference)
    assert isinstance(result, Abstained)
    assert result.reason == reason


@pytest.mark.parametrize("response", [42, 4.2, b"42", ["42"], [{"role": "a", "content": "42"}]])
def test_a_response_that_is_not_text_abstains(response: Any) -> None:
    result = math_equal_reward(response, "42")
    assert isinstance(result, Abstained)
    assert (result.reason, tuple(result.parts)) == ("bad_response", ("acc",))


@pytest.mark.parametrize(
    "response", ["5", "qwe", "1,1", "x=5", r"\begin{bmatrix}1&2\\3&4\end{bmatrix}"]
)
def test_whether_an_unevaluated_reference_is_understood_does_not_depend_on_the_answer(
    response: str,
) -> None:
    reference = r"\begin{bmatrix}y & \prod_{k=1}^{0 \le 7} x < 3\\1 & y\end{bmatrix} \times 1"
    result = math_equal_reward(response, reference)
    assert isinstance(result, Abstained)
    assert result.reason == "unparseable_reference"


def test_an_unreadable_reference_abstains_unless_the_texts_are_identical() -> None:
    unreadable = r"\frac{1}{"
    result = math_equal_reward(r"\boxed{42}", unreadable)
    assert isinstance(result, Abstained)
    assert result.reason == "unparseable_reference"
    assert float(math_equal_reward(r"\frac{1}{", unreadable)) == 1.0


def test_an_unreadable_reference_is_not_outvoted_by_one_that_differs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def compare(prediction: str, reference: str, **_: object) -> Equality:
        return Equality(
            equal=None if reference == "???" else prediction == reference, rule="", because=""
        )

    monkeypatch.setattr(maths, "compare", compare)
    assert math_equal_reward(r"\boxed{42}", ["???", "41"]).abstained
    assert float(math_equal_reward(r"\boxed{42}", ["???", "42"])) == 1.0


WRONG: list[tuple[object, str]] = [
    (r"\boxed{43}", "another number"),
    ("", "nothing"),
    (None, "no response at all"),
    (r"not \boxed{42}", "a refused answer"),
    (r"\boxed{42 \text{ or } 43}", "alternatives for one value"),
    ("The answer is either 42 or 43.", "alternatives in words"),
    (r"\boxed{" + "9" * 200_000 + "}", "a runaway answer"),
    (r"\boxed{" + "(" * 10_000 + "}", "an unreadable answer"),
]


@pytest.mark.parametrize(("response", "reason"), WRONG)
def test_the_agents_own_failure_is_zero_with_a_reason(response: Any, reason: str) -> None:
    result = math_equal_reward(response, "42")
    assert isinstance(result, Scored), reason
    assert (result.value, dict(result.parts)) == (0.0, {"acc": 0.0}), reason
    assert result.because


def test_alternatives_are_an_answer_where_the_reference_has_several_values() -> None:
    assert float(math_equal_reward(r"\boxed{5 \text{ or } 9}", "5$ or $9")) == 1.0


def test_the_reason_names_both_rules_and_the_notes_keep_the_span() -> None:
    result = math_equal_reward("The answer is 1/2.", "0.5")
    assert isinstance(result, Scored)
    assert "phrase" in result.because
    assert result.notes["extracted"] == "1/2"
    assert result.notes["rule"].startswith("phrase/")


def test_columns_of_other_rewards_are_ignored() -> None:
    columns: dict[str, Any] = {"question": "6*7?", "id": 3, "trajectory": None}
    columns |= {"final_response": r"\boxed{42}", "answer": "42"}
    assert float(score("math_equal_reward", **columns)) == 1.0


def test_the_extraction_policy_is_configuration() -> None:
    params = {"extraction": "boxed"}
    assert float(score("math_equal_reward", final_response="42", answer="42")) == 1.0
    assert float(score("math_equal_reward", final_response="42", answer="42", params=params)) == 0.0
    rules = ["hash", "boxed"]
    assert float(math_equal_reward(r"\boxed{42} #### 41", "41", extraction=rules)) == 1.0


CONVENTIONS: list[tuple[str, str, dict[str, Any], float, str]] = [
    (r"\boxed{0.33333333}", "1/3", {}, 1.0, "a decimal with enough digits"),
    (r"\boxed{0.33333333}", "1/3", {"tolerance": "exact"}, 0.0, "only equal values"),
    (r"\boxed{50}", r"50\%", {}, 1.0, "the sign may be left out"),
    (r"\boxed{50}", r"50\%", {"percent": "strict"}, 0.0, "the sign must be there"),
    (r"\boxed{5}", "5 cm", {"units": "required"}, 0.0, "the unit must be there"),
    (r"\boxed{2, 1}", "1, 2", {}, 1.0, "a list is a collection"),
    (r"\boxed{2, 1}", "1, 2", {"list_order": "kept"}, 0.0, "a list is a sequence"),
]


@pytest.mark.parametrize(("response", "reference", "options", "value", "reason"), CONVENTIONS)
def test_conventions_are_configuration(
    response: str, reference: str, options: dict[str, Any], value: float, reason: str
) -> None:
    assert float(math_equal_reward(response, reference, **options)) == value, reason
    assert math_equal_reward_tool(response, reference, TOOL, **options).parts["acc"] == value, (
        reason
    )


@pytest.mark.parametrize("option", ["tolerance", "percent", "units", "list_order"])
def test_an_unknown_convention_is_an_error_that_lists_the_known(option: str) -> None:
    options: dict[str, Any] = {option: "loose"}
    with pytest.raises(BadParameter, match=option):
        math_equal_reward("42", "42", **options)


@pytest.mark.parametrize("extraction", ["box", [], ["boxed", "magic"]])
def test_an_unknown_policy_is_an_error_that_lists_the_known(extraction: Any) -> None:
    with pytest.raises(BadParameter, match="boxed"):
        math_equal_reward("42", "42", extraction=extraction)


GATED: list[tuple[str, Any, float, float, str]] = [
    (r"\boxed{42}", NO_TOOL, 0.0, 1.0, "right without a tool"),
    (r"\boxed{41}", NO_TOOL, 0.0, 0.0, "wrong without a tool"),
    (r"\boxed{41}", TOOL, 0.1, 0.0, "wrong with a tool"),
    (r"\boxed{42}", TOOL, 1.0, 1.0, "right with a tool"),
    ("", TOOL, 0.1, 0.0, "no answer, with a tool"),
    (r"\boxed{42}", [], 0.0, 1.0, "an empty trajectory has no tool"),
    (r"\boxed{42}", [TOOL[:1], TOOL[1:]], 1.0, 1.0, "a trajectory in segments"),
]


@pytest.mark.parametrize(("response", "trajectory", "value", "acc", "reason"), GATED)
def test_the_tool_gate_moves_the_reward_and_never_acc(
    response: str, trajectory: Any, value: float, acc: float, reason: str
) -> None:
    result = math_equal_reward_tool(response, "42", trajectory)
    assert isinstance(result, Scored), reason
    assert (result.value, result.parts["acc"]) == (value, acc), reason


def test_a_failed_tool_call_opens_the_gate_only_under_a_policy_that_says_so() -> None:
    failed = [TOOL[0], {**TOOL[1], "is_error": True}]
    assert float(math_equal_reward_tool(r"\boxed{42}", "42", failed)) == 0.0
    assert float(math_equal_reward_tool(r"\boxed{42}", "42", failed, tool_policy="agentfly")) == 1.0


def test_a_trajectory_that_cannot_be_read_abstains() -> None:
    result = math_equal_reward_tool(r"\boxed{42}", "42", None)
    assert isinstance(result, Abstained)
    assert result.reason == "bad_trajectory"


def test_the_rewards_are_plain_functions_that_pickle() -> None:
    again = pickle.loads(pickle.dumps(math_equal_reward))
    assert again is math_equal_reward


def test_the_score_is_the_same_from_an_event_loop() -> None:
    inside = asyncio.run(
        score_async("math_equal_reward", final_response=r"\boxed{\tfrac12}", answer="0.5")
    )
    assert inside == score("math_equal_reward", final_response=r"\boxed{\tfrac12}", answer="0.5")


@settings(max_examples=200)
@given(st.text(max_size=60), st.text(max_size=20) | st.integers() | st.floats())
def test_any_response_and_reference_give_a_score(response: str, answer: object) -> None:
    result = math_equal_reward(response, answer)
    assert isinstance(result, (Scored, Abstained))
    assert tuple(result.parts) == ("acc",)
    assert result.abstained or float(result) in (0.0, 1.0)


@given(st.integers(min_value=-(10**12), max_value=10**12))
def test_a_number_equals_itself_and_not_its_successor(number: int) -> None:
    assert float(math_equal_reward(f"\\boxed{{{number}}}", number)) == 1.0
    assert float(math_equal_reward(f"\\boxed{{{number}}}", number + 1)) == 0.0
