"""Whatever a row holds, a text reward answers, quickly, and lets other threads run meanwhile."""

from __future__ import annotations

from decimal import Decimal

import pytest

import assay
from perf.gil import HOLD_LIMIT_S, longest_hold
from perf.text_rows import OPTIONS
from perf.text_rows.blocks import Block, score_block, warm_up

CHARS = 1_000_000


@pytest.mark.parametrize("reward", OPTIONS)
def test_generated_rows_get_an_answer_and_break_no_promise(reward: str) -> None:
    warm_up()
    result = score_block(Block(reward, 17, 0, 400))
    assert result.rows == sum(result.counts.values()) == 400
    assert result.counts["scored"] > 100
    assert result.problems == []


def test_a_block_of_rows_gives_the_same_scores_again() -> None:
    block = Block("qa_f1_reward_tool", 18, 0, 150)
    assert score_block(block).digest == score_block(block).digest


@pytest.mark.parametrize("reward", OPTIONS)
def test_a_signalling_nan_is_no_reference(reward: str) -> None:
    for reference in [Decimal("sNaN"), [Decimal("sNaN")]]:
        params = {"hidden_gold": "abstain"} if reward == "assistantbench_reward" else {}
        row = {"final_response": "42", "answer": reference, "trajectory": []}
        columns = row if reward.endswith("_tool") else {k: row[k] for k in row if k != "trajectory"}
        score = assay.score(reward, params=params, **columns)
        assert isinstance(score, assay.Abstained), reference
        assert score.reason == "missing_reference", reference


@pytest.mark.parametrize(
    ("reward", "text", "params"),
    [
        ("qa_f1_reward", "a\u0301" * (CHARS // 2), {"mode": "squad2"}),
        ("qa_f1_reward", "a\u0301" * (CHARS // 2), {"mode": "drop"}),
        ("qa_f1_reward", "a\u0301" * (CHARS // 2), {"mode": "inspect"}),
        ("qa_f1_reward", "\u0301" * CHARS, {"mode": "drop"}),
        ("math_equal_reward", "<answer>" + "word " * (CHARS // 5), {}),
        ("math_equal_reward", "<answer>" + r"\(" * (CHARS // 2), {}),
        ("math_equal_reward", "<answer>" + "}" * CHARS, {}),
        ("math_equal_reward", "[" * CHARS, {}),
        ("math_equal_reward", "<" * CHARS, {}),
        ("math_equal_reward", "<answer>" * (CHARS // 8), {}),
        ("math_equal_reward", "\n>" * (CHARS // 2) + "\n42", {}),
    ],
)
def test_a_megabyte_keeps_no_other_thread_waiting(
    reward: str, text: str, params: dict[str, str]
) -> None:
    def call() -> None:
        assay.score(reward, params=params, final_response=text, answer="a short answer")

    call()
    assert longest_hold(call, doubtful_s=HOLD_LIMIT_S) <= HOLD_LIMIT_S
