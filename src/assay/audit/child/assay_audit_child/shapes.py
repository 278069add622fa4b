"""One call of the audit, as each kind of reward function is called.

Every shape is a function from a `TargetCall` to a `PreparedCall`; a batch shape gets a batch of
one.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from . import http
from .call import TargetCall
from .values import GRADES, batch_reply, first_of, refused, reply

REFERENCE_NAMES = (
    "answer", "solution", "ground_truth", "label", "target", "gold", "reference", "golden_answer",
)  # fmt: skip
"""What reward functions call the reference."""

Arguments = dict[str, Any]


class PreparedCall(NamedTuple):
    """What to call, and how to read what it returns."""

    function: Callable[..., Any]
    named: Arguments
    positional: Arguments = {}  # noqa: RUF012 - never changed
    """Arguments by position, with what they are called."""
    finish: Callable[[Any], dict[str, Any]] = reply


def prepare(target: Any, shape: str, call: dict[str, Any], reference_column: str) -> PreparedCall:
    """The call of the target in its shape; raises what the shape cannot express."""
    return _SHAPES[shape](TargetCall(target, call, reference_column))


def _ours(call: TargetCall) -> PreparedCall:
    """By parameter name; keyword-only parameters are configuration."""
    offered = {**call.named_values(), "prompt": call.prompt_text}
    context = _context(offered.pop("episode", None))
    if context is not None:
        offered["context"] = context
    arguments = _arguments(call, offered, options=True)
    return PreparedCall(call.target, arguments)


def _agentfly(call: TargetCall) -> PreparedCall:
    """By parameter name, and nothing for `**kwargs`, as AgentFly calls."""
    parameters = inspect.signature(call.target).parameters
    arguments = _arguments(call, call.named_values())
    named = {name: value for name, value in arguments.items() if name in parameters}
    return PreparedCall(call.target, named)


def _trl(call: TargetCall, prompt: Any, completion: Any) -> PreparedCall:
    rest = {key: [value] for key, value in call.columns.items() if key not in ("prompt", "episode")}
    offered = {**rest, "completion_ids": [[1]], "trainer_state": None}
    arguments = _arguments(call, offered, batch=True)
    arguments |= {"prompts": [prompt], "completions": [completion]}
    return _keyword_call(call.target, arguments, _first_reply)


def _verl(call: TargetCall) -> PreparedCall:
    arguments = {
        "data_source": call.columns.get("data_source", "audit"),
        "solution_str": call.final_response,
        "ground_truth": call.reference,
        "extra_info": {key: value for key, value in call.columns.items() if key != "episode"},
    }
    return _keyword_call(
        call.target, arguments, lambda returned: reply(returned, ("score", "reward"))
    )


def _keyword_call(
    target: Any, arguments: Arguments, finish: Callable[[Any], dict[str, Any]]
) -> PreparedCall:
    """The call with the arguments that the signature has a place for."""
    parameters = inspect.signature(target).parameters
    kinds = {item.kind for item in parameters.values()}
    if inspect.Parameter.VAR_KEYWORD not in kinds:
        arguments = {key: value for key, value in arguments.items() if key in parameters}
    return PreparedCall(target, arguments, finish=finish)


def _verifiers(call: TargetCall, **texts: str) -> PreparedCall:
    offered = {**call.verifiers_values(), **texts}
    arguments = _arguments(call, offered)
    return PreparedCall(call.target, arguments)


_SHAPES: dict[str, Callable[[TargetCall], PreparedCall]] = {
    "assay": _ours,
    "agentfly": _agentfly,
    "trl": lambda call: _trl(call, call.prompt_messages, call.completion_messages),
    "trl-text": lambda call: _trl(call, call.prompt_text, call.final_response),
    "verl": _verl,
    "openrlhf": lambda call: _keyword_call(
        call.target, call.openrlhf_batch("queries"), _openrlhf_reply
    ),
    "verifiers": _verifiers,
    "verifiers-text": lambda call: _verifiers(
        call, completion=call.final_response, prompt=call.prompt_text
    ),
    "plain": lambda call: PreparedCall(
        call.target, {}, {"response": call.final_response, "reference": call.reference}
    ),
    "inspect": lambda call: PreparedCall(_inspect_score, {"call": call}, finish=_inspect_reply),
    "url": lambda call: PreparedCall(http.ask, {"call": call}, finish=http.to_reply),
}


def _first_reply(returned: Any) -> dict[str, Any]:
    return {**reply(first_of(returned)), "raw_type": type(returned).__name__}


def _openrlhf_reply(returned: Any) -> dict[str, Any]:
    return batch_reply(returned) if isinstance(returned, dict) else _first_reply(returned)


async def _inspect_score(call: TargetCall) -> Any:
    """The score of a state in which the model gave the final response, as Inspect asks for it.

    The target is a scorer, or the function that builds one without arguments.
    """
    from inspect_ai.model import (  # type: ignore[import-not-found,unused-ignore]
        ChatMessageAssistant,
        ChatMessageUser,
        ModelOutput,
    )
    from inspect_ai.scorer import Target  # type: ignore[import-not-found,unused-ignore]
    from inspect_ai.solver import TaskState  # type: ignore[import-not-found,unused-ignore]

    prompt, response = call.prompt_text, call.final_response
    state = TaskState(
        model="mockllm/model",
        sample_id=1,
        epoch=1,
        input=prompt,
        messages=[ChatMessageUser(content=prompt), ChatMessageAssistant(content=response)],
        output=ModelOutput.from_content("mockllm/model", response),
        metadata=dict(call.columns),
    )
    reference = call.reference if isinstance(call.reference, list) else str(call.reference)
    return await call.target()(state, Target(reference))


def _inspect_reply(score: Any) -> dict[str, Any]:
    """Inspect's score as a reply; its letters count as its own metrics count them."""
    if score is None:
        return reply(None)
    value = score.value
    if isinstance(value, float) and value != value:
        return {**reply(None), "because": "unscored"}
    if isinstance(value, str):
        if value not in GRADES:
            return refused(f"the score is {value!r}", "str")
        value = GRADES[value]
    if isinstance(value, Mapping):
        value = {"reward": next(iter(value.values()), None), **value}
    because = str(score.explanation or "")[:300]
    return {**reply(value), "raw_type": type(score).__name__, "because": because}


def _arguments(
    call: TargetCall, offered: Arguments, *, options: bool = False, batch: bool = False
) -> Arguments:
    """The offered values that the signature asks for; the reference under any name it goes by.

    With `options`, keyword-only parameters are configuration and get nothing; in a `batch` the
    reference is a list of one.
    """
    parameters = inspect.signature(call.target).parameters.values()
    reference = [call.reference] if batch else call.reference
    takes_any = any(item.kind is inspect.Parameter.VAR_KEYWORD for item in parameters)
    arguments = dict(offered) if takes_any else {}
    for item in parameters:
        if options and item.kind is inspect.Parameter.KEYWORD_ONLY:
            arguments.pop(item.name, None)
        elif item.name in offered:
            arguments[item.name] = offered[item.name]
        elif item.name in REFERENCE_NAMES:
            arguments[item.name] = reference
        elif item.name == "golden_answers":
            arguments[item.name] = reference if isinstance(reference, list) else [reference]
    return arguments


def _context(episode: Any) -> Any:
    """A finished rollout, from its record; needs Assay in this interpreter."""
    if episode is None:
        return None
    from assay.resources.context import Context
    from assay.schema.episode import Episode

    return Context.recorded(Episode.model_validate(episode))
