"""Each adapter in its trainer's terms: what goes in, what comes out, what is never guessed."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from math import isnan
from types import SimpleNamespace
from typing import Any

import pytest

import assay
from assay.adapters import areal, nemo_gym, openrlhf, slime, trl, verifiers, verl
from assay.adapters.messages import read_completion
from assay.errors import (
    BadParameter,
    BadRecord,
    DeadResource,
    MissingExtra,
    MissingParameter,
    NoScore,
)
from assay.registry import reward as declare
from assay.schema.episode import Episode
from assay.schema.observation import Observation
from assay.schema.task import Task
from assay.worlds.chat.environment import Chat
from tests.adapters.stand_ins import VerifiersTrace, adapter, inspect_state, stand_in

CALL = {"id": "1", "type": "function", "function": {"name": "search", "arguments": "{}"}}
TOOL_RUN: list[dict[str, Any]] = [
    {"role": "assistant", "content": "", "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "1", "content": "Paris"},
    {"role": "assistant", "content": "Paris"},
]

COMPLETIONS: list[tuple[Any, str | None, str]] = [
    ("Paris", "Paris", "plain text is the answer"),
    (None, None, "no message"),
    ([], None, "no message"),
    ({"role": "assistant", "content": "Paris"}, "Paris", "one message"),
    (TOOL_RUN, "Paris", "the last message is the model's"),
    (TOOL_RUN[:2], None, "a tool's result is not the model's answer"),
    (
        [{"role": "assistant", "content": [{"type": "text", "text": "Pa"}, {"text": "ris"}]}],
        "Paris",
        "the parts of a content are joined",
    ),
    ([{"role": "assistant", "content": None}], "", "an empty answer is an answer"),
]


@pytest.mark.parametrize(("completion", "expected", "why"), COMPLETIONS)
def test_the_final_response_is_what_the_model_said_last(
    completion: Any, expected: str | None, why: str
) -> None:
    assert read_completion(completion).final_response == expected, why


def test_trl_sees_the_tools_of_the_completion_and_not_those_of_the_prompt() -> None:
    function = trl.reward("qa_f1_reward_tool")
    plain = [{"role": "assistant", "content": "Paris"}]
    rewards = function(
        prompts=[[{"role": "user", "content": "?"}], TOOL_RUN],
        completions=[TOOL_RUN, plain],
        answer=["Paris", "Paris"],
    )
    assert rewards == [1.0, 0.0]


def test_trl_gets_why_as_a_column_of_the_completions_table() -> None:
    columns: dict[str, list[str]] = {}
    trl.reward("math_equal_reward")(
        prompts=["?"], completions=["2"], answer=[None], log_extra=columns.__setitem__
    )
    assert columns == {"math_equal_reward/because": ["row 1: the reference is None"]}


def test_trl_passes_a_column_as_a_list_and_anything_else_whole() -> None:
    @declare(register=False)
    def seen(final_response: str, level: int, note: str) -> float:
        return level if note == "whole" else -1.0

    function = trl.reward(seen)
    rewards = function(prompts=["?"] * 2, completions=["a", "b"], level=[3, 4], note="whole")
    assert rewards == [3.0, 4.0]


def test_verl_never_guesses_a_tool_from_text() -> None:
    with pytest.raises(MissingParameter, match="trajectory"):
        verl.compute_score("any", "Tool: Paris", "Paris", reward="qa_f1_reward_tool")
    result = verl.compute_score(
        "any",
        "Paris",
        "Paris",
        {"messages": TOOL_RUN},
        reward="qa_f1_reward_tool",
        columns={"trajectory": "extra_info.messages"},
    )
    assert result["score"] == 1.0


def test_verl_configures_the_reward_and_refuses_a_data_source_without_one() -> None:
    result = verl.compute_score(
        "any",
        "x",
        "y",
        reward="qa_f1_reward",
        params={"mode": "hotpot"},
        reward_router_address=None,
    )
    assert result["score"] == 0.0
    with pytest.raises(BadParameter, match=r"'trivia'.*'maths'"):
        verl.compute_score("trivia", "x", "y", reward={"maths": "math_equal_reward"})


def test_openrlhf_grades_the_response_and_never_the_prompt() -> None:
    prompt = r"for example \boxed{2}. What is 1 + 1?"
    answer = openrlhf.reward("math_equal_reward")(
        queries=[f"<s>{prompt} 3</s>", f"<s>{prompt}2<|im_end|>\n", "cut off" + prompt[5:] + "2"],
        prompts=[prompt] * 3,
        labels=["2"] * 3,
    )
    assert answer["rewards"] == [0.0, 1.0, 0.5], "the mean of the prompt's others"
    assert answer["scores"] == answer["rewards"]
    assert answer["extra_logs"]["abstained"] == [0.0, 0.0, 1.0]
    assert isnan(answer["extra_logs"]["acc"][2])


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"query": "text", "prompts": []},
        {"query": ["a"], "prompts": ["a", "b"]},
        {"query": ["a"], "prompts": ["a"], "labels": 3},
    ],
)
def test_openrlhf_refuses_a_request_of_another_shape(body: dict[str, Any]) -> None:
    with pytest.raises(BadRecord):
        openrlhf.to_rows(body)


def test_nemo_gym_reads_the_items_of_a_response() -> None:
    output = [
        {"type": "reasoning", "summary": []},
        {"type": "function_call", "call_id": "1", "name": "search", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "1", "output": "Paris"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "P"}]},
    ]
    row = nemo_gym.to_row({"response": {"output": output}, "ground_truth": "P", "level": 3})
    assert (row["final_response"], row["answer"], row["level"]) == ("P", "P", 3)
    assert assay.score("qa_f1_reward_tool", **row)["reward"] == 1.0
    assert nemo_gym.to_row({"response": {"output": output[:3]}})["final_response"] is None
    with pytest.raises(BadRecord, match="output"):
        nemo_gym.to_row({"response": "text"})


def test_nemo_gym_masks_an_abstention_and_keeps_the_reserved_names() -> None:
    body: dict[str, Any] = {"response": {"output": []}, "responses_create_params": {}}
    abstained = nemo_gym.to_response(body, assay.Abstained("grader_error", "it broke", ("acc",)))
    assert abstained["mask_sample"] is True
    assert abstained["failure_kind"] == "verifier_error"
    assert abstained["failure_reason"] == "grader_error: it broke"
    assert abstained["_ng_failure_class"] == "judge_failed"
    scored = nemo_gym.to_response(body, assay.Scored(1.0, "", {"reward": 0.5, "acc": 1.0}))
    assert (scored["reward"], scored["acc"], scored["mask_sample"]) == (1.0, 1.0, False)
    assert scored["reward_components"] == {"reward": 0.5, "acc": 1.0}
    assert scored["response"] == body["response"]


def partly(final_response: str, answer: str) -> float:
    """A number as a reward; the grader cannot be reached over "lost"."""
    if final_response == "lost":
        raise ConnectionError("the grader did not answer")
    return float(final_response)


def sample(response: str, label: str | None) -> SimpleNamespace:
    return SimpleNamespace(
        prompt="?", response=response, label=label, metadata={"level": 3}, remove_sample=False
    )


def test_slime_leaves_the_baseline_of_a_group_alone_when_one_abstains() -> None:
    group = [sample("2", "2"), sample("3", "2"), sample("2", None)]
    args = SimpleNamespace(reward_key=None)
    rewards = asyncio.run(slime.reward("math_equal_reward")(args, group))
    assert rewards == [1.0, 0.0, 0.5]
    assert [each.remove_sample for each in group] == [False, False, True]


def test_slime_masks_a_sample_alone_and_gives_it_the_mean_so_far() -> None:
    args = SimpleNamespace(reward_key="score", assay_reward=partly)
    for response in ("1", "0", "0"):
        asyncio.run(slime.rm(args, sample(response, "lone")))
    lonely = sample("lost", "lone")
    third = pytest.approx(1 / 3)
    assert asyncio.run(slime.rm(args, lonely)) == {"score": third, "abstained": 1.0}
    assert lonely.remove_sample
    args.assay_abstained = 0.25
    assert asyncio.run(slime.rm(args, lonely)) == {"score": 0.25, "abstained": 1.0}
    with pytest.raises(BadParameter, match="assay_reward"):
        asyncio.run(slime.rm(SimpleNamespace(), lonely))


def test_slime_keys_are_constant_and_a_request_is_a_row() -> None:
    args = SimpleNamespace(reward_key="score")
    result = asyncio.run(slime.reward("math_equal_reward")(args, sample("2", "2")))
    assert result == {"acc": 1.0, "score": 1.0, "abstained": 0.0}
    row = slime.to_row({"prompt": "?", "response": "2", "label": "2"})
    assert assay.score("math_equal_reward", **row)["reward"] == 1.0


def test_areal_passes_the_columns_of_the_row() -> None:
    function = areal.reward("math_equal_reward", answer="solution")
    assert function("?", "2", [1], [2], solution="2.0", level=3) == 1.0


def test_skyrl_reads_either_place_for_the_reference_and_ends_the_episode() -> None:
    with stand_in():
        strict = {"reward": "math_equal_reward", "abstained": None}
        with pytest.raises(NoScore):
            adapter("skyrl").RewardEnv({}, {"reward_model": {}}, **strict).step("2")
        env = adapter("skyrl").RewardEnv(
            {}, {"reward_model": {"ground_truth": "2"}}, reward="math_equal_reward"
        )
        assert env.get_metrics() == {}
        output = env.step("2")
        assert (output["reward"], output["done"], output["observations"]) == (1.0, True, [])
        assert env.get_metrics() == {"acc": 1.0, "abstained": 0.0}
        with pytest.raises(BadParameter, match="kwargs="):
            adapter("skyrl").RewardEnv({}, {})


def test_rllm_gives_signals_and_the_older_protocol_works_too() -> None:
    with stand_in():
        rllm = adapter("rllm")
        step = SimpleNamespace(output=None, model_response="2", chat_completions=TOOL_RUN)
        episode = SimpleNamespace(
            artifacts={}, trajectories=[SimpleNamespace(output=None, steps=[step])]
        )
        task = SimpleNamespace(data={"ground_truth": "2"})
        output = rllm.Evaluator("math_equal_reward_tool").evaluate(task, episode)
        assert (output.reward, output.is_correct) == (1.0, True)
        assert [(signal.name, signal.value) for signal in output.signals] == [("acc", 1.0)]
        older = rllm.reward("math_equal_reward")({"ground_truth": "2"}, "3")
        assert (older.reward, older.is_correct) == (0.0, False)


def test_openenv_rubric_keeps_the_score_behind_its_number() -> None:
    with stand_in():
        rubric = adapter("openenv").RewardRubric(
            "math_equal_reward", final_response="action.text", answer="observation.gold"
        )
        action, seen = SimpleNamespace(text="2"), SimpleNamespace(gold=None)
        assert rubric(action, seen) is None
        assert rubric.last_result.reason == "missing_reference"
        assert rubric.state_dict() == {"scorer": "math_equal_reward@2", "params": {}}


def test_inspect_scores_carry_value_answer_explanation_and_metadata() -> None:
    with stand_in():
        scorer = adapter("inspect_ai").reward("math_equal_reward", params={"extraction": "boxed"})
        name, metrics, arguments = scorer.registered
        assert (name, metrics) == ("math_equal_reward", ["mean", "stderr"])
        assert arguments["reward"] == "math_equal_reward@2"
        score = asyncio.run(scorer(inspect_state(r"so \boxed{2}"), ["2"]))
        assert (score.value, score.answer) == (1.0, "2")
        assert score.metadata["parts"] == {"acc": 1.0}
        unscored = asyncio.run(scorer(inspect_state(r"\boxed{2}"), [""]))
        assert isnan(unscored.value)
        assert unscored.reason == "missing_reference"


def test_verifiers_counts_only_the_tools_that_this_rollout_used() -> None:
    function = verifiers.reward("qa_f1_reward_tool", weight=0.5)
    assert (function.reward, function._vf_weight) == (True, 0.5)  # type: ignore[attr-defined]
    call = SimpleNamespace(id="1", name="search", arguments="{}")
    used = VerifiersTrace(
        {"role": "assistant", "content": None, "tool_calls": [call]}, *TOOL_RUN[1:]
    )
    primed = VerifiersTrace(
        {"role": "assistant", "content": None, "tool_calls": [call], "few_shot": True},
        {"role": "tool", "tool_call_id": "1", "content": "Paris"},
        {"role": "assistant", "content": "Paris"},
    )
    task = [("answer", "Paris")]
    assert asyncio.run(function(task=task, trace=used)) == 1.0
    assert used.metrics["qa_f1_reward_tool/f1"] == 1.0
    assert asyncio.run(function(task=task, trace=primed)) == 0.0


def test_the_older_rubric_gets_a_neutral_number_where_an_exception_would_become_zero() -> None:
    function = verifiers.rubric_function("math_equal_reward", abstained=0.25)
    message = [{"role": "assistant", "content": "2"}]
    state: dict[str, Any] = {}
    assert asyncio.run(function(completion=message, answer="", state=state, info={})) == 0.25
    assert state["abstained"]["math_equal_reward"].startswith("missing_reference")
    elsewhere = verifiers.rubric_function("math_equal_reward", answer="info.gold", abstained=0.25)
    assert asyncio.run(elsewhere(completion=message, answer="2", state=state, info={})) == 0.25
    assert "'info.gold'" in state["abstained"]["math_equal_reward"]
    assert asyncio.run(function(completion=message, answer="2")) == 1.0


def test_a_text_world_plays_by_the_rules_of_gymnasium() -> None:
    with stand_in():
        env = adapter("gymnasium").TextEnvironment("alfworld", step_limit=2, render_mode="ansi")
        first, info = env.reset(seed=3)
        assert env.observation_space.contains(first)
        assert env.action_space.contains(env.action_space.sample())
        text, reward, terminated, truncated, _ = env.step("look")
        assert (reward, terminated, truncated) == (0.0, False, False)
        assert env.render() == text
        assert env.step("inventory")[3] is True
        assert env.reset(seed=3) == (first, info)
        assert env.reset(options={"task": info["task_id"]})[1]["task_id"] == info["task_id"]
        assert env.reset(options={"task": Task(id=info["task_id"])})[0] == first
        with pytest.raises(BadParameter):
            env.reset(options={"task": "nowhere"})
        env.close()
        env.close()


def test_a_vector_of_text_worlds_plays_one_task_in_each_group() -> None:
    with stand_in():
        envs = adapter("gymnasium").TextVectorEnvironment(
            "alfworld", num_envs=6, group_size=3, step_limit=2
        )
        texts, info = envs.reset(seed=3)
        assert len(set(texts[:3])) == len(set(texts[3:])) == 1
        assert info["seed"].tolist() == [3, 3, 3, 4, 4, 4]
        assert info["member"].tolist() == [0, 1, 2, 0, 1, 2]
        assert len({*info["group"]}) == 2
        _, rewards, terminated, truncated, info = envs.step(["look"] * 6)
        assert (rewards.tolist(), terminated.any(), truncated.any()) == ([0.0] * 6, False, False)
        assert "outcome" not in info
        _, _, terminated, truncated, info = envs.step(["look"] * 6)
        assert (terminated.any(), truncated.all()) == (False, True)
        assert info["outcome"].tolist() == [0.0] * 6
        assert {record.metadata["seed"] for record in info["record"]} == {3, 4}
        mask = [False] * 3 + [True] * 3
        again, started = envs.reset(seed=3, options={"reset_mask": mask})
        assert (again[3:], started["_steps"].tolist()) == (texts[3:], mask)
        assert envs.step(["look"] * 6)[3].tolist() == [True] * 3 + [False] * 3
        envs.close()
        envs.close()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"tasks": ["a"]}, "1 tasks for 2 groups"),
        ({"reset_mask": [True, False, True, True]}, "values, equal for all 2 members of a group"),
        ({"reset_mask": [True]}, "reset_mask has 1 values; give 4 values"),
        ({"games": []}, "unknown option 'games'"),
    ],
)
def test_a_group_that_cannot_be_reset_is_named(options: dict[str, Any], words: str) -> None:
    with stand_in():
        vector = adapter("gymnasium").TextVectorEnvironment
        with pytest.raises(
            BadParameter, match="num_envs=5 is not a positive multiple of group_size=2"
        ):
            vector("alfworld", num_envs=5, group_size=2)
        envs = vector("alfworld", num_envs=4, group_size=2)
        with pytest.raises(BadParameter, match=words):
            envs.reset(seed=1, options=options)


def test_a_world_that_dies_raises_alone_and_ends_its_own_episode_among_many() -> None:
    tasks = [Task(id="fragile", goal="?")]
    with stand_in():
        module = adapter("gymnasium")
        env = module.TextEnvironment(FragileWorld, tasks=tasks)
        env.reset(seed=1)
        with pytest.raises(DeadResource, match="broke"):
            env.step("break")
        envs = module.TextVectorEnvironment(FragileWorld, num_envs=2, group_size=2, tasks=tasks)
        envs.reset(seed=1)
        _, _, _, truncated, info = envs.step(["break", "look"])
        assert truncated.tolist() == [True, False]
        assert info["stop_reason"][0] == "env_error"
        assert "outcome" not in info


def test_a_session_of_an_openenv_server_is_an_episode_with_its_record() -> None:
    with stand_in():
        module = adapter("openenv_episodes")
        app = module.create_app("alfworld", step_limit=2, at_once=3)
        assert app.options == {"max_concurrent_envs": 3}
        sessions = [app.make() for _ in range(2)]
        starts = [each.reset(seed=5, member=n) for n, each in enumerate(sessions)]
        assert starts[0].text == starts[1].text
        assert [(each.group, each.seed, each.reward, each.outcome) for each in starts] == [
            (f"{starts[0].task_id}#5", 5, None, None)
        ] * 2
        assert [each.member for each in starts] == [0, 1]
        session = sessions[0]
        assert session.state.record is None
        seen = [session.step(module.TextAction(text="look")) for _ in range(2)]
        assert [(each.reward, each.done, each.outcome) for each in seen] == [
            (0.0, False, None),
            (0.0, True, 0.0),
        ]
        assert seen[1].stop_reason == "step_limit"
        record = Episode.model_validate(session.state.record)
        assert record.metadata["group"] == starts[0].group
        assert record.scores[0]["reward"] == 0.0
        for each in sessions:
            each.close()


def test_an_openenv_session_that_breaks_pays_nothing() -> None:
    with stand_in():
        module = adapter("openenv_episodes")
        app = module.create_app(FragileWorld, tasks=[Task(id="fragile", goal="?")])
        session = app.make()
        session.reset(seed=1)
        seen = session.step(module.TextAction(text="break"))
        assert (seen.done, seen.reward, seen.outcome) == (True, None, None)
        assert seen.stop_reason == "env_error"


def test_the_openenv_client_reads_what_the_server_sends() -> None:
    with stand_in():
        client = adapter("openenv_episodes").TextClient("http://127.0.0.1:1")
        assert client._step_payload("look") == {"text": "look"}
        payload = {"observation": {"text": "a room", "task_id": "t"}, "reward": 1.0, "done": True}
        result = client._parse_result(payload)
        assert (result.observation.text, result.reward, result.done) == ("a room", 1.0, True)
        assert client._parse_state({"record": None, "step_count": 2}).step_count == 2


class FragileWorld(Chat):
    """A conversation that breaks when it is told to."""

    async def step(self, action: str) -> Observation:
        if action == "break":
            raise DeadResource("it broke")
        return Observation("whole", self.evidence())

    async def reset(self, task: Task) -> Observation:
        return replace(await super().reset(task), tools=None)


def test_a_missing_library_is_one_error_that_names_the_package() -> None:
    with pytest.raises(MissingExtra, match="install skyrl-gym"):
        adapter("skyrl")


def test_stand_ins_leave_everything_else_that_was_imported_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)
    with stand_in():
        import colorsys

        adapter("skyrl")
    assert sys.modules["colorsys"] is colorsys
    assert "skyrl_gym.envs" not in sys.modules
