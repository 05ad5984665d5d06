"""Take from a reply what is not the judge's own word: hidden thinking, quotations, Markdown, odd code points."""

from __future__ import annotations

import json
import re
import unicodedata

from evenhand.parsing.grammar import SPEAKER, SPEAKS, VERDICT, phrase

_FRACTIONS = str.maketrans({"½": ".5", "¼": ".25", "¾": ".75", "−": "-", "’": "'", "ʼ": "'"})
_INVISIBLE = re.compile(
    "[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe00-\ufe0f\ufeff\x00-\x08\x0e-\x1f]"
    "|[\ue000-\uf8ff\U000f0000-\U0010ffff]"  # private characters: `labels` writes mentions with them
)
_CONTRACTION = phrase(r"\b(ca|wo|sha|ai|[a-z]{2,6})n't\b|\bcannot\b")
_IRREGULAR = {"ca": "can", "wo": "will", "sha": "shall", "ai": "is"}

_NOT_COMPATIBLE = re.compile(  # a raised or lowered character is not the plain one: x² is not x2
    "([\u00aa\u00b2\u00b3\u00b9\u00ba\u02b0-\u02b8\u02e0-\u02e4\u1d2c-\u1d6a\u1d78\u1d9b-\u1dbf\u2070-\u209c\u2c7c\u2c7d]+)"
)
_ESCAPED = re.compile(r"(?:\\u(?!00[0-7])[0-9a-fA-F]{4})+")

_CHANNEL = re.compile(r"<\|channel\|>\s*(\w+)[^<>|]{0,60}<\|message\|>")
_SPECIAL = re.compile(
    r"<\|(?:im_start|im_end|eot_id|eom_id|end|end_of_text|endoftext|end_of_turn|return|call|start|message|channel|"
    r"begin_of_text|start_header_id|end_header_id|python_tag)\|>(?:(?<=start\|>)\s*assistant\b)?|"
    r"<(?:end_of_turn|start_of_turn|eos|bos)>|</s>|\[/?INST\]"
)
_THINKING_NAMES = r"(?:think|thinking|thought|thoughts|reasoning|scratchpad|analysis|reflection)"
_THINKING_END = phrase(rf"</{_THINKING_NAMES}>|\[/THINK\]|◁/think▷|<\|end_of_thought\|>|</seed:think>")
_THINKING_START = phrase(
    rf"(?:^|\n)[ \t]*(?:<{_THINKING_NAMES}>|\[THINK\]|◁think▷|<\|begin_of_thought\|>|<seed:think>)"
)

