"""The codes that the step scorer reads, from what a browser tool reports.

`classify_error` looks at the error channel only, and only at how the message begins, after the
names that tools put before it. A message may quote the page ("waiting for text 'access denied'"),
and a page may say anything ("session timeout", "Forbidden City"): neither is ever searched.
`detect_block` looks at statuses, redirects and counts of elements; a title counts only as a whole,
and only on a page that has almost nothing else on it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from assay.browser.words.error_texts import error_patterns
from assay.schema.blocking import BLOCKING_PAGES, BlockCode, BlockingPage
from assay.schema.evidence import PageFacts
from assay.schema.outcome import ErrorCode

LINE_LIMIT: Final = 400
"""Characters of an error message that are looked at."""
SPARSE: Final = 100
"""A page with fewer elements than this may be nothing but an obstacle."""

_LABELS: Final = re.compile(
    r"\A(?:(?:[\w.]{0,80}(?:error|exception)|message|mcp error -?\d{1,6}|call failed|\[error\]"
    r"|(?:locator|page|frame|framelocator|elementhandle|jshandle|browsercontext|browser|keyboard"
    r"|mouse|apirequestcontext|browserbackend|tracing|touchscreen)\.\w{1,60})\s{0,3}:\s{0,3}){1,5}",
    re.IGNORECASE,
)
_CDP: Final = re.compile(r"protocol error \([\w.]{1,60}\): ", re.IGNORECASE)
_WRAPPERS: Final = re.compile(
    r"(?:failed to [^:\n]{1,120}|error executing action [^:\n]{1,80}|failed to interact with[^.\n]"
    r"{1,120}\.|browser connection error|unable to navigate[^:\n]{0,60})[:.] ",
    re.IGNORECASE,
)
"""What a tool says before the message of another one, which says more."""


def classify_error(message: str) -> ErrorCode:
    """The code of an error message of any tool that has rows in `errors.toml`."""
    line = _LABELS.sub("", _first_line(message))
    protocol = _CDP.match(line)
    if protocol is not None:
        line = line[protocol.end() :]
    wrapper = _WRAPPERS.match(line)
    inner = None if wrapper is None else _row_code(_LABELS.sub("", line[wrapper.end() :]))
    code = inner or _row_code(line)
    return code or ("other" if protocol is None else "protocol")


def _row_code(line: str) -> ErrorCode | None:
    return next((code for code, pattern in error_patterns() if pattern.match(line)), None)


def classify_mcp_result(result: Mapping[str, Any]) -> ErrorCode | None:
    """The code of an MCP tool result that is marked as an error; `None` for every other one."""
    if result.get("isError") is not True:
        return None
    content = result.get("content")
    for block in content[:20] if isinstance(content, list) else ():
        if isinstance(block, Mapping) and isinstance(block.get("text"), str):
            return classify_error(block["text"])
    return "other"


def _first_line(message: str) -> str:
    lines = (line.strip() for line in message[: 4 * LINE_LIMIT].splitlines())
    # Some tools put a Markdown heading over the message.
    return next((line[:LINE_LIMIT] for line in lines if line and not line.startswith("#")), "")


PASSWORD_SELECTOR: Final = 'input[type="password"]'  # noqa: S105 - a selector, not a secret
BLOCK_SELECTORS: Final = (
    "*",
    "noscript",
    PASSWORD_SELECTOR,
    *(selector for page in BLOCKING_PAGES for selector in page.selectors),
)
"""The selectors whose counts `detect_block` reads from the facts."""
_TITLES: Final = {title: page.code for page in BLOCKING_PAGES for title in page.titles}


def detect_block(facts: PageFacts, *, requested: str | None = None) -> BlockCode | None:
    """The code of the page that blocks the agent; `None` when none does.

    `requested` is the address that the agent navigated to; leave it out for a click, after which
    a login page may be the right one. Missing facts never count as a block.
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
    code = _TITLES.get((facts.title or "")[:100].strip().casefold())
    if code is not None:
        return code
    empty = facts.text is not None and not facts.text.strip()
    return "js_required" if empty and facts.counts.get("noscript", 0) > 0 else None


def _shows(page: BlockingPage, facts: PageFacts, *, denied: bool) -> bool:
    # A small login form with a CAPTCHA in it is a form to fill in, not an obstacle.
    if page.in_forms and facts.counts.get(PASSWORD_SELECTOR, 0) > 0 and not denied:
        return False
    return any(facts.counts.get(selector, 0) > 0 for selector in page.selectors)


def _sent_to(page: BlockingPage, facts: PageFacts, requested: str | None) -> bool:
    """Whether the agent asked for another address and was sent to one of this page."""
    if not page.path_words or requested is None or facts.url is None:
        return False
    target, arrived = _path_words(requested), _path_words(facts.url)
    if target is None or arrived is None:
        return False
    return not page.path_words.isdisjoint(arrived) and page.path_words.isdisjoint(target)


def _path_words(url: str) -> list[str] | None:
    try:
        segments = urlsplit(url[:8_192]).path[:2_000].lower().split("/")
        return [segment.partition(".")[0] for segment in segments]
    except ValueError:
        return None


_WALLS: Final[Mapping[str, BlockCode]] = {
    "login": "auth_redirect",
    "lone": "auth_redirect",
    "captcha": "captcha",
    "gate": "gate",
    "code": "gate",
}
_REFUSED: Final[Mapping[int, BlockCode]] = {
    401: "auth_redirect",
    402: "gate",
    403: "access_denied",
    407: "auth_redirect",
    451: "access_denied",
    511: "auth_redirect",
    429: "rate_limited",
}


def detect_wall(
    wall: str,
    *,
    before: str,
    fresh: bool,
    asks_for_login: bool,
    refused: int | None,
) -> BlockCode | None:
    """The code of what stands before a page that loaded well; `None` when nothing does.

    `wall` is what the page shows, `before` what it showed before the call, `fresh` whether the
    document came with the call, `asks_for_login` whether the agent went there to log in, and
    `refused` the status of a request of the step that was refused to this visitor.
    """
    if refused is not None:
        return _REFUSED.get(refused)
    if not wall or (wall == before and not fresh):
        return None
    if wall in ("login", "lone") and asks_for_login:
        return None
    # A question that a click opened is the click's doing; one over a new page is the site's.
    if wall == "gate" and not fresh:
        return None
    return _WALLS.get(wall)
