"""Generates the questions of each template in `templates.toml` from the records."""

from __future__ import annotations

import json
import random
from calendar import monthrange
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta
from statistics import median_low
from typing import Any, TypeAlias, get_args

from townsquare.records.draw import ROLES
from townsquare.records.schema import (
    FIRST_DAY,
    WEEKDAYS,
    WORDS,
    Business,
    Club,
    DayKind,
    Home,
    Records,
    Station,
    category_title,
    clock,
    dollars,
    long_date,
    tenths,
)

MAX_DRAWS = 400
"""Candidates that a template looks at before it gives up."""
RANKS = range(19, 31)
"""Places in the search engine's list of clubs that only a reader of the whole list reaches."""
YEARS = (2020, 2021, 2022, 2023)
WET = 100
"""Tenths of a millimetre on what the questions call a wet day."""


class Question:
    """The words that fill a template's goal, and the reference answer."""

    def __init__(self, reference: str | Sequence[str | Mapping[str, Any]], **words: object) -> None:
        lines = [reference] if isinstance(reference, str) else reference
        texts = (line if isinstance(line, str) else json.dumps(line) for line in lines)
        self.reference = "\n".join(texts)
        """As AssistantBench's scorer expects it: a bare value, or an item or JSON object a line."""
        self.words = words


Questions: TypeAlias = Iterator[Question]


def rain_share(records: Records, rng: random.Random) -> Questions:
    for _ in range(MAX_DRAWS):
        station = rng.choice(records.stations)
        month, start, length = rng.randint(3, 11), rng.randint(1, 18), rng.choice((7, 9, 10))
        limit = rng.choice((5, 10, 20))
        spans = [
            (date(year, month, start), date(year, month, start + length - 1)) for year in YEARS
        ]
        counts = [_days_over(station, *span, limit) for span in spans]
        share = f"{100 * sum(counts) / (length * len(YEARS)):.1f}"
        early = f"{100 * sum(counts[:2]) / (length * 2):.1f}"
        # Whoever reads only the start of a long answer must get another number.
        if sum(counts) and share != early:
            words = {"start": start, "last": spans[0][1], "years": YEARS, "station": station}
            yield Question(share, **words, limit=tenths(limit))


def wet_days(records: Records, rng: random.Random) -> Questions:
    for _ in range(MAX_DRAWS):
        station = rng.choice(records.stations)
        first = rng.choice((2019, 2020, 2021))
        years = range(first, first + rng.choice((3, 4)))
        count = sum(_wet_in(station, year) for year in years)
        yield Question(str(count), years=years, last=years[-1], station=station, wet=tenths(WET))


def wet_days_by_year(records: Records, rng: random.Random) -> Questions:
    for station in rng.sample(records.stations, len(records.stations)):
        years = range(2020, 2020 + rng.choice((3, 4)))
        counts = [{"year": year, "wet_days": _wet_in(station, year)} for year in years]
        yield Question(counts, years=years, last=years[-1], station=station, wet=tenths(WET))


def month_high(records: Records, rng: random.Random) -> Questions:
    for _ in range(MAX_DRAWS):
        station = rng.choice(records.stations)
        month = date(rng.randint(2019, 2024), rng.randint(4, 10), 1)
        end = month.replace(day=monthrange(month.year, month.month)[1])
        highest = max(station.high[index] for _, index in station.days(month, end))
        yield Question(tenths(highest), station=station, month=month)


def warmest_station(records: Records, rng: random.Random) -> Questions:
    for _ in range(MAX_DRAWS):
        day = date(rng.randint(2019, 2024), rng.randint(1, 12), rng.randint(1, 28))
        index = (day - FIRST_DAY).days
        ranked = sorted(records.stations, key=lambda station: -station.high[index])
        if ranked[0].high[index] > ranked[1].high[index]:
            yield Question(ranked[0].name, day=long_date(day))


def _days_over(station: Station, start: date, end: date, limit: int) -> int:
    return sum(station.precipitation[index] >= limit for _, index in station.days(start, end))


def _wet_in(station: Station, year: int) -> int:
    return _days_over(station, date(year, 1, 1), date(year, 12, 31), WET)


def _sales(
    homes: Sequence[Home], start: date, end: date, street: str = ""
) -> list[tuple[Home, int]]:
    """Return the homes sold from `start` to `end`, with their prices."""
    return [
        (home, home.sold_price)
        for home in homes
        if home.sold_price is not None
        and home.sold_on is not None
        and start <= home.sold_on <= end
        and street in ("", home.street)
    ]


