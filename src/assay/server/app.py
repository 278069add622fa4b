"""The application: routes over a pool of workers, and one shape for every error."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from assay.errors import AssayError
from assay.server.catalogue import load_catalogue
from assay.server.instrumented import instrument
from assay.server.logs import log
from assay.server.metrics import Metrics
from assay.server.openapi import document
from assay.server.pool import LossCause, WorkerPool
from assay.server.refusal import Refusal, refusal_of
from assay.server.routes import score, service, steps, trainers
from assay.server.scoring import ScoringService
from assay.server.settings import Settings
from assay.server.state import ServerState
from assay.server.strict_json import write_json
from assay.web.asgi import App, error_body
from assay.web.guards import Guards, guard

OPEN_PATHS = frozenset({"/healthz", "/readyz"})


def build_app(settings: Settings) -> FastAPI:
    """The application without its guards; its workers start and end with its lifespan.

    A reward that is unknown or needs a live world is a `UsageError`, here and now.
    """
    catalogue = load_catalogue(settings)
    metrics = Metrics()
    server_state = ServerState()

    def restarted(loss: LossCause) -> None:
        metrics.worker_restarts.labels(loss).inc()
        log("worker_replaced", level=logging.WARNING, cause=loss)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        pool = WorkerPool(
            settings.workers,
            imports=settings.imports,
            rewards=catalogue.names,
            on_restart=restarted,
        )
        scoring = ScoringService(settings, pool, metrics)
        metrics.watch(lambda: scoring.admission.rows, lambda: len(pool.pids))
        app.state.scoring = scoring
        server_state.follow(lambda: pool.ready)
        pool.start()
        try:
            yield
        finally:
            server_state.drain()
            await pool.close()

    app = FastAPI(
        lifespan=lifespan, docs_url=None, redoc_url=None, exception_handlers=_exception_handlers()
    )
    app.state.catalogue = catalogue
    app.state.metrics = metrics
    app.state.server_state = server_state
    for routes in (score, steps, trainers, service):
        app.include_router(routes.router)
    _document_once(app)
    return app


def asgi_app(app: FastAPI, guards: Guards) -> App:
    """The application as it is served: guarded, counted and logged."""
    return instrument(guard(app, guards), app.state.metrics)


def _document_once(app: FastAPI) -> None:
    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = document(app)
        return app.openapi_schema

    # FastAPI's own way to another document is to replace this method.
    app.openapi = openapi  # type: ignore[method-assign]


def _exception_handlers() -> dict[Any, Any]:
    return {
        Refusal: _refused,
        AssayError: _refused_by_assay,
        HTTPException: _refused_by_framework,
        RequestValidationError: _refused_by_validation,
        RecursionError: _refused_by_depth,
        ClientDisconnect: _client_gone,
        Exception: _failed,
    }


async def _refused(request: Request, error: Refusal) -> Response:  # noqa: ARG001 - the framework's
    return Response(
        write_json(error_body(error.code, error.message)),
        error.status,
        error.headers,
        "application/json",
    )


async def _refused_by_assay(request: Request, error: AssayError) -> Response:
    return await _refused(request, refusal_of(error))


async def _refused_by_framework(request: Request, error: HTTPException) -> Response:
    codes = {404: "not_found", 405: "method_not_allowed"}
    code = codes.get(error.status_code, "refused")
    headers = dict(error.headers or {})
    return await _refused(request, Refusal(error.status_code, code, str(error.detail), headers))


async def _refused_by_validation(request: Request, error: RequestValidationError) -> Response:
    told = [f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors()[:3]]
    return await _refused(request, Refusal(422, "bad_request", "; ".join(told)))


async def _refused_by_depth(request: Request, error: RecursionError) -> Response:  # noqa: ARG001
    # JSON may be nested deeper than what can be sent on to a worker; nothing of ours is.
    return await _refused(request, Refusal(400, "bad_json", "the body is nested too deeply"))


async def _client_gone(request: Request, error: ClientDisconnect) -> Response:  # noqa: ARG001
    return await _refused(request, Refusal(499, "client_gone", "the client closed the connection"))


async def _failed(request: Request, error: Exception) -> Response:  # noqa: ARG001 - it is logged
    return await _refused(
        request, Refusal(500, "internal", "a fault of this server; its log says more")
    )
