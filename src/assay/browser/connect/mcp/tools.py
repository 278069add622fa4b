"""The two tools that the proxy adds to those of the server, in the shapes of the MCP SDK."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

# The SDK's own package of shapes; the whole SDK takes three times as long to load.
from mcp_types import CallToolResult, TextContent, Tool, ToolAnnotations

from assay.browser.steps import AgentStatus
from assay.schema.step_score import StepScore

MOST_STEPS: Final = 50
"""Steps that one call of `assay_steps` shows at most."""
READS: Final = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)

STEPS_TOOL: Final = Tool(
    name="assay_steps",
    title="Scores of the latest browser steps",
    description=(
        "What the latest browser tool calls were worth, from evidence and not from a model: score "
        "from -1 to 1, class, reasons, and whether the session is running, stuck, blocked or "
        "recovered. Read-only: it touches neither the page nor the browser."
    ),
    input_schema={
        "type": "object",
        "properties": {
            "last": {
                "type": "integer",
                "minimum": 1,
                "maximum": MOST_STEPS,
                "default": 10,
                "description": "How many of the latest steps to show.",
            }
        },
        "additionalProperties": False,
    },
    annotations=READS,
)
HINT_TOOL: Final = Tool(
    name="assay_hint",
    title="What to look at or try next",
    description=(
        "Advice after a failed, blocked or fruitless browser step: what to read next, and which "
        "tools have worked after this kind of failure before, least risk first. Advice only: "
        "nothing is executed, and no confirmation is replaced."
    ),
    input_schema={"type": "object", "properties": {}, "additionalProperties": False},
    annotations=READS,
)


class ScoredStep(NamedTuple):
    """One call with what it was worth, as `assay_steps` shows it."""

    number: int
    action: str
    score: StepScore

    def line(self) -> str:
        """The step in one line of text."""
        reasons = ", ".join(
            reason.code + (f" {reason.n}" if reason.n else "") for reason in self.score.reasons
        )
        worth = f"{self.score.score:+.3f} {self.score.classification}"
        return f"{self.number:>3} {worth:<27} {self.action}  [{reasons}]"

    def to_record(self) -> dict[str, Any]:
        return {
            "step": self.number,
            "action": self.action,
            "score": self.score.score,
            "class": self.score.classification,
            "because": self.score.because,
            "reasons": [{"code": one.code, "n": one.n} for one in self.score.reasons],
            "confidence": self.score.confidence,
        }


def steps_report(steps: Sequence[ScoredStep], state: AgentStatus) -> tuple[str, dict[str, Any]]:
    """The steps and where the session stands, as text and as data."""
    lines = [step.line() for step in steps] or ["no browser tool was called yet"]
    since = f" since step {state.since}" if state.since else ""
    lines.append(f"status: {state.state}{since}: {state.because}")
    data = {"steps": [step.to_record() for step in steps], "status": state._asdict()}
    return "\n".join(lines), data


def tool_records() -> list[dict[str, Any]]:
    """The two tools as a `tools/list` reply lists them."""
    return [
        tool.model_dump(mode="json", by_alias=True, exclude_none=True)
        for tool in (STEPS_TOOL, HINT_TOOL)
    ]


def text_result(text: str, *, data: dict[str, Any] | None = None, error: bool = False) -> Any:
    """The result of a call as JSON values: a text for the model, and the same as data."""
    result = CallToolResult(
        content=[TextContent(type="text", text=text)], structured_content=data, is_error=error
    )
    return result.model_dump(mode="json", by_alias=True, exclude_none=True)
