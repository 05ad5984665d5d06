"""Tables that fit: no number is cut or wrapped, whatever the width, and nothing is lost."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from evenhand.results.measures import Column, measures_table
from evenhand.results.render import TextTable, shortened, terminal_width, wrapped

WINRATES = TextTable(
    "Winrates",
    ("system", "winrate [95%]", "rank", "strength", "at equal length", "contests", "ties", "unscored", "length"),
    tuple(
        (name, "0.53 [0.43, 0.63]", "1 [1, 3]", "-0.19 [-0.49, +0.10]", "0.42 [0.33, 0.52]", "48", "31", "0", "1,138")
        for name in ("claude-opus-4-20250514", "claude-sonnet-4-20250514", "gpt-4o-mini")
    ),
    ("The response shown first wins 68 % [60, 75] of the decided contests, and p < 0.001.",),
)


@pytest.mark.parametrize("width", [20, 40, 60, 80, 100, 120])
def test_the_limits_of_strengths_are_whole_and_a_row_is_one_line(width):
    shown = WINRATES.to_terminal(width=width)
    for cell in ("0.53 [0.43, 0.63]", "-0.19 [-0.49, +0.10]", "0.42 [0.33, 0.52]"):
        assert sum(line.count(cell) for line in shown.splitlines()) == 3
    if width > 20:
        assert "68 % [60, 75]" in shown
        assert max(map(cell_len, shown.splitlines())) <= width
    assert "p < 0.001" in shown


def test_a_second_table_repeats_the_names_and_says_so():
    wide, narrow = WINRATES.to_terminal(width=140), WINRATES.to_terminal(width=80)
    assert "further columns" not in wide
    assert wide.count("claude-opus-4-20250514") == 1
    assert "The same rows, further columns (2 of 2)" in narrow
    short = re.search(r"^(\S+…\S+) = claude-opus-4-20250514 *$", narrow, re.MULTILINE)[1]
    assert narrow.count(short) == 3  # a table each, and the legend
    assert narrow.count("gpt-4o-mini") == 2


def test_pairs_are_shortened_name_by_name():
    names = ("claude-opus-4-20250514", "claude-sonnet-4-20250514")
    rows = ((" – ".join(names), "0.40 [0.29, 0.51]", "-0.09 [-0.25, +0.07]"),)
    shown = TextTable("Pairs", ("systems", "head to head", "difference"), rows).to_terminal(width=90)
    for name in names:
        assert re.search(rf"^\S+…\S+ = {name} *$", shown, re.MULTILINE)


def test_names_of_wide_signs_count_their_width():
    rows = tuple((name, "0.53 [0.43, 0.63]") for name in ("模型" * 20 + "甲", "模型" * 20 + "乙", "🦙🦙"))
    shown = TextTable("t", ("system", "score"), rows).to_terminal(width=60)
    assert max(map(cell_len, shown.splitlines())) <= 60
    assert len({line.split(" =")[0] for line in shown.splitlines() if " =" in line}) == 2


def test_names_that_look_alike_when_short_are_numbered():
    names = [f"{'a' * 20}{number:02}{'b' * 20}" for number in range(12)]
    short = shortened(names, 12)
    assert len(set(short.values())) == 12
    assert all("…" in each and cell_len(each) <= 14 for each in short.values())
    assert shortened(["123456789.123456789"], 8) == {}
    assert len(set(shortened([f"{'a' * 20}{number:04}{'b' * 20}" for number in range(3000)], 12).values())) == 3000


@pytest.mark.parametrize(
    ("columns", "width"), [("80", 80), ("200", 200), ("0", 120), ("", 120), ("abc", 120), ("-5", 120), ("7", 20)]
)
def test_columns_counts_without_a_terminal(monkeypatch, columns, width):
    monkeypatch.setenv("COLUMNS", columns)
    assert terminal_width() == width


@pytest.mark.parametrize("columns", ["0", "7", "20", "abc", "100000"])
def test_absurd_widths_show_all(monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", columns)
    assert WINRATES.to_terminal().count("-0.19 [-0.49, +0.10]") == 3


def test_a_table_without_names_and_one_without_rows_are_laid_out():
    assert "25" in measures_table("t", (), [((), 25)], [Column("n", str)]).to_terminal(width=40)
    assert "system" in TextTable("t", ("system", "n"), ()).to_terminal(width=40)


def test_rows_of_commands_and_long_words_lose_nothing():
    assert "".join(wrapped("x" * 95, 40)) == "x" * 95
    assert wrapped("at 0.61 [0.36, 0.79], so", 10) == ["at", "0.61 [0.36, 0.79]", ", so"]
    assert wrapped("  set in, and more", 10) == ["  set in,", "and more"]
    assert max(map(len, wrapped("x" * 100_000, 100))) == 100


NUMBERS = st.one_of(
    st.tuples(*[st.integers(-99, 99)] * 3).map("{0[0]}.17 [{0[1]}.25, {0[2]}.75]".format),
    st.integers(0, 10**9).map("{:,}".format),
    st.integers(0, 100).map("{} % [3, 99.99]".format),
    st.tuples(st.integers(0, 9), st.integers(0, 9)).map("{0[0]}.45–{0[1]}.68 [0.27, 0.85]".format),
    st.sampled_from(["–", "< 0.001", ">-0.0001 [-∞, +∞]", "4.75 ± 0.40", "$1,234.5000"]),
)
NAMES = st.one_of(
    st.text("ab-é模🦙0", min_size=1, max_size=45),
    st.sampled_from(["claude-opus-4-20250514", "New York in the north", "2023", "a – b", "x" * 300]),
)


@st.composite
def tables(draw):
    naming, values, rows = draw(st.integers(1, 3)), draw(st.integers(1, 9)), draw(st.integers(1, 4))
    headers = [draw(NAMES) for _ in range(naming + values)]
    body = []
    for row in range(rows):
        numbers = [f"{draw(NUMBERS)} #{row}{place}" for place in range(values)]  # each of its kind
        body.append((*(draw(NAMES) for _ in range(naming)), *numbers))
    return TextTable("A title of some words", tuple(headers), tuple(body), naming=naming)


@settings(max_examples=30, deadline=None)
@given(tables(), st.integers(40, 200))
def test_every_number_stands_whole_on_one_line_and_once(table, width):
    lines = table.to_terminal(width=width).splitlines()
    for row in table.rows:
        for cell in row[table.naming :]:
            assert sum(line.count(cell) for line in lines) == 1
    boxed = [line for line in lines if cell_len(line.rstrip()) > width]
    assert all(any(cell in line for row in table.rows for cell in row) for line in boxed)
