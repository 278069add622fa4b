"""The museum, the libraries and the clubs."""

from __future__ import annotations

from townsquare.pages.markup import element, link, listing, paragraph, table
from townsquare.pages.request import Request, Response, not_found, page
from townsquare.records.schema import TOWN, WEEKDAYS, Member, Records, clock, dollars

MUSEUM_NAME = f"{TOWN} Museum"
LIBRARY_NAME = f"{TOWN} Libraries"
CLUBS_NAME = f"Clubs of {TOWN}"


def respond_museum(records: Records, request: Request) -> Response:
    match request.path:
        case "/":
            links = [
                link(request.url("tickets"), "Buy tickets online"),
                link("/visit", "Visit and ticket prices"),
                link("/staff", "Staff"),
            ]
            return page(MUSEUM_NAME, "Town museum", listing(links))
        case "/visit":
            rows = [
                (kind, f"${dollars(weekday)}", f"${dollars(weekend)}")
                for kind, weekday, weekend in records.museum.tickets
            ]
            prices = table("Ticket prices", ("Visitor", "Weekday", "Weekend"), rows)
            return page(MUSEUM_NAME, "Visit", prices)
        case "/staff":
            return page(MUSEUM_NAME, "Staff", *_staff(records.museum.staff))
    return not_found(MUSEUM_NAME)


def _staff(staff: tuple[Member, ...]) -> list[object]:
    """Two tables with the same columns: who works here, and who used to."""
    body: list[object] = []
    for title, former in (("Present staff", False), ("Former staff", True)):
        rows = [
            (member.name, member.role, member.department)
            for member in staff
            if member.former is former
        ]
        body += [element("h2", title), table(title, ("Name", "Role", "Department"), rows)]
    return body


def respond_library(records: Records, request: Request) -> Response:
    if request.path == "/":
        links = (link(f"/branch/{branch.slug}", branch.name) for branch in records.branches)
        return page(LIBRARY_NAME, "Branches", listing(links))
    branch = request.find("/branch/", records.branches)
    if branch is None:
        return not_found(LIBRARY_NAME)
    rows = [
        (day, *(("closed", "closed") if spell is None else map(clock, spell)))
        for day, spell in zip(WEEKDAYS, branch.hours, strict=True)
    ]
    hours = table("Opening hours", ("Day", "Opens", "Closes"), rows)
    return page(LIBRARY_NAME, branch.name, hours)


def respond_clubs(records: Records, request: Request) -> Response:
    if request.path == "/":
        notice = paragraph(
            "Every club keeps its own page. There is no list: use the ",
            link(request.url("search"), "search engine"),
            ".",
        )
        return page(CLUBS_NAME, "Clubs", notice)
    club = request.find("/club/", records.clubs)
    if club is None:
        return not_found(CLUBS_NAME)
    rows = (
        ("Meets on", f"{club.weekday}s"),
        ("Meets at", club.hall),
        ("Secretary", club.secretary),
        ("Annual fee", f"${club.fee}"),
        ("Founded", club.founded),
    )
    return page(CLUBS_NAME, club.name, table(club.name, ("Entry", "Value"), rows))
