"""What trainers trip over: coroutines seen as plain functions, closures, keys that come and go."""

from __future__ import annotations

import asyncio
import inspect
import pickle
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest

from assay import Abstained
from assay.adapters import agentfly, areal, openrlhf, slime, trl, verifiers, verl
from assay.errors import BadParameter, MissingParameter, NoScore
from assay.registry import reward as declare


@declare(name="moody", parts=("mood", "score"), register=False)
def moody(final_response: str, answer: str) -> dict[str, Any] | Abstained:
    """A reward with a part called "score", one without a number, and abstentions."""
    if answer == "?":
        return Abstained("missing_reference", "the row has none", ("mood", "score"))
    return {"reward": 1.0, "mood": None if answer == "shy" else 0.5, "score": 40.0}


async def patient(final_response: str) -> float:
    return float(len(final_response))


SYNC: dict[str, Callable[[], Any]] = {
    "trl": lambda: trl.reward("math_equal_reward"),
    "verl": lambda: verl.reward("math_equal_reward"),
    "verl batch": lambda: verl.reward("math_equal_reward", kind="batch"),
    "openrlhf": lambda: openrlhf.reward("math_equal_reward"),
    "areal": lambda: areal.reward("math_equal_reward"),
}
ASYNC: dict[str, Callable[[], Any]] = {
    "trl": lambda: trl.reward("math_equal_reward", asynchronous=True),
    "trl, of an asynchronous reward": lambda: trl.reward(patient),
    "verl": lambda: verl.reward("math_equal_reward", kind="async"),
    "slime": lambda: slime.reward("math_equal_reward"),
    "agentfly": lambda: agentfly.reward("math_equal_reward"),
    "verifiers": lambda: verifiers.reward("math_equal_reward"),
    "verifiers rubric": lambda: verifiers.rubric_function("math_equal_reward"),
}


@pytest.mark.parametrize("build", ASYNC.values(), ids=ASYNC.keys())
def test_a_coroutine_function_is_seen_to_be_one(build: Callable[[], Any]) -> None:
    function = build()
    assert inspect.iscoroutinefunction(function)
    assert inspect.iscoroutinefunction(partial(function))
    assert inspect.iscoroutinefunction(pickle.loads(pickle.dumps(function)))


@pytest.mark.parametrize("build", SYNC.values(), ids=SYNC.keys())
def test_a_plain_function_is_not_taken_for_a_coroutine(build: Callable[[], Any]) -> None:
    assert not inspect.iscoroutinefunction(build())


@pytest.mark.parametrize("build", [*SYNC.values(), *ASYNC.values()])
def test_a_copy_from_a_pickle_has_the_same_name_and_signature(build: Callable[[], Any]) -> None:
    function = build()
    copy = pickle.loads(pickle.dumps(function))
    assert copy.__name__ == function.__name__ in ("math_equal_reward", "patient")
    assert inspect.signature(copy) == inspect.signature(function)


def test_a_pickle_works_in_a_process_that_has_imported_nothing() -> None:
    function = trl.reward("math_equal_reward", answer="solution")
    code = (
        "import pickle, sys; f = pickle.load(sys.stdin.buffer);"
        "print(f(prompts=['?'], completions=['2'], solution=['2.0']))"
    )
    process = subprocess.run(
        [sys.executable, "-c", code], input=pickle.dumps(function), capture_output=True, check=True
    )
    assert process.stdout == b"[1.0]\n"


def test_the_name_is_the_rewards_own_or_the_one_given() -> None:
    assert trl.reward("math_equal_reward").__name__ == "math_equal_reward"
    assert trl.reward("math_equal_reward", name="acc").__name__ == "acc"


def test_threads_may_share_one_function() -> None:
    function = trl.reward("math_equal_reward")
    batches = [[str(number)] * 20 for number in range(16)]
    with ThreadPoolExecutor(8) as pool:
        results = list(
            pool.map(
                lambda batch: function(prompts=batch, completions=batch, answer=batch), batches
            )
        )
    assert results == [[1.0] * 20] * 16


