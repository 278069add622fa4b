"""One abstention in a group of four: the others keep finite advantages, and it gets no zero."""

from __future__ import annotations

import asyncio
import json
import logging
import pickle
from collections.abc import Callable, Sequence
from math import isfinite
from statistics import fmean, stdev
from types import SimpleNamespace
from typing import Any

import pytest

from assay.adapters import agentfly, areal, nemo_gym, openrlhf, slime, trl, verifiers, verl
from assay.adapters.tally import FIRST, GROUPS, RecentRewards
from assay.errors import BadParameter, NoScore
from assay.schema.score import Abstained, Scored
from tests.adapters.stand_ins import adapter, stand_in


def grade(final_response: str, answer: str) -> float:
    """A grader that cannot be reached over one of the responses."""
    if final_response == "lost":
        raise ConnectionError("the grader did not answer")
    return float(final_response == answer)


def typo(final_response: str, answer: str) -> float:
    return float(final_respnse == answer)  # type: ignore[name-defined]  # noqa: F821 - the point


GROUP = ["4", "5", "lost", "5"]
"""One right, two wrong, and one that the grader loses."""


def advantages(rewards: Sequence[float]) -> list[float]:
    """As GRPO has them."""
    return [(reward - fmean(rewards)) / stdev(rewards) for reward in rewards]


def through_verl(group: list[str]) -> list[float]:
    return [
        verl.compute_score("any", text, "4", {"index": 1}, reward=grade)["score"] for text in group
    ]


def through_openrlhf(group: list[str]) -> list[float]:
    function = openrlhf.reward(grade)
    return [function([f"ask{text}</s>"], ["ask"], ["4"])["rewards"][0] for text in group]


def through_areal(group: list[str]) -> list[float]:
    function = areal.reward(grade)
    return [
        pickle.loads(pickle.dumps(function))("ask", text, [1], [2], answer="4") for text in group
    ]


def through_agentfly(group: list[str]) -> list[float]:
    function = agentfly.reward(grade)
    return [asyncio.run(function(final_response=text, answer="4"))["reward"] for text in group]


def through_slime(group: list[str]) -> list[float]:
    samples = [slime_sample(text) for text in group]
    args = SimpleNamespace(assay_reward=grade, reward_key=None)
    return [asyncio.run(slime.rm(args, sample)) for sample in samples]


def through_slime_group(group: list[str]) -> list[float]:
    samples = [slime_sample(text) for text in group]
    args = SimpleNamespace(assay_reward=grade, reward_key=None)
    rewards: list[float] = asyncio.run(slime.rm(args, samples))
    return rewards


def slime_sample(text: str) -> SimpleNamespace:
    return SimpleNamespace(
        prompt="ask", response=text, label="4", metadata={}, group_index=0, remove_sample=False
    )


def through_skyrl(group: list[str]) -> list[float]:
    with stand_in():
        env = adapter("skyrl").RewardEnv
        extras = {"reward_spec": {"ground_truth": "4"}}
        return [env({}, extras, reward=grade).step(text)["reward"] for text in group]


def through_rllm(group: list[str]) -> list[float]:
    with stand_in():
        evaluator = adapter("rllm").Evaluator(grade)
        episodes = [SimpleNamespace(artifacts={"answer": text}, trajectories=[]) for text in group]
        return [evaluator.evaluate({"ground_truth": "4"}, each).reward for each in episodes]


def through_openenv(group: list[str]) -> list[float]:
    with stand_in():
        rubric = adapter("openenv").RewardRubric(
            grade, final_response="action", answer="observation.gold", abstained="mean"
        )
        return [rubric(text, SimpleNamespace(gold="4")) for text in group]


def through_rubric(group: list[str]) -> list[float]:
    function = verifiers.rubric_function(grade)
    return [asyncio.run(function(completion=text, answer="4")) for text in group]


def through_rubric_group(group: list[str]) -> list[float]:
    rewards: list[float] = asyncio.run(
        verifiers.group_function(grade)(
            completions=group,
            prompts=["ask"] * len(group),
            answers=["4"] * len(group),
            states=[{} for _ in group],
            infos=[{}] * len(group),
        )
    )
    return rewards


def through_verl_batch(group: list[str]) -> list[float]:
    results = verl.compute_score_batch(
        ["any"] * len(group), group, ["4"] * len(group), [{"index": 1}] * len(group), reward=grade
    )
    return [result["score"] for result in results]


def through_openrlhf_batch(group: list[str]) -> list[float]:
    queries = [f"ask{text}" for text in group]
    rewards: list[float] = openrlhf.reward(grade)(
        queries, ["ask"] * len(group), ["4"] * len(group)
    )["rewards"]
    return rewards


