"""HTML out of plain values: what is not `Html` already is escaped, so no page can be broken.

Pages are made for the accessibility tree: landmarks, one heading, captioned tables, labelled
fields. Nothing on a page comes from another server.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import urlencode

_VOID = frozenset({"br", "input", "link", "meta"})
_STYLE = (
    "body{font:16px/1.5 sans-serif;margin:0 auto;max-width:60rem;padding:0 1rem;color:#222}"
    "table{border-collapse:collapse}th,td{border:1px solid #bbb;padding:.2rem .6rem;"
    "text-align:left}form{margin:1rem 0}label{margin-right:.3rem}nav a{margin-right:1rem}"
)


class Html(str):
    """Text that is markup already."""

    __slots__ = ()


def element(name: str, /, *children: object, **attributes: object) -> Html:
    """One element; a trailing underscore of an attribute is dropped, `None` leaves it out."""
    attribute_text = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{html.escape(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in _VOID:
        return Html(f"<{name}{attribute_text}>")
    return Html(f"<{name}{attribute_text}>{join(children)}</{name}>")


def join(parts: Iterable[object]) -> Html:
    """The parts one after the other."""
    return Html(
        "".join(part if isinstance(part, Html) else html.escape(str(part)) for part in parts)
    )


def link(href: str, text: object) -> Html:
    return element("a", text, href=href)


def paragraph(*parts: object) -> Html:
    return element("p", *parts)


def listing(items: Iterable[object]) -> Html:
    """A bulleted list."""
    return element("ul", *(element("li", item) for item in items))


def table(caption: str, headers: Sequence[str], rows: Iterable[Sequence[object]]) -> Html:
    """A captioned table; the first cell of each row is its header."""
    head = element("tr", *(element("th", header, scope="col") for header in headers))
    body = (
        element(
            "tr",
            element("th", row[0], scope="row"),
            *(element("td", cell) for cell in row[1:]),
        )
        for row in rows
    )
    return element(
        "table", element("caption", caption), element("thead", head), element("tbody", *body)
    )


def field(label: str, name: str, value: str = "", *, kind: str = "text") -> Html:
    """A labelled input."""
    control = element("input", type=kind, id=name, name=name, value=value)
    return element("p", element("label", label, for_=name), control)


def choice(label: str, name: str, options: Mapping[str, str], chosen: str) -> Html:
    """A labelled drop-down; the options map values to what is shown."""
    entries = (
        element("option", label_text, value=value, selected="" if value == chosen else None)
        for value, label_text in options.items()
    )
    return element(
        "p", element("label", label, for_=name), element("select", *entries, id=name, name=name)
    )


def form(action: str, *fields: Html, button: str, name: str, method: str = "get") -> Html:
    """A form; `name` is what it is called in the accessibility tree."""
    submit = element("button", button, type="submit")
    return element("form", *fields, submit, action=action, method=method, aria_label=name)


def page_links(path: str, query: Mapping[str, str], page: int, last: int) -> Html:
    """Links to the neighbours of a page of results, and where the reader is."""

    def target(number: int) -> str:
        return f"{path}?{urlencode({**query, 'page': str(number)})}"

    parts: list[object] = [element("p", f"Page {page} of {last}")]
    if page > 1:
        parts.append(link(target(page - 1), "Previous page"))
    if page < last:
        parts.append(link(target(page + 1), "Next page"))
    return element("nav", *parts, aria_label="Pages")


def document(site: str, title: str, *body: object, head: Sequence[Html] = ()) -> Html:
    """A whole page: the site's name, one heading, and the content."""
    top = element(
        "head",
        element("meta", charset="utf-8"),
        element("title", f"{title} - {site}"),
        element("link", rel="icon", href="data:,"),
        element("style", Html(_STYLE)),
    )
    banner = element("header", element("nav", link("/", "Home"), *head, aria_label="Site"))
    main = element("main", element("h1", title), *body)
    return Html(f'<!doctype html><html lang="en">{top}{element("body", banner, main)}</html>')
