"""Tables in every form: whatever a name contains is shown, and not obeyed."""

import csv
import html
import io
import re

import pytest
from markdown_it import MarkdownIt

from evenhand.results.render import PrintedTables, TextTable

NAMES = [
    "![i](http://x/y.png)",
    "[a](http://x) [b][c]",
    "a\\|b",
    "a|b\\",
    "`code` | *em* _em_ ~~no~~ **x**",
    "&lt;b&gt; <script>alert(1)</script>",
    "gpt_4_turbo * 2",
    "a | --- | b",
    "# head",
    "- item",
    "12. item",
    "[x]: http://y",
    r"\*\_\[\`",
]


def _texts(rendered, tag):
    return [html.unescape(found) for found in re.findall(rf"<{tag}>(.*?)</{tag}>", rendered, re.DOTALL)]


@pytest.mark.parametrize("name", NAMES)
def test_markdown_shows_a_name_as_it_is(name):
    """As markdown-it reads it, which is not ours."""
    table = TextTable(title="t", headers=(name, "n"), rows=((name, "1"), ("x", name)), notes=(name, f"of {name}"))
    rendered = MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(table.to_markdown())
    assert _texts(rendered, "th") == [name, "n"]
    assert _texts(rendered, "td") == [name, "1", "x", name]
    assert _texts(rendered, "p")[1:] == [name, f"of {name}"]
    assert not re.search("<(a|img|script|em|code|h1|li|del)[ >]", rendered)


HOSTILE = "al\x1b[2J\u202eder\u200b\n\x9b"


class Hostile(PrintedTables):
    def text_tables(self):
        return (TextTable(HOSTILE, (HOSTILE, "n"), ((HOSTILE, HOSTILE),), (HOSTILE,)),)

    def closing_notes(self):
        return (HOSTILE, "<img src=x> ![i](http://x)")


@pytest.mark.parametrize("form", ["__str__", "to_markdown", "to_html", "_repr_html_", "to_latex", "to_csv"])
def test_no_form_of_a_table_holds_what_a_terminal_obeys(form):
    shown = getattr(Hostile(), form)()
    assert not set("\x1b\x9b\u202e\u200b") & set(shown)
    assert "x1b" in shown
    assert "<img" not in shown or form == "__str__"
    assert "![i](" not in shown or form in {"__str__", "to_html", "_repr_html_"}


@pytest.mark.parametrize(
    ("cell", "written"),
    [
        ("=1+1", "'=1+1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"),
        ("-2+3", "'-2+3"),
        (" =1", "' =1"),
        ("＝1+1", "'＝1+1"),
        ("-0.50", "-0.50"),
        ("+1,234.5 %", "+1,234.5 %"),
        ("-0.12 [-0.30, +∞]", "-0.12 [-0.30, +∞]"),
        ("-∞", "-∞"),
        ("-0.50 ± 0.10 [-0.80, -0.20]", "-0.50 ± 0.10 [-0.80, -0.20]"),
        (
            "-0.42–-0.25 ± 0.39 [-0.86, 0.49], 17 % of rows affected",
            "-0.42–-0.25 ± 0.39 [-0.86, 0.49], 17 % of rows affected",
        ),
        ("-1 ± A1", "'-1 ± A1"),
        ("a=b", "a=b"),
        ("x;=1", "x;=1"),
        ('say "hi", twice', 'say "hi", twice'),
    ],
)
def test_a_text_in_csv_is_no_formula_and_a_number_is_one(cell, written):
    text = TextTable("t", (cell, "n"), ((cell, "1"),)).to_csv()
    assert list(csv.reader(io.StringIO(text))) == [[written, "n"], [written, "1"]]
    assert ";" not in cell or text.startswith('"')  # no cell of its own where semicolons part them


def test_latex_joins_no_signs_and_takes_no_name_for_an_argument():
    latex = TextTable("t", ("[1]", "n"), (("*a--b", "x|y"), ("?`", "``q''"))).to_latex()
    assert "\n{}[1] & n" in latex
    assert "{}*a-{}-b & x\\textbar{}y" in latex
    assert "?{}` & `{}`q'{}'" in latex


def test_what_a_notebook_shows_runs_nothing_loads_nothing_and_styles_nothing_else():
    shown = Hostile()._repr_html_()
    assert shown.startswith('<div class="evenhand"><style>')
    style = re.search("<style>(.*?)</style>", shown)[1]
    selectors = [each.strip() for rule in style.split("}") if rule for each in rule.split("{")[0].split(",")]
    assert all(each.startswith(".evenhand") for each in selectors)
    assert not re.search(r"url\(|@import|<script|<[^>]*\b(src|href)=", shown)
    assert "overflow-x:auto" in style
