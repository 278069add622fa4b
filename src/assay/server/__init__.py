"""Scoring over HTTP: the server, its worker processes, and the client."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.lazy import lazy_names

if TYPE_CHECKING:
    from assay.server.client import AsyncClient as AsyncClient
    from assay.server.client import Client as Client

__getattr__, __dir__, __all__ = lazy_names(__name__, {"assay.server.client": "AsyncClient Client"})
