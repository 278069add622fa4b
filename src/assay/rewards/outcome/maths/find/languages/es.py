"""Spanish."""

from assay.rewards.outcome.maths.find.languages.language import Language

SPANISH = Language(
    name="Spanish",
    code="es",
    markers="luego|la|el|respuesta|que|los|las|una|por|solución|resultado|pero|página|según|decir",
    nouns="respuesta final|respuesta correcta|respuesta|respuestas|solución final|solución"
    "|resultado final|resultado|opción correcta|alternativa correcta|valor buscado"
    "|valor correcto",
    links="es igual a|es exactamente|es entonces|es la opción|es la alternativa|es la letra"
    "|es la|es el|es|son|vale|equivale a|sería|será|da|queda",
    choosing="por lo tanto, la opción|se elige la opción",
    fillers="común|frecuente|dar|da|habitual|típico|típica|es|sea|ser|son|la|el|las|los|un|una"
    "|que|de|respuesta|solución|resultado|valor|opción|final|correcta|correcto|igual|a|puede"
    "|podría|debe|esta|este|sería|será|número|letra|lo|pedido|exactamente|está|estoy|nada"
    "|convencido|decir|responder|afirmar|se|trate|vale",
    turning="pero|sino|sin embargo|así que|por tanto|por lo tanto|luego|entonces|aunque"
    "|no obstante|sino que|como|mas|ya que|porque",
    contrasting="sino que es|sino que|sino",
    denying="incorrecta|errónea|equivocada|error común|error frecuente|error típico|mala|falsa"
    "|anterior|no|nunca|jamás|tampoco|ni|en ningún caso|de ningún modo|de ninguna manera"
    "|incorrecto|falso|imposible|no es cierto|erróneo|equivocado|en lugar de|en vez de"
    "|todo menos|excepto|cualquier cosa menos|salvo|error|sería un error|descarto|descartamos"
    "|excluimos|ningún|bajo ningún concepto|en absoluto",
    denying_after="no es la solución|no es la respuesta|no es el resultado|no es la correcta|"
    "no es el correcto|no es correcto|no es correcta|"
    "no es correcto|no es correcta|es incorrecto|es incorrecta|es falso|es falsa"
    "|no es la respuesta|es imposible|no puede ser|no es posible|está mal|es erróneo|es errónea"
    "|queda descartado|queda descartada|no es válida|no es válido|no sirve",
    doubting="dudo|dudamos|dudoso|poco probable|improbable|no estoy seguro|no estoy segura"
    "|no estoy convencido|no estoy nada convencido|no creo|no creemos|no pienso|no parece"
    "|no está claro|me pregunto si|difícil de creer|no me convence|inverosímil|cuesta creer"
    "|no es cierto que|no es verdad que|es falso que|no hay pruebas|no tengo claro|desconfío"
    "|no se puede afirmar",
    doubting_after="es dudoso|es dudosa|es poco probable|es improbable|parece improbable|lo dudo"
    "|no estoy seguro|no estoy segura|no me convence|me parece poco probable|lo veo improbable",
    affirming="sin duda|sin ninguna duda|no cabe duda|no hay duda|indudablemente|no solo|no sólo"
    "|nada más que|no es difícil|sin lugar a dudas|no más que|no otra que|no otro que",
    possible="supongamos|supongamos que|supón que|suponga que|podría pensar|pensar|uno pensaría"
    "|ojalá|quizá|quizás|tal vez|a lo mejor|posiblemente|puede que|podría ser|puede ser|podría"
    "|acaso",
    asking_after="no es así",
    alternatives="o bien|o quizás|o tal vez|o|u|ya sea|sea|alternativamente|o también|si no",
    one_of="uno de|una de|alguno de|alguna de|cualquiera de|cualquiera entre|uno de los números"
    "|cualquiera de los números|uno de los valores|cualquiera de los valores"
    "|alguno de los números|una de las opciones|uno cualquiera de|algún número entre"
    "|una de las letras",
    one_of_after="uno de ellos|uno de estos|cualquiera de ellos|uno de los dos|una de las dos"
    "|a elegir|más o menos|cualquiera vale",
    supposing="si|de haber|suponiendo|en caso de|cuando",
    unreal="lo cual no es el caso|lo que no es el caso|lo cual es falso|lo que es falso|"
    "cosa que no es|"
    "fuera|fuese|fueran|sería|serían|habría|hubiera|hubiese|tuviera|tuviese|daría"
    "|obtendría|obtendríamos|valdría",
    reporting="entregó|presentó|puso|"
    "dijo|dice|dicen|afirma|afirmó|afirman|escribió|escribe|respondió|responde|cree"
    "|contestó|sostiene|asegura|según|opina|sugiere|propuso|marcó|eligió|puso|indica|diga",
    own_voice="yo|nosotros|se|enunciado|ecuación|teorema|problema|esto|lo cual|fórmula",
    examples="por ejemplo|p. ej.|p.ej.|en el formato|con el formato|en la forma|de la forma"
    "|en formato|como|ejemplo|tal como|con este formato|formato",
    examples_after="por ejemplo|es un ejemplo|a modo de ejemplo|es el formato|en ese formato"
    "|es solo un ejemplo|como ejemplo",
    retracting="pero no es|lo cual es falso|lo cual es incorrecto|me equivoqué|me he equivocado"
    "|se equivocó|se equivoca|está equivocado|perdón|eso está mal|esto está mal"
    "|eso es incorrecto|esto es incorrecto|es un error|fue un error|cometí un error"
    "|he cometido un error|me retracto|retiro lo dicho|olvida eso|olvídalo|ignora eso"
    "|ignora lo anterior|ignore lo anterior|corrijo|corrección|rectifico|en realidad no"
    "|no, espera|espera, no|pensándolo bien|no es correcto|no es así|calculé mal|sumé mal"
    "|me confundí|no vale|lo anterior es falso|eso es falso|mejor dicho|no la he comprobado"
    "|no lo he comprobado|no está bien|el resultado anterior es",
    refusing="incorrecto|incorrecta|falso|falsa|está mal|no es correcto|no es correcta"
    "|no es así|equivocado|equivocada|erróneo|errónea|descartado|descartada|rechazado|rechazada"
    "|tachado|tachada|anulado|anulada|un error|error|imposible|no|inválido|inválida|no válido"
    "|no válida|no es la respuesta|no es solución|respuesta incorrecta|excluido|excluida"
    "|retirado|no sirve",
    relatives="lo cual es|lo que es|que es|esto es|eso es|es|era|lo cual|pero|pero es"
    "|pero eso es|claramente|obviamente|por desgracia|está",
    failing="no cumple|no satisface|no verifica|no es solución|no es una solución|no es raíz"
    "|no es una raíz|no funciona|no sirve|no puede ser la respuesta|no puede ser correcto"
    "|no puede ser correcta|no puede ser la solución|no puede ser|falla|viola|contradice"
    "|lleva a una contradicción|da una contradicción|es una contradicción|es imposible"
    "|no es válido|no es válida|no cuadra|no encaja|debe estar mal|debe de estar mal",
    subjects="esto|eso|este|esta|ese|esa|ello|lo cual|lo que|la respuesta|mi respuesta"
    "|el resultado|mi resultado|el valor|la solución|comprobando|al comprobar|comprobación"
    "|verificando|al verificar|sustituyendo|al sustituir|el número",
    others="otro|otra|otros|otras|menor|menores|mayor|mayores|ningún|ninguno|ninguna|cada|todo"
    "|todos|todas|solo|sólo|único|demás|resto|menos|más|siguiente|ni",
    cases="de lo contrario|si no|si|cuando|en el caso|en caso de|caso|suponiendo|método|según",
    concluding="así que|por tanto|por lo tanto|luego|finalmente|final|en total|en conclusión"
    "|como|corrección|entonces",
    undecided="según la interpretación|según el|según se|dependiendo de|depende de"
    "|no se dice cuál|no se especifica|no está especificado|no me dicen|ambiguo|ambigua"
    "|no sé cuál|ambas son posibles|no se indica",
    correcting="en realidad|de hecho|no,|no.|no:|perdón|digo|o mejor|mejor dicho|más bien"
    "|espera|un momento|quiero decir|revisando|tras revisar|rectifico|corrijo"
    "|es decir, no",
    giving_up="no sé|no lo sé|no puedo resolver|no puedo ayudar|no puedo responder|no puedo dar"
    "|no puedo determinar|no pude|no he podido|no logro|no logré|no encontré|me rindo|ni idea"
    "|no tengo idea|no es posible determinar|no se puede determinar|no conozco la respuesta"
    "|no tengo respuesta|no tengo la respuesta|no he encontrado|no hallé|lo siento"
    "|no la he comprobado|no lo he comprobado|no he comprobado|no sabría|no consigo"
    "|sin respuesta|no puedo confirmar|no dispongo de",
    asides="aunque|a pesar de|pese a|porque|ya que|pues|y no|pero no|no|en lugar de|en vez de"
    "|como|pero|mientras que|puesto que|cuando|si bien",
    labels="enero de|febrero de|marzo de|abril de|mayo de|junio de|julio de|agosto de|"
    "septiembre de|octubre de|noviembre de|diciembre de|el año|"
    "página|páginas|pág.|p.|teorema|lema|problema|ejercicio|pregunta|línea|capítulo"
    "|sección|figura|tabla|paso|ecuación|apartado|ejemplo|caso|número|n.º|nº|corolario"
    "|proposición|tarea|inciso|versión|nota|tema|lección",
    labels_after="ª página|condiciones dadas",
    grading="instrucciones|como correcto|como correcta|otorga|respuesta esperada|evaluador"
    "|corrector|calificador|cuenta como|marca como|calificación|considera|puntuación|rúbrica"
    "|vale como|da por|cuente como|trate|trata",
    operations="raíz|cuadrado|cubo|factorial|mitad|doble|triple|más que|menos que|mil|millones"
    "|millón|docena|docenas|por ciento de|al menos|a lo sumo|aproximadamente|cerca de"
    "|alrededor de|veces|inverso|opuesto|base|décimas|centésimas|medio|potencia|casi|más de"
    "|menos de|elevado",
    counted="manzanas|personas|formas|maneras|niños|días|horas|minutos|años|libros|alumnos|euros"
    "|monedas|casos|veces distintas|números|soluciones|puntos|páginas en total|árboles|céntimos",
    trailing="más|menos|por|entre|de|el|la|los|las|un|una|o|que|con|si|es|multiplicado|dividido"
    "|veces|donde|para|en|al|del|como",
)
