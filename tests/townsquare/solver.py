"""Answers the town's questions from its pages alone: a reader of goals, knowing no records."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from datetime import datetime

from tests.townsquare.reader import Page, Reader, Table

Solution = Callable[[Reader, "re.Match[str]"], str]


def solve(reader: Reader, goal: str) -> str:
    """The answer in the form that the goal asks for."""
    for pattern, solution in SOLUTIONS:
        match = re.match(pattern, goal)
        if match:
            return solution(reader, match)
    raise AssertionError(f"no solution for: {goal}")


def slug(name: str) -> str:
    return "-".join(name.lower().split())


def iso(day: str) -> str:
    return datetime.strptime(day, "%d %B %Y").date().isoformat()  # noqa: DTZ007 - a day


def money(text: str) -> float:
    return float(text.strip("$").replace(",", ""))


def lines(objects: list[dict[str, object]]) -> str:
    return "\n".join(json.dumps(entry) for entry in objects)


def all_pages(reader: Reader, site: str, path: str, **query: str) -> Iterator[Page]:
    """A list of results, page after page."""
    number = 1
    while True:
        page = reader.page(site, path, **query, page=str(number))
        yield page
        if page.link("Next page") is None:
            return
        number += 1


def rows(reader: Reader, site: str, path: str, **query: str) -> list[dict[str, str]]:
    pages = all_pages(reader, site, path, **query)
    return [row for page in pages for table in page.tables for row in table.records()]


def rain(reader: Reader, station: str, start: str, end: str) -> list[float]:
    answer = reader.json(
        "weather",
        "/api/archive",
        station=slug(station),
        start=start,
        end=end,
        fields="precipitation",
    )
    assert len(json.dumps(answer, separators=(",", ":"))) < 6000
    months = answer["daily"]["precipitation_mm"].values()
    return [value for month in months for value in month.values()]


def rain_share(reader: Reader, match: re.Match[str]) -> str:
    first, last, month, station, limit = match.groups()
    number = datetime.strptime(month, "%B").month  # noqa: DTZ007 - a month's name
    values = [
        value
        for year in range(2020, 2024)
        for value in rain(
            reader,
            station,
            f"{year}-{number:02d}-{int(first):02d}",
            f"{year}-{number:02d}-{int(last):02d}",
        )
    ]
    return f"{100 * sum(value >= float(limit) for value in values) / len(values):.1f}"


def wet_years(reader: Reader, first: str, last: str, station: str) -> dict[int, int]:
    return {
        year: sum(v >= 10 for v in rain(reader, station, f"{year}-01-01", f"{year}-12-31"))
        for year in range(int(first), int(last) + 1)
    }


def wet_days(reader: Reader, match: re.Match[str]) -> str:
    return str(sum(wet_years(reader, *match.groups()).values()))


def wet_days_by_year(reader: Reader, match: re.Match[str]) -> str:
    years = wet_years(reader, *match.groups())
    return lines([{"year": year, "wet_days": count} for year, count in years.items()])


def month_high(reader: Reader, match: re.Match[str]) -> str:
    month = datetime.strptime(match[2], "%B %Y").strftime("%Y-%m")  # noqa: DTZ007 - a month
    table = reader.page("weather", "/month", station=slug(match[1]), month=month).table()
    return max(table.column("Maximum (C)"), key=float)


def warmest_station(reader: Reader, match: re.Match[str]) -> str:
    table = reader.page("weather", "/day", date=iso(match[1])).table()
    return max(table.records(), key=lambda row: float(row["Maximum (C)"]))["Station"]


def sold(reader: Reader, start: str, end: str, street: str = "") -> list[dict[str, str]]:
    query = {"view": "sold", "street": slug(street), "from": start, "to": end}
    return rows(reader, "register", "/sales", **query)


def highest_sold(reader: Reader, match: re.Match[str]) -> str:
    found = sold(reader, iso(match[2]), iso(match[3]), match[1])
    return str(int(max(money(row["Sold price"]) for row in found)))


def sold_addresses(reader: Reader, match: re.Match[str]) -> str:
    found = sold(reader, f"{match[2]}-01-01", f"{match[2]}-12-31", match[1])
    return json.dumps([row["Address"] for row in found])


def price_gap(reader: Reader, match: re.Match[str]) -> str:
    street = match[1].partition(" ")[2]
    for page in all_pages(reader, "register", "/sales", street=slug(street)):
        link = page.link(match[1])
        if link is not None:
            facts = dict(reader.page("register", link.href).table().rows)
            return str(int(abs(money(facts["Sold price"]) - money(facts["Listed price"]))))
    raise AssertionError(match[1])


def sales_above(reader: Reader, match: re.Match[str]) -> str:
    found = sold(reader, iso(match[2]), iso(match[3]))
    return str(sum(money(row["Sold price"]) > float(match[1]) for row in found))


def best_rated(reader: Reader, match: re.Match[str]) -> str:
    found = rows(reader, "directory", f"/category/{slug(match[1])}")
    able = [row for row in found if int(row["Reviews"]) >= int(match[2])]
    return max(able, key=lambda row: float(row["Rating"]))["Name"]


def open_sundays(reader: Reader, match: re.Match[str]) -> str:
    found = rows(reader, "directory", f"/category/{slug(match[1])}")
    return json.dumps(
        [
            row["Name"]
            for row in found
            if row["Sunday hours"] != "closed" and float(row["Rating"]) >= float(match[2])
        ]
    )


def opening_time(reader: Reader, match: re.Match[str]) -> str:
    hours = reader.page("directory", f"/business/{slug(match[1])}").table("Opening hours")
    return dict(hours.rows)[match[2]].partition("-")[0]


def sellers(reader: Reader, item: str) -> list[dict[str, str]]:
    return reader.page("shops", "/find", item=slug(item)).table().records()


def cheapest_shop(reader: Reader, match: re.Match[str]) -> str:
    stocked = [row for row in sellers(reader, match[1]) if row["In stock"] == "yes"]
    return min(stocked, key=lambda row: money(row["Price"]))["Shop"]


def basket_total(reader: Reader, match: re.Match[str]) -> str:
    records = reader.page("shops", f"/shop/{slug(match[1])}").table().records()
    prices = {row["Item"]: money(row["Price"]) for row in records}
    basket = [part.split(" x ") for part in match[2].split(", ")]
    return f"{sum(int(count) * prices[item] for count, item in basket):.2f}"


def prices_by_shop(reader: Reader, match: re.Match[str]) -> str:
    found = sellers(reader, match[1])
    return lines([{"shop": row["Shop"], "price": money(row["Price"])} for row in found])


def museum_staff(reader: Reader, match: re.Match[str]) -> str:
    staff = reader.page("museum", "/staff").table("Present staff").records()
    return json.dumps([row["Name"] for row in staff if row["Role"] == match[1]])


def ticket_total(reader: Reader, match: re.Match[str]) -> str:
    records = reader.page("museum", "/visit").table().records()
    column = "Weekend" if "weekend" in match[1] else "Weekday"
    prices = {row["Visitor"]: money(row[column]) for row in records}
    party = [part.split(" x ") for part in match[2].split(" and ")]
    return f"{sum(int(count) * prices[kind] for count, kind in party):.2f}"


def library_hours(reader: Reader, match: re.Match[str]) -> str:
    branch = reader.page("library").link(match[1])
    assert branch
    week = reader.page("library", branch.href).table().rows
    days = [row for row in week if row[0] in ("Saturday", "Sunday")]
    return lines([{"day": day, "opens": opens, "closes": closes} for day, opens, closes in days])


def committee(reader: Reader, name: str) -> Table:
    return reader.page("council", f"/committee/{slug(name)}").table()


def committee_members(reader: Reader, match: re.Match[str]) -> str:
    return json.dumps(committee(reader, match[1]).column("Member"))


def deputy_chair(reader: Reader, match: re.Match[str]) -> str:
    seats = committee(reader, match[1]).rows
    return next(member for member, role in seats if role == "Deputy chair")


def motion_votes(reader: Reader, match: re.Match[str]) -> str:
    minutes = reader.page("council", "/minutes")
    meeting = next(link for link in minutes.links if match[1] in link.after)
    votes = reader.page("council", meeting.href).table().records()
    return next(row["For"] for row in votes if row["Motion"] == match[1])


def high_tide(reader: Reader, match: re.Match[str]) -> str:
    day = iso(match[2])
    tides = reader.page("harbour", "/tides", month=day[:7]).table().records()
    return next(row[f"{match[1].title()} high water"] for row in tides if row["Date"] == day)


def trips(reader: Reader, line: str, day: str) -> Table:
    kind = "weekend" if "weekend" in day else "weekday"
    return reader.page("transit", f"/line/{line}", day=kind).table()


def departures(reader: Reader, match: re.Match[str]) -> str:
    line, stop, start, end = match.groups()
    times = trips(reader, line, "weekday").column(stop)
    return lines([{"line": line, "departs": time} for time in times if start <= time <= end])


def journey_minutes(reader: Reader, match: re.Match[str]) -> str:
    line, stop, after, day, goal = match.groups()
    trip = next(row for row in trips(reader, line, day).records() if row[stop] >= after)
    (h1, m1), (h2, m2) = (map(int, trip[name].split(":")) for name in (stop, goal))
    return str((h2 - h1) * 60 + m2 - m1)


def club(reader: Reader, hall: str, weekday: str) -> dict[str, str]:
    """The club found as a person would: search, read every snippet, open the page."""
    results = reader.page("search", q=f"club that meets at {hall} on {weekday}s")
    found = next(
        link for link in results.links if f"It meets at {hall} on {weekday}s" in link.after
    )
    return dict(reader.open(found.href).table().rows)


def club_fee(reader: Reader, match: re.Match[str]) -> str:
    return club(reader, match[1], match[2])["Annual fee"].strip("$")


def club_secretary(reader: Reader, match: re.Match[str]) -> str:
    return club(reader, match[1], match[2])["Secretary"]


SOLUTIONS: tuple[tuple[str, Solution], ...] = (
    (
        r"Consider the days from (\d+) to (\d+) (\w+), .* did the (.+) weather .* least (.+) mm",
        rain_share,
    ),
    (r"On how many days in the years (\d+) to (\d+), .* did the (.+) weather station", wet_days),
    (
        r"For each of the years (\d+) to (\d+), .* did the (.+) weather station",
        wet_days_by_year,
    ),
    (r"According to the official .* that the (.+) weather .* in (\w+ \d{4})\?", month_high),
    (r"Which weather station .* on (.+)\? Answer", warmest_station),
    (r"What is the highest price .* on (.+) in Br.* between (.+) and (.+), both", highest_sold),
    (r"Which properties on (.+) in Br.* sold in (\d+),", sold_addresses),
    (r"By how many dollars did the price paid for (.+) in Br", price_gap),
    (r"How many properties .* more than (\d+) dollars between (.+) and (.+), both", sales_above),
    (r"Which business in the category (.+) of the .* at least (\d+) reviews", best_rated),
    (r"Which businesses in the category (.+) of the .* at least ([\d.]+)\?", open_sundays),
    (r"According to its current entry, .* does (.+) in Br.* on (\w+)s\?", opening_time),
    (r"Which shop .* that has (.+) in stock sells", cheapest_shop),
    (r"What do these cost together at (.+) in Br.*: (.+)\? Answer", basket_total),
    (r"What does (.+) cost in each shop", prices_by_shop),
    (r"Who works at .* as a (\w+) at present", museum_staff),
    (r"What do museum tickets .* Museum (.+): (.+)\? Answer", ticket_total),
    (r"When does the (.+) in Br.* open and close", library_hours),
    (r"Who sits on the (.+) Committee", committee_members),
    (r"Who is the deputy chair of the (.+) Committee", deputy_chair),
    (r"How many councillors .* motion '(.+)' in 2024", motion_votes),
    (r"At what time was the (\w+) high water .* on (.+)\? Answer", high_tide),
    (r"When do buses of line (\d+) .* call at (.+) between (\S+) and (\S+), both", departures),
    (
        r"Take .* of line (\d+) .* leaves (.+) at or after (\S+) (.+)\. How .* to (.+)\? Answer",
        journey_minutes,
    ),
    (r"What is the annual fee .* meets at (.+) on (\w+)s\?", club_fee),
    (r"Who is the secretary .* meets at (.+) on (\w+)s\?", club_secretary),
)
