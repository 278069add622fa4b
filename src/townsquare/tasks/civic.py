"""Questions for the museum, the libraries, the council, the buses, the harbour and the clubs."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import date
from typing import get_args

from townsquare.records.draw import ROLES
from townsquare.records.schema import (
    WEEKDAYS,
    Club,
    DayKind,
    Records,
    clock,
    dollars,
    long_date,
)
from townsquare.tasks.template import MAX_DRAWS, Question, json_lines, templates_of

RANKS = range(19, 31)
"""Places in the search engine's list of clubs that only a reader of the whole list reaches."""


def _museum_staff(records: Records, rng: random.Random) -> Iterator[Question]:
    for role in rng.sample(sorted(ROLES), len(ROLES)):
        names = [
            member.name
            for member in records.museum.staff
            if member.role == role and not member.former
        ]
        yield Question("\n".join(names), role=role)


def _ticket_total(records: Records, rng: random.Random) -> Iterator[Question]:
    for _ in range(MAX_DRAWS):
        weekend = rng.random() < 0.5
        groups = [(rng.randint(2, 5), ticket) for ticket in rng.sample(records.museum.tickets, 2)]
        people = " and ".join(f"{count} x {ticket[0]}" for count, ticket in groups)
        total = sum(count * (ticket[2] if weekend else ticket[1]) for count, ticket in groups)
        yield Question(
            dollars(total), days="at the weekend" if weekend else "on a weekday", people=people
        )


def _library_hours(records: Records, rng: random.Random) -> Iterator[Question]:
    for branch in rng.sample(records.branches, len(records.branches)):
        weekend = zip(WEEKDAYS[5:], branch.hours[5:], strict=True)
        yield Question(
            json_lines(
                {"day": day, "opens": clock(spell[0]), "closes": clock(spell[1])}
                for day, spell in weekend
                if spell is not None
            ),
            branch=branch,
        )


def _committee_members(records: Records, rng: random.Random) -> Iterator[Question]:
    committees = records.council.committees
    for committee in rng.sample(committees, len(committees)):
        yield Question("\n".join(committee.members), committee=committee)


def _deputy_chair(records: Records, rng: random.Random) -> Iterator[Question]:
    pairs = list(zip(records.council.committees, records.twin_council.committees, strict=True))
    for committee, twin in rng.sample(pairs, len(pairs)):
        if committee.deputy != twin.deputy:
            yield Question(committee.deputy, committee=committee)


def _motion_votes(records: Records, rng: random.Random) -> Iterator[Question]:
    motions = [motion for meeting in records.council.meetings for motion in meeting.motions]
    for motion in rng.sample(motions, len(motions)):
        yield Question(str(motion.votes_for), motion=motion)


def _high_tide(records: Records, rng: random.Random) -> Iterator[Question]:
    for _ in range(MAX_DRAWS):
        day = date(2024, rng.randint(1, 12), rng.randint(1, 28))
        tide = next(tide for tide in records.tides if tide.day == day)
        which = rng.choice(("first", "second"))
        yield Question(
            clock(tide.first if which == "first" else tide.second), which=which, day=long_date(day)
        )


def _departures(records: Records, rng: random.Random) -> Iterator[Question]:
    for _ in range(MAX_DRAWS):
        line = rng.choice(records.lines)
        place = rng.randrange(len(line.stops) - 1)
        start = rng.randrange(7, 19) * 60
        times = [trip[place] for trip in line.weekday if start <= trip[place] <= start + 120]
        if 2 <= len(times) <= 4:
            yield Question(
                json_lines({"line": line.number, "departs": clock(time)} for time in times),
                line=line,
                stop=line.stops[place],
                start=clock(start),
                until=clock(start + 120),
            )


def _journey_minutes(records: Records, rng: random.Random) -> Iterator[Question]:
    for _ in range(MAX_DRAWS):
        line = rng.choice(records.lines)
        start, end = sorted(rng.sample(range(len(line.stops)), 2))
        kind: DayKind = rng.choice(get_args(DayKind))
        after = rng.randrange(7, 19) * 60
        trip = next(trip for trip in line.trips(kind) if trip[start] >= after)
        day = "on a weekday" if kind == "weekday" else "at the weekend"
        yield Question(
            str(trip[end] - trip[start]),
            line=line,
            from_stop=line.stops[start],
            after=clock(after),
            day=day,
            to_stop=line.stops[end],
        )


def _club_fee(records: Records, rng: random.Random) -> Iterator[Question]:
    for club in _unpopular(records, rng):
        yield Question(str(club.fee), club=club)


def _club_secretary(records: Records, rng: random.Random) -> Iterator[Question]:
    for club in _unpopular(records, rng):
        yield Question(club.secretary, club=club)


def _unpopular(records: Records, rng: random.Random) -> list[Club]:
    """Clubs that the search engine lists far down, in random order."""
    ranked = sorted(records.clubs, key=lambda club: -club.popularity)
    return [ranked[rank - 1] for rank in rng.sample(RANKS, len(RANKS))]


TEMPLATES = templates_of(
    museum_staff=_museum_staff,
    ticket_total=_ticket_total,
    library_hours=_library_hours,
    committee_members=_committee_members,
    deputy_chair=_deputy_chair,
    motion_votes=_motion_votes,
    high_tide=_high_tide,
    departures=_departures,
    journey_minutes=_journey_minutes,
    club_fee=_club_fee,
    club_secretary=_club_secretary,
)
