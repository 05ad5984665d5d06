"""Winrates of a data set: wide and long data, the table, its files, and the numbers by hand."""

import pytest

from evenhand import winrates
from evenhand.engines.free_engines import SimulatedEngine
from evenhand.errors import InvalidInputError
from evenhand.question import comparison_criterion

BETTER = comparison_criterion("better", "Which response is better?", context_fields={"question": "question"})
ALWAYS = 1000.0
"""Log-odds that leave nothing to chance."""

# Per prompt the quality of each system's response; the higher one always wins.
#           prompt 0: a > b > c     prompt 1: b > a > c     prompt 2: a > c > b
QUALITY = {"a": (3.0, 2.0, 3.0), "b": (2.0, 3.0, 1.0), "c": (1.0, 1.0, 2.0)}
ROWS = [
    {"question": f"question {n}", **{name: f"{name}{n}" + "." * n for name in QUALITY}, "kind": "x"} for n in range(3)
]
BY_TEXT = {row[name]: ALWAYS * QUALITY[name][n] for n, row in enumerate(ROWS) for name in QUALITY}
LONG = [
    {"model": name, "output": row[name], "prompt": f"p{n}", "question": row["question"]}
    for n, row in enumerate(ROWS)
    for name in QUALITY
]
LONG_FIELDS = {"systems_field": "model", "response_fields": "output", "id_field": "prompt"}


def judge_of(**settings):
    return SimulatedEngine(quality=lambda question, index: BY_TEXT[question.responses[index]], **settings)


def compare(rows=ROWS, systems=("a", "b", "c"), engine=None, criteria=BETTER, **options):
    return winrates(rows, criteria, engine or judge_of(), response_fields=systems, progress=False, **options)


def flat(table):
    """The printed table on one line."""
    return " ".join(str(table).split())


def scores(table):
    return [(entry.instance, entry.first, entry.second, entry.score) for entry in table.contests]


class TestByHand:
    def test_winrates_and_ranks(self):
        table = compare()
        # a beats b twice of three and c thrice: 5 of 6. b beats a once and c twice: 3 of 6. c beats b once: 1 of 6.
        assert [(entry.system, entry.rank) for entry in table.ranking.systems] == [("a", 1), ("b", 2), ("c", 3)]
        for system, rate in {"a": 5 / 6, "b": 3 / 6, "c": 1 / 6}.items():
            assert table.winrate(system).estimate == pytest.approx(rate)
            assert table.winrate(system).low < rate < table.winrate(system).high
        rates = {of: each.estimate for of, each in table.head_to_head.items()}
        assert [rates["a", "b"], rates["b", "a"], rates["c", "a"]] == pytest.approx([2 / 3, 1 / 3, 0])
        # Paired by prompt, a minus b: 1 - 0.5, 0.5 - 1, 1 - 0.
        (pair,) = (pair for pair in table.ranking.pairs if (pair.first, pair.second) == ("a", "b"))
        assert pair.difference.estimate == pytest.approx(1 / 3)

    def test_agreement_with_gold(self):
        labels = ["b", "tie", float("nan")]  # prompt 0: a wins, not b. prompt 1: b wins, no tie. prompt 2: no label
        rows = [{**row, "pref_a_b": label} for row, label in zip(ROWS, labels, strict=True)]
        assert compare(rows, ["a", "b"], gold_fields="pref_{first}_{second}").gold_agreement().estimate == 0
        rows[2]["pref_a_b"] = "a"
        table = compare(rows, ["b", "a"], gold_fields="pref_{first}_{second}")  # the column stands for either order
        assert table.gold_agreement().estimate == pytest.approx(1 / 3)
        assert "Agrees with the gold preferences in 33 %" in flat(table)
        assert compare().gold_agreement() is None


