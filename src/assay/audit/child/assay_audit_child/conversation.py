"""A call's conversation in the forms that trainers hand over."""

from __future__ import annotations

from typing import Any


class Conversation:
    """The messages of a call, divided into prompt and completion, and the final response."""

    __slots__ = ("completion_messages", "final_response", "messages", "prompt_messages")

    def __init__(self, final_response: Any, messages: list[dict[str, Any]]) -> None:
        self.final_response = final_response
        self.messages = messages
        start = next(
            (n for n, message in enumerate(messages) if message.get("role") not in PROMPT_ROLES),
            len(messages),
        )
        self.prompt_messages = messages[:start]
        self.completion_messages = messages[start:]

    @property
    def prompt_text(self) -> str:
        """The last text before the completion."""
        texts = [message["content"] for message in self.prompt_messages if message.get("content")]
        return str(texts[-1]) if texts else ""


PROMPT_ROLES = ("system", "developer", "user")


def read(call: dict[str, Any]) -> Conversation:
    """The conversation of a call; a plain pair of prompt and answer where none is given."""
    response = call["final_response"]
    messages = call.get("messages")
    if messages is None:
        prompt = call["columns"].get("prompt", "")
        messages = [
            {"role": "user", "content": prompt if isinstance(prompt, str) else str(prompt)},
            {"role": "assistant", "content": response},
        ]
    return Conversation(response, [dict(message) for message in messages])


def verifiers_arguments(
    conversation: Conversation, columns: dict[str, Any], reference: Any
) -> dict[str, Any]:
    """Everything that the older `Rubric` injects by name."""
    state = {
        "prompt": conversation.prompt_messages,
        "completion": conversation.completion_messages,
        "answer": reference,
        "info": dict(columns),
        "task": "audit",
        "responses": [],
        "turn": 1,
    }
    return {
        **columns,
        "prompt": conversation.prompt_messages,
        "completion": conversation.completion_messages,
        "answer": reference,
        "state": state,
        "info": dict(columns),
        "task": "audit",
        "parser": _parser(),
    }


def _parser() -> Any:
    try:
        from verifiers import Parser  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        return PlainParser()
    return Parser()


class PlainParser:
    """Reads the answer as verifiers' own plain parser does: the last message's text."""

    def parse(self, text: str) -> str:
        return text

    def parse_answer(self, completion: Any) -> str | None:
        if isinstance(completion, str):
            return completion
        messages = [m for m in completion if m.get("role") == "assistant"]
        return messages[-1].get("content") if messages else None
