"""One call of the audit, with its conversation in the forms that trainers hand over."""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
import tempfile
from pathlib import Path
from typing import Any

PROMPT_ROLES = ("system", "developer", "user")


class TargetCall:
    """The target, the columns of the task, its reference, and the conversation.

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
        """The last text before the completion."""
        texts = [message["content"] for message in self.prompt_messages if message.get("content")]
        return str(texts[-1]) if texts else ""

    def named_values(self) -> dict[str, Any]:
        """What a reward may ask for by name: the columns, the response, and the messages."""
        return {
            **self.columns,
            **self._workspace(),
            "final_response": self.final_response,
            "trajectory": self.messages,
        }

    def _workspace(self) -> dict[str, str]:
        """A new folder with the files that the agent left, where the row has some."""
        if "files" not in self.columns:
            return {}
        folder = Path(tempfile.mkdtemp(prefix="workspace-"))
        for name, text in self.columns["files"].items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return {"workspace": str(folder), "folder": str(folder)}

    def _database(self) -> dict[str, str]:
        """The database of the row as a file of the target's own folder, the same for all calls.

        A file of the user's is copied: whatever an answer does, it is done to the copy.
        """
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
        """The batch of one that OpenRLHF hands over; it has two names for the queries."""
        prompt = self.prompt_text
        query = prompt + self.final_response
        return {queries: [query], "prompts": [prompt], "labels": [self.reference]}

    def verifiers_values(self) -> dict[str, Any]:
        """Everything that the older `Rubric` of verifiers injects by name."""
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
    """Reads the answer as verifiers' own plain parser does: the last message's text."""

    def parse(self, text: str) -> str:
        return text

    def parse_answer(self, completion: Any) -> str | None:
        if isinstance(completion, str):
            return completion
        messages = [m for m in completion if m.get("role") == "assistant"]
        return messages[-1].get("content") if messages else None
