"""Understanding: which points were lost and why, what a change did, what the data cannot say.

Everything here reads run folders and re-scores through `scoring`; nothing can run an agent.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.report.comparison import compare, compare_many
    from assay.report.diagnosis import diagnose
    from assay.report.noise import noise_floor
    from assay.report.sensitivity import probe
    from assay.report.timeline import history

_HOME = {
    "compare": "assay.report.comparison",
    "compare_many": "assay.report.comparison",
    "diagnose": "assay.report.diagnosis",
    "history": "assay.report.timeline",
    "noise_floor": "assay.report.noise",
    "probe": "assay.report.sensitivity",
}

__all__ = ["compare", "compare_many", "diagnose", "history", "noise_floor", "probe"]


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'assay.report' has no attribute {name!r}")
    return getattr(import_module(home), name)