def highest_sold(records: Records, rng: random.Random) -> Questions:
    for _ in range(MAX_DRAWS):
        street = rng.choice(records.streets)
        start = date(2021, 3, 1) + timedelta(rng.randrange(900))
        end = start + timedelta(rng.randrange(200, 420))
        sales = _sales(records.homes, start, end, street)
        asking_prices = [
            home.listed_price
            for home in records.homes
            if home.street == street and start <= home.listed_on <= end
        ]
        prices = sorted((price for _, price in sales), reverse=True)
        if len(prices) > 2 and prices[0] > prices[1] and max(asking_prices, default=0) != prices[0]:
            days = {"start": long_date(start), "end": long_date(end)}
            yield Question(str(prices[0]), street=street, **days)


def sold_addresses(records: Records, rng: random.Random) -> Questions:
    for street in rng.sample(records.streets, len(records.streets)):
        for year in rng.sample(range(2021, 2025), 4):
            sales = _sales(records.homes, date(year, 1, 1), date(year, 12, 31), street)
            if 2 <= len(sales) <= 5:
                yield Question([home.address for home, _ in sales], street=street, year=year)


def price_gap(records: Records, rng: random.Random) -> Questions:
    for home in rng.sample(records.homes, len(records.homes)):
        if home.sold_price is not None:
            yield Question(str(abs(home.sold_price - home.listed_price)), home=home)


def sales_above(records: Records, rng: random.Random) -> Questions:
    for _ in range(MAX_DRAWS):
        start = date(rng.randint(2021, 2024), rng.randint(3, 9), 1)
        end = start + timedelta(rng.randrange(100, 110))
        sales = _sales(records.homes, start, end)
        limit = median_low([price for _, price in sales]) // 10_000 * 10_000 if sales else 0
        count = sum(price > limit for _, price in sales)
        # Three pages of results at most, and an answer that the first page cannot give.
        if 11 <= len(sales) <= 30 and count >= 4:
            yield Question(str(count), limit=limit, start=long_date(start), end=long_date(end))


def best_rated(records: Records, rng: random.Random) -> Questions:
    easy: list[Question] = []
    for category in rng.sample(sorted(WORDS["categories"]), len(WORDS["categories"])):
        group = [business for business in records.businesses if business.category == category]
        limit = rng.choice((60, 90, 120, 150))
        eligible = [business for business in group if business.reviews >= limit]
        if not eligible:
            continue
        best = max(eligible, key=lambda business: business.rating)
        question = Question(best.name, category=category_title(category), limit=limit)
        # Best are those where neither the first page nor the rating alone gives the answer.
        if best in group[5:] and best != max(group, key=lambda business: business.rating):
            yield question
        else:
            easy.append(question)
    yield from easy


def open_sundays(records: Records, rng: random.Random) -> Questions:
    for category in rng.sample(sorted(WORDS["categories"]), len(WORDS["categories"])):
        for least in rng.sample((31, 36, 38, 40), 4):
            names = [
                business.name
                for business in records.businesses
                if business.category == category
                and business.hours[6] is not None
                and business.rating >= least
            ]
            if 2 <= len(names) <= 6:
                yield Question(names, category=category_title(category), least=tenths(least))
                break


def opening_time(records: Records, rng: random.Random) -> Questions:
    twins = list(_twins(records.businesses))
    for business, other in rng.sample(twins, len(twins)):
        for day in rng.sample(range(5), 5):
            spell, old, theirs = business.hours[day], business.old_hours[day], other.hours[day]
            others = {hours[0] for hours in (old, theirs) if hours is not None}
            if spell is not None and spell[0] not in others:
                yield Question(clock(spell[0]), business=business, day=WEEKDAYS[day])
                break


def _twins(businesses: Sequence[Business]) -> Iterator[tuple[Business, Business]]:
    """Yield pairs of businesses in a category whose names start with the same two words."""
    for business in businesses:
        for other in businesses:
            alike = business.name.split()[:2] == other.name.split()[:2]
            if alike and business is not other and business.category == other.category:
                yield business, other


def cheapest_shop(records: Records, rng: random.Random) -> Questions:
    easy: list[Question] = []
    for item in rng.sample(WORDS["items"], len(WORDS["items"])):
        offers = _offers(records, item)
        stocked = [(cents, shop) for shop, cents, in_stock in offers if in_stock]
        if len(stocked) < 2:
            continue
        cheapest = min(stocked)[1]
        question = Question(cheapest, item=item)
        if cheapest != min((cents, shop) for shop, cents, _ in offers)[1]:
            yield question
        else:
            easy.append(question)
    yield from easy


def basket_total(records: Records, rng: random.Random) -> Questions:
    for _ in range(MAX_DRAWS):
        shop = rng.choice(records.shops)
        lines = [(rng.randint(1, 4), offer) for offer in rng.sample(shop.offers, 3)]
        basket = ", ".join(f"{count} x {offer.item}" for count, offer in lines)
        total = sum(count * offer.cents for count, offer in lines)
        yield Question(dollars(total), shop=shop, basket=basket)


