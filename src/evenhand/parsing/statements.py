"""The explicit verdicts of a reply, in order: tags, lead-ins, conclusions, comparisons.

Works on marked text, where each mention of a label is one private character (see `labels`). A statement is *firm*
if it is made as the verdict (a tag, a lead-in, a conclusion), and *plain* if it only compares or rates in passing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from evenhand.parsing.labels import BOUNDARY, CARRIER, MENTION, Labels, mention_index
from evenhand.parsing.mentions import placed_mentions, standing

Outcome = int | Literal["unknown", "ambiguous"]

_CHOICE = r"(?:option|choice|output|response|answer|assistant|model|candidate|one|reply|version|solution|performer|pick|fit)"
_SUPERIOR = r"(?:better|best|superior|preferable|preferred|stronger|strongest|winning)"
_ADVERB = (
    r"(?:clearly|slightly|much|far|by far|significantly|marginally|overall|therefore|thus|also|indeed|still|even|arguably|"
    r"definitely|certainly|somewhat|ultimately|likely|probably|generally|objectively|considerably|substantially|only|"
    r"now|then|hence|more|narrowly|just|considered|judged|deemed|the|a|an|to be|as|being|relatively|actually|clear)"
)
_COPULA = (
    r"(?:is|was|are|were|would be|will be|must be|should be|can be|seems|appears|remains|stands out|emerges|comes out|"
    r"came out|has been|ranks|counts|did|does|performed|performs)"
)
_ENDS = (
    rf"(?=[ ]*(?:$|[.,;:!?)\n\"]|than\b|because\b|since\b|as\b|given\b|overall\b|due\b|here\b|by\b|of the two\b|"
    rf"(?:of|between|among) (?:these|those|them|both|the)\b|for (?:\w+ )?reasons\b|when\b|and\b|but\b|with\b|while\b|although\b|though\b|[-—–]))"
)
_SCOPE = r"(?=[ ]*(?:at|in|for|on|regarding|concerning|from|to)\b)"
_BETTER_OFF = (
    rf"(?:{_SUPERIOR}(?:[ ]overall)?(?:[ ]{_CHOICE})?(?:{_ENDS}|(?P<scope>{_SCOPE}))|"
    rf"(?:winner|right {_CHOICE}|correct {_CHOICE}|clear winner|(?:more )?(?:suitable|appropriate|ideal) {_CHOICE}|"
    rf"(?<=more )\w+(?: and \w+)? {_CHOICE}\b))"
)
_COMPARISON = re.compile(
    rf"(?P<mention>{MENTION})(?:'s)?(?:[ ]{CARRIER}s?)?[ ](?:(?:clearly|also|still|therefore|overall|thus)[ ])?"
    rf"(?:(?:{_COPULA}[ ](?:{_ADVERB}[ ]){{0,5}}{_BETTER_OFF})"
    rf"|(?:provides|provided|gives|gave|offers|offered|has|did|does|delivers|delivered|presents|produced)[ ]"
    rf"(?:{_ADVERB}[ ]){{0,4}}(?:better|best|superior)[ ](?:overall[ ])?(?:answers?|responses?|outputs?|reply|replies|job)"
    rf"|(?:is|was)[ ](?:[\w'-]+[ ]){{1,10}}and[ ](?:is|was)[ ](?:{_ADVERB}[ ]){{0,2}}{_SUPERIOR}{_ENDS}"
    rf"|wins\b|won\b|should win\b|takes the win\b)",
    re.IGNORECASE,
)
_PREFERENCE = re.compile(
    rf"\b(?:(?:i|we)(?:'d|'ll|'m|'ve)?(?:[ ](?:would|will|must|should|am|can|have|shall|do|therefore|thus|hence|rather|"
    rf"personally|ultimately|to|decided|going|say|inclined|also|still|strongly|slightly|now)){{0,4}}|must|would|going|decided to|"
    rf"(?<!\w)my preference is)[ ]?(?:choose|chose|chosen|select|selected|pick|picked|prefer|favou?r|vote(?: for)?|go (?:with|for)|"
    rf"going (?:with|for)|(?<=going )with|went with|recommend|opt for|side with|declare|lean towards?|leaning towards?|"
    rf"choosing|selecting|picking|settle on|settled on|settling on)[ ](?:(?:the|an?|option|for)[ ]){{0,2}}[\"'(\[]?(?P<mention>{MENTION})"
    rf"|\b(?:i|we)[ ](?:find|consider|judge|deem|believe|declare|rate)[ ](?P<judged>{MENTION})[ ]"
    rf"(?:{_ADVERB}[ ]){{0,4}}{_BETTER_OFF}"
    rf"|\bin favou?r of (?:the )?(?P<favoured>{MENTION})|\bsettled? on (?P<settled>{MENTION})|\bin (?P<possessor>{MENTION})'s favou?r\b",
    re.IGNORECASE,
)
_RATING = re.compile(
    rf"(?:\b(?:(?:rate|rating|score|grade|give|giving|gave|assign|award|merit|deserve|earn|receive|get|warrant|qualifie|fall|select|"
    rf"choose|pick|chose)(?:s|d|ed|ing)?|(?:classif(?:y|ies|ied)|(?:judge|evaluate|assess|deem|consider|rank|label|mark|call|"
    rf"categori[sz]e)(?:s|d|ed|ing)?)[ ](?!not\b|than\b|if\b|but\b|and\b)[\w'-]+)[ ]"
    rf"(?:(?!not\b|than\b|if\b)[\w'-]+[ ]){{0,8}}?(?:(?:as|an?|at|of|the|to be|under|into|for|it|is|be)[ ])?"
    rf"|\b(?:score|rating|grade|mark|level)[ ](?:of|is|at|would be|as)[ ](?:an?[ ])?)"
    rf"[\"'(\[]?(?P<mention>{MENTION}){BOUNDARY}",
    re.IGNORECASE,
)
_CONCLUSION = re.compile(
    r"(?:^|[,;:—–-] ?|\band )(?:so|therefore|thus|hence|overall|consequently|accordingly|as a result|in conclusion|conclusion|"
    r"in summary|to sum up|to summarize|to conclude|summary|ultimately|in the end|finally|on balance|all in all|"
    r"all things considered|taking everything|considering (?:all|everything|the above|these|this)|"
    r"for (?:these|this|that|the above) reasons?|given (?:these|this|that|the above|all)|based on (?:the|this|these|my|all)|"
    r"after (?:careful|carefully|considering|evaluating|reviewing|comparing|weighing)|actually|on second thought|"
    r"(?:on|upon) (?:further )?reflection|correction|wait|in my (?:opinion|view|judge?ment)|my)\b"
    r"|\b(?:i|we) (?:conclude|determine|would say|have (?:determined|concluded|decided)|must|would (?:choose|select|pick|rate|give|"
    r"score|go|say|assign)|choose|select|pick|vote|rate|give|assign|am going|will go)\b|\bi'd (?:rate|give|say|go|choose|pick|score)\b",
    re.IGNORECASE,
)
_NOBODY = re.compile(
    r"\bneither\b.{0,80}\b(?:better|best|superior|preferable|winner|preferred)\b"
    r"|\b(?:both|they)\b.{0,80}\bequally\b|\bequally (?:good|bad|well|matched|valid|helpful|poor)\b"
    r"|\b(?:it|this|verdict|result|they|comparison|outcome)(?: \w+){0,3} (?:is|are|as|ends in|be)(?: therefore| thus)? "
    r"(?:a tie|tied|a draw|a toss-up)\b|\bno clear winner\b|\bcan not (?:choose|decide|pick|determine)\b",
    re.IGNORECASE,
)

_FIELD = (
    r"(?:verdict|answer|final|final[_ -]?answer|final[_ -]?verdict|choice|decision|score|rating|selection|selected[_ -]?option|"
    r"selected|option|judge?ment|winner|result|label|preference|grade|evaluation)"
)
_XML = re.compile(rf"<({_FIELD})\b[^<>\n]{{0,80}}>\s*([^<>]{{0,200}}?)\s*</\1>", re.IGNORECASE)
_XML_OPEN = re.compile(rf"<({_FIELD})>[ \t]*([^<>\n]{{1,60}})\s*$", re.IGNORECASE)
_PIPED = re.compile(r"<\|\s*([^<>|\n]{1,60}?)\s*\|>")
_BOXED = re.compile(rf"\$?\\boxed\s*\{{\s*([^{{}}\n]{{1,80}}?)\s*\}}\$?(?P<last>[\s.$*]*$)?")
_BEFORE_LAST_BOX = re.compile(r"(?:^|\n)[ ]*\Z")
_TAG = re.compile(r"\[\[\s*[\"'(]?\s*([^\[\]\n]{1,80}?)\s*[\"')]?\s*\]\](?!\w)")
_REFERENCE_BEFORE = re.compile(rf"(?:\b(?:by|than|from|over|of|to|between|and|or|with)[ ]|{MENTION}[ ]?\()\Z", re.IGNORECASE)
_REFERENCE_AFTER = re.compile(r"'s\b|[ ](?!for\b|because\b|since\b|as\b|in\b|with\b|due\b|given\b|but\b|and\b)[a-z]")
_FIRST_OF_TWO = re.compile(rf"({MENTION})[ ]?(?:>>?|≫|≻)[ ]?({MENTION})")

_STRONG = (
    r"(?:verdict|decision|choice|selection|judge?ment|winner|vote|pick|preference|"
    rf"(?:selected|chosen|preferred|best|better|winning|superior|stronger)(?:[ ](?:{_CHOICE}|label|rating|level|category|grade|score))?|"
    r"selected[_ ]option|(?:final|overall)[_ ](?:evaluation|assessment|conclusion|result|label|level|category|classification|recommendation))"
)
_FAIR = r"(?:answer|score|rating|grade|respuesta|puntuación|antwort|urteil|bewertung|réponse|verdetto|risposta|resposta|ответ|вердикт|оценка|答案|最终答案|评分|判定|回答|評価|選択|选择|선택|정답|평가|الإجابة|الحكم)"
_WEAK = r"(?:evaluation|assessment|conclusion|result|option|label|level|category|classification|recommendation|ranking)"
_LEAD = re.compile(
    rf"(?P<modifiers>(?:\b(?:so|thus|therefore|hence|my|our|the|your|final|overall|ultimate|official|then)[, ]{{1,3}}){{0,5}})"
    rf"(?<![\w-])(?:(?P<strong>{_STRONG})|(?P<fair>{_FAIR})|(?P<weak>{_WEAK}))(?![\w-])"
    rf"(?P<scope>[ ](?:for|of|on|in|regarding|between|to|i)\b[^:.\n]{{0,60}}?)?"
    rf"[ ]?(?:\([^()\n]{{0,30}}\)[ ]?)?(?P<link>(?:(?<![a-z])(?:is|was)[ ]?)?(?:as follows[ ]?)?[:=→|]+|[-–—]+>?|"
    rf"(?<![a-z])(?:(?:is|was)[ ](?:(?:provided|given|offered|delivered)[ ])?(?:by|from)|(?:comes|came)[ ]from|is|was|would be|will be|remains|goes to|should be|must be|es|ist|est|是|为|は)(?![\w-])(?=[ ]|{MENTION}|$))[ ]*",
    re.IGNORECASE,
)
_SOMEBODY_ELSE = re.compile(
    r"(?:\b(?:reference|expected|actual|true|given|provided|first|second|third|original|wrong|incorrect|its|their|his|her|this|that|"
    r"each|every|both|an?|no|model|gold|whose|which|user's|another|same|ideal|possible|any|one)|'s|s')[ ]?\Z",
    re.IGNORECASE,
)
_CORRECT = re.compile(r"\b(?:correct|right|accurate)[ ]?\Z", re.IGNORECASE)
_FILLER = re.compile(
    rf"(?:(?:that|the|an?|is|it|as|for|option|response|output|answer|choice|assistant|clearly|definitely|goes to|rated|therefore,?|thus,?|"
    rf"i|would|choose|select|say|level|score|of|be|to|my|verdict|final|i'd|give|rate|this|and|also|approximately|about|around|:|was)"
    rf"[ ]?(?![^\W_])|[\"'(\[<«“「*=>-])[ ]*",
    re.IGNORECASE,
)
_COORDINATED = re.compile(
    rf"{MENTION}[\"')\]]*[ ]?(?:,[ ]?)?(?:/|-|–|—|&|\bor\b|\band\b|\bto\b|,)[ ]?(?:(?:an?|the|maybe|perhaps|possibly)[ ])*[\"'(\[]*{MENTION}",
    re.IGNORECASE,
)
_ANOTHER = re.compile(  # what names an option, offered or not
    r"\W*(?:(?:an?|that it is|that this is|option|label|the)[ ])*(?:[A-Z][\w'-]*|[+-]?\d[\d.,/]*|tie|draw|neither|both|none|equal|unclear)\W*"
)
_SENTENCE = re.compile(r"(?<=[.!?])[\"')\]]*[ ]+|(?<=[。！？])|\n+")
_HEADING_LEAD = re.compile(rf"^((?:[\w']+[ ]){{0,3}}(?:{_STRONG}|{_FAIR}|conclusion|result|evaluation))[ ]?[:.：]?[ ]*\n\s*", re.IGNORECASE | re.MULTILINE)
_STANDALONE = re.compile(rf"[^\w\U000f0000-\U0010fffd]{{0,4}}({MENTION})[^\w\U000f0000-\U0010fffd:]{{0,4}}")
_OPENING = re.compile(rf"[\"'(\[]*({MENTION})[\"')\]]*(?:{BOUNDARY}|[ ]?[(])")


_SLOT = 300  # characters after a lead-in in which its verdict must stand
_LONGEST = 2000  # a longer sentence is read in pieces, so that the time stays linear in the length of the reply


@dataclass(frozen=True)
class Statement:
    """One verdict as it is stated: an index, ``"unknown"`` (not an offered option) or ``"ambiguous"``.

    Attributes:
        outcome: What is named.
        firm: Whether it is made as the verdict, and not in passing.
        sentence: Where it stands; of firm statements the last one counts.
        slot: The words after a lead-in.
        explicit: Whether a tag, a lead-in or a line of its own names it.
        nobody: Whether it says in words that no side wins, which explains an explicit verdict and does not replace it.
    """

    outcome: Outcome
    firm: bool
    sentence: int
    slot: str = ""
    explicit: bool = False
    nobody: bool = False


def canonical_tags(marked: str) -> str:
    """Every kind of tagged verdict, written as ``[[…]]``."""
    if "<" in marked:
        marked = _XML.sub(lambda tag: f"\n[[{tag.group(2)}]]\n" if len(tag.group(2)) <= 60 else f"\n{tag.group(2)}\n", marked)
        marked = _XML_OPEN.sub(r"\n[[\2]]", marked)
        marked = _PIPED.sub(r"[[\1]]", marked)
    if "\\boxed" in marked:
        marked = _BOXED.sub(_boxed, marked)
    return marked


def _boxed(box: re.Match[str]) -> str:
    is_label = re.fullmatch(rf"[\[(\"']*{MENTION}[\])\"']*", box.group(1)) is not None
    alone = box.group("last") is not None and _BEFORE_LAST_BOX.search(box.string[: box.start()][-40:]) is not None
    return f"[[{box.group(1)}]]" if is_label or alone else box.group()


def sentences(marked: str) -> list[str]:
    """The sentences and lines of the text, a heading such as "Verdict" joined with what it heads."""
    joined = _HEADING_LEAD.sub(r"\1: ", marked)
    pieces = (piece.strip() for piece in _SENTENCE.split(joined) if piece and piece.strip())
    return [piece[start : start + _LONGEST] for piece in pieces for start in range(0, len(piece), _LONGEST)]


def statements(marked: str, labels: Labels) -> list[Statement]:
    """All statements of a verdict, in the order of the text."""
    found: list[Statement] = []
    pieces = sentences(marked)
    for number, piece in enumerate(pieces):
        found.extend(_of_sentence(piece, number, labels))
    if "[[" in marked:
        found.extend(_only_tag(pieces))
    return [*_of_lines(marked, len(pieces)), *_opening(pieces, labels), *found] if pieces else []


def _of_sentence(piece: str, number: int, labels: Labels) -> Iterator[Statement]:
    untagged = _TAG.sub(r"\1", piece) if "[[" in piece else piece
    kept = standing(_FIRST_OF_TWO.sub(r"\1", untagged))
    concludes = _CONCLUSION.search(kept) is not None
    if concludes and _NOBODY.search(kept):
        yield Statement("unknown", True, number, nobody=True)
    if re.search(MENTION, kept):
        yield from _comparisons(kept, number, labels, concludes)
    yield from _leads(kept, number, labels, concludes)
    if "[[" in piece:
        yield from _tags(piece, number)


def _comparisons(kept: str, number: int, labels: Labels, concludes: bool) -> Iterator[Statement]:
    places = [found.start("mention") for found in _COMPARISON.finditer(kept) if concludes or found.group("scope") is None]
    places += [found.start(found.lastgroup or 0) for found in _PREFERENCE.finditer(kept)]
    places += [
        found.start("mention")
        for found in _RATING.finditer(kept)
        if mention_index(found.group("mention")) not in labels.comparands
    ]
    indexes = {mention_index(kept[place]) for place in places}
    ambiguous = any(_one_of_two(kept, place) for place in places)
    if concludes and not indexes:
        indexes = placed_mentions(kept, labels)
        ambiguous = _undecided(kept)
    if indexes:
        ambiguous = ambiguous or len(indexes) > 1
        yield Statement("ambiguous" if ambiguous else indexes.pop(), concludes, number)


def _one_of_two(kept: str, place: int) -> bool:
    """Whether the mention at this place is one of two different labels that stand side by side."""
    return _undecided(kept[place : place + 40].split(".")[0]) and _COORDINATED.match(kept, place) is not None or any(
        pair.end() == place + 1 and _undecided(pair.group()) for pair in _COORDINATED.finditer(kept)
    )


def _undecided(kept: str) -> bool:
    """Whether two different labels stand side by side as alternatives."""
    pair = _COORDINATED.search(kept)
    return pair is not None and len({mention_index(mention) for mention in re.findall(MENTION, pair.group())}) > 1


def _leads(kept: str, number: int, labels: Labels, concludes: bool) -> Iterator[Statement]:
    for lead in _LEAD.finditer(kept):
        before = kept[max(0, lead.start() - 24) : lead.start()]
        colon = ":" in lead.group("link") or not lead.group("link")[0].isalpha()
        mine = any(word in lead.group("modifiers").casefold() for word in ("my", "our", "final", "overall", "ultimate", "official"))
        starts = not before.strip()
        if _SOMEBODY_ELSE.search(before) or (lead.group("link")[0] in "-–—|" and not starts):
            continue
        weighty = lead.group("strong") is not None or mine
        if lead.group("fair") and not colon and not mine and (labels.by_number or not lead.group("modifiers")):
            continue
        if not weighty and not starts and not (colon and lead.group("fair")) and not _CORRECT.search(before):
            if not (lead.group("fair") and lead.group("modifiers")):
                continue
        slot = kept[lead.end() : lead.end() + _SLOT]
        outcome = resolve(slot, labels)
        if outcome == "unknown":
            another_option = (_is_short(slot, 5) if colon else _ANOTHER.fullmatch(slot) is not None) and (
                bool(labels.by_number) or not re.match(r"\W*\d", slot)
            )
            if lead.group("weak") is not None or not (weighty or starts) or not another_option:
                continue
        if outcome is not None:
            firm = concludes or not (lead.group("scope") or (_CORRECT.search(before) and not mine))
            yield Statement(outcome, firm, number, slot.strip(), explicit=True)


def _is_short(slot: str, words: int) -> bool:
    return 0 < len(slot.split()) <= words


def resolve(slot: str, labels: Labels) -> Outcome | None:
    """What the words after a lead-in name; None if they say nothing about the options."""
    rest = slot
    while (filler := _FILLER.match(rest)) is not None and filler.end():
        rest = rest[filler.end() :]
    first = re.match(MENTION, rest)
    mentioned = {mention_index(mention) for mention in re.findall(MENTION, slot)}
    if first is not None:
        if _COORDINATED.match(rest) and _undecided(rest):
            return "ambiguous"
        return mention_index(first.group())
    if not mentioned:
        return "unknown" if slot.strip(" \"'.") else None
    compared = {mention_index(found.group("mention")) for found in _COMPARISON.finditer(slot)}
    compared = compared or placed_mentions(slot, labels)
    if len(compared) == 1 and not _undecided(slot):
        return compared.pop()
    return "ambiguous" if len(mentioned) > 1 and len(slot.split()) <= 12 else None


def _tags(piece: str, number: int) -> Iterator[Statement]:
    """The tags of one sentence that are verdicts and not references such as "[[B]]'s answer"."""
    outcomes: list[Outcome] = []
    for tag in _TAG.finditer(piece):
        if _REFERENCE_BEFORE.search(piece[max(0, tag.start() - 12) : tag.start()].replace("[[", "")) or _REFERENCE_AFTER.match(
            piece, tag.end()
        ):
            continue
        inside = standing(_FIRST_OF_TWO.sub(r"\1", tag.group(1)))
        named = {mention_index(mention) for mention in re.findall(MENTION, inside)}
        outcomes.append("unknown" if not named else "ambiguous" if len(named) > 1 else named.pop())
    if outcomes:
        yield Statement(outcomes[0] if len(set(outcomes)) == 1 else "ambiguous", True, number, explicit=True)


def _only_tag(pieces: list[str]) -> Iterator[Statement]:
    """A tag inside a sentence ("[[B]] answers more fully") is a verdict if no other label is tagged anywhere."""
    tagged = [(number, tag.group(1)) for number, piece in enumerate(pieces) for tag in _TAG.finditer(piece)]
    named = {mention_index(mention) for _, text in tagged for mention in re.findall(MENTION, text)}
    if len(named) == 1 and all(re.search(MENTION, text) for _, text in tagged):
        yield Statement(named.pop(), True, tagged[-1][0], explicit=True)


def _of_lines(marked: str, last: int) -> Iterator[Statement]:
    """A label that has the first or the last line for itself; a label that heads a section does not."""
    lines = [line.strip() for line in marked.split("\n") if line.strip()]
    alone = {line: mention_index(found.group(1)) for line in lines if (found := _STANDALONE.fullmatch(line))}
    if len(set(alone.values())) == 1 and lines[0] in alone and len(lines) > 1:
        yield Statement(alone[lines[0]], False, 0)
    if lines and lines[-1] in alone:
        yield Statement(alone[lines[-1]], True, last, explicit=True)


def _opening(pieces: list[str], labels: Labels) -> Iterator[Statement]:
    """A reply that begins with a label and goes on to explain it: "No, the response …", "4 - mostly right"."""
    first = standing(pieces[0])
    if len(re.sub(r"\W", "", first)) < 2 and len(pieces) > 1 and not pieces[0].endswith((".", "!")):
        return
    opening = _OPENING.match(first)
    if opening is None or (_COORDINATED.match(first) and _undecided(first)):
        return
    exclaims = pieces[0].endswith("!") and len(pieces) > 1  # "Excellent! Let me evaluate the response."
    if exclaims and set().union(*(placed_mentions(standing(piece), labels) for piece in pieces[1:])) - {mention_index(opening.group(1))}:
        return
    others = {mention_index(found.group(1)) for piece in pieces[1:] if (found := re.match(rf"({MENTION})[ ]?[:)]", piece))}
    index = mention_index(opening.group(1))
    if not others - {index}:
        yield Statement(index, False, 0)
