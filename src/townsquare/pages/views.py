"""Values for pages that depend on the query, such as weather tables and sales."""

from __future__ import annotations

import json
from calendar import monthrange
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import Any, TypeAlias

from townsquare.pages.request import Request, Response, read_date
from townsquare.records.schema import (
    FIRST_DAY,
    LAST_DAY,
    WORDS,
    Business,
    Home,
    Line,
    Records,
    Station,
    category_title,
    long_date,
    slug,
)

Values: TypeAlias = dict[str, Any]
"""For a template; `title` and `status` are the page's, where they are not the usual ones."""

BUSINESSES_PER_PAGE, SALES_PER_PAGE = 5, 10
FIELDS = {"precipitation": "precipitation_mm", "high": "high_c", "low": "low_c"}
DAYS = {"weekday": "Monday to Friday", "weekend": "Saturday and Sunday"}


def _month(request: Request, records: Records, _: None) -> Values:
    return _month_values(request, records, "high") or {"status": 404}


def _mirror_month(request: Request, records: Records, _: None) -> Values | None:
    """Return a month's table with preliminary maxima."""
    return _month_values(request, records, "preliminary")


def _month_values(request: Request, records: Records, highs: str) -> Values | None:
    """Return one month of a station; `None` if the archive does not have the month."""
    station = _station(request, records)
    month = read_date(f"{request.query.get('month', '').strip()}-01")
    if station is None or month is None or not FIRST_DAY <= month <= LAST_DAY:
        return None
    end = month.replace(day=monthrange(month.year, month.month)[1])
    rows = [(day, *station.reading(index, highs)) for day, index in station.days(month, end)]
    return {"title": f"{station.name}, {month:%B %Y}", "rows": rows}


def _day(request: Request, records: Records, _: None) -> Values:
    day = read_date(request.query.get("date", ""))
    if day is None or not FIRST_DAY <= day <= LAST_DAY:
        return {"status": 404}
    index = (day - FIRST_DAY).days
    rows = [(station.name, *station.reading(index)) for station in records.stations]
    return {"title": f"All stations on {long_date(day)}", "rows": rows}


def _archive(request: Request, records: Records, _: None) -> Response:
    """Return the JSON response of the weather API: readings by month and day."""
    station = _station(request, records)
    if station is None:
        slugs = ", ".join(station.slug for station in records.stations)
        return _json({"error": f"station is one of: {slugs}"}, status=404)
    start, end = (read_date(request.query.get(name, "")) for name in ("start", "end"))
    if start is None or end is None or not FIRST_DAY <= start <= end <= LAST_DAY:
        reason = f"start and end are days YYYY-MM-DD from {FIRST_DAY} to {LAST_DAY}"
        return _json({"error": reason}, status=400)
    fields = request.query.get("fields", "precipitation").split(",")
    if not set(fields) <= set(FIELDS):
        reason = f"fields is a comma-separated list of: {', '.join(FIELDS)}"
        return _json({"error": reason}, status=400)
    daily = {
        FIELDS[name]: _by_month(station, start, end, getattr(station, name)) for name in fields
    }
    days = {"start": start.isoformat(), "end": end.isoformat()}
    return _json({"station": station.slug, **days, "daily": daily})


def _by_month(
    station: Station, start: date, end: date, readings: Sequence[int]
) -> dict[str, dict[str, float]]:
    months: dict[str, dict[str, float]] = {}
    for day, index in station.days(start, end):
        months.setdefault(f"{day:%Y-%m}", {})[f"{day:%d}"] = readings[index] / 10
    return months


def _json(value: Any, *, status: int = 200) -> Response:
    """Return a JSON response that scripts of every origin may read."""
    body = json.dumps(value, separators=(",", ":")).encode()
    return Response(body, status, "application/json", (("Access-Control-Allow-Origin", "*"),))


def _station(request: Request, records: Records) -> Station | None:
    key = request.query.get("station", "")
    return next((station for station in records.stations if station.slug == key), None)


def _sales(request: Request, records: Records, _: None) -> Values:
    """Return the homes that match the filters, oldest first; an invalid date is ignored."""
    view = "sold" if request.query.get("view") == "sold" else "listed"
    query = {name: request.query.get(name, "") for name in ("street", "from", "to")}
    start, end = read_date(query["from"]) or date.min, read_date(query["to"]) or date.max

    def day_of(home: Home) -> date | None:
        return home.sold_on if view == "sold" else home.listed_on

    matches = [
        (day, home.id, home)
        for home in records.homes
        if (day := day_of(home)) is not None
        and start <= day <= end
        and query["street"] in ("", slug(home.street))
    ]
    homes = [home for _, _, home in sorted(matches)]
    title = f"Properties by date of {'sale' if view == 'sold' else 'listing'}"
    return {"title": title, "query": {**query, "view": view}, **request.cut(homes, SALES_PER_PAGE)}


def _businesses(request: Request, records: Records, category: str | None) -> Values:
    """Return the businesses of a category, or those whose name has all the given words."""
    words = set(request.query.get("name", "").lower().split())

    def matches(business: Business) -> bool:
        if category is not None:
            return business.category == category
        return bool(words) and words <= set(business.name.lower().split())

    values = request.cut(
        [each for each in records.businesses if matches(each)], BUSINESSES_PER_PAGE
    )
    values["query"] = {name: value for name, value in request.query.items() if name == "name"}
    return values if category is None else {**values, "title": category_title(category)}


def _sellers(request: Request, *_: object) -> Values:
    key = request.query.get("item", "")
    item = next((item for item in WORDS["items"] if slug(item) == key), None)
    if item is None:
        return {"status": 404}
    return {"title": f"Who sells {item}", "wanted": item}


def _timetable(request: Request, _: Records, line: Line) -> Values:
    kind = "weekend" if request.query.get("day") == "weekend" else "weekday"
    return {"title": f"Line {line.number}, {DAYS[kind]}", "days": DAYS, "kind": kind}


def _tides(request: Request, records: Records, _: None) -> Values:
    month = request.query.get("month", "").strip()
    rows = [tide for tide in records.tides if f"{tide.day:%Y-%m}" == month]
    return {"title": f"High water, {month}", "rows": rows} if rows else {"status": 404}


View: TypeAlias = Callable[[Request, Records, Any], Values | Response | None]
"""Of the request, the records and what the page is about; `None` where there is no such page."""

VIEWS: Mapping[str, View] = {
    "weather.month": _month,
    "weather.mirror_month": _mirror_month,
    "weather.day": _day,
    "weather.api": lambda *_: {"fields": FIELDS},
    "weather.archive": _archive,
    "homes.sales": _sales,
    "directory.list": _businesses,
    "shops.find": _sellers,
    "travel.timetable": _timetable,
    "travel.tides": _tides,
    "walls.refused": lambda *_: {"status": 403},
    "walls.login": lambda request, *_: {"status": 401 if request.posted else 200},
}
"""By the template and block of a page: what its template needs beside the records."""
