"""What pictures show is what results say: numbers are read back from matplotlib's artists, texts from the SVG."""

import math
import sys
import warnings
from functools import cache
from xml.etree import ElementTree

import matplotlib
import pytest

import evenhand
from evenhand.aggregation.verdict import VoteRules
from evenhand.cli import main
from evenhand.criteria import yes_no_criterion
from evenhand.errors import InvalidInputError
from evenhand.modes.judgements import JudgementAnalysis
from evenhand.numbers import Missing
from evenhand.report.pictures import Curve, Mark, Marks, Matrix, Picture, Shares, pictures_of
from evenhand.results.measures import Finding
from evenhand.results.results import Results
from evenhand.results.vote_columns import Cell
from evenhand.statistics.intervals import Interval, UnscoredBounds
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


def texts_in_svg(picture):
    return [each.text for each in ElementTree.fromstring(picture.svg()).iter(f"{SVG}text")]


def drawn(axes, kind):
    return [each for each in (*axes.lines, *axes.patches, *axes.texts) if each.get_gid() == kind]


def in_figure(picture):
    """The numbers of the marks of a picture with one panel."""
    (axes,) = picture.figure().axes
    points = [float(each.get_xdata()[0]) for each in drawn(axes, "estimate")]
    return points, [tuple(map(float, each.get_xdata())) for each in drawn(axes, "limits")]


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
    assert in_figure(picture) == (points, limits)
    written = texts_in_svg(picture)
    for mark in picture.panels[0].rows:
        assert mark.text in written
        assert f"{mark.name}: {mark.text}" in picture.description


def test_the_matrix_holds_the_winrates_against_each_other():
    table, picture = winrates(), only(winrates(), "matrix")
    order = [entry.system for entry in table.ranking.systems]
    (panel,) = picture.panels
    assert list(panel.names) == list(panel.columns) == order
    texts = [each.get_text() for each in drawn(picture.figure().axes[0], "cell")]
    by_hand = [table.matrix.loc[row, column] for row in order for column in order if row != column]
    assert [float(text) for text in texts if text] == pytest.approx(by_hand, abs=0.005)
    assert set(texts) - {""} <= set(texts_in_svg(picture))


def test_where_too_much_is_unscored_bounds_are_drawn_and_no_mean():
    leading = UnscoredBounds(low=0.25, high=0.5, interval_low=0.125, interval_high=0.75, share=0.25)
    score = Interval(0.4, 0.3, 0.5, 0.95, "beta", 8)
    mark = Mark.of(Finding("score", ("a",), score, "score", bounds=leading), "a")
    nothing_known = Interval(0.5, -math.inf, math.inf, 0.95, "cluster_t", 1)
    open_ended = Mark.of(Finding("score", ("b",), nothing_known, "score"), "b")
    missing = Mark.of(Finding("score", ("c",), Missing("nothing was read"), "score"), "c")
    picture = Picture("scores", "t", "c", [Marks("score", [mark, open_ended, missing])])
    assert mark.text == "0.25–0.50 [0.12, 0.75], 25 % of rows affected"
    assert in_figure(picture) == ([0.5], [(0.125, 0.75), (0.0, 1.0)])  # an open limit goes to the end, with an arrow
    (axes,) = picture.figure().axes
    assert {"<", ">"} <= {each.get_marker() for each in axes.lines}
    (bar,) = drawn(axes, "bounds")
    assert (bar.get_x(), bar.get_width(), bar.get_hatch()) == (0.25, 0.25, "/////")
    assert {"0.25–0.50 [0.12, 0.75],", "25 % of rows affected", "– (nothing was read)"} <= set(texts_in_svg(picture))


