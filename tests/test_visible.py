"""What may leave for a terminal or a viewer: everything is shown, nothing obeyed, and no script or emoji is spoilt."""

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.visible import visible, visible_line

UNSEEN = ("Cc", "Cf", "Cs", "Zl", "Zp")


@pytest.mark.parametrize(
    "legitimate",
    [
        "naïve – “quoted” … ½ ∞ │",
        "e\u0301 with a combining mark",
        "שלום and العربية",
        "می\u200cخواهم",  # a joiner that Persian is written with
        "क\u094d\u200dष and ක\u0dca\u200dර",
        "\U0001f469\U0001f3fd\u200d\U0001f680",  # a woman who is an astronaut, of a skin tone
        "\U0001f3f3\ufe0f\u200d\U0001f308 \u2764\ufe0f\u200d\U0001f525 1\ufe0f\u20e3",
        "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",  # the flag of England
        "葛\U000e0100飾区",
        "a replacement \ufffd stays one",
        "two\nlines and a\ttab",
    ],
)
def test_what_belongs_to_a_script_or_an_emoji_stays(legitimate):
    assert visible(legitimate) == legitimate


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", r"\x1b[31mred\x1b[0m"),
        ("\x1b]8;;http://x\x07link", r"\x1b]8;;http://x\x07link"),
        ("\x9b2J\x90", r"\x9b2J\x90"),
        ("over\rwritten \x08\x7f", r"over\x0dwritten \x08\x7f"),
        ("\u202egnp.exe\u2066", r"\u202egnp.exe\u2066"),
        ("al\u200bder", r"al\u200bder"),
        ("al\u200dder", r"al\u200dder"),
        ("al\xadder\ufe0f", r"al\xadder\ufe0f"),
        ("\U0001f600\ufe0f\ufe0e\ufe0f", "\U0001f600\ufe0f" + r"\ufe0e\ufe0f"),
        ("ok\U000e0068\U000e0069", r"ok\U000e0068\U000e0069"),
        ("half \ud83d", r"half \ud83d"),
        ("\u2028\u2029\x85\u3164\ufeff", r"\u2028\u2029\x85\u3164\ufeff"),
    ],
)
def test_what_would_be_obeyed_or_not_seen_is_shown(text, shown):
    assert visible(text) == shown
    assert visible(shown) == shown


@given(st.text())
def test_nothing_unseen_is_left_and_nothing_is_lost(text):
    shown = visible_line(text)
    left = [sign for sign in shown if unicodedata.category(sign) in UNSEEN]
    assert all("\u0600" <= sign <= "\u08ff" or sign in "\u200c\u200d" or ord(sign) > 0x11000 for sign in left)
    written = re.sub(r"\\(?:x..|u....|U.{8})", lambda found: found[0].encode().decode("unicode_escape"), shown)
    again = written.replace(r"\n", "\n").replace(r"\t", "\t")
    assert "\\" in text or again == text


def test_the_two_halves_of_a_name_stay_in_one_line():
    assert visible_line("alder\nevenhand: all is well\t") == r"alder\nevenhand: all is well\t"
