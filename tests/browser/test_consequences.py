"""What a button does that says too little of it, by what stands beside it and what comes of it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from assay.browser.observe.requests import RequestLog
from assay.browser.outcome.notices import read_notice, read_wall
from assay.browser.outcome.risk import (
    effect_of,
    effect_seen,
    is_bin,
    names_destruction,
    promises_look,
    says,
)
from assay.browser.words.languages import languages
from assay.schema.outcome import Effect

POST = [("POST", "https://site.test/api/step")]

BESIDE = [
    ("Yes", "The workspace will be deleted with everything in it."),
    ("OK", "You will not be able to recover these notes."),
    ("Bestätigen", "Ihr Tarif wird zum Monatsende gekündigt."),
    ("Oui", "Vos photos seront définitivement effacées."),
    ("Sí", "Se eliminarán todos los contactos."),
    ("Confirmar", "A conta será encerrada e não poderá ser recuperada."),
    ("Sì", "I dati verranno cancellati."),
    ("Ja", "Het abonnement wordt opgezegd."),
    ("Да", "Все файлы будут удалены."),
    ("确定", "所有照片将被删除。"),
    ("はい", "データは元に戻せません。"),
    ("확인", "모든 기록이 삭제됩니다."),
    ("نعم", "سيتم حذف جميع الملفات."),
    ("Tak", "Wszystkie pliki zostaną usunięte."),
    ("Ja", "Kontot kommer att raderas."),
    ("Evet", "Hesabınız kalıcı olarak silinecek."),
    ("OK", "Pay to: A. Moor. Amount: 80.00 EUR. Today."),
    ("Bestätigen", "Empfänger: A. Moor, Betrag 80,00 €"),
]


@pytest.mark.parametrize(("name", "around"), BESIDE)
def test_a_yes_does_what_stands_beside_it(name: str, around: str) -> None:
    assert effect_of("click", role="button", name=name) < Effect.DESTRUCTIVE
    assert effect_of("click", role="button", name=name, around=around) >= Effect.DESTRUCTIVE


NOT_BOUND = [
    ("Continue", "Amount: 80.00 EUR. Next you choose how to pay."),
    ("OK", "Your changes were saved. 3 of 12 boxes are full."),
    ("Next", "Delivery costs 4.90 EUR."),
    ("Ja", "Möchten Sie den Newsletter?"),
    (
        "Accept",
        "We use cookies. Withdraw consent, or have your data deleted, any time.",
    ),
    (
        "Accept all",
        "Cookies help us. Data will be transferred, and will be deleted in a year.",
    ),
    ("Akzeptieren", "Cookies: Ihre Daten werden nach einem Jahr gelöscht."),
    ("Show", "The old files will be deleted in May."),
]


@pytest.mark.parametrize(("name", "around"), NOT_BOUND)
def test_a_way_on_and_a_consent_bind_nobody(name: str, around: str) -> None:
    assert effect_of("click", role="button", name=name, around=around) < Effect.DESTRUCTIVE
    if "ookie" in around:
        effect = effect_of("click", role="button", name=name, dialog=around)
        assert effect < Effect.DESTRUCTIVE


OFF_A_LIST = [
    ("Remove", "Your basket Blue mug 28.00 Remove"),
    ("Remove", "Comparison: Orion X2 Remove"),
    ("Remove from cart", ""),
    ("Entfernen", "Warenkorb Tasse Entfernen"),
    ("Retirer du panier", ""),
    ("Quitar", "Lista de deseos Lámpara Quitar"),
    ("Rimuovi dal carrello", ""),
]


@pytest.mark.parametrize(("name", "near"), OFF_A_LIST)
def test_what_leaves_a_list_is_not_lost(name: str, near: str) -> None:
    assert effect_of("click", role="button", name=name, near=near) < Effect.DESTRUCTIVE


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("Remove", "Members Ada Moor Remove"),
        ("Remove account", "Comparison of accounts Remove account"),
        ("Delete", "Playlist Summer Delete"),
        ("Delete basket forever", ""),
        ("Konto entfernen", "Warenkorb"),
    ],
)
def test_what_is_lost_is_not_taken_off_a_list(name: str, near: str) -> None:
    assert effect_of("click", role="button", name=name, near=near) >= Effect.DESTRUCTIVE


@pytest.mark.parametrize(
    "name",
    ["Publish now", "Jetzt veröffentlichen", "Publier l'article", "Publicar ahora", "Pubblica",
     "Publiceren", "Опубликовать", "发布", "公開する", "Opublikuj", "Publicera", "Yayınla"],
)  # fmt: skip
def test_to_publish_cannot_be_taken_back(name: str) -> None:
    assert effect_of("click", role="button", name=name) == Effect.IRREVERSIBLE
    assert effect_of("click", role="link", name=name) < Effect.DESTRUCTIVE


@pytest.mark.parametrize(
    "name",
    ["Preview before you publish", "Vista previa antes de publicar", "Vorschau vor dem Senden",
     "Aperçu avant de publier", "Anteprima", "Podgląd", "プレビュー"],
)  # fmt: skip
def test_a_preview_only_promises_a_look(name: str) -> None:
    assert effect_of("click", role="button", name=name) < Effect.DESTRUCTIVE
    assert promises_look(name)


@pytest.mark.parametrize("name", ["Load more", "Show the drawing", "Buy", "Specifications", ""])
def test_other_names_promise_more_than_a_look(name: str) -> None:
    assert not promises_look(name)


def test_a_message_to_somebody_is_sent_in_every_language() -> None:
    for name in ("Send", "Senden", "Envoyer", "Enviar", "Invia", "Verzenden", "Отправить", "发送",
                 "送信", "보내기", "ارسال", "Wyślij", "Skicka", "Gönder"):  # fmt: skip
        assert effect_of("click", role="button", name=name, recipient=True) == Effect.IRREVERSIBLE
        assert effect_of("click", role="button", name=name) == Effect.EXTERNAL


DONE = [
    "The board Atlas has been deleted.",
    "Thank you for your order",
    "Your card was charged 12.00",
    "Ihr Vertrag wurde gekündigt.",
    "Votre compte a bien été supprimé",
    "El artículo ya es visible para todos",
    "A sua conta foi encerrada",
    "Il contratto è disdetto.",
    "Je account is verwijderd",
    "Заказ оформлен",
    "支付成功",
    "ご注文ありがとうございました",
    "주문이 완료되었습니다",
    "تم حذف الحساب",
    "Konto zostało usunięte.",
    "Kontot har raderats",
    "Hesabınız silindi",
]


@pytest.mark.parametrize("text", DONE)
def test_the_page_says_what_was_done(text: str) -> None:
    assert effect_seen(Effect.BROWSER, name="Go", texts=[text], written=POST) == Effect.IRREVERSIBLE
    assert effect_seen(Effect.BROWSER, name="Go", texts=[text], written=[]) == Effect.BROWSER


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Save", "Your changes have been saved"),
        ("Go", "Order by price"),
        ("Apply", "The voucher was taken"),
        ("Add", "Added to the basket"),
        ("Undo", "The note was deleted 3 minutes ago and is back"),
        ("Go", "The filter was deleted"),
        ("Register", "A message was sent to your address"),
        ("Go", "Removed from your favourites"),
        ("Restaurer", "2 fichiers restaurés"),
    ],
)
def test_what_a_page_says_of_harmless_things_is_harmless(name: str, text: str) -> None:
    assert effect_seen(Effect.BROWSER, name=name, texts=[text], written=POST) == Effect.BROWSER


def test_a_bare_yes_is_judged_by_the_address_that_it_wrote_to() -> None:
    def seen(name: str, method: str, path: str) -> Effect:
        return effect_seen(
            Effect.BROWSER, name=name, texts=(), written=[(method, f"https://site.test{path}")]
        )

    assert seen("OK", "DELETE", "/api/notes/4") == Effect.DESTRUCTIVE
    assert seen("Tak", "POST", "/api/account/delete") == Effect.DESTRUCTIVE
    assert seen("", "POST", "/api/deleteUser") == Effect.DESTRUCTIVE
    assert seen("OK", "DELETE", "/api/compare/4") == Effect.BROWSER
    assert seen("OK", "POST", "/api/settings") == Effect.BROWSER
    assert seen("Unlike", "DELETE", "/api/likes/4") == Effect.BROWSER


def test_a_link_without_a_name_is_judged_by_where_it_leads() -> None:
    def seen(name: str, url: str) -> Effect:
        addresses = [url] if names_destruction(url) else []
        return effect_seen(Effect.BROWSER, name=name, texts=(), written=(), addresses=addresses)

    assert seen("", "https://site.test/notes/4/delete") == Effect.DESTRUCTIVE
    assert seen("How to delete a note", "https://site.test/help/delete") == Effect.BROWSER
    assert seen("", "https://site.test/cart/remove/4") == Effect.BROWSER


def test_what_is_dropped_on_a_bin_is_thrown_away() -> None:
    for name in ("Trash", "Bin", "🗑", "Papierkorb", "Corbeille", "Papelera", "ゴミ箱", "Kosz"):
        assert is_bin(name), name
    for name in ("Done", "Archive", "Binder", "Playlist", ""):
        assert not is_bin(name), name


@pytest.mark.parametrize(
    "heading",
    ["To read this article, please subscribe", "Um diesen Inhalt zu sehen, stimmen Sie zu",
     "Pour lire cet article, abonnez-vous", "Para leer este artículo, suscríbase",
     "Per leggere questo articolo abbonati", "Om dit artikel te lezen, log in"],
)  # fmt: skip
def test_a_consent_or_a_subscription_stands_before_the_page(heading: str) -> None:
    notice = read_notice([heading], (), ())
    assert notice is not None
    assert notice.block is not None


@pytest.mark.parametrize(
    "text",
    ["This programme is not available in your region",
     "Ce film n'est pas disponible dans votre pays",
     "Este contenido no está disponible en su país", "In Ihrem Land nicht verfügbar",
     "Questo video non è disponibile nel tuo paese", "您所在的地区无法观看"],
)  # fmt: skip
def test_a_place_that_is_shut_out_is_blocked(text: str) -> None:
    notice = read_notice((), (), [text])
    assert notice is not None
    assert notice.block == "access_denied"


def test_an_answer_that_is_sent_from_its_field_reaches_somebody() -> None:
    def seen(name: str) -> Effect:
        return effect_seen(Effect.BROWSER, name=name, texts=(), written=POST, answers=True)

    assert seen("Answer the customer") == Effect.IRREVERSIBLE
    assert seen("Nachricht schreiben") == Effect.IRREVERSIBLE
    assert seen("Search recipes") == Effect.BROWSER
    assert seen("New task") == Effect.BROWSER


def test_every_language_of_the_risky_words_has_its_deeds() -> None:
    for row in languages():
        assert row.will, row.code
        assert row.done, row.code
        assert row.sends, row.code
        assert row.publishes, row.code
        assert row.binds, row.code
    assert not says("will", "You will be asked for a name")
    assert not says("done", "You can have it deleted")


def test_a_request_reaches_out_unless_it_only_asks() -> None:
    def log(method: str, path: str, kind: str = "Fetch") -> RequestLog:
        requests = RequestLog(frame_id="main")
        requests.begin(1)
        event = {"requestId": "1", "type": kind, "frameId": "main"}
        requests.on_sent({**event, "request": {"url": f"https://a.test{path}", "method": method}})
        return requests

    assert log("POST", "/api/x").reached_out
    assert log("GET", "/page", kind="Document").reached_out
    assert log("GET", "/api/delete?id=4").reached_out
    assert not log("GET", "/api/homes?for=sale").reached_out
    assert not log("POST", "/collect/ev", kind="Ping").reached_out
    assert log("POST", "/api/x").written() == [("POST", "https://a.test/api/x")]
    socket = RequestLog(frame_id="main")
    socket.begin(1)
    assert not socket.reached_out
    socket.on_frame({})
    assert socket.reached_out


def test_a_check_for_robots_is_seen_where_nothing_marks_it() -> None:
    wall = read_wall(["Select all pictures with bicycles"])
    assert wall is not None
    assert wall.block == "bot_check"
    assert read_wall(["Select all", "All pictures with bicycles", "Sign in to save this"]) is None


def test_a_dash_within_a_heading_does_not_hide_what_it_says() -> None:
    notice = read_notice(["Weiterlesen – mit Werbung oder im Abo"], (), ())
    assert notice is not None
    assert notice.block == "gate"


@pytest.mark.parametrize(
    "name", ["Post", "Post now", "Tweet", "Beitrag posten", "Plaats reactie", "投稿する", "发帖"]
)
def test_what_is_posted_is_shown_to_others_once_it_is_sent(name: str) -> None:
    def seen(role: str, written: Sequence[tuple[str, str]]) -> Effect:
        return effect_seen(Effect.EXTERNAL, name=name, role=role, texts=(), written=written)

    assert seen("button", POST) == Effect.IRREVERSIBLE
    assert seen("button", ()) == Effect.EXTERNAL
    assert seen("link", POST) == Effect.EXTERNAL


@pytest.mark.parametrize("name", ["Post code", "Show post", "Edit post", "How to post"])
def test_a_post_is_also_a_thing(name: str) -> None:
    after = effect_seen(Effect.BROWSER, name=name, role="button", texts=(), written=POST)
    assert after == Effect.BROWSER


@pytest.mark.parametrize("name", ["Really delete?", "Delete permanently?", "Place order?"])
def test_a_question_that_is_answered_by_the_click_is_as_risky_as_its_words(name: str) -> None:
    assert effect_of("click", role="button", name=name) >= Effect.DESTRUCTIVE
