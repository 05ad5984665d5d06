"""Where a label that is mentioned can be meant as the verdict, and where it is denied, compared with or supposed."""

from __future__ import annotations

import re
from typing import Literal

from evenhand.parsing.labels import BOUNDARY, CARRIER, MENTION, Labels, mention_index

_GAP = r"(?:[ ](?!but\b|however\b|it\b|because\b|since\b|that\b|and\b|while\b|whereas\b|so\b|is\b|therefore\b)[\w'-]+)"
_ARTICLE = r"(?:(?:an?|the|that of|option|either|even|as)[ ])*[\"'(\[]*"
_DENIED = re.compile(
    rf"\b(?:not(?![ ](?:only|just|merely)\b)|never|nicht|keine?|"
    rf"no es|n'est pas|pas|não|non|не|none of|neither|nor|no longer|hardly|barely|without|"
    rf"far from|short of|nowhere near)"
    rf"(?:{_GAP}{{0,6}}?)[ ]{_ARTICLE}{MENTION}(?:[\"')\]]*[ ]?(?:,?[ ]?\b(?:or|nor)\b|"
    rf"/)[ ]?{_ARTICLE}{MENTION})*",
    re.IGNORECASE,
)
_NOTHING = re.compile(rf"\bnothing(?:[ ][\w'-]+){{0,6}}[ ]{MENTION}", re.IGNORECASE)
_NOT_IN_CHINESE_OR_JAPANESE = re.compile(
    rf"(?:不是|不选|不選|不为|并非|並非|不应|不會|不会)[\"'「“ ]*{MENTION}|"
    rf"{MENTION}[\"'」” ]*(?:ではな|じゃな|不对|不對|是错)"
)
_COMPARED = re.compile(
    rf"\b(?:than|over|rather than|instead of|compared (?:to|with)|versus|vs\.?|unlike|against|beats|"
    rf"outperforms|outperformed|"
    rf"surpasses|as opposed to|below|exceeds|less than|more than|worse than|lower than|higher than|"
    rf"above)[ ]{_ARTICLE}{MENTION}"
    rf"(?:'s)?(?:[ ]?(?:\bor\b|/)[ ]?{_ARTICLE}{MENTION})*",
    re.IGNORECASE,
)
_SUPPOSED = re.compile(
    rf"\b(?:if|unless|whether|almost|nearly|required for|needed for|enough for|bar for|threshold for|"
    rf"criteria for|definition of|"
    rf"standard (?:of|for)|to be|to reach|to earn|to get|to qualify (?:as|for)|"
    rf"(?<!rating )(?<!choice )(?<!verdict )(?<!score )(?<!answer )(?<!pick )(?<!level )would be|"
    rf"would have been|could be|could have been|"
    rf"might be|may be|might have been|between|either|bordering on|closer to|close to|considered|"
    rf"considering|maybe|perhaps|possibly|verging on|room for|range from|ranging from|argument that|"
    rf"(?:argues|claims|thinks|believes|says|states|contends|suggests|asserts|insists|prefers|chooses|"
    rf"favou?rs)(?:[ ]that)?|"
    rf"(?:options|choices|labels|levels|categories|scale)(?:[ ](?:is|are|of|were|include|:))?:?)"
    rf"(?:[ ](?!but\b|however\b|because\b|so\b|then\b)[\w'-]+){{0,2}}?[ ]{_ARTICLE}{MENTION}"
    rf"(?:[\"')\]]*[ ]?(?:,|/|,?[ ]?\b(?:or|and|to)\b)[ ]?{_ARTICLE}{MENTION})*",
    re.IGNORECASE,
)
_SUBJECT_DENIED = re.compile(
    rf"{MENTION}(?:'s)?(?:[ ]{CARRIER}s?)?[ ](?:(?:also|still|clearly|itself|simply)[ ])?"
    rf"(?:is|was|are|were|does|did|do|has|had|would|will|should|can|could|may|might|must|seems|appears)[ ]"
    rf"(?:be[ ]|have[ ])?(?:(?:also|still|clearly|therefore|thus|simply)[ ])?(?:not(?![ ](?:only|just|"
    rf"merely)\b)|never|no[ ](?:better|longer)|worse|inferior|weaker|"
    rf"too[ ]|wrong|incorrect|unjustified|excluded|ruled out|out of)",
    re.IGNORECASE,
)
_TWO = re.compile(
    rf"[^\w]*?({MENTION})[\"')\]]*[ ]?(?:/|,|&|\bor\b|\band\b)+[ ]?[\"'(\[]*({MENTION})[\"')\].!?]*", re.IGNORECASE
)
_GONE = "×"

