"""Runs of benchmarks: planned, played in parallel on this machine or on Ray, and resumed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.lazy import lazy_names

if TYPE_CHECKING:
    from assay.runner.cluster import connect as connect

__getattr__, __dir__, __all__ = lazy_names(__name__, {"assay.runner.cluster": "connect"})
