"""Create an rLLM evaluator, or the older reward function of `(task_info, action)`.

    evaluator = rllm.Evaluator("math_equal_reward", answer="ground_truth")

Abstained: the mean of the latest rewards of the same task, or the number that `abstained` names;
`metadata["abstained"]` says so. With `abstained=None` it raises: rLLM tries again, then stops.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from assay.adapters.binding import (
    MAX_ABSTAINED,
    Binding,
    Reward,
    RewardMaker,
    StandIn,
    bind,
    import_library,
)
from assay.schema.message import field_of
from assay.schema.score import Score

CORRECT = 1.0
"""The value from which rLLM's `is_correct` is true."""


class Evaluator:
    """A picklable rLLM evaluator; `evaluate(task, episode)` returns an `EvalOutput`."""

    def __init__(
        self,
        which: Reward,
        /,
        *,
        params: Mapping[str, Any] | None = None,
        abstained: StandIn = "mean",
        max_abstained: int | None = MAX_ABSTAINED,
        **columns: str,
    ) -> None:
        self._binding: Binding = bind(which, params, columns, abstained, max_abstained)

    def evaluate(self, task: Any, episode: Any) -> Any:
        """Return the reward, its parts as signals, and the reason."""
        types = import_library("rllm.eval.types", package="rllm")
        binding = self._binding
        messages = field_of(_last(_last(episode, "trajectories"), "steps"), "chat_completions")
        row = _row(_data(task), _answer_of(episode), messages)
        score = binding.score(row)
        signals = [
            types.Signal(name=part, value=number)
            for part in binding.parts
            if (number := score.parts[part]) is not None
        ]
        return types.EvalOutput(signals=signals, **_output(binding, score, row))


@RewardMaker
def reward(binding: Binding, name: str | None) -> Callable[..., Any]:
    """Create a function of `(task_info, action)` that returns rLLM's `RewardOutput`."""
    return binding.function(_reward_fn, name=name)


def _reward_fn(binding: Binding, /, task_info: Mapping[str, Any], action: str) -> Any:
    output = import_library("rllm.rewards.reward_types", package="rllm").RewardOutput
    row = _row(task_info, action, None)
    return output(**_output(binding, binding.score(row), row))


def _data(task: Any) -> Mapping[str, Any]:
    if isinstance(task, Mapping):
        return task
    for field in ("data", "metadata"):
        value = field_of(task, field)
        if isinstance(value, Mapping):
            return value
    return {}


def _row(data: Mapping[str, Any], answer: Any, messages: Any) -> dict[str, Any]:
    row = {**data, "final_response": answer}
    if "answer" not in row and "ground_truth" in row:
        row["answer"] = row["ground_truth"]
    if messages is not None:
        row["trajectory"] = messages
    return row


def _answer_of(episode: Any) -> Any:
    """The agent's answer, from the places where rLLM's own rewards look."""
    artifacts = field_of(episode, "artifacts") or {}
    if "answer" in artifacts:
        return artifacts["answer"]
    trajectory = _last(episode, "trajectories")
    output = field_of(trajectory, "output") or field_of(_last(trajectory, "steps"), "output")
    steps = reversed(field_of(trajectory, "steps") or [])
    responses = (field_of(step, "model_response") for step in steps)
    return output or next((response for response in responses if response), None)


def _last(record: Any, key: str) -> Any:
    items = field_of(record, key) or []
    return items[-1] if items else None


def _output(binding: Binding, score: Score, row: Mapping[str, Any]) -> dict[str, Any]:
    value = binding.number(score, row)
    about = {
        "because": score.because,
        "scorer": score.scorer,
        "abstained": score.abstained,
        "parts": dict(score.parts),
    }
    correct = not score.abstained and value >= CORRECT
    return {"reward": value, "is_correct": correct, "metadata": about}
