"""The portal: where every task starts, with a link to each official site."""

from __future__ import annotations

from urllib.parse import quote_plus

from assay.lazy import package_table
from townsquare.pages.markup import element, field, form, link, listing, paragraph
from townsquare.pages.request import Request, Response, not_found, page, redirect
from townsquare.records.schema import TOWN

NAME = f"{TOWN} Town Square"
OFFICIAL: list[list[str]] = package_table(__package__, "catalogue")["official"]


def respond(request: Request) -> Response:
    if request.path == "/search":
        words = request.query.get("q", "")
        return redirect(request.url("search", f"/?q={quote_plus(words)}" if words else "/"))
    if request.path != "/":
        return not_found(NAME)
    return page(
        NAME,
        f"Welcome to {TOWN}",
        form("/search", field("Search the web", "q"), button="Search", name="Search"),
        element("h2", "Official sites"),
        listing(
            element("span", link(request.url(site), title), f": {about}")
            for site, title, about in OFFICIAL
        ),
        paragraph("Clubs have no list of their own: find them with the search engine."),
    )
