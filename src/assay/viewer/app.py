"""The viewer as an ASGI application, with a route for each page."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import parse_qsl, quote, unquote_to_bytes

from fastapi import FastAPI, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import RedirectResponse
from fastapi.staticfiles import StaticFiles
from pydantic import ValidationError
from starlette.exceptions import HTTPException

from assay.errors import AssayError, BadRecord, UnknownName, UsageError
from assay.formats.lines import dump_json
from assay.ledger.labels import add_label
from assay.viewer.audits import Audits
from assay.viewer.links import TWIN, ServerLinks, address
from assay.viewer.pages.agreement import AgreementQuery, LabelForm, agreement_page
from assay.viewer.pages.compare import CompareQuery, compare_page, in_order
from assay.viewer.pages.episode import EpisodeQuery, episode_page
from assay.viewer.pages.pair import PairQuery, pair_page
from assay.viewer.pages.rewards import reward_page, rewards_page
from assay.viewer.pages.run import RunQuery, diagnosis_page, run_page
from assay.viewer.pages.runs import RunsQuery, runs_page
from assay.viewer.pages.step import picture_kind
from assay.viewer.rendering import Templates, to_json
from assay.viewer.runs_reader import RunsReader
from assay.web.asgi import App, Message, Receive, Scope, Send, error_body
from assay.web.guards import RequestGuards, guard
from assay.web.tryout import RewardTryout

STATIC = Path(__file__).parent / "static"
MAX_BODY_BYTES = 1024 * 1024
"""Of a request; only the forms of a label and of a reward have one."""
MOST_FIELDS = 200
"""Of a form."""
FORM = "application/x-www-form-urlencoded"
KEEP = "private, max-age=31536000, immutable"
OF_THE_PAGE = frozenset({"seen", "fill"})
"""What a page asks for by itself: in no address that a reader is given."""
POLICY = (
    "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self'; object-src 'none'; "
    "frame-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
RAW_POLICY = "sandbox; default-src 'none'; frame-ancestors 'none'"
"""Of artifacts and recorded lines: a browser shows or saves them, and never runs them."""

HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"x-frame-options", b"DENY"),
    (b"cache-control", b"no-cache"),
)
"""Of every response that does not set them itself: nothing inline or from elsewhere is run."""


def build_app(runs_dir: Path, guards: RequestGuards, *, root: Path | None = None) -> App:
    """Build the viewer of one folder of runs, protected by the request guards.

    Rows of the try-out may name files below `root`, by default below the current folder.
    """
    pages = _pages(RunsReader(runs_dir), root or Path.cwd())
    return _with_headers(guard(_with_twins(pages), guards))


def _with_headers(app: App) -> App:
    """Wrap the application to add the missing headers of `HEADERS` to every response."""

    async def call(scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                present = {name.lower() for name, _ in message["headers"]}
                missing = [header for header in HEADERS if header[0] not in present]
                message["headers"] = [*message["headers"], *missing]
            await send(message)

        await app(scope, receive, send_with_headers if scope["type"] == "http" else send)

    return call


def _with_twins(app: App) -> App:
    """Wrap the application to return a page's JSON record for a path that ends in `.json`."""

    async def call(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            # As it was sent: a name that ends in `.json` itself comes with its dot quoted.
            raw = str((scope.get("raw_path") or quote(scope["path"]).encode()).decode("latin-1"))
            twin = raw.endswith(TWIN) and not raw.startswith("/static/")
            raw = raw.removesuffix(TWIN) if twin else raw
            path = unquote_to_bytes(raw).decode("utf-8", "surrogateescape")
            state = {**scope.get("state", {}), "twin": twin}
            scope = {**scope, "state": state, "path": path, "raw_path": raw.encode("latin-1")}
        await app(scope, receive, send)

    return call


class PageRenderer:
    """Renders pages as HTML, or as the JSON record of the page."""

    def __init__(self) -> None:
        self._templates = Templates()
        self.links = ServerLinks()

    def page(self, request: Request, template: str, page: Any, *, seen: str = "") -> Response:
        """The response for a page; `seen` is the version that a page sends to update itself."""
        if request.state.twin:
            return Response(to_json(page), media_type="application/json")
        query = [pair for pair in request.query_params.multi_items() if pair[0] not in OF_THE_PAGE]
        path = request.scope["raw_path"].decode("latin-1")
        addresses = {
            "twin": address(path + TWIN, query),
            "poll": address(path, [*query, ("seen", seen)]),
            "here": address(path, query),
            "fill": address(path, [*query, ("fill", "true")]),
        }
        html = self._templates.render(template, page, self.links, **addresses)
        return Response(html.encode(), media_type="text/html; charset=utf-8")

    def error(self, request: Request, status: int, title: str, message: str) -> Response:
        """The response for an error, as an HTML page or as JSON."""
        if getattr(request.state, "twin", False):
            body = dump_json(error_body(title.replace(" ", "_"), message))
            return Response(body, status, media_type="application/json")
        page = {"title": title, "message": message, "status": status}
        html = self._templates.render("problem.html", page, self.links, twin=None)
        return Response(html.encode(), status, media_type="text/html; charset=utf-8")


def _pages(reader: RunsReader, root: Path) -> App:
    renderer = PageRenderer()

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        # The first visitor need not wait for the index.
        await asyncio.to_thread(reader.runs)
        yield

    app = FastAPI(title="Assay", openapi_url=None, lifespan=lifespan)
    app.mount("/static/vendor", _VersionedFiles(directory=STATIC / "vendor"), name="vendor")
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    _add_error_pages(app, renderer)
    _add_runs(app, reader, renderer)
    _add_episodes(app, reader, renderer)
    _add_labels(app, reader, renderer)
    _add_comparisons(app, reader, renderer)
    _add_rewards(app, Audits(reader.runs_dir), renderer, root)
    return app


class _VersionedFiles(StaticFiles):
    """Static files with their version in the name, which a browser may cache for a year."""

    def file_response(self, *args: Any, **options: Any) -> Response:
        response = super().file_response(*args, **options)
        response.headers["cache-control"] = KEEP
        return response


def _add_error_pages(app: FastAPI, renderer: PageRenderer) -> None:
    @app.exception_handler(AssayError)
    def assay_error(request: Request, error: AssayError) -> Response:
        if isinstance(error, (UnknownName, BadRecord)):
            return renderer.error(request, 404, "not found", str(error))
        status = 400 if isinstance(error, UsageError) else 500
        return renderer.error(request, status, "that did not work", str(error))

    @app.exception_handler(RequestValidationError)
    def bad_query(request: Request, error: RequestValidationError) -> Response:
        message = "; ".join(
            f"{'.'.join(map(str, item['loc'][1:]))}: {item['msg']}" for item in error.errors()
        )
        return renderer.error(request, 422, "the address makes no sense", message[:2_000])

    @app.exception_handler(HTTPException)
    def http_error(request: Request, error: HTTPException) -> Response:
        return renderer.error(request, error.status_code, "not found", str(error.detail))


def _add_runs(app: FastAPI, reader: RunsReader, renderer: PageRenderer) -> None:
    @app.get("/")
    def home() -> Response:
        return RedirectResponse("/runs")

    @app.get("/runs")
    def runs(request: Request, query: Annotated[RunsQuery, Query()]) -> Response:
        rows = reader.listed_runs(archived=query.archived)
        live = reader.live(rows)
        version = _version([(row.run_id, row.attempts, row.run_id in live) for row in rows])
        if query.seen == version:
            return Response(status_code=204)
        page = runs_page(reader, query, rows, wait=request.state.twin)
        return renderer.page(request, "runs.html", page, seen=version)

    @app.get("/runs/{run_id}")
    def run(request: Request, run_id: str, query: Annotated[RunQuery, Query()]) -> Response:
        version = _version((reader.version(run_id), reader.is_live(run_id)))
        if query.seen == version:
            return Response(status_code=204)
        page = run_page(reader, run_id, query, wait=request.state.twin)
        return renderer.page(request, "run.html", page, seen=version)

    @app.get("/runs/{run_id}/diagnosis")
    def diagnosis(request: Request, run_id: str) -> Response:
        response = renderer.page(request, "diagnosis.html", diagnosis_page(reader, run_id))
        # The list of the page that asked may now be shown with its causes.
        response.headers["hx-trigger-after-settle"] = "diagnosed"
        return response

    @app.get("/artifacts/{run_id}/{sha256}")
    def artifact(run_id: str, sha256: str) -> Response:
        data = reader.artifact(run_id, sha256)
        # Never a type that a browser would run.
        kind = picture_kind(data) or "text/plain; charset=utf-8"
        return _raw(data, kind, cache=KEEP)


def _add_episodes(app: FastAPI, reader: RunsReader, renderer: PageRenderer) -> None:
    @app.get("/runs/{run_id}/episodes/{attempt}")
    def episode(
        request: Request, run_id: str, attempt: str, query: Annotated[EpisodeQuery, Query()]
    ) -> Response:
        version = _version((reader.version(run_id), reader.is_live(run_id)))
        if query.seen == version:
            return Response(status_code=204)
        page = episode_page(reader, run_id, attempt, query, wait=request.state.twin)
        response = renderer.page(request, "episode.html", page, seen=version)
        if query.seen and not page["live"]:
            # The attempt has ended: there is more to show than its steps.
            response.headers["hx-refresh"] = "true"
        return response

    @app.get("/runs/{run_id}/episodes/{attempt}/diagnosis")
    def finding(request: Request, run_id: str, attempt: str) -> Response:
        page = episode_page(reader, run_id, attempt, EpisodeQuery(), wait=True)
        return renderer.page(request, "finding.html", page)

    @app.get("/runs/{run_id}/episodes/{attempt}/record")
    def record(run_id: str, attempt: str, query: Annotated[EpisodeQuery, Query()]) -> Response:
        return _raw(reader.record(run_id, attempt, query.step), "application/json")


def _add_labels(app: FastAPI, reader: RunsReader, renderer: PageRenderer) -> None:
    @app.post("/runs/{run_id}/labels")
    async def label(request: Request, run_id: str) -> Response:
        """Store a label; the request guards refuse labels from other sites."""
        form = await _label_form(request)
        folder = reader.layout(run_id).folder
        await asyncio.to_thread(
            add_label, folder, form.attempt, form.value, step=form.step, note=form.note
        )
        if request.state.twin:
            return Response(b'{"added":true}', media_type="application/json")
        return RedirectResponse(renderer.links.episode(run_id, form.attempt, form.shown), 303)

    @app.get("/agreement")
    def agreement(request: Request, query: Annotated[AgreementQuery, Query()]) -> Response:
        return renderer.page(request, "agreement.html", agreement_page(reader, query))


def _add_comparisons(app: FastAPI, reader: RunsReader, renderer: PageRenderer) -> None:
    @app.get("/compare")
    def compare(request: Request, query: Annotated[CompareQuery, Query()]) -> Response:
        picked = in_order(reader, query.pick)
        if len(picked) == 2:
            return RedirectResponse(ServerLinks().compare(*picked))
        return renderer.page(request, "compare.html", compare_page(reader, query))

    @app.get("/compare/pair")
    def pair(request: Request, query: Annotated[PairQuery, Query()]) -> Response:
        return renderer.page(request, "pair.html", pair_page(reader, query))


def _add_rewards(app: FastAPI, audits: Audits, renderer: PageRenderer, root: Path) -> None:
    form_token = secrets.token_urlsafe(16)
    page_of = partial(reward_page, audits=audits, form_token=form_token)
    tryout = RewardTryout(root)

    @app.get("/rewards")
    def rewards(request: Request) -> Response:
        return renderer.page(request, "rewards.html", rewards_page(audits))

    @app.get("/rewards/{name}")
    def reward(request: Request, name: str) -> Response:
        page = page_of(name, dict(request.query_params), tryout=None)
        return renderer.page(request, "reward.html", page)

    @app.post("/rewards/{name}")
    async def tried(request: Request, name: str) -> Response:
        """Run a reward on the form's row; the request needs the token of the reward's page."""
        form = await _form(request)
        if not hmac.compare_digest(form.pop("form_token", "").encode(), form_token.encode()):
            raise UsageError("the form has no valid token; load the page of the reward again")
        page = await asyncio.to_thread(page_of, name, form, tryout=tryout)
        return renderer.page(request, "reward.html", page)


async def _form(request: Request) -> dict[str, str]:
    """Read the fields of a form that are not empty; raise `UsageError` for other content."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != FORM:
        raise UsageError(f"a form must be sent as {FORM}, not as {kind[:100]!r}")
    body = await request.body()
    try:
        pairs = parse_qsl(body.decode("ascii"), errors="replace", max_num_fields=MOST_FIELDS)
    except ValueError as error:
        raise UsageError(f"the form is not valid: {error!s:.300}") from error
    return dict(pairs)


async def _label_form(request: Request) -> LabelForm:
    """Read the label form from a request; raise `UsageError` for any other content."""
    try:
        return LabelForm.model_validate(await _form(request))
    except ValidationError as error:
        raise UsageError(f"the label is not valid: {error!s:.300}") from error


def _raw(data: bytes, kind: str, *, cache: str = "no-cache") -> Response:
    headers = {"content-security-policy": RAW_POLICY, "cache-control": cache}
    return Response(data, media_type=kind, headers=headers)


def _version(facts: object) -> str:
    return hashlib.sha256(repr(facts).encode("utf-8", "surrogatepass")).hexdigest()[:16]
