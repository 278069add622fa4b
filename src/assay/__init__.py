"""What an LLM agent's work is worth, and why."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from assay.errors import AssayError
    from assay.registry import reward
    from assay.report.comparison import compare
    from assay.runner.batch import score_batch
    from assay.runner.run import run
    from assay.schema.episode import Episode, Step, Trajectory
    from assay.schema.evidence import PageEvidence, WorldEvidence
    from assay.schema.message import Message
    from assay.schema.score import Abstained, Score, Scored
    from assay.schema.task import Task
    from assay.scoring.scorer import score, score_async
    from assay.server.client import Client

_HOME = {
    "Abstained": "assay.schema.score",
    "AssayError": "assay.errors",
    "Client": "assay.server.client",
    "Episode": "assay.schema.episode",
    "Message": "assay.schema.message",
    "PageEvidence": "assay.schema.evidence",
    "Score": "assay.schema.score",
    "Scored": "assay.schema.score",
    "Step": "assay.schema.episode",
    "Task": "assay.schema.task",
    "Trajectory": "assay.schema.episode",
    "WorldEvidence": "assay.schema.evidence",
    "compare": "assay.report.comparison",
    "reward": "assay.registry",
    "run": "assay.runner.run",
    "score": "assay.scoring.scorer",
    "score_async": "assay.scoring.scorer",
    "score_batch": "assay.runner.batch",
}

__all__ = [
    "Abstained",
    "AssayError",
    "Client",
    "Episode",
    "Message",
    "PageEvidence",
    "Score",
    "Scored",
    "Step",
    "Task",
    "Trajectory",
    "WorldEvidence",
    "compare",
    "reward",
    "run",
    "score",
    "score_async",
    "score_batch",
]


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'assay' has no attribute {name!r}")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
