"""Plans, rollouts and file jobs: run in parallel, on this machine or on Ray, and resumed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.lazy import lazy_names

if TYPE_CHECKING:
    from assay.runner.batch import score_batch as score_batch
    from assay.runner.cluster import connect as connect
    from assay.runner.engine import LocalProcesses as LocalProcesses
    from assay.runner.files import score_file as score_file
    from assay.runner.folders import score_folder as score_folder
    from assay.runner.reward_diff import diff_rewards as diff_rewards
    from assay.runner.scored_steps import StepScoring as StepScoring

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "assay.runner.batch": "score_batch",
        "assay.runner.cluster": "connect",
        "assay.runner.engine": "LocalProcesses",
        "assay.runner.files": "score_file",
        "assay.runner.folders": "score_folder",
        "assay.runner.reward_diff": "diff_rewards",
        "assay.runner.scored_steps": "StepScoring",
    },
)
