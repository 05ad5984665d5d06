"""Criteria with option values on any scale, in tables: every number in its units, and nothing else changed."""

from dataclasses import replace
from functools import cache

import pytest

import evenhand
from evenhand.aggregation.scores import rubric_range
from evenhand.criteria import Criterion, Option, Rubric
from evenhand.data.plain import as_plain
from evenhand.engines.free_engines import SimulatedEngine
from evenhand.errors import InvalidInputError

FACTOR, SHIFT = 4.0, 1.0
LABELS = ["Awful", "Poor", "Fair", "Good", "Great"]
SHARES = dict(zip(LABELS, (0, 0.25, 0.5, 0.75, 1), strict=True))
LIKERT = {label: FACTOR * share + SHIFT for label, share in SHARES.items()}
QUIET = {"journal": None, "progress": False}
ROWS = [{"alder": f"alder {row}", "birch": f"birch {row}", "gold": LABELS[row % 5]} for row in range(12)]
JUDGES = [SimulatedEngine(seed=seed, noise=0.3, refusal_rate=0.1, position_preference=0.5) for seed in (1, 2)]


def criterion(values, name="help", **more):
    options = tuple(Option(label=label, value=value) for label, value in values.items())
    return Criterion(name=name, description="How helpful?", options=options, **more)


IN_UNITS = {"score_range", "score", "score_if_unscored_0", "score_if_unscored_1", "unscored_bounds", "mean"}
IN_UNITS |= {"score_without"}
DIFFERENCES = {"spread", "change_without", "difference", "bounds", "if_unscored_low"}
DIFFERENCES |= {"if_unscored_high", "root_mean_square", "mean_absolute", "bias"}
LIMITS = {"estimate", "low", "high", "interval_low", "interval_high"}


def leaves(value, path=()):
    """The path of every number and text of plain JSON, and what stands there."""
    if isinstance(value, dict | list):
        for name, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(inner, (*path, name))
    else:
        yield path, value


def check(one, two):
    """In the second a score is in other units, a difference of scores is scaled, and all else is the same."""
    first, second = dict(leaves(as_plain(one))), dict(leaves(as_plain(two)))
    assert first.keys() == second.keys()
    for path, value in first.items():
        name = next((step for step in reversed(path) if isinstance(step, str) and step not in LIMITS), "")
        expected = value
        if isinstance(value, float) and "categories" not in path:
            expected = FACTOR * value if name in DIFFERENCES else value
            expected = FACTOR * value + SHIFT if name in IN_UNITS else expected
            if path[-1] == "standard_error":
                expected = FACTOR * value if path[-2] in IN_UNITS | DIFFERENCES else value
            expected = pytest.approx(expected, rel=1e-7, abs=1e-7)
        assert second[path] == expected or "categories" in path, path


def judged(values, **options):
    return _judged(tuple(values.items()), tuple(options.items()))


@cache
def _judged(values, options):
    given = {"response_fields": ["alder", "birch"], "gold_fields": {"help": "gold"}, "samples": 3, **QUIET}
    given |= dict(options)
    return evenhand.judge(ROWS, criterion(dict(values)), JUDGES, **given)


@pytest.mark.parametrize(
    "options", [{}, {"on_position_bias": "abstain", "aggregation": "median"}, {"scoring": "expected"}]
)
def test_a_table_in_other_units(options):
    one, two = judged(SHARES, **options), judged(LIKERT, **options)
    assert one.summaries["alder", "help"].unscored_counts.unscored_votes
    for first, second in zip(one.records(), two.records(), strict=True):
        check(first, second)
    for first, second in zip(one.summaries.values(), two.summaries.values(), strict=True):
        check(as_plain(first), as_plain(second))
    check(as_plain(one.differences), as_plain(two.differences))
    check(as_plain(one.panel("alder", "help")), as_plain(two.panel("alder", "help")))
    pairs = ((one, judged(SHARES)), (two, judged(LIKERT)))
    check(*(as_plain(list(each.compare(again).groups.values())) for each, again in pairs))
    low, high = two.summaries["alder", "help"].score.low, two.summaries["alder", "help"].score.high
    assert 1 <= low < high <= 5


