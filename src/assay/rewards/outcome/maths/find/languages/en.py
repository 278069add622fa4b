"""English."""

from assay.rewards.outcome.maths.find.languages.language import Language

ENGLISH = Language(
    name="English",
    code="en",
    markers="the|is|answer|we|i|a|to|of|and",
    nouns="answer|answers",
    links="is equal to|is exactly|is therefore|is thus|is just|is simply|is|are|was|equals"
    "|equal to|becomes|must be|should be|would be|will be",
    fillers="would|were|gives|give|yields|solution|approach|method|attempt|leads|argument|here"
    "|guess|is|are|be|being|was|equal|equals|to|the|a|an|that|it|this|answer|answers|value"
    "|result|sum|number|option|choice|final|correct|right|my|our|your|simply|exactly|actually"
    "|definitely|certainly|really|necessarily|just|as|say|says|conclude|claim|report|box|write"
    "|put|get|of|for|in fact|been|have|always|ever|itself",
    turning="but|however|yet|so|thus|hence|therefore|nevertheless|nonetheless|instead|then|still"
    "|because|since|which gives|we get|we obtain|we find|confirms|shows that|rather",
    contrasting="but rather|but",
    denying="used to|supposed to|in the book|different question|other question|another question"
    "|in the key|in the answer key|naive|erroneous|mistaken|flawed|bogus|previous|earlier"
    "|common mistake|common error|common wrong|typical mistake|trap|not|never|neither|nor|cannot"
    "|can't|n't|isn't|aren't|wasn't|don't|doesn't|won't|didn't|hasn't|haven't|weren't|hadn't"
    "|mustn't|needn't|wouldn't|couldn't|shouldn't|can not|rather than|instead of|as opposed to"
    "|other than|except|except for|anything but|everything but|all but|rule out|rules out"
    "|ruled out|ruling out|exclude|excludes|excluded|excluding|not the case|not true|not correct"
    "|false|wrong|incorrect|wrong to answer|wrong to|incorrect to|mistake to|mistaken to|error to"
    "|untrue|far from|by no means|in no way|anything other than|hardly|it is false|avoid|reject"
    "|rejects|rejected|discard|no way|nowhere near|under no circumstances|unable|impossible"
    "|impossible for|not the case that|it cannot be|fails to|failed to|refuse to|tempted to"
    "|tempting to",
    denying_after="x wrong|fails|is rejected"
    "|was rejected|would be the answer if|would have been|was my first|was the first attempt"
    "|was my initial|is not the solution|is not the right|is not the correct|is not a solution|"
    "isn't the solution|isn't the right|isn't the correct|was not the answer|"
    "received no points|received no credit|got no points|got no credit|earned no points|"
    "scored zero|was marked wrong|"
    "is wrong|is incorrect|is false|is not right|is not the answer|is impossible"
    "|isn't right|isn't correct|isn't the answer|isn't it|is not it|is not the case|was wrong"
    "|is out of the question|can be ruled out|is ruled out|cannot be right|cannot be correct"
    "|can't be right|can't be correct|does not work|doesn't work|is a mistake|would be wrong"
    "|would be incorrect|is not what|is definitely not|is certainly not|is clearly wrong"
    "|is clearly not|is not possible|must be wrong|is definitely wrong|is invalid",
    doubting="if only|hardly believe|hardly think|scarcely|can hardly|barely believe|doubt"
    "|doubtful|unlikely|far from convinced|not convinced|not sure|unsure|not certain|uncertain"
    "|sceptical|skeptical|hard to believe|cannot believe|can't believe|don't think|do not think"
    "|don't believe|do not believe|wonder if|wonder whether|wondering|question whether"
    "|questionable|it is false that|no proof that|no evidence that|no reason to believe"
    "|improbable|implausible|not clear that|not clear whether|not true that|not the case that"
    "|not obvious that|not proven that|i disagree|disagree that|whatever the answer may be",
    doubting_after="is doubtful|is unlikely|seems unlikely|seems wrong|seems doubtful"
    "|is questionable|looks wrong|i doubt it|i doubt that|but i doubt|i am not sure|i'm not sure"
    "|but i'm unsure|not convinced|is what i doubt|i highly doubt|seems improbable|seems off"
    "|is improbable|not at all certain|not certain|i am unsure|could not verify"
    "|have not verified",
    affirming="no doubt|without doubt|without a doubt|without any doubt|beyond doubt|not doubt"
    "|beyond any doubt|undoubtedly|not only|no question|not hard to|not difficult to"
    "|whether or not|not surprising|nothing but|none other than|no other than|do not doubt"
    "|not unlikely|check whether|verify whether|determine whether|doubtless|not wrong"
    "|not surprisingly|no less than|no more than|no fewer than|i don't know if you"
    "|i do not know if you|don't know how|don't know why|decide whether|see whether|not just",
    possible="let me guess|suppose|assume"
    "|let us suppose|let us assume|if only|imagine|pretend|might think"
    "|may think|could think|one might think|would think|some think|might say|might guess"
    "|might answer|might expect|might conclude|say for instance|could be|might be|may be|can be"
    "|maybe|perhaps|possibly|could|might|could also be|might also be|potentially|conceivably"
    "|if i had to guess|wild guess|a guess would be|random guess|just guessing|guessing",
    alternatives="or else|or maybe|or perhaps|or possibly|or alternatively|or|alternatively"
    "|and maybe|maybe also|otherwise|and/or|if not|unless it is|else",
    one_of="one of|any of|either of|some of|any one of|one among|among|somewhere in"
    "|somewhere between|anywhere between|something like|a number like|at least one of"
    "|one or more of",
    one_of_after="one of these|one of them|one of those|take your pick|pick one|whichever"
    "|choose one|either one|is acceptable|are acceptable|any of these|any of them|all possible"
    "|are all possible|or something like|or something close|or so|give or take|more or less",
    supposing="if|had|were|suppose|supposing|unless|assuming|provided|should",
    unreal="which it is not|which is not the case|which is not true|which is false|"
    "which does not hold|contrary to fact|"
    "would|would've|would have|wouldn't|could have|might have|had it been|were to",
    reporting="hand in|handed in|turned in|put down|wrote down|entered|offered|came up with|"
    "said|says|say|claims|claimed|claim|wrote|writes|answered|replied|guessed|guesses"
    "|thinks|thought|believes|believed|suggests|suggested|suggest|insists|insisted|argues|argued"
    "|told me|tells me|asserts|asserted|proposes|proposed|according to|submitted|picked|chose"
    "|marked|posted|announced",
    own_voice="i|we|it|this|that|which|problem|equation|formula|theorem|one|question|x|you|so"
    "|then|result|calculation|therefore|sum|function|statement|condition",
    examples="e.g.|e. g.|eg|for example|for instance|such as|like|in the form|in the format"
    "|of the form|in this form|in this format|in the style|formatted as|example|as in|template"
    "|placeholder|sample|your answer as|your answer in|your final answer as|your final answer in"
    "|write your answer|put your answer|like this|like so|something like",
    examples_after="is an example|as an example|is the format|is the required format|for example"
    "|for instance|is a placeholder|is just an example|is the expected format|in that format"
    "|as the format|is how the answer should|is how you should|is only an example|once i have"
    "|is a sample|when i have found|when i find|is a template|or whatever|replacing"
    "|with the actual|where 42 is replaced|is merely an example",
    retracting="but this fails|but it fails|but that fails|but this does not work"
    "|but it does not work|but that does not work|but a is correct|but b is correct"
    "|but c is correct|but d is correct|but e is correct|is the right one|overcounts|undercounts"
    "|double counts|double-counts|but this is wrong|which is wrong|which is incorrect"
    "|but that is not|but it is not|but this is not|no, sorry|sorry, it|sorry, i|no, it"
    "|scratch that|strike that|i take that back|i take it back|take this back|take that back"
    "|let me take that back|on second thought|on second thoughts|i was wrong|i am wrong|i'm wrong"
    "|i was mistaken|i am mistaken|i'm mistaken|my mistake|my bad|ignore that|ignore this"
    "|ignore it|ignore the above|ignore my|disregard that|disregard this|disregard the above"
    "|disregard my|disregard it|forget that|forget it|forget this|forget my answer|that is wrong"
    "|that's wrong|this is wrong|it is wrong|it's wrong|answer is wrong|this was wrong"
    "|it was wrong|answer was wrong|is not correct|isn't correct|is not right|isn't right"
    "|is not true|is not the answer|not my answer|i made a mistake|i made an error|made a mistake"
    "|made an error|i misread|i miscalculated|i retract|i withdraw|wait, no|no, wait|oops"
    "|actually, no|actually no|correction:|that can't be right|this can't be right"
    "|that cannot be right|this cannot be right|hold on, no|sorry, that|i misspoke|that is false"
    "|this is false|that is not correct|this is not correct|that is not right|this is not right"
    "|that is incorrect|this is incorrect|proof is flawed|argument is flawed|solution is flawed"
    "|reasoning is flawed|proof is wrong|answer is incorrect|i stand corrected|scrap that"
    "|not so fast|he is wrong|she is wrong|they are wrong|he was wrong|she was wrong"
    "|they were wrong|is mistaken|was mistaken|is not what i get|wait, that is|wait, that's"
    "|wait, it|wait, i|i change my|changed my mind|on reflection|upon reflection|no, that's"
    "|no, it is|no, it's",
    refusing="wrong|incorrect|false|not correct|not right|not true|not valid|not the answer"
    "|not it|invalid|discarded|discard|rejected|reject|mistaken|erroneous|a mistake|an error"
    "|mistake|error|nope|no|withdrawn|retracted|crossed out|struck out|cancelled|canceled"
    "|ruled out|excluded|untrue|impossible|extraneous|an extraneous solution"
    "|extraneous solution|not a solution|inadmissible|failed|void|nonsense|not accepted"
    "|not my answer|superseded|wrong answer|incorrect answer|wrong result|wrong value"
    "|the wrong answer|my wrong answer",
    relatives="to be|has been|had been|now|which is|that is|this is|it is|it's|that's|which was"
    "|that was|is|was|clearly|obviously|of course|sadly|unfortunately|but|however"
    "|which turns out to be",
    failing="fails|failed|does not satisfy|doesn't satisfy|do not satisfy|don't satisfy"
    "|not satisfy|does not fulfil|does not fulfill|doesn't fulfill|does not meet|doesn't meet"
    "|violates|does not hold|doesn't hold|is not a solution|isn't a solution|is not a root"
    "|isn't a root|is not valid|isn't valid|does not work|doesn't work|does not work out"
    "|does not check out|doesn't check out|cannot be the answer|can't be the answer"
    "|cannot be the solution|cannot be a solution|cannot be correct|cannot be right"
    "|can't be correct|can't be right|cannot be|must be wrong|leads to a contradiction"
    "|gives a contradiction|is a contradiction|is inconsistent|is extraneous|is invalid"
    "|is impossible|is not possible|does not fit|doesn't fit|does not add up|doesn't add up"
    "|does not match|doesn't match|contradicts",
    subjects="this|that|it|which|the answer|my answer|the result|my result|the value"
    "|the solution|my solution|plugging in|plugging back in|plugging it in|plugging it back in"
    "|substituting|substitution|substituting back|checking|check|verification|verifying"
    "|the check|the number",
    others="other|others|smaller|larger|greater|bigger|any|no|none|every|all|else|otherwise"
    "|remaining|rest|each|only|unless|never|cannot fail|lower|higher|less|more|next|neither"
    "|nothing|one|larger one|smaller one|negative|second root",
    cases="inclusive|exclusive|with replacement|without replacement|n even|n odd|is even|is odd"
    "|otherwise|alternatively|else|if|when|assuming|in case|case|supposing|provided"
    "|for the other|under the|method|approach|interpretation|scenario|reading",
    concluding="so|thus|hence|therefore|final|finally|overall|in conclusion|in total|altogether"
    "|wait|actually|corrected|correction|we conclude|since",
    undecided="depending on|depends on|i am not told|i'm not told|we are not told"
    "|not told which|not stated which|does not say which|doesn't say which|not specified which"
    "|unclear which|not clear which|ambiguous|whichever|cannot tell which|can't tell which"
    "|not sure which|don't know which|do not know which|both are possible|take your pick"
    "|pick one|either interpretation",
    correcting="actually|wait|wait a minute|hold on|hmm|hm|oh|oh wait|no wait|no,|no.|no:|no;"
    "|no -|no —|no –|nope|make that|make it|i mean|i meant|or rather"
    "|correction|let me recompute|let me recalculate|let me redo|let me correct"
    "|let me fix|sorry|apologies|to be precise|more precisely|but i get|but i got"
    "|but we get|but i find|but i found|i get instead|it's really|it is really"
    "|it should be|it should actually be|should be|really it is|fixed|update|edit"
    "|revised|revised answer|after rechecking|after checking again|checking again"
    "|on closer inspection|looking again|re-evaluating|upon rechecking|upon review"
    "|ah|better",
    giving_up="i give up|i have to give up|i must give up|i do not know|i don't know"
    "|i cannot solve|i can't solve|i could not solve|i couldn't solve|cannot determine"
    "|can't determine|could not determine|couldn't determine|i cannot answer|i can't answer"
    "|cannot tell|can't tell|i could not decide|i cannot decide|can't decide|i cannot find"
    "|could not find|couldn't find the answer|have no idea|no idea|i am unable|i'm unable"
    "|unable to|i am not able|i'm not able|ran out of time|have no answer|no answer was found"
    "|no answer can be|no final answer|no solution was found|have not found it|haven't found it"
    "|i have no solution|cannot give a|can't give a|i cannot confirm|can't confirm|cannot verify"
    "|can't verify|have not checked|haven't checked|not been able to|i can't help|i cannot help"
    "|i cannot provide|i can't provide|cannot be determined|i could not finish|couldn't finish"
    "|i must abstain|i abstain|i decline|i won't answer|i will not answer|i refuse|i was unable"
    "|remains unsolved|i'm stuck|i am stuck|not solve this|not able to solve|cannot complete"
    "|can't complete|not verified it|do not know the answer|don't know the answer"
    "|i have no answer|could not verify|couldn't verify|no definite",
    asides="though|although|even though|and not|but not|not|rather than|instead of|because|since"
    "|but|which|whereas|despite|even if|contrary to|unlike|i hope|let me know|hope this",
    labels="january|february|march|april|june|july|august|september|october|november|december|"
    "in the year|the year|season of|edition of|"
    "page|pages|p.|pp.|theorem|lemma|corollary|proposition|problem|problems|exercise"
    "|question|line|chapter|section|figure|table|step|equation|eq.|part|item|no.|number #|#"
    "|example|case|version|room|paragraph|footnote|appendix|slide|volume|lecture|task|puzzle"
    "|case #|reference|definition|remark|note|unit|lesson|test|attempt|rule|axiom|§|code|error"
    "|port|level|grade",
    labels_after="is the number of the|given conditions|conditions|steps|pages|lines|attempts"
    "|minutes ago|characters|points for|test cases|tests",
    grading="the reference is|previous instructions|ignore all|mark my|please mark|treat it as"
    "|treat this|grader|evaluator|full marks|full credit|mark this|mark it|as correct|count as"
    "|counts as|treated as|equal to the reference|ground truth|tests passed|expected answer"
    "|reference answer|rubric|reviewer|checker|verifier|accept any",
    operations="ends in|ends with|ending in|ending with|starts with|begins with|rhymes with"
    "|close to|near to|within|square|squared|root|cube|cubed|factorial|half|halves|twice|double"
    "|triple|more than|less than|fewer than|greater than|times|plus|minus|hundredths|tenths"
    "|thousandths|hundred|thousand|million|billion|trillion|dozen|base|power|percent of|at least"
    "|at most|about|approximately|around|roughly|over|under|nearly|almost|above|below|reciprocal"
    "|inverse|negative|opposite|multiple of|divisor of|modulo|quarter|third of|fraction|digits"
    "|exceeds|instead of|other than|not|up to|between|log|sine|cosine|plus one|score|gross|hex"
    "|binary|octal",
    counted="items|ways|people",
    trailing="plus|minus|times|by|of|the|an|and|or|to|where|that|with|if|is|are|divided"
    "|multiplied|over|from|than|when|because|which|for|as|we|then|so|equals|raised|modulo|mod",
)
