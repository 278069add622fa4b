"""Generates all records of the town from a seed, with the same result on every machine."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from typing import get_args

from townsquare.records.schema import (
    FIRST_DAY,
    LAST_DAY,
    TOWN,
    TWIN_TOWN,
    WEEKDAYS,
    WORDS,
    Branch,
    Business,
    Club,
    Committee,
    Council,
    Home,
    HomeKind,
    Hours,
    Line,
    Meeting,
    Member,
    Motion,
    Museum,
    Offer,
    Records,
    Shop,
    Station,
    Tide,
    slug,
)

BUSINESSES_PER_CATEGORY = 12
TWINS_PER_CATEGORY = 3
CLUB_COUNT = 40
COUNCILLORS = 21
HOMES_PER_STREET = 17
LINE_COUNT = 6
SHOP_COUNT = 8
STATION_COUNT = 4
STREET_COUNT = 12
ROLES = {"Curator": 4, "Conservator": 3, "Guide": 5, "Archivist": 3, "Technician": 4}
DEPARTMENTS = ("Seafaring", "Textiles", "Natural History", "Fine Art", "Town History")
_HIGHS = (62, 70, 98, 132, 170, 201, 224, 221, 188, 142, 97, 70)
"""Usual daily maximum of each month, in tenths of a degree."""
_WET_PERCENT = (52, 48, 45, 40, 36, 32, 28, 31, 34, 47, 53, 55)
_LUNAR_DELAY = 50
"""Minutes by which the tide is later each day."""


def draw_records(seed: int) -> Records:
    """Return the records of the town for a seed.

    Each part has a generator of its own, so that a change to one leaves the others as they were.
    """
    streets = _draw_streets(seed)
    return Records(
        seed=seed,
        streets=streets,
        stations=_draw_stations(seed),
        homes=_draw_homes(seed, streets),
        businesses=_draw_businesses(seed, streets),
        shops=_draw_shops(seed),
        museum=_draw_museum(seed),
        branches=_draw_branches(seed),
        council=_draw_council(seed, TOWN, streets),
        twin_council=_draw_council(seed, TWIN_TOWN, streets),
        lines=_draw_lines(seed),
        tides=_draw_tides(seed),
        clubs=_draw_clubs(seed),
    )


def _draw_stations(seed: int) -> tuple[Station, ...]:
    """Generate four weather stations, with readings for every day of six years."""
    names = random.Random(f"{seed}/stations").sample(WORDS["stations"], STATION_COUNT)
    return tuple(_station(name, random.Random(f"{seed}/weather/{name}")) for name in names)


def _draw_tides(seed: int) -> tuple[Tide, ...]:
    """Generate the two high waters of every day of 2024."""
    rng = random.Random(f"{seed}/tides")
    water = rng.randrange(0, 700)
    tides: list[Tide] = []
    day = date(2024, 1, 1)
    while day.year == 2024:
        first = water % 720
        tides.append(Tide(day, first, first + rng.randint(705, 719)))
        water += _LUNAR_DELAY + rng.randint(-6, 6)
        day += timedelta(1)
    return tuple(tides)


def _station(name: str, rng: random.Random) -> Station:
    offset = rng.randint(-12, 12)
    rain: list[int] = []
    highs: list[int] = []
    lows: list[int] = []
    drift = 0
    for index in range((LAST_DAY - FIRST_DAY).days + 1):
        month = (FIRST_DAY + timedelta(index)).month - 1
        # A walk that is pulled back: warm and cold days come in spells.
        drift = drift * 7 // 10 + rng.randint(-28, 28)
        high = _HIGHS[month] + offset + drift
        highs.append(high)
        lows.append(high - rng.randint(40, 95))
        wet = rng.randrange(100) < _WET_PERCENT[month]
        rain.append(_rainfall(rng) if wet else 0)
    preliminary = tuple(high + rng.randint(9, 17) for high in highs)
    return Station(slug(name), name, tuple(rain), tuple(highs), tuple(lows), preliminary)


def _rainfall(rng: random.Random) -> int:
    """Generate the rain of a wet day in tenths of a millimetre: usually little, sometimes much."""
    return 1 + rng.randrange(60) * rng.randrange(1, 60) // 16


def _draw_streets(seed: int) -> tuple[str, ...]:
    """Generate the streets with homes for sale, in alphabetical order."""
    return tuple(sorted(random.Random(f"{seed}/streets").sample(WORDS["streets"], STREET_COUNT)))


def _draw_homes(seed: int, streets: Sequence[str]) -> tuple[Home, ...]:
    """Generate the homes offered from 2021 to 2024, ordered by date of listing."""
    rng = random.Random(f"{seed}/homes")
    drafts: list[Home] = []
    for street in streets:
        level = rng.randrange(300, 620)
        numbers = rng.sample(range(1, 120), HOMES_PER_STREET)
        drafts += [_home(rng, number, street, level) for number in numbers]
    drafts.sort(key=lambda home: (home.listed_on, home.address))
    ids = rng.sample(range(1000, 9999), len(drafts))
    return tuple(home._replace(id=number) for home, number in zip(drafts, ids, strict=True))


def _home(rng: random.Random, number: int, street: str, level: int) -> Home:
    listed_on = date(2021, 1, 1) + timedelta(rng.randrange(4 * 365 - 60))
    listed = (level + rng.randrange(-120, 180)) * 1000
    sold_on = listed_on + timedelta(rng.randrange(21, 160))
    # A sale differs from the asking price by 2 to 11 percent, so the two are never confused.
    change = rng.choice((-1, -1, 1)) * rng.randrange(20, 110)
    sold = listed * (1000 + change) // 1000 // 500 * 500
    unsold = rng.randrange(10) == 0 or sold_on > date(2024, 12, 31)
    kind, bedrooms = rng.choice(get_args(HomeKind)), rng.randint(1, 5)
    sale = (None, None) if unsold else (sold, sold_on)
    return Home(0, number, street, kind, bedrooms, listed, listed_on, *sale)


def _draw_businesses(seed: int, streets: Sequence[str]) -> tuple[Business, ...]:
    """Generate twelve businesses in each category; three have a name similar to another."""
    rng = random.Random(f"{seed}/businesses")
    phones = iter(rng.sample(range(1000, 9999), len(WORDS["categories"]) * BUSINESSES_PER_CATEGORY))
    businesses: list[Business] = []
    for category, (usual, other) in WORDS["categories"].items():
        stems = _stems(rng, BUSINESSES_PER_CATEGORY - TWINS_PER_CATEGORY)
        names = [f"{stem} {usual}" for stem in stems]
        names += [f"{stem} {other}" for stem in stems[:TWINS_PER_CATEGORY]]
        rng.shuffle(names)
        # All ratings of a category differ: "the best rated" is one business.
        ratings = rng.sample(range(31, 50), BUSINESSES_PER_CATEGORY)
        for name, rating in zip(names, ratings, strict=True):
            hours = _week(rng)
            address = f"{rng.randint(1, 140)} {rng.choice(streets)}"
            phone, reviews = f"555-{next(phones)}", rng.randint(8, 320)
            old_hours = tuple(_shift(day, rng) for day in hours)
            entry = (slug(name), name, category, address, phone, rating, reviews, hours, old_hours)
            businesses.append(Business(*entry))
    return tuple(businesses)


def _week(rng: random.Random) -> tuple[Hours, ...]:
    """Generate the opening hours of a week, with a shorter Saturday and perhaps a Sunday."""
    opens, closes = rng.randrange(420, 600, 15), rng.randrange(990, 1170, 15)
    working: list[Hours] = [(opens + rng.choice((0, 0, 15, 30)), closes) for _ in range(5)]
    if rng.randrange(3) == 0:
        working[rng.randrange(5)] = None
    sunday: Hours = (opens + 120, closes - 120) if rng.randrange(100) < 40 else None
    return (*working, (opens + 30, closes - 60), sunday)


def _shift(day: Hours, rng: random.Random) -> Hours:
    return None if day is None else (day[0] + rng.choice((-45, -30, 45)), day[1] - 30)


def _stems(rng: random.Random, count: int) -> list[str]:
    """Generate two-word names that do not share a word."""
    adjectives, things = rng.sample(WORDS["adjectives"], count), rng.sample(WORDS["things"], count)
    return [f"{adjective} {thing}" for adjective, thing in zip(adjectives, things, strict=True)]


def _draw_shops(seed: int) -> tuple[Shop, ...]:
    """Generate eight shops whose price lists overlap; all prices of an item differ."""
    rng = random.Random(f"{seed}/shops")
    stems = _stems(rng, SHOP_COUNT)
    kinds = rng.sample(WORDS["shop_kinds"], SHOP_COUNT)
    names = [f"{stem} {kind}" for stem, kind in zip(stems, kinds, strict=True)]
    lists: list[list[Offer]] = [[] for _ in names]
    for item in WORDS["items"]:
        base = rng.randrange(180, 1400)
        cents = [base + step for step in rng.sample(range(-60, 90), SHOP_COUNT)]
        sellers = sorted(rng.sample(range(SHOP_COUNT), rng.randint(4, 7)))
        cheapest = min(sellers, key=lambda seller: cents[seller])
        for seller in sellers:
            # The cheapest is often sold out: a price alone does not answer the question.
            scarce = 2 if seller == cheapest else 6
            lists[seller].append(Offer(item, cents[seller], rng.randrange(scarce) != 0))
    streets = rng.sample(WORDS["streets"], SHOP_COUNT)
    shops = zip(names, streets, lists, strict=True)
    return tuple(Shop(slug(name), name, street, tuple(offers)) for name, street, offers in shops)


def _draw_names(rng: random.Random) -> Iterator[str]:
    """Yield different names of people."""
    pairs = [f"{first} {last}" for first in WORDS["first_names"] for last in WORDS["last_names"]]
    rng.shuffle(pairs)
    yield from pairs


def _draw_museum(seed: int) -> Museum:
    """Generate the museum's staff, with two former members in each role, and its ticket prices."""
    rng = random.Random(f"{seed}/museum")
    names = _draw_names(rng)
    staff = [Member(next(names), "Director", "Management")]
    for role, count in ROLES.items():
        for place in range(count + 2):
            former = place >= count
            staff.append(Member(next(names), role, rng.choice(DEPARTMENTS), former))
    rng.shuffle(staff)
    adult = rng.randrange(900, 1600, 50)
    kinds = (("Adult", 0), ("Senior", 250), ("Student", 350), ("Child", 550))
    extra = rng.randrange(100, 300, 50)
    tickets = tuple((kind, adult - less, adult - less + extra) for kind, less in kinds)
    return Museum(tuple(staff), tickets)


