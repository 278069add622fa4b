"""Plans, rollouts and file jobs: run in parallel, on this machine or on Ray, and resumed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.lazy import lazy_names

if TYPE_CHECKING:
    from assay.runner.cluster import connect as connect
    from assay.runner.reward_diff import diff_rewards as diff_rewards
    from assay.scoring.batch import score_batch as score_batch
    from assay.scoring.engine import LocalProcesses as LocalProcesses
    from assay.scoring.files import score_file as score_file
    from assay.scoring.folders import score_folder as score_folder

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "assay.scoring.batch": "score_batch",
        "assay.runner.cluster": "connect",
        "assay.scoring.engine": "LocalProcesses",
        "assay.scoring.files": "score_file",
        "assay.scoring.folders": "score_folder",
        "assay.runner.reward_diff": "diff_rewards",
    },
)
