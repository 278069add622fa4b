"""What can be read off an observation's text without understanding it."""

from __future__ import annotations

import re
from urllib.parse import urljoin, urlsplit

_URL = re.compile(r"^url: (\S+)", re.MULTILINE)
_PAYLOAD = re.compile(r"^result of fetch_json [^\n]*:\n", re.MULTILINE)


def page_url(text: str) -> str:
    """The address of the page that the observation shows; empty when it names none."""
    match = _URL.search(text, 0, 10_000)
    return match[1] if match else ""


def page_body(text: str) -> str:
    """What the page itself shows: the observation without its head."""
    return text.partition("\n\n")[2]


def can_scroll(text: str) -> bool:
    """Whether the observation says that the page is longer than the window."""
    return "\nscrolled to " in text.partition("\n\n")[0]


def link_target(text: str, element: str) -> str:
    """Where the link with this number leads, as a whole address; empty when it is no such link."""
    at = text.find(f"[{element}] link ")
    if at < 0:
        return ""
    line = text[at : text.find("\n", at) if "\n" in text[at:] else len(text)]
    # Other elements may follow on the same line.
    following = re.search(r" \[\d+\] ", line[1:])
    own = line[: following.start() + 1] if following else line
    _, arrow, target = own.rpartition(" -> ")
    # In a heading the line ends in the heading's own quote.
    address = target.split(" ")[0].rstrip('"')
    return urljoin(page_url(text), address) if arrow else ""


def in_domain(url: str, domains: tuple[str, ...]) -> str:
    """The first of the domains that the address is in, itself or below it; empty for none."""
    try:
        host = (urlsplit(url).hostname or "").rstrip(".").lower()
    except ValueError:
        return ""
    for domain in domains:
        if host == domain.lower() or host.endswith(f".{domain.lower()}"):
            return domain
    return ""


def cut(text: str, budget: int) -> str:
    """The text within the budget, whole lines where there are any, and a mark for what is gone."""
    if len(text) <= budget:
        return text
    head = text[:budget]
    line_end = head.rfind("\n")
    if line_end > budget // 2:
        head = head[:line_end]
    return f"{head}\n… {len(text) - len(head)} characters not shown; scroll or narrow down …"


def cut_json(text: str, budget: int) -> str:
    """The observation with the payload of `fetch_json` in it within the budget, visibly cut."""
    head = _PAYLOAD.search(text)
    if head is None:
        return text
    end = text.find("\n\n", head.end())
    payload = text[head.end() : end if end >= 0 else len(text)]
    if len(payload) <= budget:
        return text
    mark = f"\n… {len(payload) - budget} characters not shown; ask for less"
    return text[: head.end() + budget] + mark + text[head.end() + len(payload) :]
