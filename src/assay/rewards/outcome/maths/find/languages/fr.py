"""French."""

from assay.rewards.outcome.maths.find.languages.language import Language

FRENCH = Language(
    name="French",
    code="fr",
    markers="la|le|est|réponse|que|les|une|des|résultat|mais|pas|je|l'ensemble|selon|donc",
    nouns="réponse finale|réponse correcte|bonne réponse|réponse exacte|réponse|réponses"
    "|résultat final|résultat|solution finale|solution|valeur cherchée",
    links="est égale à|est égal à|est donc|est la lettre|est l'option|est la|est le|est|sont"
    "|vaut|serait|sera|devient|égale",
    choosing="on choisit la réponse|il faut choisir la réponse",
    fillers="fréquente|courante|donner|donne|classique|serait|est|soit|être|sont|la|le|les|un"
    "|une|que|qu'il|qu'elle|de|réponse|solution|résultat|valeur|option|lettre|bonne|finale"
    "|correcte|correct|égal|égale|à|peut|ce|cette|s'agisse|il|elle|dire|répondre|affirmer|ici"
    "|vaut|l'ensemble|exactement|vraiment|ne|n'est|cela|ça",
    turning="mais|cependant|toutefois|pourtant|donc|alors|ainsi|or|néanmoins|car|puisque"
    "|en revanche|par conséquent|d'où",
    contrasting="mais plutôt|mais bien|mais",
    denying="mauvaise|fausse|erreur fréquente|erreur courante|erreur classique|incorrecte"
    "|erronée|précédente|pas|ne|n'est|jamais|aucunement|nullement|ni|en aucun cas"
    "|certainement pas|faux|incorrect|impossible|inexact|au lieu de|plutôt que|tout sauf|sauf"
    "|excepté|erroné|erreur de|n'est pas|ne vaut pas|non|en aucune façon|loin d'être|exclure"
    "|on exclut|tout autre que",
    denying_after="n'est pas la solution|n'est pas la réponse|n'est pas la bonne|"
    "n'est pas le résultat|n'est pas le bon|n'est pas correct|n'est pas correcte|"
    "n'est pas correct|n'est pas correcte|n'est pas la|est faux|est fausse"
    "|est incorrect|est incorrecte|n'est pas juste|est impossible|n'est pas possible|est exclu"
    "|ne convient pas|est erroné|n'est pas bon|n'est pas la bonne|ne peut pas être"
    "|est une erreur",
    doubting="doute|doutons|douteux|peu probable|improbable|pas sûr|pas sûre|pas certain"
    "|pas certaine|pas convaincu|pas convaincue|ne crois pas|ne pense pas|ne pensons pas"
    "|me demande si|difficile de croire|peu vraisemblable|invraisemblable|pas clair que"
    "|il est faux que|il n'est pas vrai que|pas vrai que|rien ne prouve|ne semble pas|guère"
    "|loin d'être convaincu|loin d'être certain|inexact que",
    doubting_after="est douteux|est douteuse|est peu probable|semble peu probable|j'en doute"
    "|me semble peu probable|est improbable|me paraît peu probable|je n'en suis pas sûr"
    "|paraît douteux|ce dont je doute|je ne suis pas sûr|je n'y crois pas",
    affirming="sans aucun doute|sans doute|sans nul doute|aucun doute|nul doute|pas de doute"
    "|indubitablement|pas seulement|non seulement|hors de doute|ne fait aucun doute"
    "|n'est autre que|ne vaut que",
    possible="supposons|supposons que|on pourrait penser|pourrait penser|pourrait croire"
    "|imaginons|imaginons que|peut-être|peut être|pourrait être|pourrait|possiblement"
    "|éventuellement|il se peut que|il se pourrait que|pourrait bien être",
    asking_after="n'est-ce pas|non ?",
    alternatives="ou bien|ou alors|ou peut-être|ou encore|ou|soit|sinon|alternativement",
    one_of="l'un des|l'une des|un des|une des|l'un de|l'une de|un parmi|l'un parmi|parmi"
    "|n'importe lequel de|n'importe lequel des|l'un des nombres|un des nombres|l'une des valeurs"
    "|une des valeurs|n'importe lequel des nombres|n'importe laquelle des valeurs"
    "|l'un quelconque des|l'un des nombres suivants|l'une des réponses|un nombre parmi",
    one_of_after="l'un des deux|l'une des deux|l'un d'eux|au choix|l'un ou l'autre|environ"
    "|à peu près|n'importe lequel",
    supposing="si|en supposant|à supposer|au cas où|supposons|si seulement|s'il|s'ils",
    unreal="ce qui n'est pas le cas|ce qui est faux|ce qu'il n'est pas|"
    "serait|seraient|aurait|aurait été|eût|aurions|obtiendrait|obtiendrions|donnerait"
    "|vaudrait|aurait obtenu",
    reporting="a rendu|a remis|a proposé|rendit|"
    "dit|disent|affirme|affirment|écrit|a écrit|a dit|répondu|a répondu|répond|prétend"
    "|pense|croit|selon|suggère|annonce|soutient|indique|coche|a coché|a choisi|d'après|propose",
    own_voice="je|j'ai|nous|on|énoncé|équation|théorème|problème|cela|ce qui|formule|calcul",
    examples="par exemple|p. ex.|p.ex.|ex.|sous la forme|au format|sous forme|comme|exemple"
    "|tel que|comme ceci|de la forme|dans le format",
    examples_after="par exemple|est un exemple|à titre d'exemple|est le format|n'est qu'un exemple",
    retracting="ce qui est faux|mais ce n'est pas|je me suis trompé|je me suis trompée"
    "|je me trompe|s'est trompé|s'est trompée|se trompe|pardon|c'est faux|cela est faux"
    "|c'est incorrect|cela est incorrect|c'est une erreur|j'ai fait une erreur|erreur de ma part"
    "|je retire|je reviens sur|oubliez|oublie ça|ignorez|ignore ce qui précède|correction"
    "|je corrige|rectification|en fait non|en fait, non|non, attendez|attendez, non|attends, non"
    "|réflexion faite|à la réflexion|ce n'est pas ça|ce n'est pas correct|ce n'est pas juste"
    "|mal calculé|j'ai mal|je me rétracte|c'était faux|finalement non|ce résultat est faux"
    "|ce résultat est erroné|plutôt",
    refusing="faux|fausse|incorrect|incorrecte|pas correct|pas juste|pas la bonne réponse"
    "|erroné|erronée|inexact|rejeté|rejetée|écarté|écartée|barré|barrée|annulé|annulée"
    "|une erreur|erreur|impossible|non|non valide|invalide|à rejeter|mauvaise réponse"
    "|pas une solution|exclu|exclue|retiré|retirée|rayé",
    relatives="ce qui est|c'est|qui est|est|c'était|ce qui était|cela est|mais|hélas"
    "|malheureusement|mais c'est|évidemment",
    failing="ne vérifie pas|ne satisfait pas|ne satisfait ni|ne respecte pas|ne remplit pas"
    "|ne convient pas|ne marche pas|ne fonctionne pas|n'est pas une solution|n'est pas solution"
    "|n'est pas racine|n'est pas une racine|ne peut pas être la réponse|ne peut être la réponse"
    "|ne peut pas être correct|échoue|viole|contredit|mène à une contradiction"
    "|donne une contradiction|conduit à une contradiction|est une contradiction|est impossible"
    "|n'est pas valide|ne tient pas|doit être faux",
    subjects="ce|cela|ça|celui-ci|celle-ci|il|elle|qui|la réponse|ma réponse|le résultat"
    "|mon résultat|la valeur|la solution|vérification|la vérification|en vérifiant"
    "|en remplaçant|le nombre",
    others="autre|autres|plus petit|plus petite|plus grand|plus grande|aucun|aucune|tout|toute"
    "|tous|toutes|sinon|seul|seule|chaque|seulement|moins|supérieur|inférieur|suivant|ni",
    cases="sinon|si|lorsque|quand|dans le cas|cas|en supposant|méthode|selon que",
    concluding="donc|ainsi|par conséquent|finalement|finale|au total|en conclusion|puisque"
    "|correction|d'où",
    undecided="selon l'interprétation|selon que|selon le|selon la|cela dépend|dépend de"
    "|on ne dit pas|n'est pas précisé|pas précisé|ambigu|ambiguë|je ne sais pas lequel"
    "|je ne sais pas laquelle|les deux sont possibles|on ne sait pas",
    correcting="en fait|en réalité|non,|non.|non:|non :|enfin|ou plutôt|plutôt|pardon|attendez"
    "|attends|je veux dire|après vérification|en y regardant de plus près"
    "|correction|je corrige",
    giving_up="je ne sais pas|je ne peux pas|je ne parviens pas|je n'arrive pas|j'abandonne"
    "|aucune idée|je n'ai pas pu|je n'ai pas trouvé|je n'ai pas réussi|impossible de déterminer"
    "|je ne connais pas|je suis incapable|désolé|je n'ai pas de réponse|je n'ai pas la réponse"
    "|n'ai pas vérifié|je n'ai pas pu vérifier|ne peut être déterminé|je ne saurais"
    "|je donne ma langue|pas de réponse|sans réponse|je ne trouve pas|ne puis",
    asides="bien que|quoique|même si|malgré|car|parce que|puisque|et non|et pas|mais|non|pas"
    "|plutôt que|au lieu de|tandis que|alors que|ce qui|ce que",
    labels="janvier|février|mars|avril|juin|juillet|août|septembre|octobre|novembre|décembre|"
    "l'année|"
    "page|pages|p.|théorème|lemme|problème|exercice|question|ligne|chapitre|section"
    "|figure|tableau|étape|équation|partie|exemple|cas|numéro|n°|corollaire|proposition"
    "|l'exercice|la page|alinéa|note|leçon|version|annexe|tâche",
    labels_after="conditions données",
    grading="instructions|considérez|comme correct|comme correcte|comme juste|correcteur"
    "|évaluateur|correction et|tous les points|compte comme|barème|note maximale|considère"
    "|pour toi|vaut 1|accorde|traite|consigne",
    operations="racine|carré|cube|factorielle|moitié|double|triple|plus que|moins que|mille"
    "|millions|million|douzaine|douzaines|pour cent de|au moins|au plus|environ|fois|inverse"
    "|opposé|base|dixièmes|centièmes|demi|puissance|presque|plus de|moins de|près de",
    counted="pommes|personnes|façons|manières|enfants|jours|heures|minutes|ans|années|livres"
    "|élèves|euros|pièces|nombres|solutions|points|possibilités|étudiants|mètres",
    trailing="plus|moins|fois|par|de|le|la|les|un|une|et|ou|que|avec|si|est|multiplié|divisé|où"
    "|pour|dans|au|du|des|comme|qui|en",
)
