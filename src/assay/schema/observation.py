"""What an environment shows the agent after a reset or a step."""

from __future__ import annotations

from dataclasses import dataclass

from assay.schema.evidence import Evidence, PageEvidence, PageFacts, StepEvents
from assay.schema.outcome import ToolOutcome
from assay.schema.tools import ActionTool


@dataclass(frozen=True, slots=True)
class Observation:
    """The text that the agent reads, with the evidence of the environment."""

    text: str
    evidence: Evidence | None = None
    reward: float | None = None
    """What the environment itself pays for this step, as a trainer would see it."""
    raw_reward: float | None = None
    """The same in the environment's own unit, where it has one."""
    done: bool = False
    outcome: ToolOutcome | None = None
    """How the action ended, as codes; text environments have none."""
    events: StepEvents | None = None
    """What the browser reported of the step; text environments have none."""
    truncated: bool = False
    """Whether the text leaves out a part of what there was to see."""
    facts: PageFacts | None = None
    """What an outcome contract reads; kept for this step alone."""
    screenshot: bytes | None = None
    tools: tuple[str, ...] | None = None
    """In a conversation, the tools that there are: a text that calls none of them is the answer.
    `None` where the agent's text is an action."""
    actions: tuple[ActionTool, ...] = ()
    """The environment's actions as tools for a model's native calls, at least after the reset.
    Empty where it lists none: then an action is a text."""
    before: PageEvidence | None = None
    """The page as a step began that was carried out, where it had changed by itself before."""
