"""End-of-turn tokens are cut off a response in every adapter, and nothing else is."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from assay.adapters import agentfly, areal, nemo_gym, openrlhf, slime, trl, verifiers, verl
from assay.text.channels import END_TOKENS, strip_end_tokens
from tests.adapters.stand_ins import VerifiersTrace, adapter, inspect_state, stand_in

ENDINGS = [
    ("Paris<|im_end|>", "Paris", "a token"),
    ("Paris<|im_end|>\n", "Paris", "white space after it"),
    ("Paris \n</s>", "Paris", "white space before it"),
    ("Paris<|im_end|><|endoftext|><|endoftext|>", "Paris", "several, as padding gives them"),
    ("Paris<｜end▁of▁sentence｜>", "Paris", "DeepSeek's"),
    ("Paris<|eot_id|>", "Paris", "Llama 3's"),
    ("Paris<end_of_turn>", "Paris", "Gemma's"),
    ("Paris<|end|><|return|>", "Paris", "gpt-oss's"),
    ("<|im_end|>", "", "nothing but a token is an empty answer"),
    ("", "", "an empty answer"),
    ("Paris \n", "Paris \n", "white space alone is the model's"),
    ("a<|im_end|>b", "a<|im_end|>b", "in the middle it is what the model wrote"),
    ("Paris<|im_end", "Paris<|im_end", "half a token is text"),
    ("no <s>London</s>", "no <s>London</s>", "the end of an element that was opened"),
    ("no <s>London</s></s>", "no <s>London</s>", "and a token after it"),
    ("<s>Paris</s> it is</s>", "<s>Paris</s> it is", "an element closed before"),
]


@pytest.mark.parametrize(("response", "expected", "why"), ENDINGS)
def test_only_what_stands_at_the_end_is_cut_off(response: str, expected: str, why: str) -> None:
    assert strip_end_tokens(response) == expected, why
    assert strip_end_tokens(strip_end_tokens(response)) == expected, "twice is once"


@pytest.mark.parametrize("token", END_TOKENS)
def test_every_token_of_the_table_is_cut_off(token: str) -> None:
    assert strip_end_tokens(f"Paris{token}") == "Paris"


def test_a_million_tokens_at_the_end_take_no_longer_than_their_length() -> None:
    assert strip_end_tokens("Paris" + "</s> " * 1_000_000) == "Paris"
    assert strip_end_tokens("<s>" * 1_000_000 + "</s>" * 2) == "<s>" * 1_000_000 + "</s>"


def through_nemo_gym(text: str) -> float:
    item = {"type": "message", "role": "assistant", "content": [{"text": text}]}
    row = nemo_gym.to_row({"response": {"output": [item]}, "expected_answer": "Paris"})
    return float(row["final_response"] == "Paris")


def through_slime(text: str) -> Any:
    sample = SimpleNamespace(prompt="?", response=text, label="Paris", metadata={})
    return asyncio.run(slime.reward("qa_f1_reward")(SimpleNamespace(reward_key=None), sample))


def through_skyrl(text: str) -> Any:
    with stand_in():
        extras = {"reward_spec": {"ground_truth": "Paris"}}
        env = adapter("skyrl").RewardEnv({}, extras, reward="qa_f1_reward")
        return env.step(text)["reward"]


def through_rllm(text: str) -> Any:
    with stand_in():
        episode = SimpleNamespace(artifacts={"answer": text}, trajectories=[])
        evaluator = adapter("rllm").Evaluator("qa_f1_reward")
        return evaluator.evaluate({"ground_truth": "Paris"}, episode).reward


def through_openenv(text: str) -> Any:
    with stand_in():
        rubric = adapter("openenv").RewardRubric(
            "qa_f1_reward", final_response="action", answer="observation.gold"
        )
        return rubric(text, SimpleNamespace(gold="Paris"))


def through_inspect(text: str) -> Any:
    with stand_in():
        scorer = adapter("inspect_ai").reward("qa_f1_reward")
        return asyncio.run(scorer(inspect_state(text), ["Paris"])).value


def through_verifiers(text: str) -> Any:
    trace = VerifiersTrace({"role": "assistant", "content": text})
    return asyncio.run(verifiers.reward("qa_f1_reward")(task=[("answer", "Paris")], trace=trace))


ADAPTERS: dict[str, Callable[[str], Any]] = {
    "trl": lambda text: trl.reward("qa_f1_reward")(
        prompts=["?"], completions=[text], answer=["Paris"]
    )[0],
    "trl chat": lambda text: trl.reward("qa_f1_reward")(
        prompts=["?"], completions=[[{"role": "assistant", "content": text}]], answer=["Paris"]
    )[0],
    "verl": lambda text: verl.compute_score("any", text, "Paris", reward="qa_f1_reward")["score"],
    "openrlhf": lambda text: openrlhf.reward("qa_f1_reward")([f"ask{text}"], ["ask"], ["Paris"])[
        "rewards"
    ][0],
    "areal": lambda text: areal.reward("qa_f1_reward")("?", text, [1], [2], answer="Paris"),
    "agentfly": lambda text: asyncio.run(
        agentfly.reward("qa_f1_reward")(final_response=text, answer="Paris")
    )["reward"],
    "rubric": lambda text: asyncio.run(
        verifiers.rubric_function("qa_f1_reward")(completion=text, answer="Paris")
    ),
    "nemo_gym": through_nemo_gym,
    "slime": through_slime,
    "skyrl": through_skyrl,
    "rllm": through_rllm,
    "openenv": through_openenv,
    "inspect_ai": through_inspect,
    "verifiers": through_verifiers,
}


@pytest.mark.parametrize("through", ADAPTERS.values(), ids=ADAPTERS.keys())
def test_every_adapter_scores_the_response_without_its_end_tokens(
    through: Callable[[str], Any],
) -> None:
    for token in ["<|im_end|>", "</s>\n", "<｜end▁of▁sentence｜>"]:
        assert through(f"Paris{token}") == 1.0, token
