"""What sites write on buttons that buy, destroy or send: one row for each language.

Case and marks on letters do not count, so "löschen" is found in "LOSCHEN" as well. Where a language
is written without spaces, or glues endings to its words, a phrase counts wherever it stands.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final, NamedTuple


class RiskyWords(NamedTuple):
    """The risky words of one language, and the words around them that make them harmless."""

    code: str
    buys: tuple[str, ...]
    """Spends money, or binds to it: cannot be taken back."""
    destroys: tuple[str, ...]
    sends: tuple[str, ...] = ()
    """Gives something to others or to the site."""
    publishes: tuple[str, ...] = ()
    """Shows something to everybody, or sends it to many at once."""
    spaced: bool = True
    """Whether phrases are compared as whole words."""
    harmless_first: tuple[str, ...] = ()
    """A name that begins so does nothing of what follows: "Don't delete", "How to pay"."""
    things: tuple[str, ...] = ()
    """Objects that are only a view of the page: "Remove filter", "Delete search"."""
    nouns: tuple[str, ...] = ()
    """A name that ends so is a place or a topic, if its risky word can be a noun."""
    confirms: tuple[str, ...] = ()
    """What stands on a button that does what its dialog asks about."""
    commits: tuple[str, ...] = ()
    """What stands on a button that binds, where something beside it says so."""
    binds: tuple[str, ...] = ()
    """What says so: that money moves, or that there is no way back."""


def plain(text: str) -> str:
    """The text in lower case, without marks on its letters; kana keep theirs."""
    folded = unicodedata.normalize("NFKD", text.casefold().replace("’", "'"))
    bare = "".join(
        letter for letter in folded if not unicodedata.combining(letter) or letter in _KANA_MARKS
    )
    return unicodedata.normalize("NFC", bare)


def phrases(text: str) -> tuple[str, ...]:
    """The phrases of a list with commas between them."""
    return tuple(" ".join(plain(phrase).split()) for phrase in text.split(","))


def phrase_pattern(phrase: str) -> str:
    """A pattern for the phrase in a text with spaces around its words.

    `*` stands for up to three words, `|` between two words for either of them.
    """
    parts = []
    for word in phrase.split():
        choices = "|".join(re.escape(choice) for choice in word.split("|"))
        parts.append(_GAP if word == "*" else f" (?:{choices})")
    return "".join(parts)


_GAP: Final = r"(?: [^ ]+){0,3}"
_KANA_MARKS: Final = "\u3099\u309a"
NOUN_TOO: Final = frozenset(
    phrases("""
    acheter, bezahlen, bid, buy, check out, checkout, comprar, donate, drop, invest, kaufen,
    order now, pagar, pay, purchase, rent now, sell, trade, transfer, trash, wire, withdraw
""")
)
"""Risky words that also stand in names of places and topics: "Purchase history"."""
COMPOUNDS: Final = phrases("""
    drop down, drop downs, drop shadow, drop cap, drop in, drop off, buy vs, rent vs buy,
    vs buy, where to buy, best buy, pay per view, pay it forward, pay attention, sell by,
    cross sell, up sell, hard wire, wire frame, remove formatting, clear formatting,
    delete key, drop us a line, drop me a line, price drop, drop zone, drop a pin, drop pin,
    trade fair, transfer news, purchase order template, bid farewell, air drop, gum drop
""")
"""Phrases in which a risky word means something else."""

LOGINS: Final = phrases("""
    log in, login, logon, sign in, signin, sign up, signup, sign on, register, registration,
    create account, create an account, join, account, my account, password, subscribe, members,
    anmelden, einloggen, anmeldung, registrieren, konto, passwort, connexion, se connecter,
    s'inscrire, inscription, compte, mot de passe, iniciar sesion, ingresar, acceder, registrarse,
    cuenta, contrasena, entrar, conta, senha, cadastrar, accedi, accesso, registrati, login,
    inloggen, aanmelden, registreren, войти, вход, регистрация, пароль, 登录, 登錄, 登入, 注册,
    註冊, ログイン, サインイン, 会員登録, 로그인, 회원가입, تسجيل الدخول, دخول, تسجيل
""")
"""Words on what leads to a login, for one who wants to get there."""

REMOVES: Final = phrases("""
    remove, take out, take off, clear, entfernen, herausnehmen, retirer, enlever, quitar, sacar,
    remover, tirar, rimuovi, togli, weghalen, verwijderen, убрать, 移除, 移出, 外す, 取り除く,
    제거, 빼기, ازالة, usuń, ta bort, kaldır, çıkar
""")
"""Words that say that something leaves a place, and not that it ceases to be."""
LISTS: Final = phrases("""
    cart, basket, bag, trolley, comparison, compare, wishlist, wish list, favorites, favourites,
    watchlist, playlist, queue, shortlist, reading list, my list, bookmarks, saved items,
    selection, warenkorb, einkaufswagen, vergleich, vergleichsliste, merkliste, wunschliste,
    warteschlange, panier, comparateur, comparaison, favoris, file d'attente, carrito, cesta,
    comparador, favoritos, lista de deseos, cola, carrinho, sacola, cesto, fila, carrello,
    confronto, preferiti, coda, winkelwagen, winkelmand, mandje, vergelijking, favorieten, корзина,
    корзины, корзине, сравнение, сравнения, избранное, избранного, 购物车, 購物車, 对比, 收藏,
    播放列表, カート, 比較, お気に入り, プレイリスト, 장바구니, 비교, 즐겨찾기, 재생목록, السلة,
    عربة التسوق, المقارنة, المفضلة, koszyk, koszyka, porównanie, porównania, ulubione, ulubionych,
    varukorg, varukorgen, jämförelse, favoriter, sepet, sepetten, karşılaştırma, favoriler
