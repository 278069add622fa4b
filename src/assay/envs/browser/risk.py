"""The worst effect that a browser action can have, by the role and name of its element.

It reads the words that a site puts on its own buttons, so it is a policy and no proof: a button
called "Continue" can sell a house. Words are compared whole, ignoring case and punctuation ("Pay
now" is a payment, "Payment options" is not), and only on elements that do something when clicked.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from assay.schema.outcome import Effect

READS: Final = frozenset(("noop", "scroll", "fetch_json"))
"""Actions that only look."""
PRESSED: Final = frozenset(("button", "link", "menuitem", "clickable", "form"))
"""Roles of elements that do something when they are clicked."""
ACTIVATING_KEYS: Final = frozenset(("enter", "numpadenter", "space", " "))

RISKY: Final[Mapping[Effect, tuple[str, ...]]] = {
    Effect.IRREVERSIBLE: (
        "pay", "buy", "purchase", "order now", "place order", "place your order", "place my order",
        "complete order", "complete purchase", "confirm order", "confirm purchase",
        "confirm payment", "submit order", "submit payment", "checkout", "check out", "donate",
        "transfer", "send money", "withdraw", "wire", "bid", "place bid", "start subscription",
        "rent now", "sell",
    ),
    Effect.DESTRUCTIVE: (
        "delete", "remove", "erase", "destroy", "wipe", "purge", "discard", "clear all",
        "empty trash", "empty bin", "close account", "close my account", "deactivate", "terminate",
        "revoke", "uninstall", "factory reset", "reset all", "drop", "format disk",
        "change password", "cancel subscription", "cancel order", "cancel booking",
        "end membership",
    ),
    Effect.EXTERNAL: (
        "submit", "send", "publish", "post", "book", "book now", "reserve", "apply", "register",
        "sign up", "create account", "confirm", "agree", "accept", "share", "reply", "comment",
        "invite", "upload", "save", "subscribe", "update", "vote", "request", "report", "form",
    ),
}  # fmt: skip
"""Words that say what a click does, the worst first."""

HARMLESS_FIRST: Final = (
    "cancel", "back", "go back", "preview", "undo", "restore", "keep", "do not", "don't", "dont",
    "never", "no", "not now", "learn", "more", "how", "why", "about", "help", "view", "show",
    "see", "edit", "review", "search", "filter", "sort",
)  # fmt: skip
"""A name that begins so does nothing of what follows: "Don't delete", "How to pay"."""
HARMLESS_LAST: Final = (
    "history", "policy", "options", "methods", "settings", "guide", "details", "filter", "filters",
    "list", "status", "faq",
)  # fmt: skip
"""A name that ends with one of these is a noun: "Purchase history", "Remove filters"."""
STILL_RISKY: Final = ("cancel subscription", "cancel order", "cancel booking")
"""Beginnings that only look harmless."""
LEADING: Final = frozenset(("checkout", "check out"))
"""On a link these lead to a page where the deed can still be left undone."""

_WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_WORDS_READ: Final = 24
_LINK_WORDS: Final = 4
"""A longer link is a title: an article about how firms delete data deletes nothing."""


def effect_of(action: str, *, role: str = "", name: str = "", key: str = "") -> Effect:
    """The worst that the action can do to the element with this role and name.

    `press` counts only for keys that activate (`key`); its element is what would be activated.
    """
    if action in READS:
        return Effect.READ
    if action == "press" and key.rpartition("+")[2].lower() not in ACTIVATING_KEYS:
        return Effect.BROWSER
    if action not in ("click", "press") or role not in PRESSED:
        return Effect.BROWSER
    # Sending a form by Enter sends it whatever its button is called, or if it has none.
    words = _words(name) or ((role,) if role == "form" else ())
    if _harmless(words) or (role == "link" and len(words) > _LINK_WORDS):
        return Effect.BROWSER
    text = f" {' '.join(words)} "
    for effect, phrases in RISKY.items():
        matches = {phrase for phrase in phrases if f" {phrase} " in text}
        # A link that says "send" or "checkout" leads to where that is done.
        if matches and not (role == "link" and (effect == Effect.EXTERNAL or matches <= LEADING)):
            return effect
    return Effect.BROWSER


def _harmless(words: tuple[str, ...]) -> bool:
    text = f"{' '.join(words)} "
    if any(text.startswith(f"{phrase} ") for phrase in STILL_RISKY):
        return False
    last = words[-1] if words else ""
    return last in HARMLESS_LAST or any(text.startswith(f"{p} ") for p in HARMLESS_FIRST)


def _words(name: str) -> tuple[str, ...]:
    words = _WORD.findall(name[:400].casefold().replace("’", "'"))
    return tuple(words[:_WORDS_READ])
