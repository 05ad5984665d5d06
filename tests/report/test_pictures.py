"""What pictures show is what results say: numbers are read back from the SVG and from matplotlib's artists."""

import io
import re
import sys
from functools import cache
from xml.etree import ElementTree

import matplotlib
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evenhand
from evenhand.aggregation import VoteRules
from evenhand.cli import main
from evenhand.criteria import yes_no_criterion
from evenhand.errors import InvalidInputError, MissingDependencyError
from evenhand.numbers import Missing
from evenhand.report.pictures import pictures_of
from evenhand.report.plots import figure_of
from evenhand.report.shapes import Axis, Mark, Marks, Matrix, Picture, Shares, Whole, short_names
from evenhand.statistics.intervals import Interval, UnscoredBounds
from evenhand.tables.judgements import Judgement, JudgementTable
from evenhand.votes import Vote
from tests.golden import runs
from tests.support.judges import ScriptedJudge

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


def test_the_matrix_holds_the_winrates_against_each_other():
    table, picture = winrates(), only(winrates(), "matrix")
    order = [entry.system for entry in table.ranking.systems]
    (panel,) = picture.panels
    assert panel.names == panel.columns == tuple(order)
    drawn = [float(each.text) for each in elements(picture, "text", None) if re.fullmatch(r"[01]\.\d\d", each.text)]
    by_hand = [table.matrix.loc[row, column] for row in order for column in order if row != column]
    assert drawn == pytest.approx(by_hand, abs=0.005)
    texts = [each.get_text() for each in figure_of(picture).axes[0].texts]
    assert [float(text) for text in texts if text] == drawn


def test_bars_are_as_long_as_the_shares_of_the_levels():
    picture = only(direct(), "levels")
    relevance = picture.panels[0]
    for whole in relevance.wholes:
        own = direct().filter(system=whole.name, criterion="relevance")
        said = [each.verdict.selected_label for each in own]
        assert whole.counts == tuple(said.count(None if part == "no verdict" else part) for part in relevance.parts)
    bars = elements(Picture("levels", "", "", (relevance,)), "rect", "part")
    widths = [float(each.get("width")) for each in bars]
    shares = [share for whole in relevance.wholes for share in whole.shares if share]
    assert [width / sum(widths) * 2 for width in widths] == pytest.approx(shares, abs=1e-4)
    patches = [each for each in figure_of(picture).axes[0].patches if each.get_gid() == "part"]
    assert sorted(each.get_width() for each in patches if each.get_width()) == pytest.approx(sorted(shares))


def test_where_too_much_is_unscored_bounds_are_drawn_and_no_mean():
    leading = UnscoredBounds(low=0.25, high=0.5, interval_low=0.125, interval_high=0.75, share=0.25)
    score = Interval(0.4, 0.3, 0.5, 0.95, "beta", 8)
    mark = Mark.of("a", score, "score", leading=leading)
    open_ended = Mark.of("b", Interval(0.5, float("-inf"), float("inf"), 0.95, "cluster_t", 1), "score")
    missing = Mark.of("c", Missing("nothing was read"), "score")
    picture = Picture("scores", "t", "c", (Marks("", Axis("score", 0.0, 1.0), (mark, open_ended, missing)),))
    assert mark.text == "0.25–0.50 [0.12, 0.75], 25 % of rows affected"
    assert in_svg(picture) == ([0.5], [(0.125, 0.75), (0.0, 1.0)])  # an open limit goes to the end, with an arrow
    assert in_figure(picture) == ([0.5], [(0.125, 0.75), (0.0, 1.0)])
    (bar,) = elements(picture, "rect", "bounds")
    assert bar.get("fill").startswith("url(#evenhand-")
    assert "– (nothing was read)" in picture.to_svg()
    assert any(each.get_text() == "– (nothing was read)" for each in figure_of(picture).axes[0].texts)


def test_verdicts_against_gold_are_counted():
    picture = only(winrates(), "gold")
    (panel,) = picture.panels
    table = winrates()
    sides = [(entry.gold, entry.contest.winner or "tie", entry.first, entry.second) for entry in table if entry.gold]
    named = [
        ({first: "first", second: "second"}.get(gold, "tie"), {first: "first", second: "second"}.get(won, "tie"))
        for gold, won, first, second in sides
    ]
    rows = ("first", "second", "tie")
    assert panel.names == rows
    assert panel.texts == tuple((*(str(named.count((row, column))) for column in rows), "0") for row in rows)
    assert panel.values[0][0] == pytest.approx(
        named.count(("first", "first")) / sum(row == "first" for row, _ in named)
    )
    assert "4 no verdict" in picture.to_svg()


