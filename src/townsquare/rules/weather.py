"""Plans for questions that count rainy days, from a JSON API or from tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TypeAlias
from urllib.parse import parse_qsl, urlencode, urlsplit

import orjson

from assay.schema.action import ActionCall
from townsquare.rules.conclusions import Row, Value
from townsquare.rules.dialogue import Dialogue
from townsquare.rules.plan import Move, Plan, no_conclusion, plan_of
from townsquare.rules.terms import MONTHS, day_in, number_in
from townsquare.rules.view import Element, Page

Days: TypeAlias = list[date]
Answer: TypeAlias = Callable[[Mapping[int, int], int], Value]
"""From the count of each year, and the number of days asked about."""

_ISO = re.compile(r"\d{4}-\d{2}-\d{2}\Z")
_MARK = re.compile(r"\n… [\d,]+ characters not shown")
_KEY = re.compile(r"(\d{4})-(\d{2})(?:-(\d{2}))?\Z")
_ENTRY = re.compile(r"(.{1,80}): ([a-z0-9_-]{1,80})\Z")


@dataclass(frozen=True, slots=True)
class RainyDays:
    """A plan that counts rainy days with the archive's JSON API or its tables."""

    station: str
    years: Mapping[int, Days]
    """The days asked about, by year."""
    least: float
    answer: Answer

    def move(self, dialogue: Dialogue) -> Move:
        """Return the next move, or the answer if everything is read."""
        if dialogue.must_answer:
            return self._answer(dialogue, "There is no time left; this is what I have.")
        instructions = dialogue.instructions
        if instructions.prefers_api and "fetch_json" in instructions.actions:
            return self._by_api(dialogue)
        return self._by_tables(dialogue)

    def _answer(self, dialogue: Dialogue, think: str) -> Move:
        """Return the answer; a day without a reading counts as dry."""
        readings = _readings(dialogue, self.station)
        counts = {
            year: sum(readings.get(day, -1.0) >= self.least for day in days)
            for year, days in self.years.items()
        }
        return Move(think, answer=self.answer(counts, sum(map(len, self.years.values()))))

    def _by_api(self, dialogue: Dialogue) -> Move:
        manual, example = _manual(dialogue)
        if manual is None or example is None:
            links = ("JSON API", "weather archive")
            return Plan(words={}, query="weather archive JSON API", links=links).move(dialogue)
        fetched = {arguments[0] for arguments in dialogue.arguments_of("fetch_json")}
        for start, end in self._ranges(whole=dialogue.instructions.whole_range):
            url = _address(example.target, manual, self.station, start, end)
            if url not in fetched:
                return Move(f"Readings from {start} to {end}.", ActionCall("fetch_json", (url,)))
        cut = any("characters not shown" in turn.page.payload for turn in dialogue.turns)
        think = "Part of the data was cut." if cut else "All the data is there."
        return self._answer(dialogue, think)

    def _ranges(self, *, whole: bool) -> list[tuple[date, date]]:
        spans = [(days[0], days[-1]) for days in self.years.values() if days]
        return [(spans[0][0], spans[-1][1])] if whole else spans

    def _by_tables(self, dialogue: Dialogue) -> Move:
        months = sorted({f"{day:%Y-%m}" for days in self.years.values() for day in days})
        seen = {f"{day:%Y-%m}" for day in _readings(dialogue, self.station)}
        missing = [month for month in months if month not in seen]
        if not missing:
            return self._answer(dialogue, "All the tables are read.")
        page = dialogue.page
        can_go = "goto" in dialogue.instructions.actions
        if "month=" in page.url and seen and not page.error and can_go:
            parts = urlsplit(page.url)
            query = {**dict(parse_qsl(parts.query)), "month": missing[0]}
            url = parts._replace(query=urlencode(query)).geturl()
            return Move("The next month.", ActionCall("goto", (url,)))
        year, month = missing[0].split("-")
        words = {"station": self.station, "year": year, "month": month}
        return plan_of("month_high", words, no_conclusion).move(dialogue)


def _readings(dialogue: Dialogue, station: str) -> dict[date, float]:
    """Return every reading that was shown so far, by day."""
    readings: dict[date, float] = {}
    for turn in dialogue.turns:
        readings.update(dated_numbers(turn.page.payload))
        if turn.page.title.startswith(station):
            readings.update(_table_readings(turn.page.rows("Date", "Precipitation") or ()))
    return readings


def _table_readings(rows: Iterable[Row]) -> Iterator[tuple[date, float]]:
    for row in rows:
        value = number_in(row["Precipitation"])
        if value is not None and _ISO.match(row["Date"]):
            yield date.fromisoformat(row["Date"]), float(value)


