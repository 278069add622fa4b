"""The two tools that the proxy adds to those of the server, in the shapes of the protocol."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.resources import files
from typing import Any, Final, NamedTuple

from assay.browser.steps import AgentStatus
from assay.schema.step_score import StepScore

STEPS_TOOL: Final = "assay_steps"
HINT_TOOL: Final = "assay_hint"
MOST_STEPS: Final = 50
"""Steps that one call of `assay_steps` shows at most; its schema says so too."""


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
    text = files(__package__).joinpath("own_tools.json").read_text("utf-8")
    records: list[dict[str, Any]] = json.loads(text)
    return records


def text_result(
    text: str, *, data: dict[str, Any] | None = None, error: bool = False
) -> dict[str, Any]:
    """The result of a call as JSON values: a text for the model, and the same as data."""
    structured = {} if data is None else {"structuredContent": data}
    content = [{"type": "text", "text": text}]
    return {"content": content, **structured, "isError": error, "resultType": "complete"}
