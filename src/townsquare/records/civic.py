"""The council, the museum, the libraries, the buses and the clubs of the town."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from datetime import date

from townsquare.records.schema import (
    WEEKDAYS,
    Branch,
    Club,
    Committee,
    Council,
    Hours,
    Line,
    Meeting,
    Member,
    Motion,
    Museum,
    slug,
)
from townsquare.records.words import (
    BRANCHES,
    COMMITTEES,
    FIRST_NAMES,
    HALLS,
    HOBBIES,
    LAST_NAMES,
    STOPS,
    WORKS,
)

COUNCILLORS = 21
CLUB_COUNT = 40
LINE_COUNT = 6
ROLES = {"Curator": 4, "Conservator": 3, "Guide": 5, "Archivist": 3, "Technician": 4}
DEPARTMENTS = ("Seafaring", "Textiles", "Natural History", "Fine Art", "Town History")


def draw_names(rng: random.Random) -> Iterator[str]:
    """Names of people, no two alike."""
    pairs = [f"{first} {last}" for first in FIRST_NAMES for last in LAST_NAMES]
    rng.shuffle(pairs)
    yield from pairs


def draw_museum(seed: int) -> Museum:
    """A staff with a director and five kinds of colleagues, two of each kind gone by now."""
    rng = random.Random(f"{seed}/museum")
    names = draw_names(rng)
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


def draw_branches(seed: int) -> tuple[Branch, ...]:
    """Six libraries, all open on both days of the weekend."""
    rng = random.Random(f"{seed}/libraries")
    branches: list[Branch] = []
    for name in BRANCHES:
        opens, closes = rng.randrange(480, 600, 15), rng.randrange(1020, 1200, 15)
        week: list[Hours] = [(opens, closes) for _ in range(5)]
        week[rng.randrange(5)] = None
        weekend = [(opens + rng.randrange(0, 90, 15), closes - rng.randrange(60, 240, 15))]
        weekend.append((opens + rng.randrange(90, 180, 15), closes - rng.randrange(120, 300, 15)))
        branches.append(Branch(slug(name), f"{name} Library", (*week, *weekend)))
    return tuple(branches)


def draw_council(seed: int, town: str, streets: Sequence[str]) -> Council:
    """Eight committees out of 21 councillors, and the votes of twelve monthly meetings."""
    rng = random.Random(f"{seed}/council/{town}")
    names = draw_names(rng)
    councillors = [next(names) for _ in range(COUNCILLORS)]
    committees: list[Committee] = []
    for name in COMMITTEES:
        members = rng.sample(councillors, rng.randint(4, 6))
        by_last_name = tuple(sorted(members, key=lambda member: member.split()[-1]))
        committees.append(Committee(slug(name), name, members[0], members[1], by_last_name))
    titles = [f"{work} {street}" for work in WORKS for street in streets]
    agenda = iter(rng.sample(titles, 12 * 4))
    meetings = tuple(
        Meeting(
            date(2024, month, rng.randint(2, 27)), tuple(_vote(rng, next(agenda)) for _ in "1234")
        )
        for month in range(1, 13)
    )
    return Council(tuple(committees), meetings)


def _vote(rng: random.Random, title: str) -> Motion:
    present = rng.randint(15, COUNCILLORS)
    in_favour = rng.randint(5, present - 3)
    against = rng.randint(1, present - in_favour)
    return Motion(title, in_favour, against, present - in_favour - against)


def draw_lines(seed: int) -> tuple[Line, ...]:
    """Six bus lines of six to eight stops, all through the town square."""
    rng = random.Random(f"{seed}/buses")
    lines: list[Line] = []
    for number in sorted(rng.sample(range(1, 40), LINE_COUNT)):
        stops = rng.sample(STOPS[1:], rng.randint(5, 7))
        stops.insert(rng.randrange(1, len(stops)), STOPS[0])
        legs = [rng.randint(3, 9) for _ in stops[1:]]
        lines.append(
            Line(
                str(number),
                tuple(stops),
                _trips(rng, legs, every=rng.randrange(35, 56)),
                _trips(rng, legs, every=rng.randrange(60, 91)),
            )
        )
    return tuple(lines)


def _trips(rng: random.Random, legs: Sequence[int], *, every: int) -> tuple[tuple[int, ...], ...]:
    """Trips over the day; each loses or gains a minute on the way, as buses do."""
    leaves = rng.randrange(330, 400)
    trips: list[tuple[int, ...]] = []
    while leaves < 1290:
        times = [leaves]
        for leg in legs:
            times.append(times[-1] + leg + rng.choice((0, 0, 1)))
        trips.append(tuple(times))
        leaves += every + rng.randint(-4, 4)
    return tuple(trips)


def draw_clubs(seed: int) -> tuple[Club, ...]:
    """Forty clubs; a hall and a weekday belong to one club only."""
    rng = random.Random(f"{seed}/clubs")
    names = draw_names(rng)
    evenings = rng.sample([(hall, day) for hall in HALLS for day in WEEKDAYS], CLUB_COUNT)
    hobbies = rng.sample(HOBBIES, CLUB_COUNT)
    fees = rng.sample(range(12, 96), CLUB_COUNT)
    return tuple(
        Club(
            slug=slug(f"{hobby} Club"),
            name=f"{hobby} Club",
            hall=hall,
            weekday=weekday,
            secretary=next(names),
            fee=fee,
            founded=rng.randint(1887, 2019),
            popularity=CLUB_COUNT - place,
        )
        for place, (hobby, (hall, weekday), fee) in enumerate(
            zip(hobbies, evenings, fees, strict=True)
        )
    )