def _manual(dialogue: Dialogue) -> tuple[Page | None, Element | None]:
    """Return the page with an example address of the API, and the example's link."""
    for turn in reversed(dialogue.turns):
        for element in turn.page.elements:
            values = [value for _, value in parse_qsl(urlsplit(element.target).query)]
            if element.role == "link" and sum(bool(_ISO.match(value)) for value in values) == 2:
                return turn.page, element
    return None, None


def _address(example: str, manual: Page, station: str, start: date, end: date) -> str:
    """Put this station and these days into the example address of the API."""
    entries = [entry for line in manual.lines if (entry := _ENTRY.match(line))]
    names = {entry[2]: entry[1] for entry in entries}
    station_key = next((key for key, name in names.items() if name == station), "")
    days = iter((start.isoformat(), end.isoformat()))
    parts = urlsplit(example)
    query: list[tuple[str, str]] = []
    for name, value in parse_qsl(parts.query):
        if _ISO.match(value):
            value = next(days)
        elif name in "station place location" and station_key:
            value = station_key
        query.append((name, value))
    return parts._replace(query=urlencode(query)).geturl()


def rainy_days(name: str, match: re.Match[str]) -> RainyDays:
    """Return the plan for a question about whole years, or the same days in several years."""
    words = {"from": "1", "to": "31", **match.groupdict()}
    first, last = (MONTHS.get(words["month"], 1),) * 2 if "month" in words else (1, 12)
    years: dict[int, Days] = {}
    for year in range(int(words["first"]), int(words["last"]) + 1):
        start, end = day_in(year, first, words["from"]), day_in(year, last, words["to"])
        length = (end - start).days + 1 if start is not None and end is not None else 0
        years[year] = [start + timedelta(n) for n in range(length) if start is not None]
    answer = ANSWERS[name](match.string)
    return RainyDays(match["station"], years, float(match["least"]), answer)


def _share(counts: Mapping[int, int], days: int) -> Value:
    return f"{100 * sum(counts.values()) / days:.1f}" if days else "0"


def _by_year(question: str) -> Answer:
    """Return a function that makes one object for each year, with the question's keys."""
    year_key, count_key = re.findall(r'"(\w+)"', question)[:2] or ("year", "days")
    return lambda counts, _: [{year_key: year, count_key: counts[year]} for year in counts]


ANSWERS: Mapping[str, Callable[[str], Answer]] = {
    "rain_share": lambda _: _share,
    "wet_days_by_year": _by_year,
    "wet_days": lambda _: lambda counts, _: str(sum(counts.values())),
}
"""Of the questions that no single table answers, by their names in `plans.toml`."""


def dated_numbers(payload: str) -> dict[date, float]:
    """Return the numbers in a JSON text whose keys name a day, or a month and a day."""
    text = _MARK.split(payload)[0]
    try:
        value = orjson.loads(text or "null")
    except ValueError:
        value = _repair(text)
    return dict(_walk(value))


def _walk(value: object) -> Iterator[tuple[date, float]]:
    stack: list[tuple[object, tuple[str, ...]]] = [(value, ())]
    while stack:
        item, keys = stack.pop()
        if isinstance(item, dict):
            stack += [(inner, (*keys, str(key))[-2:]) for key, inner in item.items()]
        elif isinstance(item, list):
            stack += [(inner, keys) for inner in item]
        elif isinstance(item, (int, float)):
            day = _day(keys)
            if day is not None:
                yield day, float(item)


def _day(keys: tuple[str, ...]) -> date | None:
    """Return the day that the last two keys name: `2020-05-03`, or `2020-05` and `03`."""
    for count in (1, 2):
        match = _KEY.match("-".join(keys[-count:]))
        if match and match[3]:
            return day_in(match[1], int(match[2]), match[3])
    return None


def _repair(text: str) -> object:
    """Return the value of a JSON text that was cut off, up to its last comma."""
    closers: list[str] = []
    safe: tuple[int, str] = (0, "")
    in_string = escaped = False
    for position, char in enumerate(text):
        if in_string:
            in_string = escaped or char != '"'
            escaped = char == "\\" and not escaped
        elif char == '"':
            in_string = True
        elif char in "{[":
            closers.append("}" if char == "{" else "]")
        elif char in "}]" and closers:
            closers.pop()
        elif char == ",":
            safe = position, "".join(reversed(closers))
    try:
        return orjson.loads(text[: safe[0]] + safe[1])
    except ValueError:
        return None
