"""The offered labels, compiled once: how each is written, compared, and found in prose."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from rapidfuzz import fuzz

from evenhand.errors import InvalidInputError
from evenhand.parsing.cleaning import plain_characters, without_markup
from evenhand.parsing.grammar import BOUNDARY, CARRIER, MENTION, MENTIONED, phrase

# A mention of label i is written as one private character: FIRM + i, or LOOSE + i where the reply has it in lower
# case.
FIRM = 0xF0000
LOOSE = 0x100000
MAX_LABELS = 0xFFFD

_VERB = (
    r"(?:is|was|are|were|has|had|does|did|do|wins?|won|would|will|should|can|could|may|might|must|provides?|provided|"
    r"gives?|gave|offers?|offered|performs?|performed|demonstrates?|shows?|follows?|addresses|answers|answered|and|or|"
    r"nor|over|because|since|as|but|while|for|to|than|by|with|in|on|at|due|given|overall|it|seems|appears|remains|"
    r"stands|comes|came|outperforms|beats|defeats|surpasses|outclasses|tops|deserves|edges|takes|not|better|vs|versus|"
    r"from|also|clearly|slightly|only)"
)
# A Latin label may stand beside Chinese without a space. None of these has a case: while case is ignored, compiling the
# class looks up every character of it, which took four fifths of the time of compiling a label.
_LETTER = r"(?-i:[^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])"
_BEFORE = rf"(?<!{_LETTER})(?<!{_LETTER}-)(?<![nN]/)(?<!\+)"
_AFTER = rf"(?!(?:-|'(?!s\b))?{_LETTER}|[+#%]|-(?: ?[.,;\n]|$))"

_ARTICLES = frozenset({"a", "i", "y", "o", "e"})  # one-letter words of prose
_DETERMINERS = frozenset({"no", "none", "all", "some", "both", "other", "neither", "any", "most", "on", "off", "so"})
_NUMBER = re.compile(
    r"(?<![\w.,+/^])(?<!\d:)(?<!out of )(?<![\w)]\s[+*×/]\s)(?P<sign>(?<!\w)[+-])?(?P<whole>\d+(?:[.,]\d+)?|"
    r"\.\d+)(?:\s?(?:/|out\s+of|of)\s?(?:(?:the|a)\s)?(?:(?:possible|maximum|total)\s(?:of\s)?)?(?P<of>\d+(?:[.,]0+)?)"
    r"(?![\d/]|[.,]\d))?(?![\w+%^/]|[.,]\d| %|:\d| [+*×=] )(?: (?:stars?|points?|pts)\b)?"
)
_RANGE = phrase(
    r"(?:scale\s+)?(?:(?:of|from|between)\s+)?(?<![\w.,/+-])(?P<low>[+-]?\d+(?:\.\d+)?)\s?(?:-|–|—|\.\.|to|and|"
    r"through)\s?(?P<high>[+-]?\d+(?:\.\d+)?)(?![\w/%]|[.,]\d)(?:\s+scale)?"
)
_ENDS_EXPLAINED = phrase(  # "1 is poor and 5 is excellent", "5 = best"
    r"(?<![\w.,/])\d+(?:\.\d+)? ?(?:is|are|being|means?|meaning|indicat\w+|represent\w+|denot\w+|stands for|"
    r"=) ?(?:[^\W\d]+ ){0,4}?[^\W\d]+,? (?:and|to|while|through) \d+(?:\.\d+)? ?(?:is|are|being|means?|meaning|"
    r"indicat\w+|represent\w+|denot\w+|stands for|=)(?= ?[^\W\d])"
)
_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_DENIES = phrase(r"\bnot\b")
_TIES = frozenset({"tie", "tied", "draw", "equal", "same", "both", "neither", "toss up", "no winner", "no preference"})
_TIES |= {"a tie", "equally good", "both equal", "about the same", "equally matched", "no difference"}
_NEGATIVE_PREFIX = r"(?:in|im|il|ir|un|dis|non|mis|not|no)[ -]?"
_ANTONYMS = (
    {"yes": "no", "good": "bad", "pass": "fail", "passed": "failed", "true": "false", "right": "wrong"}
    | {"correct": "wrong", "faithful": "hallucinated", "accept": "reject", "accepted": "rejected"}
    | {"harmful": "harmless", "present": "absent", "success": "failure", "supported": "contradicted"}
)
_SPELLINGS_OF_NA = ("n/a", "na", "n.a", "notapplicable")  # as comparison_key writes them
_EDGE_KEPT = frozenset("+-<>=%#≥≤±$€£&@^/")
_SEPARATORS = re.compile(r"(?<=[^\W_])[\s_\-‐‑–—]+(?=[^\W_])|\s+")
_HEDGES = (
    r"(?: (?:perhaps|maybe|possibly|probably|rather|even|else|just|is it|it is|it's|i would say|i'd say|at (?:best|"
    r"worst)))*"
)
_JOINT = (  # between alternatives: "Yes or No", "Yes (or perhaps No)", "Yes/No", "Yes and No"
    rf"(?P<joint>[\"')\]]*(?: ?[,.…]{{0,3}} ?[(\[]?\b(?:and/)?(?P<or>or|nor)\b{_HEDGES}(?=[\"',(\[ ]),?|"
    r"(?P<bar> ?/|\|)| ?&|,? and\b) ?[\"'(\[]*)"
)
_PROSE = rf"\b(?:{'|'.join(sorted(_DETERMINERS))}|(?-i:[{''.join(sorted(_ARTICLES)).upper()}]))(?!\w)"
_ALTERNATIVES = (
    phrase(rf"(?P<word>{MENTION}|{_PROSE}){_JOINT}(?={MENTION}|{_PROSE})"),
    phrase(rf"(?<={MENTION}){_JOINT}(?P<word>{_PROSE})"),
)
_QUOTING = re.compile(r"[\"'“”„«»‹›「」『』‘’‚`()\[\]{}<>|]+")

NEAR_RATIO = 90.0  # as good as the same
NEAR_LEAD = 5.0  # and clearly ahead of the runner-up
NEAR_WORD_RATIO = 75.0
SHORTEST_NEAR = 5  # below this a single slip is another word
_WORD = re.compile(r"[^\W_]+")


def strip_edges(text: str) -> str:
    """The text without the quotes, brackets, emphasis and punctuation of any script around it."""
    start, end = 0, len(text)
    while start < end and _is_edge(text[start]):
        start += 1
    while end > start and _is_edge(text[end - 1]):
        end -= 1
    return text[start:end]


def _is_edge(character: str) -> bool:
    if character.isalnum() or character in _EDGE_KEPT:
        return False
    return unicodedata.category(character)[0] in "PSZC" or character in "`^~|<>"


def folded(text: str) -> str:
    """The text without its case: what both sides of every look-up pass through.

    The dotted and the dotless i are one letter here, because ``re.IGNORECASE``, which finds the labels in a reply,
    takes them for one; and so are a character and its decomposed form.

    >>> folded("İYİ") == folded("ıyı") == "iyi"
    True
    """
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", text.casefold().replace("i\u0307", "i").replace("ı", "i"))


def comparison_key(text: str) -> str:
    """What of a short text counts when it is compared with a label: letters and digits, in one case and one spacing.

    >>> comparison_key("**Very_Good!**") == comparison_key("very good")
    True
    >>> comparison_key("-1") == comparison_key("1")
    False
    """
    stripped = strip_edges(without_markup(plain_characters(text)).strip())
    if not stripped:
        return folded(re.sub(r"\s+", "", text))
    key = _QUOTING.sub(" ", folded(stripped)).strip() or folded(stripped)
    joiner = " " if any(map(str.isdigit, key)) else ""
    if key[0] in "+-" and joiner:
        return key[0] + _SEPARATORS.sub(joiner, key[1:].strip())
    return _SEPARATORS.sub(joiner, key).strip()


def number_of(text: str) -> Decimal | None:
    """The number that the whole text is, or None. A comma may be the decimal sign: "4,0" is 4."""
    bare = text.strip().replace(",", ".", 1)
    if not re.fullmatch(r"[+-]?(?:\d+(?:\.\d+)?|\.\d+)", bare, re.ASCII):
        return None
    return Decimal(bare).normalize() + 0


@dataclass(frozen=True)
class SoughtLabels:
    """The labels of one question, ready to be found in a reply."""

    given: tuple[str, ...]
    by_key: dict[str, int]
    by_number: dict[Decimal, int]
    scale_top: Decimal | None
    pattern: re.Pattern[str] | None
    by_spelling: dict[str, int]
    comparands: frozenset[int]
    denials: frozenset[int]
    by_bare: dict[str, int]  # "B" for "Response B", where the other labels are called so too
    tie: int | None
    opposites: tuple[int, int] | None  # the two labels, where one denies the other: first the one that is denied

    def mark(self, text: str) -> str:
        """The text with every mention of a label written as one private character; longer labels first."""
        if self.by_number:
            text = _RANGE.sub(self._without_scale, _ENDS_EXPLAINED.sub(" ", text))
            text = _NUMBER.sub(self._mark_number, text)
        text = self.pattern.sub(self._mark_word, text) if self.pattern else text
        for pattern in _ALTERNATIVES:
            text = pattern.sub(self._mark_alternative, text)
        return text

    def _mark_alternative(self, found: re.Match[str]) -> str:
        """One of two labels side by side, without a hedge between: "Yes or maybe No" says neither of them."""
        conjunction = "or" if found["bar"] else found["or"]
        word, joint = found["word"], f" {conjunction} " if conjunction else found["joint"]
        if not MENTIONED.match(word):
            index = self.by_spelling.get(_spelling(word))
            if index is None or (word.islower() and not conjunction):
                return found.group()
            word = chr((LOOSE if word.islower() else FIRM) + index)
        return word + joint if found.start() == found.start("word") else joint + word

    def _without_scale(self, found: re.Match[str]) -> str:
        """The scale itself ("1-5", "from 1 to 5") names no label; any other range names two."""
        ends = (number_of(found.group("low")), number_of(found.group("high")))
        return " " if len(self.by_number) > 2 and ends == (min(self.by_number), self.scale_top) else found.group()

    def _mark_number(self, found: re.Match[str]) -> str:
        index = self.number_index(found)
        return found.group() if index is None else chr(FIRM + index)

    def number_index(self, found: re.Match[str]) -> int | None:
        """The label that a number in the reply is; "4/5" and "4 out of 5" are 4 if 5 is the top of the scale."""
        scale = found.group("of")
        if scale is not None and number_of(scale) != self.scale_top:
            return None
        value = number_of((found.group("sign") or "") + found.group("whole"))
        return None if value is None else self.by_number.get(value)

    def _mark_word(self, found: re.Match[str]) -> str:
        surface = found["label"] or found["carried"]
        index = self.by_spelling.get(_spelling(surface))
        if index is None:
            return found.group()
        written_as_offered = not surface.islower() or (surface == self.given[index] and not surface.isalpha())
        return chr((FIRM if written_as_offered else LOOSE) + index)

    def begins_another(self, index: int) -> bool:
        """Whether another label begins with this one, so that a reply cut off behind it may have meant the other."""
        label = self.given[index].casefold()
        return any(other != index and text.casefold().startswith(label) for other, text in enumerate(self.given))

    def bare_index(self, text: str) -> int | None:
        """The label that the text is without the word that all labels share: "B" where they are Response A and B."""
        return self.by_bare.get(comparison_key(text)) if self.by_bare and len(text) < 20 else None

    def whole_number(self, text: str) -> int | None:
        """The label that the whole text is as a number, or None."""
        found = _NUMBER.fullmatch(strip_edges(text))
        return self.number_index(found) if found and self.by_number else None


def mention_index(character: str) -> int:
    """The index of the label that a private character stands for."""
    code = ord(character)
    return code - LOOSE if code >= LOOSE else code - FIRM


def is_firm(mention: str) -> bool:
    """Whether a label is written as a name, and not as a word of prose in lower case."""
    return ord(mention) < LOOSE


def mentioned(marked: str) -> set[int]:
    """The labels that a marked text mentions."""
    return {mention_index(mention) for mention in MENTIONED.findall(marked)}


def _spelling(label: str) -> str:
    return _SEPARATORS.sub(" ", folded(label)).strip()


def _word_pattern(label: str) -> str:
    """The pattern of one label as a whole word; words of prose that are also labels only where they end a clause."""
    parts = [re.escape(part) for part in _SEPARATORS.split(label.strip())] or [re.escape(label)]
    body = r"[\s_\-]+".join(part for part in parts if part)
    if len(label) == 1 and label.isascii() and label.isalpha():
        if label.casefold() in _ARTICLES:
            follows = rf"(?:{BOUNDARY}|(?='s\b)|(?= *[(\[<>=≻≫])|(?=/)|(?= +{_VERB}\b)|(?= +{MENTION}))"
            return f"(?-i:{body}){follows}"
        return f"(?-i:{body})"
    if _CJK.match(label[0]) or _CJK.match(
        label[-1]
    ):  # written without spaces: only where nothing can be part of the word
        return rf"(?:(?<!\w)|(?<=[是为為は])(?<!不[是为為])){body}(?:(?!\w)|(?=です|だ))"
    if label.casefold() in _DETERMINERS:
        return f"{body}{BOUNDARY}"
    return body


def _compile_pattern(labels: dict[str, int]) -> re.Pattern[str] | None:
    """One pattern for all labels that are words, the longest first."""
    words = sorted(labels, key=len, reverse=True)
    if not words:
        return None
    carried = "(?P<carried>(?!))"
    if names := "|".join(re.escape(word) for word in words if len(word) <= 2 and word.isalnum()):
        carried = (
            rf"(?<!\w){CARRIER}s? *(?:[\(\[\"']\s*)?(?P<carried>(?-i:{names})|(?:{names})(?:(?=[\)\]])|{BOUNDARY}))"
            rf"(?:\s*[\)\]\"'])?{_AFTER}"
        )
    return phrase(rf"{carried}|{_BEFORE}(?P<label>{'|'.join(map(_word_pattern, words))}){_AFTER}")


@lru_cache(maxsize=1024)
def compile_labels(labels: tuple[str, ...]) -> SoughtLabels:
    """Check and compile the labels.

    Raises:
        InvalidInputError: No label, a blank one, or two that are equal but for case and space.
    """
    _check(labels)
    plain = [without_markup(plain_characters(label)) or label.strip() for label in labels]
    numbers = [number_of(label) for label in plain]
    by_number = {value: index for index, value in enumerate(numbers) if value is not None}
    if len(by_number) < sum(value is not None for value in numbers):
        by_number = {}  # "4" and "4.0" are different labels here: only their spelling tells them apart
    words = {label: index for index, label in enumerate(plain) if numbers[index] not in by_number}
    words = {label: index for label, index in words.items() if not MENTIONED.search(label)}
    ties = [index for index, label in enumerate(plain) if _spelling(label) in _TIES]
    return SoughtLabels(
        given=labels,
        by_key=_with_spellings_of_na(_unique([comparison_key(label) for label in labels])),
        by_number=by_number,
        scale_top=max(by_number, default=None),
        pattern=_compile_pattern(words),
        by_spelling={_spelling(label): index for label, index in words.items()},
        comparands=frozenset(
            index for index, label in enumerate(plain) if numbers[index] is None and _names_a_thing(label)
        ),
        denials=frozenset(index for index, label in enumerate(plain) if _DENIES.search(label) is not None),
        by_bare=_bare_names(plain),
        tie=ties[0] if len(ties) == 1 else None,
        opposites=_opposites([_spelling(label) for label in plain]),
    )


def _bare_names(plain: Sequence[str]) -> dict[str, int]:
    """What is left of labels such as "Response A" and "Response B" without the word that they share."""
    parts = [re.fullmatch(rf"({CARRIER})[ _-]?\W?(\w{{1,3}})\W?", label, re.IGNORECASE) for label in plain]
    named = [(folded(part.group(1)), folded(part.group(2)), index) for index, part in enumerate(parts) if part]
    if len(named) < 2 or len({word for word, _, _ in named}) > 1 or len({bare for _, bare, _ in named}) < len(named):
        return {}
    taken = {comparison_key(label) for label in plain}
    return {bare: index for _, bare, index in named if bare not in taken}


def _opposites(spelled: Sequence[str]) -> tuple[int, int] | None:
    """The two labels as (what is denied, its denial), where denying one is the other; None where it is not."""
    if len(spelled) != 2:
        return None
    for first, second in ((0, 1), (1, 0)):
        said, denied = spelled[first], spelled[second]
        if _ANTONYMS.get(said) == denied or re.fullmatch(_NEGATIVE_PREFIX + re.escape(said), denied):
            return first, second
        rest = _DENIES.sub(" ", denied).split()
        if len(rest) < len(denied.split()) and not _DENIES.search(said) and rest and rest[-1] in said:
            return first, second
    return None


def _names_a_thing(label: str) -> bool:
    """Whether a label stands for a thing compared ("A", "Response 1"), so that prose about it is no verdict."""
    return re.search(r"(?<![^\W_])(?:[A-Za-z]|\d+)(?![^\W_])", label) is not None


def _unique(keys: Sequence[str]) -> dict[str, int]:
    return {key: index for index, key in enumerate(keys) if key and keys.count(key) == 1}


def _with_spellings_of_na(by_key: dict[str, int]) -> dict[str, int]:
    """The keys, and for a label that says "not applicable" its other usual spellings; "NA" alone may be a name."""
    offered = [by_key[key] for key in ("n/a", "notapplicable") if key in by_key]
    return {**dict.fromkeys(_SPELLINGS_OF_NA, offered[0]), **by_key} if len(offered) == 1 else by_key


def _check(labels: tuple[str, ...]) -> None:
    if not labels:
        raise InvalidInputError("labels is empty: give at least one label to choose from.")
    if len(labels) > MAX_LABELS:
        raise InvalidInputError(f"{len(labels)} labels are too many: at most {MAX_LABELS} can be told apart.")
    seen: dict[str, str] = {}
    for label in labels:
        if not label.strip():
            raise InvalidInputError(f"Label {label!r} is blank: every label needs text that a reply can name.")
        key = "".join(folded(label).split())
        if key in seen:
            raise InvalidInputError(
                f"Labels {seen[key]!r} and {label!r} are equal but for case and space: rename one of them."
            )
        seen[key] = label


def near_label(text: str, labels: SoughtLabels) -> int | None:
    """The label that the whole text misspells, or None.

    Word by word, so that what turns a label into its opposite or its neighbour is never taken for a slip: the number of
    words is the same, every word begins with the same letter, and short words and numbers are equal.
    """
    stripped = strip_edges(text)
    longest = max(map(len, labels.given))
    if len(stripped) < SHORTEST_NEAR or len(stripped) > longest * 1.3 + 2:
        return None
    read = _WORD.findall(folded(stripped))
    candidates = [_WORD.findall(folded(label)) for label in labels.given]
    scores = [fuzz.ratio(" ".join(read), " ".join(words)) for words in candidates]
    best = scores.index(max(scores))
    runner_up = max((score for index, score in enumerate(scores) if index != best), default=0.0)
    words = candidates[best]
    if scores[best] < NEAR_RATIO or scores[best] - runner_up < NEAR_LEAD or len(" ".join(words)) < SHORTEST_NEAR:
        return None
    return best if len(read) == len(words) and all(map(_same_word, read, words)) else None


def _same_word(read: str, word: str) -> bool:
    if read == word:
        return True
    if len(word) < SHORTEST_NEAR - 1 or any(character.isdigit() for character in read + word):
        return False
    return read[0] == word[0] and fuzz.ratio(read, word) >= NEAR_WORD_RATIO
