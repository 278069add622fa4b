"""The whole web of the town, as a function from requests to responses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import quote, quote_plus

from assay.lazy import package_table
from townsquare.pages.render import page
from townsquare.pages.request import Request, Response, redirect
from townsquare.pages.search import CATALOGUE, SearchIndex, list_documents
from townsquare.pages.views import VIEWS, Values, View
from townsquare.records.schema import TOWN, TWIN_TOWN, Records, slug

NAMES = {"town": TOWN, "twin_town": TWIN_TOWN}
PORTAL = "portal"
"""The site without a label before the domain."""


class PageRow(NamedTuple):
    """A page of a site, or a page for each of several records; see `sites.toml`."""

    path: str
    title: str
    block: str
    things: str = ""

    def find(self, records: Records, path: str) -> Values | None:
        """Return the records for the page at this path; `None` if the path is not the page's."""
        things = records.things(self.things) if self.things else ()
        if "{" not in self.path:
            return {"things": things, "item": None} if self.path in ("*", path) else None
        for item in things:
            key = slug(item) if isinstance(item, str) else ""
            if self.path.format(item=item, slug=key) == path:
                return {"things": things, "item": item}
        return None


class Web:
    """All sites of the town; equal requests get equal responses."""

    def __init__(self, records: Records) -> None:
        self._records = records
        table: Mapping[str, Any] = package_table(__package__, "sites")
        self._pages = {label: [PageRow(*row) for row in table[label]["pages"]] for label in table}
        self._names = {label: site["name"].format(**NAMES) for label, site in table.items()}
        self._index = SearchIndex(list_documents(records, self._names))
        self._views: Mapping[str, View] = {
            **VIEWS,
            "search.portal": lambda *_: {"official": CATALOGUE["official"]},
            "search.results": self._search,
        }

    @property
    def sites(self) -> tuple[str, ...]:
        """The labels of the sites in their addresses; the portal's label is empty."""
        return tuple(label if label != PORTAL else "" for label in self._names)

    def respond(self, request: Request) -> Response:
        """Return the response of a site; an unknown site gives status 404."""
        match request.site, request.path:
            case "", "/search":
                words = request.query.get("q", "")
                return redirect(request.url("search", f"/?q={quote_plus(words)}" if words else "/"))
            case "gazette", path if path != "/login":
                return redirect(f"/login?next={quote(path)}")
            case "tides", _:
                return Response(hangs=True)
        if request.site not in self.sites:
            note = "No site of the town has this name."
            return page(f"{TOWN} web", "No such site", "walls.note", status=404, note=note)
        label = request.site or PORTAL
        for row in self._pages[label]:
            values = row.find(self._records, request.path)
            if values is not None:
                return self._show(row, request, values)
        return page(self._names[label], "Page not found", "walls.not_found", status=404)

    def _show(self, row: PageRow, request: Request, values: Values) -> Response:
        site = self._names[request.site or PORTAL]
        values["title"] = row.title.format(**NAMES, item=values["item"])
        view = self._views.get(row.block)
        more = {} if view is None else view(request, self._records, values["item"])
        if isinstance(more, Response):
            return more
        if more is None:
            return page(site, "Page not found", "walls.not_found", status=404)
        shown = {"request": request, "records": self._records, **values, **more}
        return page(site, block=row.block, **shown)

    def _search(self, request: Request, *_: object) -> Values:
        query = request.query.get("q", "")[:400]
        title = f"Results for {query}" if query.strip() else "Search"
        portal = request.url("")
        documents = self._index.find(query)
        return {"title": title, "query": query, "documents": documents, "head_link": portal}
