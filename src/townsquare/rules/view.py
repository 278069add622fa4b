"""Parses the text of an observation into a page."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import urljoin

_ELEMENT = re.compile(
    r'\[(\d{1,9})\] ([a-z]{1,20}) "((?:[^"\\]++|\\.)*+)"'
    r'((?: (?:value|options)="(?:[^"\\]++|\\.)*+"| ->\s\S+| (?:un)?checked| disabled)*)'
)
_VALUE = re.compile(r' value="((?:[^"\\]++|\\.)*+)"')
_OPTIONS = re.compile(r' options="((?:[^"\\]++|\\.)*+)"')
_TARGET = re.compile(r" -> (\S+)")
_HEADING = re.compile(r'heading (".*")\Z')
_PAYLOAD = re.compile(r"^result of fetch_json \S+:(?:\n|\Z)", re.MULTILINE)
_OBSTACLES = ("are you human", "log in", "403 forbidden", "page not found", "no such")


@dataclass(frozen=True, slots=True)
class Element:
    """An element of a page, with the number that actions use."""

    id: str
    role: str
    name: str
    value: str
    options: tuple[str, ...]
    """The options of a list, as far as the observation has them."""
    target: str
    """Where a link leads, as a whole address."""
    about: str
    """The words around a link: the rest of its line, or the line below it."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a page: its caption, its column names and its rows."""

    caption: str
    headers: tuple[str, ...]
    rows: tuple[dict[str, str], ...]

    def has(self, *columns: str) -> bool:
        """Whether the table has a column for each name; text in brackets may follow the name."""
        return all(self.column(name) for name in columns)

    def column(self, name: str) -> str:
        """Return the full name of the column that begins with `name`, or an empty text."""
        names = (header for header in self.headers if header.lower().startswith(name.lower()))
        return next(names, "")


@dataclass(frozen=True, slots=True)
class Page:
    """One observation, parsed."""

    url: str
    title: str
    error: str
    blocked: bool
    payload: str
    """What `fetch_json` got, when this is its result."""
    elements: tuple[Element, ...]
    tables: tuple[Table, ...]
    headings: tuple[str, ...]
    lines: tuple[str, ...]

    @property
    def obstacle(self) -> bool:
        """Whether the page is an obstacle, such as a login page or an error."""
        top = self.headings[0].lower() if self.headings else ""
        return self.blocked or top.startswith(_OBSTACLES)

    @property
    def loading(self) -> bool:
        return not self.tables and "Loading" in self.lines

    def rows(self, *columns: str) -> list[dict[str, str]] | None:
        """Return the rows of the first table that has these columns.

        A table of what used to be is no help.
        """
        for table in self.tables:
            if table.has(*columns) and not table.caption.lower().startswith("former"):
                whole = {name: table.column(name) for name in columns}
                return [{name: row.get(whole[name], "") for name in columns} for row in table.rows]
        return None

    def link(self, name: str) -> Element | None:
        """Return the link with this name, or the first link whose name contains it."""
        lowered = name.lower()
        links = [element for element in self.elements if element.role == "link"]
        exact = (link for link in links if link.name.lower() == lowered)
        partly = (link for link in links if lowered in link.name.lower())
        return next(exact, None) or next(partly, None)

    def field(self, label: str) -> Element | None:
        """Return the field whose label begins with this text."""
        roles = ("textbox", "combobox", "searchbox", "date", "spinbutton")
        fields = (element for element in self.elements if element.role in roles)
        return next(
            (field for field in fields if field.name.lower().startswith(label.lower())), None
        )

    def button_after(self, field: Element) -> Element | None:
        """Return the button after the field, which sends the form."""
        following = self.elements[self.elements.index(field) :]
        return next((item for item in following if item.role == "button"), None)

    def element(self, number: str) -> Element | None:
        return next((item for item in self.elements if item.id == number), None)


def read_page(text: str) -> Page:
    """Return the page in the text of an observation."""
    head, _, body = text.partition("\n\n")
    head, payload = [*re.split(_PAYLOAD, head, maxsplit=1), ""][:2]
    head_lines = head.split("\n")
    facts = dict(line.split(": ", 1) for line in reversed(head_lines) if ": " in line)
    url = facts.get("url", "")
    lines = [line.strip() for line in body.split("\n") if line.strip()]
    lines = [_without_quotes(line) for line in lines]
    return Page(
        url=url,
        title=facts.get("title", ""),
        error=facts.get("error", ""),
        blocked=any(line.startswith("note: the page is blocked") for line in head_lines),
        payload=payload,
        elements=tuple(_elements(lines, url)),
        tables=tuple(_tables(lines)),
        headings=tuple(line[8:] for line in lines if line.startswith("heading ")),
        lines=tuple(lines),
    )


def _without_quotes(line: str) -> str:
    """Return the text of a heading, which is shown as a quoted string."""
    match = _HEADING.match(line)
    if match is None:
        return line
    try:
        return f"heading {json.loads(match[1])}"
    except ValueError:
        return line


def _elements(lines: Sequence[str], url: str) -> Iterator[Element]:
    for number, line in enumerate(lines):
        below = lines[number + 1] if number + 1 < len(lines) else ""
        for match in _ELEMENT.finditer(line):
            value, target = _VALUE.search(match[4]), _TARGET.search(match[4])
            options = _OPTIONS.search(match[4])
            rest = line[match.end() :].strip(" :,")
            yield Element(
                id=match[1],
                role=match[2],
                name=_unquote(match[3]),
                value=_unquote(value[1]) if value else "",
                options=tuple(_unquote(options[1]).split(" | ")) if options else (),
                target=_target(url, target[1]) if target else "",
                about=rest or (below if not _ELEMENT.match(below) else ""),
            )


def _target(url: str, target: str) -> str:
    try:
        return urljoin(url, target)
    except ValueError:
        return ""


def _unquote(body: str) -> str:
    try:
        return str(json.loads(f'"{body}"'))
    except ValueError:
        return body


def _tables(lines: Sequence[str]) -> Iterator[Table]:
    rows: list[list[str]] = []
    caption = ""
    for line in [*lines, ""]:
        if line.startswith("row "):
            rows.append([_plain(cell) for cell in line[4:].split(" | ")])
            continue
        if rows:
            headers = tuple(rows[0])
            records = tuple(dict(zip(headers, row, strict=False)) for row in rows[1:])
            yield Table(caption, headers, records)
            rows = []
        caption = line


def _plain(cell: str) -> str:
    """Return the text of a cell, with links replaced by their names."""
    return _ELEMENT.sub(lambda match: _unquote(match[3]), cell).strip()
