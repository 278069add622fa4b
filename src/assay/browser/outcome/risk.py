"""The worst effect that a browser action can have, by the role and name of its element.

It reads the words on a site's own buttons, so it is a policy and no proof.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Final, Literal

from assay.browser.words.languages import (
    LanguageWords,
    languages,
    names_any,
    phrases_in,
    plain,
    shared,
)
from assay.schema.outcome import Effect

READS: Final = frozenset(("noop", "scroll", "fetch_json", "wait", "hover", "none"))
"""Actions that only look, and a text that was no action at all."""
PRESSED: Final = frozenset(
    ("button", "link", "menuitem", "clickable", "form", "option", "switch", "checkbox", "radio")
)
"""Roles of elements that do something when they are clicked."""
CHOSEN: Final = frozenset(("option", "switch", "checkbox", "radio"))
"""Roles of elements that are only chosen, until something else sends the choice."""
ACTIVATING_KEYS: Final = frozenset(("enter", "numpadenter", "space", " "))
LEADING: Final = frozenset(("checkout", "check out", "unsubscribe", "trash", "papierkorb"))
"""On a link these lead to a page where the act can still be left undone."""
SIGNS: Final = {"🗑": "trash", "\N{CREDIT CARD}": "pay", "\N{BANKNOTE WITH DOLLAR SIGN}": "pay"}
"""Pictures among letters that stand for a risky word."""

_WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_MONEY: Final = re.compile(
    r"(?:[€$£¥₹₽₩₺]|(?<!\w)(?:eur|usd|gbp|chf|jpy|cny|inr|pln|sek|nok|dkk|czk|try|rub|krw|zł|kr|"
    r"euro|euros|dollars?|pounds?|francs?))\s?\d|\d[\d.,'\s]{0,14}(?:[€$£¥₹₽₩₺円元원]|(?:eur|usd|gbp|chf|jpy"
    r"|cny|inr|pln|sek|nok|dkk|czk|try|rub|krw|zł|kr|tl|руб|euro|euros|dollars?|pounds?|francs?)"
    r"(?!\w))"
)
_CAMEL: Final = re.compile(r"([a-z])([A-Z])")
_THINGS_TOO: Final = frozenset(
    ("trash", "void", "drop", "ban", "kick", "forever", "permanent", "sil", "raus")
)
"""Words of addresses that destroy something, and are names of things too."""
_WORDS_READ: Final = 24
_TITLE_WORDS: Final = 4
"""A longer link is a title: an article about how firms delete data deletes nothing."""
_CONFIRM_WORDS: Final = 5


def effect_of(
    action: str,
    *,
    role: str = "",
    name: str = "",
    key: str = "",
    dialog: str = "",
    recipient: bool = False,
    around: str = "",
    near: str = "",
) -> Effect:
    """The worst effect that an action on an element with this role and name can have.

    The other arguments are as in `SeenInput`: a message to a `recipient` cannot be called back,
    and "Remove" `near` "Your basket" destroys nothing.
    """
    if action in READS:
        return Effect.READ
    if action == "press" and key.rpartition("+")[2].lower() not in ACTIVATING_KEYS:
        return Effect.BROWSER
    if action not in ("click", "press") or role not in PRESSED or role in CHOSEN:
        return Effect.BROWSER
    effect = _effect_of_name(role, name[:400])
    if effect == Effect.DESTRUCTIVE and _takes_off_a_list(name[:400], near[:200]):
        return Effect.BROWSER
    if recipient and effect == Effect.EXTERNAL and not _names_a_draft(name):
        effect = Effect.IRREVERSIBLE
    question = dialog[:400] or around[:400]
    if effect >= Effect.DESTRUCTIVE or names_any(_spaced(question), shared().consents):
        return effect
    commits = _confirms(name) or _any_has(_text(name), "commits")
    if commits and _any_has(_spaced(around[:400]), "binds"):
        return Effect.IRREVERSIBLE
    if _answers_yes(name) and (says("will", around[:400]) or _moves_money(around[:400])):
        return Effect.IRREVERSIBLE
    if dialog and _confirms(name):
        return max(effect, _effect_of_question(dialog[:400]))
    return effect


def effect_seen(
    effect: Effect,
    *,
    name: str,
    role: str = "",
    texts: Iterable[str],
    written: Iterable[tuple[str, str]],
    addresses: Iterable[str] = (),
    answers: bool = False,
) -> Effect:
    """The effect, or a worse effect that the step's requests or the page's new texts show.

    `written` has each changing request, `addresses` the other requests that name a destruction;
    `answers` says that text was sent from its own field. Without requests, nothing was done.
    """
    written, says_little = list(written), _confirms(name) or not _words(name)
    if effect >= Effect.DESTRUCTIVE or _any_begins(_text(name[:400]), "harmless_first"):
        return effect
    if says_little and any(True for _ in addresses):
        return Effect.DESTRUCTIVE
    if not written:
        return effect
    posts = role == "button" and " ".join(_words(name)) in shared().posts
    if posts or (answers and says("answers", name)):
        return Effect.IRREVERSIBLE
    if says_little and any(_address_destroys(method, url) for method, url in written):
        return Effect.DESTRUCTIVE
    sends = effect == Effect.EXTERNAL and not _names_a_draft(name)
    for text in texts:
        if _names_a_list_or_view(_text(text[:300])):
            continue
        if says("done", text[:300]) or (sends and says("sent", text[:300])):
            return Effect.IRREVERSIBLE
    return effect


def is_bin(name: str) -> bool:
    """Whether an element's name is the name of a bin, where dropped things are deleted."""
    return names_any(_text(name[:400]), shared().bins)


