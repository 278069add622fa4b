"""Pages that stand between an agent and what it asked for: one row each.

A row holds all that is known of such a page: its code, its sentence in a step score, what the agent
should look at next, and how the browser recognises it. A new one is a code and a row here.
Standard library only.
"""

from __future__ import annotations

import re
from typing import Final, Literal, NamedTuple, TypeAlias

BlockCode: TypeAlias = Literal[
    "captcha", "bot_check", "access_denied", "auth_redirect", "js_required", "rate_limited", "gate"
]
ReadAction: TypeAlias = Literal[
    "read_page", "find_element", "list_tabs", "wait_and_read", "screenshot", "read_console"
]
"""An action that changes nothing on the page."""

_NOTE: Final = re.compile(r"^note: the page is blocked \((\w+)\)", re.MULTILINE)


class BlockingPage(NamedTuple):
    """One kind of page that blocks an agent."""

    code: BlockCode
    sentence: str
    """What a step score says of it."""
    advice: tuple[ReadAction, ...] = ()
    """What an agent should look at, before what helps anywhere."""
    selectors: tuple[str, ...] = ()
    """CSS selectors of it; they count on a refused page, or on one with little else on it."""
    in_forms: bool = False
    """Whether its selectors do not count in a login form, where it is a part to be filled in."""
    statuses: tuple[int, ...] = ()
    """HTTP statuses of the document."""
    decisive: bool = False
    """Whether its status counts before its own and other pages' selectors."""
    path_words: frozenset[str] = frozenset()
    """Parts of an address to which a site sends those who asked for another one."""
    titles: tuple[str, ...] = ()
    """Whole titles in lower case; they count only on a page with little else on it."""


BLOCKING_PAGES: Final = (
    BlockingPage(
        "rate_limited",
        "the site limits the rate of requests",
        advice=("wait_and_read",),
        statuses=(429,),
        decisive=True,
        titles=("too many requests", "429 too many requests"),
    ),
    BlockingPage(
        "bot_check",
        "a bot check stands in the way",
        selectors=("#challenge-form", "#challenge-running", "#px-captcha"),
        titles=(
            "just a moment...",
            "attention required! | cloudflare",
            "robot check",
            "are you a robot?",
        ),
    ),
    BlockingPage(
        "captcha",
        "a CAPTCHA stands in the way",
        selectors=(
            'iframe[src*="recaptcha"]',
            'iframe[src*="hcaptcha.com"]',
            'iframe[src*="challenges.cloudflare.com"]',
            'iframe[src*="captcha" i]',
            'iframe[title*="captcha" i]',
            'iframe[src*="arkoselabs"]',
            'iframe[src*="funcaptcha"]',
            "#aws-waf-captcha",
            ".geetest_holder",
            ".g-recaptcha",
            ".h-captcha",
            ".cf-turnstile",
        ),
        in_forms=True,
    ),
    BlockingPage(
        "auth_redirect",
        "the site asked for a login instead of showing the page",
        statuses=(401,),
        path_words=frozenset(
            "login log-in log_in logon signin sign-in sign_in sso saml saml2 oauth oauth2 "
            "openid-connect authenticate authorize auth login-actions".split()
        ),
    ),
    BlockingPage(
        "access_denied",
        "the site denied access",
        statuses=(403, 451),
        titles=("access denied", "403 forbidden", "forbidden"),
    ),
    # Recognised by a window over the page that has no way to be closed, which is its own rule.
    BlockingPage("gate", "a question has to be answered before the page can be used"),
    # Recognised by `noscript` on a page without any text, which is its own rule.
    BlockingPage("js_required", "the page refuses to work without scripts"),
)
"""Where a page fits two rows, the first one counts."""


def block_note(code: BlockCode) -> str:
    """The line of an observation that names the code."""
    return f"note: the page is blocked ({code})"


def read_block_note(observation: str) -> str | None:
    """The code in the first `block_note` of an observation's text; `None` when it has none."""
    match = _NOTE.search(observation)
    return match[1] if match else None
