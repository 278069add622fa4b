"""At the boundary every result becomes a score, and every failure an abstention."""

import asyncio
import pickle
import threading
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import assay
from assay import Abstained, Scored
from assay.errors import BadParameter, MissingParameter
from assay.scoring import Scorer, score, score_async, to_score


def length(final_response: str, answer: str = "", *, scale: float = 1.0) -> float:
    return len(final_response) * scale


def everything(final_response: str, *, mode: str = "a", **columns: Any) -> dict[str, Any]:
    return {"reward": 1.0, "columns": ",".join(sorted(columns)), "mode": mode}


async def patient(final_response: str) -> float:
    await asyncio.sleep(0)
    return 0.25


def test_columns_are_passed_by_name_and_others_are_not() -> None:
    assert float(score(length, final_response="four", question="ignored")) == 4.0


def test_every_column_reaches_a_reward_that_takes_any() -> None:
    result = score(everything, final_response="x", answer="y", level=3)
    assert result["columns"] == "answer,level"


def test_options_come_from_params_never_from_columns() -> None:
    assert float(score(length, params={"scale": 2.0}, final_response="four")) == 8.0
    assert float(Scorer(length)({"final_response": "four", "scale": 2.0})) == 4.0
    assert Scorer(everything)({"final_response": "x", "mode": "b"})["mode"] == "a"


def test_an_option_given_as_a_column_is_pointed_out() -> None:
    with pytest.raises(BadParameter, match="params="):
        score(length, final_response="four", scale=2.0)


def test_an_unknown_option_is_an_error_that_lists_the_known_ones() -> None:
    with pytest.raises(BadParameter, match="its options: scale"):
        score(length, params={"scales": 2.0}, final_response="four")


def test_a_missing_column_names_the_reward_the_parameter_and_the_columns() -> None:
    with pytest.raises(MissingParameter, match=r"length needs 'final_response'.*answer, id"):
        score(length, answer="y", id=1)


@pytest.mark.parametrize(
    ("returned", "expected"),
    [
        (1, 1.0), (True, 1.0), (0.5, 0.5), (Fraction(1, 4), 0.25), (np.float32(0.5), 0.5),
        (np.array(2.0), 2.0), (Scored(0.75, "why"), 0.75),
        ({"reward": 0.5, "f1": 0.25, "text": "t"}, 0.5),
    ],
)  # fmt: skip
def test_what_a_reward_may_return(returned: Any, expected: float) -> None:
    assert float(to_score(returned)) == expected


@pytest.mark.parametrize(
    "returned", [None, "1.0", float("nan"), {"f1": 1.0}, {"reward": float("inf")}, [1.0], object()]
)
def test_anything_else_is_a_failed_grader_not_a_zero(returned: Any) -> None:
    def scorer(final_response: str) -> Any:
        return returned

    result = score(scorer, final_response="x")
    assert isinstance(result, Abstained)
    assert result.reason == "grader_error"


def test_a_mapping_without_a_number_abstains_with_its_own_reason() -> None:
    assert to_score({"reward": None, "abstained": "no_gold"}) == Abstained(
        "no_gold", "the reward function returned no number"
    )


def test_an_exception_becomes_an_abstention_that_keeps_the_traceback() -> None:
    def broken(final_response: str) -> float:
        raise ValueError(f"cannot read {final_response!r}")

    result = score(broken, final_response="x")
    assert isinstance(result, Abstained)
    assert result.reason == "grader_error"
    assert "ValueError: cannot read 'x'" in result.because
    assert "test_scorer.py" in result.notes["traceback"]


def test_endless_recursion_is_a_failed_grader() -> None:
    def endless(final_response: str) -> float:
        return endless(final_response)

    result = score(endless, final_response="x")
    assert isinstance(result, Abstained)
    assert len(result.notes["traceback"]) <= 4_000


def test_a_score_carries_the_rewards_identity_and_configuration() -> None:
    result = score(length, params={"scale": 2.0}, final_response="x")
    assert result.scorer == "length@1"
    assert result.params == {"scale": 2.0}


