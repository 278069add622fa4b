"""Plans for questions about a town's museum, libraries, council, buses, harbour and clubs."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from townsquare.rules.plan import Plan, Row, Value, columns, kinds_of, short_rows
from townsquare.rules.terms import day_of, minutes_in, number_in, plain
from townsquare.rules.trade import parse_counts, total
from townsquare.rules.view import Page

_BUSES = ("buses", "timetable")
_COUNCIL = ("council",)
_MUSEUM = ("museum",)


def museum_staff(match: re.Match[str]) -> Plan:
    """Who has a role now; a table of those who had it is no help."""
    role, names = match["role"], ("Name", "Role")

    def read(page: Page) -> Sequence[Row] | None:
        present = [
            table
            for table in page.tables
            if table.has(*names) and not table.caption.lower().startswith("former")
        ]
        return short_rows(present[0], names) if present else None

    def conclude(rows: Sequence[Row]) -> Value | None:
        return [row["Name"] for row in rows if row["Role"] == role] or None

    return Plan("museum staff names and roles", ("Staff", *_MUSEUM), read, conclude)


def ticket_total(match: re.Match[str]) -> Plan:
    """What tickets for a party cost."""
    party = parse_counts(match["party"], " and ")
    day = "Weekend" if "weekend" in match[0] else "Weekday"

    def conclude(rows: Sequence[Row]) -> Value | None:
        return total(party, {row["Visitor"]: number_in(row[day]) for row in rows})

    return Plan(
        query="museum visit ticket prices",
        links=("ticket prices", *_MUSEUM),
        read=columns("Visitor", day),
        conclude=conclude,
    )


def library_hours(match: re.Match[str]) -> Plan:
    """When a library opens and closes on some days."""
    branch, days = match["branch"], re.findall(r"[A-Z][a-z]+day", match["days"])

    def conclude(rows: Sequence[Row]) -> Value | None:
        entries: list[dict[str, object]] = [
            {"day": row["Day"], "opens": row["Opens"], "closes": row["Closes"]}
            for row in rows
            if row["Day"] in days and minutes_in(row["Opens"]) is not None
        ]
        return entries or None

    return Plan(
        query=f"{branch} opening hours",
        links=(branch, "libraries"),
        read=columns("Day", "Opens", "Closes"),
        conclude=conclude,
    )


def _committee(match: re.Match[str], conclude: Callable[[Sequence[Row]], Value | None]) -> Plan:
    name = match["committee"]
    return Plan(
        query=f"{name} chair deputy chair members {match['council']}",
        links=(name, "Committees", *_COUNCIL),
        read=columns("Member", "Role"),
        conclude=conclude,
    )


def committee_members(match: re.Match[str]) -> Plan:
    """Everyone on a committee."""
    return _committee(match, lambda rows: [row["Member"] for row in rows] or None)


def committee_post(match: re.Match[str]) -> Plan:
    """Who holds a post in a committee."""
    post = match["post"].lower()

    def conclude(rows: Sequence[Row]) -> Value | None:
        return next((row["Member"] for row in rows if row["Role"].lower() == post), None)

    return _committee(match, conclude)


def motion_votes(match: re.Match[str]) -> Plan:
    """How many voted for a motion."""
    title = match["motion"]

    def read(page: Page) -> Sequence[Row] | None:
        rows = columns("Motion", "For")(page) or ()
        return [row for row in rows if row["Motion"] == title] or None

    def conclude(rows: Sequence[Row]) -> Value | None:
        votes = number_in(rows[0]["For"]) if rows else None
        return None if votes is None else plain(votes)

    return Plan("council minutes motion votes", ("minutes", *_COUNCIL), read, conclude)


def high_tide(match: re.Match[str]) -> Plan:
    """The time of the first or second high water on a day."""
    day = day_of(match["day"])
    column = f"{match['which'].capitalize()} high water"

    def conclude(rows: Sequence[Row]) -> Value | None:
        return next((row[column] for row in rows if day and row["Date"] == day.isoformat()), None)

    return Plan(
        query="tide tables high water harbour office",
        links=("harbour",),
        read=columns("Date", column),
        conclude=conclude,
        fields=(("Month", f"{day:%Y-%m}" if day else ""),),
    )


def _timetable(
    match: re.Match[str], stops: tuple[str, ...], conclude: Callable[..., Value | None]
) -> Plan:
    kind = "weekend" if "weekend" in match[0] else "weekday"
    read = columns(*stops)

    def read_kind(page: Page) -> Sequence[Row] | None:
        return read(page) if f"Line {match['line']}," in page.title else None

    day = "weekend|saturday" if kind == "weekend" else "weekday|monday"
    return Plan(
        query=f"line {match['line']} bus timetable",
        links=(f"Line {match['line']}", *_BUSES),
        read=read_kind,
        conclude=conclude,
        fields=(("Days", day),),
    )


def departures(match: re.Match[str]) -> Plan:
    """When buses call at a stop between two times."""
    stop, line = match["stop"], match["line"]
    start, end = minutes_in(match["start"]) or 0, minutes_in(match["end"]) or 0

    def conclude(rows: Sequence[Row]) -> Value | None:
        entries: list[dict[str, object]] = [
            {"line": line, "departs": row[stop]}
            for row in rows
            if (time := minutes_in(row[stop])) is not None and start <= time <= end
        ]
        return entries or None

    return _timetable(match, (stop,), conclude)


def journey_minutes(match: re.Match[str]) -> Plan:
    """How long the first bus after a time takes from one stop to another."""
    start, end = match["start"], match["end"]
    after = minutes_in(match["after"]) or 0

    def conclude(rows: Sequence[Row]) -> Value | None:
        for row in rows:
            leaves, arrives = minutes_in(row[start]), minutes_in(row[end])
            if leaves is not None and arrives is not None and leaves >= after:
                return str(arrives - leaves)
        return None

    return _timetable(match, (start, end), conclude)


def club_fact(match: re.Match[str]) -> Plan:
    """The fee or the secretary of the club that meets at a place on a day."""
    fact = match["fact"].lower()

    def conclude(rows: Sequence[Row]) -> Value | None:
        facts = {row["Entry"].lower(): row["Value"] for row in rows}
        value = facts.get(fact)
        fee = number_in(value) if value and fact.endswith("fee") else None
        return plain(fee) if fee is not None else value

    read = columns("Entry", "Value")

    def read_club(page: Page) -> Sequence[Row] | None:
        rows = read(page) or ()
        facts = {row["Entry"]: row["Value"] for row in rows}
        met = facts.get("Meets at", ""), facts.get("Meets on", "").removesuffix("s")
        return rows if met == (match["hall"], match["day"]) else None

    return Plan("club", (), read_club, conclude)


KINDS = kinds_of(
    "civic",
    museum_staff,
    ticket_total,
    library_hours,
    committee_members,
    committee_post,
    motion_votes,
    high_tide,
    departures,
    journey_minutes,
    club_fact,
)
"""The patterns of such questions, and what makes the plans for them."""
