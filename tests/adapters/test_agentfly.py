"""AgentFly's reward files run under Assay unchanged, and ours under its decorator."""

from __future__ import annotations

import asyncio
import inspect
import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import assay
from assay.adapters import agentfly
from assay.errors import MissingParameter, NoScore, UnknownName

FILE = '''
from typing import Any, Dict, List

from agentfly.core import Context
from agentfly.rewards import BaseReward, RewardResult, reward
from .reward_base import reward as the_same
from .words import count

@reward(name="brevity")
def shortness(final_response: str, answer: str, trajectory: List[Any], *, level: int = 1, **kwargs):
    """Short answers are better."""
    tools = sum(message["role"] == "tool" for message in trajectory)
    return {"reward": 1.0 / max(1, count(final_response)), "tools": tools, "extra": len(kwargs)}

@the_same()
async def patient(final_response: str, context: Context = None) -> float:
    return 0.25

@reward(name="record")
def record(final_response: str):
    return RewardResult(0.5, {"f1": 0.5})

@reward(name="broken")
def broken(final_response: str):
    raise ValueError("no")

class Threshold(BaseReward):
    name = "threshold"
    def __init__(self, least: int = 2):
        super().__init__()
        self.least = least
    def call(self, final_response: str, answer: str) -> float:
        return float(len(final_response) >= self.least)

threshold = Threshold()
'''


@pytest.fixture
def rewards(tmp_path: Path) -> dict[str, agentfly.FileReward]:
    (tmp_path / "words.py").write_text("def count(text):\n    return len(text.split())\n")
    (tmp_path / "mine.py").write_text(FILE)
    return agentfly.load(tmp_path / "mine.py")


def test_every_kind_of_declaration_is_found(rewards: dict[str, agentfly.FileReward]) -> None:
    assert sorted(rewards) == ["brevity", "broken", "patient", "record", "threshold"]


def test_a_file_scores_as_agentfly_would_call_it(rewards: dict[str, agentfly.FileReward]) -> None:
    row: dict[str, Any] = {
        "final_response": "two words",
        "answer": "x",
        "trajectory": [{"role": "tool"}],
        "level": 3,
        "other": 1,
    }
    score = assay.score(rewards["brevity"], **row)
    assert dict(score) == {"reward": 0.5, "tools": 1.0, "extra": 0.0}
    assert score.scorer == "brevity@1"
    assert assay.score(rewards["patient"], **row)["reward"] == 0.25
    assert dict(assay.score(rewards["record"], **row)) == {"reward": 0.5, "f1": 0.5}
    assert assay.score(rewards["threshold"], **row)["reward"] == 1.0


def test_a_failure_of_the_file_is_an_abstention(rewards: dict[str, agentfly.FileReward]) -> None:
    score = assay.score(rewards["broken"], final_response="x")
    assert isinstance(score, assay.Abstained)
    assert score.reason == "grader_error"
    with pytest.raises(MissingParameter, match="trajectory"):
        assay.score(rewards["brevity"], final_response="x", answer="y")


def test_loading_leaves_no_stand_in_behind(rewards: dict[str, agentfly.FileReward]) -> None:
    assert not [name for name in sys.modules if name.startswith("agentfly")]


def test_a_reward_of_a_file_pickles_as_file_and_name(
    rewards: dict[str, agentfly.FileReward], tmp_path: Path
) -> None:
    copy = pickle.loads(pickle.dumps(rewards["threshold"]))
    assert assay.score(copy, final_response="x", answer="y")["reward"] == 0.0
    batch = assay.score_batch(rewards["record"], [{"final_response": "x"}] * 3)
    assert [float(score) for score in batch] == [0.5] * 3
    (tmp_path / "mine.py").write_text("")
    with pytest.raises(UnknownName, match="threshold"):
        pickle.loads(pickle.dumps(rewards["threshold"]))


def under_agentfly(function: Callable[..., Any], **columns: Any) -> Any:
    """How AgentFly calls a decorated function: what the signature names, and nothing else."""
    named = {key: columns[key] for key in inspect.signature(function).parameters if key in columns}
    assert inspect.iscoroutinefunction(function)
    return asyncio.run(function(**named))


def test_ours_are_called_with_what_they_need() -> None:
    function = agentfly.reward("qa_f1_reward", answer="golden")
    result = under_agentfly(
        function, final_response="Paris", golden="Paris", trajectory=[], id="1", context=None
    )
    assert result == {"reward": 1.0, "f1": 1.0, "em": 1.0, "precision": 1.0, "recall": 1.0}
    assert all(type(value) is float for value in result.values())
    strict = agentfly.reward("qa_f1_reward", answer="golden", abstained=None)
    with pytest.raises(NoScore):
        under_agentfly(strict, final_response="Paris", golden=None, trajectory=[])


def test_a_file_runs_the_same_after_both_doors(rewards: dict[str, agentfly.FileReward]) -> None:
    """Theirs under ours, and that under theirs again."""
    back = agentfly.reward(rewards["threshold"])
    assert under_agentfly(back, final_response="xyz", answer="") == {"reward": 1.0}
