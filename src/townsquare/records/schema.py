"""The types of the town's records.

Amounts are whole numbers in the smallest unit (tenths of a degree or millimetre, cents, dollars
for houses, minutes of the day), so that no total depends on how a machine adds floats.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta
from operator import attrgetter
from typing import Any, Literal, NamedTuple, TypeAlias

from assay.lazy import package_table

WORDS: Mapping[str, Any] = package_table(__package__, "words")
"""The lists of words that the town's names are made of."""

TOWN = "Brindle Quay"
TWIN_TOWN = "Brindle Key"
"""Another town, with a council of its own and a name that is easily mistaken for this one's."""

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
FIRST_DAY, LAST_DAY = date(2019, 1, 1), date(2024, 12, 31)

HomeKind: TypeAlias = Literal["house", "flat", "cottage", "townhouse"]
DayKind: TypeAlias = Literal["weekday", "weekend"]
Hours: TypeAlias = tuple[int, int] | None
"""Opening and closing time in minutes of the day; `None` is closed."""


class Station(NamedTuple):
    """A weather station and its daily readings, in tenths, since `FIRST_DAY`."""

    slug: str
    name: str
    precipitation: tuple[int, ...]
    high: tuple[int, ...]
    low: tuple[int, ...]
    preliminary: tuple[int, ...]
    """Daily maxima before quality control: what the outdated mirror still shows."""

    def days(self, start: date, end: date) -> Iterator[tuple[date, int]]:
        """Yield each day from `start` to `end`, both included, with its index in the readings."""
        first = (start - FIRST_DAY).days
        for offset in range((end - start).days + 1):
            yield start + timedelta(offset), first + offset

    def reading(self, index: int, highs: str = "high") -> tuple[int, int, int]:
        """Return precipitation, maximum (from the series `highs`) and minimum of a day."""
        return self.precipitation[index], getattr(self, highs)[index], self.low[index]


class Home(NamedTuple):
    """A property that was offered for sale, with its sale if there was one."""

    id: int
    number: int
    street: str
    kind: HomeKind
    bedrooms: int
    listed_price: int
    listed_on: date
    sold_price: int | None
    sold_on: date | None

    @property
    def address(self) -> str:
        return f"{self.number} {self.street}"


class Business(NamedTuple):
    """A business in the directory, with its hours and the outdated hours of the old directory."""

    slug: str
    name: str
    category: str
    address: str
    phone: str
    rating: int
    """In tenths of a star."""
    reviews: int
    hours: tuple[Hours, ...]
    old_hours: tuple[Hours, ...]


class Offer(NamedTuple):
    """One item in the price list of a shop."""

    item: str
    cents: int
    in_stock: bool


class Shop(NamedTuple):
    slug: str
    name: str
    street: str
    offers: tuple[Offer, ...]

    def offer(self, item: str) -> Offer | None:
        return next((offer for offer in self.offers if offer.item == item), None)


class Member(NamedTuple):
    """A present or former member of a staff."""

    name: str
    role: str
    department: str
    former: bool = False


class Museum(NamedTuple):
    staff: tuple[Member, ...]
    tickets: tuple[tuple[str, int, int], ...]
    """Kind of visitor, cents on a weekday, cents at the weekend."""


class Branch(NamedTuple):
    """A library and its opening hours, from Monday to Sunday."""

    slug: str
    name: str
    hours: tuple[Hours, ...]


class Committee(NamedTuple):
    slug: str
    name: str
    chair: str
    deputy: str
    members: tuple[str, ...]
    """Everyone who sits on it, chair and deputy chair included."""


class Motion(NamedTuple):
    title: str
    day: date
    """Of the meeting."""
    votes_for: int
    votes_against: int
    abstained: int

    @property
    def slug(self) -> str:
        return slug(self.title)

    @property
    def long_day(self) -> str:
        return long_date(self.day)


class Meeting(NamedTuple):
    day: date
    motions: tuple[Motion, ...]

    @property
    def long_day(self) -> str:
        return long_date(self.day)

    @property
    def titles(self) -> str:
        return "; ".join(motion.title for motion in self.motions)


class Council(NamedTuple):
    committees: tuple[Committee, ...]
    meetings: tuple[Meeting, ...]

    @property
    def motions(self) -> list[Motion]:
        return [motion for meeting in self.meetings for motion in meeting.motions]


class Line(NamedTuple):
    """A bus line: its stops, and its trips on weekdays and weekends, as minutes of the day."""

    number: str
    stops: tuple[str, ...]
    weekday: tuple[tuple[int, ...], ...]
    weekend: tuple[tuple[int, ...], ...]

    @property
    def last(self) -> str:
        return self.stops[-1]

    @property
    def all_stops(self) -> str:
        return ", ".join(self.stops)

    def trips(self, kind: DayKind) -> tuple[tuple[int, ...], ...]:
        return self.weekday if kind == "weekday" else self.weekend


class Tide(NamedTuple):
    """The two high waters of a day, in minutes of the day."""

    day: date
    first: int
    second: int


class Club(NamedTuple):
    """A club; the search engine lists clubs of high `popularity` first."""

    slug: str
    name: str
    hall: str
    weekday: str
    secretary: str
    fee: int
    founded: int
    popularity: int


class Records(NamedTuple):
    """All records of the town."""

    seed: int
    streets: tuple[str, ...]
    stations: tuple[Station, ...]
    homes: tuple[Home, ...]
    businesses: tuple[Business, ...]
    shops: tuple[Shop, ...]
    museum: Museum
    branches: tuple[Branch, ...]
    council: Council
    twin_council: Council
    lines: tuple[Line, ...]
    tides: tuple[Tide, ...]
    clubs: tuple[Club, ...]

    @property
    def items(self) -> Sequence[str]:
        """The items that the shops sell."""
        return tuple(WORDS["items"])

    @property
    def categories(self) -> Sequence[str]:
        """Of the business directory."""
        return tuple(WORDS["categories"])

    def things(self, path: str) -> Sequence[Any]:
        """Return the records of a name such as `council.meetings`."""
        things: Sequence[Any] = attrgetter(path)(self)
        return things


def slug(name: str) -> str:
    """Return a name as part of an address: lower case, with hyphens between words."""
    return "-".join(name.lower().split())


def category_title(category: str) -> str:
    return category.replace("-", " ").capitalize()


def clock(minutes: int) -> str:
    """Return minutes of the day as `HH:MM`."""
    return f"{minutes // 60:02d}:{minutes % 60:02d}"


def tenths(value: int) -> str:
    """Return a number of tenths as decimal text."""
    return f"{'-' if value < 0 else ''}{abs(value) // 10}.{abs(value) % 10}"


def dollars(cents: int) -> str:
    """Return cents as dollars with two decimals, without currency sign."""
    return f"{cents // 100}.{cents % 100:02d}"


def long_date(day: date) -> str:
    """Return a date as text such as `3 May 2022`."""
    return f"{day.day} {day:%B} {day.year}"
