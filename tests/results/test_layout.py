"""Tables that fit: no number is cut or wrapped, whatever the width, and nothing is lost."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from evenhand.results.render import TextTable, terminal_width


@pytest.mark.parametrize(
    ("columns", "width"), [("80", 80), ("200", 200), ("0", 120), ("", 120), ("abc", 120), ("-5", 120), ("7", 20)]
)
def test_columns_counts_without_a_terminal(monkeypatch, columns, width):
    monkeypatch.setenv("COLUMNS", columns)
    assert terminal_width() == width


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
    assert width < 100 or all(any(cell in line for row in table.rows for cell in row) for line in boxed)


def test_bounds_fit_into_a_narrow_terminal():
    score = "0.47–0.66 [0.37, 0.75], 35 % of rows affected"
    table = TextTable(
        "Scores", ("system", "criterion", "score [95%]", "n"), (("alder", "relevance", score, "8"),), naming=2
    )
    lines = table.to_terminal(width=60).splitlines()
    assert max(map(cell_len, lines)) <= 60
    for whole in ("0.47–0.66 [0.37, 0.75],", "35 % of rows affected"):
        assert sum(line.count(whole) for line in lines) == 1