@pytest.mark.parametrize("answer", ["plain", "shy", "?"])
def test_verl_gets_the_same_keys_and_finite_numbers_for_every_sample(answer: str) -> None:
    result = verl.compute_score("any", "x", answer, reward=moody, abstained=-1.0)
    assert list(result) == ["score", "abstained", "mood", "part_score"]
    assert all(isinstance(value, float) for value in result.values())


def test_a_part_called_score_does_not_pose_as_verls_score() -> None:
    result = verl.compute_score("any", "x", "plain", reward=moody)
    assert (result["score"], result["part_score"]) == (1.0, 40.0)


def test_verl_keys_do_not_depend_on_the_data_source() -> None:
    rewards = {"maths": "math_equal_reward", "default": "qa_f1_reward"}
    one = verl.compute_score("maths", "2", "2", reward=rewards)
    other = verl.compute_score("trivia", "Paris", "Paris", reward=rewards)
    assert set(one) == set(other)
    assert one["score"] == other["score"] == 1.0
    assert one["acc"] == other["f1"] == 1.0


def test_trl_logs_the_same_metrics_when_every_row_abstains() -> None:
    logged: dict[str, float] = {}
    function = trl.reward("math_equal_reward")
    function(prompts=["?"], completions=["2"], answer=["2"], log_metric=logged.__setitem__)
    keys = list(logged)
    assert logged == {"math_equal_reward/acc": 1.0, "math_equal_reward/abstained": 0.0}
    logged.clear()
    function(prompts=["?"], completions=["2"], answer=[None], log_metric=logged.__setitem__)
    assert list(logged) == keys
    assert logged["math_equal_reward/acc"] != logged["math_equal_reward/acc"]


NUMBERS_ONLY: dict[str, Callable[..., Any]] = {
    "verl": lambda **rest: verl.compute_score("any", "2", None, reward="math_equal_reward", **rest),
    "areal": lambda **rest: areal.reward("math_equal_reward", **rest)("?", "2", answer=None),
    "agentfly": lambda **rest: asyncio.run(
        agentfly.reward("math_equal_reward", **rest)(final_response="2", answer=None)
    ),
}


@pytest.mark.parametrize("scorer", NUMBERS_ONLY.values(), ids=NUMBERS_ONLY.keys())
def test_where_there_are_only_numbers_an_abstention_is_the_mean_the_number_chosen_or_an_error(
    scorer: Callable[..., Any],
) -> None:
    mean = scorer()
    assert 0.5 in (mean.values() if isinstance(mean, dict) else [mean])
    with pytest.raises(NoScore, match="abstained="):
        scorer(abstained=None)
    chosen = scorer(abstained=-2.0)
    assert -2.0 in (chosen.values() if isinstance(chosen, dict) else [chosen])
    for wrong in (float("nan"), True, "median"):
        with pytest.raises(BadParameter, match="abstained="):
            scorer(abstained=wrong)


def test_a_column_that_is_not_there_is_named_with_those_that_are() -> None:
    function = trl.reward("math_equal_reward", answer="solution")
    with pytest.raises(MissingParameter, match=r"'solution'.*final_response, gold, prompt"):
        function(prompts=["?"], completions=["2"], gold=["2"])


def test_a_parameter_that_the_reward_does_not_have_is_refused_at_once() -> None:
    with pytest.raises(BadParameter, match="no parameter 'solution'"):
        trl.reward("qa_f1_reward", solution="answer")
    with pytest.raises(BadParameter, match="params="):
        trl.reward("qa_f1_reward", mode=3)  # type: ignore[arg-type]  # an option as a column


def test_importing_the_adapters_imports_no_trainer() -> None:
    code = (
        "import sys, assay.adapters.trl, assay.adapters.verl, assay.adapters.verifiers, "
        "assay.adapters.slime, assay.adapters.nemo_gym, assay.adapters.agentfly;"
        "print([n for n in ('torch','trl','verl','verifiers','inspect_ai','numpy','ray') "
        "if n in sys.modules])"
    )
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert process.stdout.strip() == "[]"
