"""Weather and tides, drawn with whole numbers only: the same on every machine."""

from __future__ import annotations

import random
from datetime import date, timedelta

from townsquare.records.schema import FIRST_DAY, LAST_DAY, Station, Tide, slug
from townsquare.records.words import STATIONS

STATION_COUNT = 4
_HIGHS = (62, 70, 98, 132, 170, 201, 224, 221, 188, 142, 97, 70)
"""Usual daily maximum of each month, in tenths of a degree."""
_WET_PERCENT = (52, 48, 45, 40, 36, 32, 28, 31, 34, 47, 53, 55)
_LUNAR_DELAY = 50
"""Minutes by which the tide is later each day."""


def draw_stations(seed: int) -> tuple[Station, ...]:
    """Four stations with a reading for every day of six years."""
    names = random.Random(f"{seed}/stations").sample(STATIONS, STATION_COUNT)
    return tuple(_station(name, random.Random(f"{seed}/weather/{name}")) for name in names)


def draw_tides(seed: int) -> tuple[Tide, ...]:
    """Both high waters of every day of 2024."""
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
    """Tenths of a millimetre on a wet day: mostly a little, now and then a lot."""
    return 1 + rng.randrange(60) * rng.randrange(1, 60) // 16
