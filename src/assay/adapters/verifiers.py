"""verifiers: rewards for a task of the current API, and for the older `Rubric`.

    class Sums(vf.Task):
        maths = verifiers.reward("math_equal_reward")          # a weighted reward of the task

    vf.Rubric(funcs=[verifiers.rubric_function("math_equal_reward")])          # before 0.2

Abstained: raises in a task, so that the trace carries a `TaskError`, its reward stays `None` and
trainers drop it. The older rubric turns exceptions into 0.0, so there it is NaN, with the reason in
`state["abstained"]`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping
from math import nan
from typing import Any

from assay.adapters.binding import Binding, Reward, bind
from assay.adapters.messages import read_completion
from assay.errors import UsageError
from assay.schema.message import field_of, text_of, tool_call
from assay.schema.score import Abstained


def reward(
    which: Reward,
    /,
    *,
    params: Mapping[str, Any] | None = None,
    name: str | None = None,
    weight: float = 1.0,
    priority: int = 0,
    **columns: str,
) -> Callable[..., Any]:
    """A coroutine function of `(task, trace)`, marked as `@vf.reward` marks a method.

    As an attribute of a `vf.Task` class it is one of its rewards; at the top of a module it can be
    plugged in by configuration, `rewards.<name>.fn = "module:function"`. The task's own fields are
    the columns. The parts are recorded as metrics `<name>/<part>`.
    """
    binding = bind(which, params=params, columns=columns)
    title = name or binding.name
    call = binding.function(_score_trace, title, name=title)
    vars(call).update(reward=True, reward_priority=priority, _vf_weight=weight)
    return call


def rubric_function(
    which: Reward,
    /,
    *,
    params: Mapping[str, Any] | None = None,
    name: str | None = None,
    **columns: str,
) -> Callable[..., Any]:
    """A coroutine function for the older `vf.Rubric`, which injects arguments by name.

    The columns are those of the data set, the entries of `info`, and `state`.
    """
    return bind(which, params=params, columns=columns).function(_score_rollout, name=name)


async def _score_trace(binding: Binding, title: str, /, task: Any, trace: Any) -> float:
    messages = _own_messages(trace)
    root = field_of(trace, "root_reply")
    row = {
        **dict(task),
        "task": task,
        "trace": trace,
        "final_response": read_completion(messages).final_response if root is None else root,
        "trajectory": messages,
    }
    score = await binding.score_async(row)
    for part in binding.parts:
        number = score.parts[part]
        if number is not None:
            trace.record_metric(f"{title}/{part}", number)
    return binding.number(score)


async def _score_rollout(
    binding: Binding,
    /,
    completion: Any,
    prompt: Any = None,
    answer: Any = None,
    state: Any = None,
    info: Any = None,
    **columns: Any,
) -> float:
    details = dict(info) if isinstance(info, Mapping) else {}
    row = {
        **details,
        **columns,
        "info": details,
        "state": state,
        "prompt": prompt,
        # The older API passes an empty text for a row without an answer.
        "answer": answer if answer != "" else None,
        **read_completion(completion)._asdict(),
    }
    try:
        score = await binding.score_async(row)
    except UsageError as error:
        # The rubric would log it and pay 0.0 for every row of a misconfigured run.
        return _without_number(state, binding.name, str(error))
    if isinstance(score, Abstained):
        return _without_number(state, binding.name, f"{score.reason}: {score.because}")
    return score.value


def _without_number(state: Any, name: str, because: str) -> float:
    """NaN, with the reason left in the rollout's state."""
    if isinstance(state, MutableMapping):
        state.setdefault("abstained", {})[name] = because
    return nan


def _own_messages(trace: Any) -> list[dict[str, Any]]:
    """The messages of the trace's last branch, from the first one that the model wrote."""
    branches = trace.branches
    nodes = branches[-1].nodes if branches else []
    start = next((number for number, node in enumerate(nodes) if node.sampled), len(nodes))
    return [_message(node.message) for node in nodes[start:]]


def _message(message: Any) -> dict[str, Any]:
    plain: dict[str, Any] = {"role": message.role, "content": text_of(message.content)}
    calls = field_of(message, "tool_calls")
    if calls:
        plain["tool_calls"] = [tool_call(call.id, call.name, call.arguments) for call in calls]
    if message.role == "tool":
        plain["tool_call_id"] = message.tool_call_id
    return plain
