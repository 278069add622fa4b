"""What a page says of itself is read where it speaks of itself, and nowhere else."""

from __future__ import annotations

import pytest

from assay.browser.observe.requests import is_refused
from assay.browser.outcome.notices import is_refusal, read_notice

HEADINGS = {
    "missing": ("Page not found", "Artikel nicht gefunden", "Pagina niet gevonden", "页面不存在"),
    "broken": ("Something went wrong", "Une erreur est survenue", "Произошла ошибка"),
    "limited": ("Too many requests", "Sie sind in der Warteschlange", "混雑しています"),
    "robot": ("Verify you are human", "Controllo di sicurezza", "Confirmez que vous êtes humain"),
    "login": ("Sign in to continue", "Bitte melden Sie sich an", "로그인이 필요합니다"),
    "denied": ("Access denied", "Toegang geweigerd", "Acceso denegado"),
    "gate": ("Subscribe to keep reading", "Are you over 18?", "Confirme seu e-mail"),
}
HARMLESS_HEADINGS = (
    "Forbidden City: access denied?",
    "The forbidden forest",
    "404 ways to cook an egg",
    "Error codes of your washing machine",
    "Too much, too young",
    "Human rights",
    "Results for “page not found”",
    "Security",
)
HARMLESS_SENTENCES = (
    "Access denied to cars. The session timeout of the audio guide is one hour.",
    "To continue the tour, take the stairs",
    "Element not found? Ask a guide.",
    "403 steps lead to the top.",
    "We reply within two days.",
)


@pytest.mark.parametrize("kind", HEADINGS)
def test_headings_of_many_languages_say_what_is_wrong(kind: str) -> None:
    for heading in HEADINGS[kind]:
        notice = read_notice([heading], (), ())
        assert notice is not None, heading
        assert notice.kind == kind, heading


def test_a_page_about_a_thing_is_not_the_thing() -> None:
    for heading in HARMLESS_HEADINGS:
        assert read_notice([heading], (), ()) is None, heading
    for sentence in HARMLESS_SENTENCES:
        assert read_notice((), [sentence], ()) is None, sentence


@pytest.mark.parametrize(
    "text",
    [
        "Please choose a size first",
        "Seat 3A is taken",
        "Sorry, that did not work",
        "Der Name ist bereits vergeben",
        "Le code est incorrect",
        "密码错误",
    ],
)
def test_a_message_says_that_it_did_not_work(text: str) -> None:
    notice = read_notice((), (), [text])
    assert notice is not None
    assert notice.kind == "failed"


@pytest.mark.parametrize("text", ["Saved", "No errors", "Keine Fehler", "Added to the basket"])
def test_a_message_that_says_nothing_of_a_failure_is_none(text: str) -> None:
    assert read_notice((), (), [text]) is None


def test_a_text_that_nothing_marks_counts_only_by_how_it_begins() -> None:
    assert is_refusal("Sorry, that date is gone")
    assert is_refusal("Could not load the list")
    assert not is_refusal("Orders cannot be changed after a day")
    assert not is_refusal("Error codes are listed below")
    assert not is_refusal("No errors, sorry to say")
    assert not is_refusal("Status: open, labels: hardware")


def test_an_answer_says_in_its_fields_that_it_is_a_refusal() -> None:
    assert is_refused('{"data": null, "errors": [{"message": "locked"}]}')
    assert is_refused('{"success": false}')
    assert is_refused('{"error": "no"}')
    for body in ('{"data": {"a": 1}, "errors": []}', '{"error": null}', "[1]", "no json", "{}"):
        assert not is_refused(body), body
    assert not is_refused('{"error": "' + "x" * 200_000 + '"}')
    assert not is_refused("[" * 100_000)