def prices_by_shop(records: Records, rng: random.Random) -> Questions:
    for item in rng.sample(WORDS["items"], len(WORDS["items"])):
        offers = _offers(records, item)
        if len(offers) <= 5:
            prices = [{"shop": shop, "price": cents / 100} for shop, cents, _ in offers]
            yield Question(prices, item=item)


def _offers(records: Records, item: str) -> list[tuple[str, int, bool]]:
    offers = ((shop.name, shop.offer(item)) for shop in records.shops)
    return [(name, offer.cents, offer.in_stock) for name, offer in offers if offer is not None]


def museum_staff(records: Records, rng: random.Random) -> Questions:
    for role in rng.sample(sorted(ROLES), len(ROLES)):
        names = [
            member.name
            for member in records.museum.staff
            if member.role == role and not member.former
        ]
        yield Question(names, role=role)


def ticket_total(records: Records, rng: random.Random) -> Questions:
    for _ in range(MAX_DRAWS):
        weekend = rng.random() < 0.5
        groups = [(rng.randint(2, 5), ticket) for ticket in rng.sample(records.museum.tickets, 2)]
        people = " and ".join(f"{count} x {ticket[0]}" for count, ticket in groups)
        total = sum(count * (ticket[2] if weekend else ticket[1]) for count, ticket in groups)
        days = "at the weekend" if weekend else "on a weekday"
        yield Question(dollars(total), days=days, people=people)


def library_hours(records: Records, rng: random.Random) -> Questions:
    for branch in rng.sample(records.branches, len(records.branches)):
        weekend = zip(WEEKDAYS[5:], branch.hours[5:], strict=True)
        hours = [
            {"day": day, "opens": clock(spell[0]), "closes": clock(spell[1])}
            for day, spell in weekend
            if spell is not None
        ]
        yield Question(hours, branch=branch)


def committee_members(records: Records, rng: random.Random) -> Questions:
    committees = records.council.committees
    for committee in rng.sample(committees, len(committees)):
        yield Question(committee.members, committee=committee)


def deputy_chair(records: Records, rng: random.Random) -> Questions:
    pairs = list(zip(records.council.committees, records.twin_council.committees, strict=True))
    for committee, twin in rng.sample(pairs, len(pairs)):
        if committee.deputy != twin.deputy:
            yield Question(committee.deputy, committee=committee)


def motion_votes(records: Records, rng: random.Random) -> Questions:
    motions = records.council.motions
    for motion in rng.sample(motions, len(motions)):
        yield Question(str(motion.votes_for), motion=motion)


def high_tide(records: Records, rng: random.Random) -> Questions:
    for _ in range(MAX_DRAWS):
        day = date(2024, rng.randint(1, 12), rng.randint(1, 28))
        tide = next(tide for tide in records.tides if tide.day == day)
        which = rng.choice(("first", "second"))
        time = tide.first if which == "first" else tide.second
        yield Question(clock(time), which=which, day=long_date(day))


def departures(records: Records, rng: random.Random) -> Questions:
    for _ in range(MAX_DRAWS):
        line = rng.choice(records.lines)
        place = rng.randrange(len(line.stops) - 1)
        start = rng.randrange(7, 19) * 60
        times = [trip[place] for trip in line.weekday if start <= trip[place] <= start + 120]
        if 2 <= len(times) <= 4:
            calls = [{"line": line.number, "departs": clock(time)} for time in times]
            span = {"start": clock(start), "until": clock(start + 120)}
            yield Question(calls, line=line, stop=line.stops[place], **span)


def journey_minutes(records: Records, rng: random.Random) -> Questions:
    for _ in range(MAX_DRAWS):
        line = rng.choice(records.lines)
        start, end = sorted(rng.sample(range(len(line.stops)), 2))
        kind: DayKind = rng.choice(get_args(DayKind))
        after = rng.randrange(7, 19) * 60
        trip = next(trip for trip in line.trips(kind) if trip[start] >= after)
        day = "on a weekday" if kind == "weekday" else "at the weekend"
        stops = {"from_stop": line.stops[start], "to_stop": line.stops[end]}
        minutes = str(trip[end] - trip[start])
        yield Question(minutes, line=line, after=clock(after), day=day, **stops)


def club_fee(records: Records, rng: random.Random) -> Questions:
    for club in _unpopular(records, rng):
        yield Question(str(club.fee), club=club)


def club_secretary(records: Records, rng: random.Random) -> Questions:
    for club in _unpopular(records, rng):
        yield Question(club.secretary, club=club)


def _unpopular(records: Records, rng: random.Random) -> list[Club]:
    """Return clubs that the search engine ranks low, in random order."""
    ranked = sorted(records.clubs, key=lambda club: -club.popularity)
    return [ranked[rank - 1] for rank in rng.sample(RANKS, len(RANKS))]
