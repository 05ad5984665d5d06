"""Words in every script: boundaries of Unicode (UAX 29, section 4), worked by hand."""

import pytest

from evenhand.aggregation.scores import LengthPenalty, count_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 0),
        (" \n", 0),
        ("don't – stop", 3),  # as white space says
        ("안녕하세요 여러분", 2),  # Korean has spaces
        ("今天天气很好", 6),
        ("今天，天气很好！", 6),
        ("𠀋字", 2),  # beyond the basic plane
        ("ひらがな", 4),
        ("コーヒー", 1),
        ("コーヒー、ケーキ", 2),
        ("日本語のテキスト", 5),  # 日 本 語 の テキスト
        ("用Python3写", 3),
        ("ฉันชอบกินข้าว", 4),  # 10 letters
        ("ฉัน กิน", 2),
    ],
)
def test_words_are_counted(text, words):
    assert count_words(text) == words


def test_a_long_chinese_answer_is_penalised():
    penalty = LengthPenalty(free_budget=10, max_cap=30, penalty_at_cap=0.4, exponent=1)
    assert penalty.of("很" * 20) == pytest.approx(0.2)  # halfway between budget and cap
    assert penalty.of("很" * 300) == pytest.approx(0.4)