""")
"""Lists of things that are not lost when they leave it."""
GOING_ON: Final = phrases("""
    continue, proceed, next, apply, accept, agree, i agree, submit, finish, done, weiter,
    fortfahren, continuer, continuar, aceptar, aceitar, continua, accetta, doorgaan, akkoord,
    продолжить, согласен, 继续, 同意, 続行, 続ける, 계속, 동의, 진행, متابعة, kontynuuj,
    zgadzam się, fortsätt, devam
""")
"""Answers that lead on to the next page, and often mean no more than that."""

BINS: Final = phrases("""
    trash, bin, recycle bin, waste, garbage, delete, delete here, drop to delete, papierkorb,
    mülleimer, löschen, corbeille, poubelle, supprimer, papelera, basura, eliminar, lixeira, lixo,
    cestino, prullenbak, verwijderen, корзина, удалить, 回收站, 垃圾桶, 删除, ゴミ箱, 削除, 휴지통,
    삭제, سلة المهملات, حذف, kosz, usuń, papperskorg, radera, çöp, çöp kutusu, sil
""")
"""Names of places for what is to be thrown away."""
LOOKS: Final = phrases("""
    preview, read more, show more, see more, view more, read on, show less, mehr lesen,
    mehr anzeigen, weiterlesen, vorschau, lire la suite, voir plus, afficher plus, en savoir plus,
    apercu, leer más, ver más, mostrar más, seguir leyendo, vista previa, ler mais, mostrar mais,
    ver mais, pré visualizar, prévia, leggi tutto, leggi di più, mostra di più, anteprima,
    lees meer, meer tonen, lees verder, toon meer, voorbeeld, читать далее, показать больше,
    показать ещё, подробнее, предпросмотр, 阅读更多, 查看更多, 展开, 显示更多, 预览, 続きを読む,
    もっと見る, プレビュー, 더 보기, 더보기, 미리보기, اقرا المزيد, عرض المزيد, معاينة,
    czytaj więcej, pokaż więcej, czytaj dalej, podgląd, läs mer, visa mer, förhandsgranska,
    devamını oku, daha fazla göster, önizle, önizleme
