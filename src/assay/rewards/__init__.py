"""Rewards: named and versioned functions that score an episode."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.lazy import lazy_names

if TYPE_CHECKING:
    from assay.rewards import credit as credit
    from assay.rewards import outcome as outcome

__getattr__, __dir__, __all__ = lazy_names(__name__, {}, rooms="credit outcome")