def names_destruction(url: str) -> bool:
    """Whether the words of an address name a destruction."""
    return _address_destroys("GET", url)


def promises_look(name: str) -> bool:
    """Whether an element's name promises only more to read, or a preview."""
    return _begins_with_any(_text(name[:400]), shared().looks)


def is_question(name: str) -> bool:
    """Whether an element's name is a question."""
    return name.rstrip().endswith(("?", "？", "؟"))


def _address_destroys(method: str, url: str) -> bool:
    path = url[:2_000].partition("?")[0].split("//", 1)[-1].partition("/")[2]
    text = _spaced(_CAMEL.sub(r"\1 \2", path))
    destroys = method == "DELETE" or not _path_verbs().isdisjoint(text.split())
    return destroys and not _names_a_list_or_view(text)


def _takes_off_a_list(name: str, near: str) -> bool:
    """Whether an element only removes something from a list, such as a basket."""
    text = _text(name)
    if not names_any(text, shared().removes):
        return False
    if text.strip() not in shared().removes:
        return names_any(text, shared().lists)
    # Only a name without an object of its own is about the line that it stands in.
    return _names_a_list_or_view(_text(near))


def _names_a_list_or_view(text: str) -> bool:
    return names_any(text, shared().lists) or any(
        _names_a_view(language, text) for language in languages()
    )


def _answers_yes(name: str) -> bool:
    """Whether the name means yes, rather than the next page."""
    return _confirms(name) and not _begins_with_any(_text(name), shared().going_on)


def _begins_with_any(text: str, phrases: tuple[str, ...]) -> bool:
    return any(text.startswith(f" {p} " if p.isascii() else f" {p}") for p in phrases)


def asks_for_login(name: str) -> bool:
    """Whether an element's name leads to a login, or to the next page of a login."""
    return names_any(_text(name[:400]), shared().logins) or _confirms(name)


@lru_cache(maxsize=4_096)
def _effect_of_name(role: str, name: str) -> Effect:
    words = _words(name)
    if not words:
        # Sending a form by Enter sends it whatever its button is called, or if it has none.
        return Effect.EXTERNAL if role == "form" else Effect.BROWSER
    if (role == "link" and len(words) > _TITLE_WORDS) or promises_look(name):
        return Effect.BROWSER
    text = f" {' '.join(words)} "
    for phrase in shared().compounds:
        text = text.replace(f" {phrase} ", " ")
    return max(_effect_in(language, text, role) for language in languages())


