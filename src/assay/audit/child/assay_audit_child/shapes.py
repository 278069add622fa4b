"""Call reward functions in the calling convention of each framework.

Every shape is a function from a `TargetCall` to a `PreparedCall`; a batch shape gets a batch of
one.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import shutil
import sqlite3
import tempfile
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from .values import GRADES, batch_reply, first_of, refused, reply

PROMPT_ROLES = ("system", "developer", "user")


class TargetCall:
    """One call of the audited reward: task columns, reference answer and conversation.

    The messages are divided into prompt and completion; a call without any has a plain pair of
    prompt and answer.
    """

    def __init__(self, target: Any, call: dict[str, Any], reference_column: str) -> None:
        self.target = target
        self.columns: dict[str, Any] = dict(call["columns"])
        self.columns |= self._database()
        self.reference = self.columns.get(reference_column)
        self.final_response = call["final_response"]
        messages = call.get("messages")
        if messages is None:
            messages = [
                {"role": "user", "content": str(self.columns.get("prompt", ""))},
                {"role": "assistant", "content": self.final_response},
            ]
        self.messages: list[dict[str, Any]] = [dict(message) for message in messages]
        start = next(
            (n for n, one in enumerate(self.messages) if one.get("role") not in PROMPT_ROLES),
            len(self.messages),
        )
        self.prompt_messages = self.messages[:start]
        self.completion_messages = self.messages[start:]

    @property
    def prompt_text(self) -> str:
        """Text of the last prompt message before the model's response."""
        texts = [message["content"] for message in self.prompt_messages if message.get("content")]
        return str(texts[-1]) if texts else ""

    def named_values(self) -> dict[str, Any]:
        """Values that a reward can ask for by name: columns, response, messages."""
        return {
            **self.columns,
            **self._workspace(),
            "final_response": self.final_response,
            "trajectory": self.messages,
        }

    def _workspace(self) -> dict[str, str]:
        """Create a folder with the agent's files, if the row has any."""
        if "files" not in self.columns:
            return {}
        folder = Path(tempfile.mkdtemp(prefix="workspace-"))
        for name, text in self.columns["files"].items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return {"workspace": str(folder), "folder": str(folder)}

    def _database(self) -> dict[str, str]:
        """Copy or build the row's database as a file that all calls share."""
        source = self.columns.get("database")
        script = source.get("script") if isinstance(source, dict) else None
        if script is None and not (isinstance(source, str) and Path(source).is_file()):
            return {}
        name = hashlib.sha256(repr(source).encode()).hexdigest()[:16]
        path = Path.cwd() / f"database-{name}.sqlite"
        if not path.exists():
            if script is None:
                shutil.copyfile(str(source), path)
            else:
                connection = sqlite3.connect(path)
                connection.executescript(script)
                connection.close()
        return dict.fromkeys(("database", "db_path", "db_file"), str(path))

    def openrlhf_batch(self, queries: str) -> dict[str, Any]:
        """Build a batch of one row as OpenRLHF sends it; `queries` is the key of its texts."""
        prompt = self.prompt_text
        query = prompt + self.final_response
        return {queries: [query], "prompts": [prompt], "labels": [self.reference]}

    def verifiers_values(self) -> dict[str, Any]:
        """Values that the older `Rubric` of verifiers passes by parameter name."""
        common = {
            "prompt": self.prompt_messages,
            "completion": self.completion_messages,
            "answer": self.reference,
            "info": dict(self.columns),
            "task": "audit",
        }
        state = {**common, "responses": [], "turn": 1}
        return {**self.columns, **common, "state": state, "parser": _parser()}


def _parser() -> Any:
    try:
        from verifiers import Parser  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        return PlainParser()
    return Parser()


class PlainParser:
    """Return the text of the last message, as the plain parser of verifiers does."""

    def parse(self, text: str) -> str:
        return text

    def parse_answer(self, completion: Any) -> str | None:
        if isinstance(completion, str):
            return completion
        messages = [m for m in completion if m.get("role") == "assistant"]
        return messages[-1].get("content") if messages else None


REFERENCE_NAMES = (
    "answer", "solution", "ground_truth", "label", "target", "gold", "reference", "golden_answer",
)  # fmt: skip
"""What reward functions call the reference."""

Arguments = dict[str, Any]


class PreparedCall(NamedTuple):
    """A function to call, its arguments, and a reader of its result."""

    function: Callable[..., Any]
    named: Arguments
    positional: Arguments = {}  # noqa: RUF012 - never changed
    """Arguments by position, with what they are called."""
    finish: Callable[[Any], dict[str, Any]] = reply


def prepare(target: Any, shape: str, call: dict[str, Any], reference_column: str) -> PreparedCall:
    """Prepare a call in the calling convention `shape`; raise if that is impossible."""
    return _SHAPES[shape](TargetCall(target, call, reference_column))