def _draw_branches(seed: int) -> tuple[Branch, ...]:
    """Generate six libraries, all open on Saturday and Sunday."""
    rng = random.Random(f"{seed}/libraries")
    branches: list[Branch] = []
    for name in WORDS["branches"]:
        opens, closes = rng.randrange(480, 600, 15), rng.randrange(1020, 1200, 15)
        week: list[Hours] = [(opens, closes) for _ in range(5)]
        week[rng.randrange(5)] = None
        weekend = [(opens + rng.randrange(0, 90, 15), closes - rng.randrange(60, 240, 15))]
        weekend.append((opens + rng.randrange(90, 180, 15), closes - rng.randrange(120, 300, 15)))
        branches.append(Branch(slug(name), f"{name} Library", (*week, *weekend)))
    return tuple(branches)


def _draw_council(seed: int, town: str, streets: Sequence[str]) -> Council:
    """Generate eight committees of 21 councillors, and the votes of twelve monthly meetings."""
    rng = random.Random(f"{seed}/council/{town}")
    names = _draw_names(rng)
    councillors = [next(names) for _ in range(COUNCILLORS)]
    committees: list[Committee] = []
    for name in WORDS["committees"]:
        members = rng.sample(councillors, rng.randint(4, 6))
        by_last_name = tuple(sorted(members, key=lambda member: member.split()[-1]))
        committees.append(Committee(slug(name), name, members[0], members[1], by_last_name))
    titles = [f"{work} {street}" for work in WORDS["works"] for street in streets]
    agenda = iter(rng.sample(titles, 12 * 4))
    meetings: list[Meeting] = []
    for month in range(1, 13):
        day = date(2024, month, rng.randint(2, 27))
        meetings.append(Meeting(day, tuple(_vote(rng, next(agenda), day) for _ in range(4))))
    return Council(tuple(committees), tuple(meetings))


