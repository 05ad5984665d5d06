"""Two results on the same rows: tests worked by hand and by scipy, which verdicts changed, and how that is printed."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

import evenhand
from evenhand.results.compare import ConfoundedComparisonWarning, compare_rows
from evenhand.statistics.intervals import IntervalLevel
from tests.support.judges import ScriptedJudge

QUIET = {"journal": None, "progress": False, "check_positional_bias": False, "max_reasks": 0}
POLITE = evenhand.Criterion(
    name="polite",
    description="How polite?",
    options=[evenhand.Option(label=label, value=value) for label, value in (("very", 5), ("so-so", 3), ("rude", 1))],
)


def assessed(said, **more):
    """A result in which the judge selects what each response says."""
    rows = [{"id": name, "answer": text} for name, text in said.items()]
    judge = ScriptedJudge(lambda request: request.question.responses[0], name=more.pop("name", "reads"))
    how = {"flow": "verdict_only", "id_field": "id", "max_failure_rate": 1.0, **QUIET, **more}
    return evenhand.judge(rows, POLITE, judge, response_fields="answer", **how)


def plain(values):
    return [{"instance": row, "system": "a", "score": value, "selected": value} for row, value in enumerate(values)]


def compared(one, other, clusters=()):
    return compare_rows(
        plain(one),
        plain(other),
        ("instance", "system"),
        ("score", "selected"),
        level_over=lambda rows: IntervalLevel(0.95, [clusters[row] for row in rows] if clusters else None),
        range_of=lambda group: (0.0, 1.0),
    )


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.sampled_from([0.0, 1.0]), st.sampled_from([0.0, 1.0])), min_size=1, max_size=60))
def test_two_valued_scores_are_compared_by_mcnemars_exact_test(pairs):
    one, other = zip(*pairs, strict=True)
    found = compared(one, other)["a",]
    up, down = sum(a < b for a, b in pairs), sum(a > b for a, b in pairs)
    assert (found.test, found.higher, found.lower) == ("sign-flip test", up, down)
    assert found.p_value == pytest.approx(binomtest(up, up + down, 0.5).pvalue if up + down else 1.0)
    assert found.difference.estimate == pytest.approx((up - down) / len(pairs))


def test_rows_that_belong_together_and_scores_of_more_values_keep_the_sign_flips():
    one, other = [1.0, 1.0, 0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    alone, together = compared(one, other), compared(one, other, clusters="aabbcc")
    assert alone["a",].p_value == pytest.approx(2 / 2**4)  # four rows, all lower
    assert together["a",].p_value == pytest.approx(2 / 2**2)  # they are two clusters
    assert together["a",].test == "sign-flip test over clusters"
    assert compared([0.0, 0.5, 1.0], [1.0, 1.0, 1.0])["a",].test == "sign-flip test"


def test_the_verdicts_that_changed_are_named_by_their_rows_the_greatest_change_first():
    one = assessed({"p": "very", "q": "so-so", "r": "very", "s": "rude", "t": "?"}, name="old")
    other = assessed({"s": "rude", "r": "rude", "q": "very", "new": "very", "t": "very", "p": "very"}, name="new")
    with pytest.warns(ConfoundedComparisonWarning):
        found = one.compare(other)
    assert [(each.row, each.before.selected, each.after.selected) for each in found.changes] == [
        ("r", "very", "rude"),
        ("q", "so-so", "very"),
    ]
    r, q = found.changes
    assert (r.before.score, r.after.score, r.size, q.size) == (5, 1, 1.0, 0.5)
    assert dict(r.about) == {"system": "answer", "criterion": "polite"}
    assert (r.before.name, r.after.name) == ("2/answer/polite", "1/answer/polite")
    assert one[r.before.name].views[0].selected == "very"
    assert other[r.after.name].views[0].selected == "rude"
    assert found.n_questions == 4  # p, q, r and s: of t nothing was read in the first, and new is in the second alone
    assert found.changed == ("judge (old → new)", "what was shown (on 3 of 5 rows)")
    group = found.groups["answer", "polite"]
    # p 0, q +2, r -4, s 0; t has one score, and new is in one only
    assert group.difference.estimate == pytest.approx((2 - 4) / 4)
    assert (group.n_compared, group.n_set_aside, group.n_unmatched, group.higher, group.lower) == (4, 1, 1, 1, 1)
    printed = found.to_markdown()
    assert "Verdicts that changed: 2 of 4 questions that both answered" in printed
    assert "| r | answer | polite | very → rude | 5.00 | 1.00 |" in printed
