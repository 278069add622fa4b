"""Web browsers: agents that drive them, observations of pages, and scores of steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.lazy import lazy_names

if TYPE_CHECKING:
    from assay.browser.chromium.shared import find_chromium as find_chromium
    from assay.browser.connect.playwright import watch as watch
    from assay.browser.drive.environment import BrowserEnvironment as BrowserEnvironment
    from assay.browser.observe.digest import call_signature as call_signature
    from assay.browser.observe.digest import page_evidence as page_evidence
    from assay.browser.outcome.classify import classify_error as classify_error
    from assay.browser.step_records import StepLog as StepLog
    from assay.browser.steps.scorer import RecoveryRewardScorer as RecoveryRewardScorer

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "assay.browser.chromium.shared": "find_chromium",
        "assay.browser.connect.playwright": "watch",
        "assay.browser.drive.environment": "BrowserEnvironment",
        "assay.browser.observe.digest": "call_signature page_evidence",
        "assay.browser.outcome.classify": "classify_error",
        "assay.browser.step_records": "StepLog",
        "assay.browser.steps.scorer": "RecoveryRewardScorer",
    },
)
