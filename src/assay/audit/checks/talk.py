"""Conversations of an agent with a tool, as the agent checks need them, in OpenAI's chat shape."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from assay.audit.data import gold_text
from assay.audit.findings import Sample

Message: TypeAlias = Mapping[str, Any]
TOOL = "search"


def conversation(sample: Sample, answer: str) -> tuple[Message, ...]:
    """The question, one call of the tool, its result with the gold in it, and the answer."""
    return (asked(sample), *used(sample), said(answer))


def asked(sample: Sample) -> Message:
    """The question."""
    return {"role": "user", "content": sample.prompt}


def said(text: str) -> Message:
    """Something that the model wrote."""
    return {"role": "assistant", "content": text}


def used(
    sample: Sample,
    number: int = 1,
    *,
    result: str | None = None,
    query: str | None = None,
    failed: bool = False,
) -> tuple[Message, Message]:
    """One call of the tool and its result; a failed one is marked as trainers mark it."""
    call_id = f"call_{number}"
    arguments = json.dumps({"query": sample.prompt if query is None else query})
    function = {"name": TOOL, "arguments": arguments}
    found = f"The register says: {gold_text(sample.gold)}" if result is None else result
    marks = {"is_error": True, "status": "error"} if failed else {}
    return (
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": call_id, "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": call_id, "name": TOOL, "content": found, **marks},
    )


def chained(pairs: Iterable[tuple[Message, Message]]) -> tuple[Message, ...]:
    """Several uses of the tool, one after another."""
    return tuple(message for pair in pairs for message in pair)
