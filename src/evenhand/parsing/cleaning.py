"""Remove from a reply all that is not its text: hidden thinking, special tokens, Markdown, odd code points."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

_WRITTEN_OTHERWISE = str.maketrans({"−": "-", "’": "'", "ʼ": "'"})
_INVISIBLE = re.compile(
    "[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe00-\ufe0f\ufeff\x00-\x08\x0e-\x1f]"
    "|[\ue000-\uf8ff\U000f0000-\U0010ffff]"
)
_SPECIAL = (
    r"<\|(?:im_start|im_end|eot_id|eom_id|end|end_of_text|endoftext|end_of_turn|return|call|start|message|channel|"
    r"begin_of_text|start_header_id|end_header_id|python_tag)\|>(?:(?<=start\|>)\s*assistant\b)?|"
    r"<(?:end_of_turn|start_of_turn|eos|bos)>|</s>|\[/?INST\]"
)
_THINKING = r"(?:think|thinking|thought|thoughts|reasoning|scratchpad|analysis|reflection)"
_MARKER = re.compile(
    rf"(?P<start>(?:^|(?<=\n))[ \t]*(?:<{_THINKING}>|\[THINK\]|◁think▷|<\|begin_of_thought\|>|<seed:think>))|"
    rf"(?P<end></{_THINKING}>|\[/THINK\]|◁/think▷|<\|end_of_thought\|>|</seed:think>)|"
    rf"(?P<channel><\|channel\|>\s*(?P<name>\w+)[^<>|]{{0,60}}<\|message\|>)|(?P<special>{_SPECIAL})",
    re.IGNORECASE,
)
_MARKUP = re.compile(
    r"~~[^~\n]{1,400}~~"  # struck out: taken back
    r"|</?(?:b|i|u|em|strong|span|p|div|center|code|mark)\b[^<>\n]{0,80}>|\*{1,3}|(?<!\w)_{1,3}(?=\w)|"
    r"(?<=[\w.!?:)])_{1,3}(?!\w)|`+|^[ \t]*(?:[-•◦▪+](?=[ \t])|#{1,6}(?=[ \t]))",
    re.MULTILINE | re.IGNORECASE,
)
_LATEX = re.compile(r"\\(?:text|textbf|mathrm|mathbf|textit|mathit)\s*\{([^{}\n]{0,200})\}")
_SPACES = re.compile(r"[^\S\n]+")
_WORD = re.compile(r"\w+")
_FENCE = re.compile(r"(`{3,}|~{3,})[ \t]*[\w+-]*[ \t]*")
_QUOTED_AT_MOST = 60
"""The number of characters behind a marker by which it is found in the shown texts."""


def plain_characters(text: str) -> str:
    r"""Return the text in compatibility form (NFKC), without invisible characters.

    >>> plain_characters("Ａnswer：B\u200b ④")
    'Answer:B 4'
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", _INVISIBLE.sub("", text).translate(_WRITTEN_OTHERWISE))
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def without_markup(text: str) -> str:
    """Return the text without Markdown emphasis, headings, bullets and simple HTML, its spaces folded."""
    if "\\" in text:
        text = _LATEX.sub(r"\1", text)
    return _SPACES.sub(" ", _MARKUP.sub("", text)).strip()


def spoken_words(text: str) -> str:
    """Return the words of a text in one case, each between single spaces, so that two texts can be compared.

    >>> spoken_words("**Verdict:** Good!")
    ' verdict good '
    """
    return f" {' '.join(_WORD.findall(plain_characters(text).casefold().replace('_', ' ')))} "


@dataclass(frozen=True)
class ShownTexts:
    """The texts that the judge was shown for judging."""

    texts: Sequence[str] = ()

    @cached_property
    def folded(self) -> tuple[str, ...]:
        """The texts in one case."""
        return tuple([text.casefold() for text in self.texts])

    @cached_property
    def _words(self) -> tuple[str, ...]:
        return tuple([spoken_words(form(text)) for text in self.texts for form in (str, without_markup)])

    def hold(self, words: str) -> bool:
        """Return whether these words stand in sequence in one of the texts, with any markup."""
        return any(words in text for text in self._words)


NOTHING_SHOWN = ShownTexts()


def unfenced(text: str) -> tuple[int, int]:
    """Return where the content of a reply stands that is one code fence; of any other reply, all of it."""
    start, end = len(text) - len(text.lstrip()), len(text.rstrip())
    fence = _FENCE.match(text, start, end)
    if fence is None or end - len(fence[1]) < fence.end() or not text.endswith(fence[1], fence.end(), end):
        return 0, len(text)
    end -= len(fence[1])
    return (0, len(text)) if fence[1] in text[fence.end() : end] else (fence.end(), end)


def without_thinking(text: str, shown: ShownTexts = NOTHING_SHOWN) -> str | None:
    """Blank out the hidden thinking and the special tokens; every character that is left keeps its place.

    Args:
        text: The reply.
        shown: Where one of these texts holds a marker of thinking, the same marker in the reply,
            followed by the same words, is a quotation and marks nothing.

    Returns:
        None if the thinking never ends, so that no reply was given.

    >>> without_thinking("<think>A? B?</think>B"), without_thinking("A, then</think>B"), without_thinking("<think>A")
    ('                    B', '               B', None)
    """
    if "<" not in text and "[" not in text and "◁" not in text:
        return text
    if text.lstrip()[:1] == "{" or not (found := [each for each in _MARKER.finditer(text) if not _quoted(each, shown)]):
        return text  # JSON keeps its texts apart by itself
    hidden = [each.span() for each in found if each["special"]]
    channels = [each for each in found if each["channel"]]
    if channels:
        finals = [each for each in channels if each["name"].casefold() == "final"]
        if not finals:
            return None
        after = next((each for each in found if each["special"] and each.start() >= finals[-1].end()), None)
        hidden = [(0, finals[-1].end()), (len(text) if after is None else after.start(), len(text))]
    else:
        end = max((each.end() for each in found if each["end"]), default=0)
        starts = [each.start() for each in found if each["start"]]
        first = next((start for start in starts if start < end), 0)
        unended = next((start for start in starts if start >= end), None)
        hidden += [(first, end)]
        if unended is not None:
            hidden += [(unended, len(text))]
            if not _blanked(text, hidden).strip():
                return None
    return _blanked(text, hidden)


def _quoted(marker: re.Match[str], shown: ShownTexts) -> bool:
    """Return whether a marker and the words behind it are repeated from what was judged."""
    sought = marker.group().strip()
    if not any(sought.casefold() in text for text in shown.folded):
        return False
    behind = sought + marker.string[marker.end() : marker.end() + _QUOTED_AT_MOST]
    return any(shown.hold(spoken_words(form(behind)).rstrip()) for form in (str, without_markup))


def _blanked(text: str, spans: Sequence[tuple[int, int]]) -> str:
    for start, end in spans:
        text = text[:start] + re.sub(r"[^\n]", " ", text[start:end]) + text[end:]
    return text
