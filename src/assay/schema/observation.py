"""What a world shows the agent after a reset or a step."""

from __future__ import annotations

from dataclasses import dataclass

from assay.schema.evidence import Evidence


@dataclass(frozen=True, slots=True)
class Observation:
    """The text the agent reads, and the world's testimony beside it."""

    text: str
    evidence: Evidence | None = None
    reward: float | None = None
    """What the world itself pays for this step, as a trainer would see it."""
    raw_reward: float | None = None
    """The same in the world's own unit, where it has one."""
    done: bool = False
