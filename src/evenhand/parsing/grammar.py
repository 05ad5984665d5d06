"""How judges word a verdict: the patterns that `statements` looks for, over marked text (see `labels`)."""

from __future__ import annotations

import re

from evenhand.parsing.labels import BOUNDARY, CARRIER, MENTION

CHOICE = (
    r"(?:option|choice|output|response|answer|assistant|model|candidate|one|reply|version|solution|performer|"
    r"pick|fit)"
)
SUPERIOR = r"(?:better|best|superior|preferable|preferred|stronger|strongest|winning)"
ADVERB = (
    r"(?:clearly|slightly|much|far|by far|significantly|marginally|overall|therefore|thus|also|indeed|"
    r"still|even|arguably|"
    r"definitely|certainly|somewhat|ultimately|likely|probably|generally|objectively|considerably|"
    r"substantially|only|"
    r"now|then|hence|more|narrowly|just|considered|judged|deemed|the|a|an|to be|as|being|relatively|"
    r"actually|clear)"
)
COPULA = (
    r"(?:is|was|are|were|would be|will be|must be|should be|can be|seems|appears|remains|stands out|"
    r"emerges|comes out|"
    r"came out|has been|ranks|counts|did|does|performed|performs)"
)
ENDS = (
    r"(?=[ ]*(?:$|[.,;:!?)\n\"]|than\b|to (?:[\U000f0000-\U0010fffd]|×)|because\b|since\b|as\b|given\b|"
    r"overall\b|due\b|here\b|by\b|"
    r"of the two\b|"
    r"(?:of|between|among) (?:these|those|them|both|the)\b|for (?:\w+ )?reasons\b|when\b|and\b|but\b|"
    r"with\b|while\b|although\b|though\b|[-—–]))"
)
SCOPE = r"(?=[ ]*(?:at|in|for|on|regarding|concerning|from|to)\b)"
BETTER_OFF = (
    rf"(?:{SUPERIOR}(?:[ ]overall)?(?:[ ]{CHOICE})?(?:{ENDS}|(?P<scope>{SCOPE}))|"
    rf"(?:winner|right {CHOICE}|correct {CHOICE}|clear winner|(?:more )?(?:suitable|appropriate|"
    rf"ideal) {CHOICE}|"
    rf"(?<=more )\w+(?: and \w+)? {CHOICE}\b))"
)
COMPARISON = re.compile(
    rf"(?P<mention>{MENTION})(?:'s)?(?:[ ]{CARRIER}s?)?[ ](?:(?:clearly|also|still|therefore|overall|thus)[ ])?"
    rf"(?:(?:{COPULA}[ ](?:{ADVERB}[ ]){{0,5}}{BETTER_OFF})"
    rf"|(?:provides|provided|gives|gave|offers|offered|has|did|does|delivers|delivered|presents|produced)[ ]"
    rf"(?:{ADVERB}[ ]){{0,4}}(?:better|best|superior)[ ](?:overall[ ])?(?:answers?|responses?|outputs?|"
    rf"reply|replies|job)"
    rf"|(?:is|was)[ ](?:[\w'-]+[ ]){{1,10}}and[ ](?:is|was)[ ](?:{ADVERB}[ ]){{0,2}}{SUPERIOR}{ENDS}"
    rf"|(?:beats|outperforms|outclasses|surpasses|outdoes|edges out|tops|trumps)[ ](?:{MENTION}|×)"
    rf"(?=[ ]*(?:$|[.,;:!]|(?:overall|because|by|here|hands down|on (?:every|all|balance|most))\b))"
    rf"|(?:is|remains|would be)[ ](?:(?:therefore|thus|clearly)[ ])?(?P<mine>my)[ ](?:(?:final|overall)[ ])?"
    r"(?:verdict|choice|pick|answer|rating|decision|selection|judge?ment|vote|winner|preference)\b"
    rf"|wins\b|won\b|should win\b|takes the win\b)",
    re.IGNORECASE,
)
PREFERENCE = re.compile(
    rf"\b(?:(?:i|we)(?:'d|'ll|'m|'ve)?(?:[ ](?:would|will|must|should|am|can|have|shall|do|therefore|thus|"
    rf"hence|rather|"
    rf"personally|ultimately|to|decided|going|say|inclined|also|still|strongly|slightly|now)){{0,4}}|must|"
    rf"would|going|decided to|"
    rf"(?<!\w)my preference is)[ ]?(?:choose|chose|chosen|select|selected|pick|picked|prefer|favou?r|"
    rf"vote(?: for)?|go (?:with|for)|"
    rf"going (?:with|for)|(?<=going )with|went with|recommend|opt for|side with|declare|lean towards?|"
    rf"leaning towards?|"
    rf"choosing|selecting|picking|settle on|settled on|settling on)[ ](?:(?:the|an?|option|"
    rf"for)[ ]){{0,2}}[\"'(\[]?(?P<mention>{MENTION})"
    rf"|\b(?:i|we)[ ](?:find|consider|judge|deem|believe|declare|rate)[ ](?P<judged>{MENTION})[ ]"
    rf"(?:{ADVERB}[ ]){{0,4}}{BETTER_OFF}"
    rf"|\bin favou?r of (?:the )?(?P<favoured>{MENTION})|\bsettled? on (?P<settled>{MENTION})|"
    rf"\bin (?P<possessor>{MENTION})'s favou?r\b"
    rf"|\b(?:edge|advantage|nod|preference|win)[ ](?:(?:goes|is|going)[ ])?(?:to|for)[ ](?P<edge>{MENTION}){BOUNDARY}",
    re.IGNORECASE,
)
RATING = re.compile(
    rf"(?:\b(?:(?:rate|rating|score|grade|give|giving|gave|assign|award|merit|deserve|earn|receive|get|"
    rf"warrant|qualifie|fall|select|"
    rf"choose|pick|chose)(?:s|d|ed|ing)?|(?:classif(?:y|ies|ied)|(?:judge|evaluate|assess|deem|consider|"
    rf"rank|label|mark|call|"
    rf"categori[sz]e)(?:s|d|ed|ing)?)[ ](?!not\b|than\b|if\b|but\b|and\b)[\w'-]+)[ ]"
    rf"(?:(?!not\b|than\b|if\b)[\w'-]+[ ]){{0,8}}?(?:(?:as|an?|at|of|the|to be|under|into|for|it|is|be)[ ])?"
    rf"|\b(?:score|rating|grade|mark|level)[ ](?:of|is|at|would be|as)[ ](?:an?[ ])?)"
    rf"[\"'(\[]?(?P<mention>{MENTION}){BOUNDARY}",
    re.IGNORECASE,
)
CONCLUSION = re.compile(
    r"(?:^|[,;:—–-] ?|\band )(?:so|therefore|thus|hence|overall|consequently|accordingly|as a result|"
    r"in conclusion|conclusion|"
    r"in summary|to sum up|to summarize|to conclude|summary|ultimately|in the end|finally|on balance|"
    r"all in all|"
    r"all things considered|taking everything|considering (?:all|everything|the above|these|this)|"
    r"for (?:these|this|that|the above) reasons?|given (?:these|this|that|the above|all)|based on (?:the|"
    r"this|these|my|all)|"
    r"after (?:careful|carefully|considering|evaluating|reviewing|comparing|weighing)|actually|"
    r"on second thought|"
    r"(?:on|upon) (?:further )?reflection|in my (?:opinion|view|judge?ment)|my)\b"
    r"|^(?:actually|correction|wait)\b|\b(?:i|we) (?:conclude|determine|would say|have (?:determined|"
    r"concluded|decided)|must|"
    r"would (?:choose|select|pick|rate|give|"
    r"score|go|say|assign)|choose|select|pick|vote|rate|give|assign|am going|will go)\b|\bi'd (?:rate|"
    r"give|say|go|choose|pick|score)\b",
    re.IGNORECASE,
)
NOBODY = re.compile(
    r"\bneither\b.{0,80}\b(?:better|best|superior|preferable|winner|preferred)\b"
    r"|\b(?:both|they)\b.{0,80}\bequally\b|\bequally (?:good|bad|well|matched|valid|helpful|poor)\b"
    r"|\b(?:it|this|verdict|result|they|comparison|outcome)(?: \w+){0,3} (?:is|are|as|ends in|"
    r"be)(?: therefore| thus)? "
    r"(?:a tie|tied|a draw|a toss-up)\b|\bno clear winner\b|\bcan not (?:choose|decide|pick|determine)\b",
    re.IGNORECASE,
)

