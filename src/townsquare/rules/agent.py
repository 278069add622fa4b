"""The research agent with the `rules` model."""

from __future__ import annotations

from dataclasses import dataclass

from assay.agents.models.protocol import Model
from assay.browser.research.agent import WebResearchAgent


@dataclass(kw_only=True, eq=False)
class RulesAgent(WebResearchAgent):
    """The research agent with the `rules` model: deterministic, offline, without a key."""

    name = "rules"
    model: str | Model = "rules"
    """The options are the research agent's; only this default differs."""
