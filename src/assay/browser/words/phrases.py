"""How sites say that a page is missing, that something failed, or that somebody has to wait.

One row for each language, in the form that `risk.words` has: lower case, without marks on letters.
`*` stands for up to three words, `|` between two words for either of them. Where a language is
written without spaces a phrase counts wherever it stands.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from assay.browser.words.risk_words import phrases


class NoticePhrases(NamedTuple):
    """What notices of one language begin with, by what they mean."""

    code: str
    missing: tuple[str, ...]
    """What was asked for is not there."""
    broken: tuple[str, ...]
    """What was asked for cannot be shown, because something is out of order."""
    failed: tuple[str, ...]
    """It did not work; read only where the page marks a message as one."""
    limited: tuple[str, ...]
    """Too much was asked for, or too many are asking."""
    robot: tuple[str, ...]
    """Somebody has to show that they are no program."""
    login: tuple[str, ...]
    denied: tuple[str, ...]
    gate: tuple[str, ...]
    """Something else has to be done before: pay, confirm an address, enter a code."""
    fillers: tuple[str, ...]
    """What a notice begins with and what says nothing by itself."""
    harmless: tuple[str, ...] = ()
    """What only sounds like a failure: "no errors"."""
    spaced: bool = True


NOTICES: Final = (
    NoticePhrases(
        "en",
        missing=phrases("""
            not found, 404, page not found, page missing, page unavailable, page is unavailable,
            page is missing, page does not exist, page doesn't exist, page no longer exists,
            this|that|the page|product|item|article|file|post|link * not found|exist|available *,
            this|that|the page|product|item|article|file|post|profile|link|listing * no longer *,
            this|that|the page|product|item|article|file|post|link * gone|missing|moved|removed,
            * not found, we|i can't|cannot|couldn't find *, we|i could|can not find *,
            can't|cannot|couldn't find *, could|can not find *, unable to find *,
            we were|are unable to find *, no such *, nothing here, nothing found at *,
            nothing to see here, there is|was nothing here|at *, there's nothing here|at *,
            no page|product|item|article|match|record * this|that address|link|name|number,
            the address|link|url * wrong|broken|mistyped|invalid|expired, lost your way,
            dead link, broken link, looks like * lost, no longer available, are you lost,
            you seem lost, you look lost,
            this|that|the page|product|item|article|file|post|link doesn't|isn't|can't|cannot *
        """),
        broken=phrases("""
            something went wrong *, something is wrong *, an error *, an unexpected error *,
            internal server error, server error, unexpected error, application error,
            service|site|page temporarily unavailable, service|site is down|unavailable *,
            temporarily unavailable, down for maintenance, under maintenance, we'll be back *,
            scheduled maintenance, we|i could not load|open|show|process *,
            we|i couldn't load|open|show|process *, could not|be load|open|show|loaded *,
            couldn't load|open|show *, failed to load|open|show *, unable to load|open|show *
        """),
        failed=phrases("""
            something went wrong, something * wrong, went wrong, error, errors, failed, failure,
            could not, couldn't, cannot, can't, can not, unable to, not possible, impossible,
            unavailable, not available, not valid, invalid, incorrect, wrong, mistake,
            does not match, doesn't match, do not match, don't match, not match, not recognised,
            not recognized, not known, unknown, no such, not found, does not exist, doesn't exist,
            must be, must have, must contain, must choose, must select, must enter, must not,
            has to be, have to be, needs to be, is required, are required, is missing,
            are missing, cannot be empty, can't be empty, be blank, be empty, please choose,
            please select, please enter, please fill, please pick, please provide, please correct,
            please check, please add, please type, please tick, please give, please accept,
            please agree, please specify, please upload, please use, please try, too short,
            too long, too large, too big, too small, too many, too few, too weak, too low,
            too high, too late, too early, too old, too young, exceeds, exceeded, not allowed,
            not permitted, not supported, unsupported, not enough, insufficient, limit reached,
            is full, is closed, closed for, is locked, locked by, is taken, are taken,
            already taken, already in use, already exists, already booked, already reserved,
            already used, already registered, already sold, sold out, out of stock, none left,
            no longer, has expired, expired, declined, rejected, refused, denied, not accepted,
            not saved, not sent, not updated, not added, not deleted, not submitted,
            not completed, not applied, not processed, no connection, offline, lost connection,
            timed out, time out, timeout, try again, oops, sorry, unfortunately, conflict,
            problem, not signed in, not logged in, not authorised, not authorized, not eligible,
            only pictures, only images, only letters, only numbers, only digits,
            choose|select|pick|enter|fill|add|tick|log|sign * first, field required,
            required field
        """),
        limited=phrases("""
            you * too many *, you've * too many *, rate limit *, rate limited, slow down,
            please slow down, you are|were too fast, you are going too fast,
            you * limit * searches|requests|downloads|today|hour|minute, unusual traffic *,
            unusual activity *, we * unusual traffic|activity|requests *,
            we are|have very busy|high *, the site|server * busy|overloaded, we're * busy,
            temporarily blocked|limited|suspended *, you * in line|queue *,
            you are in a line|queue *, your place|position|number in *, waiting room,
            virtual waiting room, queue position *, * people|visitors ahead of you,
            there are * ahead of you, you will be let in *, 429 *,
            too many requests|attempts|searches|tries|queries|visits|logins *,
            too many connections|calls|downloads|people|visitors|users *,
            you have made|sent|reached|exceeded too|the *
        """),
        robot=phrases("""
            verify that|you * human, verify you *, verifying you are human *, verify that you *,
            confirm that|you * human|robot|bot, confirm you are *, prove that|you * human|robot,
            are you a human|robot|bot|person *, are you human, are you a real person,
            i'm not a robot, i am not a robot, i am human, i'm human, human verification *,
            security check *, security verification *, security challenge, robot check, bot check,
            checking your browser *, checking if the site *, checking the security *,
            complete the captcha|puzzle|challenge|check|security|verification *,
            please complete the|a captcha|puzzle|challenge|check|security *,
            complete this captcha|puzzle|challenge|check *,
            solve the|this|a puzzle|captcha|challenge *, please solve *, press and hold *,
            select all images|squares|pictures|photos *,
            type the characters|letters|text * picture|image|see|shown *, just a moment,
            before we * robot|human|bot *, please confirm that you *,
            enable javascript and cookies *, your browser * being checked,
            please verify that|you *, please prove that|you *, drag the piece|puzzle *,
            slide the piece|puzzle *, slide to verify|complete|continue|unlock *,
            we need to make sure|check that|if|whether you *
        """),
        login=phrases("""
            sign in to *, log in to *, login to *, please log|sign in *, please login *,
            sign in required, log in required, login required, authentication required,
            authorization required, authorisation required,
            you must|need * log|sign|logged|signed in *, you have to log|sign|be *,
            you are|were|have * logged|signed out *, session expired *, session timed out *,
            members only *, for members|subscribers only *, only members|subscribers|registered *,
            create a|an|your * account to *, create account to *, you are not logged|signed in *,
            sign in or *, log in or *,
            this page|feature|content|area requires a|an * account|login *,
            you've been logged|signed out *, your session has|is|was|expired|timed|ended *,
            session has expired|ended|timed *,
            register to continue|read|view|see|access|download *,
            sign up to continue|read|view|see|access|download *,
            join to continue|read|view|see|access *, sign in, log in, login, log in again *,
            sign in again *
        """),
        denied=phrases("""
            access denied, access is denied, access restricted, access forbidden, no access,
            permission denied, no permission, not permitted, forbidden, 403, 403 forbidden, 401,
            unauthorized, unauthorised, not authorized, not authorised, blocked,
            you are not allowed|authorized|authorised|permitted *, you aren't allowed *,
            you * been blocked *,
            your ip|request|address|network|account|browser * blocked|banned *,
            this * not available * your country|region|location|area *,
            not available in your country|region|location|area *, this * is private *,
            this * only * available|visible|open * members|staff|owners|country *,
            you need permission *, request access *, restricted area, restricted,
            you have no permission|permissions|access|right|rights *,
            you do not have permission|permissions|access|the *,
            you don't have permission|permissions|access|the *,
            this|the|our|that * not available in your *,
            this|the|our|that * isn't available in your *,
            not available in your region|country|location|area *,
            unavailable in your region|country|location|area *,
            your region|country|location is not supported *, we are not available in your *
        """),
        gate=phrases("""
            subscribe to *, subscribe now to *, continue reading *, keep reading *,
            to read * article|story|rest|more|on *,
            you have|you've read|reached|used * free|article|articles|limit|stories *,
            this article|story|content|page|feature * for subscribers|members|premium *,
            this article|story|content|page|feature requires a|an *,
            this * subscriber|subscribers|premium|members *, premium content|article|feature *,
            for subscribers *, subscribers only, become a member|subscriber to *, upgrade to *,
            start your free trial *, are you * years old *, you must|have * 18|21 *,
            please confirm * age|birth|18|21 *, confirm your age *, verify your age *, age check *,
            age verification *, how old are you *, enter your date of birth *,
            verify your email|e|phone|identity|account|address|number|device *,
            confirm your email|e|phone|identity|account|number|device *, verify it's you *,
            verify that it's you *, check your inbox|email|e|phone|mail *,
            we have|we've|we sent|emailed|texted * code|link|e|email *, a code was|has * sent *,
            two factor *, two step *, 2 step *, verification code, one time code|password *,
            before continuing *, accept * cookies|terms * continue|to *, we value your privacy *,
            agree * pay *, consent or pay *, continue with ads|advertising *,
            your account * suspended|locked|restricted *, payment required *,
            unlock this|the|more|full *, before you can|continue *,
            to keep|continue reading|watching|using|viewing *, enter the code we|that|sent|from *,
            enter the verification|security|confirmation|login code *,
            enter your verification|security|confirmation|login code *,
            are you over|18|21|at least|of 18|21|legal *, are you over *, are you of legal *,
            are you at least *, choose how to continue *, confirm that it is|it's you *,
            to see|view|read|watch|access|open * accept|agree|consent|subscribe|register|upgrade *,
            to see|view|read|watch this|the * please *, read on with ads|advertising|a *,
            accept ads|advertising|tracking or *, subscribe or accept *, with ads or *,
            this story|article|video|text * for subscribers|members
        """),
        fillers=phrases("""
            sorry, we're sorry, we are sorry, oops, ooops, whoops, uh oh, oh no, hmm, error, http,
            unfortunately, notice, attention, warning, sorry but, http error, error code, status,
            hey, hello, but, well, so, ouch, dear visitor, dear customer
        """),
        harmless=phrases("""
            no errors, no error, no problem, no problems, without errors, no failures, 0 errors,
            first name, first time, first item, not found any errors, never fails, error free
        """),
    ),
    NoticePhrases(
        "de",
        missing=phrases("""
            seite nicht gefunden, nicht gefunden, * nicht gefunden, * nicht vorhanden,
            seite existiert nicht *, wir konnten|konnen * nicht finden *, hier ist nichts *,
            hier gibt es nichts *, kein|keine seite|artikel|produkt|eintrag * adresse|gefunden *,
            nicht mehr verfugbar, seite nicht verfugbar, die adresse * falsch|ungultig|veraltet *,
            diese|die seite|datei * nicht gefunden|vorhanden|verfugbar|existiert *,
            diese|die seite|datei existiert nicht *,
            dieser|der artikel|eintrag|link * nicht gefunden|vorhanden|verfugbar|mehr *,
            dieses|das produkt|angebot|dokument * nicht gefunden|vorhanden|verfugbar|mehr *
        """),
        broken=phrases("""
            etwas ist schiefgelaufen *, ein fehler *, es ist ein fehler *, interner serverfehler,
            vorubergehend nicht *, dienst nicht verfugbar, * nicht geladen werden *,
            wartungsarbeiten, wegen wartungsarbeiten *
        """),
        failed=phrases("""
            fehler, fehlgeschlagen, schief gegangen, schiefgegangen, schiefgelaufen, konnte nicht,
            konnten nicht, kann nicht, nicht moglich, nicht verfugbar, ungultig, ungultige,
            ungultiger, nicht gultig, falsch, falsche, stimmt nicht, stimmen nicht, unbekannt,
            muss, mussen, erforderlich, pflichtfeld, fehlt, fehlen, bitte wahlen, bitte geben,
            bitte fullen, bitte prufen, bitte korrigieren, bitte ausfullen, bitte erst,
            bitte zuerst, zu kurz, zu lang, zu gross, zu klein, zu viele, zu wenige, zu spat,
            nicht erlaubt, nicht zulassig, nicht unterstutzt, nicht genug, vergeben, belegt,
            bereits vergeben, bereits vorhanden, bereits belegt, ausverkauft, ausgebucht,
            vergriffen, abgelaufen, abgelehnt, verweigert, nicht gespeichert, nicht gesendet,
            gesperrt, leider, erneut versuchen, noch einmal versuchen, versuchen sie es,
            nicht bekannt, nicht gefunden
        """),
        limited=phrases("""
            zu viele anfragen|versuche|suchen|zugriffe *, sie haben zu viele|oft *,
            hohe auslastung, hoher andrang *, warteraum, warteschlange,
            sie sind in der warteschlange *, sie stehen in der *, es sind * vor ihnen *,
            ungewohnlicher datenverkehr *, ihre position in der *, der server ist uberlastet *
        """),
        robot=phrases("""
            sind sie ein mensch|roboter *, sind sie kein *, ich bin kein roboter,
            bestatigen sie * mensch|roboter *, bitte bestatigen sie * mensch|roboter *,
            sicherheitsprufung *, sicherheitsuberprufung *, sicherheitsabfrage *,
            ihr browser wird *, wahlen sie alle bilder *, nur einen moment,
            losen sie das|dieses ratsel|puzzle|captcha *, bitte losen sie das|dieses *,
            schieben sie das|den puzzleteil|puzzle|schieberegler|teil *, beweisen sie dass *
        """),
        login=phrases("""
            bitte melden sie sich an *, melden sie sich an *, bitte anmelden *,
            anmeldung erforderlich, anmelden um *, bitte loggen sie *,
            sie mussen * anmelden|angemeldet|einloggen *, sitzung abgelaufen *,
            sie wurden abgemeldet *, nur fur mitglieder|abonnenten *, nur mitglieder *,
            jetzt registrieren um *, sie sind nicht angemeldet *, ihre sitzung ist|wurde *,
            anmelden, anmeldung, einloggen, login
        """),
        denied=phrases("""
            zugriff verweigert, zugang verweigert, kein zugriff, keine berechtigung,
            nicht berechtigt, sie sind nicht berechtigt *, zugriff gesperrt, sie wurden gesperrt *,
            in ihrem land nicht *, * in ihrem land nicht *, nicht erlaubt,
            sie haben keine berechtigung|rechte|erlaubnis|zugriff *,
            sie haben keinen zugriff|zugang *,
            dieser|diese|dieses|der|die|das * in ihrem|deinem land|gebiet nicht *,
            in ihrem|deinem land|gebiet nicht *, in ihrer|deiner region nicht *,
            dieser|diese|dieses * in ihrer|deiner region nicht *, aus rechtlichen grunden * nicht *
        """),
        gate=phrases("""
            weiterlesen mit *, weiter mit werbung *, um diesen|den|weiter * lesen *,
            jetzt abonnieren *, dieser artikel * abonnenten|abo|plus|mitglieder *,
            lesen sie weiter *, nur mit abo *, sind sie * 18|16|volljahrig *,
            bitte bestatigen sie ihr alter *, altersprufung *, altersnachweis *,
            bestatigen sie ihre e|identitat|telefonnummer *, wir haben ihnen * code|link|e *,
            geben sie den * code *, bestatigungscode *, wir schatzen ihre privatsphare *,
            wahlen sie ihr land *, zustimmen oder *,
            bevor sie weitermachen|fortfahren|weiterlesen *, stimmen sie der|den|allen * zu um *,
            um diesen|diese|dieses|den|die|das * sehen|lesen|nutzen|anzeigen|ansehen *,
            mit werbung oder *, pur abo oder *, werbung zulassen oder *,
            abonnieren oder zustimmen *
        """),
        fillers=phrases("""
            leider, entschuldigung, entschuldigen sie, hoppla, ups, oh, tut uns leid, fehler,
            hinweis, achtung, es tut uns leid, schade
        """),
        harmless=phrases("keine fehler, fehlerfrei, ohne fehler, kein fehler, 0 fehler"),
    ),
    NoticePhrases(
        "fr",
        missing=phrases("""
            page introuvable, introuvable, * introuvable, page non trouvee, non trouve,
            non trouvee, cette page|ressource|annonce * n'existe|n'est *,
            ce produit|article|contenu * n'existe|n'est *, la page * n'existe|n'est|demandee *,
            nous ne trouvons *, nous n'avons pas trouve *, page inexistante, il n'y a rien *,
            rien ici, n'est plus disponible
        """),
        broken=phrases("""
            une erreur *, une erreur s'est produite *, erreur interne *, service indisponible *,
            maintenance en cours, en maintenance, un probleme est survenu *,
            impossible de charger *
        """),
        failed=phrases("""
            erreur, echec, echoue, impossible, invalide, incorrect, incorrecte, non valide,
            n'est pas, ne peut, ne peuvent, n'a pas pu, n'ont pas, obligatoire, requis, requise,
            manquant, veuillez choisir, veuillez saisir, veuillez selectionner, veuillez remplir,
            veuillez verifier, veuillez corriger, veuillez indiquer, veuillez entrer, d'abord,
            trop court, trop long, trop grand, trop petit, trop de, indisponible, deja pris,
            deja prise, deja utilise, deja reserve, complet, epuise, expire, refuse, refusee,
            rejete, non enregistre, reessayer, reessayez, desole, malheureusement, probleme,
            inconnu
        """),
        limited=phrases("""
            trop de requetes|tentatives|demandes|recherches *, vous avez * trop *, ralentissez,
            file d'attente *, salle d'attente *, vous etes dans la file *, forte affluence *,
            trafic inhabituel *, le site * sature|surcharge *, il y a * devant vous *,
            votre position dans *
        """),
        robot=phrases("""
            confirmez que vous * humain|robot *, etes vous un humain|robot *,
            je ne suis pas un robot, verification de securite *, controle de securite *,
            selectionnez toutes les *, veuillez confirmer que vous *,
            veuillez verifier que vous *, prouvez que vous *, resolvez le|ce captcha|puzzle *,
            faites glisser la|le piece|puzzle|curseur *, verifiez que vous etes|n'etes *
        """),
        login=phrases("""
            connectez vous *, veuillez vous connecter *,
            vous devez * connecter|connecte|identifier *, connexion requise, identifiez vous *,
            session expiree *, reserve aux membres|abonnes *, vous avez ete deconnecte *,
            inscrivez vous pour *, creez un compte pour *, votre session a|est|expire *,
            connexion, se connecter, identification
        """),
        denied=phrases("""
            acces refuse, acces interdit, acces non autorise, interdit, vous n'etes pas autorise *,
            non autorise, vous avez ete bloque *, * n'est pas disponible dans votre pays *,
            non disponible dans votre pays *, vous n'avez pas acces|l'acces|l'autorisation|la|le *,
            ce|cet|cette|le|la * n'est pas disponible dans votre *, pas disponible dans votre *,
            indisponible dans votre *
        """),
        gate=phrases("""
            abonnez vous pour *, pour lire la suite *, cet article est reserve *,
            continuer sans accepter *, avez vous * 18 ans *, avez vous plus de *,
            confirmez votre age *, verification de l'age *,
            verifiez votre adresse|e|identite|telephone *, confirmez votre adresse|e|identite *,
            saisissez le code *, entrez le code *, un code * envoye *, nous vous avons envoye *,
            accepter et continuer *, choisissez votre pays *,
            pour continuer votre|la|a lecture|lire *, avant de continuer vers|sur *,
            pour voir|lire|consulter|afficher ce|cet|cette|l'article|la *, avec publicite ou *,
            accepter ou s'abonner *, s'abonner ou accepter *, acceptez les * ou *
        """),
        fillers=phrases("""
            desole, desoles, nous sommes desoles, oups, malheureusement, erreur, attention, zut,
            pardon, toutes nos excuses
        """),
        harmless=phrases("aucune erreur, sans erreur, pas d'erreur, aucun probleme"),
    ),
    NoticePhrases(
        "es",
        missing=phrases("""
            pagina no encontrada, no encontrado, no encontrada, * no encontrado, * no encontrada,
            esta|la pagina * no existe|disponible|encontrada *, no hemos encontrado *,
            no encontramos *, no pudimos encontrar *, no existe *, ya no esta *, no hay nada *,
            este|el producto|articulo|contenido * no existe|disponible|encontrado|esta *
        """),
        broken=phrases("""
            algo salio mal *, algo ha salido mal *, se ha producido un error *,
            ha ocurrido un error *, error interno *, servicio no disponible *, en mantenimiento,
            no se pudo cargar *
        """),
        failed=phrases("""
            error, fallo, fallido, ha fallado, no se pudo, no se ha podido, no se puede,
            no es posible, no disponible, no valido, no valida, invalido, incorrecto, incorrecta,
            no coincide, no coinciden, desconocido, debe, deben, obligatorio, requerido, falta,
            faltan, por favor elija, por favor elige, por favor introduzca, por favor seleccione,
            seleccione, introduzca, primero, demasiado corto, demasiado largo, demasiado grande,
            demasiados, ya existe, ya esta en uso, ocupado, ocupada, agotado, agotada, caducado,
            ha expirado, rechazado, rechazada, denegado, no permitido, no guardado,
            intentelo de nuevo, intentalo de nuevo, vuelva a intentarlo, lo sentimos, lo siento,
            problema
        """),
        limited=phrases("""
            demasiadas solicitudes|peticiones|consultas|busquedas *, demasiados intentos *,
            ha realizado demasiad|demasiadas|demasiados *, sala de espera *, cola virtual *,
            esta en la cola *, alta demanda *, trafico inusual *, hay * personas delante *
        """),
        robot=phrases("""
            verificacion de seguridad *, control de seguridad *, comprobacion de seguridad *,
            confirme que * humano|robot *, no soy un robot, es usted humano *,
            complete el rompecabezas|captcha *, seleccione todas las *,
            por favor confirme que no *, verifique que usted|no|es *, demuestre que no|es *,
            resuelva el|este captcha|rompecabezas|puzle *,
            deslice la|el pieza|puzle|rompecabezas *
        """),
        login=phrases("""
            inicie sesion *, inicia sesion *, debe iniciar sesion *, debes iniciar *,
            identifiquese *, sesion caducada *, solo para miembros|suscriptores *,
            exclusivo para suscriptores *, registrese para *, registrate para *,
            su sesion ha|esta|caducado|expirado *, tu sesion ha|esta|caducado|expirado *,
            iniciar sesion, inicio de sesion, acceder
        """),
        denied=phrases("""
            acceso denegado, acceso prohibido, acceso restringido, prohibido, sin permiso,
            no tiene permiso *, no tienes permiso *, no esta autorizado *, no autorizado,
            ha sido bloqueado *, no disponible en su pais|region *,
            * no esta disponible en su pais *, este|esta|el|la * no esta disponible en su|tu *,
            no disponible en su|tu *
        """),
        gate=phrases("""
            suscribase para *, suscribete para *, para seguir leyendo *, es usted mayor de *,
            eres mayor de *, confirme su edad *, verificacion de edad *,
            verifique su correo|identidad|telefono *, confirme su correo|identidad *,
            introduzca el codigo *, le hemos enviado *, te hemos enviado *, acepte * continuar *,
            elija su pais *, este articulo es * suscriptores *, para continuar leyendo *,
            antes de continuar debe|necesita *, para ver|leer|consultar este|esta|el|la *,
            con publicidad o *, acepte o suscribase *, aceptar o suscribirse *,
            aceptar y continuar *
        """),
        fillers=phrases("""
            lo sentimos, lo siento, ups, vaya, error, atencion, disculpe, por desgracia
        """),
        harmless=phrases("sin errores, ningun error, no hay errores"),
    ),
    NoticePhrases(
        "pt",
        missing=phrases("""
            pagina nao encontrada, nao encontrado, nao encontrada, * nao encontrada,
            * nao encontrado, esta|a pagina * nao existe|disponivel|encontrada *,
            nao encontramos *, nao foi possivel encontrar *, nao existe *, nao ha nada *,
            este|o produto|artigo|conteudo * nao existe|disponivel|encontrado|esta *
        """),
        broken=phrases("""
            algo deu errado *, ocorreu um erro *, erro interno *, servico indisponivel *,
            em manutencao, nao foi possivel carregar *
        """),
        failed=phrases("""
            erro, falha, falhou, nao foi possivel, nao e possivel, nao pode, indisponivel,
            invalido, invalida, incorreto, incorreta, nao confere, nao coincidem, desconhecido,
            deve, obrigatorio, falta, faltam, por favor escolha, por favor selecione,
            por favor informe, escolha, selecione, informe, primeiro, muito curto, muito longo,
            muito grande, ja existe, ja esta em uso, ocupado, ocupada, esgotado, esgotada,
            expirou, expirado, recusado, recusada, negado, nao permitido, nao foi salvo,
            tente novamente, desculpe, infelizmente, problema
        """),
        limited=phrases("""
            muitas solicitacoes|requisicoes|tentativas|consultas|buscas *, voce fez muitas *,
            fila de espera *, fila virtual *, sala de espera *, voce esta na fila *,
            alta demanda *, trafego incomum *, sua posicao na fila *, ha * pessoas na sua frente *
        """),
        robot=phrases("""
            verifique que voce *, verificacao de seguranca *, confirme que voce * humano|robo *,
            nao sou um robo, voce e humano *, voce e um robo *, complete o captcha|desafio *,
            selecione todas as *, prove que voce|nao *, resolva o|este captcha|desafio|quebra *,
            deslize a|o peca|puzzle *
        """),
        login=phrases("""
            faca login *, entre na sua conta *, voce precisa * login|entrar|conectado *,
            login necessario, sessao expirada *, apenas para membros|assinantes *,
            exclusivo para assinantes *, cadastre se para *, sua sessao expirou|foi|terminou *,
            entre para continuar|ler|ver *, entrar, login, iniciar sessao
        """),
        denied=phrases("""
            acesso negado, acesso proibido, acesso restrito, proibido, sem permissao,
            voce nao esta autorizado *, nao autorizado, voce foi bloqueado *,
            indisponivel no seu pais *, nao disponivel em seu|no pais|seu *,
            voce nao tem permissao|acesso|autorizacao *,
            este|esta|o|a * nao esta disponivel na|no|em sua|seu|tua *,
            nao disponivel na|no|em sua|seu *, indisponivel na|no sua|seu *
        """),
        gate=phrases("""
            assine para *, para continuar lendo *, voce tem * 18 anos *, confirme sua idade *,
            verifique seu e|email|telefone *, confirme seu e|email|telefone *, digite o codigo *,
            insira o codigo *, enviamos * codigo|link|e *, aceite * continuar *,
            escolha seu pais *, antes de continuar voce *,
            para ver|ler|acessar|aceder este|esta|o|a *, com publicidade ou *,
            aceitar ou assinar *, aceite ou assine *
        """),
        fillers=phrases("""
            desculpe, desculpe nos, ops, opa, infelizmente, erro, atencao, lamentamos
        """),
        harmless=phrases("sem erros, nenhum erro, nao ha erros"),
    ),
    NoticePhrases(
        "it",
        missing=phrases("""
            pagina non trovata, non trovato, non trovata, * non trovata, * non trovato,
            questa|la pagina * non esiste|disponibile|trovata *, non abbiamo trovato *,
            non riusciamo a trovare *, non esiste *, qui non c'e nulla *,
            questo|il prodotto|articolo * non esiste|disponibile|trovato *,
            questo|il prodotto|articolo non e *
        """),
        broken=phrases("""
            qualcosa e andato storto *, si e verificato un errore *, errore interno *,
            servizio non disponibile *, in manutenzione, impossibile caricare *
        """),
        failed=phrases("""
            errore, fallito, fallita, non riuscito, non riuscita, impossibile, non e possibile,
            non puo, non disponibile, non valido, non valida, errato, errata, non corretto,
            non corrisponde, sconosciuto, deve, obbligatorio, obbligatoria, manca, mancano,
            scegli, seleziona, inserisci, compila, prima, troppo corto, troppo corta,
            troppo lungo, troppo grande, gia in uso, gia esistente, occupato, occupata, esaurito,
            esaurita, scaduto, scaduta, rifiutato, rifiutata, negato, non consentito, non salvato,
            riprova, spiacenti, purtroppo, problema
        """),
        limited=phrases("""
            troppe richieste|ricerche *, troppi tentativi *, hai effettuato troppe|troppi *,
            sala d'attesa *, sei in coda *, traffico insolito *, traffico elevato *,
            la tua posizione in coda *, ci sono * persone davanti *
        """),
        robot=phrases("""
            verifica di sicurezza *, controllo di sicurezza *, non sono un robot, sei umano *,
            sei un robot *, completa il captcha|puzzle *, seleziona tutte le *,
            conferma di essere|non *, dimostra di essere|non *,
            risolvi il|questo captcha|puzzle *, trascina il|la pezzo|tessera|cursore *,
            verifica di essere un|umano *
        """),
        login=phrases("""
            accedi per *, effettua l'accesso *, devi accedere *, devi effettuare *,
            accesso richiesto, sessione scaduta *, solo per membri|abbonati|iscritti *,
            riservato agli abbonati *, registrati per *, la tua sessione e|scaduta *, accedi,
            accesso
        """),
        denied=phrases("""
            accesso negato, accesso vietato, vietato, non autorizzato, non sei autorizzato *,
            sei stato bloccato *, non disponibile nel tuo paese *,
            non hai il|i permesso|permessi|diritto *, non hai accesso *,
            questo|questa|il|la * non e disponibile nel|nella tuo|tua|suo|sua *,
            non disponibile nel|nella tuo|tua *
        """),
        gate=phrases("""
            abbonati per *, hai * 18 anni *, conferma la tua eta *, verifica la tua e|email|eta *,
            conferma la tua e|email *, inserisci il codice *, ti abbiamo inviato *,
            prima di continuare *, accetta e continua *, per continuare a leggere *,
            per leggere il|questo articolo *, verifica il tuo account|numero|telefono *,
            per vedere|leggere|accedere|continuare questo|questa|il|la|a|al *, con pubblicita o *,
            accetta o abbonati *, accettare o abbonarsi *
        """),
        fillers=phrases("""
            spiacenti, siamo spiacenti, ops, purtroppo, errore, attenzione, ci dispiace
        """),
        harmless=phrases("nessun errore, senza errori, nessun problema"),
    ),
    NoticePhrases(
        "nl",
        missing=phrases("""
            pagina niet gevonden, niet gevonden, * niet gevonden, we konden * niet vinden *,
            we kunnen * niet vinden *, bestaat niet *, hier is niets *,
            deze|de pagina * niet gevonden|beschikbaar|meer *, deze|de pagina bestaat niet *,
            dit|het product|artikel * niet gevonden|beschikbaar|meer *
        """),
        broken=phrases("""
            er ging iets mis *, er is iets misgegaan *, er is een fout *, interne serverfout,
            tijdelijk niet beschikbaar *, gepland onderhoud *, in onderhoud
        """),
        failed=phrases("""
            fout, mislukt, ging mis, er ging iets mis, kan niet, kon niet, konden niet,
            niet mogelijk, niet beschikbaar, ongeldig, ongeldige, onjuist, onjuiste, verkeerd,
            komt niet overeen, onbekend, moet, verplicht, ontbreekt, kies eerst, kies een, vul,
            selecteer, eerst, te kort, te lang, te groot, te veel, al in gebruik, al bezet, bezet,
            uitverkocht, verlopen, geweigerd, afgewezen, niet toegestaan, niet opgeslagen,
            probeer opnieuw, probeer het opnieuw, sorry, helaas, probleem
        """),
        limited=phrases("""
            te veel verzoeken|aanvragen|pogingen|zoekopdrachten *, u heeft te veel|vaak *,
            wachtrij *, wachtruimte *, wachtkamer *, u staat in de *, je staat in de *,
            er zijn * voor u *, ongebruikelijk verkeer *
        """),
        robot=phrases("""
            bent u een mens|robot *, ben je een mens|robot *, ik ben geen robot,
            veiligheidscontrole *, beveiligingscontrole *, selecteer alle *, een ogenblik,
            bevestig dat u|je *, bewijs dat u|je *, los de|het captcha|puzzel *,
            schuif het|de stukje|puzzelstuk *
        """),
        login=phrases("""
            log in om *, inloggen om *, meld u|je aan *,
            u moet|je moet * inloggen|ingelogd|aanmelden *, inloggen vereist, sessie verlopen *,
            alleen voor leden|abonnees *, registreer om *, uw sessie is|verlopen *,
            je sessie is|verlopen *, inloggen, aanmelden
        """),
        denied=phrases("""
            toegang geweigerd, geen toegang, verboden, niet gemachtigd, niet toegestaan,
            u bent geblokkeerd *, niet beschikbaar in uw|jouw land *,
            u heeft geen toegang|toestemming|rechten *, je hebt geen toegang|toestemming|rechten *,
            deze|dit|de|het * niet beschikbaar in jouw|uw|je *, niet beschikbaar in jouw|uw|je *
        """),
        gate=phrases("""
            abonneer u|je om *, om verder te lezen *, bent u * 18 *, ben je * 18 *,
            bevestig uw|je leeftijd|e *, voer de code *, we hebben * code|link|e gestuurd *,
            voordat u|je verder *, om door te gaan met lezen *,
            verifieer uw|je e|email|identiteit|account *,
            om dit|deze|het|de * zien|lezen|bekijken *, met advertenties of *,
            accepteren of abonneren *
        """),
        fillers=phrases("sorry, helaas, oeps, fout, let op, excuses, onze excuses"),
        harmless=phrases("geen fouten, geen fout, foutloos"),
    ),
    NoticePhrases(
        "ru",
        missing=phrases("""
            страница не наидена, не наидено, не наидена, не наиден, * не наидена, * не наиден,
            такои страницы *, эта|данная страница * не *, страница * не существует *,
            мы не нашли *, ничего не наидено, здесь ничего нет
        """),
        broken=phrases("""
            что то пошло не так *, произошла ошибка *, внутренняя ошибка *, сервис недоступен *,
            технические работы *
        """),
        failed=phrases("""
            ошибка, ошибки, не удалось, не получилось, невозможно, нельзя, недоступно, недоступен,
            недоступна, неверныи, неверно, неверная, неправильныи, неправильно, некорректно,
            не совпадают, не совпадает, неизвестно, должен, должно, должны, обязательно,
            обязательное, не указан, не указано, не заполнено, выберите, введите, укажите,
            заполните, сначала, слишком короткии, слишком длинныи, слишком большои, слишком много,
            уже занят, уже занято, занято, занят, уже существует, распродано, закончился, истек,
            истекла, отклонено, отказано, запрещено, не сохранено, не отправлено, попробуите,
            извините, к сожалению, проблема
        """),
        limited=phrases("""
            слишком много запросов|попыток|обращении *, вы отправили слишком *, вы в очереди *,
            ваша очередь *, зал ожидания *, высокая нагрузка *, необычныи трафик *,
            подозрительныи трафик *, перед вами в очереди *
        """),
        robot=phrases("""
            вы не робот *, вы человек *, я не робот, проверка безопасности *, проверка браузера *,
            выберите все *, одну минуту, минуточку, докажите что вы *, решите капчу *,
            передвиньте ползунок *, подтвердите что вы *
        """),
        login=phrases("""
            воидите чтобы *, необходимо воити *, требуется вход *, требуется авторизация *,
            сессия истекла *, только для участников|подписчиков *,
            только для зарегистрированных *, воидите в|чтобы *, ваша сессия истекла|завершена *,
            зарегистрируитесь чтобы *, авторизуитесь чтобы *, вход, воити
        """),
        denied=phrases("""
            доступ запрещен, доступ закрыт, доступ ограничен, нет доступа, запрещено,
            недостаточно прав *, вы заблокированы *, недоступно в вашеи стране *,
            * недоступен в вашеи стране *, у вас нет прав|доступа|разрешения *,
            недоступно в вашем|вашей *, недоступен в вашем|вашей *,
            этот|эта|это * недоступен|недоступна|недоступно в вашем|вашей *
        """),
        gate=phrases("""
            подпишитесь чтобы *, оформите подписку *, чтобы продолжить *, чтобы читать *,
            вам есть 18 *, вам уже есть *, подтвердите возраст *, введите код *,
            прежде чем продолжить *, только по подписке *,
            подтвердите свои|ваш|вашу возраст|почту|адрес|номер|аккаунт *, мы отправили вам|код *,
            чтобы прочитать|увидеть|посмотреть|читать *, с рекламой или *, примите или оформите *
        """),
        fillers=phrases("извините, к сожалению, упс, ои, ошибка, внимание, простите"),
        harmless=phrases("без ошибок, нет ошибок, ошибок нет, ошибок не наидено"),
    ),
    NoticePhrases(
        "zh",
        spaced=False,
        missing=phrases("""
            页面不存在, 找不到页面, 页面未找到, 未找到页面, 找不到该, 您访问的页面, 内容不存在,
            商品不存在, 已下架, 已被删除, 頁面不存在, 找不到頁面, 不存在或已
        """),
        broken=phrases("出错了, 发生错误, 系统维护, 服务不可用"),
        failed=phrases("""
            错误, 失败, 出错, 无法, 不能, 不可用, 无效, 不正确, 不匹配, 不一致, 必填, 不能为空,
            请选择, 请输入, 请填写, 请先, 太短, 太长, 过大, 过长, 已被占用, 已存在, 已售罄, 缺货,
            已过期, 被拒绝, 不允许, 未保存, 请重试, 重试, 抱歉, 錯誤, 失敗, 無法, 無效
        """),
        limited=phrases("""
            请求过于频繁, 访问过于频繁, 操作过于频繁, 请求过多, 访问量过大, 排队中, 正在排队,
            您前面还有, 等候室, 系统繁忙, 服务器繁忙, 請求過多
        """),
        robot=phrases("""
            安全验证, 人机验证, 请完成验证, 拖动滑块, 滑动验证, 验证您是, 确认您不是机器人,
            我不是机器人, 点击验证, 安全驗證, 請完成驗證
        """),
        login=phrases("""
            请先登录, 请登录, 登录后, 需要登录, 登录已过期, 会话已过期, 仅限会员, 請先登入,
            請登入, 登录
        """),
        denied=phrases("""
            拒绝访问, 访问被拒绝, 禁止访问, 没有权限, 无权访问, 权限不足, 所在地区不可用, 拒絕存取,
            沒有權限, 在您所在的地区不可用, 您所在的地区无法, 该地区暂不支持, 您所在的国家
        """),
        gate=phrases("""
            订阅后, 开通会员后, 付费阅读, 继续阅读, 您是否已满, 确认年龄, 验证邮箱, 验证手机,
            输入验证码, 验证码已发送, 同意并继续, 购买后, 订阅后可阅读, 订阅以继续阅读,
            接受广告或订阅, 登录后查看全文, 本文仅限会员
        """),
        fillers=phrases("抱歉, 对不起, 很抱歉, 错误, 提示"),
        harmless=phrases("没有错误, 无错误"),
    ),
    NoticePhrases(
        "ja",
        spaced=False,
        missing=phrases("""
            ページが見つかりません, 見つかりませんでした, ページがありません, 公開を終了,
            削除された可能性, 販売を終了
        """),
        broken=phrases("エラーが発生, メンテナンス中, 問題が発生"),
        failed=phrases("""
            エラー, 失敗, できません, できませんでした, 無効, 正しくありません, 一致しません,
            必須, 入力してください, 選択してください, 選んでください, 確認してください, 短すぎ,
            長すぎ, 大きすぎ, 既に使用, すでに使用, 使用されています, 予約済み, 売り切れ,
            在庫切れ, 期限切れ, 拒否, 許可されていません, 保存されませんでした, もう一度お試し,
            やり直して, 申し訳, ごめんなさい
        """),
        limited=phrases("""
            アクセスが集中, 混雑しています, 混み合っています, 混みあって, リクエストが多すぎ,
            回数が多すぎ, 順番をお待ち, 待機室, 待合室, お待ちの人数
        """),
        robot=phrases("""
            ロボットではありません, ロボットではないこと, 人間であること, セキュリティチェック,
            セキュリティ確認, 画像認証, パズルを完成, スライドして, 安全確認
        """),
        login=phrases("""
            ログインしてください, ログインが必要, ログイン後, サインインしてください,
            サインインが必要, セッションが切れ, セッションの有効期限, タイムアウトしました,
            会員限定, 会員専用
        """),
        denied=phrases("""
            アクセスが拒否, アクセス拒否, アクセスできません, 権限がありません, 許可されていません,
            閲覧できません, お住まいの地域では, この地域ではご利用, お使いの地域では
        """),
        gate=phrases("""
            続きを読むには, 続きは会員, 有料会員, 購読すると, 年齢確認, 歳以上ですか, 20歳以上,
            18歳以上, メールアドレスの確認, メールを送信しました, 認証コード, 確認コード,
            続けるには, 本人確認, 続きを読むには, この記事は会員限定, 有料会員限定, 広告を許可
        """),
        fillers=phrases("申し訳ございません, 申し訳ありません, エラー, ただいま, 現在, お知らせ"),
        harmless=phrases("エラーはありません, エラーなし"),
    ),
    NoticePhrases(
        "ko",
        spaced=False,
        missing=phrases("페이지를 찾을 수 없, 존재하지 않습니다, 삭제되었거나, 판매가 종료"),
        broken=phrases("오류가 발생, 점검 중, 문제가 발생"),
        failed=phrases("""
            오류, 실패, 수 없습니다, 할 수 없, 불가, 유효하지 않, 올바르지 않, 일치하지 않, 필수,
            입력해 주세요, 입력하세요, 선택해 주세요, 선택하세요, 확인해 주세요, 너무 짧, 너무 길,
            너무 큽, 이미 사용, 이미 존재, 이미 예약, 품절, 매진, 만료, 거부, 거절, 허용되지,
            저장되지, 다시 시도, 죄송
        """),
        limited=phrases("""
            요청이 너무 많, 시도가 너무 많, 너무 많은 요청, 접속자가 많, 대기열, 대기실,
            앞에 대기, 접속량이 많
        """),
        robot=phrases("""
            로봇이 아닙니다, 로봇이 아님, 사람인지 확인, 보안 확인, 보안 문자, 퍼즐을 완성,
            자동 입력 방지, 슬라이드하
        """),
        login=phrases("""
            로그인이 필요, 로그인해 주세요, 로그인하세요, 로그인 후, 세션이 만료, 회원 전용,
            회원만
        """),
        denied=phrases("""
            접근이 거부, 접근 거부, 접근이 차단, 권한이 없, 접근할 수 없, 차단되었,
            해당 지역에서는, 거주 지역에서는 이용, 이 지역에서는 이용
        """),
        gate=phrases("""
            구독하고, 계속 읽으려면, 구독자 전용, 유료 회원, 나이 확인, 성인 인증, 만 19세,
            이메일 인증, 인증번호, 인증 코드, 본인 확인, 계속하려면, 계속 읽으려면, 회원 전용 기사,
            구독자 전용, 광고를 허용하거나
        """),
        fillers=phrases("죄송합니다, 오류, 알림, 현재"),
        harmless=phrases("오류가 없, 오류 없음"),
    ),
    NoticePhrases(
        "ar",
        spaced=False,
        missing=phrases("""
            الصفحة غير موجودة, غير موجود, لم يتم العثور, لم نعثر, لا توجد صفحة, تعذر العثور
        """),
        broken=phrases("حدث خطا, تحت الصيانة"),
        failed=phrases("""
            خطا, فشل, تعذر, لا يمكن, غير صالح, غير صحيح, غير متاح, لا يتطابق, مطلوب, يرجى اختيار,
            يرجى ادخال, الرجاء اختيار, الرجاء ادخال, يجب, قصير جدا, طويل جدا, كبير جدا,
            مستخدم بالفعل, محجوز, نفد, انتهت, مرفوض, غير مسموح, حاول مرة اخرى, عذرا, للاسف
        """),
        limited=phrases("طلبات كثيرة, محاولات كثيرة, قائمة الانتظار, ازدحام, غرفة الانتظار"),
        robot=phrases("""
            لست روبوت, انك لست روبوت, انك انسان, التحقق الامني, التحقق من المتصفح, حل اللغز
        """),
        login=phrases("""
            يرجى تسجيل الدخول, الرجاء تسجيل الدخول, يجب تسجيل الدخول, سجل الدخول, انتهت الجلسة,
            للاعضاء فقط, للمشتركين
        """),
        denied=phrases("""
            تم رفض الوصول, الوصول مرفوض, الدخول ممنوع, غير مصرح, غير متاح في بلدك, ليس لديك صلاحية,
            ليس لديك اذن, غير متاح في منطقتك, غير متاح في بلدك, غير متوفر في بلدك
        """),
        gate=phrases("""
            اشترك لمتابعة, اشترك للقراءة, لمتابعة القراءة, هل عمرك, تاكيد العمر, ادخل الرمز,
            رمز التحقق, تاكيد بريدك, قبل المتابعة, لمتابعة القراءة, للمشتركين فقط,
            هذا المحتوى للمشتركين
        """),
        fillers=phrases("عذرا, ناسف, خطا, تنبيه"),
        harmless=phrases("لا توجد اخطاء, بدون اخطاء"),
    ),
    NoticePhrases(
        "pl",
        missing=phrases("""
            nie znaleziono strony, strona nie została znaleziona, nie znaleziono *,
            strona nie istnieje, nie znaleźliśmy *, * nie istnieje
        """),
        broken=phrases("""
            coś poszło nie tak *, wystąpił błąd *, błąd serwera, przerwa techniczna *
        """),
        failed=phrases("""
            błąd, błędny, błędne, nieprawidłowy, nieprawidłowe, nie udało się, nie można,
            niepoprawny, niedostępny, wymagane, proszę wybrać, wybierz najpierw, proszę podać,
            zajęty, zajęte, wyprzedane, wygasł, wygasła, odrzucono, spróbuj ponownie,
            przepraszamy, niestety
        """),
        limited=phrases("""
            zbyt wiele żądań|prób|zapytań *, za dużo zapytań *, jesteś w kolejce *, poczekalnia,
            kolejka oczekujących *
        """),
        robot=phrases("""
            potwierdź że nie *, potwierdź że jesteś *, nie jestem robotem,
            weryfikacja bezpieczeństwa *, sprawdzanie przeglądarki *
        """),
        login=phrases("""
            zaloguj się aby *, zaloguj się żeby *, musisz się zalogować *, sesja wygasła *,
            twoja sesja *, tylko dla członków|subskrybentów *, zaloguj się, logowanie
        """),
        denied=phrases("""
            odmowa dostępu, brak dostępu, dostęp zabroniony, nie masz uprawnień|dostępu *,
            brak uprawnień *, ten|ta|to * nie jest dostepny|dostepna|dostepne w twoim|twojej *,
            niedostepne w twoim|twojej *, niedostepny w twoim|twojej *
        """),
        gate=phrases("""
            subskrybuj aby *, aby czytać dalej *, czy masz 18|ukończone *,
            potwierdź swój|swoje wiek|e|email *, wpisz kod *, wysłaliśmy *,
            aby przeczytac|zobaczyc|czytac|obejrzec *, z reklamami lub *, zaakceptuj lub *
        """),
        fillers=phrases("przepraszamy, niestety, ups, błąd, uwaga"),
        harmless=phrases("brak błędów, bez błędów"),
    ),
    NoticePhrases(
        "sv",
        missing=phrases("""
            sidan hittades inte, sidan kunde inte hittas, hittades inte, sidan finns inte *,
            vi kunde inte hitta *, vi hittar inte *
        """),
        broken=phrases("något gick fel *, ett fel *, serverfel, underhåll pågår *"),
        failed=phrases("""
            fel, felaktig, felaktigt, ogiltig, ogiltigt, misslyckades, kunde inte, kan inte,
            gick inte, inte tillgänglig, krävs, obligatoriskt, välj först, ange, upptagen,
            upptaget, slutsåld, utgången, har gått ut, nekad, avvisad, försök igen, tyvärr, förlåt
        """),
        limited=phrases("""
            för många förfrågningar|försök|sökningar *, du står i kö *, du är i kön *, väntrum,
            kö *
        """),
        robot=phrases("""
            bekräfta att du *, är du en människa|robot *, jag är inte en robot,
            säkerhetskontroll *
        """),
        login=phrases("""
            logga in för att *, du måste logga in *, din session *, sessionen har *,
            endast för medlemmar|prenumeranter *, logga in
        """),
        denied=phrases("""
            åtkomst nekad, åtkomst nekas, ingen åtkomst, du har inte behörighet|åtkomst|tillgång *,
            du saknar behörighet *, den|det|denna * inte tillganglig|tillgangligt i ditt|din *,
            inte tillganglig|tillgangligt i ditt|din *
        """),
        gate=phrases("""
            prenumerera för att *, för att läsa vidare *, är du över|minst 18|20 *,
            bekräfta din ålder|e|epost *, ange koden *, vi har skickat *,
            for att lasa|se den|det|hela|vidare *, med annonser eller *,
            godkann eller prenumerera *
        """),
        fillers=phrases("tyvärr, förlåt, hoppsan, oj, fel, obs"),
        harmless=phrases("inga fel, utan fel"),
    ),
    NoticePhrases(
        "tr",
        missing=phrases("""
            sayfa bulunamadı, bulunamadı, * bulunamadı, aradığınız sayfa *, böyle bir sayfa *
        """),
        broken=phrases("""
            bir hata oluştu *, bir şeyler ters gitti *, sunucu hatası, bakım çalışması *
        """),
        failed=phrases("""
            hata, hatalı, geçersiz, başarısız, yapılamadı, mümkün değil, kullanılamıyor, zorunlu,
            lütfen seçin, lütfen girin, önce, dolu, tükendi, süresi doldu, reddedildi,
            tekrar deneyin, üzgünüz, maalesef
        """),
        limited=phrases("""
            çok fazla istek|deneme|arama *, sıradasınız *, bekleme odası, sıranız *
        """),
        robot=phrases("""
            robot olmadığınızı *, insan olduğunuzu *, ben robot değilim, güvenlik kontrolü *,
            güvenlik doğrulaması *
        """),
        login=phrases("""
            giriş yapın *, giriş yapmanız *, oturum açın *, oturumunuz *, oturum süresi *,
            sadece üyeler *, giriş yap
        """),
        denied=phrases("""
            erişim engellendi, erişim reddedildi, erişim yok, yetkiniz yok *, bu sayfaya erişim *,
            bulundugunuz ulkede * kullanilamiyor *, bolgenizde kullanilamiyor *,
            ulkenizde kullanilamiyor *
        """),
        gate=phrases("""
            okumaya devam etmek için *, devam etmek için abone *, 18 yaşından *,
            yaşınızı doğrulayın *, e posta adresinizi doğrulayın *, kodu girin *, size bir kod *,
            devamini okumak icin *, reklamli veya *, icerigi gormek icin *
        """),
        fillers=phrases("üzgünüz, maalesef, hata, dikkat, özür dileriz"),
        harmless=phrases("hata yok, hatasız"),
    ),
)
