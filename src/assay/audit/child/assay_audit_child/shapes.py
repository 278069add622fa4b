"""One call of the audit, as each kind of reward function wants to be called.

Every shape is a function `(target, call) -> awaitable or value`; a batch shape gets a batch of one.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from . import conversation, http, inspect_shape
from .values import first_of, reply

GOLD_NAMES = (
    "answer", "solution", "ground_truth", "label", "target", "gold", "reference", "golden_answer",
)  # fmt: skip
"""What reward functions call the reference."""

Call = dict[str, Any]
Finish = Callable[[Any], dict[str, Any]]


class Prepared:
    """A call made ready: what to invoke, and how to read what it returns."""

    __slots__ = ("finish", "invoke")

    def __init__(self, invoke: Callable[[], Any], finish: Finish = reply) -> None:
        self.invoke = invoke
        self.finish = finish


def prepare(target: Any, shape: str, call: Call, gold_column: str) -> Prepared:
    """The call of the target in its shape; raises what the shape cannot express."""
    columns = dict(call["columns"])
    gold = columns.get(gold_column)
    talk = conversation.read(call)
    return _SHAPES[shape](target, talk, columns, gold)


def _ours(target: Any, talk: conversation.Talk, columns: Call, gold: Any) -> Prepared:
    """By parameter name; keyword-only parameters are configuration."""
    offered = {
        **columns,
        "final_response": talk.final_response,
        "trajectory": talk.messages,
        "prompt": talk.prompt_text,
    }
    context = _context(offered.pop("episode", None))
    if context is not None:
        offered["context"] = context
    arguments = _named(target, offered, gold, options=True)
    return Prepared(lambda: target(**arguments))


def _agentfly(target: Any, talk: conversation.Talk, columns: Call, gold: Any) -> Prepared:
    """By parameter name, and nothing for `**kwargs`, as AgentFly calls."""
    offered = {**columns, "final_response": talk.final_response, "trajectory": talk.messages}
    wanted = inspect.signature(target).parameters
    arguments = _named(target, offered, gold, options=False)
    return Prepared(lambda: target(**{k: v for k, v in arguments.items() if k in wanted}))


def _trl(target: Any, talk: conversation.Talk, columns: Call, gold: Any) -> Prepared:
    return _trl_call(target, [talk.prompt_messages], [talk.completion_messages], columns, gold)


def _trl_text(target: Any, talk: conversation.Talk, columns: Call, gold: Any) -> Prepared:
    return _trl_call(target, [talk.prompt_text], [talk.final_response], columns, gold)


def _trl_call(target: Any, prompts: Any, completions: Any, columns: Call, gold: Any) -> Prepared:
    rest = {key: [value] for key, value in columns.items() if key not in ("prompt", "episode")}
    offered = {**rest, "completion_ids": [[1]], "trainer_state": None}
    arguments = _named(target, offered, [gold], options=False)
    arguments |= {"prompts": prompts, "completions": completions}
    arguments = _only_named(target, arguments)
    return Prepared(lambda: target(**arguments), _first)


def _verl(target: Any, talk: conversation.Talk, columns: Call, gold: Any) -> Prepared:
    source = columns.get("data_source", "audit")
    arguments = {
        "data_source": source,
        "solution_str": talk.final_response,
        "ground_truth": gold,
        "extra_info": {key: value for key, value in columns.items() if key != "episode"},
    }
    arguments = _only_named(target, arguments)
    return Prepared(
        lambda: target(**arguments), lambda returned: reply(returned, ("score", "reward"))
    )


def _openrlhf(target: Any, talk: conversation.Talk, columns: Call, gold: Any) -> Prepared:
    del columns
    prompt = talk.prompt_text
    arguments = {"queries": [prompt + talk.final_response], "prompts": [prompt], "labels": [gold]}
    arguments = _only_named(target, arguments)
    return Prepared(lambda: target(**arguments), _openrlhf_reply)


def _verifiers(target: Any, talk: conversation.Talk, columns: Call, gold: Any) -> Prepared:
    arguments = conversation.verifiers_arguments(talk, columns, gold)
    return Prepared(lambda: target(**_named(target, arguments, gold, options=False)))


def _verifiers_text(target: Any, talk: conversation.Talk, columns: Call, gold: Any) -> Prepared:
    arguments = conversation.verifiers_arguments(talk, columns, gold)
    arguments |= {"completion": talk.final_response, "prompt": talk.prompt_text}
    return Prepared(lambda: target(**_named(target, arguments, gold, options=False)))


def _plain(target: Any, talk: conversation.Talk, columns: Call, gold: Any) -> Prepared:
    del columns
    return Prepared(lambda: target(talk.final_response, gold))


def _inspect(target: Any, talk: conversation.Talk, columns: Call, gold: Any) -> Prepared:
    return Prepared(lambda: inspect_shape.ask(target, talk, columns, gold), inspect_shape.to_reply)


def _url(target: Any, talk: conversation.Talk, columns: Call, gold: Any) -> Prepared:
    return Prepared(lambda: http.ask(target, talk, columns, gold), http.to_reply)


_SHAPES: dict[str, Callable[[Any, conversation.Talk, Call, Any], Prepared]] = {
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


def _first(returned: Any) -> dict[str, Any]:
    return {**reply(first_of(returned)), "raw_type": type(returned).__name__}


def _openrlhf_reply(returned: Any) -> dict[str, Any]:
    if isinstance(returned, dict):
        logs = {key: first_of(value) for key, value in (returned.get("extra_logs") or {}).items()}
        answer = {"reward": first_of(returned.get("rewards")), **logs}
        return {**reply(answer), "raw_type": "dict"}
    return _first(returned)


def _named(target: Any, offered: Call, gold: Any, *, options: bool) -> Call:
    """The offered values that the signature asks for; the gold under any name it goes by."""
    parameters = inspect.signature(target).parameters.values()
    takes_any = any(item.kind is inspect.Parameter.VAR_KEYWORD for item in parameters)
    arguments = dict(offered) if takes_any else {}
    for item in parameters:
        if options and item.kind is inspect.Parameter.KEYWORD_ONLY:
            arguments.pop(item.name, None)
        elif item.name in offered:
            arguments[item.name] = offered[item.name]
        elif item.name in GOLD_NAMES:
            arguments[item.name] = gold
        elif item.name == "golden_answers":
            arguments[item.name] = gold if isinstance(gold, list) else [gold]
    return arguments


def _only_named(target: Any, arguments: Call) -> Call:
    parameters = inspect.signature(target).parameters
    kinds = {item.kind for item in parameters.values()}
    if inspect.Parameter.VAR_KEYWORD in kinds:
        return arguments
    return {key: value for key, value in arguments.items() if key in parameters}


def _context(episode: Any) -> Any:
    """A finished rollout, from its record; needs Assay in this interpreter."""
    if episode is None:
        return None
    from assay.resources.context import Context
    from assay.schema.episode import Episode

    return Context.recorded(Episode.model_validate(episode))
