"""Plans for questions about homes, businesses and shops."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from decimal import Decimal

from townsquare.rules.plan import Plan, Row, Value, columns, kinds_of
from townsquare.rules.terms import iso, minutes_in, number_in, plain
from townsquare.rules.view import Page

_HOMES = ("sales register",)
_SHOPS = ("price lists", "shops")
_DIRECTORY = ("business directory",)
_SOLD = ("Address", "Sold price", "Date sold")


def _sales(street: str, start: str, end: str, conclude: Callable[..., Value | None]) -> Plan:
    place = street or "All"
    return Plan(
        query=f"sales on {street} property register" if street else "property sales register",
        links=_HOMES,
        fields=(
            ("Show", "sold"),
            ("Street", place),
            ("From", start),
            ("To", end),
        ),
        read=columns(*_SOLD),
        conclude=conclude,
    )


def highest_sold(match: re.Match[str]) -> Plan:
    """The highest price paid on a street between two days."""

    def conclude(rows: Sequence[Row]) -> Value | None:
        prices = [price for row in rows if (price := number_in(row["Sold price"])) is not None]
        return plain(max(prices)) if prices else None

    return _sales(match["street"], iso(match["start"]), iso(match["end"]), conclude)


def sold_addresses(match: re.Match[str]) -> Plan:
    """The addresses on a street that were sold in a year."""

    def conclude(rows: Sequence[Row]) -> Value | None:
        return [row["Address"] for row in rows] or None

    year = match["year"]
    return _sales(match["street"], f"{year}-01-01", f"{year}-12-31", conclude)


def sales_above(match: re.Match[str]) -> Plan:
    """How many properties were sold for more than a sum between two days."""
    least = Decimal(match["sum"])

    def conclude(rows: Sequence[Row]) -> Value | None:
        prices = [number_in(row["Sold price"]) for row in rows]
        return str(sum(price is not None and price > least for price in prices)) if rows else None

    return _sales("", iso(match["start"]), iso(match["end"]), conclude)


def price_gap(match: re.Match[str]) -> Plan:
    """The difference between the price asked and the price paid for one property."""
    address = match["address"]
    street = address.split(" ", 1)[1]

    def conclude(rows: Sequence[Row]) -> Value | None:
        facts = {row["Entry"]: number_in(row["Value"]) for row in rows}
        listed, sold = facts.get("Listed price"), facts.get("Sold price")
        return None if listed is None or sold is None else plain(abs(listed - sold))

    return Plan(
        query=f"sales on {street} property register",
        links=(address, "Next page", *_HOMES),
        fields=(("Show", "listed"), ("Street", street)),
        read=_facts_of(address),
        conclude=conclude,
    )


def _facts_of(name: str) -> Callable[[Page], Sequence[Row] | None]:
    """Read the table of facts on the page about `name`."""
    read = columns("Entry", "Value")

    def read_own(page: Page) -> Sequence[Row] | None:
        return read(page) if page.title.startswith(name) else None

    return read_own


def _category(match: re.Match[str], conclude: Callable[[Sequence[Row]], Value | None]) -> Plan:
    return Plan(
        query=f"{match['category']} business directory",
        links=(match["category"], *_DIRECTORY),
        read=columns("Name", "Rating", "Reviews", "Sunday hours"),
        conclude=conclude,
    )


def best_rated(match: re.Match[str]) -> Plan:
    """The business of a category with the highest rating among the much reviewed."""
    least = Decimal(match["reviews"])

    def conclude(rows: Sequence[Row]) -> Value | None:
        rated = [
            (rating, row["Name"])
            for row in rows
            if (reviews := number_in(row["Reviews"])) is not None
            and reviews >= least
            and (rating := number_in(row["Rating"])) is not None
        ]
        return max(rated, key=lambda pair: pair[0])[1] if rated else None

    return _category(match, conclude)


def open_sundays(match: re.Match[str]) -> Plan:
    """The businesses of a category that open on Sundays and are rated well enough."""
    least = Decimal(match["rating"])

    def conclude(rows: Sequence[Row]) -> Value | None:
        return [
            row["Name"]
            for row in rows
            if minutes_in(row["Sunday hours"]) is not None
            and (rating := number_in(row["Rating"])) is not None
            and rating >= least
        ] or None

    return _category(match, conclude)


def opening_time(match: re.Match[str]) -> Plan:
    """When a business opens on a day of the week."""
    name, day = match["name"], match["day"]

    def conclude(rows: Sequence[Row]) -> Value | None:
        hours = next((row["Hours"] for row in rows if row["Day"] == day), "")
        return hours.partition("-")[0].strip() or None

    read = columns("Day", "Hours")
    return Plan(
        query=f"{name} business directory",
        links=(),
        read=lambda page: read(page) if page.title.startswith(name) else None,
        conclude=conclude,
    )


def _sellers(item: str, conclude: Callable[[Sequence[Row]], Value | None]) -> Plan:
    return Plan(
        query=f"who sells {item}",
        links=_SHOPS,
        fields=(("Item", item),),
        read=columns("Shop", "Price", "In stock"),
        conclude=conclude,
    )


def cheapest_shop(match: re.Match[str]) -> Plan:
    """The shop with the lowest price of an item that it has."""

    def conclude(rows: Sequence[Row]) -> Value | None:
        offers = [
            (price, row["Shop"])
            for row in rows
            if row["In stock"] == "yes" and (price := number_in(row["Price"])) is not None
        ]
        return min(offers, key=lambda pair: pair[0])[1] if offers else None

    return _sellers(match["item"], conclude)


def prices_by_shop(match: re.Match[str]) -> Plan:
    """What an item costs in each shop."""

    def conclude(rows: Sequence[Row]) -> Value | None:
        prices = [(row["Shop"], number_in(row["Price"])) for row in rows]
        prices_by_name: list[dict[str, object]] = [
            {"shop": shop, "price": float(price)} for shop, price in prices if price is not None
        ]
        return prices_by_name or None

    return _sellers(match["item"], conclude)


def basket_total(match: re.Match[str]) -> Plan:
    """What several items cost together at one shop."""
    basket = parse_counts(match["basket"], ", ")

    def conclude(rows: Sequence[Row]) -> Value | None:
        return total(basket, {row["Item"]: number_in(row["Price"]) for row in rows})

    return Plan(
        query=f"price list of {match['shop']}",
        links=(match["shop"], *_SHOPS),
        read=columns("Item", "Price"),
        conclude=conclude,
    )


def parse_counts(text: str, between: str) -> list[tuple[int, str]]:
    """Things and how many of them, out of `2 x tea, 1 x honey`."""
    pairs = (part.partition(" x ") for part in text.split(between))
    return [(int(count), thing) for count, _, thing in pairs if count.strip().isdecimal()]


def total(basket: Sequence[tuple[int, str]], prices: dict[str, Decimal | None]) -> str | None:
    """The sum with two decimals; `None` while a price is missing."""
    each = [(count, prices.get(thing)) for count, thing in basket]
    if not each or any(price is None for _, price in each):
        return None
    cents = sum((count * price for count, price in each if price is not None), Decimal(0))
    return f"{cents:.2f}"


KINDS = kinds_of(
    "trade",
    highest_sold,
    sold_addresses,
    sales_above,
    price_gap,
    best_rated,
    open_sundays,
    opening_time,
    cheapest_shop,
    prices_by_shop,
    basket_total,
)
"""The patterns of such questions, and what makes the plans for them."""
