"""Use any Assay reward as a scorer in Inspect AI.

    Task(dataset=…, solver=…, scorer=inspect_ai.reward("math_equal_reward"))

Abstained: `Score.unscored` with the reason; Inspect leaves it out of metrics and reducers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.adapters.binding import Reward, bind, import_library
from assay.formats.inspect_logs import answer_of, to_inspect, to_message
from assay.schema.message import field_of


def reward(
    which: Reward,
    /,
    *,
    params: Mapping[str, Any] | None = None,
    name: str | None = None,
    **columns: str,
) -> Any:
    """Create an Inspect AI scorer from a reward, with mean and standard error as metrics.

    The reward's `answer` is the sample's target (a list when there are several; an empty target
    counts as none), the entries of its metadata are columns. `value` is the number, `answer` what
    the reward read as the answer, `explanation` why, `metadata` the parts and the reward's name.
    """
    api = import_library("inspect_ai.scorer", package="inspect-ai")
    binding = bind(which, params, columns)
    decorate = api.scorer(metrics=[api.mean(), api.stderr()], name=name or binding.name)

    # Inspect records these arguments in the log.
    def build(reward: str, params: Any, columns: Any) -> Any:  # noqa: ARG001
        async def score(state: Any, target: Any) -> Any:
            return to_inspect(await binding.score_async(_row(state, target)), api.Score)

        return score

    return decorate(build)(
        reward=binding.scorer.spec.id, params=dict(params or {}), columns=dict(columns)
    )


def _row(state: Any, target: Any) -> dict[str, Any]:
    return {
        **(state.metadata or {}),
        "metadata": state.metadata or {},
        "store": state.store,
        "sample_id": state.sample_id,
        "epoch": state.epoch,
        "input": state.input_text,
        "target": list(target),
        "answer": answer_of(list(target)),
        "final_response": state.output.completion if state.output.choices else None,
        "trajectory": [to_message(message) for message in state.messages if _is_new(message)],
    }


def _is_new(message: Any) -> bool:
    """Whether the message was created in this sample, and not in its few-shot input."""
    return field_of(message, "source") != "input" or message.role in ("system", "user")
