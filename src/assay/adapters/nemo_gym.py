"""NeMo-Gym: `POST /verify` as two pure functions, for a resources server or our own.

    row = nemo_gym.to_row(body)
    return nemo_gym.to_response(body, assay.score("math_equal_reward", **row))

Abstained: the row is marked `mask_sample` with a `failure_kind`, and carries the keys that send it
to the failures file in versions without that field; its `reward` is NeMo-Gym's filler there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from types import NoneType
from typing import Any

from assay.errors import BadRecord
from assay.schema.message import field_of, tool_call
from assay.schema.score import Abstained, Score

FILLER = 0.0
"""What NeMo-Gym itself writes into the `reward` of a failed row; nobody reads it there."""

ANSWERS = ("answer", "expected_answer", "ground_truth", "label")
"""Where data sets for NeMo-Gym keep the reference, in order."""

OWN_FIELDS = ("responses_create_params", "response")


def to_row(body: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of a verify request: the answer, the messages, and its further fields."""
    response = body.get("response")
    if not isinstance(response, Mapping) or not _are_items(response.get("output")):
        raise BadRecord("the request's 'response' should be an OpenAI response with an 'output'")
    row = {key: value for key, value in body.items() if key not in OWN_FIELDS}
    column = next((key for key in ANSWERS if key in row), None)
    if column is not None:
        row["answer"] = row[column]
    row["trajectory"] = [_message(item) for item in response["output"]]
    row["final_response"] = _final_text(response["output"])
    return row


def to_response(body: Mapping[str, Any], score: Score) -> dict[str, Any]:
    """The verify response: the request's own fields, the reward, and its parts as numbers.

    The parts are there twice: in `reward_components`, and at the top level, where NeMo-Gym's
    metrics look, unless the request or the response has another field of that name.
    """
    components = {name: FILLER if value is None else value for name, value in score.parts.items()}
    result: dict[str, Any] = {
        "reward": FILLER if isinstance(score, Abstained) else score.value,
        "reward_components": components,
        "mask_sample": score.abstained,
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


def _are_items(output: Any) -> bool:
    """Whether these are items of a response; a bare text is the sender's mistake, not an answer."""
    if not isinstance(output, Sequence) or isinstance(output, str):
        return False
    return not any(isinstance(item, (str, int, float, list, NoneType)) for item in output)


def _final_text(output: Sequence[Any]) -> str | None:
    """The text of the last item, if it is a message of the model; a tool's output never is."""
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
    """An item of an OpenAI response, as the chat message that it stands for."""
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
