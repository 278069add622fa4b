"""Bus timetables, and the printed tide tables of the harbour office."""

from __future__ import annotations

from townsquare.pages.markup import (
    choice,
    element,
    field,
    form,
    link,
    listing,
    paragraph,
    table,
)
from townsquare.pages.request import Request, Response, not_found, page
from townsquare.records.schema import TOWN, DayKind, Line, Records, clock

TRANSIT_NAME = f"{TOWN} Buses"
HARBOUR_NAME = f"{TOWN} Harbour Office"
DAYS = {"weekday": "Monday to Friday", "weekend": "Saturday and Sunday"}


def respond_transit(records: Records, request: Request) -> Response:
    if request.path == "/":
        lines = (
            element(
                "span",
                link(f"/line/{line.number}", f"Line {line.number}"),
                f": {', '.join(line.stops)}",
            )
            for line in records.lines
        )
        return page(TRANSIT_NAME, "Bus lines", listing(lines))
    line = next((line for line in records.lines if request.path == f"/line/{line.number}"), None)
    return not_found(TRANSIT_NAME) if line is None else _timetable(line, request)


def _timetable(line: Line, request: Request) -> Response:
    kind: DayKind = "weekend" if request.query.get("day") == "weekend" else "weekday"
    rows = [tuple(clock(time) for time in trip) for trip in line.trips(kind)]
    title = f"Line {line.number}, {DAYS[kind]}"
    days = form(
        f"/line/{line.number}", choice("Days", "day", DAYS, kind), button="Show", name="Days"
    )
    return page(TRANSIT_NAME, title, days, table(title, line.stops, rows))


def respond_harbour(records: Records, request: Request) -> Response:
    month_form = form(
        "/tides",
        field("Month (YYYY-MM)", "month", request.query.get("month", "")),
        button="Show tides",
        name="Tides",
    )
    if request.path == "/":
        live = paragraph(link(request.url("tides"), "Live tides"))
        return page(HARBOUR_NAME, "Harbour office", live, element("h2", "Tables"), month_form)
    if request.path != "/tides":
        return not_found(HARBOUR_NAME)
    month = request.query.get("month", "").strip()
    rows = [
        (tide.day, clock(tide.first), clock(tide.second))
        for tide in records.tides
        if f"{tide.day:%Y-%m}" == month
    ]
    if not rows:
        notice = paragraph("There are tables for 2024-01 to 2024-12.")
        return page(HARBOUR_NAME, "No such month", notice, month_form, status=404)
    title = f"High water, {month}"
    tides = table(title, ("Date", "First high water", "Second high water"), rows)
    return page(HARBOUR_NAME, title, tides, month_form)
