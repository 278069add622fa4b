"""The research agent with the `rules` model."""

from __future__ import annotations

import inspect
from typing import Any

from assay.agents.research.agent import WebResearchAgent


def _signature_with_model(model: str) -> inspect.Signature:
    signature = inspect.signature(WebResearchAgent)
    parameters = signature.parameters.values()
    return signature.replace(
        parameters=[
            item.replace(default=model) if item.name == "model" else item for item in parameters
        ]
    )


class RulesAgent(WebResearchAgent):
    """The research agent with the `rules` model: deterministic, offline, without a key."""

    name = "rules"
    __signature__ = _signature_with_model("rules")
    """The options are the research agent's; only this default differs."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"model": "rules", **options})
