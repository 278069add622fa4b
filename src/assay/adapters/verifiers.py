"""Use Assay rewards in the library verifiers, in its current and its older API.

    class Sums(vf.Task):
        maths = verifiers.reward("math_equal_reward")          # a weighted reward of the task

    vf.Rubric(funcs=[verifiers.group_function("math_equal_reward")])           # before 0.2

Abstained: raises in a task, so that the trace carries a `TaskError`, its reward stays `None` and
trainers drop it. The older rubric turns exceptions into 0.0 and adds up whatever it is given, so
there it is a neutral number, with the reason in `state["abstained"]`: the mean of those of the
group that were scored, in a group function; in one for a single rollout, of the latest rewards of
the same prompt.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from contextlib import suppress
from typing import Any

from assay.adapters.binding import MAX_ABSTAINED, Binding, Reward, StandIn, bind
from assay.adapters.messages import read_completion
from assay.errors import BadParameter, NoScore, UsageError
from assay.schema.message import field_of, text_of, tool_call
from assay.schema.score import Abstained, Score


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
    """Create a reward function of `(task, trace)` for the current API of verifiers.

    As an attribute of a `vf.Task` class it is one of its rewards; at the top of a module it can be
    plugged in by configuration, `rewards.<name>.fn = "module:function"`. The task's own fields are
    the columns. The parts are recorded as metrics `<name>/<part>`.
    """
    binding = bind(which, params, columns)
    title = name or binding.name
    call = binding.function(_score_trace, title, name=title)
    vars(call).update(reward=True, reward_priority=priority, _vf_weight=weight)
    return call


def rubric_function(
    which: Reward,
    /,
    *,
    params: Mapping[str, Any] | None = None,
    abstained: StandIn = "mean",
    name: str | None = None,
    **columns: str,
) -> Callable[..., Any]:
    """Create a reward function for the older class `vf.Rubric` of verifiers.

    The columns are those of the data set, the entries of `info`, and `state`. It scores a rollout
    by itself (`score_rollout`); a trainer that scores groups is better served by `group_function`.
    """
    return _rubric_binding(which, params, columns, abstained).function(_score_rollout, name=name)


def group_function(
    which: Reward,
    /,
    *,
    params: Mapping[str, Any] | None = None,
    abstained: StandIn = "mean",
    name: str | None = None,
    **columns: str,
) -> Callable[..., Any]:
    """Like `rubric_function`, but score all rollouts of a group together.

    An abstention gets exactly the mean of the others: its advantage is 0, and theirs are what they
    would be without it.
    """
    return _rubric_binding(which, params, columns, abstained).function(_score_group, name=name)


def _rubric_binding(
    which: Reward, params: Mapping[str, Any] | None, columns: Mapping[str, str], abstained: StandIn
) -> Binding:
    if abstained is None:
        raise BadParameter(
            "abstained=None raises an error, which the older rubric scores as 0.0; "
            'choose a number, or "mean"'
        )
    return bind(which, params, columns, abstained, MAX_ABSTAINED)


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
    return binding.number(score, row)


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
    row = _rollout_row(completion, prompt, answer, state, info, columns)
    score = await _try_score(binding, row, state)
    return binding.number(score, row)


async def _score_group(
    binding: Binding,
    /,
    completions: Sequence[Any],
    prompts: Sequence[Any],
    answers: Sequence[Any],
    states: Sequence[Any],
    infos: Sequence[Any],
) -> list[float]:
    rollouts = zip(completions, prompts, answers, states, infos, strict=True)
    rows = [_rollout_row(*rollout, {}) for rollout in rollouts]
    scores = await asyncio.gather(
        *(_try_score(binding, row, state) for row, state in zip(rows, states, strict=True))
    )
    return binding.group_numbers(scores, rows)


def _rollout_row(
    completion: Any, prompt: Any, answer: Any, state: Any, info: Any, columns: Mapping[str, Any]
) -> dict[str, Any]:
    details = dict(info) if isinstance(info, Mapping) else {}
    return {
        **details,
        **columns,
        "info": details,
        "state": state,
        "prompt": prompt,
        # The older API passes an empty text for a row without an answer.
        "answer": answer if answer != "" else None,
        **read_completion(completion)._asdict(),
    }


async def _try_score(binding: Binding, row: Mapping[str, Any], state: Any) -> Score:
    """Score a row; after an error, return an abstention and note its reason.

    The rubric would log an exception and pay 0.0, for every row of a misconfigured run.
    """
    score: Score
    try:
        score = await binding.score_async(row)
    except UsageError as error:
        score = binding.scorer.abstain("bad_row", str(error))
        with suppress(NoScore):
            binding.note(score, row)
    except NoScore as error:
        score = binding.scorer.abstain("bad_row", str(error))
    if isinstance(score, Abstained) and isinstance(state, MutableMapping):
        state.setdefault("abstained", {})[binding.name] = f"{score.reason}: {score.because}"
    return score


def _own_messages(trace: Any) -> list[dict[str, Any]]:
    """The messages of the last branch, from the model's first message on."""
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
