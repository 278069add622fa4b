"""Reads the town's web over HTTP and nothing else: pages become tables and links."""

from __future__ import annotations

import http.client
import json
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any, Self
from urllib.parse import urlencode, urlsplit


@dataclass
class Table:
    caption: str = ""
    headers: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)

    def column(self, name: str) -> list[str]:
        place = self.headers.index(name)
        return [row[place] for row in self.rows]

    def records(self) -> list[dict[str, str]]:
        return [dict(zip(self.headers, row, strict=True)) for row in self.rows]


@dataclass
class Link:
    text: str
    href: str
    after: str = ""
    """The text between this link and the next."""


class Page(HTMLParser):
    """What a page shows, `template` content included, as a browser has it after the script."""

    def __init__(self, status: int, source: str) -> None:
        super().__init__()
        self.status = status
        self.source = source
        self.tables: list[Table] = []
        self.links: list[Link] = []
        self.labels: set[str] = set()
        self.controls: set[str] = set()
        self.ids: list[str] = []
        self._text = ""
        self._row: list[str] = []
        self._open: list[str] = []
        self.feed(source)
        self.close()
        assert not self._open, f"unclosed: {self._open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        if attributes.get("id"):
            self.ids.append(attributes["id"] or "")
        if tag in ("input", "select"):
            self.controls.add(attributes["id"] or "")
        if tag == "label":
            self.labels.add(attributes["for"] or "")
        if tag == "table":
            self.tables.append(Table())
        if tag == "a":
            self.links.append(Link("", attributes["href"] or ""))
        if tag not in ("meta", "link", "input", "br"):
            self._open.append(tag)
        if tag in ("a", "th", "td", "caption", "tr"):
            self._row = [] if tag == "tr" else self._row
            self._text = self._text if tag == "a" and "td" in self._open else ""

    def handle_data(self, data: str) -> None:
        self._text += data
        if self.links:
            last = self.links[-1]
            if "a" in self._open:
                last.text += data
            else:
                last.after += data

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag, f"</{tag}> closes nothing"
        if tag == "caption":
            self.tables[-1].caption = self._text
        elif tag in ("th", "td"):
            self._row.append(self._text)
        elif tag == "tr":
            table = self.tables[-1]
            if table.headers:
                table.rows.append(self._row)
            else:
                table.headers = self._row

    def table(self, caption: str = "") -> Table:
        return next(table for table in self.tables if caption in table.caption)

    def link(self, text: str) -> Link | None:
        return next((link for link in self.links if link.text == text), None)


class Reader:
    """A client that connects to the loopback port and names the site in the Host header."""

    def __init__(self, base_url: str) -> None:
        parts = urlsplit(base_url)
        assert parts.hostname
        assert parts.port
        self._domain, self._port = parts.hostname, parts.port
        self._connection = http.client.HTTPConnection("127.0.0.1", parts.port, timeout=10)
        self.requests = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def open(self, url: str) -> Page:
        """The page behind an absolute address, redirects followed."""
        status, headers, body = self.fetch(url)
        if status == 302:
            target = headers["Location"]
            parts = urlsplit(url)
            return self.open(target if "://" in target else f"http://{parts.netloc}{target}")
        return Page(status, body)

    def page(self, site: str, path: str = "/", **query: str) -> Page:
        query_text = f"?{urlencode(query)}" if query else ""
        return self.open(f"http://{site}.{self._domain}:{self._port}{path}{query_text}")

    def json(self, site: str, path: str, **query: str) -> Any:
        url = f"http://{site}.{self._domain}:{self._port}{path}?{urlencode(query)}"
        return json.loads(self.fetch(url)[2])

    def fetch(self, url: str, method: str = "GET") -> tuple[int, dict[str, str], str]:
        self.requests += 1
        parts = urlsplit(url)
        target = parts.path + (f"?{parts.query}" if parts.query else "")
        self._connection.request(method, target, headers={"Host": parts.netloc})
        response = self._connection.getresponse()
        return response.status, dict(response.headers), response.read().decode()
