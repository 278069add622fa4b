"""Computes answers from the table rows that a plan of `plans.toml` has collected.

A conclusion has what the question names and the rows; it is `None` while the rows do not say.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import TypeAlias

from townsquare.rules.terms import minutes_in, number_in, plain

Row: TypeAlias = Mapping[str, str]
Value: TypeAlias = str | Sequence[str] | Sequence[Mapping[str, object]]
Words: TypeAlias = Mapping[str, str]
Conclusion: TypeAlias = Callable[[Words, Sequence[Row]], Value | None]


def month_high(_: Words, rows: Sequence[Row]) -> Value | None:
    return _highest(rows, "Maximum")


def highest_sold(_: Words, rows: Sequence[Row]) -> Value | None:
    return _highest(rows, "Sold price")


def warmest_station(_: Words, rows: Sequence[Row]) -> Value | None:
    return _name_of(max, rows, "Maximum", "Station")


def sold_addresses(_: Words, rows: Sequence[Row]) -> Value | None:
    return [row["Address"] for row in rows] or None


def sales_above(words: Words, rows: Sequence[Row]) -> Value | None:
    least = Decimal(words["sum"])
    prices = _numbered(rows, "Sold price", "Address")
    return str(sum(price > least for price, _ in prices)) if rows else None


def price_gap(_: Words, rows: Sequence[Row]) -> Value | None:
    facts = {row["Entry"]: number_in(row["Value"]) for row in rows}
    listed, sold = facts.get("Listed price"), facts.get("Sold price")
    return None if listed is None or sold is None else plain(abs(listed - sold))


def best_rated(words: Words, rows: Sequence[Row]) -> Value | None:
    """Return the best-rated business that has enough reviews."""
    least = Decimal(words["reviews"])
    reviewed = [row for row in rows if (number_in(row["Reviews"]) or 0) >= least]
    return _name_of(max, reviewed, "Rating", "Name")


def open_sundays(words: Words, rows: Sequence[Row]) -> Value | None:
    least = Decimal(words["rating"])
    open_rows = [row for row in rows if minutes_in(row["Sunday hours"]) is not None]
    return [
        name for rating, name in _numbered(open_rows, "Rating", "Name") if rating >= least
    ] or None


def opening_time(words: Words, rows: Sequence[Row]) -> Value | None:
    hours = next((row["Hours"] for row in rows if row["Day"] == words["weekday"]), "")
    return hours.partition("-")[0].strip() or None


def cheapest_shop(_: Words, rows: Sequence[Row]) -> Value | None:
    stocked = [row for row in rows if row["In stock"] == "yes"]
    return _name_of(min, stocked, "Price", "Shop")


def prices_by_shop(_: Words, rows: Sequence[Row]) -> Value | None:
    prices = _numbered(rows, "Price", "Shop")
    return [{"shop": shop, "price": float(price)} for price, shop in prices] or None


def basket_total(words: Words, rows: Sequence[Row]) -> Value | None:
    return _total(words["basket"].split(", "), rows, "Item", "Price")


def museum_staff(words: Words, rows: Sequence[Row]) -> Value | None:
    return [row["Name"] for row in rows if row["Role"] == words["role"]] or None


def ticket_total(words: Words, rows: Sequence[Row]) -> Value | None:
    return _total(words["party"].split(" and "), rows, "Visitor", words["when"])


def library_hours(words: Words, rows: Sequence[Row]) -> Value | None:
    days = re.findall(r"[A-Z][a-z]+day", words["days"])
    return [
        {"day": row["Day"], "opens": row["Opens"], "closes": row["Closes"]}
        for row in rows
        if row["Day"] in days and minutes_in(row["Opens"]) is not None
    ] or None


def committee_members(_: Words, rows: Sequence[Row]) -> Value | None:
    return [row["Member"] for row in rows] or None


def committee_post(words: Words, rows: Sequence[Row]) -> Value | None:
    post = words["post"].lower()
    return next((row["Member"] for row in rows if row["Role"].lower() == post), None)


def motion_votes(words: Words, rows: Sequence[Row]) -> Value | None:
    votes = (number_in(row["For"]) for row in rows if row["Motion"] == words["motion"])
    number = next(votes, None)
    return None if number is None else plain(number)


def high_tide(words: Words, rows: Sequence[Row]) -> Value | None:
    column = f"{words['which']} high water"
    return next((row[column] for row in rows if row["Date"] == words["day"]), None)


def departures(words: Words, rows: Sequence[Row]) -> Value | None:
    start, end = minutes_in(words["start"]) or 0, minutes_in(words["end"]) or 0
    return [
        {"line": words["line"], "departs": row[words["stop"]]}
        for row in rows
        if (time := minutes_in(row[words["stop"]])) is not None and start <= time <= end
    ] or None


def journey_minutes(words: Words, rows: Sequence[Row]) -> Value | None:
    """Return the duration of the first trip after a time."""
    after = minutes_in(words["after"]) or 0
    for row in rows:
        leaves, arrives = minutes_in(row[words["start"]]), minutes_in(row[words["end"]])
        if leaves is not None and arrives is not None and leaves >= after:
            return str(arrives - leaves)
    return None


def club_fact(words: Words, rows: Sequence[Row]) -> Value | None:
    fact = words["fact"]
    value = {row["Entry"].lower(): row["Value"] for row in rows}.get(fact)
    fee = number_in(value) if value and fact.endswith("fee") else None
    return value if fee is None else plain(fee)


def _numbered(rows: Sequence[Row], column: str, name: str) -> list[tuple[Decimal, str]]:
    """Return pairs of number and name from two columns; rows without a number are skipped."""
    pairs = [(number_in(row[column]), row[name]) for row in rows]
    return [(number, text) for number, text in pairs if number is not None]


def _name_of(
    choose: Callable[..., tuple[Decimal, str]], rows: Sequence[Row], column: str, name: str
) -> str | None:
    """Return the name in the row with the largest (`max`) or smallest (`min`) number."""
    pairs = _numbered(rows, column, name)
    return choose(pairs, key=lambda pair: pair[0])[1] if pairs else None


def _highest(rows: Sequence[Row], column: str) -> str | None:
    numbers = [number for number, _ in _numbered(rows, column, column)]
    return plain(max(numbers)) if numbers else None


def _total(counts: Sequence[str], rows: Sequence[Row], name: str, price: str) -> str | None:
    """Return the total price of items such as `2 x tea`; `None` if a price is missing."""
    prices = {row[name]: number_in(row[price]) for row in rows}
    parts = (each.partition(" x ") for each in counts)
    pairs = [(int(n), prices.get(thing)) for n, _, thing in parts if n.strip().isdecimal()]
    if not pairs or any(each is None for _, each in pairs):
        return None
    return f"{sum((n * each for n, each in pairs if each is not None), Decimal(0)):.2f}"
