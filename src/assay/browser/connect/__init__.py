"""Score the steps of a browser that another program drives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.lazy import lazy_names

if TYPE_CHECKING:
    from assay.browser.connect.browser_use import run_watched as run_watched
    from assay.browser.connect.devtools import watch_browser as watch_browser
    from assay.browser.connect.observed import ObservedSteps as ObservedSteps
    from assay.browser.connect.observed import observe as observe
    from assay.browser.connect.playwright import watch as watch
    from assay.browser.connect.selenium import step_listener as step_listener

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "assay.browser.connect.browser_use": "run_watched",
        "assay.browser.connect.devtools": "watch_browser",
        "assay.browser.connect.observed": "ObservedSteps observe",
        "assay.browser.connect.playwright": "watch",
        "assay.browser.connect.selenium": "step_listener",
    },
)
