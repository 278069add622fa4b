"""Recognise pages that block an agent: logins, CAPTCHAs, gates and refusals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from assay.browser.outcome.risk import asks_for_login
from assay.browser.words.languages import plain
from assay.schema.blocking import BLOCKING_PAGES, BlockCode, BlockingPageKind
from assay.schema.evidence import PageFacts

if TYPE_CHECKING:
    from assay.browser.observe.requests import RequestLog
    from assay.browser.observe.snapshot import PageSnapshot
    from assay.browser.outcome.notices import Notice

PASSWORD_SELECTOR: Final = 'input[type="password"]'  # noqa: S105 - a selector, not a secret
BLOCK_SELECTORS: Final = (
    "*",
    "noscript",
    PASSWORD_SELECTOR,
    *(selector for page in BLOCKING_PAGES for selector in page.selectors),
)
"""The selectors whose counts `detect_block` reads from the facts."""
SPARSE: Final = 100
"""A page with fewer elements than this may be nothing but an obstacle."""
_TITLES: Final = {title: page.code for page in BLOCKING_PAGES for title in page.titles}


def detect_block(facts: PageFacts, *, requested: str | None = None) -> BlockCode | None:
    """The code of a page that blocks the agent, by its status, address and elements; or `None`.

    `requested` is an address that the agent navigated to; after a click, a login page may be right.
    """
    elements = facts.counts.get("*")
    sparse = elements is not None and elements < SPARSE
    denied = facts.status in (401, 403, 503)
    for page in BLOCKING_PAGES:
        if page.decisive and facts.status in page.statuses:
            return page.code
    for page in BLOCKING_PAGES:
        if (sparse or denied) and _shows(page, facts, denied=denied):
            return page.code
    for page in BLOCKING_PAGES:
        if facts.status in page.statuses or _sent_to(page, facts, requested):
            return page.code
    if not sparse:
        return None
    if code := _TITLES.get((facts.title or "")[:100].strip().casefold()):
        return code
    empty = facts.text is not None and not facts.text.strip()
    return "js_required" if empty and facts.counts.get("noscript", 0) > 0 else None


def _shows(page: BlockingPageKind, facts: PageFacts, *, denied: bool) -> bool:
    # A small login form with a CAPTCHA in it is a form to fill in, not an obstacle.
    if page.in_forms and facts.counts.get(PASSWORD_SELECTOR, 0) > 0 and not denied:
        return False
    return any(facts.counts.get(selector, 0) > 0 for selector in page.selectors)


def _sent_to(page: BlockingPageKind, facts: PageFacts, requested: str | None) -> bool:
    """Whether the site redirected the agent from another address to this kind of page."""
    if not page.path_words or requested is None or facts.url is None:
        return False
    try:
        target, arrived = _path_words(requested), _path_words(facts.url)
    except ValueError:
        return False
    return not page.path_words.isdisjoint(arrived) and page.path_words.isdisjoint(target)


def _path_words(url: str) -> list[str]:
    segments = urlsplit(url[:8_192]).path[:2_000].lower().split("/")
    return [segment.partition(".")[0] for segment in segments]


_WALLS: Final[Mapping[str, BlockCode]] = {
    "login": "auth_redirect", "lone": "auth_redirect",
    "captcha": "captcha", "gate": "gate", "code": "gate",
}  # fmt: skip
_REFUSED: Final[Mapping[int, BlockCode]] = {
    401: "auth_redirect", 407: "auth_redirect", 511: "auth_redirect",
    403: "access_denied", 451: "access_denied", 402: "gate", 429: "rate_limited",
}  # fmt: skip


def detect_wall(
    wall: str, *, before: str, fresh: bool, asks_for_login: bool, refused: int | None
) -> BlockCode | None:
    """The code of an obstacle over a loaded page, such as a login; `None` without an obstacle."""
    if refused is not None:
        return _REFUSED.get(refused)
    if not wall or (wall == before and not fresh):
        return None
    if wall in ("login", "lone") and asks_for_login:
        return None
    # A question that a click opened comes from the click; one over a new page from the site.
    return None if wall == "gate" and not fresh else _WALLS.get(wall)


def find_block(
    facts: PageFacts,
    snapshot: PageSnapshot,
    before: PageSnapshot | None,
    requests: RequestLog,
    *,
    requested: str | None,
    target: str,
    blocked: bool,
    notice: Notice | None = None,
) -> BlockCode | None:
    """The code of the obstacle that blocks the agent after a step; `None` without an obstacle.

    `target` is the name of the clicked element, `blocked` whether the earlier step was blocked.
    What was on the page before does not count.
    """
    document = requests.document
    fresh = document is not None or before is None
    chain = () if document is None else document.redirects
    if not fresh and not blocked:
        assert before is not None
        counts = {
            name: n if name in ("*", "noscript") else max(0, n - before.counts.get(name, 0))
            for name, n in facts.counts.items()
        }
        facts = replace(facts, counts=counts, status=None)
    sent_from = requested if requested is not None else chain[0] if chain else None
    block = detect_block(facts, requested=sent_from)
    if block is not None:
        return block
    words = target if requested is None else requested.replace("/", " ").replace("-", " ")
    wall = snapshot.wall
    if wall == "digits":
        # A short field for digits asks for many things; after a password it asks for a code.
        wall = "code" if before is not None and _has_password(before) else ""
    block = detect_wall(
        wall,
        before="" if before is None or blocked else before.wall,
        fresh=fresh,
        asks_for_login=bool(words) and asks_for_login(words),
        refused=requests.refused,
    )
    if block is not None or notice is None or notice.block is None:
        return block
    if notice.kind == "login" and words and asks_for_login(words):
        return None
    sent = requests.submitted or requests.wrote
    if notice.kind == "gate" and sent and not (before and _has_password(before)):
        # The answer to a form may tell the visitor to look for a mail that confirms it.
        return None
    named = any(len(word) > 3 and word in notice.words for word in plain(words).split())
    return None if named and notice.kind in ("login", "gate", "robot") else notice.block


def _has_password(page: PageSnapshot) -> bool:
    return page.wall in ("login", "lone") or any(secret for _, secret, _ in page.sendable)