ONE_BY_ONE = [
    through_verl,
    through_openrlhf,
    through_areal,
    through_agentfly,
    through_slime,
    through_skyrl,
    through_rllm,
    through_openenv,
    through_rubric,
]
AS_A_GROUP = [
    through_slime_group,
    through_rubric_group,
    through_verl_batch,
    through_openrlhf_batch,
]


@pytest.mark.parametrize("through", [*ONE_BY_ONE, *AS_A_GROUP], ids=lambda each: each.__name__)
def test_an_abstention_is_a_number_between_wrong_and_right(
    through: Callable[[list[str]], list[float]],
) -> None:
    rewards = through(GROUP)
    assert [rewards[number] for number in (0, 1, 3)] == [1.0, 0.0, 0.0]
    assert 0.0 < rewards[2] < 1.0, "neither wrong nor right"
    assert all(map(isfinite, advantages(rewards)))
    assert advantages(rewards)[0] > 0 > advantages(rewards)[1]


@pytest.mark.parametrize("through", AS_A_GROUP, ids=lambda each: each.__name__)
def test_where_the_group_is_known_the_abstention_gets_no_advantage_at_all(
    through: Callable[[list[str]], list[float]],
) -> None:
    rewards = through(GROUP)
    scored = [1.0, 0.0, 0.0]
    assert rewards[2] == pytest.approx(fmean(scored))
    assert advantages(rewards)[2] == pytest.approx(0.0)
    # The sum of squares is theirs alone, but shared by one more: sqrt(3/2) times as large.
    ratio = (3 / 2) ** 0.5
    others = [advantages(rewards)[number] for number in (0, 1, 3)]
    assert others == pytest.approx([ratio * each for each in advantages(scored)])


@pytest.mark.parametrize("through", [*ONE_BY_ONE, *AS_A_GROUP], ids=lambda each: each.__name__)
def test_a_group_that_abstains_as_a_whole_has_no_advantages(
    through: Callable[[list[str]], list[float]],
) -> None:
    assert len(set(through(["lost"] * 4))) == 1


@pytest.mark.parametrize("through", ONE_BY_ONE, ids=lambda each: each.__name__)
def test_the_first_abstention_of_a_process_stands_in_the_middle(
    through: Callable[[list[str]], list[float]],
) -> None:
    assert through(["lost"]) == [FIRST]


def test_trl_gets_none_which_it_leaves_out() -> None:
    function = trl.reward(grade)
    rewards = function(prompts=["ask"] * 4, completions=GROUP, answer=["4"] * 4)
    assert rewards == [1.0, 0.0, None, 0.0]


def test_a_tally_remembers_the_latest_of_a_bounded_number_of_groups() -> None:
    tally = RecentRewards("test")
    for group in range(GROUPS + 1):
        tally.note(Scored(float(group), ""), group, limit=None)
    assert tally.mean(GROUPS) == GROUPS
    assert tally.mean(0) == pytest.approx(GROUPS - 511.5), "forgotten: the mean of the latest"
    for _ in range(50):
        tally.note(Scored(1.0, ""), "long", limit=None)
    tally.note(Scored(0.0, ""), "long", limit=None)
    assert tally.mean("long") == 15 / 16


BATCHES: dict[str, Callable[[Callable[..., Any]], Any]] = {
    "trl": lambda reward: trl.reward(reward)(
        prompts=["?"] * 64, completions=["4"] * 64, answer=["4"] * 64
    ),
    "verl": lambda reward: [verl.compute_score("any", "4", "4", reward=reward) for _ in range(64)],
    "openrlhf": lambda reward: openrlhf.reward(reward)(["ask4"] * 64, ["ask"] * 64, ["4"] * 64),
    "areal": lambda reward: [
        areal.reward(reward)("?", "4", [1], [2], answer="4") for _ in range(64)
    ],
    "slime": lambda reward: asyncio.run(
        slime.reward(reward)(SimpleNamespace(reward_key=None), [slime_sample("4")] * 64)
    ),
}


@pytest.mark.parametrize("train", BATCHES.values(), ids=BATCHES.keys())
def test_a_reward_with_a_typo_stops_the_training_with_the_cause(
    train: Callable[[Callable[..., Any]], Any], caplog: pytest.LogCaptureFixture
) -> None:
    with (
        caplog.at_level(logging.ERROR, "assay.adapters"),
        pytest.raises(NoScore, match=r"none of the last 64 rows \(grader_error 64\).*NameError"),
    ):
        train(typo)
    assert "final_respnse" in caplog.text, "a trainer may swallow the exception"


def test_a_row_that_lacks_a_column_that_others_have_abstains() -> None:
    function = verl.reward(grade, answer="gold")
    assert function("sums", "4", None, {"gold": "4"})["score"] == 1.0
    odd = function("sums", "4", None, {})
    assert (odd["score"], odd["abstained"]) == (1.0, 1.0)


