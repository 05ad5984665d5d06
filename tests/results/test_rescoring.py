"""Votes whose draws could stop early, read again: from memory, and from a file."""

import pytest

import evenhand
from evenhand.criteria import Checklist, ChecklistItem, yes_no_criterion
from evenhand.engines.free_engines import SimulatedEngine
from evenhand.errors import InvalidInputError
from evenhand.functions import checklist, judge, winrates
from evenhand.numbers import Missing
from evenhand.question import comparison_criterion

ROWS = [{"one": f"one {row}", "other": f"other {row}"} for row in range(25)]
DRAWN = {"samples": 5, "check_positional_bias": False, "journal": None, "progress": False}
CHECKS = Checklist(name="list", items=(ChecklistItem(question="Is it met?", name="met"),))


def engine():
    quality = {row["one"]: 1.0 for row in ROWS} | {row["other"]: 0.0 for row in ROWS}
    return SimulatedEngine(quality=quality, accuracy=0.75, seed=2)


def judged(**options):
    return judge(ROWS, yes_no_criterion("met", "Is it met?"), engine(), response_fields="one", **DRAWN, **options)


def compared(**options):
    criterion = comparison_criterion("c", "d")
    return winrates(ROWS, criterion, engine(), response_fields=["one", "other"], **DRAWN, **options)


def checked(**options):
    return checklist(ROWS, CHECKS, engine(), response_fields="one", mode="item", use_logprobs=False, **DRAWN, **options)


REFUSED = {
    "judge": (judged, lambda table: table.rescore(scoring="expected")),
    "winrates": (compared, lambda table: table.rescore(scoring="expected")),
    "checklist": (checked, lambda table: table.rescore(primary_metric="normalized")),
}


@pytest.mark.parametrize("mode", REFUSED)
def test_a_mean_over_draws_is_not_read_from_draws_that_could_stop(mode, tmp_path):
    run, reread = REFUSED[mode]
    table = run(stop_early=True)
    path = tmp_path / "table.parquet"
    table.save(path)
    for each in (table, evenhand.open(path)):
        with pytest.raises(InvalidInputError, match=r"could stop early.*stop_early=False"):
            reread(each)
        assert str(each) == str(table)
        assert "Draws stopped once their outcome was settled." in " ".join(str(each).split())
    free = run()
    assert reread(free) is not None
    assert "Draws stopped" not in str(free)


def test_what_the_stop_would_bias_is_missing_or_measured_on_the_first_two():
    every, table = judged(), judged(stop_early=True)
    cell = ("one", "met")
    full, early = every.summaries[cell], table.summaries[cell]
    assert early.score == full.score
    assert full.spread is not None
    assert early.spread == Missing("nothing was drawn twice, or draws could stop early")
    first = [item.verdict.model_copy(update={"votes": item.verdict.votes[:2]}) for item in every.entries]
    shares = [sum(vote.selected_index == item.selected_index for vote in item.votes) / 2 for item in first]
    assert early.agreement.estimate == pytest.approx(sum(shares) / len(shares))
    [alone] = table.panel(*cell).judges
    assert "draws could stop early" in alone.spread.reason
    # outcomes may be read by every rule
    assert table.rescore(on_position_bias="first").summaries[cell].score == full.score


def test_a_rule_that_a_result_does_not_have_is_refused_with_those_that_it_has():
    votes = evenhand.aggregate_votes([{"ann": 1, "bob": 0}], ["ann", "bob"])
    with pytest.raises(InvalidInputError, match=r"no option 'scoring'\. Accepted: 'rule', 'weights'"):
        votes.rescore(scoring="expected")
    with pytest.raises(InvalidInputError, match=r"no option 'rule'\. Accepted: 'aggregation'"):
        judged().rescore(rule="any")
