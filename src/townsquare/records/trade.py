"""Homes, businesses and shops of the town."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from typing import get_args

from assay.lazy import package_table
from townsquare.records.schema import Business, Home, HomeKind, Hours, Offer, Shop, slug
from townsquare.records.words import ADJECTIVES, ITEMS, SHOP_KINDS, STREETS, THINGS

STREET_COUNT = 12
HOMES_PER_STREET = 17
SHOP_COUNT = 8
CATEGORIES: dict[str, list[str]] = package_table(__package__, "words")["categories"]
BUSINESSES_PER_CATEGORY = 12
TWINS_PER_CATEGORY = 3


def draw_streets(seed: int) -> tuple[str, ...]:
    """The streets with homes for sale, in alphabetical order."""
    return tuple(sorted(random.Random(f"{seed}/streets").sample(STREETS, STREET_COUNT)))


def draw_homes(seed: int, streets: Sequence[str]) -> tuple[Home, ...]:
    """Homes offered between 2021 and 2024, in the order in which they were listed."""
    rng = random.Random(f"{seed}/homes")
    drafts: list[Home] = []
    for street in streets:
        level = rng.randrange(300, 620)
        numbers = rng.sample(range(1, 120), HOMES_PER_STREET)
        drafts += [_home(rng, number, street, level) for number in numbers]
    drafts.sort(key=lambda home: (home.listed_on, home.address))
    ids = rng.sample(range(1000, 9999), len(drafts))
    return tuple(replace(home, id=number) for home, number in zip(drafts, ids, strict=True))


def _home(rng: random.Random, number: int, street: str, level: int) -> Home:
    listed_on = date(2021, 1, 1) + timedelta(rng.randrange(4 * 365 - 60))
    listed = (level + rng.randrange(-120, 180)) * 1000
    sold_on = listed_on + timedelta(rng.randrange(21, 160))
    # A sale differs from the asking price by 2 to 11 percent, so the two are never confused.
    change = rng.choice((-1, -1, 1)) * rng.randrange(20, 110)
    sold = listed * (1000 + change) // 1000 // 500 * 500
    unsold = rng.randrange(10) == 0 or sold_on > date(2024, 12, 31)
    return Home(
        id=0,
        number=number,
        street=street,
        kind=rng.choice(get_args(HomeKind)),
        bedrooms=rng.randint(1, 5),
        listed_price=listed,
        listed_on=listed_on,
        sold_price=None if unsold else sold,
        sold_on=None if unsold else sold_on,
    )


def draw_businesses(seed: int, streets: Sequence[str]) -> tuple[Business, ...]:
    """Twelve businesses in each category; three of them have a near namesake among the others."""
    rng = random.Random(f"{seed}/businesses")
    phones = iter(rng.sample(range(1000, 9999), len(CATEGORIES) * BUSINESSES_PER_CATEGORY))
    businesses: list[Business] = []
    for category, (usual, other) in CATEGORIES.items():
        stems = _stems(rng, BUSINESSES_PER_CATEGORY - TWINS_PER_CATEGORY)
        names = [f"{stem} {usual}" for stem in stems]
        names += [f"{stem} {other}" for stem in stems[:TWINS_PER_CATEGORY]]
        rng.shuffle(names)
        # All ratings of a category differ: "the best rated" is one business.
        ratings = rng.sample(range(31, 50), BUSINESSES_PER_CATEGORY)
        for name, rating in zip(names, ratings, strict=True):
            businesses.append(_business(rng, name, category, rating, streets, next(phones)))
    return tuple(businesses)


def _business(
    rng: random.Random,
    name: str,
    category: str,
    rating: int,
    streets: Sequence[str],
    phone: int,
) -> Business:
    hours = _week(rng)
    return Business(
        slug=slug(name),
        name=name,
        category=category,
        address=f"{rng.randint(1, 140)} {rng.choice(streets)}",
        phone=f"555-{phone}",
        rating=rating,
        reviews=rng.randint(8, 320),
        hours=hours,
        old_hours=tuple(_shift(day, rng) for day in hours),
    )


def _week(rng: random.Random) -> tuple[Hours, ...]:
    """Monday to Friday with small changes, a shorter Saturday, and perhaps a Sunday."""
    opens, closes = rng.randrange(420, 600, 15), rng.randrange(990, 1170, 15)
    working: list[Hours] = [(opens + rng.choice((0, 0, 15, 30)), closes) for _ in range(5)]
    if rng.randrange(3) == 0:
        working[rng.randrange(5)] = None
    sunday: Hours = (opens + 120, closes - 120) if rng.randrange(100) < 40 else None
    return (*working, (opens + 30, closes - 60), sunday)


def _shift(day: Hours, rng: random.Random) -> Hours:
    return None if day is None else (day[0] + rng.choice((-45, -30, 45)), day[1] - 30)


def _stems(rng: random.Random, count: int) -> list[str]:
    """Different two-word names, no two of which share a word with the same place."""
    return [
        f"{adjective} {thing}"
        for adjective, thing in zip(
            rng.sample(ADJECTIVES, count), rng.sample(THINGS, count), strict=True
        )
    ]


def draw_shops(seed: int) -> tuple[Shop, ...]:
    """Eight shops whose price lists overlap; the prices of one item all differ."""
    rng = random.Random(f"{seed}/shops")
    stems = _stems(rng, SHOP_COUNT)
    kinds = rng.sample(SHOP_KINDS, SHOP_COUNT)
    names = [f"{stem} {kind}" for stem, kind in zip(stems, kinds, strict=True)]
    lists: list[list[Offer]] = [[] for _ in names]
    for item in ITEMS:
        base = rng.randrange(180, 1400)
        cents = [base + step for step in rng.sample(range(-60, 90), SHOP_COUNT)]
        sellers = sorted(rng.sample(range(SHOP_COUNT), rng.randint(4, 7)))
        cheapest = min(sellers, key=lambda seller: cents[seller])
        for seller in sellers:
            # The cheapest is often sold out: a price alone does not answer the question.
            scarce = 2 if seller == cheapest else 6
            lists[seller].append(Offer(item, cents[seller], rng.randrange(scarce) != 0))
    streets = rng.sample(STREETS, SHOP_COUNT)
    shops = zip(names, streets, lists, strict=True)
    return tuple(Shop(slug(name), name, street, tuple(offers)) for name, street, offers in shops)
