"""What pictures show is what results say: numbers are read back from matplotlib's artists, texts from the SVG."""

import warnings
from functools import cache
from xml.etree import ElementTree

import pytest

from evenhand.cli import main
from evenhand.errors import InvalidInputError
from evenhand.numbers import Missing
from evenhand.report.pictures import Marks, Matrix, Picture, pictures_of
from evenhand.results.measures import Measure
from evenhand.statistics.intervals import Interval
from evenhand.visible import visible_line
from tests.golden import runs

SVG = "{http://www.w3.org/2000/svg}"


pytestmark = pytest.mark.filterwarnings("ignore::evenhand.data.fields.LeftOutContextWarning")
direct, winrates, checklist = map(cache, (runs.direct, runs.winrates, runs.checklist))


def only(results, kind):
    (picture,) = (each for each in pictures_of(results) if each.kind == kind)
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
        (winrates, "scores", lambda table: [each.winrate for each in table.ranked]),
        (checklist, "items", items_by_name),
    ],
    ids=["scores", "winrates", "items"],
)
def test_the_numbers_drawn_are_those_of_the_result(results, kind, expected):
    picture, (points, limits) = only(results(), kind), of(expected(results()))
    assert points
    assert in_figure(picture) == (points, limits)
    written = texts_in_svg(picture)
    for _, number in picture.panels[0].rows:
        assert number is None or number.written in written


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


# the last are letters that matplotlib's font lacks
SHOWN = ["a\x1b[2J\u202e\x00b", 'x" onload="alert(1)', "$\\frac{1}{0}$ & <b>", "\u6a21\u578b"]
HOSTILE = ("</text><script>alert(1)</script>", "n" * 80, *SHOWN)


def test_what_names_hold_is_shown_and_not_obeyed():
    interval = Interval(0.7, 0.5, 1.0, 0.95, "exact", 9)
    marks = [(name, Measure(name, (name,), value, "score")) for name in HOSTILE for value in (interval, Missing(name))]
    panels = [
        *(Marks(name, [(name, None), *marks]) for name in HOSTILE),
        Matrix(HOSTILE, HOSTILE, [[0.5] * 6] * 6, [["1.00"] * 6] * 6, "verdicts", "gold"),
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
    for shown in SHOWN:
        assert written.count(visible_line(shown)) > 10
    assert {"\x1b", "\u202e", "\x00"}.isdisjoint(text)


def test_a_kind_that_a_result_has_not_is_refused_with_those_that_it_has(tmp_path):
    with pytest.raises(InvalidInputError, match=r"no picture 'items'.*Accepted: 'scores', 'levels', 'gold'"):
        direct().plot("items")
    with pytest.raises(InvalidInputError, match=r"no picture 'score'\. Did you mean 'scores'"):
        direct().plot("score")
    with pytest.raises(InvalidInputError, match=r"ends in '\.jpg'\. Accepted: '\.svg'"):
        direct().plot("scores", tmp_path / "a.jpg")


def test_pictures_are_saved_with_their_captions_and_print_them(tmp_path, capsys):
    run = tmp_path / "run.parquet"
    winrates().save(run)
    assert main(["report", str(run), "--plot", "matrix", "--out", str(tmp_path / "matrix.pdf")]) == 0
    said = capsys.readouterr().out
    assert "n = 24 rows" in said
    assert said.strip() == only(winrates(), "matrix").caption
    assert b"/FontFile2" in (tmp_path / "matrix.pdf").read_bytes()  # TrueType, embedded
    figure = winrates().plot(path=tmp_path / "first.svg")
    assert figure.caption == only(winrates(), "scores").caption
    written = (tmp_path / "first.svg").read_text()
    assert ">birch</text>" in written  # texts stay texts
    assert "n = 24 rows" in written
    assert figure._repr_png_().startswith(b"\x89PNG")
