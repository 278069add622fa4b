"""The research agent with the `rules` model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.agents.models.protocol import Model
from assay.browser.research.agent import WebResearchAgent

BLOCKED = ("zillow.com", "trulia.com", "apartments.com")
"""Sites that refuse programs; the town has their data."""


@dataclass(kw_only=True, eq=False)
class RulesAgent(WebResearchAgent):
    """The research agent with the `rules` model: deterministic, offline, without a key.

    The options are the research agent's; only these defaults differ.
    """

    name = "rules"
    model: str | Model = "rules"
    blocked_domains: str | Sequence[str] = BLOCKED
