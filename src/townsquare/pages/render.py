"""Renders pages from `templates`, with every value escaped.

Pages are made for the accessibility tree: landmarks, one heading, captioned tables, labelled
fields. Nothing on a page comes from another server.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, FunctionLoader
from markupsafe import Markup

from townsquare.pages.request import Request, Response
from townsquare.records import schema
from townsquare.records.schema import Hours, category_title, clock, slug

MIN_DELAY_MS, MAX_DELAY_MS = 300, 800


def page(site: str, title: str, block: str, *, status: int = 200, **values: Any) -> Response:
    """Return a page of a site; `block` names a template and a block of it, such as `a.b`."""
    template_name, _, name = block.partition(".")
    environment = _environment()
    template = environment.get_template(f"{template_name}.html")
    context = template.new_context({"title": title, **values})
    body = Markup("".join(template.blocks[name](context)))  # noqa: S704 - escaped by the template
    layout = environment.get_template("layout.html")
    whole = layout.render(name=site, title=title, body=body, head_link=values.get("head_link"))
    return Response(whole.encode(), status)


@cache
def _environment() -> Environment:
    environment = Environment(loader=FunctionLoader(_source), autoescape=True)
    environment.filters |= {
        "category_title": category_title,
        "clock": clock,
        "delay_ms": _delay_ms,
        "dollars": lambda cents: f"${schema.dollars(cents)}",
        "hours": _hours,
        "long_date": schema.long_date,
        "price": lambda price: f"${price:,}",
        "slug": slug,
        "slugs": _slugs,
        "tenths": schema.tenths,
    }
    environment.globals |= {
        "first_day": schema.FIRST_DAY,
        "last_day": schema.LAST_DAY,
        "weekdays": schema.WEEKDAYS,
        "words": schema.WORDS,
    }
    environment.globals["ui"] = environment.get_template("ui.html").module
    return environment


def _source(name: str) -> str:
    """Return a template without the white space between its lines."""
    text = files("townsquare").joinpath("templates", name).read_text("utf-8")
    return "".join(line.strip() for line in text.splitlines())


def _delay_ms(request: Request) -> int:
    """Return the milliseconds after which a directory page shows its content, from its address."""
    address = f"{request.path}?{sorted(request.query.items())}"
    spread = int.from_bytes(hashlib.sha256(address.encode()).digest()[:4])
    return MIN_DELAY_MS + spread % (MAX_DELAY_MS - MIN_DELAY_MS + 1)


def _hours(spell: Hours) -> str:
    return "closed" if spell is None else f"{clock(spell[0])}-{clock(spell[1])}"


def _slugs(items: Iterable[Any]) -> list[tuple[str, str]]:
    """Return pairs of slug and name, for texts or for records."""
    return [(slug(x), x) if isinstance(x, str) else (x.slug, x.name) for x in items]
