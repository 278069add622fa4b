"""One call of the audit, as each kind of reward function is called.

Every shape is a function from a `TargetCall` to a `PreparedCall`; a batch shape gets a batch of
one.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from . import http
from .conversation import Conversation, read, verifiers_arguments
from .values import GRADES, batch_reply, first_of, refused, reply

REFERENCE_NAMES = (
    "answer", "solution", "ground_truth", "label", "target", "gold", "reference", "golden_answer",
)  # fmt: skip
"""What reward functions call the reference."""

Arguments = dict[str, Any]


class TargetCall:
    """One call: the target, the conversation, the columns of the task, and its reference."""

    __slots__ = ("columns", "conversation", "reference", "target")

    def __init__(self, target: Any, call: dict[str, Any], reference_column: str) -> None:
        self.target = target
        self.conversation: Conversation = read(call)
        self.columns: dict[str, Any] = dict(call["columns"])
        self.reference = self.columns.get(reference_column)


class PreparedCall:
    """What to invoke, and how to read what it returns."""

    __slots__ = ("finish", "invoke")

    def __init__(
        self, invoke: Callable[[], Any], finish: Callable[[Any], dict[str, Any]] = reply
    ) -> None:
        self.invoke = invoke
        self.finish = finish


def prepare(target: Any, shape: str, call: dict[str, Any], reference_column: str) -> PreparedCall:
    """The call of the target in its shape; raises what the shape cannot express."""
    return _SHAPES[shape](TargetCall(target, call, reference_column))


def _ours(call: TargetCall) -> PreparedCall:
    """By parameter name; keyword-only parameters are configuration."""
    offered = {
        **call.columns,
        "final_response": call.conversation.final_response,
        "trajectory": call.conversation.messages,
        "prompt": call.conversation.prompt_text,
    }
    context = _context(offered.pop("episode", None))
    if context is not None:
        offered["context"] = context
    arguments = _arguments(call.target, offered, call.reference, options=True)
    return PreparedCall(lambda: call.target(**arguments))


def _agentfly(call: TargetCall) -> PreparedCall:
    """By parameter name, and nothing for `**kwargs`, as AgentFly calls."""
    offered = {
        **call.columns,
        "final_response": call.conversation.final_response,
        "trajectory": call.conversation.messages,
    }
    parameters = inspect.signature(call.target).parameters
    arguments = _arguments(call.target, offered, call.reference)
    named = {name: value for name, value in arguments.items() if name in parameters}
    return PreparedCall(lambda: call.target(**named))


def _trl(call: TargetCall) -> PreparedCall:
    messages = call.conversation
    return _trl_call(call, messages.prompt_messages, messages.completion_messages)


def _trl_text(call: TargetCall) -> PreparedCall:
    return _trl_call(call, call.conversation.prompt_text, call.conversation.final_response)


def _trl_call(call: TargetCall, prompt: Any, completion: Any) -> PreparedCall:
    rest = {key: [value] for key, value in call.columns.items() if key not in ("prompt", "episode")}
    offered = {**rest, "completion_ids": [[1]], "trainer_state": None}
    arguments = _arguments(call.target, offered, [call.reference])
    arguments |= {"prompts": [prompt], "completions": [completion]}
    return _keyword_call(call.target, arguments, _first_reply)


def _verl(call: TargetCall) -> PreparedCall:
    arguments = {
        "data_source": call.columns.get("data_source", "audit"),
        "solution_str": call.conversation.final_response,
        "ground_truth": call.reference,
        "extra_info": {key: value for key, value in call.columns.items() if key != "episode"},
    }
    return _keyword_call(
        call.target, arguments, lambda returned: reply(returned, ("score", "reward"))
    )


def _openrlhf(call: TargetCall) -> PreparedCall:
    prompt = call.conversation.prompt_text
    query = prompt + call.conversation.final_response
    arguments = {"queries": [query], "prompts": [prompt], "labels": [call.reference]}
    return _keyword_call(call.target, arguments, _openrlhf_reply)


def _keyword_call(
    target: Any, arguments: Arguments, finish: Callable[[Any], dict[str, Any]]
) -> PreparedCall:
    """The call with the arguments that the signature has a place for."""
    parameters = inspect.signature(target).parameters
    kinds = {item.kind for item in parameters.values()}
    if inspect.Parameter.VAR_KEYWORD not in kinds:
        arguments = {key: value for key, value in arguments.items() if key in parameters}
    return PreparedCall(lambda: target(**arguments), finish)


def _verifiers(call: TargetCall) -> PreparedCall:
    offered = verifiers_arguments(call.conversation, call.columns, call.reference)
    return PreparedCall(lambda: call.target(**_arguments(call.target, offered, call.reference)))


def _verifiers_text(call: TargetCall) -> PreparedCall:
    offered = verifiers_arguments(call.conversation, call.columns, call.reference)
    offered["completion"] = call.conversation.final_response
    offered["prompt"] = call.conversation.prompt_text
    return PreparedCall(lambda: call.target(**_arguments(call.target, offered, call.reference)))


def _plain(call: TargetCall) -> PreparedCall:
    return PreparedCall(lambda: call.target(call.conversation.final_response, call.reference))


def _inspect(call: TargetCall) -> PreparedCall:
    return PreparedCall(lambda: _inspect_score(call), _inspect_reply)


def _url(call: TargetCall) -> PreparedCall:
    return PreparedCall(
        lambda: http.ask(call.target, call.conversation, call.columns, call.reference),
        http.to_reply,
    )


_SHAPES: dict[str, Callable[[TargetCall], PreparedCall]] = {
    "assay": _ours,
    "agentfly": _agentfly,
    "trl": _trl,
    "trl-text": _trl_text,
    "verl": _verl,
    "openrlhf": _openrlhf,
    "verifiers": _verifiers,
    "verifiers-text": _verifiers_text,
    "plain": _plain,
    "inspect": _inspect,
    "url": _url,
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

    prompt, response = call.conversation.prompt_text, call.conversation.final_response
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
    target: Any, offered: Arguments, reference: Any, *, options: bool = False
) -> Arguments:
    """The offered values that the signature asks for; the reference under any name it goes by.

    With `options`, keyword-only parameters are configuration and get nothing.
    """
    parameters = inspect.signature(target).parameters.values()
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
