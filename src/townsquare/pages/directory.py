"""The business directory, drawn by a script after a delay, and an older one with old hours."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from townsquare.pages.markup import (
    Html,
    element,
    field,
    form,
    link,
    listing,
    page_links,
    paragraph,
    table,
)
from townsquare.pages.request import Request, Response, not_found, page
from townsquare.records.schema import TOWN, WEEKDAYS, Business, Hours, Records, clock, tenths
from townsquare.records.trade import CATEGORIES

NAME = f"{TOWN} Business Directory"
OLD_NAME = f"{TOWN} Classic Directory"
PAGE_SIZE = 5
MIN_DELAY_MS, MAX_DELAY_MS = 300, 800
_DRAW = (
    "setTimeout(function(){{var t=document.getElementById('later');"
    "var m=document.getElementById('place');"
    "m.replaceChildren(t.content.cloneNode(true));m.removeAttribute('aria-busy');}},{delay});"
)


def respond(records: Records, request: Request) -> Response:
    if request.path == "/":
        return page(NAME, "Business directory", *_front())
    if request.path == "/find":
        words = request.query.get("name", "").lower().split()
        matches = [
            business
            for business in records.businesses
            if words and set(words) <= set(business.name.lower().split())
        ]
        return _list("Businesses by name", matches, request)
    _, kind, key, *rest = [*request.path.split("/"), "", ""]
    if kind == "category" and key in CATEGORIES and not any(rest):
        matches = [business for business in records.businesses if business.category == key]
        return _list(_title(key), matches, request)
    business = request.find("/business/", records.businesses)
    if business is None:
        return not_found(NAME)
    return _show_delayed(business.name, request, _profile(business, business.hours))


def respond_old(records: Records, request: Request) -> Response:
    """The older directory: no script, and the hours of some years ago."""
    note = paragraph("This directory was closed in 2020 and is no longer updated.")
    if request.path == "/":
        links = (
            link(f"/business/{business.slug}", business.name) for business in records.businesses
        )
        return page(OLD_NAME, "All businesses", note, listing(links))
    business = request.find("/business/", records.businesses)
    if business is None:
        return not_found(OLD_NAME)
    profile = _profile(business, business.old_hours)
    return page(OLD_NAME, business.name, profile, note)


def _front() -> tuple[Html, ...]:
    return (
        element("h2", "Categories"),
        listing(link(f"/category/{key}", _title(key)) for key in CATEGORIES),
        form("/find", field("Business name", "name"), button="Find", name="Find a business"),
    )


def _list(title: str, matches: Sequence[Business], request: Request) -> Response:
    visible, number, last = request.cut(matches, PAGE_SIZE)
    rows = [
        (
            link(f"/business/{business.slug}", business.name),
            business.address,
            tenths(business.rating),
            business.reviews,
            _hours(business.hours[6]),
        )
        for business in visible
    ]
    headers = ("Name", "Address", "Rating", "Reviews", "Sunday hours")
    query = {name: value for name, value in request.query.items() if name == "name"}
    return _show_delayed(
        title,
        request,
        table(f"{title}, page {number}", headers, rows)
        if rows
        else paragraph("No business found."),
        page_links(request.path, query, number, last),
    )


def _profile(business: Business, hours: Sequence[Hours]) -> Html:
    facts = (
        ("Category", _title(business.category)),
        ("Address", business.address),
        ("Phone", business.phone),
        ("Rating", tenths(business.rating)),
        ("Reviews", business.reviews),
    )
    week = [(day, _hours(spell)) for day, spell in zip(WEEKDAYS, hours, strict=True)]
    return element(
        "div",
        table(f"About {business.name}", ("Entry", "Value"), facts),
        table("Opening hours", ("Day", "Hours"), week),
    )


def _show_delayed(title: str, request: Request, *content: Html) -> Response:
    """A page whose content a script puts in place; how late depends on the address alone."""
    address = f"{request.path}?{sorted(request.query.items())}"
    spread = int.from_bytes(hashlib.sha256(address.encode()).digest()[:4])
    delay = MIN_DELAY_MS + spread % (MAX_DELAY_MS - MIN_DELAY_MS + 1)
    return page(
        NAME,
        title,
        element("div", element("p", "Loading"), id="place", aria_busy="true"),
        element("template", *content, id="later"),
        element("script", Html(_DRAW.format(delay=delay))),
        element("noscript", "This directory needs JavaScript."),
    )


def _hours(spell: Hours) -> str:
    return "closed" if spell is None else f"{clock(spell[0])}-{clock(spell[1])}"


def _title(category: str) -> str:
    return category.replace("-", " ").capitalize()
