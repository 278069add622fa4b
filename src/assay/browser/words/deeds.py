"""What sites write beside a button that says too little, and what they say when it is done.

One row for each language, in the form of `words`; `*` stands for up to three words and `|` between
two words for either of them. Where a language is written without spaces, or glues endings to its
words, a phrase counts wherever it stands.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final, NamedTuple

from assay.browser.words.risk_words import phrase_pattern, phrases, plain


class DeedWords(NamedTuple):
    """How one language speaks of what cannot be taken back."""

    code: str
    will: tuple[str, ...]
    """What will happen: stands beside a button that says no more than yes."""
    done: tuple[str, ...]
    """What has happened: something is gone, money has moved, others can read it."""
    sent: tuple[str, ...] = ()
    """A message has reached somebody."""
    answers: tuple[str, ...] = ()
    """Names of fields in which a message to somebody is written."""
    amounts: tuple[str, ...] = ()
    """What stands before the sum that a transfer or a payment is about."""
    spaced: bool = True


DEEDS: Final = (
    DeedWords(
        "en",
        will=phrases("""
            cannot|can't|can not be undone|reversed|recovered|restored|retrieved|revoked|cancelled,
            cannot|can't|can not be canceled|returned|refunded|recalled|taken|brought,
            can never be undone|reversed|recovered|restored|retrieved, can no longer be *,
            not be able to recover|restore|undo|retrieve|get, no way back, no way to undo|recover,
            will|shall be deleted|removed|erased|wiped|destroyed|lost|cancelled|canceled|purged,
            will|shall be terminated|deactivated|disabled|closed|charged|debited|billed|shredded,
            will|shall be overwritten|transferred|forfeited|revoked|void|published,
            will permanently *, will irrevocably *, will delete|erase|wipe|destroy|charge *,
            this|that|it deletes|removes|erases|wipes|destroys|cancels|terminates|closes|ends *,
            lose|loses all|access|your *, gone for good|ever, for ever, forever, irreversible,
            irrevocable, non refundable, nonrefundable, permanently
        """),
        done=phrases("""
            has|have|was|were been * deleted|erased|wiped|destroyed|shredded|purged|revoked,
            was|were|is|are * deleted|erased|wiped|destroyed|shredded|purged|revoked,
            has|have|was|were * permanently|irrevocably *, gone for good|ever,
            account|contract|subscription|membership|plan|policy|profile|project|site * closed,
            account|contract|subscription|membership|plan|policy|profile * cancelled|canceled|ended,
            order|booking|reservation|appointment|ticket|flight|trip * cancelled|canceled,
            account|contract|membership|subscription|profile * terminated|deactivated|removed,
            order * placed|confirmed|completed|submitted, thank you for your order|purchase,
            thank you for your donation|payment|gift|support, thanks for your order|purchase,
            payment|donation|purchase * received|successful|accepted|complete|completed|confirmed,
            payment|donation|purchase * approved|made|sent|processed, successfully paid|purchased,
            card|account * charged|debited, * charged * receipt|card|account, you paid *,
            money|funds|amount * sent|transferred|way|gone|moved, transfer * complete|completed,
            transfer * sent|made|successful|confirmed|executed, bid * placed|accepted,
            is|are|was|were|been * published, is|are now live|public|online,
            visible to|for * subscribers|everyone|readers|followers|members|all, item|items sold,
            contract * signed, you signed *
        """),
        sent=phrases("""
            message|mail|email|letter|reply|answer|newsletter|campaign|invitation|text * sent,
            message|mail|email|letter|reply|answer|newsletter|invitation|text * delivered,
            sent to *, delivered
        """),
        answers=phrases("""
            message, reply, answer, respond, response, chat, dm, text message, write to, write back,
            talk to, say something
        """),
        amounts=phrases("amount, sum, you send, you pay, to pay, payment of, transfer of"),
    ),
    DeedWords(
        "de",
        will=phrases("""
            kann|können nicht|nie * rückgängig|wiederhergestellt|widerrufen|storniert|zurückgeholt,
            nicht mehr|wieder rückgängig|wiederhergestellt|wiederherstellen|zurückholen,
            lässt|lassen sich nicht *, nicht rückgängig, unwiderruflich, endgültig, für immer,
            wird|werden * gelöscht|entfernt|gekündigt|deaktiviert|gesperrt|storniert|abgebucht,
            wird|werden * belastet|vernichtet|überschrieben|beendet|geschlossen|aufgelöst,
            geht|gehen * verloren, dauerhaft gelöscht|entfernt|gesperrt, unwiederbringlich
        """),
        done=phrases("""
            wurde|wurden|ist|sind * gelöscht|gekündigt|vernichtet|deaktiviert|storniert|aufgelöst,
            wurde|wurden * abgebucht|belastet|überwiesen|bezahlt|veröffentlicht|widerrufen,
            konto|vertrag|abo|abonnement|mitgliedschaft * gekündigt|geschlossen|beendet|gelöscht,
            vielen dank|herzlichen * bestellung|spende|einkauf|zahlung,
            danke für ihre|deine bestellung|spende|zahlung, bestellung * eingegangen|aufgegeben,
            bestellung * abgeschlossen|bestätigt, zahlung * erfolgreich|erfolgt|eingegangen,
            überweisung * ausgeführt|erfolgt|erfolgreich|gesendet,
            kündigung * eingegangen|bestätigt, ist jetzt|nun online|öffentlich|veröffentlicht,
            sichtbar für *
        """),
        sent=phrases("""
            nachricht|mail|brief|antwort|newsletter|einladung * gesendet|versendet|verschickt,
            nachricht|mail|brief|antwort|newsletter|einladung * abgeschickt|zugestellt, zugestellt
        """),
        answers=phrases("nachricht, antwort, antworten, schreiben, chat, mitteilung"),
        amounts=phrases("betrag, summe, überweisungsbetrag, zu zahlen"),
    ),
    DeedWords(
        "fr",
        will=phrases("""
            ne peut|pourra|peuvent|pourront * être annulé|annulée|annulés|récupéré|récupérée *,
            ne peut|pourra|peuvent|pourront * être récupérés|récupérées|restauré|restaurée *,
            ne pourrez|pouvez plus|pas revenir|annuler|récupérer *, pas de retour en arrière,
            sera|seront * supprimé|supprimée|supprimés|supprimées|effacé|effacée|effacés|effacées,
            sera|seront * perdu|perdue|perdus|perdues|résilié|résiliée|désactivé|désactivée|annulé,
            sera|seront * annulée|débité|débitée|clôturé|clôturée|fermé|facturé|prélevé|prélevée,
            irréversible, irrévocable, définitivement, définitif, définitive, pour toujours
        """),
        done=phrases("""
            a|ont|est|sont été|bien * supprimé|supprimée|supprimés|supprimées|effacé|effacés,
            a|ont|est|sont été|bien * résilié|résiliée|annulé|annulée|clôturé|désactivé|débité,
            a|ont|est|sont été|bien * débitée|publié|publiée|payé|payée|transféré|viré|virée,
            merci pour votre|ton commande|achat|don|paiement, commande * confirmée|passée|validée,
            paiement * accepté|effectué|réussi|confirmé, virement * effectué|envoyé|confirmé,
            est maintenant|désormais publié|publiée|visible|public|publique,
            compte|contrat|abonnement * supprimé|résilié|fermé|clôturé
        """),
        sent=phrases("""
            message|courriel|mail|courrier|réponse|lettre|invitation * envoyé|envoyée|transmis,
            message|courriel|mail|réponse|lettre * délivré|remis
        """),
        answers=phrases("message, réponse, répondre, écrire, discussion, courriel"),
        amounts=phrases("montant, somme, à payer"),
    ),
    DeedWords(
        "es",
        will=phrases("""
            no se puede|podrá|pueden|podrán deshacer|recuperar|revertir|restaurar|anular *,
            no puede|podrá|pueden|podrán ser|recuperarse|deshacerse|revertirse|restaurarse *,
            no podrás|podrá|puedes recuperar|deshacer|volver *, no hay vuelta atrás,
            será|serán * eliminado|eliminada|eliminados|eliminadas|borrado|borrada|borrados,
            será|serán * borradas|cancelado|cancelada|desactivado|desactivada|cobrado|cargado,
            se eliminará|eliminarán|borrará|borrarán|perderá|perderán|cancelará|cancelarán *,
            se desactivará|cobrará|cargará|cerrará|dará *, perderás|perderá *, irreversible,
            irrevocable, definitivamente, para siempre, permanentemente
        """),
        done=phrases("""
            ha|han|fue|fueron sido * eliminado|eliminada|eliminados|eliminadas|borrado|borrada,
            ha|han|fue|fueron sido * cancelado|cancelada|cerrado|cerrada|publicado|publicada,
            se ha|han eliminado|borrado|cancelado|cerrado|publicado|cobrado|cargado|transferido *,
            fue|fueron eliminado|eliminada|borrado|borrada|cancelado|cancelada|publicado|publicada,
            gracias por su|tu compra|pedido|donación|pago, pedido * realizado|confirmado|recibido,
            pago * realizado|aceptado|recibido|confirmado|correcto|exitoso, ya es|está visible *,
            ya está publicado|publicada|público|pública *, transferencia * realizada|enviada,
            cuenta|contrato|suscripción * eliminada|cancelada|cerrada|eliminado|cancelado
        """),
        sent=phrases("""
            mensaje|correo|carta|respuesta|invitación|boletín * enviado|enviada|entregado|entregada
        """),
        answers=phrases("mensaje, respuesta, responder, escribir, escribe, contestar, chat"),
        amounts=phrases("importe, monto, cantidad, suma, a pagar"),
    ),
    DeedWords(
        "pt",
        will=phrases("""
            não pode|poderá|podem|poderão ser desfeito|desfeita|recuperado|recuperada|revertido *,
            não pode|poderá|podem|poderão ser revertida|recuperados|recuperadas|anulado|anulada *,
            não será possível|poderá recuperar|desfazer|reverter *, sem volta,
            será|serão * excluído|excluída|excluídos|excluídas|apagado|apagada|apagados|apagadas,
            será|serão * removido|removida|removidos|removidas|eliminado|eliminada|eliminados,
            será|serão * perdido|perdida|perdidos|perdidas|cancelado|cancelada|desativado,
            será|serão * desativada|cobrado|cobrada|debitado|debitada|encerrado|encerrada,
            irreversível, irrevogável, definitivamente, permanentemente, para sempre
        """),
        done=phrases("""
            foi|foram * excluído|excluída|excluídos|excluídas|apagado|apagada|apagados|apagadas,
            foi|foram * eliminado|eliminada|cancelado|cancelada|encerrado|encerrada|publicado,
            foi|foram * publicada|debitado|debitada|cobrado|pago|paga|transferido|transferida,
            obrigado|obrigada * compra|pedido|doação|pagamento, pedido * realizado|confirmado,
            pagamento * realizado|aprovado|confirmado|efetuado, compra * realizada|confirmada,
            transferência * realizada|enviada|efetuada, conta|contrato|assinatura * encerrada,
            conta|contrato|assinatura * cancelada|excluída, já está visível|público|publicado *
        """),
        sent=phrases("mensagem|email|carta|resposta|convite * enviado|enviada|entregue"),
        answers=phrases("mensagem, resposta, responder, escreva, escrever, conversa"),
        amounts=phrases("valor, montante, quantia, a pagar"),
    ),
    DeedWords(
        "it",
        will=phrases("""
            non può|potrà|possono|potranno essere annullato|annullata|annullati|recuperato *,
            non può|potrà|possono|potranno essere recuperata|recuperati|recuperate|ripristinato *,
            non può|potrà|possono|potranno essere ripristinata|ripristinati|revocato|revocata *,
            non sarà possibile|più annullare|recuperare|ripristinare|possibile *,
            non potrai|potrà più|recuperare|annullare|ripristinare *, non si torna indietro,
            sarà|saranno|verrà|verranno * eliminato|eliminata|eliminati|eliminate|cancellato,
            sarà|saranno|verrà|verranno * cancellata|cancellati|cancellate|rimosso|rimossa|rimossi,
            sarà|saranno|verrà|verranno * rimosse|disattivato|disattivata|perso|persa|persi|perse,
            sarà|saranno|verrà|verranno * addebitato|addebitata|disdetto|disdetta|chiuso|annullato,
            andrà|andranno perso|persa|persi|perse, irreversibile, irrevocabile, definitivamente,
            per sempre, in modo permanente
        """),
        done=phrases("""
            è|sono stato|stata|stati|state * eliminato|eliminata|eliminati|eliminate|cancellato,
            è|sono stato|stata|stati|state * cancellata|disdetto|disdetta|chiuso|annullato,
            è|sono stato|stata|stati|state * pubblicato|pubblicata|pagato|pagata|addebitato,
            è|sono disdetto|disdetta|eliminato|eliminata|cancellato|cancellata|chiuso|pubblicato,
            grazie per il|la|l'ordine|l'acquisto * acquisto|ordine|donazione|pagamento,
            ordine * confermato|effettuato|inviato, pagamento * effettuato|riuscito|accettato,
            bonifico * eseguito|inviato|effettuato, account|contratto|abbonamento * eliminato,
            account|contratto|abbonamento * disdetto|chiuso|annullato, ora è visibile|pubblico *
        """),
        sent=phrases("messaggio|email|lettera|risposta|invito * inviato|inviata|consegnato"),
        answers=phrases("messaggio, risposta, rispondi, rispondere, scrivi, scrivere, chat"),
        amounts=phrases("importo, somma, da pagare"),
    ),
    DeedWords(
        "nl",
        will=phrases("""
            kan|kunnen niet * ongedaan|hersteld|teruggedraaid|herroepen *, niet ongedaan *,
            kan|kunt niet meer terug|herstellen *, geen weg terug,
            wordt|worden * verwijderd|gewist|geannuleerd|beëindigd|opgezegd|gesloten|afgeschreven,
            wordt|worden * gedeactiveerd|vernietigd|overschreven|opgeheven, gaat|gaan verloren,
            onomkeerbaar, onherroepelijk, definitief, voorgoed, permanent
        """),
        done=phrases("""
            is|zijn|werd|werden * verwijderd|gewist|opgezegd|geannuleerd|vernietigd|afgeschreven,
            is|zijn|werd|werden * gepubliceerd|betaald|overgemaakt|beëindigd|ingetrokken,
            bedankt voor je|uw bestelling|aankoop|donatie|betaling,
            bestelling * geplaatst|bevestigd, betaling * gelukt|geslaagd|ontvangen|voltooid,
            overboeking * uitgevoerd|gelukt, account|contract|abonnement * gesloten|opgeheven,
            staat nu online
        """),
        sent=phrases("bericht|mail|brief|antwoord|uitnodiging * verzonden|verstuurd|bezorgd"),
        answers=phrases("bericht, antwoord, antwoorden, reageren, schrijf, chat"),
        amounts=phrases("bedrag, som, te betalen"),
    ),
    DeedWords(
        "ru",
        will=phrases("""
            нельзя|невозможно * отменить|восстановить|вернуть *, отменить|восстановить * нельзя,
            отменить|восстановить * невозможно, не подлежит|подлежат восстановлению|возврату,
            будет|будут * удален|удалена|удалено|удалены|потерян|потеряна|потеряно|потеряны,
            будет|будут * отменен|отменена|отменены|закрыт|закрыта|закрыты|списано|списана|списаны,
            будет|будут * отключен|отключена|отключены|стерт|стерты|аннулирован|расторгнут,
            безвозвратно, навсегда, необратимо, окончательно
        """),
        done=phrases("""
            удален, удалена, удалены, был|была|были * удален|удалена|удалены|отменен|отменена,
            аккаунт|счет|договор|подписка|учетная * закрыт|закрыта|расторгнут|отменена,
            спасибо за заказ|покупку|пожертвование|оплату *, заказ * оформлен|принят|подтвержден,
            платеж * выполнен|принят|успешно|прошел, оплата * прошла|успешно|принята,
            перевод * выполнен|отправлен, деньги отправлены, опубликован, опубликована,
            опубликовано
        """),
        sent=phrases("сообщение|письмо|ответ|приглашение * отправлено|отправлен|доставлено"),
        answers=phrases("сообщение, ответ, ответить, написать, напишите, чат"),
        amounts=phrases("сумма, к оплате"),
    ),
    DeedWords(
        "zh",
        spaced=False,
        will=phrases("""
            无法撤销, 不可撤销, 无法恢复, 不可恢复, 不能恢复, 无法找回, 将被删除, 将会删除, 将永久,
            将被扣款, 将扣除, 将被取消, 将被注销, 将被清空, 不予退款, 無法復原, 無法恢復, 將被刪除,
            将被永久, 会被删除
        """),
        done=phrases("""
            已删除, 已被删除, 已注销, 已清空, 已取消订阅, 订单已取消, 已解约, 支付成功, 付款成功,
            已付款, 购买成功, 订购成功, 下单成功, 订单已提交, 转账成功, 已转账, 已扣款,
            感谢您的订购, 感谢您的购买, 捐款成功, 已发布, 发布成功, 已刪除, 訂單已
        """),
        sent=phrases("已发送, 发送成功, 已送达, 已寄出"),
        answers=phrases("消息, 回复, 发消息, 訊息, 回覆, 留言"),
        amounts=phrases("金额, 金額, 合计, 应付"),
    ),
    DeedWords(
        "ja",
        spaced=False,
        will=phrases("""
            取り消せません, 取り消すことはできません, 元に戻せません, 元に戻すことはできません,
            復元できません, 復元することはできません, 削除されます, 失われます, 解約されます,
            請求されます, 引き落とされます, 消去されます, 完全に削除, 無効になります,
            返金できません, 取消できません, キャンセルできません, 戻せません
        """),
        done=phrases("""
            削除しました, 削除されました, 消去しました, 退会しました, 退会手続きが完了,
            解約しました, 解約が完了, 注文が完了, 注文を受け付け, ご注文ありがとう, ご注文完了,
            購入が完了, 購入しました, お支払いが完了, 決済が完了, 支払いました, 送金しました,
            振込が完了, 公開しました, 公開されました, 投稿されました, 空にしました, 寄付ありがとう
        """),
        sent=phrases("送信しました, 送信されました, 送信完了, 送信済み, 届きました"),
        answers=phrases("メッセージ, 返信, 返事, 回答, チャット"),
        amounts=phrases("金額, 合計, お支払い金額, 振込額"),
    ),
    DeedWords(
        "ko",
        spaced=False,
        will=phrases("""
            되돌릴 수 없, 복구할 수 없, 취소할 수 없, 복원할 수 없, 삭제됩니다, 사라집니다,
            해지됩니다, 청구됩니다, 결제됩니다, 영구적으로, 영구히, 초기화됩니다, 환불되지
        """),
        done=phrases("""
            삭제되었습니다, 삭제했습니다, 삭제됐습니다, 탈퇴가 완료, 탈퇴되었습니다,
            해지되었습니다, 주문이 완료, 주문이 접수, 결제가 완료, 결제되었습니다, 구매가 완료,
            송금이 완료, 이체가 완료, 주문해 주셔서, 구매해 주셔서, 게시되었습니다, 발행되었습니다,
            취소되었습니다
        """),
        sent=phrases("전송되었습니다, 보냈습니다, 발송되었습니다, 전송 완료, 전달되었습니다"),
        answers=phrases("메시지, 답장, 답변, 채팅, 답글"),
        amounts=phrases("금액, 합계, 결제 금액"),
    ),
    DeedWords(
        "ar",
        spaced=False,
        will=phrases("""
            لا يمكن التراجع, لا يمكن استعاد, لا يمكن الغا, لا يمكن استرداد, لن تتمكن من استعاد,
            سيتم حذف, سيتم ازالة, سيتم الغاء, سيتم خصم, سيتم اغلاق, سيتم مسح, سيتم تعطيل, نهائيا,
            بشكل دائم, ستفقد
        """),
        done=phrases("""
            تم حذف, تم الحذف, تم مسح, تم الغاء الاشتراك, تم الغاء الطلب, تم اغلاق الحساب, تم الدفع,
            تم الشراء, تم تاكيد الطلب, تم تقديم الطلب, تم تحويل, تم خصم, تم النشر, تم نشر,
            شكرا لطلبك, شكرا لتبرعك, شكرا لشرائك
        """),
        sent=phrases("تم ارسال, تم الارسال, تم التسليم"),
        answers=phrases("رسالة, رسالتك, رد, الرد, اكتب"),
        amounts=phrases("المبلغ, الاجمالي"),
    ),
    DeedWords(
        "pl",
        will=phrases("""
            nie można|da * cofnąć|odzyskać|przywrócić *, nie będzie można|możliwe|możliwości *,
            nie da się cofnąć|odzyskać|przywrócić *, nie podlega|podlegają zwrotowi,
            zostanie|zostaną * usunięty|usunięta|usunięte|usunięci|skasowany|skasowana|skasowane,
            zostanie|zostaną * anulowany|anulowana|anulowane|zamknięty|zamknięta|zamknięte|utracone,
            zostanie|zostaną * rozwiązana|obciążona|pobrana|pobrane|wyłączony|dezaktywowane,
            bezpowrotnie, trwale, nieodwracalnie, na zawsze, nieodwracalne, utracisz *, stracisz *
        """),
        done=phrases("""
            został|została|zostało|zostały * usunięty|usunięta|usunięte|skasowany|skasowane,
            został|została|zostało|zostały * anulowany|anulowana|anulowane|zamknięte|zamknięty,
            został|została|zostało|zostały * opublikowany|opublikowana|opublikowane|opłacone,
            został|została|zostało|zostały * rozwiązana|pobrana|wykonany|złożone|przyjęte,
            usunięto *, anulowano *, opublikowano *, zapłacono *, dziękujemy za zamówienie *,
            dziękujemy za zakup|wpłatę|płatność|darowiznę *, płatność * zakończona|przyjęta,
            przelew * wykonany|wysłany|zlecony
        """),
        sent=phrases(
            "wiadomość|mail|list|odpowiedź|zaproszenie * wysłana|wysłany|wysłane, wysłano *"
        ),
        answers=phrases("wiadomość, odpowiedź, odpowiedz, napisz, czat"),
        amounts=phrases("kwota, suma, do zapłaty"),
    ),
    DeedWords(
        "sv",
        will=phrases("""
            kan|går inte * ångras|återställas|återkallas|ångra|återställa *, går inte att ångra *,
            kommer att raderas|avslutas|debiteras|försvinna|tas|stängas|avbokas *,
            raderas|avslutas|debiteras|stängs permanent, går|gå förlorad|förlorat|förlorade,
            permanent, för alltid, oåterkalleligt, oåterkallelig, slutgiltigt
        """),
        done=phrases("""
            har raderats|avslutats|tagits|avbokats|publicerats|debiterats|betalats|skickats *,
            är raderad|raderat|raderade|avslutad|avslutat|borttagen|borttaget|publicerad,
            tack för din|ditt beställning|köp|gåva|betalning, beställning * mottagen|bekräftad,
            betalning * genomförd|godkänd|mottagen, överföring * genomförd|skickad
        """),
        sent=phrases(
            "meddelande|meddelandet|mejl|mejlet|brev|svar|svaret * skickat|skickats|levererat"
        ),
        answers=phrases("meddelande, svar, svara, skriv, chatt"),
        amounts=phrases("belopp, summa, att betala"),
    ),
    DeedWords(
        "tr",
        will=phrases("""
            geri alınamaz *, geri alamazsınız, geri getirilemez *, kurtarılamaz *, iade edilmez,
            kalıcı olarak *, silinecek, silinecektir, kapatılacak, kapatılacaktır, iptal edilecek *,
            iptal edilecektir, tahsil edilecek *, tahsil edilecektir, kaybolacak, kaybolacaktır,
            sonsuza kadar, geri dönüşü yok *
        """),
        done=phrases("""
            silindi, silinmiştir, iptal edildi, iptal edilmiştir, kapatıldı, kapatılmıştır,
            ödeme alındı|başarılı|tamamlandı, ödemeniz alındı|başarılı|tamamlandı, yayınlandı,
            siparişiniz alındı|onaylandı|tamamlandı, sipariş alındı|onaylandı|tamamlandı,
            para gönderildi, havale yapıldı, bağışınız için *
        """),
        sent=phrases("mesaj|mesajınız|posta|mektup|yanıt|yanıtınız * gönderildi|iletildi"),
        answers=phrases("mesaj, mesajınız, yanıt, yanıtla, cevap, yaz, sohbet"),
        amounts=phrases("tutar, miktar, ödenecek"),
    ),
)
CONSENTS: Final = phrases("""
    cookie, cookies, gdpr, rgpd, dsgvo, avg, consent to, einwilligung, tracking, traceurs, rastreo,
    куки, クッキー, 쿠키, çerez, çerezler, ملفات تعريف الارتباط, ciasteczka, ciasteczek, kakor