def test_prompts_that_begin_alike_are_different_groups() -> None:
    function = areal.reward(grade)
    prompts = [
        [{"role": "system", "content": "x" * 5_000}, {"role": "user", "content": question}]
        for question in ("2 + 2?", "1 + 3?")
    ]
    assert [function(prompts[0], text, answer="4") for text in ("4", "4")] == [1.0, 1.0]
    assert [function(prompts[1], text, answer="4") for text in ("5", "lost")] == [0.0, 0.0]


def test_functions_of_one_name_share_no_mean() -> None:
    def another() -> Callable[..., float]:
        def grade(final_response: str, answer: str) -> float:
            return 0.25

        return grade

    assert areal.reward(another())("?", "4", answer="4") == 0.25
    assert areal.reward(grade)("?", "lost", answer="4") == FIRST


def test_no_query_is_no_wrong_answer() -> None:
    result = openrlhf.reward(grade)(["p4", None], ["p", "p"], ["4", "4"])
    assert result["extra_logs"]["abstained"] == [0.0, 1.0]
    assert result["rewards"] == [1.0, 1.0]


def test_max_abstained_sets_the_limit_and_a_score_starts_it_anew() -> None:
    function = trl.reward(grade, max_abstained=3)
    batch = ["lost", "lost", "4", "lost", "lost", "5"]
    arguments: dict[str, Any] = {"prompts": ["?"] * 6, "answer": ["4"] * 6}
    assert function(completions=batch, **arguments).count(None) == 4
    with pytest.raises(NoScore, match="last 3 rows"):
        function(completions=["lost"] * 6, **arguments)
    unlimited = trl.reward(grade, max_abstained=None)
    assert unlimited(completions=["lost"] * 6, **arguments) == [None] * 6
    with pytest.raises(BadParameter, match="max_abstained"):
        trl.reward(grade, max_abstained=0)


def test_the_older_rubric_says_once_that_nothing_is_scored_for_it_pays_0_for_an_exception(
    caplog: pytest.LogCaptureFixture,
) -> None:
    function = verifiers.rubric_function("math_equal_reward", answer="info.gold")
    states: list[dict[str, Any]] = [{} for _ in range(70)]
    with caplog.at_level(logging.ERROR, "assay.adapters"):
        numbers = [asyncio.run(function(completion="4", state=state)) for state in states]
    assert numbers == [FIRST] * 70
    assert caplog.text.count("scored none of the last") == 1
    assert "'info.gold'" in caplog.text


class Model:
    """What NeMo-Gym's server passes: a pydantic model, not a mapping."""

    def __init__(self, **fields: Any) -> None:
        self._fields = fields

    def model_dump(self, mode: str) -> dict[str, Any]:
        assert mode == "json"
        return self._fields


def verify_request(text: str, **fields: Any) -> Model:
    item = {"type": "message", "role": "assistant", "content": [{"text": text}]}
    return Model(
        responses_create_params={"input": "ask"}, response={"output": [item]}, answer="4", **fields
    )


def test_nemo_gym_takes_a_model_and_masks_where_its_trainer_looks() -> None:
    function = nemo_gym.reward(grade)
    bodies = [
        asyncio.run(function(verify_request(text, instance_config={"id": 7}))).body
        for text in GROUP
    ]
    rows = [json.loads(body) for body in bodies]
    assert [row["instance_config"]["mask_sample"] for row in rows] == [False, False, True, False]
    assert rows[2]["instance_config"]["id"] == 7
    assert [row["reward"] for row in rows] == [1.0, 0.0, 0.5, 0.0], "neutral without a mask, too"
    assert rows[2]["_ng_failure_class"] == "judge_failed"
    assert "_ng_failure_class" not in rows[0]


def test_a_pure_function_of_nemo_gym_does_not_change_its_request() -> None:
    body = {"response": {"output": []}, "instance_config": {"mask_sample": False}}
    response = nemo_gym.to_response(body, Abstained("grader_error", "gone"))
    assert response["instance_config"] == {"mask_sample": True}
    assert body["instance_config"] == {"mask_sample": False}


def test_rllm_walks_back_over_steps_that_only_call_a_tool() -> None:
    with stand_in():
        steps = [
            SimpleNamespace(output=None, model_response=text, chat_completions=[])
            for text in ("5", "4", "", None)
        ]
        trajectory = SimpleNamespace(output="", steps=steps)
        episode = SimpleNamespace(artifacts={}, trajectories=[trajectory])
        output = adapter("rllm").Evaluator(grade).evaluate({"ground_truth": "4"}, episode)
        assert output.reward == 1.0


@pytest.mark.parametrize("adapt", [verifiers.rubric_function, verifiers.group_function])
def test_the_older_rubric_would_pay_zero_for_what_raises(adapt: Callable[..., Any]) -> None:
    with pytest.raises(BadParameter, match=r"scores as 0\.0"):
        adapt("qa_f1_reward", abstained=None)
