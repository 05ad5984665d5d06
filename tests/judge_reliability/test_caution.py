import pytest

from evenhand.judge_reliability.panel_report import spread_caution


@pytest.mark.parametrize(("samples", "share"), [(2, "78 %"), (3, "63 %"), (4, "53 %")])
def test_few_draws_say_what_they_cannot_exclude(samples, share):
    # 1 - 0.05^(1/2) = 0.776, 1 - 0.05^(1/3) = 0.632, 1 - 0.05^(1/4) = 0.527
    sentence = spread_caution(samples)
    assert f"{samples} draws" in sentence
    assert share in sentence
    assert "95% confidence" in sentence
