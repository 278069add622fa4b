"""Pages as HTML, through templates that escape everything, or as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from assay import __version__
from assay.formats.lines import dump_json
from assay.viewer.links import Links
from assay.viewer.text import brief, visible
from assay.viewer.theme import GLYPHS, bars, duration, money, plain, shade, signed, words


def to_json(page: Any) -> bytes:
    """The page's record as ASCII: what has no other form is an escape."""
    return dump_json(asdict(page))


class Templates:
    """The templates of the package; every value is made visible, then escaped."""

    def __init__(self) -> None:
        self._environment = Environment(
            loader=PackageLoader("assay.viewer"),
            autoescape=True,
            undefined=StrictUndefined,
            finalize=_finalize,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._environment.filters.update(
            signed=signed, plain=plain, money=money, duration=duration, words=words, shade=shade,
            bars=bars, brief=brief, when=_when, count=_count, record=asdict,
        )  # fmt: skip
        self._environment.globals.update(version=__version__, glyphs=GLYPHS)
        for name in self._environment.list_templates():
            self._environment.get_template(name)

    def render(self, template: str, page: Any, links: Links, **more: Any) -> str:
        """The page as HTML."""
        return self._environment.get_template(template).render(page=page, links=links, **more)


def _finalize(value: Any) -> Any:
    # Markup is what the templates themselves made; anything else may come from a model.
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _when(stamp: str) -> str:
    """`2026-03-29T12:21:35.000Z` as `2026-03-29 12:21`."""
    return stamp[:16].replace("T", " ")


def _count(number: int) -> str:
    return f"{number:,}"