def test_declared_parts_are_in_every_result_in_one_order() -> None:
    @assay.reward(name="fixed_parts", parts=("a", "b"), register=False)
    def fixed(final_response: str) -> Any:
        if final_response == "broken":
            raise RuntimeError("no")
        if final_response == "abstain":
            return Abstained("because", "of this")
        return {"reward": 1.0, "b": 2.0, "a": 1.0}

    for response in ("fine", "broken", "abstain"):
        assert list(score(fixed, final_response=response).parts) == ["a", "b"]


def test_parts_other_than_the_declared_ones_are_a_failed_grader() -> None:
    @assay.reward(name="loose_parts", parts=("a",), register=False)
    def loose(final_response: str) -> dict[str, float]:
        return {"reward": 1.0, "c": 1.0}

    result = score(loose, final_response="x")
    assert isinstance(result, Abstained)
    assert "declares the parts ['a'] and returned ['c']" in result.because


def test_an_asynchronous_reward_is_scored_from_plain_code_and_from_a_loop() -> None:
    async def inside() -> float:
        return float(await score_async(patient, final_response="x"))

    assert float(score(patient, final_response="x")) == 0.25
    assert asyncio.run(inside()) == 0.25


def test_blocking_on_an_asynchronous_reward_inside_a_loop_says_what_to_do() -> None:
    async def inside() -> None:
        score(patient, final_response="x")

    with pytest.raises(RuntimeError, match="score_async"):
        asyncio.run(inside())


def test_a_plain_reward_does_not_run_on_the_event_loops_thread() -> None:
    async def inside() -> tuple[float, int]:
        def which_thread(final_response: str) -> float:
            return float(threading.get_ident() == here)

        here = threading.get_ident()
        return float(await score_async(which_thread, final_response="x")), here

    assert asyncio.run(inside())[0] == 0.0


def test_a_judge_survives_pickling() -> None:
    scorer = pickle.loads(pickle.dumps(Scorer(length, {"scale": 3.0})))
    assert float(scorer({"final_response": "ab"})) == 6.0


def test_an_option_without_default_must_be_given() -> None:
    def strict(final_response: str, *, mode: str) -> float:
        return float(mode == "a")

    with pytest.raises(BadParameter, match="requires the option 'mode'"):
        score(strict, final_response="x")
    assert float(score(strict, params={"mode": "a"}, final_response="x")) == 1.0


def test_a_configuration_that_the_reward_refuses_is_the_callers_error() -> None:
    def picky(final_response: str, *, mode: str = "a") -> float:
        raise BadParameter(f"mode is {mode!r}")

    with pytest.raises(BadParameter, match="mode is 'b'"):
        score(picky, params={"mode": "b"}, final_response="x")


def test_a_text_column_called_context_is_not_the_rollouts_context() -> None:
    def reads_world(context: Any) -> float:
        return 1.0

    with pytest.raises(MissingParameter, match="never a data column"):
        score(reads_world, context="Paris is the capital of France.")


def listed(final_response: str, *, words: tuple[str, ...] = ("a", "b"), strict: bool = True) -> int:
    return sum(word in final_response for word in words) + strict


@pytest.mark.parametrize(
    ("reward", "params", "recorded"),
    [
        (length, {"scale": 1.0}, {}),
        (length, {"scale": 1}, {}),
        (length, {"scale": 2.0}, {"scale": 2.0}),
        (length, {"scale": True}, {"scale": True}),
        (listed, {"words": ["a", "b"], "strict": True}, {}),
        (listed, {"words": ["b", "a"], "strict": 1}, {"words": ["b", "a"], "strict": 1}),
        ("qa_f1_reward", {"mode": "squad2"}, {}),
    ],
)
def test_a_default_that_was_passed_is_not_recorded_as_configuration(
    reward: Any, params: dict[str, Any], recorded: dict[str, Any]
) -> None:
    scorer = Scorer(reward, params)
    columns = {"final_response": "a b", "answer": "a b", "trajectory": []}
    assert scorer(columns).params == recorded
    assert asyncio.run(scorer.score_async(columns)).params == recorded
    assert scorer.abstain("bad_row", "it is empty").params == recorded
    assert pickle.loads(pickle.dumps(scorer))(columns).params == recorded
