"""Questions for the sales register, the business directory and the shops."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from statistics import median_low

from townsquare.records.schema import (
    WEEKDAYS,
    WORDS,
    Business,
    Home,
    Records,
    category_title,
    clock,
    dollars,
    long_date,
    tenths,
)
from townsquare.tasks.template import MAX_DRAWS, Question, json_lines, templates_of


def _sales(
    homes: Sequence[Home], start: date, end: date, street: str = ""
) -> list[tuple[Home, int]]:
    """The homes sold from `start` to `end`, with the prices paid."""
    return [
        (home, home.sold_price)
        for home in homes
        if home.sold_price is not None
        and home.sold_on is not None
        and start <= home.sold_on <= end
        and street in ("", home.street)
    ]


def _highest_sold(records: Records, rng: random.Random) -> Iterator[Question]:
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
            yield Question(
                str(prices[0]), street=street, start=long_date(start), end=long_date(end)
            )


def _sold_addresses(records: Records, rng: random.Random) -> Iterator[Question]:
    for street in rng.sample(records.streets, len(records.streets)):
        for year in rng.sample(range(2021, 2025), 4):
            sales = _sales(records.homes, date(year, 1, 1), date(year, 12, 31), street)
            if 2 <= len(sales) <= 5:
                yield Question(
                    "\n".join(home.address for home, _ in sales), street=street, year=year
                )


def _price_gap(records: Records, rng: random.Random) -> Iterator[Question]:
    for home in rng.sample(records.homes, len(records.homes)):
        if home.sold_price is not None:
            yield Question(str(abs(home.sold_price - home.listed_price)), home=home)


def _sales_above(records: Records, rng: random.Random) -> Iterator[Question]:
    for _ in range(MAX_DRAWS):
        start = date(rng.randint(2021, 2024), rng.randint(3, 9), 1)
        end = start + timedelta(rng.randrange(100, 110))
        sales = _sales(records.homes, start, end)
        limit = median_low([price for _, price in sales]) // 10_000 * 10_000 if sales else 0
        count = sum(price > limit for _, price in sales)
        # Three pages of results at most, and an answer that the first page cannot give.
        if 11 <= len(sales) <= 30 and count >= 4:
            yield Question(str(count), limit=limit, start=long_date(start), end=long_date(end))


def _best_rated(records: Records, rng: random.Random) -> Iterator[Question]:
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


def _open_sundays(records: Records, rng: random.Random) -> Iterator[Question]:
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
                yield Question(
                    "\n".join(names), category=category_title(category), least=tenths(least)
                )
                break


def _opening_time(records: Records, rng: random.Random) -> Iterator[Question]:
    twins = list(_twins(records.businesses))
    for business, other in rng.sample(twins, len(twins)):
        for day in rng.sample(range(5), 5):
            spell, old, theirs = business.hours[day], business.old_hours[day], other.hours[day]
            others = {hours[0] for hours in (old, theirs) if hours is not None}
            if spell is not None and spell[0] not in others:
                yield Question(clock(spell[0]), business=business, day=WEEKDAYS[day])
                break


def _twins(businesses: Sequence[Business]) -> Iterator[tuple[Business, Business]]:
    """Pairs of one category whose names start with the same two words."""
    for business in businesses:
        for other in businesses:
            alike = business.name.split()[:2] == other.name.split()[:2]
            if alike and business is not other and business.category == other.category:
                yield business, other


def _cheapest_shop(records: Records, rng: random.Random) -> Iterator[Question]:
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


def _basket_total(records: Records, rng: random.Random) -> Iterator[Question]:
    for _ in range(MAX_DRAWS):
        shop = rng.choice(records.shops)
        lines = [(rng.randint(1, 4), offer) for offer in rng.sample(shop.offers, 3)]
        basket = ", ".join(f"{count} x {offer.item}" for count, offer in lines)
        yield Question(
            dollars(sum(count * offer.cents for count, offer in lines)), shop=shop, basket=basket
        )


def _prices_by_shop(records: Records, rng: random.Random) -> Iterator[Question]:
    for item in rng.sample(WORDS["items"], len(WORDS["items"])):
        offers = _offers(records, item)
        if len(offers) <= 5:
            yield Question(
                json_lines({"shop": shop, "price": cents / 100} for shop, cents, _ in offers),
                item=item,
            )


def _offers(records: Records, item: str) -> list[tuple[str, int, bool]]:
    offers = ((shop.name, shop.offer(item)) for shop in records.shops)
    return [(name, offer.cents, offer.in_stock) for name, offer in offers if offer is not None]


def _title(category: str) -> str:
    return category.replace("-", " ").capitalize()


TEMPLATES = templates_of(
    highest_sold=_highest_sold,
    sold_addresses=_sold_addresses,
    price_gap=_price_gap,
    sales_above=_sales_above,
    best_rated=_best_rated,
    open_sundays=_open_sundays,
    opening_time=_opening_time,
    cheapest_shop=_cheapest_shop,
    basket_total=_basket_total,
    prices_by_shop=_prices_by_shop,
)
