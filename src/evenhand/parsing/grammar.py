"""The words of verdicts, of who speaks and of what is judged, and how a verdict is worded.

The patterns are for marked text, where a mention of a label is one private character (see `labels`): `statements` looks
for those in capitals below, `mentions` for its own.
"""

from __future__ import annotations

import re


def phrase(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """A pattern of words in any case."""
    return re.compile(pattern, re.IGNORECASE | flags)


MENTION = "[\U000f0000-\U0010fffd]"  # of any label, see `labels`
MENTIONED = re.compile(MENTION)
CARRIER = (
    r"(?:assistant|option|answer|response|output|choice|model|candidate|system|summary|translation|version|chatbot|"
    r"agent|participant|player|story|essay|solution|reply|completion|level|grade|category|class|item|label)"
)
BOUNDARY = (  # the end of a clause
    r"(?= *(?:$|\n|'(?!s\b)|[.,;:!?)\]}<>≻≫\"|—–。，、；：！？」』»”]|[-/](?!\w)|(?:because|since|as|given|overall|"
    r"due|rather|instead|but|although|though)\b))"
)
VERDICT = (  # what a verdict is called
    r"(?:verdict|rating|answer|score|decision|judge?ment|choice|selection|selected[_ -]?option|grade|winner)"
)
SPEAKER = (  # whose words a judge may report: one list for prose and for sheets
    r"(?:response|answer|output|assistant|candidate|completion|text|model|system|student|author|writer|user|reply|"
    r"summary|essay|passage|prompt|instruction|document|submission|context|article|code|message|it|he|she|they|this|"
    r"that|which|who)"
)
SPEAKS = (  # how they are reported
    r"(?:says?|said|saying|stat(?:es?|ed|ing)|reads?|reading|contain(?:s|ed|ing)?|writes?|wrote|written|writing|"
    r"end(?:s|ed|ing)?|starts?|begins?|claim(?:s|ed|ing)?|includ(?:es?|ed|ing)|quot(?:es?|ed|ing)|ask(?:s|ed|ing)?|"
    r"tells?|told|demands?|orders?|instructs?|tries|respond(?:s|ed)?|append(?:s|ed)?|close[sd]?|add(?:s|ed)?|"
    r"embed(?:s|ded)?|hides?|hidden|plant(?:s|ed)|repl(?:y|ies|ied)|conclude[sd]?|declare[sd]?|assert(?:s|ed)?|"
    r"prints?|mentions?|outputs?|generate[sd]?|produces?|insert(?:s|ed)?|inject(?:s|ed)?)"
)
CHOICE = (
    r"(?:option|choice|output|response|answer|assistant|model|candidate|one|reply|version|solution|performer|pick|fit)"
)
SUPERIOR = r"(?:better|best|superior|preferable|preferred|stronger|strongest|winning)"
ADVERB = (
    r"(?:clearly|slightly|much|far|by far|significantly|marginally|overall|therefore|thus|also|indeed|still|even|"
    r"arguably|definitely|certainly|somewhat|ultimately|likely|probably|generally|objectively|considerably|"
    r"substantially|only|now|then|hence|more|narrowly|just|considered|judged|deemed|the|a|an|to be|as|being|"
    r"relatively|actually|clear)"
)
COPULA = (
    r"(?:is|was|are|were|would be|will be|must be|should be|can be|seems|appears|remains|stands out|emerges|comes out|"
    r"came out|has been|ranks|counts|did|does|performed|performs)"
)
ENDS = (
    r"(?= *(?:$|[.,;:!?)\n\"]|than\b|to (?:[\U000f0000-\U0010fffd]|×)|because\b|since\b|as\b|given\b|overall\b|due\b|"
    r"here\b|by\b|of the two\b|(?:of|between|among) (?:these|those|them|both|the)\b|for (?:\w+ )?reasons\b|when\b|"
    r"and\b|but\b|with\b|while\b|although\b|though\b|[-—–]))"
)
SCOPE = r"(?= *(?:at|in|for|on|regarding|concerning|from|to)\b)"
BETTER_OFF = (
    rf"(?:{SUPERIOR}(?: overall)?(?: {CHOICE})?(?:{ENDS}|(?P<scope>{SCOPE}))|(?:winner|right {CHOICE}|"
    rf"correct {CHOICE}|clear winner|(?:more )?(?:suitable|appropriate|ideal) {CHOICE}|"
    rf"(?<=more )\w+(?: and \w+)? {CHOICE}\b))"
)
COMPARISON = phrase(
    rf"(?P<mention>{MENTION})(?:'s)?(?: {CARRIER}s?)? (?:(?:clearly|also|still|therefore|overall|thus) )?"
    rf"(?:(?:{COPULA} (?:{ADVERB} ){{0,5}}{BETTER_OFF})|(?:provides|provided|gives|gave|offers|offered|has|did|does|"
    rf"delivers|delivered|presents|produced) (?:{ADVERB} ){{0,4}}(?:better|best|superior) (?:overall )?(?:answers?|"
    r"responses?|outputs?|reply|replies|job)|(?:is|was) (?:[\w'-]+ ){1,10}and (?:is|"
    rf"was) (?:{ADVERB} ){{0,2}}{SUPERIOR}{ENDS}|(?:beats|outperforms|outclasses|surpasses|outdoes|edges out|tops|"
    rf"trumps) (?:{MENTION}|×)(?= *(?:$|[.,;:!]|(?:overall|because|by|here|hands down|on (?:every|all|balance|"
    r"most))\b))|(?:is|remains|would be) (?:(?:therefore|thus|clearly) )?(?P<mine>my) (?:(?:final|overall) )?"
    r"(?:verdict|choice|pick|answer|rating|decision|selection|judge?ment|vote|winner|preference)\b|wins\b|won\b|"
    r"should win\b|takes the win\b)"
)
PREFERENCE = phrase(
    r"\b(?:(?:i|we)(?:'d|'ll|'m|'ve)?(?: (?:would|will|must|should|am|can|have|shall|do|therefore|thus|hence|rather|"
    r"personally|ultimately|to|decided|going|say|inclined|also|still|strongly|slightly|now)){0,4}|must|would|going|"
    r"decided to|(?<!\w)my preference is) ?(?:choose|chose|chosen|select|selected|pick|picked|prefer|favou?r|"
    r"vote(?: for)?|go (?:with|for)|going (?:with|for)|(?<=going )with|went with|recommend|opt for|side with|declare|"
    r"lean towards?|leaning towards?|choosing|selecting|picking|settle on|settled on|settling on) (?:(?:the|an?|"
    rf"option|for) ){{0,2}}[\"'(\[]?(?P<mention>{MENTION})|\b(?:i|we) (?:find|consider|judge|deem|believe|declare|"
    rf"rate) (?P<judged>{MENTION}) (?:{ADVERB} ){{0,4}}{BETTER_OFF}|\bin favou?r of (?:the )?(?P<favoured>{MENTION})|"
    rf"\bsettled? on (?P<settled>{MENTION})|\bin (?P<possessor>{MENTION})'s favou?r\b|\b(?:edge|advantage|nod|"
    rf"preference|win) (?:(?:goes|is|going) )?(?:to|for) (?P<edge>{MENTION}){BOUNDARY}"
)
RATING = phrase(
    r"(?:\b(?:(?:rate|rating|score|grade|give|giving|gave|assign|award|merit|deserve|earn|receive|get|warrant|"
    r"qualifie|fall|select|choose|pick|chose)(?:s|d|ed|ing)?|(?:classif(?:y|ies|ied)|(?:judge|evaluate|assess|deem|"
    r"consider|rank|label|mark|call|categori[sz]e)(?:s|d|ed|ing)?) (?!not\b|than\b|if\b|but\b|and\b)[\w'-]+) "
    r"(?:(?!not\b|than\b|if\b)[\w'-]+ ){0,8}?(?:(?:as|an?|at|of|the|to be|under|into|for|it|is|be) )?|"
    r"\b(?:score|rating|grade|mark|level) (?:of|is|at|would be|as) (?:an? )?)[\"'(\[]?"
    rf"(?P<mention>{MENTION}){BOUNDARY}"
)
CONCLUSION = phrase(
    r"(?:^|[,;:—–-] ?|\band )(?:so|therefore|thus|hence|overall|consequently|accordingly|as a result|in conclusion|"
    r"conclusion|in summary|to sum up|to summarize|to conclude|summary|ultimately|in the end|finally|on balance|"
    r"all in all|all things considered|taking everything|considering (?:all|everything|the above|these|this)|"
    r"for (?:these|this|that|the above) reasons?|given (?:these|this|that|the above|all)|based on (?:the|this|these|"
    r"my|all)|after (?:careful|carefully|considering|evaluating|reviewing|comparing|weighing)|actually|"
    r"on second thought|(?:on|upon) (?:further )?reflection|in my (?:opinion|view|judge?ment)|my)\b|"
    r"^(?:actually|correction|wait)\b|\b(?:i|we) (?:conclude|determine|would say|have (?:determined|concluded|"
    r"decided)|must|would (?:choose|select|pick|rate|give|score|go|say|assign)|choose|select|pick|vote|rate|give|"
    r"assign|am going|will go)\b|\bi'd (?:rate|give|say|go|choose|pick|score)\b"
)
NOBODY = phrase(
    r"\bneither\b.{0,80}\b(?:better|best|superior|preferable|winner|preferred)\b|\b(?:both|they)\b.{0,80}\bequally\b|"
    r"\bequally (?:good|bad|well|matched|valid|helpful|poor)\b|\b(?:it|this|verdict|result|they|comparison|"
    r"outcome)(?: \w+){0,3} (?:is|are|as|ends in|be)(?: therefore| thus)? (?:a tie|tied|a draw|a toss-up)\b|"
    r"\bno clear winner\b|\bcan not (?:choose|decide|pick|determine)\b"
)

FIELD = rf"(?:(?:final[_ -]?)?{VERDICT}|final|selected|option|result|label|preference|evaluation)"
XML = phrase(rf"<({FIELD})\b[^<>\n]{{0,80}}>\s*([^<>]{{0,200}}?)\s*</\1>")
XML_OPEN = phrase(rf"<({FIELD})>[ \t]*([^<>\n]{{1,60}})\s*$")
PIPED = re.compile(r"<\|\s*([^<>|\n]{1,60}?)\s*\|>")
BOXED = re.compile(r"\$?\\boxed\s*\{\s*([^{}\n]{1,80}?)\s*\}\$?(?P<last>[\s.$*]*$)?")
BEFORE_LAST_BOX = re.compile(r"(?:^|\n) *\Z")
BRACKETED_LEAD = phrase(  # "[RESULT] B"
    r"\[(?:RESULT|VERDICT|SCORE|RATING|ANSWER|DECISION|JUDGE?MENT|FINAL|WINNER)\] *:?(?= *\S)"
)
TAG = re.compile(r"\[\[\s*[\"'(]?\s*([^\[\]\n]{1,80}?)\s*[\"')]?\s*\]\](?!\w)")
REFERENCE_BEFORE = phrase(rf"(?:\b(?:by|than|from|over|of|to|between|and|or|with) |{MENTION} ?\()\Z")
REFERENCE_AFTER = re.compile(
    r"'s\b| ?: *\Z| (?!for\b|because\b|since\b|as\b|in\b|with\b|due\b|given\b|but\b|and\b)[a-z]"
)
FIRST_OF_TWO = re.compile(rf"({MENTION}) ?(?:>>?|≫|≻) ?({MENTION})")

STRONG = (
    r"(?:verdict|decision|choice|selection|judge?ment|winner|vote|pick|preference|final(?= ?[:=])|"
    rf"most (?:fitting|suitable|appropriate) (?:{CHOICE}|label|rating|level|category|grade|score)|"
    rf"(?:selected|chosen|preferred|best|better|winning|superior|stronger)(?: (?:{CHOICE}|label|rating|level|category|"
    r"grade|score))?|selected[_ ]option|(?:final|overall)[_ ](?:evaluation|assessment|conclusion|result|label|level|"
    r"category|classification|recommendation))"
)
FAIR = (
    r"(?:answer|score|rating|grade|respuesta|puntuación|antwort|urteil|bewertung|réponse|"
    r"verdetto|risposta|resposta|ответ|вердикт|оценка|答案|最终答案|评分|判定|回答|評価|選択|选择|선택|정답|평가|"
    r"الإجابة|الحكم)"
)
WEAK = r"(?:evaluation|assessment|conclusion|result|option|label|level|category|classification|recommendation|ranking)"
LEAD = phrase(
    r"(?<![\w-])(?P<modifiers>(?:\b(?:so|thus|therefore|hence|my|our|the|your|final|overall|ultimate|official|"
    rf"then)[, ]{{1,3}}){{0,5}})(?<![\w-])(?:(?P<strong>{STRONG})|(?P<fair>{FAIR})|(?P<weak>{WEAK}))(?![\w-])"
    r"(?P<scope> (?:for|of|on|in|regarding|between|to|i)\b[^:.\n]{0,60}?)? ?(?:\([^()\n]{0,30}\) ?)?"
    r"(?P<link>(?:(?<![a-z])(?:is|was) ?)?(?:as follows ?)?[:=→|]+|[-–—]+>?|"
    r"(?<![a-z])(?:(?:is|was) (?:(?:provided|given|offered|delivered) )?(?:by|from)|(?:comes|came) from|is|was|"
    rf"would be|will be|remains|goes to|should be|must be|es|ist|est|是|为|は)(?![\w-])(?= |{MENTION}|$)) *"
)
SOMEBODY_ELSE = phrase(
    r"(?:\b(?:reference|expected|actual|true|given|provided|first|second|third|original|wrong|incorrect|its|their|his|"
    r"her|this|that|each|every|both|an?|no|model|gold|whose|which|user's|another|same|ideal|possible|any|one)|'s|"
    r"s') ?\Z"
)
CORRECT = phrase(r"\b(?:correct|right|accurate) ?\Z")
FILLER = phrase(
    r"(?:(?:that|the|an?|is|it|as|for|option|response|output|answer|choice|assistant|clearly|definitely|goes to|"
    r"rated|therefore,?|thus,?|i|would|choose|select|say|level|score|of|be|to|my|verdict|final|i'd|give|rate|this|"
    r"and|also|approximately|about|around|:|was) ?(?![^\W_])|[\"'(\[<«“「*=>-]) *"
)
COORDINATED = phrase(
    rf"{MENTION}[\"')\]]* ?(?:, ?)?(?:/|-|–|—|&|\bor\b|\band\b|\bto\b|,) ?(?:(?:an?|the|maybe|perhaps|"
    rf"possibly) )*[\"'(\[]*{MENTION}"
)
ANOTHER = re.compile(  # what names an option, offered or not
    r"\W*(?:(?:an?|that it is|that this is|option|label|the) )*(?:[A-Z][\w'-]*|[+-]?\d[\d.,/]*|tie|draw|neither|both|"
    r"none|equal|unclear)\W*"
)
SENTENCE = re.compile(r"(?<=[.!?])[\"')\]]* +|(?<=[。！？])|\n+")
HEADING_LEAD = phrase(
    rf"^((?:[\w']+ ){{0,3}}(?:{STRONG}|{FAIR}|conclusion|result|evaluation)) ?[:.：]? *\n\s*", re.MULTILINE
)
STANDALONE = re.compile(rf"[^\w\U000f0000-\U0010fffd]{{0,4}}({MENTION})[^\w\U000f0000-\U0010fffd:]{{0,4}}")
OPENING = re.compile(rf"[\"'(\[]*({MENTION})[\"')\]]*(?:{BOUNDARY}| ?[(])")
OPENING_SIDE = phrase(  # "B, because …", and not "B, although longer, …" or "B (the longer one) repeats …"
    rf"[\"'(\[]*({MENTION})[\"')\]]* ?(?:\([^()]{{0,400}}(?:\)(?={BOUNDARY})|$)|"
    r"(?!, (?:which|who|although|though|while|whereas|despite|being|with|unlike|like|however|on|in|the|a|an|also|too|"
    rf"even|{MENTION})\b|[,(]){BOUNDARY}|,(?= (?:because|since|as|for|due|given|clearly|definitely|by far|hands down|"
    r"it|its|their|no doubt|overall|slightly|though only|but only)\b| ?$))"
)
ELLIPTIC = re.compile(
    rf"(?:[^;]*\bnot\b[^;]*; ?(?:but |rather,? |instead,? )?)?({MENTION}) (?:is|was|does|did|has|wins)[.!]+"
)
THING = (  # what may be judged
    rf"(?:{CARRIER}|candidate|claim|text|statement|criterion|requirement|condition|prediction|work|piece|code|proof|"
    r"argument|report|translation|inference|deduction|submission|message|conversation|content|request|hypothesis|"
    r"assertion|implementation|patch|attempt)"
)
JUDGED = (
    r"(?:the|this|that|their|its|his|her|candidate's|student's|model's|assistant's|system's|user's|"
    r"author's) (?:(?!reference|gold|expected|actual|other|right|true|correct|original|ideal|good|better|best|second|"
    rf"first|third|last|same|is\b|was\b)[\w-]+(?:'s)? ){{0,2}}?{THING}(?: \([^()]{{0,60}}\))?"
)
IS = (
    r"(?:is|was|are|were|seems|appears|remains|has been|(?:can|must|should|may) be (?=considered|judged|deemed|rated|"
    r"called))(?: (?:indeed|also|still|thus|therefore|so|in fact|actually|overall|considered|judged|deemed|rated|"
    r"found|called|as|to be|just|not (?:only|just|merely)|clearly|simply|definitely|certainly|hence|again|truly|"
    r"really|factually|plainly|obviously|probably|likely|ultimately|then|now|technically|generally))*"
)
PREDICATION = phrase(
    r"(?:^|(?<=[,;:] )|\b(?:that|so|therefore|thus|hence|and|but|because|since|as|think|believe|find|conclude|say|"
    rf"although|though|while|is) )(?P<subject>{JUDGED}) {IS} [\"'(\[]*(?P<mention>{MENTION})(?={BOUNDARY}|[\"')\]]|"
    r" (?:in (?:stating|saying|that|claiming|its)|with|as|according|and|about|when|by|that|to the)\b)(?![^.]*\b(?:if|"
    r"unless|had it)\b)"
)
PRONOUN_PREDICATION = phrase(
    r"\W*(?:(?:yes|no|so|therefore|thus|hence|overall|in truth|in fact|however)\b[,.:;–—-]* )?(?P<subject>it|this|"
    rf"that|this one|they) {IS} [\"'(\[]*(?P<mention>{MENTION})(?:{BOUNDARY}|(?=[\"')\]]| either\b))"
)
OPENS_YES_NO = phrase(r"\W*(?:yes|no)\b[,.:;–—-]+ ")
AGREES = phrase(  # "Yes, Paris is correct", "No, Paris is not correct": the name is what was judged
    rf"\W*(?P<word>yes|no)\b[,.:;–—-]+ (?P<subject>[^:;]{{1,160}}?) {IS}(?: (?:the|an?))? (?P<mention>{MENTION})"
)
CORRECTION = phrase(
    r"\b(?:actually|correct(?:ion|ed|ing)|on second thoughts?|on (?:further |closer )?(?:reflection|inspection)|wait|"
    r"reconsider\w*|revis\w+|scratch that|i mis\w+|instead|chang(?:e|ed|ing) my|updated?|final(?:ly)?|overall|"
    r"therefore|thus|so|hence|in conclusion|ultimately|in sum(?:mary)?|to conclude|however|upon|after|conclud\w+|"
    r"i was wrong)\b"
)
RETRACTION = phrase(  # narrower than CORRECTION: what takes back the words before it, and does not only conclude
    r"(?:^|[.!?;:,—–-] *|\n)(?:no,? |oh,? |but )?(?:actually|wait|correction|scratch that|strike that|"
    r"on second thoughts?|on (?:further |closer )?(?:reflection|inspection)|let me (?:correct|revise|reconsider)|"
    r"i (?:was wrong|mis\w+|stand corrected|take (?:that|it) back))\b"
)
LISTS_CHOICES = phrase(r"\b(?:or|if|either|output|print|respond|choose|format|for a)\b")
EQUAL = phrase(
    r"\b(?:both|they|the two|these|the)\b[^.;]{0,60}?\b(?:(?:is|are|were|seem|perform(?:ed)?|did) (?:\w+ly |"
    r"about )?(?:equally (?:good|well|bad|poor(?:ly)?|strong|weak|valid|matched|helpful|correct)|tied|equal|"
    r"on (?:a )?par|of (?:equal|the same|similar|comparable) (?:quality|standard|value|merit)|the same|"
    r"indistinguishable|equivalent|comparable in quality)|equally well)(?= ?(?:$|[.,;!)]|overall\b|in quality\b|so\b|"
    r"and\b))|\bneither\b[^.;]{0,60}\b(?:better|best|superior|preferable|winner|preferred|wins|stands out)\b(?! (?:at|"
    r"in|for|on)\b)|\b(?:it|this|the (?:verdict|result|outcome|comparison))(?:'s| is| ends in)(?: \w+)? (?:a tie|tied|"
    r"a draw|a toss-up)\b|\bno clear winner\b|\bthere is no (?:winner|difference in quality)\b|"
    r"\bi (?:call|declare) (?:it|this) a (?:tie|draw)\b"
)
GRADED = phrase(rf"({MENTION})[\"')\]]* ?(?:[:=(–—-]|gets|scores|receives) ?(?:[^\W\d]+[:,]? ){{0,2}}\d")
BUT = phrase(rf"\bbut (?:also |maybe )?({MENTION})")
HEADS = re.compile(rf"{MENTION} ?[:)]")
WHO_IS_BETTER = phrase(rf"\b{SUPERIOR}\b|\bw[io]n")
WOULD = re.compile(r"\b(?:would|could|might)\b|'d\b")
CONDITION_AFTER = re.compile(r"[^.;]*?\b(?:if|had|were|provided)\b")
CONDITION_FIRST = phrase(r"\W*(?:but |and |so )?(?:if|had|were|unless|without|with)\b")
