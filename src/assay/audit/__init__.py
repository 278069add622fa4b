"""Check how a reward can be fooled before a policy learns to do it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.lazy import lazy_names

if TYPE_CHECKING:
    from assay.audit.engine import audit_reward as audit_reward
    from assay.audit.result import Audit as Audit
    from assay.audit.target import parse_target as parse_target

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "assay.audit.engine": "audit_reward",
        "assay.audit.result": "Audit",
        "assay.audit.target": "parse_target",
    },
)
