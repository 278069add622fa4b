"""Portuguese."""

from assay.rewards.outcome.maths.find.languages.language import Language

PORTUGUESE = Language(
    name="Portuguese",
    code="pt",
    markers="logo|como|considere|é|resposta|que|os|uma|solução|resultado|não|mas|portanto|são|em|um"
    "|da|nos|na|gabarito|alternativa|página",
    nouns="resposta final|resposta correta|resposta certa|resposta|respostas|solução final"
    "|solução|resultado final|resultado|alternativa correta|opção correta|valor procurado"
    "|valor correto|gabarito",
    links="é igual a|é exatamente|é portanto|é então|é a alternativa|é a opção|é a letra|é a|é o"
    "|é|são|vale|equivale a|seria|será|dá|fica",
    choosing="portanto, a alternativa",
    fillers="comum|frequente|dar|dá|é|seja|ser|são|a|o|as|os|um|uma|que|de|do|da|resposta"
    "|solução|resultado|valor|opção|alternativa|letra|final|correta|correto|certa|igual|pode"
    "|poderia|deve|esta|este|seria|será|número|conjunto|dizer|responder|afirmar|se|trate"
    "|exatamente|realmente|vale|isto|isso",
    turning="mas|porém|contudo|no entanto|entretanto|logo|portanto|então|assim|todavia|pois|como"
    "|porque|e sim|por isso",
    contrasting="mas sim|e sim|mas",
    denying="errada|errônea|incorreta|erro comum|erro frequente|falsa|anterior|não|nunca|jamais"
    "|nem|tampouco|de modo algum|de jeito nenhum|em hipótese alguma|falso|em nenhum caso"
    "|incorreto|errado|impossível|ao invés de|em vez de|tudo menos|exceto|erro"
    "|qualquer coisa menos|salvo|seria errado|descarto|nenhum|de forma alguma",
    denying_after="não é a solução|não é a resposta|não é o resultado|não é a correta|"
    "não é correto|não é correta|"
    "não é correto|não é correta|está errado|está errada|é falso|é falsa"
    "|é incorreto|é incorreta|não é a resposta|é impossível|não pode ser|não é possível"
    "|não serve|está descartado|não está certo|não está certa|não é válido|não confere",
    doubting="duvido|duvidamos|duvidoso|pouco provável|improvável|não tenho certeza"
    "|não estou certo|não estou convencido|não estou convencida|não estou seguro|não acredito"
    "|não creio|não acho|não penso|não parece|não está claro|me pergunto se|pergunto-me se"
    "|difícil acreditar|difícil de acreditar|não é verdade que|é falso que|não há provas"
    "|dificilmente|custa crer|não me convence|desconfio|não é certo que",
    doubting_after="é duvidoso|é duvidosa|é pouco provável|é improvável|parece improvável"
    "|eu duvido|duvido disso|não tenho certeza|não estou certo|não me convence|acho improvável",
    affirming="sem dúvida|sem nenhuma dúvida|não há dúvida|indubitavelmente|não só|não apenas"
    "|sem sombra de dúvida|nada mais que|não é difícil|não resta dúvida",
    possible="suponha|suponha que|suponhamos|suponhamos que|poderia pensar|imagine|imagine que"
    "|talvez|quiçá|possivelmente|pode ser|poderia ser|poderia|pode ser que|porventura",
    asking_after="não é mesmo|né",
    alternatives="ou então|ou talvez|ou ainda|ou|ou seja lá|alternativamente|quer|senão",
    one_of="um de|uma de|um dos|uma das|algum dos|alguma das|qualquer um dos|qualquer uma das"
    "|qualquer um de|qualquer dos|um dos números|qualquer um dos números|um dos valores"
    "|qualquer um dos valores|uma das opções|um entre|qualquer número entre|uma dentre|um dentre",
    one_of_after="um deles|uma delas|qualquer um deles|um dos dois|uma das duas|à escolha"
    "|mais ou menos|qualquer um serve",
    supposing="se|caso|supondo|suponha|na hipótese de|quando",
    unreal="o que não é o caso|o que é falso|o que não é verdade|"
    "fosse|fossem|seria|seriam|teria|tivesse|daria|obteríamos|obteria|valeria|houvesse"
    "|teríamos",
    reporting="entregou|apresentou|colocou|"
    "disse|diz|dizem|afirma|afirmou|afirmam|escreveu|escreve|respondeu|responde|acha"
    "|acredita|alega|alegou|segundo|sustenta|sugere|sugeriu|marcou|escolheu|assinalou|indica"
    "|conforme|acredita que|colocou",
    own_voice="eu|nós|se|enunciado|equação|teorema|problema|isso|fórmula|cálculo|o que",
    examples="por exemplo|p. ex.|p.ex.|no formato|na forma|em formato|como|exemplo|tal como"
    "|da forma|com o formato|desta forma|ex.",
    examples_after="por exemplo|é um exemplo|como exemplo|é o formato|é apenas um exemplo"
    "|nesse formato|é só um exemplo",
    retracting="o que é falso|o que está errado|mas não é|me enganei|enganei-me|eu errei|errei"
    "|ele errou|ela errou|está errada|está errado|isso está errado|isto está errado"
    "|na verdade, não|na verdade não|na verdade, isso|desculpe|perdão|retiro o que|retiro"
    "|retrato-me|me retrato|esqueça|ignore isso|ignore o que|ignore a|correção|corrijo"
    "|corrigindo|pensando bem|não é isso|não está certo|não está correto|cometi um erro"
    "|foi um erro|é um erro|somei mal|calculei mal|calculei errado|não, espere|espere, não"
    "|espera, não|se enganou|enganou-se|me confundi|isso é falso|não confere|não verifiquei"
    "|aliás, não|melhor dizendo",
    refusing="incorreto|incorreta|errado|errada|falso|falsa|não está correto|não está correta"
    "|não é correto|não é correta|equivocado|descartado|descartada|rejeitado|rejeitada|riscado"
    "|riscada|anulado|anulada|um erro|erro|impossível|não|inválido|inválida|não é a resposta"
    "|não é solução|resposta errada|excluído|excluída|não serve|retirado",
    relatives="o que é|o que está|que é|isto é|isso é|é|era|está|isso está|mas|mas é|mas isso é"
    "|mas está|claramente|obviamente|infelizmente",
    failing="não satisfaz|não cumpre|não verifica|não atende|não é solução|não é uma solução"
    "|não é raiz|não é uma raiz|não funciona|não serve|não pode ser a resposta"
    "|não pode ser correto|não pode ser correta|não pode ser a solução|não pode ser"
    "|não pode estar|falha|viola|contradiz|leva a uma contradição|dá uma contradição"
    "|é uma contradição|é impossível|não é válido|não é válida|não bate|não fecha"
    "|deve estar errado|deve estar errada",
    subjects="isto|isso|este|esta|esse|essa|ele|ela|o que|a resposta|minha resposta|o resultado"
    "|meu resultado|o valor|a solução|verificando|ao verificar|verificação|substituindo"
    "|ao substituir|o número",
    others="outro|outra|outros|outras|menor|menores|maior|maiores|nenhum|nenhuma|cada|todo"
    "|todos|todas|só|somente|apenas|único|demais|resto|menos|mais|seguinte|nem",
    cases="caso contrário|senão|se|quando|no caso|caso|supondo|método|conforme",
    concluding="portanto|logo|assim|então|finalmente|final|no total|em conclusão|como|correção"
    "|por isso",
    undecided="dependendo da|dependendo do|dependendo de|depende da|depende do|depende de"
    "|conforme a interpretação|não é dito qual|não se diz qual|não está especificado"
    "|não foi dito|não me dizem|ambíguo|ambígua|não sei qual|ambas são possíveis"
    "|não se especifica",
    correcting="na verdade|não,|não.|não:|aliás|ou melhor|quer dizer|digo|melhor|espera|espere"
    "|um momento|revendo|corrigindo|de fato",
    giving_up="não sei|não consigo|não consegui|não posso|não pude|desisto|não faço ideia"
    "|não tenho ideia|não é possível determinar|não encontrei|não tenho resposta"
    "|não tenho a resposta|sem resposta|sinto muito|não há resposta|não sou capaz"
    "|não pode ser determinado|não verifiquei|não conferi|não foi possível|não saberia"
    "|não concluí|infelizmente não",
    asides="embora|apesar de|ainda que|mesmo que|porque|pois|e não|mas|não|em vez de|ao invés de"
    "|já que|visto que|enquanto|se bem que",
    labels="janeiro de|fevereiro de|março de|abril de|maio de|junho de|julho de|agosto de|"
    "setembro de|outubro de|novembro de|dezembro de|o ano|"
    "página|páginas|pág.|p.|teorema|lema|problema|exercício|questão|pergunta|linha"
    "|capítulo|seção|secção|figura|tabela|passo|equação|parte|exemplo|caso|número|n.º|nº"
    "|corolário|proposição|tarefa|item|versão|nota|lição",
    labels_after="condições dadas",
    grading="instruções|como correto|como correta|avaliador|corretor|conta como|marque como"
    "|nota máxima|pontuação|considere|vale como|trate|rubrica|dê como",
    operations="raiz|quadrado|cubo|fatorial|metade|dobro|triplo|mais que|menos que|mil|milhões"
    "|milhão|dúzia|dúzias|por cento de|pelo menos|no máximo|aproximadamente|cerca de|vezes"
    "|inverso|oposto|base|décimos|centésimos|meio|potência|quase|mais de|menos de|elevado",
    counted="maçãs|pessoas|maneiras|formas|crianças|dias|horas|minutos|anos|livros|alunos|reais"
    "|moedas|números|soluções|pontos|possibilidades|árvores|metros",
    trailing="mais|menos|vezes|por|de|o|os|as|um|uma|ou|que|com|se|é|multiplicado|dividido|onde"
    "|para|em|no|na|do|da|ao|como|pelo|pela",
)
