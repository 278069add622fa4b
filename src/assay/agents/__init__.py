"""Agents: each takes an observation and returns an action, from a script or a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.lazy import lazy_names

if TYPE_CHECKING:
    from assay.agents.models.protocol import CallRequest as CallRequest
    from assay.agents.models.protocol import Reply as Reply
    from assay.agents.models.timeouts import model_call as model_call
    from assay.agents.protocol import Action as Action
    from assay.agents.protocol import Agent as Agent
    from assay.agents.protocol import EpisodeLimits as EpisodeLimits
    from assay.agents.scripted import ScriptedAgent as ScriptedAgent

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "assay.agents.models.timeouts": "model_call",
        "assay.agents.models.protocol": "CallRequest Reply",
        "assay.agents.protocol": "Action Agent EpisodeLimits",
        "assay.agents.scripted": "ScriptedAgent",
    },
)
