"""Build the server application from its routes, workers and error responses."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache, partial

from fastapi import FastAPI

from assay.server.catalogue import load_catalogue
from assay.server.openapi import document
from assay.server.refusal import error_handlers
from assay.server.routes import score, service, steps, trainers
from assay.server.scoring import ScoringService
from assay.server.settings import ServerSettings
from assay.server.telemetry import Metrics, instrument
from assay.web.asgi import App
from assay.web.guards import RequestGuards, guard

ROUTES = (score, steps, trainers, service)
"""Every module with a `router`, in the order in which `/docs` shows them."""

OPEN_PATHS = frozenset({"/healthz", "/readyz"})
"""Answered without a token."""


def build_app(settings: ServerSettings) -> FastAPI:
    """Build the application without guards; its lifespan starts and stops the workers.

    Raises `UsageError` for a reward that is unknown or needs a live environment.
    """
    catalogue = load_catalogue(settings)
    counts = Metrics()
    scoring = ScoringService(settings, catalogue.names, counts)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        scoring.start()
        try:
            yield
        finally:
            await scoring.close()

    app = FastAPI(
        lifespan=lifespan, docs_url=None, redoc_url=None, exception_handlers=error_handlers()
    )
    app.state.catalogue = catalogue
    app.state.metrics = counts
    app.state.scoring = scoring
    for module in ROUTES:
        app.include_router(module.router)
    # FastAPI's own way to another document is to replace this method.
    routers = [module.router for module in ROUTES]
    app.openapi = cache(partial(document, app, routers))  # type: ignore[method-assign]
    return app


def asgi_app(app: FastAPI, guards: RequestGuards) -> App:
    """Add guards, metrics and logging to the application."""
    return instrument(guard(app, guards), app.state.metrics)
