"""Questions for the weather archive."""

from __future__ import annotations

import random
from calendar import monthrange
from collections.abc import Iterator
from datetime import date

from townsquare.records.schema import FIRST_DAY, Records, Station, long_date, tenths
from townsquare.tasks.template import MAX_DRAWS, Question, json_lines, templates_of

YEARS = (2020, 2021, 2022, 2023)
WET = 100
"""Tenths of a millimetre on what the questions call a wet day."""


def _rain_share(records: Records, rng: random.Random) -> Iterator[Question]:
    for _ in range(MAX_DRAWS):
        station = rng.choice(records.stations)
        month, start, length = rng.randint(3, 11), rng.randint(1, 18), rng.choice((7, 9, 10))
        limit = rng.choice((5, 10, 20))
        counts = [
            _days_over(
                station, date(year, month, start), date(year, month, start + length - 1), limit
            )
            for year in YEARS
        ]
        share = f"{100 * sum(counts) / (length * len(YEARS)):.1f}"
        early = f"{100 * sum(counts[:2]) / (length * 2):.1f}"
        # Whoever reads only the start of a long answer must get another number.
        if sum(counts) and share != early:
            last = date(2020, month, start + length - 1)
            yield Question(
                share, start=start, last=last, years=YEARS, station=station, limit=tenths(limit)
            )


def _wet_days(records: Records, rng: random.Random) -> Iterator[Question]:
    for _ in range(MAX_DRAWS):
        station = rng.choice(records.stations)
        first = rng.choice((2019, 2020, 2021))
        years = range(first, first + rng.choice((3, 4)))
        count = sum(_wet_in(station, year) for year in years)
        yield Question(str(count), years=years, last=years[-1], station=station, wet=tenths(WET))


def _wet_days_by_year(records: Records, rng: random.Random) -> Iterator[Question]:
    for station in rng.sample(records.stations, len(records.stations)):
        years = range(2020, 2020 + rng.choice((3, 4)))
        yield Question(
            json_lines({"year": year, "wet_days": _wet_in(station, year)} for year in years),
            years=years,
            last=years[-1],
            station=station,
            wet=tenths(WET),
        )


def _month_high(records: Records, rng: random.Random) -> Iterator[Question]:
    for _ in range(MAX_DRAWS):
        station = rng.choice(records.stations)
        month = date(rng.randint(2019, 2024), rng.randint(4, 10), 1)
        end = month.replace(day=monthrange(month.year, month.month)[1])
        highest = max(station.high[index] for _, index in station.days(month, end))
        yield Question(tenths(highest), station=station, month=month)


def _warmest_station(records: Records, rng: random.Random) -> Iterator[Question]:
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


TEMPLATES = templates_of(
    rain_share=_rain_share,
    wet_days=_wet_days,
    wet_days_by_year=_wet_days_by_year,
    month_high=_month_high,
    warmest_station=_warmest_station,
)