def test_results_in_different_units_are_not_compared():
    with pytest.raises(
        InvalidInputError, match="'alder/help' go from 0 to 1 in the first result and from 1 to 5 in the"
    ):
        judged(SHARES, samples=1).compare(judged(LIKERT, samples=1))


AFFINE = [(0.4, 0.05), (0.5, 0.5), (4.0, 1.0), (2.0, -1.0), (100.0, 0.0)]


def every_interval(factor, shift, **options):
    """The intervals of a table in other units, and whether each is of a score."""
    values = {label: factor * share + shift for label, share in SHARES.items()}
    table = judged(values, **options)
    corrected = evenhand.correct(table, design="random")
    kinds = {"kind": [str(row % 3) for row in range(len(ROWS))]}
    by_kind = replace(table, parameters={**table.parameters, "groups": kinds}).by("kind", gold=None)
    yield from ((each.score, True) for each in table.summaries.values())
    yield from ((each.difference, False) for each in table.differences)
    yield from ((each.corrected, True) for each in corrected.scores)
    yield from ((each.corrected, False) for each in corrected.differences)
    yield from ((each.judge, True) for each in by_kind.scores.values())
    yield from ((each.difference, False) for each in by_kind.differences.values())


@pytest.mark.parametrize(("factor", "shift"), AFFINE)
@pytest.mark.parametrize("interval", ["auto", "t", "bootstrap", "anytime"])
def test_intervals_change_with_the_values_and_stay_within_the_options(factor, shift, interval):
    plain_ones = list(every_interval(1.0, 0.0, interval=interval))
    moved = list(every_interval(factor, shift, interval=interval))
    assert len(plain_ones) == len(moved) > 15
    for (one, of_scores), (other, _) in zip(plain_ones, moved, strict=True):
        base = shift if of_scores else 0.0
        found = (other.estimate, other.low, other.high)
        assert found == pytest.approx([factor * each + base for each in (one.estimate, one.low, one.high)], abs=1e-6)
        lowest, highest = (shift, shift + factor) if of_scores else (-factor, factor)
        assert lowest - 1e-9 <= other.low <= other.high <= highest + 1e-9


@pytest.mark.parametrize(
    ("weights", "values", "expected"),
    [
        ((1.0, 1.0), (0.05, 0.45), (0.05, 0.45)),  # a weighted mean of what lies between them
        ((2.0, -1.0), (0.05, 0.45), (0.0, 0.45)),  # the fault takes, and may be left out
        ((-1.0, -1.0), (0.05, 0.45), (0.55, 0.95)),  # one less the mean of faults
        ((1.0, 1.0), (1.0, 5.0), (0.0, 1.0)),  # what is beyond [0, 1] counts as a share of its range
    ],
)
def test_a_rubric_goes_as_far_as_its_options(weights, values, expected):
    low, high = values
    each = {"Low": low, "Middle": (low + high) / 2, "High": high}
    names = ("one", "other")
    criteria = tuple(criterion(each, name, weight=weight) for name, weight in zip(names, weights, strict=True))
    rubric = Rubric(name="r", criteria=criteria)
    table = evenhand.judge(ROWS[:3], rubric, JUDGES, response_fields=["alder", "birch"], **QUIET)
    assert rubric_range(rubric).score == pytest.approx(expected)
    for summary in table.rubric_scores.values():
        assert expected[0] - 1e-9 <= summary.score.low <= summary.score.high <= expected[1] + 1e-9
    width = expected[1] - expected[0]
    assert all(-width - 1e-9 <= d.difference.low <= d.difference.high <= width + 1e-9 for d in table.rubric_differences)
