"""Use Assay rewards in the `verify` method of a NeMo-Gym resources server.

    score_response = nemo_gym.reward("math_equal_reward")

    class Sums(SimpleResourcesServer):
        async def verify(self, body: SumsVerifyRequest) -> BaseVerifyResponse:
            return await score_response(body)

NeMo-Gym's agents call a resources server by the name that it has in their configuration, not by an
address, so the reward runs inside one.

Abstained: the response is marked `instance_config.mask_sample`, for which NeMo-RL leaves the sample
out of the loss and out of the baseline, and carries the keys that send a collected rollout to the
failures file. Its `reward` is the mean of the latest rewards of the same task, for a reader that
knows no mask.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from types import NoneType
from typing import Any

from assay.adapters.binding import MAX_ABSTAINED, Binding, Reward, bind, import_library
from assay.errors import BadRecord
from assay.schema.message import field_of, tool_call
from assay.schema.score import Abstained, Score
from assay.text.channels import strip_end_tokens

FILLER = 0.0
"""What NeMo-Gym itself writes into the `reward` of a failed row; no reader uses it there."""

ANSWERS = ("answer", "expected_answer", "ground_truth", "label")
"""Where data sets for NeMo-Gym keep the reference, in order."""

OWN_FIELDS = ("responses_create_params", "response")


def reward(
    which: Reward,
    /,
    *,
    params: Mapping[str, Any] | None = None,
    max_abstained: int | None = MAX_ABSTAINED,
    name: str | None = None,
    **columns: str,
) -> Callable[..., Any]:
    """Create a coroutine function that answers verify requests of a resources server.

    The response is JSON already, so that FastAPI does not leave out the mask and the parts, which
    `BaseVerifyResponse` does not declare. The request's class declares the columns of the task
    (`expected_answer: str`); NeMo-Gym drops fields that it does not.
    """
    return bind(which, params, columns, "mean", max_abstained).function(_verify, name=name)


async def _verify(binding: Binding, /, body: Any) -> Any:
    response = import_library("starlette.responses", package="nemo-gym").JSONResponse
    row = to_row(body)
    score = await binding.score_async(row)
    return response(to_response(body, score, filler=binding.number(score, row)))


def to_row(body: Any) -> dict[str, Any]:
    """The columns of a verify request: the answer, the messages and the other fields."""
    body = _mapping(body)
    response = body.get("response")
    if not isinstance(response, Mapping) or not _are_items(response.get("output")):
        raise BadRecord("the request's 'response' must be an OpenAI response with an 'output'")
    row = {key: value for key, value in body.items() if key not in OWN_FIELDS}
    column = next((key for key in ANSWERS if key in row), None)
    if column is not None:
        row["answer"] = row[column]
    row["trajectory"] = [_message(item) for item in response["output"]]
    text = _final_text(response["output"])
    row["final_response"] = None if text is None else strip_end_tokens(text)
    prompt = body.get("responses_create_params")
    row.setdefault("prompt", prompt.get("input") if isinstance(prompt, Mapping) else None)
    return row


def to_response(body: Any, score: Score, *, filler: float | None = None) -> dict[str, Any]:
    """The verify response: the request's fields, the reward and the parts as numbers.

    The parts are there twice: in `reward_components`, and at the top level, where NeMo-Gym's
    metrics look, unless the request or the response has another field of that name. `filler` is the
    number of an abstention and of its parts, which are masked.
    """
    filler = FILLER if filler is None else filler
    body = _mapping(body)
    components = {name: filler if value is None else value for name, value in score.parts.items()}
    instance = body.get("instance_config")
    result: dict[str, Any] = {
        "reward": filler if isinstance(score, Abstained) else score.value,
        "reward_components": components,
        "mask_sample": score.abstained,
        "instance_config": {
            **(instance if isinstance(instance, Mapping) else {}),
            "mask_sample": score.abstained,
        },
        "because": score.because,
        "scorer": score.scorer,
    }
    if isinstance(score, Abstained):
        reason = f"{score.reason}: {score.because}"
        result |= {
            "failure_kind": "verifier_error",
            "failure_reason": reason,
            "_ng_failure_class": "judge_failed",
            "_ng_failure_judge_error": reason,
        }
    return {**components, **body, **result}


def _mapping(body: Any) -> Mapping[str, Any]:
    dump = getattr(body, "model_dump", None)
    # As the JSON that it will be again; fields that only the server set stay out.
    values = dump(mode="json") if callable(dump) else body
    if not isinstance(values, Mapping):
        raise BadRecord(f"a verify request must be a mapping or a model, not {values!r:.80}")
    return values


def _are_items(output: Any) -> bool:
    """Whether the value is a list of response items; a plain text is not."""
    if not isinstance(output, Sequence) or isinstance(output, str):
        return False
    return not any(isinstance(item, (str, int, float, list, NoneType)) for item in output)


def _final_text(output: Sequence[Any]) -> str | None:
    items = [item for item in output if field_of(item, "type") != "reasoning"]
    if not items or field_of(items[-1], "type") != "message":
        return None
    return _text(field_of(items[-1], "content"))


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, Sequence) else []
    texts = [field_of(part, "text") for part in parts]
    return "".join(text for text in texts if isinstance(text, str))


def _message(item: Any) -> dict[str, Any]:
    kind = field_of(item, "type")
    if kind == "function_call":
        call = tool_call(*(field_of(item, key) for key in ("call_id", "name", "arguments")))
        return {"role": "assistant", "content": None, "tool_calls": [call]}
    if kind == "function_call_output":
        result = field_of(item, "output")
        content = result if isinstance(result, str) else json.dumps(result, default=str)
        return {"role": "tool", "tool_call_id": field_of(item, "call_id"), "content": content}
    role = field_of(item, "role") or "assistant"
    return {"role": role, "content": _text(field_of(item, "content"))}
