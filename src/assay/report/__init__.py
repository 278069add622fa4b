"""Reports on runs: causes of lost reward, comparisons, history, noise and agreement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.lazy import lazy_names

if TYPE_CHECKING:
    from assay.report.agreement import agree_with_labels as agree_with_labels
    from assay.report.comparison import compare as compare
    from assay.report.comparison import compare_many as compare_many
    from assay.report.diagnosis import diagnose as diagnose
    from assay.report.diff_job import diff_rewards as diff_rewards
    from assay.report.form_sensitivity import probe as probe
    from assay.report.noise import noise_floor as noise_floor
    from assay.report.timeline import history as history

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "assay.report.agreement": "agree_with_labels",
        "assay.report.comparison": "compare compare_many",
        "assay.report.diagnosis": "diagnose",
        "assay.report.diff_job": "diff_rewards",
        "assay.report.noise": "noise_floor",
        "assay.report.form_sensitivity": "probe",
        "assay.report.timeline": "history",
    },
)