def test_calibration_is_that_of_the_probabilities_of_what_was_selected():
    labels = ["yes", "no"]
    told = [(0.9, "yes"), (0.9, "no"), (0.8, "yes"), (0.8, "yes"), (0.55, "no"), (0.55, "no")]
    votes = [
        Vote(
            judge_id="j",
            order=(0, 1),
            selected_index=0,
            selected_label="yes",
            value=1.0,
            probabilities=(share, 1 - share),
        )
        for share, _ in told
    ]
    criterion = yes_no_criterion("met", "Is it?")
    rules = VoteRules()
    table = JudgementTable(
        judgements=tuple(
            Judgement(row, "a", "met", rules.aggregate([vote], criterion), gold=criterion.labels[labels.index(gold)])
            for row, (vote, (_, gold)) in enumerate(zip(votes, told, strict=True))
        ),
        criteria=(criterion,),
        systems=("a",),
        parameters={"judges": ["j"], "n": 6, "level": 0.95, "seed": 0, "grid": {"samples": 1}, **rules.parameters()},
    )
    (curve,) = only(table, "calibration").panels
    # bins of a tenth, an edge belonging below: 0.55 came true never, 0.8 in two of two, 0.9 in one of two
    assert [(point.across, point.mark.estimate, point.n) for point in curve.points] == [
        (pytest.approx(0.55), 0.0, 2),
        (pytest.approx(0.8), 1.0, 2),
        (pytest.approx(0.9), 0.5, 2),
    ]
    picture = only(table, "calibration")
    points = elements(picture, "circle", "estimate")
    left, side = 60, 300
    assert [(float(each.get("cx")) - left) / side for each in points] == pytest.approx([0.55, 0.8, 0.9], abs=1e-3)
    heights = [float(each.get("cy")) for each in points]
    assert [(heights[0] - height) / side for height in heights] == pytest.approx([0.0, 1.0, 0.5], abs=1e-3)
    drawn = [each for each in figure_of(picture).axes[0].lines if each.get_gid() == "estimate"]
    assert [(each.get_xdata()[0], each.get_ydata()[0]) for each in drawn] == [
        (point.across, point.mark.estimate) for point in curve.points
    ]


def test_reports_on_judges_and_panels_have_pictures_of_their_agreement():
    report = evenhand.reliability(
        runs.rows(6),
        runs.RELEVANCE,
        runs.panel()[:2],
        response_field="alder",
        context_fields=["question"],
        gold_field="alder_relevance",
        resamples=100,
        **runs.QUIET,
    )
    (agreement,) = [each for each in pictures_of(report) if each.kind == "agreement"]
    shown = {(mark.heading, mark.name): mark.estimate for panel in agreement.panels for mark in panel.marks}
    one = report.results[0]
    assert shown[f"verdicts as people, {one.criterion}", one.judge_id] == one.people.verdict_accuracy.estimate
    panel = runs.direct_panel()
    found = panel.panel("alder", "relevance")
    shown = {
        (mark.heading, mark.name): mark.estimate for each in only(panel, "agreement").panels for mark in each.marks
    }
    assert shown["Krippendorff's alpha, relevance", "alder"] == found.alpha.estimate
    pair = found.pairs[0]
    assert shown["Cohen's kappa, relevance", f"alder, {pair.first} – {pair.second}"] == pair.kappa.estimate


def test_of_many_items_those_that_pass_the_least_are_shown_and_the_caption_says_so():
    items = [{"name": f"item-{number}", "question": f"Is it above {number}?"} for number in range(60)]

    def reads(request):
        above = int(request.question.criterion.description.split()[-1].rstrip("?"))
        return "Yes" if int(request.question.responses[0]) > above else "No"

    table = evenhand.checklist(
        [{"answer": "5"}, {"answer": "30"}],
        {"name": "many", "items": items},
        ScriptedJudge(reads),
        response_field="answer",
        mode="item",
        journal=None,
        progress=False,
    )
    picture = only(table, "items")
    (panel,) = picture.panels
    assert len(panel.marks) == 50
    assert {f"item-{number}" for number in range(5, 60)} >= {
        mark.name for mark in panel.marks
    }  # the first five pass always
    assert "Shown are the 50 of 60 items that pass the least." in picture.caption


HOSTILE = (
    "</text><script>alert(1)</script>",
    "a\x1b[2J\u202e\x00b",
    'x" onload="alert(1)',
    "$\\frac{1}{0}$ & <b>",
    "n" * 80,
)


