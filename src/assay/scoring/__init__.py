"""Run rewards: for one row, a batch, an episode, a file or a folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.lazy import lazy_names

if TYPE_CHECKING:
    from assay.scoring.batch import LocalProcesses as LocalProcesses
    from assay.scoring.batch import score_batch as score_batch
    from assay.scoring.composition import compose as compose
    from assay.scoring.files.folders import score_folder as score_folder
    from assay.scoring.files.jobs import score_file as score_file
    from assay.scoring.results import to_score as to_score
    from assay.scoring.scorer import Scorer as Scorer
    from assay.scoring.scorer import score as score
    from assay.scoring.scorer import score_async as score_async

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "assay.scoring.batch": "LocalProcesses score_batch",
        "assay.scoring.composition": "compose",
        "assay.scoring.files.folders": "score_folder",
        "assay.scoring.files.jobs": "score_file",
        "assay.scoring.results": "to_score",
        "assay.scoring.scorer": "Scorer score score_async",
    },
)
