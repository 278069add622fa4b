"""From what a tool reports to the codes that the scorer reads.

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
from urllib.parse import SplitResult, urlsplit

from assay.schema.evidence import PageFacts
from assay.schema.outcome import BlockCode, ErrorCode

LINE_LIMIT: Final = 400
"""Characters of an error message that are looked at."""
SPARSE: Final = 100
"""A page with fewer elements than this may be nothing but an obstacle."""

_LABEL: Final = re.compile(
    r"(?:[\w.]{0,80}(?:error|exception)|message|mcp error -?\d{1,6}|call failed|\[error\]"
    r"|(?:locator|page|frame|framelocator|elementhandle|jshandle|browsercontext|browser|keyboard"
    r"|mouse|apirequestcontext)\.\w{1,60})\s{0,3}:\s{0,3}",
    re.IGNORECASE,
)
_CDP: Final = re.compile(r"protocol error \([\w.]{1,60}\): ", re.IGNORECASE)
_BEGINNINGS: Final[Mapping[ErrorCode, tuple[str, ...]]] = {
    "stale_ref": (
        r"ref \S{1,60} not found in the current page snapshot",
        r"ref \S{1,60} is (?:stale|no longer available)",
        r"stale element reference",
        r"element (?:is not attached to|was detached from) the dom",
        r"node is detached from document",
        r"no node with given id found",
        r"could not find node with given id",
        r"execution context was destroyed",
        r"cannot find context with specified id",
        r"jshandle is disposed",
    ),
    "target_closed": (
        r"target (?:page, context or browser has been )?closed",
        r"session closed",
        r"browser has (?:been closed|disconnected)",
        r"(?:the )?page (?:has been )?(?:closed|crashed)",
        r"the page (?:closed itself|does not respond|opened one dialog after the other)",
        r"navigation failed because (?:page|browser|frame)",
        r"no such window",
        r"no target with given id",
    ),
    "nav_error": (
        r"net::err_[a-z_]+",
        r"ns_error_[a-z_]+",
        r"cannot navigate to invalid url",
        r"navigation (?:failed|to \S{1,300} (?:failed|is interrupted))",
        r"invalid url\b",
    ),
    "timeout": (
        r"timeout (?:of )?\d+ ?ms exceeded",
        r"timeout exceeded",
        r"navigation timeout",
        r"(?:(?:operation|request|call|script) )?timed out\b",
        r"waiting failed: \d+ ?ms exceeded",
        r"waiting for (?:selector|function) .{1,250} failed",
    ),
    "not_found": (
        r"no node found for selector",
        r"no such element",
        r"unable to locate element",
        r"strict mode violation",
        r"element not found",
        r"no element (?:found|matches)",
        r"(?:failed to|could not) find element",
    ),
    "not_interactive": (
        r"element is not (?:visible|enabled|editable|stable|clickable|interactable|an? )",
        r"element is outside of the viewport",
        r"element (?:click intercepted|not interactable)",
        r"node is (?:either )?not (?:clickable|visible)",
    ),
    "empty_result": (r"(?:no results?|empty result)(?: |\.|$)",),
    "protocol": (
        r"protocol error",
        r"websocket (?:error|closed|is not open)",
        r"connection closed",
    ),
}
_PATTERNS: Final = tuple(
    (code, re.compile("|".join(phrases), re.IGNORECASE)) for code, phrases in _BEGINNINGS.items()
)


def classify_error(message: str) -> ErrorCode:
    """The code of an error message of Playwright, Puppeteer, Selenium or a CDP or MCP tool."""
    line = _first_line(message)
    for _ in range(5):
        label = _LABEL.match(line)
        if label is None or not label.end():
            break
        line = line[label.end() :]
    wrapper = _CDP.match(line)
    if wrapper is not None:
        line = line[wrapper.end() :]
    for code, pattern in _PATTERNS:
        if pattern.match(line):
            return code
    return "other" if wrapper is None else "protocol"


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
    for line in message[: 4 * LINE_LIMIT].splitlines():
        stripped = line.strip()
        # Some tools put a Markdown heading over the message.
        if stripped and not stripped.startswith("#"):
            return stripped[:LINE_LIMIT]
    return ""


CAPTCHA_SELECTORS: Final = (
    'iframe[src*="recaptcha"]',
    'iframe[src*="hcaptcha.com"]',
    'iframe[src*="challenges.cloudflare.com"]',
    ".g-recaptcha",
    ".h-captcha",
    ".cf-turnstile",
)
CHALLENGE_SELECTORS: Final = ("#challenge-form", "#challenge-running", "#px-captcha")
PASSWORD_SELECTOR: Final = 'input[type="password"]'  # noqa: S105 - a selector, not a secret
BLOCK_SELECTORS: Final = (
    "*",
    "noscript",
    PASSWORD_SELECTOR,
    *CAPTCHA_SELECTORS,
    *CHALLENGE_SELECTORS,
)
"""The selectors whose counts `detect_block` reads from the facts."""

_LOGIN: Final = frozenset(
    ("login", "log-in", "signin", "sign-in", "sign_in", "sso", "oauth", "oauth2", "authenticate")
)
_TITLES: Final[Mapping[str, BlockCode]] = {
    "just a moment...": "bot_check",
    "attention required! | cloudflare": "bot_check",
    "robot check": "bot_check",
    "are you a robot?": "bot_check",
    "access denied": "access_denied",
    "403 forbidden": "access_denied",
    "forbidden": "access_denied",
    "too many requests": "rate_limited",
    "429 too many requests": "rate_limited",
}


def detect_block(facts: PageFacts, *, requested: str | None = None) -> BlockCode | None:
    """What stands between the agent and the page it asked for, if anything does.

    `requested` is the address that the agent navigated to; leave it out for a click, after which
    a login page may be exactly what was wanted. Facts that are missing prove nothing.
    """
    if facts.status == 429:
        return "rate_limited"
    elements = facts.counts.get("*")
    sparse = elements is not None and elements < SPARSE
    denied = facts.status in (401, 403, 503)
    if sparse or denied:
        challenge = _challenge(facts, denied=denied)
        if challenge is not None:
            return challenge
    if facts.status == 401 or _sent_to_login(facts, requested):
        return "auth_redirect"
    if facts.status in (403, 451):
        return "access_denied"
    if not sparse:
        return None
    if facts.title is not None:
        code = _TITLES.get(facts.title[:100].strip().casefold())
        if code is not None:
            return code
    empty = facts.text is not None and not facts.text.strip()
    return "js_required" if empty and facts.counts.get("noscript", 0) > 0 else None


def _challenge(facts: PageFacts, *, denied: bool) -> BlockCode | None:
    counts = facts.counts
    if any(counts.get(selector, 0) > 0 for selector in CHALLENGE_SELECTORS):
        return "bot_check"
    # A small login form with a CAPTCHA in it is a form to fill in, not an obstacle.
    form = counts.get(PASSWORD_SELECTOR, 0) > 0 and not denied
    if not form and any(counts.get(selector, 0) > 0 for selector in CAPTCHA_SELECTORS):
        return "captcha"
    return None


def _sent_to_login(facts: PageFacts, requested: str | None) -> bool:
    if requested is None or facts.url is None:
        return False
    target, arrived = _split(requested), _split(facts.url)
    if target is None or arrived is None:
        return False
    return _asks_for_login(arrived) and not _asks_for_login(target)


def _asks_for_login(url: SplitResult) -> bool:
    return not _LOGIN.isdisjoint(url.path[:2_000].lower().split("/"))


def _split(url: str) -> SplitResult | None:
    try:
        return urlsplit(url[:8_192])
    except ValueError:
        return None
