"""What pictures show is what results say: numbers are read back from the SVG and from matplotlib's artists."""

from functools import cache
from xml.etree import ElementTree

import pytest

from evenhand.report.pictures import pictures_of
from evenhand.report.plots import figure_of
from tests.golden import runs

SVG = "{http://www.w3.org/2000/svg}"


@cache
def direct():
    with pytest.warns(match="correctness"):
        return runs.direct()


@cache
def winrates():
    return runs.winrates()


@cache
def checklist():
    return runs.checklist()


def only(results, kind):
    (picture,) = pictures_of(results, [kind])
    return picture


def elements(picture, tag, kind):
    root = ElementTree.fromstring(picture.to_svg())
    return [each for each in root.iter(SVG + tag) if each.get("class") == kind]


def in_svg(picture):
    """The numbers of the marks of a picture with one panel, read back from the places of what is drawn."""
    ticks = [(float(each.get("x")), float(each.text.rstrip(" %"))) for each in elements(picture, "text", "tick")]
    (left, first), (right, last) = ticks[0], ticks[-1]

    def number(x):
        return pytest.approx(first + (float(x) - left) / (right - left) * (last - first), abs=1e-3)

    points = [number(each.get("cx")) for each in elements(picture, "circle", "estimate")]
    limits = [(number(each.get("x1")), number(each.get("x2"))) for each in elements(picture, "line", "limits")]
    return points, limits


def in_figure(picture):
    axes = figure_of(picture).axes[0]
    drawn = {kind: [each for each in axes.lines if each.get_gid() == kind] for kind in ("estimate", "limits")}
    points = [float(each.get_xdata()[0]) for each in drawn["estimate"]]
    return points, [tuple(map(float, each.get_xdata())) for each in drawn["limits"]]


def of(intervals):
    return [each.estimate for each in intervals], [(each.low, each.high) for each in intervals]


def sorted_scores(table):
    return [table.summaries[system, criterion.name] for criterion in table.criteria for system in table.systems]


def items_by_name(table):
    reports = list(table.reports.values())
    return [report.items[place].pass_rate for place in range(len(reports[0].items)) for report in reports]


@pytest.mark.parametrize(
    ("results", "kind", "expected"),
    [
        (direct, "scores", lambda table: [each.score for each in sorted_scores(table)]),
        (winrates, "winrates", lambda table: [each.winrate for each in table.ranked]),
        (checklist, "items", items_by_name),
    ],
    ids=["scores", "winrates", "items"],
)
def test_the_numbers_drawn_are_those_of_the_result(results, kind, expected):
    picture, (points, limits) = only(results(), kind), of(expected(results()))
    assert points
    assert in_svg(picture) == (points, limits)
    assert in_figure(picture) == (points, limits)
