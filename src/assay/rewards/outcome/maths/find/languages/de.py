"""German."""

from assay.rewards.outcome.maths.find.languages.language import Language

GERMAN = Language(
    name="German",
    code="de",
    markers="die|der|das|ist|antwort|ergebnis|lösung|und|ich|wir|dass|daß|wert|lautet|beträgt"
    "|nicht|siehe|aber|seite|richtig|dies|ein|eine|den|sei|entweder|wäre",
    nouns="endgültige antwort|richtige antwort|antwort|endergebnis|ergebnis|gesuchte zahl"
    "|gesuchte wert|lösung|lösungsmenge|antworten|lösungen|gesamtergebnis",
    links="ist gleich|ist also|ist somit|ist daher|ist die|ist der|ist|sind|lautet also"
    "|lautet somit|lautet|lauten|beträgt|wäre|ergibt|wird",
    choosing="richtig ist|es ergibt sich",
    copulas="ist|beträgt",
    fillers="häufige|häufiger|typische|wurde|war|ist|sei|sind|wäre|die|der|das|den|dem|ein|eine"
    "|dass|daß|antwort|lösung|ergebnis|wert|zahl|option|richtige|richtig|gleich|es|hier|lautet"
    "|beträgt|zu|sein|kann|so|sagen|antworten|behaupten|als|etwa|endgültige|gesuchte|wirklich"
    "|genau|tatsächlich|einfach",
    turning="aber|sondern|jedoch|doch|also|daher|deshalb|somit|folglich|dennoch|trotzdem|denn"
    "|weil|da|allerdings|vielmehr|deswegen|mithin",
    contrasting="sondern",
    denying="falsche|falscher|falsches|fehlerhafte|häufiger fehler|typischer fehler|verkehrte"
    "|irrtümliche|vorherige|frühere|nicht|nie|niemals|keinesfalls|keineswegs|kein|keine|keinen"
    "|weder|noch|auf keinen fall|unmöglich|falsch|alles andere als|alles außer|anstatt"
    "|anstelle von|statt|außer|mitnichten|unter keinen umständen|unzutreffend|irrig"
    "|ausgeschlossen|fehler|falsch wäre es|es wäre falsch|in keinem fall|nimmer|nicht etwa",
    denying_after="ist nicht die lösung|ist nicht die antwort|ist nicht die richtige|"
    "ist nicht das ergebnis|ist nicht das richtige|ist nicht richtig|ist keine lösung|"
    "ist falsch|ist nicht richtig|ist nicht korrekt|stimmt nicht|ist unmöglich"
    "|ist ausgeschlossen|kann nicht stimmen|kann nicht sein|ist nicht die|scheidet aus"
    "|ist inkorrekt|wäre falsch|trifft nicht zu|ist es nicht|nicht sein kann"
    "|kommt nicht in frage|ist ein fehler",
    doubting="bezweifle|bezweifeln|zweifle|zweifel|zweifelhaft|unwahrscheinlich|nicht sicher"
    "|unsicher|nicht überzeugt|glaube nicht|glaube kaum|denke nicht|kaum zu glauben|frage mich"
    "|fraglich|schwer zu glauben|wohl kaum|kaum|nicht klar|es stimmt nicht, dass"
    "|es ist nicht so, dass|es ist falsch, dass|meine nicht|nicht wahr|ob|unglaubhaft|schwerlich"
    "|falsch, dass|nicht der fall",
    doubting_after="halte ich für unwahrscheinlich|ist unwahrscheinlich|ist zweifelhaft"
    "|ist fraglich|bezweifle ich|glaube ich nicht|scheint unwahrscheinlich|halte ich für falsch"
    "|halte ich für ausgeschlossen|halte ich für zweifelhaft|wage ich zu bezweifeln"
    "|möchte ich bezweifeln|erscheint mir|ich bin unsicher|ich bin nicht sicher"
    "|kann ich nicht glauben|halte ich nicht für",
    affirming="ohne zweifel|kein zweifel|keinen zweifel|zweifellos|zweifelsohne|nicht nur"
    "|nichts anderes als|außer zweifel|unzweifelhaft|ohne jeden zweifel|nicht schwer",
    possible="angenommen|nehmen wir an|könnte meinen|könnte denken|könnte glauben"
    "|gesetzt den fall|vielleicht|eventuell|möglicherweise|könnte|könnte sein|kann sein"
    "|womöglich|mag sein|unter umständen|gegebenenfalls",
    asking_after="nicht wahr|oder etwa|oder nicht",
    alternatives="oder aber|oder vielleicht|oder auch|oder|beziehungsweise|bzw.|alternativ"
    "|entweder|wahlweise|andernfalls|sonst",
    one_of="eine der|einer der|eines der|einen der|eine von|einer von|eins von|irgendeine der"
    "|eine der zahlen|einer der werte|eine der folgenden zahlen|irgendeine der zahlen"
    "|eine beliebige der|eine beliebige der zahlen|eine unter|unter|eine aus"
    "|eine der beiden zahlen|irgendetwas zwischen",
    one_of_after="eine davon|eines davon|einer davon|eine von beiden|nach wahl|eines von beiden"
    "|ungefähr|plus minus|mehr oder weniger|oder so",
    supposing="wenn|falls|wäre|hätte|angenommen|sofern|gesetzt den fall|vorausgesetzt|sollte|wären",
    unreal="was nicht der fall ist|was falsch ist|was nicht stimmt|was er nicht ist|"
    "was es nicht ist|"
    "wäre|wären|hätte|hätten|würde|würden|ergäbe|bekäme|erhielte|lautete|betrüge|käme",
    reporting="gab ab|reichte ein|trug ein|"
    "sagt|sagte|sagen|behauptet|behauptete|behaupten|schreibt|schrieb|meint|meinte"
    "|glaubt|antwortet|antwortete|laut|zufolge|denkt|dachte|rät|riet|nennt|nannte|angeblich"
    "|wählte|kreuzte|schlug",
    own_voice="ich|wir|man|aufgabe|gleichung|satz|dies|das|formel|bedingung|es",
    examples="zum beispiel|z. b.|z.b.|beispielsweise|etwa so|wie|in der form|im format|beispiel"
    "|in dieser form|in folgender form|bspw.|folgendermaßen",
    examples_after="ist ein beispiel|als beispiel|zum beispiel|ist das format"
    "|ist nur ein beispiel|wäre ein beispiel|geschrieben werden",
    retracting="was falsch ist|aber das ist nicht|aber das ist falsch|das ist falsch"
    "|das war falsch|ist leider falsch|das stimmt nicht|ich habe mich geirrt"
    "|ich habe mich verrechnet|mich verrechnet|mich vertan|mich geirrt|ich nehme das zurück"
    "|nehme ich zurück|nehme das zurück|ich irre mich|ein fehler|mein fehler|korrektur"
    "|ich korrigiere|moment, nein|nein, moment|halt, nein|doch nicht|vergiss das"
    "|vergessen sie das|ignoriere das|ignorieren sie|entschuldigung|ich widerrufe|ich ziehe"
    "|bei näherem hinsehen|bei genauerem hinsehen|das ist nicht richtig|das ist nicht korrekt"
    "|er irrt|er irrte|sie irrt|hat sich geirrt|hat sich verrechnet|nicht geprüft"
    "|nicht überprüft|moment, das|moment mal|warte|falsch gerechnet|ist verkehrt|nein, das",
    refusing="falsch|nicht richtig|nicht korrekt|inkorrekt|unrichtig|verworfen|gestrichen"
    "|durchgestrichen|verkehrt|ungültig|nicht die antwort|fehlerhaft|ein fehler|fehler"
    "|ausgeschlossen|unmöglich|nein|keine lösung|scheinlösung|zurückgenommen|nicht wahr"
    "|falsche antwort|falsches ergebnis|stimmt nicht|widerrufen|entfällt",
    relatives="was|das ist|das war|dies ist|ist|war|es ist|leider|aber|natürlich|offensichtlich"
    "|jedoch|aber leider|was leider",
    failing="erfüllt nicht|nicht erfüllt|erfüllt die gleichung nicht"
    "|erfüllt die bedingung nicht|erfüllt die zweite bedingung nicht"
    "|erfüllt die erste bedingung nicht|verletzt|ist keine lösung|keine lösung ist"
    "|ist keine wurzel|funktioniert nicht|geht nicht auf|passt nicht"
    "|kann nicht die antwort sein|nicht die antwort sein kann|kann nicht die lösung sein"
    "|kann nicht richtig sein|kann nicht stimmen|stimmt nicht|führt zu einem widerspruch"
    "|ergibt einen widerspruch|ist ein widerspruch|widerspricht|ist unmöglich|ist ungültig"
    "|scheitert|die probe schlägt fehl|die probe geht nicht auf|muss falsch sein",
    subjects="das|dies|dieser|diese|dieses|es|er|sie|was|die antwort|meine antwort|das ergebnis"
    "|der wert|die lösung|probe|die probe|einsetzen|die zahl",
    others="andere|anderen|anderer|anderes|kleinere|kleineren|größere|größeren|kein|keine|jede"
    "|jeder|alle|sonst|übrigen|nur|außer|mehr|weniger|kleiner|größer|nächste|negative|weder",
    cases="andernfalls|sonst|wenn|falls|im fall|fall|unter der annahme|sofern|angenommen"
    "|methode|bei der lesart",
    concluding="also|daher|somit|folglich|insgesamt|schließlich|endgültig|endgültige|deshalb|da"
    "|korrektur|mithin",
    undecided="je nachdem|je nach|abhängig davon|kommt darauf an|hängt davon ab|nicht angegeben"
    "|ist nicht gesagt|nicht gesagt, welche|mehrdeutig|nicht klar, welche|unklar, welche"
    "|beides ist möglich|weiß nicht, welche",
    correcting="nein|eigentlich|tatsächlich|vielmehr|besser gesagt|moment|halt|ich meine"
    "|oder besser|genauer|genauer gesagt|sorry|nach erneuter prüfung"
    "|bei nochmaligem rechnen|korrektur|doch eher|es ist doch",
    giving_up="ich weiß es nicht|ich weiß nicht|weiß ich nicht|ich gebe auf|keine ahnung"
    "|kann ich nicht|ich kann die|ich kann das|ich kann diese|ich habe keine lösung"
    "|habe keine antwort|keine lösung gefunden|keine antwort gefunden|nicht lösen"
    "|nicht beantworten|nicht bestimmen|ich konnte|leider nicht|lässt sich nicht bestimmen"
    "|keine antwort|nicht gelungen|bin nicht in der lage|ich bin außerstande|nicht bestätigen"
    "|nicht geprüft|nicht überprüft|nicht nachgeprüft|mir fehlt",
    asides="obwohl|obgleich|auch wenn|wenngleich|trotz|weil|denn|da|und nicht|aber|nicht|statt"
    "|anstatt|während|was|entgegen",
    labels="januar|februar|märz|april|juni|juli|august|september|oktober|november|dezember|im jahr|"
    "seite|seiten|s.|satz|lemma|aufgabe|übung|frage|zeile|kapitel|abschnitt|abbildung"
    "|tabelle|schritt|gleichung|teil|beispiel|fall|nummer|nr.|korollar|theorem|problem|anhang"
    "|definition|fassung|version|bemerkung|paragraph|§|lektion|raum|band",
    labels_after="gegebenen bedingungen",
    grading="anweisungen|punktzahl|vergib|bewertungsschlüssel|bewerter|prüfer|gilt als"
    "|volle punktzahl|werte dies|bewertung|zählt als|als richtig|korrektor|behandle|als korrekt",
    operations="wurzel|quadrat|hoch|kubik|fakultät|hälfte|doppelte|dreifache|mehr als"
    "|weniger als|tausend|million|millionen|dutzend|prozent von|mindestens|höchstens|ungefähr"
    "|etwa|mal|kehrwert|basis|zehntel|hundertstel|halb|potenz|fast|über|unter|rund|zum quadrat",
    counted="äpfel|personen|möglichkeiten|wege|kinder|tage|stunden|minuten|jahre|bücher|schüler"
    "|euro|münzen|zahlen|lösungen|punkte|stück|bäume|meter|häuser|schülerinnen|kugeln|plätze"
    "|wörter|menschen",
    trailing="plus|minus|mal|durch|von|der|die|das|ein|eine|und|oder|zu|dass|mit|wenn|ist"
    "|geteilt|multipliziert|wo|für|in|als|wie|hoch|im|den|dem|wobei|noch",
)
