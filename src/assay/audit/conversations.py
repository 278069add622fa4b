"""Conversations of an agent with a tool, in OpenAI's chat shape."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeAlias

from assay.audit.findings import Sample

ChatMessage: TypeAlias = Mapping[str, Any]
TOOL = "search"


def conversation(sample: Sample, answer: str) -> tuple[ChatMessage, ...]:
    """The question, one call of the tool, its result with the reference in it, and the answer."""
    return (question(sample), *tool_use(sample), assistant(answer))


def read_calls(text: str) -> list[dict[str, Any]]:
    """The calls that a text of JSON lists; none where it is anything else."""
    try:
        calls = json.loads(text)
    except (ValueError, RecursionError):
        return []
    if not isinstance(calls, list):
        return []
    known = [one for one in calls if isinstance(one, dict) and one.keys() == {"name", "arguments"}]
    return known if len(known) == len(calls) else []


def calling(sample: Sample, text: str) -> tuple[ChatMessage, ...]:
    """The question, and the calls that the text lists, or else the text as an answer in words."""
    calls = [
        {
            "id": f"call_{number}",
            "type": "function",
            "function": {"name": one["name"], "arguments": json.dumps(one["arguments"])},
        }
        for number, one in enumerate(read_calls(text), 1)
    ]
    if not calls:
        return (question(sample), assistant(text))
    return (question(sample), {"role": "assistant", "content": "", "tool_calls": calls})


def tagged(text: str) -> str:
    """The calls that a text lists as a model's own text has them; any other text as it is."""
    calls = read_calls(text)
    tags = [f"<tool_call>{json.dumps(one)}</tool_call>" for one in calls]
    return "\n".join(tags) if tags else text


def question(sample: Sample) -> ChatMessage:
    return {"role": "user", "content": sample.prompt}


def assistant(text: str) -> ChatMessage:
    return {"role": "assistant", "content": text}


def tool_use(
    sample: Sample,
    number: int = 1,
    *,
    result: str | None = None,
    query: str | None = None,
    failed: bool = False,
) -> tuple[ChatMessage, ChatMessage]:
    """One call of the tool and its result; a failed one is marked as trainers mark it."""
    call_id = f"call_{number}"
    arguments = json.dumps({"query": sample.prompt if query is None else query})
    function = {"name": TOOL, "arguments": arguments}
    content = f"The register says: {sample.reference_text}" if result is None else result
    marks = {"is_error": True, "status": "error"} if failed else {}
    return (
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": call_id, "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": call_id, "name": TOOL, "content": content, **marks},
    )
