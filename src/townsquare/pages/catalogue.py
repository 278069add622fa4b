"""What the search engine has indexed.

Look-alikes and obstacles are the popular pages: a search for the obvious words finds them first.
"""

from __future__ import annotations

from collections.abc import Iterator

from townsquare.pages import council as council_site
from townsquare.pages import culture, directory, homes, obstacles, shops, travel, weather
from townsquare.pages.search import Document
from townsquare.records.schema import TOWN, TWIN_TOWN, Council, Records, long_date, slug
from townsquare.records.trade import CATEGORIES
from townsquare.records.words import ITEMS

OBSTACLE, LOOKALIKE, GENERAL, OFFICIAL, UNKNOWN = 95, 85, 60, 50, 40


def list_documents(records: Records) -> Iterator[Document]:
    """Every page that can be found by searching."""
    yield from _weather(records)
    yield from _homes(records)
    yield from _businesses(records)
    yield from _shops(records)
    yield from _culture(records)
    yield from _committees(records.council, "council", TOWN, OFFICIAL)
    yield from _committees(records.twin_council, "brindlekey", TWIN_TOWN, LOOKALIKE)
    yield from _motions(records.council)
    yield from _travel(records)
    yield from _clubs(records)


def _weather(records: Records) -> Iterator[Document]:
    yield Document(
        f"Weather archive: daily precipitation and temperature - {weather.NAME}",
        "weather",
        "/",
        "Official daily readings of all stations since 2019 after quality control: precipitation, "
        "maximum and minimum temperature, by month, by day, or through the JSON API.",
        GENERAL,
    )
    yield Document(
        f"Weather archive JSON API - {weather.NAME}",
        "weather",
        "/api",
        "How programs read the daily precipitation and temperature of a station, from a start to "
        "an end day, with an example address that works.",
        OFFICIAL,
    )
    for station in records.stations:
        yield Document(
            f"{station.name} weather station: rain and maximum temperature - {weather.MIRROR_NAME}",
            "weather-mirror",
            "/",
            f"Tables of daily weather at {station.name}: precipitation, maximum and minimum "
            "temperature of every month. Fast, free, and always available.",
            LOOKALIKE,
        )


def _homes(records: Records) -> Iterator[Document]:
    for street in records.streets:
        yield Document(
            f"{street}: homes, prices and highest price - {homes.AGENT_NAME}",
            "quickhomes",
            f"/street/{slug(street)}",
            f"All homes on {street} with address, type and price, on one page without filters. "
            "Quick Homes knows what your neighbours ask.",
            LOOKALIKE,
        )
        yield Document(
            f"Sales on {street} - {homes.NAME}",
            "register",
            f"/sales?street={slug(street)}",
            f"Entries of the official register for {street}: listed and sold prices with the dates "
            "of listing and sale. Filter by date, or switch between the two views.",
            OFFICIAL,
        )


def _businesses(records: Records) -> Iterator[Document]:
    for category in CATEGORIES:
        title = category.replace("-", " ").capitalize()
        yield Document(
            f"{title} - {directory.NAME}",
            "directory",
            f"/category/{category}",
            f"{title} of {TOWN} with address, rating, number of reviews and Sunday hours.",
            GENERAL,
        )
    for business in records.businesses:
        yield Document(
            f"{business.name}: opening hours, phone and rating - {directory.OLD_NAME}",
            "directory-classic",
            f"/business/{business.slug}",
            f"{business.name}, {business.address}. Opening hours from Monday to Sunday, telephone "
            "number and rating in the classic directory that everybody knows.",
            LOOKALIKE,
        )
        yield Document(
            f"{business.name} - {directory.NAME}",
            "directory",
            f"/business/{business.slug}",
            f"{business.name}, {business.address}: the current entry of the business directory, "
            "kept by the owner, with opening hours, telephone number and rating.",
            OFFICIAL,
        )


def _shops(records: Records) -> Iterator[Document]:
    for shop in records.shops:
        yield Document(
            f"Price list of {shop.name} - {shops.NAME}",
            "shops",
            f"/shop/{shop.slug}",
            f"All that {shop.name} in {shop.street} sells, with prices and what is in stock.",
            OFFICIAL,
        )
    for item in ITEMS:
        yield Document(
            f"{item}: cheapest price in every shop - {obstacles.BLOCKED_NAME}",
            "dealfinder",
            f"/compare/{slug(item)}",
            f"We compare the price of {item} in every shop of {TOWN} and show you the cheapest, "
            "updated every hour, with stock levels and delivery times.",
            OBSTACLE,
        )
        yield Document(
            f"Who sells {item} - {shops.NAME}",
            "shops",
            f"/find?item={slug(item)}",
            f"The shops of {TOWN} that list {item}, each with its price and whether it is in stock "
            "today.",
            OFFICIAL,
        )


