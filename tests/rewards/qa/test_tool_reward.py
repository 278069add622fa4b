"""`qa_f1_reward_tool`: 0.0, 0.1 or 1.0 by tool use and answer, with parts that no gate touches."""

from __future__ import annotations

from typing import Any

import pytest

from assay.errors import BadParameter
from assay.rewards.outcome.qa.reward import PARTS, qa_f1_reward, qa_f1_reward_tool
from assay.scoring import score

TOOL = {"role": "tool", "content": "Paris is the capital of France."}
ASK = {"role": "user", "content": "What is the capital of France?"}
SAY = {"role": "assistant", "content": "Paris"}
CALL = {"role": "assistant", "tool_calls": [{"id": "c1", "function": {"name": "search"}}]}
FAILED = {"role": "tool", "tool_call_id": "c1", "content": "timeout", "is_error": True}

# Each row: response, trajectory, options; then the reward, and why.
CASES: list[tuple[Any, Any, dict[str, Any], float, str]] = [
    ("Paris", [ASK, SAY], {}, 0.0, "no tool, no reward"),
    ("Paris", [], {}, 0.0, "an empty trajectory used no tool"),
    ("Paris", [ASK, TOOL, SAY], {}, 1.0, "one tool and the answer"),
    ("the paris!", [ASK, TOOL], {}, 1.0, "correct is an exact match after normalisation"),
    ("Rome", [TOOL], {}, 0.1, "a tool and a wrong answer"),
    ("Paris, I think", [TOOL], {}, 0.1, "a partial answer is not correct"),
    ("Paris, I think", [TOOL], {"correct_at": 0.5}, 1.0, "unless F1 of a half is enough"),
    ("Paris, I really think", [TOOL], {"correct_at": 0.5}, 0.1, "and F1 reaches it"),
    (None, [TOOL], {}, 0.1, "no answer is a wrong answer"),
    ("Paris", [CALL, FAILED], {}, 0.0, "a failed call is no use of a tool"),
    ("Paris", [CALL, FAILED], {"tool_policy": {"failed_counts": True}}, 1.0, "unless it may be"),
    ("Paris", [CALL], {}, 0.0, "nor is a call that nothing answered"),
    ("Paris", [CALL], {"tool_policy": "any"}, 1.0, "unless any sign will do"),
    ("Paris", [TOOL], {"tool_policy": {"minimum": 2}}, 0.0, "one where two are asked for"),
    ("Paris", [TOOL], {"tool_policy": "agentfly"}, 0.0, "as AgentFly's gate does for QA"),
    ("Paris", [TOOL, TOOL], {"tool_policy": "agentfly"}, 1.0, "its gate with our amounts"),
    ("Paris", [[ASK, TOOL], [SAY]], {}, 1.0, "a folded context"),
    ("<answer>Paris</answer>", [TOOL], {"extract": "answer_tag"}, 1.0, "the answer in its tag"),
    ("yes it is", [TOOL], {"mode": "hotpot", "correct_at": 0.1}, 0.1, "the mode's rule holds"),
    ("Paris", [{"role": "assistant", "content": "Tool: Paris"}], {}, 0.0, "a claim is no tool"),
    ("Paris", [TOOL], {"agentfly": True}, 0.0, "AgentFly needs two tool messages"),
    ("Paris", [TOOL, TOOL], {"agentfly": True}, 1.0, "then pays F1"),
    ("Paris France", [TOOL, TOOL], {"agentfly": True}, 2 / 3, "a part of it for a partial answer"),
    ("Rome", [TOOL, TOOL], {"agentfly": True}, 0.0, "and nothing for a wrong one"),
    ("Paris", [CALL, FAILED, FAILED], {"agentfly": True}, 1.0, "though both calls failed"),
]


@pytest.mark.parametrize(
    ("response", "trajectory", "options", "reward", "why"), CASES, ids=[row[-1] for row in CASES]
)
def test_every_decided_case_pays_what_the_table_says(
    response: object, trajectory: object, options: dict[str, Any], reward: float, why: str
) -> None:
    answer = "yes" if response == "yes it is" else "Paris"
    result = qa_f1_reward_tool(
        final_response=response, answer=answer, trajectory=trajectory, **options
    )
    assert float(result) == pytest.approx(reward), why
    assert result.because


@pytest.mark.parametrize("trajectory", [[], [TOOL], [TOOL, TOOL]], ids=len)
@pytest.mark.parametrize("agentfly", [False, True])
def test_the_parts_are_those_of_the_plain_reward_whatever_the_gate_says(
    trajectory: list[Any], agentfly: bool
) -> None:
    plain = qa_f1_reward(final_response="Paris France", answer="Paris")
    gated = qa_f1_reward_tool(
        final_response="Paris France", answer="Paris", trajectory=trajectory, agentfly=agentfly
    )
    assert dict(gated.parts) == dict(plain.parts)


def test_agentfly_scores_equal_its_code_on_every_count_of_tool_messages() -> None:
    rows = [("yes it is", "yes"), ("", ""), ("Paris France", "Paris"), ("the Paris", "paris")]
    for response, answer in rows:
        f1 = qa_f1_reward(final_response=response, answer=answer, mode="hotpot")["f1"]
        for tools in range(4):
            result = qa_f1_reward_tool(
                final_response=response,
                answer=answer,
                trajectory=[ASK, *[TOOL] * tools, SAY],
                agentfly=True,
            )
            assert float(result) == (f1 if tools >= 2 else 0.0)


@pytest.mark.parametrize(
    "trajectory", [None, "tool", ["tool"], [{"content": "x"}], {"role": "tool"}]
)
def test_a_trajectory_that_is_none_abstains_rather_than_scoring_zero(trajectory: object) -> None:
    result = qa_f1_reward_tool(final_response="Paris", answer="Paris", trajectory=trajectory)
    assert result.abstained
    assert result["abstained"] == "bad_trajectory"
    assert dict(result.parts) == dict.fromkeys(PARTS)


def test_a_missing_reference_abstains_with_the_gate_open_or_closed() -> None:
    for trajectory in ([], [TOOL]):
        result = qa_f1_reward_tool(final_response="Paris", answer=None, trajectory=trajectory)
        assert result["abstained"] == "missing_reference"


@pytest.mark.parametrize(
    "options",
    [{"correct_at": 0.0}, {"correct_at": 1.5}, {"tool_policy": "strict"}, {"mode": "x"}],
)
def test_an_option_that_cannot_mean_anything_is_a_usage_error(options: dict[str, Any]) -> None:
    with pytest.raises(BadParameter):
        qa_f1_reward_tool(final_response="Paris", answer="Paris", trajectory=[], **options)


def test_the_reason_names_the_tool_use_and_the_match() -> None:
    result = qa_f1_reward_tool(final_response="Paris France", answer="Paris", trajectory=[TOOL])
    assert result.because == (
        "1 tool result, 1 needed; f1 0.67: 1 of 2 answer tokens match 'Paris'"
    )


def test_the_registered_reward_gives_the_same_score_with_its_identity() -> None:
    columns: dict[str, Any] = {"final_response": "Paris", "answer": "Paris", "trajectory": [TOOL]}
    by_name = score("qa_f1_reward_tool", **columns, params={"tool_policy": {"minimum": 1}})
    assert dict(by_name) == dict(qa_f1_reward_tool(**columns))
    assert by_name.scorer == "qa_f1_reward_tool@1"