""")
"""A window that speaks of these asks for a consent, whatever rights it explains."""

_MONEY: Final = re.compile(
    r"(?:[€$£¥₹₽₩₺]|(?<!\w)(?:eur|usd|gbp|chf|jpy|cny|inr|pln|sek|nok|dkk|czk|try|rub|krw|zł|kr|"
    r"euro|euros|dollars?|pounds?|francs?))\s?\d|\d[\d.,'\s]{0,14}(?:[€$£¥₹₽₩₺円元원]|(?:eur|usd|gbp|chf|jpy"
    r"|cny|inr|pln|sek|nok|dkk|czk|try|rub|krw|zł|kr|tl|руб|euro|euros|dollars?|pounds?|francs?)"
    r"(?!\w))"
)
_WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")


def will_bind(text: str) -> bool:
    """Whether a text says that something is lost or paid, or that there is no way back."""
    return _any("will", _folded(text))


def was_done(text: str) -> bool:
    """Whether a text says that something is gone, that money has moved or that all can read it."""
    return _any("done", _folded(text))


def was_sent(text: str) -> bool:
    """Whether a text says that a message has been sent."""
    return _any("sent", _folded(text))


def is_for_answer(name: str) -> bool:
    """Whether a field of this name takes a message to somebody."""
    return _any("answers", _folded(name))


def moves_money(text: str) -> bool:
    """Whether a text has the sum of a payment or a transfer in it."""
    return _MONEY.search(plain(text)) is not None and _any("amounts", _folded(text))


def asks_for_consent(text: str) -> bool:
    """Whether a text asks for a consent to cookies and the like."""
    folded = _folded(text)
    return any(f" {word} " in folded if word.isascii() else word in folded for word in CONSENTS)


def _folded(text: str) -> str:
    return f" {' '.join(_WORD.findall(plain(text)))} "


def _any(kind: str, text: str) -> bool:
    return any(_pattern(language, kind).search(text) for language in DEEDS)


@cache
def _pattern(language: DeedWords, kind: str) -> re.Pattern[str]:
    listed: tuple[str, ...] = getattr(language, kind)
    if not language.spaced:
        return re.compile("|".join(map(re.escape, listed)))
    return re.compile("|".join(f"{phrase_pattern(phrase)}(?= )" for phrase in listed))