def _culture(records: Records) -> Iterator[Document]:
    yield Document(
        f"Museum tickets and prices for all visitors - {obstacles.CAPTCHA_NAME}",
        "tickets",
        "/museum",
        "Buy tickets for the museum online: prices for adults, seniors, students and children, on "
        "weekdays and at the weekend. No queue, instant delivery.",
        OBSTACLE,
    )
    yield Document(
        f"Visit: ticket prices - {culture.MUSEUM_NAME}",
        "museum",
        "/visit",
        "What a visit to the museum costs on weekdays and at the weekend.",
        OFFICIAL,
    )
    yield Document(
        f"Staff: names and roles - {culture.MUSEUM_NAME}",
        "museum",
        "/staff",
        "Everyone who works at the museum, with role and department.",
        OFFICIAL,
    )
    for branch in records.branches:
        yield Document(
            f"{branch.name}: opening hours - {culture.LIBRARY_NAME}",
            "library",
            f"/branch/{branch.slug}",
            f"When the {branch.name} is open, from Monday to Sunday.",
            OFFICIAL,
        )


def _committees(council: Council, site: str, town: str, popularity: int) -> Iterator[Document]:
    for committee in council.committees:
        yield Document(
            f"{committee.name} Committee: chair, deputy chair and members - "
            f"{council_site.council_name(town)}",
            site,
            f"/committee/{committee.slug}",
            f"Who sits on the {committee.name} Committee of {town}: the chair, the deputy chair "
            "and the other members.",
            popularity,
        )


def _motions(council: Council) -> Iterator[Document]:
    yield Document(
        f"Minutes: how the council voted on each motion - {council_site.council_name(TOWN)}",
        "council",
        "/minutes",
        "The minutes of every meeting of 2024 with its motions, and how many councillors voted for "
        "and against them.",
        GENERAL,
    )
    for meeting in council.meetings:
        titles = "; ".join(motion.title for motion in meeting.motions)
        yield Document(
            f"Council minutes of {long_date(meeting.day)} - {council_site.council_name(TOWN)}",
            "council",
            f"/minutes/{meeting.day}",
            f"Votes for and against each motion of the meeting: {titles}.",
            OFFICIAL,
        )
        for motion in meeting.motions:
            # Found first by its own name, and behind the minutes by any other.
            yield Document(
                f"How the council voted on the motion {motion.title} - {obstacles.LOGIN_NAME}",
                "gazette",
                f"/article/{slug(motion.title)}",
                f"The debate, the votes and what comes next: our report on {motion.title} from the "
                f"meeting of {long_date(meeting.day)}.",
                UNKNOWN,
            )


def _travel(records: Records) -> Iterator[Document]:
    for line in records.lines:
        yield Document(
            f"Line {line.number} bus timetable: {line.stops[0]} to {line.stops[-1]} - "
            f"{travel.TRANSIT_NAME}",
            "transit",
            f"/line/{line.number}",
            f"All departures of line {line.number}: {', '.join(line.stops)}.",
            OFFICIAL,
        )
    yield Document(
        f"Live high tide and high water times at the harbour - {obstacles.HANGING_NAME}",
        "tides",
        "/",
        "High water at the harbour, to the minute, for today and every day of the year.",
        OBSTACLE,
    )
    yield Document(
        f"Tide tables: high water at the harbour - {travel.HARBOUR_NAME}",
        "harbour",
        "/",
        "The printed tables of the harbour office: first and second high water of every day.",
        OFFICIAL,
    )


def _clubs(records: Records) -> Iterator[Document]:
    for club in records.clubs:
        yield Document(
            f"{club.name} - {culture.CLUBS_NAME}",
            "clubs",
            f"/club/{club.slug}",
            f"Founded in {club.founded}, the {club.name} has members of every age, and beginners "
            "are as welcome as old hands. Tools and materials can be borrowed for the first three "
            f"evenings. It meets at {club.hall} on {club.weekday}s. The page of the club names the "
            "secretary and the annual fee.",
            club.popularity,
        )
