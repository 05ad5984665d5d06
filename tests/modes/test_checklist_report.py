"""What many checked responses come to, worked by hand."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.aggregation.verdict import VoteRules
from evenhand.criteria import Checklist, ChecklistItem
from evenhand.modes.checklist import ChecklistResult, report_checklists
from evenhand.numbers import Missing
from evenhand.results.measures import measures_of
from evenhand.votes import Usage, Vote

INDEX = {"yes": 0, "no": 1, "na": 2, None: None}


def checklist_of(*questions, name="l", **fields):
    return Checklist(
        name=name,
        items=tuple(
            each if isinstance(each, ChecklistItem) else ChecklistItem(question=each, na=True) for each in questions
        ),
        **fields,
    )


def result(checklist, *answers, metric="pass", reasks=0):
    votes = [
        [
            Vote(
                judge_id="a",
                order=(0, 1, 2),
                selected_index=INDEX[answer],
                na=answer == "na",
                unscored_reason="empty" if answer is None else None,
                usage=Usage(calls=1),
                reasks=reasks,
            )
        ]
        for answer in answers
    ]
    items = tuple(item.model_copy(update={"na": True}) for item in checklist.items)
    return ChecklistResult.of(checklist.model_copy(update={"items": items}), votes, metric, VoteRules())


ABC = checklist_of(
    ChecklistItem(name="a", question="A?", weight=3, category="x"),
    ChecklistItem(name="b", question="B?", weight=1),
    ChecklistItem(name="c", question="C?", weight=0, category="x"),
)


def every_score(results):
    """Name -> measure, of the report, its items and its categories, but for what says of itself what it supposes."""
    report = report_checklists(results)
    named = [("", report), *((item.label, item) for item in report.items)]
    named += [(category.category, category) for category in report.categories]
    return {
        f"{name}.{each.name}": each
        for name, part in named
        for each in measures_of(part)
        if each.kind == "score" and "if_unscored" not in each.name and each.name != "spread"
    }


LATER = st.sampled_from(["yes", "no"])


@settings(deadline=None, max_examples=30)
@given(st.data(), st.sampled_from(["pass", "weighted"]))
def test_every_score_lies_within_its_bounds_for_any_unscored_answers(data, metric):
    needs = checklist_of(
        ChecklistItem(name="a", question="A?", weight=3, category="x"),
        ChecklistItem(name="b", question="B?", weight=1, prerequisites=("a",)),
        ChecklistItem(name="c", question="C?", weight=0, category="x"),
    )
    rows = data.draw(st.lists(st.tuples(*[st.sampled_from(["yes", "no", "na", None])] * 3), min_size=2, max_size=8))
    read = [[data.draw(LATER) if each is None else each for each in row] for row in rows]
    before = every_score([result(needs, *row, metric=metric) for row in rows])
    after = every_score([result(needs, *row, metric=metric) for row in read])
    assert all((each.bounds is None) for each in after.values())
    for name, measure in before.items():
        if after[name].estimate is None or (measure.estimate is None and measure.bounds is None):
            continue  # no condition holds of what is missing
        if measure.bounds is not None:
            low, high = measure.bounds.low, measure.bounds.high
        else:  # what is unscored moves it by less than a fifth of what chance does
            value = measure.value
            low = value.estimate - 0.2 * (value.estimate - value.low)
            high = value.estimate + 0.2 * (value.high - value.estimate)
        assert low - 1e-9 <= after[name].estimate <= high + 1e-9, name


def test_each_score_has_bounds_of_its_own():
    # a (weight 3) and b (weight 1) of six responses: all that was read is a yes, and b is read in half of them
    report = report_checklists([result(ABC, "yes", "yes", "yes")] * 3 + [result(ABC, "yes", None, "yes")] * 3)
    bounds = {name: (each.low, each.high) for name, each in report.unscored_bounds_of.items() if each}
    assert bounds["pass_rate"] == bounds["primary_score"] == pytest.approx(((3 + 3 * 2 / 3) / 6, 1))
    assert bounds["weighted_score"] == pytest.approx(((3 + 3 * 3 / 4) / 6, 1))
    assert bounds["scaled_score_1_5"] == pytest.approx((1 + 4 * 5 / 6, 5))
    assert bounds["micro_pass_rate"] == pytest.approx((15 / 18, 1))
    a, b, c = report.items
    assert not any((*a.unscored_bounds_of.values(), *c.unscored_bounds_of.values()))
    assert (b.unscored_bounds_of["pass_rate"].low, b.unscored_bounds_of["pass_rate"].high) == (0.5, 1)
    others, ungrouped = report.categories
    assert others.unscored_bounds is None
    assert (ungrouped.unscored_bounds.low, ungrouped.unscored_bounds.high) == (0.5, 1)


def test_means_shares_and_counts():
    # 2 of 3; 1 of 2 with an NA; nothing answered; all NA
    results = [
        result(ABC, "yes", "no", "yes"),
        result(ABC, "no", "yes", "na"),
        result(ABC, None, None, None, reasks=1),
        result(ABC, "na", "na", "na"),
    ]
    report = report_checklists(results)
    assert report.pass_rate.estimate == pytest.approx((2 / 3 + 1 / 2) / 2)
    assert report.micro_pass_rate.estimate == pytest.approx(3 / 5)
    assert report.weighted_score.estimate == pytest.approx((3 / 4 + 1 / 4) / 2)
    assert report.scaled_score_1_5.estimate == pytest.approx(1 + 4 * report.pass_rate.estimate)
    assert report.answered_share.estimate == pytest.approx(9 / 12)
    # nine answers; three that were missing, and asked about again
    assert report.parse_rate.estimate == pytest.approx(9 / 15)
    assert (report.num_instances, report.num_unscored, report.num_na, report.num_partial) == (4, 1, 1, 0)
    assert (report.answered, report.na, report.unanswered, report.reasks) == (5, 4, 3, 3)
    assert dict(report.unanswered_reasons) == dict(report.unscored_counts.reasons) == {"empty": 3}
    assert report.usage.calls == 12
    assert report.positional_bias == Missing("no instance was read in two orders")
    # the response to which nothing applies has no bounds: (2/3 + 1/2 + 0) / 3 and (2/3 + 1/2 + 1) / 3
    assert report.score_if_unscored_0 == pytest.approx((2 / 3 + 1 / 2) / 3)
    assert report.score_if_unscored_1 == pytest.approx((2 / 3 + 1 / 2 + 1) / 3)
    x, ungrouped = report.categories
    assert (x.category, x.answered, x.pass_rate.estimate) == ("x", 3, pytest.approx(2 / 3))
    assert (ungrouped.category, ungrouped.pass_rate.estimate) == ("ungrouped", 0.5)
