"""What a click can do, judged by what is written on the button."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.browser.outcome.risk import effect_of
from assay.browser.words.languages import languages
from assay.schema.outcome import Effect

CASES = [
    ("click", "button", "Buy now", Effect.IRREVERSIBLE, "a purchase"),
    ("click", "button", "  PAY  €20.00 ", Effect.IRREVERSIBLE, "case, spaces and amounts"),
    ("click", "button", "Place your order", Effect.IRREVERSIBLE, "a phrase"),
    ("click", "button", "Delete account no. 5", Effect.DESTRUCTIVE, "a negation inside is no help"),
    ("click", "button", "Delete everything, no way back", Effect.DESTRUCTIVE, "nor at the end"),
    ("click", "link", "Delete", Effect.DESTRUCTIVE, "some sites delete by a link"),
    ("click", "menuitem", "Remove", Effect.DESTRUCTIVE, "a menu"),
    ("click", "button", "Cancel subscription", Effect.DESTRUCTIVE, "cancelling something"),
    ("click", "button", "Submit", Effect.EXTERNAL, "a form"),
    ("press", "form", "", Effect.EXTERNAL, "a form without a button, sent by Enter"),
    ("press", "button", "Buy now", Effect.IRREVERSIBLE, "Enter is a click"),
    ("click", "button", "Cancel", Effect.BROWSER, "nothing happens"),
    ("click", "button", "Don’t delete", Effect.BROWSER, "a negation, with a curly apostrophe"),
    ("click", "link", "How to pay", Effect.BROWSER, "a help page"),
    ("click", "link", "Purchase history", Effect.BROWSER, "a noun"),
    ("click", "link", "Checkout", Effect.BROWSER, "leads to where one can pay"),
    ("click", "button", "Checkout", Effect.IRREVERSIBLE, "may be the payment"),
    ("click", "link", "Why firms delete old customer data", Effect.BROWSER, "a title"),
    ("click", "button", "Payment options", Effect.BROWSER, "no such word"),
    ("click", "button", "Next", Effect.BROWSER, "nothing risky said"),
    ("click", "textbox", "Delete", Effect.BROWSER, "clicking into a field"),
    ("fill", "textbox", "Amount to pay", Effect.BROWSER, "typing sends nothing"),
    ("noop", "button", "Delete", Effect.READ, "looking"),
    ("goto", "", "", Effect.BROWSER, "going somewhere"),
]


@pytest.mark.parametrize(("action", "role", "name", "effect", "why"), CASES)
def test_the_words_on_an_element_say_what_a_click_does(
    action: str, role: str, name: str, effect: Effect, why: str
) -> None:
    key = "Enter" if action == "press" else ""
    assert effect_of(action, role=role, name=name, key=key) == effect, why


@pytest.mark.parametrize("key", ["Tab", "a", "Escape", "Control+C", ""])
def test_a_key_that_activates_nothing_is_harmless(key: str) -> None:
    assert effect_of("press", role="button", name="Buy now", key=key) == Effect.BROWSER


@pytest.mark.parametrize("key", ["Enter", "Control+Enter", " ", "Space", "NumpadEnter"])
def test_a_key_that_activates_is_a_click(key: str) -> None:
    assert effect_of("press", role="button", name="Buy now", key=key) == Effect.IRREVERSIBLE


RISKY = [
    *((Effect.IRREVERSIBLE, phrase) for language in languages() for phrase in language.buys),
    *((Effect.DESTRUCTIVE, phrase) for language in languages() for phrase in language.destroys),
]


@settings(deadline=None)
@given(st.sampled_from(RISKY), st.text(max_size=40))
def test_words_after_a_risky_one_never_make_it_safer_than_alone(
    risky: tuple[Effect, str], more: str
) -> None:
    effect, phrase = risky
    alone = effect_of("click", role="button", name=phrase)
    assert alone >= effect
    longer = effect_of("click", role="button", name=f"{phrase} ! {more} it")
    assert longer >= alone


@given(st.text(max_size=3_000), st.text(max_size=60))
def test_any_name_has_an_effect(name: str, role: str) -> None:
    assert effect_of("click", role=role, name=name) in Effect
