"""The research agent with the `rules` model."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Final

from assay.agents.models.protocol import Model
from assay.browser.research.agent import WebResearchAgent

BLOCKED: Final[tuple[str, ...]] = tuple(
    tomllib.loads(files(__package__).joinpath("sites.toml").read_text("utf-8"))["blocked"]
)


@dataclass(kw_only=True, eq=False)
class RulesAgent(WebResearchAgent):
    """The research agent with the `rules` model: deterministic, offline, without a key.

    The options are the research agent's; only these defaults differ.
    """

    name = "rules"
    model: str | Model = "rules"
    blocked_domains: str | Sequence[str] = BLOCKED