def test_verdicts_against_gold_are_counted():
    picture = only(winrates(), "gold")
    (panel,) = picture.panels
    table = winrates()
    sides = [(entry.gold, entry.winner or "tie", entry.first, entry.second) for entry in table if entry.gold]
    named = [
        ({first: "first", second: "second"}.get(gold, "tie"), {first: "first", second: "second"}.get(won, "tie"))
        for gold, won, first, second in sides
    ]
    rows = ("first", "second", "tie")
    assert panel.names == rows
    assert panel.columns == (*rows, "no verdict")
    assert panel.texts == [[*(str(named.count((row, column))) for column in rows), "0"] for row in rows]
    assert panel.shades[0][0] == pytest.approx(
        named.count(("first", "first")) / sum(row == "first" for row, _ in named)
    )
    texts = [each.get_text() for each in drawn(picture.figure().axes[0], "cell")]
    assert texts == [text for row in panel.texts for text in row]


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
    parameters = {"judges": ["j"], "n": 6, "level": 0.95, "interval": "auto", "seed": 0, "grid": {"samples": 1}}
    header = {"systems": ["a"], "criteria": [criterion], "rubric": None}
    about = {"system": "a", "criterion": "met", "cluster": None, "length_penalty": None}
    cells = (
        Cell({"instance": row, **about, "gold": criterion.labels[labels.index(gold)]}, (vote,))
        for row, (vote, (_, gold)) in enumerate(zip(votes, told, strict=True))
    )
    parameters |= VoteRules().parameters()
    table = Results.of_cells(JudgementAnalysis, {**header, "parameters": parameters}, cells)
    picture = only(table, "calibration")
    # bins of a tenth, an edge belonging below: 0.55 came true never, 0.8 in two of two, 0.9 in one of two
    points = [(stated, share.estimate, n) for stated, share, n in picture.panels[0].points]
    expected = [(0.55, 0.0, 2), (0.8, 1.0, 2), (0.9, 0.5, 2)]
    assert points == [pytest.approx(point) for point in expected]
    (axes,) = picture.figure().axes
    found = [(each.get_xdata()[0], each.get_ydata()[0]) for each in drawn(axes, "estimate")]
    assert found == [(stated, confirmed) for stated, confirmed, _ in points]
    listed = next(each.get_text() for each in axes.texts).splitlines()
    assert [line.split(" [")[0] for line in listed[1:]] == ["0.55: 0.00", "0.80: 1.00", "0.90: 0.50"]
    assert all(line.endswith("] (2)") for line in listed[1:])


def test_reports_on_judges_and_panels_have_pictures_of_their_agreement():
    report = evenhand.reliability(
        runs.rows(6),
        runs.RELEVANCE,
        runs.panel()[:2],
        response_fields="alder",
        context_fields=["question"],
        gold_fields="alder_relevance",
        resamples=100,
        **runs.QUIET,
    )
    (agreement,) = [each for each in pictures_of(report) if each.kind == "agreement"]
    shown = {(mark.heading, mark.name): mark.estimate for panel in agreement.panels for mark in panel.rows}
    one = report.results[0]
    assert shown[f"verdicts as people, {one.criterion}", one.judge_id] == one.people.accuracy.estimate
    panel = runs.direct_panel()
    found = panel.panel("alder", "relevance")
    shown = {(mark.heading, mark.name): mark.estimate for each in only(panel, "agreement").panels for mark in each.rows}
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
        response_fields="answer",
        mode="item",
        journal=None,
        progress=False,
    )
    picture = only(table, "items")
    (panel,) = picture.panels
    assert len(panel.rows) == 50
    assert {f"item-{number}" for number in range(5, 60)} >= {
        mark.name for mark in panel.rows
    }  # the first five pass always
    assert "Shown are the 50 of 60 items that pass the least." in picture.caption


HOSTILE = (
    "</text><script>alert(1)</script>",
    "a\x1b[2J\u202e\x00b",
    'x" onload="alert(1)',
    "$\\frac{1}{0}$ & <b>",
    "n" * 80,
    "\u6a21\u578b",  # letters that matplotlib's font lacks
)