FIELD = (
    r"(?:verdict|answer|final|final[_ -]?answer|final[_ -]?verdict|choice|decision|score|rating|selection|"
    r"selected[_ -]?option|"
    r"selected|option|judge?ment|winner|result|label|preference|grade|evaluation)"
)
XML = re.compile(rf"<({FIELD})\b[^<>\n]{{0,80}}>\s*([^<>]{{0,200}}?)\s*</\1>", re.IGNORECASE)
XML_OPEN = re.compile(rf"<({FIELD})>[ \t]*([^<>\n]{{1,60}})\s*$", re.IGNORECASE)
PIPED = re.compile(r"<\|\s*([^<>|\n]{1,60}?)\s*\|>")
BOXED = re.compile(r"\$?\\boxed\s*\{\s*([^{}\n]{1,80}?)\s*\}\$?(?P<last>[\s.$*]*$)?")
BEFORE_LAST_BOX = re.compile(r"(?:^|\n)[ ]*\Z")
BRACKETED_LEAD = re.compile(  # "[RESULT] B"
    r"\[(?:RESULT|VERDICT|SCORE|RATING|ANSWER|DECISION|JUDGE?MENT|FINAL|WINNER)\][ ]*:?(?=[ ]*\S)", re.IGNORECASE
)
TAG = re.compile(r"\[\[\s*[\"'(]?\s*([^\[\]\n]{1,80}?)\s*[\"')]?\s*\]\](?!\w)")
REFERENCE_BEFORE = re.compile(
    rf"(?:\b(?:by|than|from|over|of|to|between|and|or|with)[ ]|{MENTION}[ ]?\()\Z", re.IGNORECASE
)
REFERENCE_AFTER = re.compile(
    r"'s\b|[ ]?:[ ]*\Z|[ ](?!for\b|because\b|since\b|as\b|in\b|with\b|due\b|given\b|but\b|and\b)[a-z]"
)
FIRST_OF_TWO = re.compile(rf"({MENTION})[ ]?(?:>>?|≫|≻)[ ]?({MENTION})")