BLOCK_QUOTE = re.compile(r"^[ \t]*>.*$", re.MULTILINE)
_LAST_QUOTE = re.compile(r"(?:^|\n)(?P<lines>(?:[ \t]*>[^\n]*\n?)+)\s*\Z")
_QUOTE_SIGN = re.compile(r"^[ \t]*>+[ \t]?", re.MULTILINE)
_VERDICT_IN_QUOTE = phrase(rf"\b{VERDICT}\b[*_ ]*[:=]|\[\[")
_OF_OTHERS = phrase(
    r"\b(?:ignor|disregard|plant|inject|quot|wrote|writ|says?\b|said|reads?\b|instruct|attempt|manipulat|contain|"
    r"include|ends?\b|append|claim|print|follow)"
)
_OWN_VERDICT = phrase(
    r"(?:\A|[.!?\n;,]\s*|\b(?:so|thus|therefore|my|final|overall|the|is)\s+)(?:(?:my|the|final|overall|"
    rf"so)\s+){{0,3}}{VERDICT}\s*(?:is|[:=–—-])*\s*\Z"
)
_FENCE = re.compile(r"^[ \t]*(```+|~~~+)[ \t]*([\w+-]*)[ \t]*\n(.*?)(?:^[ \t]*\1[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_SPEECH = rf"(?:{SPEAKS}|following|word|words|phrase|line|sentence|statement|string|text)"
_INTRODUCES_QUOTATION = phrase(
    rf"\b{_SPEECH}\b[^.!?\n\"“«]{{0,40}}\Z|\b(?:the|this|its|their|\w+'s)\s+(?!answer|output){SPEAKER}"
    r"(?:'s text)?\s*\Z"
)
_LONG_QUOTATION = re.compile(
    r"(?<!\w)\"(?=\S)[^\"]{1,4000}\"(?!\w)|“[^”“]{1,4000}”|„[^“”„]{1,4000}[“”]|«[^»«]{1,4000}»|"
    r"「[^」「]{1,4000}」|『[^』『]{1,4000}』|‹[^›‹]{1,4000}›|(?<![\w'])'(?=\w)(?:[^'\n]|"
    r"(?<=\w)'(?=\w)){1,600}'(?![\w'])"
)
_TAGGED = phrase(
    r"(?P<comment><!--.*?(?:-->|\Z))|\[\[[^\[\]\n]{1,80}\]\]|"
    r"<(?P<name>[a-z]\w{1,30})\b[^<>\n]{0,80}>[^<>]{0,400}</(?P=name)>|<\|[^<>|\n]{1,60}\|>|\\boxed\{[^{}\n]{1,80}\}",
    re.DOTALL,
)
_OTHERS_WORDS = phrase(  # what leads, without a comma, to words that somebody else wrote
    rf"(?:\b{SPEAKER}|(?<!\w)\(?\w\)?|[\U000f0000-\U0010fffd])(?:'s(?: \w+)?)?(?: (?!i\b|we\b|"
    rf"my\b)[\w'-]+){{0,6}}? {SPEAKS}(?: (?!i\b|we\b|my\b)[\w'-]+){{0,6}} ?:?[ \n\"'“]*\Z"
)
_OF_THE_JUDGE = phrase(r"\b(?:i|my|we|our|final|so|therefore|thus|hence|overall)\b")
_BLANK_LINE = re.compile(r"\n[ \t]*\n")

_MARKUP = phrase(
    r"~~[^~\n]{1,400}~~"  # struck out: taken back
    r"|</?(?:b|i|u|em|strong|span|p|div|center|code|mark)\b[^<>\n]{0,80}>|\*{1,3}|(?<!\w)_{1,3}(?=\w)|"
    r"(?<=[\w.!?:)])_{1,3}(?!\w)|`+|^[ \t]*[-•◦▪+](?=[ \t])",
    re.MULTILINE,
)
_HEADING = re.compile(r"^[ \t]{0,3}#{1,6}[ \t]+(.*?)[ \t]*$", re.MULTILINE)
_LATEX = re.compile(r"\\(?:text|textbf|mathrm|mathbf|textit|mathit)\s*\{([^{}\n]{0,200})\}")
_BREAK = phrase(r"<br\s*/?>")
_SPACES = re.compile(r"[^\S\n]+")


def _expand(contraction: re.Match[str]) -> str:
    stem = contraction.group(1)
    if stem is None:
        return "can not"
    return f"{_IRREGULAR.get(stem.casefold(), stem)} not"


def _unescaped(escapes: re.Match[str]) -> str:
    """Characters that JSON escapes, pairs of surrogates joined."""
    units = bytes.fromhex(escapes.group().replace("\\u", ""))
    return units.decode("utf-16-be", "replace")


def _compatible(text: str) -> str:
    """NFKC, but for raised and lowered characters."""
    parts = _NOT_COMPATIBLE.split(text)  # the odd ones are kept
    return "".join(part if place % 2 else unicodedata.normalize("NFKC", part) for place, part in enumerate(parts))


def plain_characters(text: str) -> str:
    r"""The text in compatibility form, without invisible characters, with contractions of "not" written out.

    >>> plain_characters("Ａnswer：isn’t\u200b ④")
    'Answer:is not 4'
    """
    if "\\u" in text:
        text = _ESCAPED.sub(_unescaped, text)
    if not text.isascii():
        text = _compatible(_INVISIBLE.sub("", text).translate(_FRACTIONS)).translate(_FRACTIONS)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "n't" in text or "N'T" in text or "annot" in text:
        text = _CONTRACTION.sub(_expand, text)
    return text


def without_thinking(text: str) -> str | None:
    """The reply after the hidden thinking; None if the thinking never ends, so that no reply was given.

    >>> without_thinking("<think>A? B?</think>B"), without_thinking("A, then</think>B"), without_thinking("<think>A")
    ('B', 'B', None)
    """
    parts = spoken_parts(text)
    if parts is None:
        return None
    spoken = "\n".join(text[start:end] for start, end in parts)
    return _SPECIAL.sub("", spoken) if "<" in spoken or "[" in spoken else spoken


def is_json(text: str) -> bool:
    """Whether a reply is one JSON object or list, in a code fence or not."""
    stripped = text.strip()
    if stripped.startswith("```") and stripped.endswith("```"):
        stripped = stripped.strip("`").removeprefix("json").strip()
    if stripped[:1] not in {"{", "["}:
        return False
    try:
        json.loads(stripped)
    except (ValueError, RecursionError):
        return False
    return True


def spoken_parts(text: str) -> tuple[tuple[int, int], ...] | None:
    """Where the reply stands around the hidden thinking; None if the thinking never ends."""
    if "<" in text and is_json(text):  # whose reasons may quote the end of somebody's thinking
        return ((0, len(text)),)
    if "<|channel|>" in text:
        return _final_channel(text)
    if "<" not in text and "[/THINK]" not in text and "[THINK]" not in text and "◁" not in text:
        return ((0, len(text)),)
    ends = list(_THINKING_END.finditer(text))
    thought_until = ends[-1].end() if ends else 0
    before = text[: ends[-1].start()] if ends else ""
    start = _THINKING_START.search(before)
    parts = [(0, start.start())] if start is not None and before[: start.start()].strip() else []
    unended = _THINKING_START.search(text[thought_until:])
    parts.append((thought_until, len(text) if unended is None else thought_until + unended.start()))
    if unended is not None and not any(text[first:last].strip() for first, last in parts):
        return None
    return tuple(parts)


def _final_channel(text: str) -> tuple[tuple[int, int], ...] | None:
    """The last message of the channel that is meant for the reader; None if there is none."""
    channels = list(_CHANNEL.finditer(text))
    finals = [channel for channel in channels if channel.group(1).casefold() == "final"]
    if not finals:
        return None if channels else ((0, len(text)),)
    start = finals[-1].end()
    end = _SPECIAL.search(text, start)
    return ((start, len(text) if end is None else end.start()),)


def introduces_quotation(before: str) -> bool:
    """Whether the words before a quotation say that it is somebody else's text."""
    return _INTRODUCES_QUOTATION.search(before[-120:].rstrip().rstrip(":,").rstrip()) is not None


def without_fences(text: str) -> str:
    """The text with code fences opened, if they hold the judge's own words, or removed, if they hold quoted ones."""
    if "```" not in text and "~~~" not in text:
        return text

    def open_or_remove(fence: re.Match[str]) -> str:
        line = text[max(0, fence.start() - 160) : fence.start()].rstrip().rpartition("\n")[2]
        body = fence.group(3).strip()
        own = not introduces_quotation(line) and (
            body.startswith("{") or len(body) <= 80 or not (text[: fence.start()] + text[fence.end() :]).strip()
        )
        return f"\n{body}\n" if own else "\n"

    return _FENCE.sub(open_or_remove, text)


def without_quotations(text: str) -> str:
    """The text without what it quotes: block quotes, and quotations of more than a few words or of another's speech.

    A short quotation such as "Good" stays, unless the words before it say whose it is: a judge may well
    put its own verdict in quotation marks.
    """
    if ">" in text:
        last = _LAST_QUOTE.search(text)
        own = last is not None and _is_own_quote(text[: last.start()].rstrip(), last.group("lines"))
        kept = _QUOTE_SIGN.sub("", last.group("lines")) if last is not None and own else ""
        text = BLOCK_QUOTE.sub("", text if last is None else text[: last.start()] + "\n") + kept

    def keep_or_remove(quotation: re.Match[str]) -> str:
        inside = quotation.group()
        line = text[max(0, quotation.start() - 120) : quotation.start()].rpartition("\n")[2]
        introduced = introduces_quotation(line)
        own = not introduced and (_OWN_VERDICT.search(line) or _BLANK_LINE.search(inside))
        quoted = introduced or ":" in inside or len(inside.split()) > 4
        return ' "" ' if quoted and not own else inside

    if "<" in text or "[[" in text or "\\boxed" in text:
        text = _TAGGED.sub(_unless_anothers, text)
    return _LONG_QUOTATION.sub(keep_or_remove, text)


def _unless_anothers(tagged: re.Match[str]) -> str:
    """A tagged verdict, unless it is a comment in HTML or the words before it say that another's text contains it."""
    return ' "" ' if tagged.group("comment") or are_others_words(tagged.string, tagged.start()) else tagged.group()


def are_others_words(text: str, start: int) -> bool:
    """Whether the words of the sentence before a place say that somebody else wrote what stands there.

    >>> are_others_words("The response ends with Verdict: Good", 23), are_others_words("It ends. Verdict: Good", 9)
    (True, False)
    """
    before = re.split(r"[.!?]\s|\n\s*\n", text[max(0, start - 160) : start])[-1]
    return _OTHERS_WORDS.search(before) is not None and _OF_THE_JUDGE.search(before) is None


def _is_own_quote(before: str, lines: str) -> bool:
    """Whether the block quote that closes a reply sets off the judge's own verdict."""
    paragraph = before[before.rfind("\n\n") + 1 :][-400:]
    return _VERDICT_IN_QUOTE.search(lines) is not None and _OF_OTHERS.search(paragraph) is None


def without_markup(text: str) -> str:
    """The text without Markdown emphasis, headings, bullets and simple HTML, its spaces folded and its lines kept."""
    if "\\" in text:
        text = _LATEX.sub(r"\1", text)
    text = _MARKUP.sub("", _BREAK.sub("\n", text))
    if "#" in text:  # a heading heads what follows, as a colon does
        text = _HEADING.sub(_as_heading, text)
    return _SPACES.sub(" ", text).strip()


def _as_heading(heading: re.Match[str]) -> str:
    """The words of a heading with a colon, also behind a tag such as ``<|Assistant A|>`` if anything follows it."""
    words = heading.group(1)
    names = words.endswith("|>") and bool(heading.string[heading.end() :].strip())
    return words + ":" * (words[-1:].isalnum() or names)
