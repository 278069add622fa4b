"""Immutable records of the data that Assay stores in files or sends over a network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.lazy import lazy_names

if TYPE_CHECKING:
    from assay.schema.episode import Episode as Episode
    from assay.schema.episode import Step as Step
    from assay.schema.episode import Trajectory as Trajectory
    from assay.schema.evidence import NetworkFact as NetworkFact
    from assay.schema.evidence import PageEvidence as PageEvidence
    from assay.schema.evidence import PageFacts as PageFacts
    from assay.schema.evidence import StepEvents as StepEvents
    from assay.schema.evidence import WorldEvidence as WorldEvidence
    from assay.schema.manifest import RunManifest as RunManifest
    from assay.schema.message import Message as Message
    from assay.schema.observation import Observation as Observation
    from assay.schema.score import Abstained as Abstained
    from assay.schema.score import Score as Score
    from assay.schema.score import Scored as Scored
    from assay.schema.task import Task as Task

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "assay.schema.episode": "Episode Step Trajectory",
        "assay.schema.evidence": "NetworkFact PageEvidence PageFacts StepEvents WorldEvidence",
        "assay.schema.manifest": "RunManifest",
        "assay.schema.message": "Message",
        "assay.schema.observation": "Observation",
        "assay.schema.score": "Abstained Score Scored",
        "assay.schema.task": "Task",
    },
)
