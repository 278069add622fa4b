"""The same 500 rows give the same numbers through every door as through `assay.score`."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from math import isnan
from types import SimpleNamespace
from typing import Any

import pytest

import assay
from assay.adapters import agentfly, areal, nemo_gym, openrlhf, slime, trl, verifiers, verl
from assay.errors import NoScore
from tests.adapters.stand_ins import VerifiersTrace, adapter, inspect_state, stand_in

ROWS = 500
Numbers = list[float | None]


def rows() -> list[dict[str, Any]]:
    """Right, wrong, verbose and empty answers, and references that are missing or unreadable."""
    dice = random.Random(7)
    made: list[dict[str, Any]] = []
    for number in range(ROWS):
        top, bottom = dice.randint(-9, 9), dice.randint(1, 9)
        gold: Any = dice.choice([str(top), f"\\frac{{{top}}}{{{bottom}}}", f"{top / bottom:.3f}"])
        said = dice.choice(
            [
                f"so \\boxed{{{gold}}}",
                gold,
                f"the answer is {top}",
                f"{bottom}",
                "",
                "Paris, I think",
            ]
        )
        if number % 10 == 0:
            gold = dice.choice([None, "", [], "\\frac{"])
        made.append({"final_response": said, "answer": gold})
    return made


def numbers_of(reward: str, made: list[dict[str, Any]]) -> Numbers:
    return [assay.score(reward, **row)["reward"] for row in made]


def each(made: list[dict[str, Any]], scorer: Callable[[dict[str, Any]], Any]) -> Numbers:
    """One number a row; what raises `NoScore` or is NaN has none."""
    numbers: Numbers = []
    for row in made:
        try:
            number = scorer(row)
        except NoScore:
            number = None
        numbers.append(None if number is None or isnan(number) else number)
    return numbers


async def each_async(
    made: list[dict[str, Any]], scorer: Callable[[dict[str, Any]], Any]
) -> Numbers:
    numbers: Numbers = []
    for row in made:
        try:
            number = await scorer(row)
        except NoScore:
            number = None
        numbers.append(None if number is None or isnan(number) else number)
    return numbers


def through_trl(reward: str, made: list[dict[str, Any]]) -> Any:
    return trl.reward(reward, answer="gold")(
        prompts=["?"] * len(made),
        completions=[row["final_response"] for row in made],
        gold=[row["answer"] for row in made],
    )


def through_trl_chat(reward: str, made: list[dict[str, Any]]) -> Any:
    function = trl.reward(reward, asynchronous=True)
    return asyncio.run(
        function(
            prompts=[[{"role": "user", "content": "?"}]] * len(made),
            completions=[[{"role": "assistant", "content": row["final_response"]}] for row in made],
            answer=[row["answer"] for row in made],
        )
    )


def through_verl(reward: str, made: list[dict[str, Any]]) -> Numbers:
    return each(
        made,
        lambda row: verl.compute_score("any", row["final_response"], row["answer"], reward=reward)[
            "score"
        ],
    )


def through_verl_batch(reward: str, made: list[dict[str, Any]]) -> Numbers:
    results = verl.compute_score_batch(
        ["any"] * len(made),
        [row["final_response"] for row in made],
        [row["answer"] for row in made],
        reward=reward,
        abstained=-7.0,
    )
    assert all((result["score"] == -7.0) == bool(result["abstained"]) for result in results)
    return [None if result["abstained"] else result["score"] for result in results]


def through_openrlhf(reward: str, made: list[dict[str, Any]]) -> Any:
    answer = openrlhf.reward(reward)(
        queries=[f"<s>ask{row['final_response']}<|im_end|>" for row in made],
        prompts=["ask"] * len(made),
        labels=[row["answer"] for row in made],
    )
    return answer["rewards"]


def through_nemo_gym(reward: str, made: list[dict[str, Any]]) -> Numbers:
    numbers: Numbers = []
    for row in made:
        text = {"type": "output_text", "text": row["final_response"]}
        message = {"type": "message", "role": "assistant", "content": [text]}
        body = {
            "responses_create_params": {"input": "?"},
            "response": {"output": [message]},
            "expected_answer": row["answer"],
        }
        response = nemo_gym.to_response(body, assay.score(reward, **nemo_gym.to_row(body)))
        numbers.append(None if response["mask_sample"] else response["reward"])
    return numbers


def through_slime(reward: str, made: list[dict[str, Any]]) -> Numbers:
    samples = [
        SimpleNamespace(
            prompt="?",
            response=row["final_response"],
            label=row["answer"],
            metadata={},
            remove_sample=False,
        )
        for row in made
    ]
    args = SimpleNamespace(assay_reward=reward, reward_key=None)
    results = asyncio.run(slime.rm(args, samples))
    return [
        None if sample.remove_sample else result
        for sample, result in zip(samples, results, strict=True)
    ]


def through_areal(reward: str, made: list[dict[str, Any]]) -> Numbers:
    function = areal.reward(reward)
    return each(
        made, lambda row: function("?", row["final_response"], [1], [2], answer=row["answer"])
    )


def through_skyrl(reward: str, made: list[dict[str, Any]]) -> Numbers:
    with stand_in():
        env = adapter("skyrl").RewardEnv
        return each(
            made,
            lambda row: (
                env({"reward": reward}, {"reward_spec": {"ground_truth": row["answer"]}})
                .step(row["final_response"])
                .get("reward")
            ),
        )


def through_rllm(reward: str, made: list[dict[str, Any]]) -> Numbers:
    with stand_in():
        evaluator = adapter("rllm").Evaluator(reward)
        return each(
            made,
            lambda row: (
                evaluator.evaluate(
                    {"ground_truth": row["answer"]},
                    SimpleNamespace(artifacts={"answer": row["final_response"]}, trajectories=[]),
                ).reward
            ),
        )


def through_openenv(reward: str, made: list[dict[str, Any]]) -> Numbers:
    with stand_in():
        rubric = adapter("openenv").RewardRubric(
            reward, final_response="action.message", answer="observation.metadata.answer"
        )
        return each(
            made,
            lambda row: rubric(
                SimpleNamespace(message=row["final_response"]),
                SimpleNamespace(metadata={"answer": row["answer"]}),
            ),
        )


def through_agentfly(reward: str, made: list[dict[str, Any]]) -> Numbers:
    function = agentfly.reward(reward)

    async def scorer(row: dict[str, Any]) -> Any:
        return (await function(**row))["reward"]

    return asyncio.run(each_async(made, scorer))


def through_verifiers(reward: str, made: list[dict[str, Any]]) -> Numbers:
    function = verifiers.reward(reward)

    async def scorer(row: dict[str, Any]) -> Any:
        trace = VerifiersTrace({"role": "assistant", "content": row["final_response"]})
        return await function(task=[("answer", row["answer"])], trace=trace)

    return asyncio.run(each_async(made, scorer))


def through_rubric(reward: str, made: list[dict[str, Any]]) -> Numbers:
    function = verifiers.rubric_function(reward, answer="info.gold")

    async def scorer(row: dict[str, Any]) -> Any:
        return await function(completion=row["final_response"], info={"gold": row["answer"]})

    return asyncio.run(each_async(made, scorer))


def through_inspect(reward: str, made: list[dict[str, Any]]) -> Numbers:
    with stand_in():
        scorer = adapter("inspect_ai").reward(reward, answer="metadata.gold")

        async def ask(row: dict[str, Any]) -> Any:
            state = inspect_state(row["final_response"], gold=row["answer"])
            return (await scorer(state, [""])).value

        return asyncio.run(each_async(made, ask))


ADAPTERS = [
    through_trl,
    through_trl_chat,
    through_verl,
    through_verl_batch,
    through_openrlhf,
    through_nemo_gym,
    through_slime,
    through_areal,
    through_skyrl,
    through_rllm,
    through_openenv,
    through_agentfly,
    through_verifiers,
    through_rubric,
    through_inspect,
]


@pytest.mark.parametrize("reward", ["math_equal_reward", "qa_f1_reward"])
@pytest.mark.parametrize("through", ADAPTERS, ids=lambda through: through.__name__)
def test_every_door_gives_the_numbers_of_assay_score(
    through: Callable[[str, list[dict[str, Any]]], Numbers], reward: str
) -> None:
    made = rows()
    expected = numbers_of(reward, made)
    assert through(reward, made) == expected
    assert {0.0, 1.0, None} <= set(expected)
