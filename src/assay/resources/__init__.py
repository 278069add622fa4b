"""Resources that must be closed: environments, pools, processes and rollouts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.lazy import lazy_names

if TYPE_CHECKING:
    from assay.resources.context import Context as Context
    from assay.resources.contract import check_environment as check_environment
    from assay.resources.pool import PoolLimits as PoolLimits
    from assay.resources.pool import Pools as Pools
    from assay.resources.protocol import Environment as Environment
    from assay.resources.spec import ResourceSpec as ResourceSpec

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "assay.resources.context": "Context",
        "assay.resources.contract": "check_environment",
        "assay.resources.pool": "PoolLimits Pools",
        "assay.resources.protocol": "Environment",
        "assay.resources.spec": "ResourceSpec",
    },
)