STRONG = (
    r"(?:verdict|decision|choice|selection|judge?ment|winner|vote|pick|preference|final(?=[ ]?[:=])|"
    rf"most[ ](?:fitting|suitable|appropriate)[ ](?:{CHOICE}|label|rating|level|category|grade|score)|"
    rf"(?:selected|chosen|preferred|best|better|winning|superior|stronger)(?:[ ](?:{CHOICE}|label|rating|"
    rf"level|category|grade|score))?|"
    r"selected[_ ]option|(?:final|overall)[_ ](?:evaluation|assessment|conclusion|result|label|level|"
    r"category|classification|recommendation))"
)
FAIR = (
    r"(?:answer|score|rating|grade|respuesta|puntuación|antwort|urteil|bewertung|réponse|verdetto|risposta|resposta|"
    r"ответ|вердикт|оценка|答案|最终答案|评分|判定|回答|評価|選択|选择|선택|정답|평가|الإجابة|الحكم)"
)
WEAK = r"(?:evaluation|assessment|conclusion|result|option|label|level|category|classification|recommendation|ranking)"
LEAD = re.compile(
    rf"(?<![\w-])(?P<modifiers>(?:\b(?:so|thus|therefore|hence|my|our|the|your|final|overall|ultimate|official|"
    rf"then)[, ]{{1,3}}){{0,5}})"
    rf"(?<![\w-])(?:(?P<strong>{STRONG})|(?P<fair>{FAIR})|(?P<weak>{WEAK}))(?![\w-])"
    rf"(?P<scope>[ ](?:for|of|on|in|regarding|between|to|i)\b[^:.\n]{{0,60}}?)?"
    rf"[ ]?(?:\([^()\n]{{0,30}}\)[ ]?)?(?P<link>(?:(?<![a-z])(?:is|was)[ ]?)?(?:as follows[ ]?)?[:=→|]+|"
    rf"[-–—]+>?|"
    rf"(?<![a-z])(?:(?:is|was)[ ](?:(?:provided|given|offered|delivered)[ ])?(?:by|from)|(?:comes|"
    rf"came)[ ]from|is|was|would be|will be|remains|goes to|should be|must be|es|ist|est|是|为|"
    rf"は)(?![\w-])(?=[ ]|{MENTION}|$))[ ]*",
    re.IGNORECASE,
)
SOMEBODY_ELSE = re.compile(
    r"(?:\b(?:reference|expected|actual|true|given|provided|first|second|third|original|wrong|incorrect|"
    r"its|their|his|her|this|that|"
    r"each|every|both|an?|no|model|gold|whose|which|user's|another|same|ideal|possible|any|one)|'s|s')[ ]?\Z",
    re.IGNORECASE,
)
CORRECT = re.compile(r"\b(?:correct|right|accurate)[ ]?\Z", re.IGNORECASE)
FILLER = re.compile(
    r"(?:(?:that|the|an?|is|it|as|for|option|response|output|answer|choice|assistant|clearly|definitely|"
    r"goes to|rated|therefore,?|thus,?|"
    r"i|would|choose|select|say|level|score|of|be|to|my|verdict|final|i'd|give|rate|this|and|also|"
    r"approximately|about|around|:|was)"
    r"[ ]?(?![^\W_])|[\"'(\[<«“「*=>-])[ ]*",
    re.IGNORECASE,
)
COORDINATED = re.compile(
    rf"{MENTION}[\"')\]]*[ ]?(?:,[ ]?)?(?:/|-|–|—|&|\bor\b|\band\b|\bto\b|,)[ ]?(?:(?:an?|the|maybe|"
    rf"perhaps|possibly)[ ])*[\"'(\[]*{MENTION}",
    re.IGNORECASE,
)
ANOTHER = re.compile(  # what names an option, offered or not
    r"\W*(?:(?:an?|that it is|that this is|option|label|the)[ ])*(?:[A-Z][\w'-]*|[+-]?\d[\d.,/]*|tie|draw|"
    r"neither|both|none|equal|unclear)\W*"
)
SENTENCE = re.compile(r"(?<=[.!?])[\"')\]]*[ ]+|(?<=[。！？])|\n+")
HEADING_LEAD = re.compile(
    rf"^((?:[\w']+[ ]){{0,3}}(?:{STRONG}|{FAIR}|conclusion|result|evaluation))[ ]?[:.：]?[ ]*\n\s*",
    re.IGNORECASE | re.MULTILINE,
)
STANDALONE = re.compile(rf"[^\w\U000f0000-\U0010fffd]{{0,4}}({MENTION})[^\w\U000f0000-\U0010fffd:]{{0,4}}")
OPENING = re.compile(rf"[\"'(\[]*({MENTION})[\"')\]]*(?:{BOUNDARY}|[ ]?[(])")
OPENING_SIDE = re.compile(  # "B, because …", and not "B, although longer, …" or "B (the longer one) repeats …"
    rf"[\"'(\[]*({MENTION})[\"')\]]*[ ]?(?:\([^()]{{0,400}}(?:\)(?={BOUNDARY})|$)|"
    rf"(?!,[ ](?:which|who|although|though|while|whereas|despite|being|with|unlike|like|however|on|in|the|a|"
    rf"an|also|too|"
    rf"even|{MENTION})\b|[,(]){BOUNDARY}|,(?=[ ](?:because|since|as|for|due|given|clearly|definitely|by far|"
    rf"hands down|it|"
    rf"its|their|no doubt|overall|slightly|though only|but only)\b|[ ]?$))",
    re.IGNORECASE,
)
ELLIPTIC = re.compile(
    rf"(?:[^;]*\bnot\b[^;]*; ?(?:but |rather,? |instead,? )?)?({MENTION})[ ](?:is|was|does|did|has|wins)[.!]+"
)
JUDGED = (
    rf"(?:the|this|that|their|its|his|her|candidate's|student's|model's|assistant's|system's|user's|author's)[ ]"
    rf"(?:(?!reference|gold|expected|actual|other|right|true|correct|original|ideal|good|better|best|second|"
    rf"first|third|"
    rf"last|same|is\b|was\b)[\w-]+(?:'s)?[ ]){{0,2}}?"
    rf"(?:{CARRIER}|candidate|claim|text|statement|criterion|requirement|condition|prediction|work|piece|code|proof|"
    rf"argument|report|translation|inference|deduction|submission|message|conversation|content|request|"
    rf"hypothesis|assertion|implementation|patch|attempt)(?:[ ]\([^()]{{0,60}}\))?"
)
IS = (
    r"(?:is|was|are|were|seems|appears|remains|has been|(?:can|must|should|may) be (?=considered|judged|"
    r"deemed|rated|called))"
    r"(?:[ ](?:indeed|also|still|thus|therefore|so|in fact|actually|overall|considered|judged|deemed|rated|"
    r"found|called|as|"
    r"to be|just|not (?:only|just|merely)|clearly|simply|definitely|certainly|hence|again|truly|really|"
    r"factually|plainly|"
    r"obviously|probably|likely|ultimately|then|now|technically|generally))*"
)
PREDICATION = re.compile(
    rf"(?:^|(?<=[,;:] )|\b(?:that|so|therefore|thus|hence|and|but|because|since|as|think|believe|find|"
    rf"conclude|say|although|"
    rf"though|while|is)[ ])(?P<subject>{JUDGED})[ ]{IS}[ ][\"'(\[]*(?P<mention>{MENTION})"
    rf"(?={BOUNDARY}|[\"')\]]|[ ](?:in (?:stating|saying|that|claiming|its)|with|as|according|and|about|when|"
    rf"by|that|to the)\b)"
    rf"(?![^.]*\b(?:if|unless|had it)\b)",
    re.IGNORECASE,
)
PRONOUN_PREDICATION = re.compile(
    rf"\W*(?:(?:yes|no|so|therefore|thus|hence|overall|in truth|in fact|however)\b[,.:;–—-]*[ ])?"
    rf"(?P<subject>it|this|that|this one|they)[ ]{IS}[ ][\"'(\[]*(?P<mention>{MENTION})(?:{BOUNDARY}|"
    rf"(?=[\"')\]]|[ ]either\b))",
    re.IGNORECASE,
)
OPENS_YES_NO = re.compile(r"\W*(?:yes|no)\b[,.:;–—-]+[ ]", re.IGNORECASE)
AGREES = re.compile(  # "Yes, Paris is correct", "No, Paris is not correct": the name is what was judged
    rf"\W*(?P<word>yes|no)\b[,.:;–—-]+[ ](?P<subject>[^:;]{{1,160}}?)[ ]{IS}(?:[ ](?:the|"
    rf"an?))?[ ](?P<mention>{MENTION})",
    re.IGNORECASE,
)
CORRECTION = re.compile(
    r"\b(?:actually|correct(?:ion|ed|ing)|on second thoughts?|on (?:further |closer )?(?:reflection|inspection)|wait|"
    r"reconsider\w*|revis\w+|scratch that|i mis\w+|instead|chang(?:e|ed|ing) my|updated?|final(?:ly)?|overall|"
    r"therefore|thus|"
    r"so|hence|in conclusion|ultimately|in sum(?:mary)?|to conclude|however|upon|after|conclud\w+|i was wrong)\b",
    re.IGNORECASE,
)
RETRACTION = re.compile(  # narrower than CORRECTION: what takes back the words before it, and does not only conclude
    r"(?:^|[.!?;:,—–-][ ]*|\n)(?:no,? |oh,? |but )?(?:actually|wait|correction|scratch that|strike that|"
    r"on second thoughts?|"
    r"on (?:further |closer )?(?:reflection|inspection)|let me (?:correct|revise|reconsider)|i (?:was wrong|"
    r"mis\w+|stand corrected|"
    r"take (?:that|it) back))\b",
    re.IGNORECASE,
)
LISTS_CHOICES = re.compile(r"\b(?:or|if|either|output|print|respond|choose|format|for a)\b", re.IGNORECASE)
EQUAL = re.compile(
    r"\b(?:both|they|the two|these|the)\b[^.;]{0,60}?\b(?:(?:is|are|were|seem|perform(?:ed)?|"
    r"did)[ ](?:\w+ly[ ]|about[ ])?"
    r"(?:equally (?:good|well|bad|poor(?:ly)?|strong|weak|valid|matched|helpful|correct)|tied|equal|on (?:a )?par|"
    r"of (?:equal|the same|similar|comparable) (?:quality|standard|value|merit)|the same|indistinguishable|"
    r"equivalent|comparable in quality)|equally well)(?=[ ]?(?:$|[.,;!)]|overall\b|in quality\b|so\b|and\b))"
    r"|\bneither\b[^.;]{0,60}\b(?:better|best|superior|preferable|winner|preferred|wins|"
    r"stands out)\b(?![ ](?:at|in|for|on)\b)"
    r"|\b(?:it|this|the (?:verdict|result|outcome|comparison))(?:'s| is| ends in)(?: \w+)? (?:a tie|tied|"
    r"a draw|a toss-up)\b"
    r"|\bno clear winner\b|\bthere is no (?:winner|difference in quality)\b|\bi (?:call|declare) (?:it|"
    r"this) a (?:tie|draw)\b",
    re.IGNORECASE,
)
GRADED = re.compile(
    rf"({MENTION})[\"')\]]*[ ]?(?:[:=(–—-]|gets|scores|receives)[ ]?(?:[^\W\d]+[:,]?[ ]){{0,2}}\d", re.IGNORECASE
)
BUT = re.compile(rf"\bbut (?:also |maybe )?({MENTION})", re.IGNORECASE)