""")
"""Beginnings of names that promise no more than something to read."""

POSTS: Final = frozenset(
    phrases("""
        post, post now, post it, post all, post reply, post comment, post answer, post question,
        post review, post update, post message, tweet, toot, jetzt posten, beitrag posten,
        kommentar posten, twittern, poster le commentaire, tweeter, postear, tuitear, postar,
        postar agora, postar comentario, tuitar, posta commento, twitta, plaats reactie,
        reactie plaatsen, bericht plaatsen, запостить, 发帖, 发表, 发表评论, 發表, 投稿する,
        コメントを投稿, 올리기, 댓글 등록, dodaj post, lägg upp, skicka inlägg, gönderi paylaş
    """)
)
"""Whole names of buttons that show what was written to others, once it is sent."""

LANGUAGES: Final = (
    RiskyWords(
        "en",
        buys=phrases("""
            confirm booking, confirm and book, complete booking, finish booking, book and pay,
            order and pay, approve payment, release payment, release funds, pay with, pay in full,
            renew now, renew subscription, renew membership, add funds, accept offer, accept quote,
            accept the offer, sell now, buy it, order for, subscribe for, redeem points,
            confirm transfer, confirm bid, confirm trade, confirm rental,
            sign and submit, submit and sign, sign now, e sign, sign the contract, file return,
            file my return, file tax return, submit tax return, binding, with obligation to pay,
            order with obligation to pay, commit to buy, accept and pay, agree and pay,
            pay, buy, purchase, order now, place order, place your order, place my order,
            place the order, complete order, complete purchase, complete payment,
            confirm order, confirm purchase, confirm payment, confirm and pay, submit order,
            submit payment, checkout, check out, donate, transfer, send money, send payment,
            withdraw, wire, bid, place bid, start subscription, start membership,
            start trial, start free trial, upgrade now, upgrade to pro, rent now, sell,
            trade now, invest, invest now, reserve and pay, book and pay, subscribe and pay,
            authorize payment, authorise payment, make payment, top up, charge card,
            sign contract
        """),
        destroys=phrases("""
            suspend account, deregister, forfeit, resign, void, decommission, unpublish, expel,
            evict, shred, write off, leave course, drop course,
            end my membership, end my subscription, cancel ticket, cancel trip, cancel visit,
            cancel registration, cancel enrolment, cancel enrollment, cancel transfer,
            cancel policy, cancel contract, cancel my membership, cancel my order, withdraw offer,
            wipe device, erase device, remove account, remove user, remove member,
            delete forever, stop instance, terminate instance,
            confirm cancellation, confirm deletion, confirm removal, confirm delete,
            irrevocably, irreversibly, forever, for good, revoke all, invalidate,
            erase all, delete all, remove all, drop all, kill process, end contract,
            terminate contract, cancel contract, cancel policy, cancel service,
            delete, remove, erase, destroy, wipe, purge, discard, trash, move to trash,
            move to bin, clear all, clear history, clear data, clear everything,
            empty trash, empty bin, empty cart, close account, close my account, deactivate,
            disable account, terminate, revoke, uninstall, factory reset, reset all,
            reset everything, reset account, reset device, reset to factory, drop,
            drop table, drop database, format disk, format drive, change password,
            cancel subscription, cancel order, cancel booking, cancel reservation,
            cancel membership, cancel plan, cancel account, cancel appointment,
            cancel flight, cancel my subscription, cancel my order, cancel my booking,
            cancel my plan, cancel my account, end membership, end subscription,
            leave group, leave team, leave organization, unsubscribe, opt out, block user,
            ban user, ban, kick, archive project, overwrite, force push, merge and delete,
            shut down, shutdown, permanently, forget me, forget device, sign out everywhere,
            log out all, rotate key, regenerate key, reject application, decline offer,
            quit job, withdraw application
        """),
        publishes=phrases("""
            publish, go live, broadcast, send newsletter, send campaign, send to all,
            send to everyone, make it public, make public
        """),
        sends=phrases("""
            submit, send, publish, post, book, book now, reserve, apply, register, sign up,
            create account, confirm, agree, accept, share, reply, comment, invite, upload,
            save, subscribe, update, vote, request, report, form
        """),
        harmless_first=phrases("""
            cancel, back, go back, preview, undo, restore, keep, do not, don't, dont, never,
            no, not now, learn, more, how, why, what, when, where, who, which, about, help,
            view, show, see, edit, review, search, filter, sort, compare, browse, explore,
            find, read, open, manage, choose, select, without, hide, collapse, expand,
            close, dismiss, skip, proceed to, continue to, back to, start checkout, recover,
            unarchive, print, download, copy, go to
        """),
        things=phrases("""
            filter, filters, search, searches, selection, comparison, compare, sort,
            sorting, highlight, highlights, formatting, column, query, zoom, wishlist,
            wish list, favorites, favourites, watchlist, favorite, favourite, bookmark,
            bookmarks, from list, from my list, saved items, saved for later, tag, tags,
            chip, overlay, tooltip, banner, input, form fields, field, text, breadcrumb,
            pin, layer, marker, refinement, background, watermark, reaction, emoji, blur,
            crop, frame, border, stain, stains, ads
        """),
        nouns=phrases("""
            history, policy, options, methods, settings, guide, details, filter, filters,
            list, status, faq, menu, calculator, comparison, tips, prices, price, limits,
            fees, info, information, rates, list view, overview, terms, instructions, help,
            folder, bin, deals, reviews, page, pages, orders, zone, shipping, catalog,
            dates, news, tutorial
        """),
        confirms=phrases("""
            yes, ok, okay, confirm, continue, proceed, i am sure, i'm sure, sure,
            i understand, do it, go ahead, agree, i agree, accept, apply, submit, finish,
            done, next, approve
        """),
        commits=phrases("""
            book, reserve, order, confirm, submit, place, complete, finish, sign, send, register,
            enrol, enroll, apply now, go ahead, activate, start, publish, release, launch,
            approve, run, execute, deploy
        """),
        binds=phrases("""
            non refundable, nonrefundable, not refundable, no refund, no refunds, card on file,
            saved card, will be charged, is charged, charged at once, charged immediately,
            be debited, will be debited, amount due, total due, amount to pay, cannot be undone,
            can not be undone, cannot be reversed, cannot be cancelled, cannot be canceled,
            cannot be changed afterwards, cannot be called back, no way back, is final, are final,
            irreversible, irrevocable, binding, legally binding, lost for good, will be lost,
            permanently
        """),
    ),
    RiskyWords(
        "de",
        buys=phrases("""
            kostenpflichtig buchen, jetzt buchen und bezahlen, zahlung freigeben, angebot annehmen,
            auftrag erteilen, buchung abschliessen, verlangern, einzahlen, aufladen,
            verbindlich, rechtsverbindlich, verbindlich absenden, verbindlich buchen,
            verbindlich bestellen, verbindlich einreichen, unterschreiben, vertrag abschliessen,
            kostenpflichtig bestellen, zahlungspflichtig bestellen,
            kaufen, jetzt kaufen, bezahlen, zahlen, zahlungspflichtig, kostenpflichtig,
            bestellen, bestellung abschliessen, bestellung abschicken, bestellung aufgeben,
            kauf abschliessen, zahlung bestatigen, uberweisen, spenden, abo abschliessen,
            abonnieren und bezahlen, buchen und bezahlen, verkaufen, gebot abgeben, mieten,
            auszahlen
        """),
        destroys=phrases("""
            auflosen, austragen, exmatrikulieren, kundigung einreichen, vertrag kundigen,
            mitgliedschaft beenden, termin absagen, buchung stornieren, abschalten,
            unbrauchbar machen, raus werfen, rauswerfen, zuruckziehen,
            kundigung, kundigung bestatigen, kundigung absenden, loschung bestatigen,
            stornierung bestatigen, widerruf bestatigen, endgultig, unwiderruflich, fur immer,
            vertrag beenden, abo beenden, konto auflosen, ungultig machen, verwirken,
            loschen, entfernen, vernichten, verwerfen, papierkorb, konto schliessen,
            kundigen, deaktivieren, stornieren, widerrufen, zurucksetzen, austreten,
            abbestellen, abmelden von allen, passwort andern, deinstallieren, leeren,
            beenden und loschen, sperren, uberschreiben
        """),
        sends=phrases("""
            absenden, senden, abschicken, verschicken, einreichen, buchen, reservieren,
            registrieren, bestätigen, teilen, antworten, kommentieren, einladen,
            hochladen, speichern, abonnieren, aktualisieren, abstimmen, anfragen,
            melden, bewerben
        """),
        publishes=phrases("""
            veröffentlichen, publizieren, live schalten, freischalten und
            veröffentlichen, newsletter senden, an alle senden, öffentlich machen
        """),
        harmless_first=phrases("""
            nicht, abbrechen, zuruck, wie, warum, was, wo, mehr, hilfe, uber, behalten,
            anzeigen, ansehen, suchen, vorschau, entwurf
        """),
        things=phrases("""
            filter, suche, auswahl, vergleich, vergleichsliste, merkliste, wunschliste,
            sortierung, markierung, favoriten, suchfeld, eingabe
        """),
        nouns=phrases("ratgeber, rechner, verlauf, optionen, arten, seite, hilfe, tipps"),
        confirms=phrases("ja, bestatigen, fortfahren, weiter, ich bin sicher, ok, sicher"),
        commits=phrases("""
            buchen, reservieren, bestatigen, absenden, abschliessen, fertigstellen, einreichen,
            weiter, aktivieren, freigeben, veroffentlichen, starten
        """),
        binds=phrases("""
            nicht erstattungsfahig, keine erstattung, nicht stornierbar, hinterlegte karte,
            wird belastet, wird abgebucht, nicht ruckgangig, unwiderruflich, endgultig,
            verbindlich, geht verloren, gehen verloren, kostenpflichtig
        """),
    ),
    RiskyWords(
        "fr",
        buys=phrases("""
            signer le contrat, avec obligation de paiement, valider et payer,
            acheter, payer, commander, passer la commande, valider la commande,
            valider le paiement, confirmer le paiement, confirmer la commande, regler,
            faire un don, virer, effectuer le virement, encherir, vendre, louer, souscrire,
            reserver et payer
        """),
        destroys=phrases("""
            supprimer definitivement, cloturer le compte, annuler le rendez vous,
            annuler mon voyage, mettre fin, se retirer, radier,
            resilier, resiliation, confirmer la resiliation, confirmer la suppression,
            definitivement, pour toujours, se desinscrire, mettre a la corbeille,
            supprimer, effacer, retirer, detruire, corbeille, fermer le compte, cloturer,
            resilier, desactiver, annuler la commande, annuler la reservation,
            annuler l'abonnement, annuler mon abonnement, se desabonner, revoquer,
            reinitialiser, vider, desinstaller, bannir, ecraser, changer le mot de passe
        """),
        sends=phrases("""
            envoyer, soumettre, transmettre, publier un commentaire, réserver,
            s'inscrire, confirmer, partager, répondre, commenter, inviter, téléverser,
            enregistrer, s'abonner, mettre à jour, voter, demander, signaler, postuler,
            valider
        """),
        publishes=phrases("""
            publier, mettre en ligne, diffuser, envoyer à tous, rendre public
        """),
        harmless_first=phrases("""
            ne pas, annuler, retour, comment, pourquoi, ou, en savoir, aide, voir,
            afficher, garder, conserver, rechercher, a propos, apercu, previsualiser,
            brouillon
        """),
        things=phrases("""
            filtre, filtres, recherche, selection, comparaison, comparateur, favoris, liste,
            tri, champ, champs, saisie
        """),
        nouns=phrases("guide, historique, options, modes, calculateur, page, aide"),
        confirms=phrases("oui, confirmer, continuer, valider, je suis sur, d'accord, ok"),
        commits=phrases("""
            reserver, confirmer, valider, envoyer, terminer, finaliser, signer, activer, publier
        """),
        binds=phrases("""
            non remboursable, aucun remboursement, carte enregistree, sera debite, sera debitee,
            irreversible, irrevocable, definitif, definitive, definitivement, engagement ferme,
            ne peut etre annule, ne peut pas etre annule, seront perdus, sera perdu
        """),
    ),
    RiskyWords(
        "es",
        buys=phrases("""
            firmar, firmar el contrato, confirmar el pago, con obligacion de pago,
            comprar, pagar, realizar pedido, hacer pedido, confirmar pedido,
            confirmar compra, confirmar pago, finalizar compra, realizar pago, pedir ahora,
            donar, transferir, enviar dinero, pujar, vender, alquilar, contratar,
            suscribirse y pagar, reservar y pagar, tramitar pedido, retirar fondos
        """),
        destroys=phrases("""
            eliminar cuenta, cancelar cita, cancelar contrato, cancelar viaje, dar por terminado,
            cancelar la suscripcion, cancelar el pedido, cancelar la reserva, expulsar,
            dar de baja, darse de baja, confirmar la baja, confirmar la cancelacion,
            confirmar eliminacion, definitivamente, para siempre, anular,
            eliminar, borrar, quitar, destruir, descartar, papelera, cerrar cuenta,
            cerrar mi cuenta, dar de baja, darse de baja, darme de baja, desactivar,
            cancelar pedido, cancelar reserva, cancelar suscripcion,
            cancelar mi suscripcion, anular, revocar, restablecer, vaciar, desinstalar,
            bloquear usuario, cambiar contrasena, sobrescribir, suprimir
        """),
        sends=phrases("""
            enviar, mandar, presentar, reservar, registrarse, confirmar, compartir,
            responder, comentar, invitar, subir, guardar, suscribirse, actualizar,
            votar, solicitar, denunciar
        """),
        publishes=phrases("""
            publicar, enviar a todos, hacer público, difundir
        """),
        harmless_first=phrases("""
            no, cancelar, volver, como, por que, donde, mas, ayuda, ver, mostrar,
            conservar, buscar, acerca, vista previa, previsualizar, borrador
        """),
        things=phrases("""
            filtro, filtros, busqueda, seleccion, comparacion, comparador, favoritos,
            lista de deseos, orden, campo, campos
        """),
        nouns=phrases("guia, historial, opciones, metodos, calculadora, pagina, ayuda"),
        confirms=phrases("si, confirmar, continuar, aceptar, estoy seguro, estoy segura, ok"),
        commits=phrases("""
            reservar, confirmar, enviar, finalizar, firmar, activar, publicar
        """),
        binds=phrases("""
            no reembolsable, sin reembolso, tarjeta guardada, se cargara, se cobrara,
            no se puede deshacer, irreversible, irrevocable, vinculante, definitivo, definitiva,
            se perderan, se perdera
        """),
    ),
    RiskyWords(
        "pt",
        buys=phrases("""
            assinar contrato, confirmar pagamento, finalizar compra, fechar pedido,
            comprar, pagar, finalizar compra, finalizar pedido, fazer pedido,
            confirmar pedido, confirmar compra, confirmar pagamento, efetuar pagamento,
            doar, transferir, enviar dinheiro, dar lance, vender, alugar, contratar,
            assinar agora, assinar e pagar, reservar e pagar, sacar
        """),
        destroys=phrases("""
            excluir conta, cancelar consulta, cancelar contrato, cancelar viagem, expulsar,
            cancelar a assinatura, cancelar o pedido, cancelar a reserva,
            confirmar cancelamento, confirmar exclusao, definitivamente, para sempre,
            rescindir, encerrar conta,
            excluir, apagar, remover, eliminar, deletar, descartar, lixeira, lixo,
            encerrar conta, fechar conta, desativar, cancelar pedido, cancelar reserva,
            cancelar assinatura, cancelar plano, revogar, redefinir, esvaziar, desinstalar,
            bloquear usuario, alterar senha, sobrescrever
        """),
        sends=phrases("""
            enviar, mandar, submeter, reservar, cadastrar, confirmar, compartilhar,
            partilhar, responder, comentar, convidar, carregar, salvar, guardar,
            assinar, atualizar, votar, solicitar, denunciar
        """),
        publishes=phrases("""
            publicar, enviar a todos, enviar para todos, tornar público, divulgar
        """),
        harmless_first=phrases("""
            nao, cancelar, voltar, como, por que, onde, mais, ajuda, ver, mostrar,
            manter, buscar, pesquisar, sobre, visualizar, pre visualizar, previa,
            rascunho
        """),
        things=phrases("""
            filtro, filtros, busca, pesquisa, selecao, comparacao, favoritos,
            lista de desejos, ordenacao, campo, campos
        """),
        nouns=phrases("guia, historico, opcoes, metodos, calculadora, pagina, ajuda"),
        confirms=phrases("sim, confirmar, continuar, aceitar, tenho certeza, ok"),
        commits=phrases("""
            reservar, confirmar, enviar, concluir, finalizar, assinar, ativar, publicar
        """),
        binds=phrases("""
            nao reembolsavel, sem reembolso, cartao salvo, sera cobrado, sera debitado,
            nao pode ser desfeito, nao pode ser desfeita, irreversivel, irrevogavel, definitivo,
            definitiva, serao perdidos, sera perdido
        """),
    ),
    RiskyWords(
        "it",
        buys=phrases("""
            firma il contratto, conferma pagamento, con obbligo di pagamento, ordine vincolante,
            acquista, acquistare, compra, comprare, paga, pagare, ordina, effettua ordine,
            conferma ordine, conferma acquisto, conferma pagamento, completa acquisto, dona,
            trasferisci, invia denaro, vendi, noleggia, prenota e paga, abbonati e paga,
            preleva
        """),
        destroys=phrases("""
            elimina account, annulla appuntamento, annulla contratto, annulla viaggio, espelli,
            annulla l'ordine, annulla la prenotazione, annulla l'abbonamento,
            conferma disdetta, conferma eliminazione, definitivamente, per sempre,
            recedere, recesso, rescindere,
            elimina, eliminare, cancella account, cancella, rimuovi, rimuovere, distruggi,
            cestino, chiudi account, disattiva, annulla ordine, annulla prenotazione,
            annulla abbonamento, disdici, revoca, ripristina, svuota, disinstalla,
            cambia password, sovrascrivi
        """),
        sends=phrases("""
            invia, inviare, spedisci, manda, prenota, registrati, conferma, condividi,
            rispondi, commenta, invita, carica, salva, iscriviti, aggiorna, vota,
            richiedi, segnala
        """),
        publishes=phrases("""
            pubblica, pubblicare, invia a tutti, rendi pubblico, manda online
        """),
        harmless_first=phrases("""
            non, annulla, indietro, come, perche, dove, altro, aiuto, vedi, mostra,
            mantieni, cerca, informazioni, anteprima, bozza
        """),
        things=phrases("""
            filtro, filtri, ricerca, selezione, confronto, preferiti, lista dei desideri,
            campo, campi
        """),
        nouns=phrases("guida, cronologia, opzioni, metodi, calcolatore, pagina, aiuto"),
        confirms=phrases("si, conferma, continua, accetta, sono sicuro, sono sicura, ok"),
        commits=phrases("""
            prenota, conferma, invia, completa, concludi, firma, attiva, pubblica
        """),
        binds=phrases("""
            non rimborsabile, nessun rimborso, carta salvata, verra addebitato, sara addebitato,
            non puo essere annullata, non puo essere annullato, irreversibile, irrevocabile,
            vincolante, definitivo, definitiva, andranno persi
        """),
    ),
    RiskyWords(
        "nl",
        buys=phrases("""
            bestelling met betaalverplichting, contract ondertekenen, ondertekenen,
            kopen, nu kopen, betalen, afrekenen, bestellen, bestelling plaatsen,
            bestelling bevestigen, betaling bevestigen, doneren, overmaken, verkopen, huren,
            bieden
        """),
        destroys=phrases("""
            afspraak annuleren, contract opzeggen, reis annuleren, account verwijderen,
            uitschrijven,
            boeking annuleren, lidmaatschap beeindigen, abonnement opzeggen,
            definitief, definitief verwijderen, opzegging bevestigen, voorgoed,
            permanent verwijderen, ontbinden,
            verwijderen, verwijder, wissen, vernietigen, prullenbak, opzeggen,
            account sluiten, deactiveren, annuleer bestelling, bestelling annuleren,
            abonnement stopzetten, intrekken, resetten, leegmaken, wachtwoord wijzigen
        """),
        sends=phrases("""
            verzenden, versturen, verstuur, indienen, boeken, reserveren, registreren,
            bevestigen, delen, beantwoorden, reageren, uitnodigen, uploaden, opslaan,
            abonneren, bijwerken, stemmen, aanvragen, melden, solliciteren
        """),
        publishes=phrases("""
            publiceren, publiceer, naar iedereen sturen, openbaar maken, live zetten
        """),
        harmless_first=phrases("""
            niet, annuleren, terug, hoe, waarom, waar, meer, hulp, voorbeeld,
            voorbeeldweergave, concept
        """),
        things=phrases("filter, filters, zoekopdracht, selectie, vergelijking, favorieten"),
        nouns=phrases("gids, geschiedenis, opties, rekenmachine, pagina"),
        confirms=phrases("ja, bevestigen, doorgaan, ik weet het zeker, akkoord, ok"),
        commits=phrases("""
            boeken, reserveren, bevestigen, versturen, afronden, ondertekenen, activeren,
            publiceren
        """),
        binds=phrases("""
            niet restitueerbaar, geen restitutie, opgeslagen kaart, wordt afgeschreven,
            kan niet ongedaan, onomkeerbaar, onherroepelijk, bindend, definitief, gaan verloren,
            gaat verloren
        """),
    ),
    RiskyWords(
        "ru",
        buys=phrases("""
            подписать договор, подтвердить перевод,
            купить, оплатить, заплатить, заказать, оформить заказ, подтвердить заказ,
            подтвердить оплату, пожертвовать, перевести деньги, перевести, продать,
            арендовать, сделать ставку, вывести средства, оформить подписку
        """),
        destroys=phrases("""
            подтвердить удаление, безвозвратно, навсегда, расторгнуть договор, аннулировать,
            удалить, удаляю, стереть, уничтожить, убрать, в корзину удалить, очистить,
            закрыть аккаунт, закрыть счет, деактивировать, отменить заказ,
            отменить подписку, отменить бронирование, отписаться, отозвать, сбросить,
            сменить пароль, заблокировать пользователя
        """),
        sends=phrases("""
            отправить, послать, подать, забронировать, зарегистрироваться, подтвердить,
            поделиться, ответить, комментировать, пригласить, загрузить, сохранить,
            подписаться, обновить, проголосовать, запросить, пожаловаться
        """),
        publishes=phrases("""
            опубликовать, публиковать, разослать, отправить всем, сделать публичным
        """),
        harmless_first=phrases("""
            не, отмена, отменить действие, назад, как, почему, где, подробнее, помощь,
            показать, посмотреть, оставить, предпросмотр, предварительный просмотр,
            черновик
        """),
        things=phrases("""
            фильтр, фильтры, поиск, выбор, сравнение, сравнения, избранное, избранного,
            запрос
        """),
        nouns=phrases("история, покупок, справка, калькулятор"),
        confirms=phrases("да, подтвердить, продолжить, я уверен, я уверена, ок, согласен"),
        commits=phrases("""
            забронировать, подтвердить, отправить, завершить, подписать, активировать,
            опубликовать
        """),
        binds=phrases("""
            невозвратный, без возврата, привязанная карта, будет списано, нельзя отменить,
            необратимо, безвозвратно, окончательно, будут потеряны, будет потеряно
        """),
    ),
    RiskyWords(
        "zh",
        spaced=False,
        buys=phrases("""
            签署合同, 签约, 确认付款, 确认支付,
            立即购买, 购买, 付款, 支付, 下单, 提交订单, 确认订单, 结算, 转账, 捐款, 捐赠,
            出售, 竞拍, 开通会员, 立即订购, 订购, 提现, 充值, 購買, 結帳
        """),
        destroys=phrases("""
            永久, 彻底, 作废, 解约, 解除合同, 强制,
            删除, 刪除, 移除, 清空, 清除, 销毁, 丢弃, 回收站, 注销, 註銷, 停用, 取消订单,
            取消订阅, 取消预订, 撤销授权, 重置, 解散, 卸载, 退订, 拉黑, 修改密码, 退出群,
            抹掉
        """),
        sends=phrases("""
            发送, 提交, 发帖, 预订, 注册, 确认, 分享, 回复, 评论, 邀请, 上传, 保存, 订阅, 更新,
            投票, 申请, 举报, 送出
        """),
        publishes=phrases("""
            发布, 發佈, 公开发表, 群发
        """),
        harmless_first=phrases("""
            不, 取消操作, 返回, 如何, 怎么, 为什么, 查看, 了解, 帮助, 保留, 恢复, 预览, 草稿
        """),
        things=phrases("筛选, 篩選, 搜索, 搜尋, 选择, 选中, 对比, 比较, 收藏, 输入, 排序"),
        nouns=phrases("记录, 历史, 指南, 方式, 说明, 计算器, 帮助"),
        confirms=phrases("是, 确定, 确认, 继续, 我确定, 同意, 確定, 確認"),
        commits=phrases("""
            预订, 确认, 提交, 完成, 发布
        """),
        binds=phrases("""
            不可退款, 不退款, 将被扣款, 无法撤销, 不可撤销, 不可恢复, 无法恢复, 不可取消
        """),
    ),
    RiskyWords(
        "ja",
        spaced=False,
        buys=phrases("""
            署名する, 契約を締結, 申込を確定,
            購入, 今すぐ買う, 支払, 注文を確定, 注文する, 決済, 振込, 送金, 寄付, 入札,
            売却, レンタルする, 課金, 申し込む, 契約する, 出金
        """),
        destroys=phrases("""
            完全に, 永久に, 契約を解除, 無効にする, 抹消,
            削除, 消去, 破棄, ゴミ箱, 退会, 解約, 無効化, 注文をキャンセル,
            予約をキャンセル, 取り消す, リセット, 初期化, アンインストール, ブロックする,
            パスワードを変更, 空にする, 除名, 上書き, 失効
        """),
        sends=phrases("""
            送信, 提出, 投稿, 予約する, 登録, 確定, 共有, 返信, コメントする, 招待, アップロード,
            保存, 購読, 更新, 投票, 申請, 報告
        """),
        publishes=phrases("""
            公開する, 公開, 一斉送信, 配信する, 掲載する
        """),
        harmless_first=phrases("""
            キャンセル, 戻る, やめる, しない, プレビュー, 下書き
        """),
        things=phrases("""
            フィルタ, 絞り込み, 検索, 選択, 比較, お気に入り, 並べ替え, 入力, 条件
        """),
        nouns=phrases("""
            履歴, 方法, ガイド, について, 一覧, とは, しない, ません, ヘルプ, 計算機
        """),
        confirms=phrases("はい, 確認, 確定, 続行, 続ける, 同意, 実行, ok"),
        commits=phrases("""
            予約, 確定, 送信, 完了, 申込, 公開
        """),
        binds=phrases("""
            返金不可, 返金できません, 請求されます, 取り消せません, 元に戻せません, 取消不可,
            失われます
        """),
    ),
    RiskyWords(
        "ko",
        spaced=False,
        buys=phrases("""
            계약 체결, 서명하기, 결제하기,
            구매, 결제, 주문하기, 주문 확정, 주문완료, 송금, 이체, 기부, 입찰, 판매하기,
            대여하기, 지불, 출금, 충전하기
        """),
        destroys=phrases("""
            영구, 완전히, 계약 해지, 무효화, 영구히,
            삭제, 제거, 지우기, 폐기, 휴지통, 탈퇴, 해지, 비활성화, 주문 취소, 예약 취소,
            구독 취소, 초기화, 차단하기, 비밀번호 변경, 비우기, 철회, 강제 종료
        """),
        sends=phrases("""
            보내기, 전송, 제출, 예약하기, 가입하기, 등록, 공유, 답장, 댓글 달기, 초대, 업로드,
            저장, 구독하기, 업데이트, 투표, 신청, 신고
        """),
        publishes=phrases("""
            게시하기, 발행, 공개하기, 모두에게 보내기, 배포하기
        """),
        harmless_first=phrases("""
            취소, 뒤로, 돌아가기, 보기, 방법, 왜, 어떻게, 유지, 복원, 미리보기, 임시
        """),
        things=phrases("필터, 검색, 선택, 비교, 즐겨찾기, 정렬, 찜, 입력"),
        nouns=phrases("내역, 방법, 안내, 가이드, 도움말, 계산기, 목록, 조회"),
        confirms=phrases("예, 네, 확인, 계속, 동의, 진행"),
        commits=phrases("""
            예약, 확인, 제출, 완료, 게시
        """),
        binds=phrases("""
            환불 불가, 환불되지, 청구됩니다, 되돌릴 수 없, 취소할 수 없, 복구할 수 없
        """),
    ),
    RiskyWords(
        "ar",
        spaced=False,
        buys=phrases("""
            شراء, اشتر, ادفع, دفع, اتمام الطلب, تاكيد الطلب, تاكيد الشراء, تبرع,
            تحويل الاموال, بيع, استئجار, اشترك الان
        """),
        destroys=phrases("""
            نهائيا, للابد, فسخ العقد, ابطال,
            حذف, احذف, ازالة, مسح, اتلاف, سلة المهملات, اغلاق الحساب, الغاء الحساب, تعطيل,
            الغاء الطلب, الغاء الاشتراك, الغاء الحجز, اعادة تعيين, افراغ, حظر,
            تغيير كلمة المرور
        """),
        sends=phrases("""
            ارسال, ارسل, تقديم, احجز, تسجيل, تاكيد, مشاركة, رد, تعليق, دعوة, رفع, حفظ,
            اشتراك, تحديث, تصويت, طلب, ابلاغ
        """),
        publishes=phrases("""
            نشر, انشر, ارسال للجميع
        """),
        harmless_first=phrases("""
            لا, الغاء الامر, رجوع, كيف, لماذا, عرض, المزيد, مساعدة, تراجع, معاينة, مسودة
        """),
        things=phrases("فلتر, الفلتر, التصفية, البحث, التحديد, المقارنة, المفضلة, الترتيب"),
        nouns=phrases("سجل, دليل, خيارات, طرق, حاسبة"),
        confirms=phrases("نعم, تاكيد, متابعة, موافق, انا متاكد"),
        commits=phrases("""
            احجز, تاكيد, ارسال, اكمال, نشر
        """),
        binds=phrases("""
            غير قابل للاسترداد, سيتم خصم, لا يمكن التراجع, لا يمكن الغا, نهائي, ملزم
        """),
    ),
    RiskyWords(
        "pl",
        buys=phrases("""
            kup, kup teraz, kupuje, zapłać, zapłać teraz, zamawiam, zamawiam i płacę,
            złóż zamówienie,
            potwierdź zamówienie, potwierdź płatność, przelej, wyślij przelew, wpłać, wypożycz,
            sprzedaj
        """),
        destroys=phrases("""
            usuń, usuń konto, skasuj, wyczyść, opróżnij, opróżnij kosz, zamknij konto, wypowiedz,
            rozwiąż umowę, anuluj zamówienie, anuluj rezerwację, anuluj subskrypcję, wypisz się,
            zresetuj, trwale, na zawsze, bezpowrotnie, cofnij zgodę, zablokuj użytkownika
        """),
        sends=phrases("""
            wyślij, prześlij, złóż, zarezerwuj, zarejestruj się, potwierdź, udostępnij,
            odpowiedz, skomentuj, zaproś, zapisz, subskrybuj, zaktualizuj, zagłosuj,
            zgłoś, aplikuj
        """),
        publishes=phrases("""
            opublikuj, publikuj, wyślij do wszystkich, upublicznij
        """),
        harmless_first=phrases("""
            nie, anuluj, wróć, jak, dlaczego, gdzie, więcej, pomoc, pokaż, podgląd,
            szkic
        """),
        things=phrases(
            "filtr, filtry, wyszukiwanie, zaznaczenie, porównanie, ulubione, ulubionych"
        ),
        nouns=phrases("poradnik, historia, opcje, metody, kalkulator, pomoc"),
        confirms=phrases("tak, potwierdź, kontynuuj, na pewno, zgadzam się, ok"),
        commits=phrases("""
            zarezerwuj, potwierdź, wyślij, zakończ, podpisz, aktywuj, opublikuj, złóż
        """),
        binds=phrases("""
            bezzwrotna, bez zwrotu, zapisana karta, nie można cofnąć, nieodwracalne,
            wiążące, ostateczne, zostanie pobrana, zostanie obciążona
        """),
    ),
    RiskyWords(
        "sv",
        buys=phrases("""
            köp, köp nu, betala, betala nu, beställ, slutför köp, slutför beställning,
            bekräfta köp, bekräfta betalning, skänk, för över, sälj, hyr
        """),
        destroys=phrases("""
            radera, ta bort, ta bort konto, avsluta konto, avsluta konto, säg upp, säg upp avtalet,
            avboka, avbeställ, töm, töm papperskorgen, återställ, för alltid, permanent, spärra
        """),
        sends=phrases("""
            skicka, skicka in, lämna in, boka, reservera, registrera, bekräfta, dela,
            svara, kommentera, bjud in, ladda upp, spara, prenumerera, uppdatera, rösta,
            ansök, anmäl
        """),
        publishes=phrases("""
            publicera, skicka till alla, gör offentlig
        """),
        harmless_first=phrases("""
            inte, avbryt, tillbaka, hur, varför, var, mer, hjälp, visa, förhandsgranska,
            utkast
        """),
        things=phrases("filter, sökning, urval, jämförelse, favoriter"),
        nouns=phrases("guide, historik, alternativ, kalkylator, hjälp"),
        confirms=phrases("ja, bekräfta, fortsätt, jag är säker, godkänn, ok"),
        commits=phrases("""
            boka, reservera, bekräfta, skicka, slutför, signera, aktivera, publicera
        """),
        binds=phrases("""
            ej återbetalningsbar, ingen återbetalning, sparat kort, kommer att
            debiteras, kan inte ångras, oåterkallelig, bindande, slutgiltig
        """),
    ),
    RiskyWords(
        "tr",
        buys=phrases("""
            satın al, hemen al, öde, ödeme yap, siparişi onayla, siparişi tamamla, sipariş ver,
            ödemeyi onayla, bağış yap, para gönder, havale yap, sat, kirala
        """),
        destroys=phrases("""
            sil, hesabı sil, hesabımı sil, kaldır, boşalt, çöpü boşalt, hesabı kapat, iptal et,
            aboneliği iptal et, siparişi iptal et, rezervasyonu iptal et, kalıcı olarak sil,
            sıfırla,
            feshet, sözleşmeyi feshet, engelle
        """),
        sends=phrases("""
            gönder, ilet, sun, rezervasyon yap, kaydol, onayla, paylaş, yanıtla, yorum
            yap, davet et, yükle, kaydet, abone ol, güncelle, oy ver, başvur, bildir
        """),
        publishes=phrases("""
            yayınla, yayımla, herkese gönder, herkese açık yap
        """),
        harmless_first=phrases("""
            vazgeç, geri, nasıl, neden, nerede, daha fazla, yardım, göster, önizle,
            önizleme, taslak
        """),
        things=phrases(
            "filtre, filtreyi, filtreleri, arama, seçim, karşılaştırma, favori, favoriler"
        ),
        nouns=phrases("rehberi, geçmişi, seçenekleri, yöntemleri, hesaplayıcı, yardım"),
        confirms=phrases("evet, onayla, devam, devam et, eminim, kabul et, tamam"),
        commits=phrases("""
            rezervasyon yap, onayla, gönder, tamamla, imzala, etkinleştir, yayınla
        """),
        binds=phrases("""
            iade edilmez, kayıtlı kart, tahsil edilecek, geri alınamaz, bağlayıcı, kesin
        """),
    ),
)
