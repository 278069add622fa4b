"""The portal: where every task starts, with a link to each official site."""

from __future__ import annotations

from urllib.parse import quote_plus

from townsquare.pages.markup import element, field, form, link, listing, paragraph
from townsquare.pages.request import Request, Response, not_found, page, redirect
from townsquare.records.schema import TOWN

NAME = f"{TOWN} Town Square"
OFFICIAL = (
    ("weather", "Weather archive", "daily readings of every station, tables and a JSON API"),
    ("register", "Property sales register", "listed and sold prices since 2021"),
    ("directory", "Business directory", "addresses, opening hours and ratings"),
    ("shops", "Shops and price lists", "what the shops of the town charge"),
    ("museum", "Town museum", "visits, tickets and staff"),
    ("library", "Town libraries", "opening hours of the branches"),
    ("council", "Town council", "councillors, committees and minutes"),
    ("transit", "Buses", "timetables of all lines"),
    ("harbour", "Harbour office", "tides"),
)


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