def test_what_names_hold_is_shown_and_not_obeyed():
    marks = tuple(Mark(name, "1.00", 1.0, (0.5, 1.0), heading=name) for name in HOSTILE)
    shares = Shares(HOSTILE[0], HOSTILE, 1, tuple(Whole(name, (1,) * 5) for name in HOSTILE))
    grid = Matrix(HOSTILE[1], HOSTILE, HOSTILE, ((0.5,) * 5,) * 5, ((HOSTILE[2],) * 5,) * 5, HOSTILE[3], HOSTILE[4])
    picture = Picture("k", HOSTILE[0], HOSTILE[1], (Marks(HOSTILE[3], Axis(HOSTILE[2], 0.0, 1.0), marks), shares, grid))
    text = picture.to_svg()
    root = ElementTree.fromstring(text)
    assert {each.tag.removeprefix(SVG) for each in root.iter()} <= {
        *("svg", "title", "desc", "text", "rect", "circle", "line", "path", "defs", "pattern")
    }
    assert not [name for each in root.iter() for name in each.attrib if name.startswith("on") or "href" in name]
    assert r"a\x1b[2J\u202e\x00b" in text
    assert {"\x1b", "\u202e", "\x00"}.isdisjoint(text)
    assert "n" * 80 in [each.text for each in root.iter(SVG + "title")]  # the whole of what was shortened
    figure_of(picture).savefig(io.BytesIO(), format="svg")  # a dollar sign begins no formula


def test_a_kind_that_a_result_has_not_is_refused_with_those_that_it_has(tmp_path):
    with pytest.raises(InvalidInputError, match="'items'; it has the pictures 'scores', 'levels', 'flips'"):
        direct().plot("items")
    with pytest.raises(InvalidInputError, match=r"no picture 'score'\. Did you mean 'scores'"):
        direct().plot("score")
    with pytest.raises(InvalidInputError, match=r"ends in '\.jpg'\. Accepted: '\.svg'"):
        direct().plot("scores", tmp_path / "a.jpg")


def test_pictures_are_saved_with_their_captions_and_print_them(tmp_path, capsys):
    run = tmp_path / "run.parquet"
    winrates().save(run)
    assert main(["plot", str(run), "--kind", "ranks", "--out", str(tmp_path / "ranks.pdf")]) == 0
    said = capsys.readouterr().out
    assert "n = 24 rows" in said
    assert said.strip() == only(winrates(), "ranks").caption
    assert b"/FontFile2" in (tmp_path / "ranks.pdf").read_bytes()  # TrueType, embedded
    assert main(["plot", str(run), "--kind", "levles", "--out", str(tmp_path / "x.svg")]) == 2
    assert "Did you mean 'levels'" in capsys.readouterr().err
    figure = winrates().plot(path=tmp_path / "first.svg")
    assert figure.caption == only(winrates(), "winrates").caption
    written = (tmp_path / "first.svg").read_text()
    assert ">birch</text>" in written  # texts stay texts
    assert "n = 24 rows" in written
    assert figure._repr_png_().startswith(b"\x89PNG")


def test_nothing_global_of_matplotlib_is_touched(tmp_path):
    settings, had = dict(matplotlib.rcParams), "matplotlib.pyplot" in sys.modules
    matplotlib.rcParams["font.size"] = 30  # the user's own, which changes no picture
    try:
        figure = winrates().plot("matrix", tmp_path / "matrix.png")
        assert matplotlib.rcParams["font.size"] == 30
        assert {text.get_fontsize() for text in figure.axes[0].texts} == {7.0}
    finally:
        matplotlib.rcParams["font.size"] = settings["font.size"]
    assert dict(matplotlib.rcParams) == settings
    assert ("matplotlib.pyplot" in sys.modules) == had
    assert 3.0 < figure.get_figwidth() < 4.0  # inches: a column


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'evenhand\[plot\]'"):
        winrates().plot()


def test_names_are_told_apart_when_they_are_shortened():
    long = [f"organisation/{'x' * 60}-{place}-instruct" for place in range(3)]
    assert len(set(short_names([*long, "short"], 20))) == 4
    assert max(map(len, short_names(long, 20))) <= 20


@settings(max_examples=30, deadline=None)
@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6), st.sampled_from(["score", "count", "share"]))
def test_ticks_lie_on_the_axis_and_are_few(low, width, kind):
    axis = Axis("", low, low + width, kind)
    assert len(axis.ticks) <= 7
    assert all(low - width * 1e-6 <= tick <= low + width * (1 + 1e-6) for tick in axis.ticks)
    if width > 3:
        assert len(axis.ticks) >= 2
