"""A request and a response of the town's web, free of sockets."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Protocol, TypeVar

from townsquare.pages.markup import Html, document, link, paragraph

DOMAIN = "townsquare.localhost"
"""Names under `.localhost` are this machine's by RFC 6761; Chromium asks no name server."""


class HasSlug(Protocol):
    """Something with a page of its own."""

    @property
    def slug(self) -> str: ...


T = TypeVar("T")
N = TypeVar("N", bound=HasSlug)


@dataclass(frozen=True, slots=True)
class Request:
    """One request to one site."""

    site: str
    """The label before the domain; empty for the portal."""
    path: str = "/"
    query: Mapping[str, str] = field(default_factory=dict)
    posted: bool = False
    port: int = 80

    def url(self, site: str, path: str = "/") -> str:
        """The address of a page on any site of the town."""
        return site_url(site, path, port=self.port)

    def number(self, name: str, default: int, *, low: int, high: int) -> int:
        """A whole number of the query, kept within bounds."""
        text = self.query.get(name, "")
        plain = text.isascii() and text.isdecimal() and len(text) < 10
        return min(max(int(text) if plain else default, low), high)

    def cut(self, rows: Sequence[T], size: int) -> tuple[Sequence[T], int, int]:
        """The rows of the page that the query asks for, its number and that of the last page."""
        last = max(1, -(-len(rows) // size))
        number = self.number("page", 1, low=1, high=last)
        return rows[(number - 1) * size : number * size], number, last

    def find(self, prefix: str, items: Iterable[N]) -> N | None:
        """The one of the items whose page, of its slug after the prefix, is asked for."""
        return next((item for item in items if self.path == f"{prefix}{item.slug}"), None)


@dataclass(frozen=True, slots=True)
class Response:
    """The response of a site; one that hangs is never sent."""

    body: bytes = b""
    status: int = 200
    content_type: str = "text/html; charset=utf-8"
    headers: tuple[tuple[str, str], ...] = ()
    hangs: bool = False


def site_url(site: str, path: str = "/", *, port: int) -> str:
    """The address of a page; the empty site is the portal."""
    return f"http://{site}{'.' if site else ''}{DOMAIN}:{port}{path}"


def page(
    site: str, title: str, *body: object, head: Sequence[Html] = (), status: int = 200
) -> Response:
    """A page of a site: its name, a heading and the content."""
    return Response(document(site, title, *body, head=head).encode(), status)


def redirect(location: str) -> Response:
    return Response(status=302, headers=(("Location", location),))


def answer_json(value: Any, *, status: int = 200) -> Response:
    """A JSON value, readable by scripts of every origin."""
    body = json.dumps(value, separators=(",", ":")).encode()
    return Response(
        body, status, "application/json", headers=(("Access-Control-Allow-Origin", "*"),)
    )


def not_found(site: str) -> Response:
    """The page that a site shows where it has nothing."""
    body = paragraph("There is no such page here. ", link("/", "Back to the start"))
    return page(site, "Page not found", body, status=404)


def read_date(text: str) -> date | None:
    """A day written as YYYY-MM-DD, or `None`."""
    try:
        return date.fromisoformat(text.strip())
    except ValueError:
        return None