class TestLongData:
    def test_long_data_are_wide_data_written_otherwise(self):
        wide, long = compare(), winrates(LONG, BETTER, judge_of(), **LONG_FIELDS, progress=False)
        assert scores(wide) == scores(long)
        assert long.ranking == wide.ranking
        assert [entry.prompt_id for entry in long.contests[::3]] == ["p0", "p1", "p2"]
        assert wide.contests[0].prompt_id is None

    def test_a_missing_response_is_an_unscored_contest(self):
        rows = [row for row in LONG if (row["model"], row["prompt"]) != ("b", "p0")]
        table = winrates(rows, BETTER, judge_of(), **LONG_FIELDS, progress=False)
        assert table.summary.unscored_contests == {"missing_response": 2}
        # a: beats c on p0; loses to b and beats c on p1; beats both on p2: 4 of 5.
        assert table.winrate("a").estimate == pytest.approx(4 / 5)
        # Two of b's contests are at stake: of six it won 2 (on p1), or 4.
        summary = table.summary.systems[table.systems.index("b")]
        assert (summary.winrate_if_unscored_0, summary.winrate_if_unscored_1) == pytest.approx((2 / 6, 4 / 6))
        text = flat(table)
        assert "Contests without a score: 2 missing_response." in text
        assert "b 0.333 to 0.667" in text

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (lambda rows: rows.append({**rows[0]}), "rows 0 and 9 both hold a response of 'a' to 'p0'"),
            (lambda rows: rows[1].update(question="other"), "the rows of 'p0' differ in 'question'"),
            (lambda rows: rows[3].update(model=None), "row 3 has None in 'model'"),
            (lambda rows: rows[3].update(prompt=" "), "row 3 has ' ' in 'prompt'"),
            (lambda rows: rows[3].pop("output"), "no field 'output', which response_fields names"),
            (
                lambda rows: [row.update(model="a", prompt=str(n)) for n, row in enumerate(rows)],
                "two or more are compared",
            ),
        ],
    )
    def test_rows_that_contradict_one_another(self, change, message):
        rows = [dict(row) for row in LONG]
        change(rows)
        with pytest.raises(InvalidInputError, match=message):
            winrates(rows, BETTER, judge_of(), **LONG_FIELDS, progress=False)


@pytest.fixture(scope="module", name="table")
def table_of_a_judge_that_takes_the_first():
    return compare(engine=SimulatedEngine(quality=lambda *_: 0.0, position_preference=ALWAYS))


class TestPosition:
    """A judge that always takes what it is shown first, whatever the responses."""

    def test_both_orders_make_a_tie_of_it(self, table):
        assert [table.winrate(system).estimate for system in "abc"] == [0.5, 0.5, 0.5]
        assert table.summary.ties == 9
        assert table.summary.positional_bias.estimate == 1
        # 9 contests stuck to the first place: 2 / 2^9.
        assert table.summary.position.p_value == pytest.approx(2 / 2**9)
        text = flat(table)
        assert "position decides every contest" in text
        assert "No strength for a, b, c: the data leave its interval open." in text
        assert "of 9 such changes of one judge the first place gains from 100 %" in text
        assert "(p = 0.004)" in text


def test_over_unequal_opponents_every_surface_ranks_by_strength():
    """Of 40 prompts b beats the baseline a on 26, c on 6 and d on 2: a's raw winrate, 86 of 120, is the highest."""
    beats = {"b": 26, "c": 6, "d": 2}
    names = ("a", *beats)
    rows = [{"question": f"question {n}", **{name: f"{name}{n}" for name in names}} for n in range(40)]
    place = {name: position * 7 for position, name in enumerate(names)}  # so that wins fall on different prompts
    quality = {
        f"{name}{n}": ALWAYS * (1.0 if name == "a" else 2.0 * ((n + place[name]) % 40 < beats[name]))
        for n in range(40)
        for name in names
    }
    engine = SimulatedEngine(quality=lambda question, index: quality[question.responses[index]])
    table = compare(rows, names, engine, design="baseline:a", flow="one_step")
    assert table.winrate("a").estimate == pytest.approx(86 / 120)
    assert [(one.system, one.rank) for one in table.ranked] == [("b", 1), ("a", 2), ("c", 3), ("d", 4)]
    assert table.ranked[1].field_winrate.estimate == pytest.approx(86 / 120, abs=1e-6)  # the baseline met all others
    systems, pairs = table.text_tables()
    assert systems.headers[1:3] == ("raw winrate [95%]", "against all [95%]")
    assert [row[0] for row in systems.rows] == ["b", "a", "c", "d"]
    assert pairs.headers[4] == "difference of strengths [95%]"