def _ours(call: TargetCall) -> PreparedCall:
    """Pass arguments by parameter name; keyword-only parameters keep their defaults."""
    offered = {**call.named_values(), "prompt": call.prompt_text}
    context = _context(offered.pop("episode", None))
    if context is not None:
        offered["context"] = context
    arguments = _arguments(call, offered, options=True)
    return PreparedCall(call.target, arguments)


def _agentfly(call: TargetCall) -> PreparedCall:
    """Pass arguments by parameter name, and nothing for `**kwargs`, as AgentFly does."""
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
    return _keyword_call(call.target, arguments, partial(reply, keys=("score", "reward")))


def _keyword_call(
    target: Any, arguments: Arguments, finish: Callable[[Any], dict[str, Any]]
) -> PreparedCall:
    """Prepare a call with only the arguments that the signature accepts."""
    parameters = inspect.signature(target).parameters
    kinds = {item.kind for item in parameters.values()}
    if inspect.Parameter.VAR_KEYWORD not in kinds:
        arguments = {key: value for key, value in arguments.items() if key in parameters}
    return PreparedCall(target, arguments, finish=finish)


def _verifiers(call: TargetCall, **texts: str) -> PreparedCall:
    return PreparedCall(call.target, _arguments(call, {**call.verifiers_values(), **texts}))


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
    "url": lambda call: PreparedCall(_ask_address, {"call": call}, finish=_address_reply),
}


def _first_reply(returned: Any) -> dict[str, Any]:
    return {**reply(first_of(returned)), "raw_type": type(returned).__name__}


def _openrlhf_reply(returned: Any) -> dict[str, Any]:
    return batch_reply(returned) if isinstance(returned, dict) else _first_reply(returned)


async def _inspect_score(call: TargetCall) -> Any:
    """Call an Inspect scorer on a state that holds the final response.

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
    """Convert an Inspect score to a reply; letter grades become numbers."""
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
    """Select the values that the signature asks for; the reference may have several names.

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
    """Build the context of a finished rollout from its record; needs Assay installed."""
    if episode is None:
        return None
    from assay.resources.context import Context
    from assay.schema.episode import Episode

    return Context.recorded(Episode.model_validate(episode))


TIMEOUT_S = 60.0
TOKEN = "ASSAY_TOKEN"  # noqa: S105 - the variable's name
"""A variable with the server's token, handed on by `--env ASSAY_TOKEN`."""
REFUSALS = (400, 413, 422)
"""Rows that a server will not score: no number, and no failure of the reward."""


def _ask_address(call: TargetCall) -> Any:
    """Ask a server for the score of one row; the text after `#` names the reward."""
    address, _, reward = str(call.target).partition("#")
    path = urllib.parse.urlsplit(address).path
    if path.endswith("/get_reward"):
        body = call.openrlhf_batch("query")
    else:
        if not path.endswith("/v1/score"):
            address = address.rstrip("/") + "/v1/score"
        body = {"reward": reward, "row": call.named_values()}
    headers = {"Content-Type": "application/json"}
    if TOKEN in os.environ:
        headers["Authorization"] = f"Bearer {os.environ[TOKEN]}"
    request = urllib.request.Request(  # noqa: S310 - the scheme was checked when it was named
        address, data=json.dumps(body).encode("ascii"), headers=headers
    )
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_S) as response:  # noqa: S310 - as above
            return json.loads(response.read())
    except urllib.error.HTTPError as error:
        text = error.read(500).decode("utf-8", "replace")
        if error.code in REFUSALS:
            return {"abstained": str(error.code), "because": text}
        raise RuntimeError(f"the server answered {error.code}: {text}") from error


def _address_reply(answer: Any) -> dict[str, Any]:
    """Read the number in a JSON answer of either supported format."""
    if not isinstance(answer, dict):
        return reply(answer)
    if "rewards" in answer:
        return batch_reply(answer)
    row = _one_row(answer)
    if row.get("abstained"):
        return {**reply(None), "because": f"{row['abstained']}: {row.get('because', '')}"[:300]}
    names = [name for name in ("reward", "value", "score") if name in row]
    if not names:
        return refused(f"the answer has no number: {sorted(row)}", "dict")
    parts = row.get("parts")
    numbers = parts if isinstance(parts, dict) else {}
    scored = reply({"reward": row[names[0]], **numbers})
    return {**scored, "because": str(row.get("because", ""))[:300]}


def _one_row(answer: dict[str, Any]) -> dict[str, Any]:
    """Return the result of the only row and its only reward."""
    results = answer.get("results")
    first = results[0] if isinstance(results, list) and results else None
    row = first if isinstance(first, dict) else answer
    scores = row.get("scores")
    if isinstance(scores, dict):
        only = next(iter(scores.values()), None)
        return only if isinstance(only, dict) else {}
    return row
