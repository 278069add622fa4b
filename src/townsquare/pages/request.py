"""Requests and responses of the town's web, independent of sockets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import TypeVar

DOMAIN = "townsquare.localhost"
"""Names under `.localhost` are this machine's by RFC 6761; Chromium asks no name server."""

T = TypeVar("T")


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
        """Return the address of a page on a site of the town."""
        return site_url(site, path, port=self.port)

    def cut(self, rows: Sequence[T], size: int) -> dict[str, object]:
        """Return the rows of the requested page, its number and the number of the last page."""
        text = self.query.get("page", "")
        last = max(1, -(-len(rows) // size))
        asked = int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else 1
        number = min(max(asked, 1), last)
        return {"rows": rows[(number - 1) * size : number * size], "number": number, "last": last}


@dataclass(frozen=True, slots=True)
class Response:
    """A response of a site; if `hangs` is set, the response is never sent."""

    body: bytes = b""
    status: int = 200
    content_type: str = "text/html; charset=utf-8"
    headers: tuple[tuple[str, str], ...] = ()
    hangs: bool = False


def site_url(site: str, path: str = "/", *, port: int) -> str:
    """Return the address of a page; an empty site name means the portal."""
    return f"http://{site}{'.' if site else ''}{DOMAIN}:{port}{path}"


def redirect(location: str) -> Response:
    return Response(status=302, headers=(("Location", location),))


def read_date(text: str) -> date | None:
    """Return the date in a text such as 2024-05-31; `None` if the text is not a date."""
    try:
        return date.fromisoformat(text.strip())
    except ValueError:
        return None