def test_what_names_hold_is_shown_and_not_obeyed():
    interval = Interval(0.7, 0.5, 1.0, 0.95, "exact", 9)
    marks = [Mark.of(Finding(name, (name,), interval, "score"), name, heading=name) for name in HOSTILE]
    marks += [Mark.of(Finding(name, (name,), Missing(name), "score"), name) for name in HOSTILE]
    panels = [
        *(Marks(name, marks, title=name) for name in HOSTILE),
        Shares(HOSTILE[0], HOSTILE, 5, [(name, [1] * 6) for name in HOSTILE]),
        Matrix(HOSTILE[1], HOSTILE, HOSTILE, [[0.5] * 6] * 6, [["1.00"] * 6] * 6, "verdicts", "people"),
        *(Curve(name, [(0.5, interval, 3)]) for name in HOSTILE),
    ]
    picture = Picture("k", "Scores", "A caption.", panels)
    with warnings.catch_warnings(action="error"):
        text = picture.svg().decode()
    root = ElementTree.fromstring(text)
    known = {"svg", "title", "metadata", "defs", "style", "g", "path", "use", "text", "clipPath", "rect", "pattern"}
    assert {each.tag.removeprefix(SVG) for each in root.iter() if each.tag.startswith(SVG)} <= known
    assert not [name for each in root.iter() for name in each.attrib if name.startswith("on")]
    links = [value for each in root.iter() for name, value in each.attrib.items() if name.endswith("href")]
    assert all(link.startswith("#") for link in links)
    written = [each.text for each in root.iter(f"{SVG}text")]
    for shown in (r"a\x1b[2J\u202e\x00b", "$\\frac{1}{0}$ & <b>", "\u6a21\u578b", 'x" onload="alert(1)'):
        assert written.count(shown) > 10
    assert {"\x1b", "\u202e", "\x00"}.isdisjoint(text + picture.description)
    assert "n" * 80 in picture.description  # the whole of what was shortened


def test_every_text_lies_within_the_picture():
    for picture in (*pictures_of(direct()), *pictures_of(winrates()), *pictures_of(checklist())):
        figure = picture.figure()
        width, height = figure.get_size_inches() * figure.dpi
        for axes in figure.axes:
            box = axes.get_tightbbox()
            assert box.x0 >= 0
            assert box.y0 >= 0
            assert box.x1 <= width
            assert box.y1 <= height


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
    assert main(["report", str(run), "--plot", "ranks", "--out", str(tmp_path / "ranks.pdf")]) == 0
    said = capsys.readouterr().out
    assert "n = 24 rows" in said
    assert said.strip() == only(winrates(), "ranks").caption
    assert b"/FontFile2" in (tmp_path / "ranks.pdf").read_bytes()  # TrueType, embedded
    assert main(["report", str(run), "--plot", "levles", "--out", str(tmp_path / "x.svg")]) == 2
    assert "Did you mean 'levels'" in capsys.readouterr().err
    assert main(["report", str(run), "--plot", "first", "--out", str(tmp_path / "x.gif")]) == 2
    assert "Accepted: '.svg', '.png', '.pdf'" in capsys.readouterr().err
    figure = winrates().plot(path=tmp_path / "first.svg")
    assert figure.caption == only(winrates(), "winrates").caption
    written = (tmp_path / "first.svg").read_text()
    assert ">birch</text>" in written  # texts stay texts
    assert "n = 24 rows" in written
    assert figure._repr_png_().startswith(b"\x89PNG")


def test_settings_of_matplotlib_are_neither_used_nor_changed(tmp_path):
    plain = only(winrates(), "matrix").svg()
    before, had = dict(matplotlib.rcParams), "matplotlib.pyplot" in sys.modules
    own = {"font.size": 30, "axes.facecolor": "black", "text.color": "white", "savefig.dpi": 10}
    with matplotlib.rc_context(own):
        figure = winrates().plot("matrix", tmp_path / "matrix.png")
        assert only(winrates(), "matrix").svg() == plain
        assert {name: matplotlib.rcParams[name] for name in own} == own
    assert dict(matplotlib.rcParams) == before
    assert ("matplotlib.pyplot" in sys.modules) == had
    assert figure.get_figwidth() == pytest.approx(3.5)  # inches: a column


def test_what_holds_no_score_has_no_picture():
    assert list(pictures_of(direct().compare(direct()))) == []
