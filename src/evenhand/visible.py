r"""Escaping of external texts: characters that a terminal or viewer would obey or hide are shown instead.

Names, labels, replies and the bodies of servers' errors may hold escape sequences, control characters, marks that turn
the order of what follows, and characters that cannot be seen. Each is written as Python writes it (``\x1b``,
``\u202e``), so that no two names look the same. What belongs to a script or an emoji stays as it is.
"""

from __future__ import annotations

import re
from typing import Final

_EMOJI: Final = "\u00a9\u00ae\u203c\u2049\u2122-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
_JOINED_LETTERS: Final = "\u0600-\u08ff\u0900-\u109f\u1780-\u17b3\u17b6-\u17ff\u1807-\u180a\u1820-\u18af\ua800-\uabff"
_VIRAMAS: Final = "\u094d\u09cd\u0a4d\u0acd\u0b4d\u0c4d\u0ccd\u0d4d\u0dca\u1039\u17d2"
_IDEOGRAPHS: Final = "\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_FLAGS: Final = "|".join(  # of England, Scotland and Wales, which are spelled in tags
    "\U0001f3f4" + "".join(chr(0xE0000 + ord(letter)) for letter in region) + "\U000e007f"
    for region in ("gbeng", "gbsct", "gbwls")
)
_BELONGS: Final = "|".join(
    (
        _FLAGS,
        f"(?<=[{_EMOJI}\ufe0f])\u200d(?=[{_EMOJI}])",
        f"(?<=[{_EMOJI}])[\ufe0e\ufe0f]",
        "(?<=[#*0-9])\ufe0f(?=\u20e3)",
        f"(?<=[{_JOINED_LETTERS}])[\u200c\u200d](?=[{_JOINED_LETTERS}])",
        f"(?<=[{_VIRAMAS}])[\u200c\u200d]",
        f"(?<=[{_IDEOGRAPHS}])[\ufe00-\ufe02\U000e0100-\U000e01ef]",
        "(?<=[\u1820-\u18aa])[\u180b-\u180d\u180f]",
    )
)
_CONTROLS: Final = "\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufff9-\ufffb\ufffe\uffff"
_DIRECTIONS: Final = "\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f"
_UNSEEN: Final = (
    "\xad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200d\u2060-\u2065\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_ESCAPED: Final = re.compile(f"(?P<belongs>{_BELONGS})|[{_CONTROLS}{_DIRECTIONS}{_UNSEEN}]")


def visible(text: str) -> str:
    r"""Return the text with every character shown; lines and tabs stay.

    >>> print(visible("\x1b[2Jall is \u202ewell"))
    \x1b[2Jall is \u202ewell
    """
    plain = text.isascii() and text.replace("\n", "").replace("\t", "").isprintable()
    return text if plain else _ESCAPED.sub(_escape, text)


def visible_line(text: str) -> str:
    r"""Return the same in one line: as what names something, or stands in a cell.

    >>> print(visible_line("alder\nbirch"))
    alder\nbirch
    """
    return visible(text).replace("\n", r"\n").replace("\t", r"\t")


def _escape(found: re.Match[str]) -> str:
    if found["belongs"] is not None:
        return found[0]
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