_FOLLOWED_BY_END = re.compile(
    rf"[\"')\]]*(?:[ ](?:{CARRIER}|quality|rating|overall|score|performance))?{BOUNDARY}", re.IGNORECASE
)
_PREPOSITION = re.compile(
    r"\b(?:in|of|by|from|for|to|with|than|like|between|on|at|about|into|via|per|see|unlike|while|whereas|"
    r"that|where|and|or|both|"
    r"page|section|figure|table|part|step|question|vitamin|plan|type|point|case|appendix|"
    r"chapter)[ ](?:the[ ])?[\"'(\[]*\Z",
    re.IGNORECASE,
)
_SUBJECT = re.compile(rf"\b(?:{CARRIER}|it|this|text|which|also|clearly|fully|generally)[ ]\Z", re.IGNORECASE)
_COPULA = re.compile(rf"\b(?:{CARRIER}|it|this|text|claim)[ ](?:is|was)[ ](?:\w+ly[ ])?\Z", re.IGNORECASE)
_COMPLEMENT = re.compile(r"[ ](?:with|according|by|relative)\b")
_RATES = re.compile(
    r"\b(?:scor\w*|rat(?:e|es|ed|ing|ings)|grad\w*|mark\w*|giv\w*|gave|assign\w*|award\w*|deserv\w*|"
    r"merit\w*|earn\w*|receiv\w*|"
    r"level|say|verdict|warrant\w*|i'd|choose|select\w*|pick|solid|strong|weak|final(?! answer)|overall|"
    r"definitely|probably)\b"
    r"(?:[ ][\w':/-]+){0,8}?[ ]?[:=]?[ ]?[\"'(\[]*\Z",
    re.IGNORECASE,
)


def _erase(found: re.Match[str]) -> str:
    return re.sub(MENTION, _GONE, found.group())


def standing(sentence: str) -> str:
    """The sentence with the labels erased that it denies, only compares with, or only supposes."""
    if not re.search(MENTION, sentence):
        return sentence
    for pattern in (_SUBJECT_DENIED, _DENIED, _NOTHING, _NOT_IN_CHINESE_OR_JAPANESE, _COMPARED, _SUPPOSED):
        sentence = pattern.sub(_erase, sentence)
    return sentence


def _is_predicate(kept: str, found: re.Match[str]) -> bool:
    """Whether the label is what a sentence says of its subject: "the summary is inconsistent with the source"."""
    before = kept[max(0, found.start() - 40) : found.start()]
    return _COPULA.search(before) is not None and _COMPLEMENT.match(kept, found.end()) is not None


def placed_mentions(kept: str, labels: Labels) -> set[int]:
    """The labels that stand, in what `standing` left of a sentence, where a verdict can stand.

    That is at the end of a clause, or for a label written as offered also inside one ("does a good job" is not Good).
    A number needs a word of rating before it, and a label that stands for a thing compared a short sentence of its own.
    """
    placed: set[int] = set()
    for found in re.finditer(MENTION, kept):
        index = mention_index(found.group())
        ends = _FOLLOWED_BY_END.match(kept, found.end()) is not None
        before = kept[max(0, found.start() - 100) : found.start()]
        if index in labels.comparands:
            fits = ends and len(kept.split()) <= 8 and kept[-1] in ".!。" and not _PREPOSITION.search(before)
        elif index in labels.by_number.values():
            fits = ends and (len(kept.split()) <= 4 or _RATES.search(before) is not None)
        else:
            inside = ord(found.group()) < 0x100000 and before.strip(" \"'([") != ""
            fits = (
                ends
                or inside
                or _is_predicate(kept, found)
                or index in labels.denials
                or _SUBJECT.search(before) is not None
            )
        if fits:
            placed.add(index)
    return placed


def only_mention(pieces: list[str], labels: Labels) -> int | Literal["ambiguous"] | None:
    """The one label that a reply without any statement names; "ambiguous" if it names several, None if none."""
    kept = [standing(piece) for piece in pieces]
    placed = set().union(*(placed_mentions(piece, labels) for piece in kept)) if kept else set()
    if len(pieces) == 1 and not placed:
        placed = placed_mentions(kept[0].rstrip(".") + ".", labels)
    named = {mention_index(mention) for piece in pieces for mention in re.findall(MENTION, piece)}
    if len(placed) == 1:
        (index,) = placed
        firm_rivals = {
            mention_index(mention)
            for piece in kept
            for mention in re.findall(MENTION, piece)
            if ord(mention) < 0x100000
        } - placed
        comparand_rivals = (
            {mention_index(mention) for piece in pieces for mention in re.findall(MENTION, piece)} & labels.comparands
        ) - placed
        return "ambiguous" if firm_rivals or comparand_rivals or any(map(_names_two, pieces)) else index
    return "ambiguous" if len(placed) > 1 or len(named) > 1 else None


def _names_two(piece: str) -> bool:
    """Whether two labels side by side are all that it says: "yes and no"."""
    two = _TWO.fullmatch(piece)
    return two is not None and mention_index(two.group(1)) != mention_index(two.group(2))
