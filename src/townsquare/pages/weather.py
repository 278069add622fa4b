"""The weather archive: monthly tables, one day at all stations, a JSON API, and an old mirror."""

from __future__ import annotations

from calendar import monthrange
from datetime import date

from townsquare.pages.markup import (
    Html,
    choice,
    element,
    field,
    form,
    link,
    listing,
    paragraph,
    table,
)
from townsquare.pages.request import (
    Request,
    Response,
    answer_json,
    not_found,
    page,
    read_date,
)
from townsquare.records.schema import (
    FIRST_DAY,
    LAST_DAY,
    TOWN,
    Records,
    Station,
    long_date,
    tenths,
)

NAME = f"{TOWN} Weather Archive"
MIRROR_NAME = f"{TOWN} Weather Mirror"
FIELDS = {"precipitation": "precipitation_mm", "high": "high_c", "low": "low_c"}
HEADERS = ("Date", "Precipitation (mm)", "Maximum (C)", "Minimum (C)")


def respond(records: Records, request: Request) -> Response:
    match request.path:
        case "/":
            return page(NAME, "Weather archive", *_front(records))
        case "/month":
            return _month(records, request)
        case "/day":
            return _day(records, request)
        case "/api":
            return page(NAME, "The JSON API", *_manual(records, request))
        case "/api/archive":
            return _archive(records, request)
    return not_found(NAME)


def respond_mirror(records: Records, request: Request) -> Response:
    """The mirror: the same tables with preliminary maxima, and no API."""
    note = paragraph(
        "Unofficial mirror, last synchronised on 2 March 2021. Values are preliminary and were "
        "taken before quality control."
    )
    if request.path == "/":
        return page(MIRROR_NAME, "Weather tables", note, _month_form(records, "", ""))
    station, month = _station(records, request), _month_start(request)
    if request.path != "/month" or station is None or month is None:
        return not_found(MIRROR_NAME)
    rows = _rows(station, month, station.preliminary)
    title = f"{station.name}, {month:%B %Y}"
    return page(MIRROR_NAME, title, note, table(title, HEADERS, rows))


def _front(records: Records) -> tuple[Html, ...]:
    return (
        paragraph(
            f"Daily readings from {long_date(FIRST_DAY)} to {long_date(LAST_DAY)}, after quality "
            "control."
        ),
        element("h2", "One month at one station"),
        _month_form(records, "", ""),
        element("h2", "One day at all stations"),
        _day_form(""),
        element("h2", "For programs"),
        paragraph(link("/api", "JSON API of the archive")),
    )


def _month_form(records: Records, station: str, month: str) -> Html:
    stations = {station.slug: station.name for station in records.stations}
    return form(
        "/month",
        choice("Station", "station", stations, station),
        field("Month (YYYY-MM)", "month", month),
        button="Show month",
        name="Month",
    )


def _day_form(day: str) -> Html:
    return form("/day", field("Day (YYYY-MM-DD)", "date", day), button="Show day", name="Day")


def _month(records: Records, request: Request) -> Response:
    station, month = _station(records, request), _month_start(request)
    search_form = _month_form(
        records, request.query.get("station", ""), request.query.get("month", "")
    )
    if station is None or month is None:
        hint = f"A station of the list and a month from {FIRST_DAY:%Y-%m} to {LAST_DAY:%Y-%m}."
        return page(NAME, "No such month", paragraph(hint), search_form, status=404)
    title = f"{station.name}, {month:%B %Y}"
    rows = _rows(station, month, station.high)
    return page(NAME, title, table(title, HEADERS, rows), search_form)


def _rows(station: Station, month: date, highs: tuple[int, ...]) -> list[tuple[str, ...]]:
    end = month.replace(day=monthrange(month.year, month.month)[1])
    return [
        (
            day.isoformat(),
            tenths(station.precipitation[index]),
            tenths(highs[index]),
            tenths(station.low[index]),
        )
        for day, index in station.days(month, end)
    ]


def _day(records: Records, request: Request) -> Response:
    day = read_date(request.query.get("date", ""))
    search_form = _day_form(request.query.get("date", ""))
    if day is None or not FIRST_DAY <= day <= LAST_DAY:
        hint = f"Days are written YYYY-MM-DD and go from {FIRST_DAY} to {LAST_DAY}."
        return page(NAME, "No such day", paragraph(hint), search_form, status=404)
    index = (day - FIRST_DAY).days
    rows = [
        (
            station.name,
            tenths(station.precipitation[index]),
            tenths(station.high[index]),
            tenths(station.low[index]),
        )
        for station in records.stations
    ]
    title = f"All stations on {long_date(day)}"
    return page(NAME, title, table(title, ("Station", *HEADERS[1:]), rows), search_form)


def _manual(records: Records, request: Request) -> tuple[Html, ...]:
    example = "/api/archive?station={}&start=2022-05-01&end=2022-05-07&fields=precipitation"
    address = request.url("weather", example.format(records.stations[0].slug))
    return (
        paragraph(
            "One call gives one station from start to end, both included. The answer holds, for "
            "each field, the months, and for each month the days with their values."
        ),
        paragraph("Example: ", link(address, address)),
        element("h2", "Stations"),
        listing(f"{station.name}: {station.slug}" for station in records.stations),
        element("h2", "Fields"),
        listing(f"{key}: {name}" for key, name in FIELDS.items()),
        paragraph("Long ranges make long answers: ask for what you need, year by year."),
    )


def _archive(records: Records, request: Request) -> Response:
    station = _station(records, request)
    if station is None:
        slugs = ", ".join(station.slug for station in records.stations)
        return _refuse(f"station is one of: {slugs}", status=404)
    start, end = (read_date(request.query.get(name, "")) for name in ("start", "end"))
    if start is None or end is None or not FIRST_DAY <= start <= end <= LAST_DAY:
        return _refuse(f"start and end are days YYYY-MM-DD from {FIRST_DAY} to {LAST_DAY}")
    fields = request.query.get("fields", "precipitation").split(",")
    if not fields or not set(fields) <= set(FIELDS):
        return _refuse(f"fields is a comma-separated list of: {', '.join(FIELDS)}")
    readings = {
        "precipitation": station.precipitation,
        "high": station.high,
        "low": station.low,
    }
    daily = {FIELDS[name]: _by_month(station, start, end, readings[name]) for name in fields}
    return answer_json(
        {
            "station": station.slug,
            "start": start.isoformat(),
            "end": end.isoformat(),
            "daily": daily,
        }
    )


def _by_month(
    station: Station, start: date, end: date, readings: tuple[int, ...]
) -> dict[str, dict[str, float]]:
    months: dict[str, dict[str, float]] = {}
    for day, index in station.days(start, end):
        months.setdefault(f"{day:%Y-%m}", {})[f"{day:%d}"] = readings[index] / 10
    return months


def _refuse(reason: str, *, status: int = 400) -> Response:
    return answer_json({"error": reason}, status=status)


def _station(records: Records, request: Request) -> Station | None:
    key = request.query.get("station", "")
    return next((station for station in records.stations if station.slug == key), None)


def _month_start(request: Request) -> date | None:
    """The first day of the month in the query, if the archive covers it."""
    month = read_date(f"{request.query.get('month', '').strip()}-01")
    return month if month is not None and FIRST_DAY <= month <= LAST_DAY else None
