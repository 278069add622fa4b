"""One task for an agent, with its goal and its reference answers."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from assay.schema.record import FrozenRecord


class Task(FrozenRecord):
    """One task: its id, goal, reference answers and metadata."""

    id: str
    goal: str = ""
    answer: Any = None
    """The reference: text, a number, a list of aliases, or `None` where the environment decides."""
    metadata: dict[str, Any] = Field(default_factory=dict)
    """Further columns; a reward may ask for any of them by name."""

    def columns(self) -> dict[str, Any]:
        """The task's values that a reward can request by parameter name."""
        return {**self.metadata, "task_id": self.id, "goal": self.goal, "answer": self.answer}
