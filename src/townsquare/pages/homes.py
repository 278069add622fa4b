"""The property sales register, and an estate agent's site that shows asking prices only."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from townsquare.pages.markup import (
    Html,
    choice,
    element,
    field,
    form,
    link,
    listing,
    page_links,
    paragraph,
    table,
)
from townsquare.pages.request import Request, Response, not_found, page, read_date
from townsquare.records.schema import TOWN, Home, Records, slug

NAME = f"{TOWN} Property Sales Register"
AGENT_NAME = f"Quick Homes {TOWN}"
PAGE_SIZE = 10
VIEWS = {"listed": "Listed (asking prices)", "sold": "Sold (prices paid)"}


def respond(records: Records, request: Request) -> Response:
    if request.path == "/":
        return page(
            NAME,
            "Property sales register",
            paragraph("Every property offered since 2021: when and for how much, and the sale."),
            _filters(records, {}),
        )
    if request.path == "/sales":
        return _sales(records, request)
    head, _, number = request.path.rpartition("/")
    home = next((home for home in records.homes if str(home.id) == number), None)
    if head != "/property" or home is None:
        return not_found(NAME)
    return page(NAME, home.address, _details(home))


def respond_agent(records: Records, request: Request) -> Response:
    """The estate agent: a page for each street, whose "Price" is the asking price."""
    if request.path == "/":
        streets = (link(f"/street/{slug(street)}", street) for street in records.streets)
        return page(AGENT_NAME, "Homes by street", listing(streets))
    street = next(
        (street for street in records.streets if request.path == f"/street/{slug(street)}"), None
    )
    if street is None:
        return not_found(AGENT_NAME)
    homes = [home for home in records.homes if home.street == street]
    rows = [(home.address, home.kind, _price(home.listed_price)) for home in homes]
    note = paragraph("Prices as advertised by the sellers.")
    title = f"Homes on {street}"
    return page(AGENT_NAME, title, note, table(title, ("Address", "Type", "Price"), rows))


def _sales(records: Records, request: Request) -> Response:
    view = "sold" if request.query.get("view") == "sold" else "listed"
    matches = _filter(records.homes, request, view)
    visible, number, last = request.cut(matches, PAGE_SIZE)
    if view == "sold":
        title = "Properties by date of sale"
        headers = ("Address", "Type", "Bedrooms", "Sold price", "Date sold")
    else:
        title = "Properties by date of listing"
        headers = ("Address", "Type", "Bedrooms", "Listed price", "Date listed")
    rows = [_row(home, view) for home in visible]
    query = {name: request.query.get(name, "") for name in ("street", "from", "to")}
    query["view"] = view
    return page(
        NAME,
        title,
        _filters(records, query),
        table(title, headers, rows) if rows else paragraph("No property matches."),
        page_links("/sales", query, number, last),
    )


def _filter(homes: Sequence[Home], request: Request, view: str) -> list[Home]:
    """The homes of the view that the filters leave, oldest first; a bad date filters nothing."""
    street = request.query.get("street", "")
    start = read_date(request.query.get("from", "")) or date.min
    end = read_date(request.query.get("to", "")) or date.max
    dated = [
        (day, home)
        for home in homes
        if (day := home.sold_on if view == "sold" else home.listed_on) is not None
        and start <= day <= end
        and street in ("", slug(home.street))
    ]
    return [home for _, home in sorted(dated, key=lambda pair: (pair[0], pair[1].id))]


def _row(home: Home, view: str) -> tuple[object, ...]:
    address = link(f"/property/{home.id}", home.address)
    if view == "sold" and home.sold_price is not None:
        return address, home.kind, home.bedrooms, _price(home.sold_price), home.sold_on
    return address, home.kind, home.bedrooms, _price(home.listed_price), home.listed_on


def _filters(records: Records, query: dict[str, str]) -> Html:
    streets = {"": "All streets"} | {slug(street): street for street in records.streets}
    return form(
        "/sales",
        choice("Show", "view", VIEWS, query.get("view", "listed")),
        choice("Street", "street", streets, query.get("street", "")),
        field("From (YYYY-MM-DD)", "from", query.get("from", "")),
        field("To (YYYY-MM-DD)", "to", query.get("to", "")),
        button="Show properties",
        name="Filter",
    )


def _details(home: Home) -> Html:
    sold = home.sold_price is not None
    rows: list[tuple[object, object]] = [
        ("Type", home.kind),
        ("Bedrooms", home.bedrooms),
        ("Listed price", _price(home.listed_price)),
        ("Date listed", home.listed_on),
        ("Sold price", _price(home.sold_price) if home.sold_price is not None else "not sold"),
        ("Date sold", home.sold_on if sold else "not sold"),
    ]
    back = paragraph(link(f"/sales?street={slug(home.street)}", f"All of {home.street}"))
    return element("div", table(home.address, ("Entry", "Value"), rows), back)


def _price(price: int) -> str:
    return f"${price:,}"
