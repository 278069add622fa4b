"""The components of a composed reward are among the metrics of every adapter."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from assay.adapters import agentfly, areal, nemo_gym, openrlhf, slime, trl, verifiers, verl
from assay.scoring.composition import Composition, compose
from assay.scoring.scorer import Scorer
from tests.adapters.stand_ins import VerifiersTrace, adapter, inspect_state, stand_in
from tests.adapters.test_conformance import ADAPTERS

ROW: dict[str, Any] = {"final_response": r"so \boxed{4}", "answer": "4"}
LENGTH = {"curve": "linear", "max_length": 120}
REWARD: Composition = compose(
    "test_components",
    {
        "correct": "math_equal_reward",
        "length": {
            "reward": "length_reward", "weight": 0.5, "gate": "correct", "params": LENGTH,
        },
    },
    register=False,
)  # fmt: skip
PARTS = {
    "correct": 1.0, "correct/acc": 1.0, "paid/correct": 1.0, "length": 0.9, "length/length": 12.0,
    "paid/length": 0.45, "gate/length": 1.0,
}  # fmt: skip


def in_trl() -> dict[str, float]:
    metrics: dict[str, float] = {}
    function = trl.reward(REWARD)
    function(
        prompts=["?"],
        completions=[ROW["final_response"]],
        answer=["4"],
        log_metric=metrics.__setitem__,
    )
    return {name.removeprefix("test_components/"): value for name, value in metrics.items()}


def in_verl() -> dict[str, float]:
    return verl.compute_score("any", ROW["final_response"], "4", reward=REWARD)


def in_openrlhf() -> dict[str, float]:
    answer = openrlhf.reward(REWARD)(
        queries=[f"ask{ROW['final_response']}"], prompts=["ask"], labels=["4"]
    )
    return {name: values[0] for name, values in answer["extra_logs"].items()}


def in_nemo_gym() -> dict[str, float]:
    body: dict[str, Any] = {"responses_create_params": {}, "response": {"output": []}}
    components: dict[str, float] = nemo_gym.to_response(body, Scorer(REWARD)(ROW))[
        "reward_components"
    ]
    return components


def in_slime() -> dict[str, float]:
    sample = SimpleNamespace(
        prompt="?", response=ROW["final_response"], label="4", metadata={}, remove_sample=False
    )
    args = SimpleNamespace(assay_reward=REWARD, reward_key="score")
    result: dict[str, float] = asyncio.run(slime.rm(args, sample))
    return result


def in_skyrl() -> dict[str, float]:
    with stand_in():
        env = adapter("skyrl").RewardEnv({}, {"reward_spec": {"ground_truth": "4"}}, reward=REWARD)
        env.step(ROW["final_response"])
        metrics: dict[str, float] = env.get_metrics()
        return metrics


def in_rllm() -> dict[str, float]:
    with stand_in():
        episode = SimpleNamespace(artifacts={"answer": ROW["final_response"]}, trajectories=[])
        output = adapter("rllm").Evaluator(REWARD).evaluate({"ground_truth": "4"}, episode)
        assert output.metadata["parts"] == pytest.approx(PARTS)
        return {signal.name: signal.value for signal in output.signals}


def in_openenv() -> dict[str, float]:
    with stand_in():
        rubric = adapter("openenv").RewardRubric(
            REWARD, final_response="action.message", answer="observation.metadata.answer"
        )
        rubric(
            SimpleNamespace(message=ROW["final_response"]),
            SimpleNamespace(metadata={"answer": "4"}),
        )
        return dict(rubric.last_result.parts)


def in_agentfly() -> dict[str, float]:
    result: dict[str, float] = asyncio.run(agentfly.reward(REWARD)(**ROW))
    return result


def in_verifiers() -> dict[str, float]:
    trace = VerifiersTrace({"role": "assistant", "content": ROW["final_response"]})
    asyncio.run(verifiers.reward(REWARD)(task=[("answer", "4")], trace=trace))
    metrics: dict[str, float] = trace.metrics
    return {name.removeprefix("test_components/"): value for name, value in metrics.items()}


def in_inspect() -> dict[str, float]:
    with stand_in():
        scorer = adapter("inspect_ai").reward(REWARD, answer="metadata.gold")
        state = inspect_state(ROW["final_response"], gold="4")
        parts: dict[str, float] = asyncio.run(scorer(state, [""])).metadata["parts"]
        return parts


PLACES: dict[str, Callable[[], dict[str, float]]] = {
    "trl": in_trl,
    "verl": in_verl,
    "openrlhf": in_openrlhf,
    "nemo_gym": in_nemo_gym,
    "slime": in_slime,
    "skyrl": in_skyrl,
    "rllm": in_rllm,
    "openenv": in_openenv,
    "agentfly": in_agentfly,
    "verifiers": in_verifiers,
    "inspect_ai": in_inspect,
}


@pytest.mark.parametrize("place", PLACES)
def test_every_component_is_among_the_metrics(place: str) -> None:
    metrics = PLACES[place]()
    assert {name: metrics[name] for name in PARTS} == pytest.approx(PARTS)


def test_every_adapter_is_looked_at() -> None:
    """AReaL's reward function returns one number, and has no place for another."""
    assert set(ADAPTERS) - set(PLACES) == {"areal"}
    assert areal.reward(REWARD)("?", ROW["final_response"], [1], [2], answer="4") == 1.45


def test_instructions_may_stand_where_a_trainer_keeps_the_reference() -> None:
    column = '[{"id": "punctuation:no_comma"}]'
    by_trl = trl.reward("instructions_reward", instructions="answer")
    assert by_trl(prompts=["?"] * 2, completions=["a b", "a, b"], answer=[column] * 2) == [1.0, 0.0]
    by_rlhf = openrlhf.reward("instructions_reward", instructions="answer")
    answer = by_rlhf(queries=["?a b", "?a, b"], prompts=["?"] * 2, labels=[column] * 2)
    assert answer["rewards"] == [1.0, 0.0]
    options: dict[str, Any] = {
        "reward": "instructions_reward",
        "columns": {"instructions": "answer"},
    }
    assert verl.compute_score("any", "a, b", column, **options)["score"] == 0.0