def _effect_in(language: LanguageWords, text: str, role: str) -> Effect:
    still_risky = any(_has(language, text, phrase) for phrase in _still_risky())
    if not still_risky and _begins(language, text, language.harmless_first):
        return Effect.BROWSER
    for effect, phrases in (
        (Effect.IRREVERSIBLE, language.buys),
        (Effect.DESTRUCTIVE, language.destroys),
        (Effect.IRREVERSIBLE, () if role == "link" else language.publishes),
        (Effect.EXTERNAL, language.sends),
    ):
        matches = {phrase for phrase in phrases if _has(language, text, phrase)}
        if _ends(language, text, language.nouns):
            matches -= matches if not language.spaced else shared().noun_too
        if effect != Effect.EXTERNAL and _names_a_view(language, text):
            matches = set()
        # A link that says "send" or "checkout" leads to where that is done.
        if matches and not (role == "link" and (effect == Effect.EXTERNAL or matches <= LEADING)):
            return effect
    return Effect.BROWSER


def _names_a_draft(name: str) -> bool:
    return not shared().drafts.isdisjoint(_words(name[:400]))


def _names_a_view(language: LanguageWords, text: str) -> bool:
    return any(_has(language, text, thing) for thing in language.things)


def _confirms(name: str) -> bool:
    """Whether the name only says yes to the dialog's question."""
    return len(_words(name)) <= _CONFIRM_WORDS and _any_begins(_text(name), "confirms")


def _effect_of_question(dialog: str) -> Effect:
    """The worst effect that the question of a dialog names."""
    text = _text(dialog)
    for effect, risk in ((Effect.IRREVERSIBLE, "buys"), (Effect.DESTRUCTIVE, "destroys")):
        for language in languages():
            named = any(_has(language, text, phrase) for phrase in getattr(language, risk))
            if named and not _names_a_view(language, text):
                return effect
    return Effect.BROWSER


def _has(language: LanguageWords, text: str, phrase: str) -> bool:
    return (f" {phrase} " if language.spaced else phrase) in text


def _any_has(text: str, kind: str) -> bool:
    return any(_has(each, text, phrase) for each in languages() for phrase in getattr(each, kind))


def _any_begins(text: str, kind: str) -> bool:
    return any(_begins(language, text, getattr(language, kind)) for language in languages())


def _begins(language: LanguageWords, text: str, phrases: tuple[str, ...]) -> bool:
    space = " " if language.spaced else ""
    return any(text.startswith(f" {phrase}{space}") for phrase in phrases)


def _ends(language: LanguageWords, text: str, phrases: tuple[str, ...]) -> bool:
    space = " " if language.spaced else ""
    return any(text.endswith(f"{space}{phrase} ") for phrase in phrases)


def _spaced(text: str) -> str:
    """The plain words of a text, with a space around each."""
    return f" {' '.join(_WORD.findall(plain(text)))} "


def _text(name: str) -> str:
    """The words of a name with a space around each."""
    return f" {' '.join(_words(name))} "


def _words(name: str) -> tuple[str, ...]:
    for sign, word in SIGNS.items():
        name = name.replace(sign, f" {word} ")
    return tuple(_WORD.findall(plain(name))[:_WORDS_READ])


@cache
def _still_risky() -> tuple[str, ...]:
    """Risky phrases that begin like harmless phrases, such as "Cancel order"."""
    return tuple(
        phrase
        for language in languages()
        for phrase in language.destroys
        if phrase.startswith(tuple(f"{first} " for first in language.harmless_first))
    )


@cache
def _path_verbs() -> frozenset[str]:
    """The words in addresses that name a destruction."""
    listed = (phrase for each in languages() if each.spaced for phrase in each.destroys)
    return frozenset(p for p in listed if " " not in p and p.isascii()) - _THINGS_TOO


def _moves_money(text: str) -> bool:
    """Whether a text names the sum of a payment or a transfer."""
    return _MONEY.search(plain(text)) is not None and says("amounts", text)


def says(kind: Literal["will", "done", "sent", "answers", "amounts"], text: str) -> bool:
    """Whether a text has a phrase from this list of `LanguageWords`."""
    spaced = _spaced(text)
    return any(phrases_in(language, kind).search(spaced) for language in languages())