def _vote(rng: random.Random, title: str, day: date) -> Motion:
    present = rng.randint(15, COUNCILLORS)
    in_favour = rng.randint(5, present - 3)
    against = rng.randint(1, present - in_favour)
    return Motion(title, day, in_favour, against, present - in_favour - against)


def _draw_lines(seed: int) -> tuple[Line, ...]:
    """Generate six bus lines of six to eight stops, which all pass the town square."""
    rng = random.Random(f"{seed}/buses")
    lines: list[Line] = []
    for number in sorted(rng.sample(range(1, 40), LINE_COUNT)):
        stops = rng.sample(WORDS["stops"][1:], rng.randint(5, 7))
        stops.insert(rng.randrange(1, len(stops)), WORDS["stops"][0])
        legs = [rng.randint(3, 9) for _ in stops[1:]]
        weekday = _trips(rng, legs, every=rng.randrange(35, 56))
        weekend = _trips(rng, legs, every=rng.randrange(60, 91))
        lines.append(Line(str(number), tuple(stops), weekday, weekend))
    return tuple(lines)


def _trips(rng: random.Random, legs: Sequence[int], *, every: int) -> tuple[tuple[int, ...], ...]:
    """Generate the trips of a day, with random delays of a minute."""
    leaves = rng.randrange(330, 400)
    trips: list[tuple[int, ...]] = []
    while leaves < 1290:
        times = [leaves]
        for leg in legs:
            times.append(times[-1] + leg + rng.choice((0, 0, 1)))
        trips.append(tuple(times))
        leaves += every + rng.randint(-4, 4)
    return tuple(trips)


def _draw_clubs(seed: int) -> tuple[Club, ...]:
    """Generate forty clubs; no two clubs have the same hall on the same weekday."""
    rng = random.Random(f"{seed}/clubs")
    names = _draw_names(rng)
    evenings = rng.sample([(hall, day) for hall in WORDS["halls"] for day in WEEKDAYS], CLUB_COUNT)
    hobbies = rng.sample(WORDS["hobbies"], CLUB_COUNT)
    fees = rng.sample(range(12, 96), CLUB_COUNT)
    clubs: list[Club] = []
    for place, (hall, weekday) in enumerate(evenings):
        name, secretary, founded = f"{hobbies[place]} Club", next(names), rng.randint(1887, 2019)
        facts = (hall, weekday, secretary, fees[place], founded)
        clubs.append(Club(slug(name), name, *facts, popularity=CLUB_COUNT - place))
    return tuple(clubs)
