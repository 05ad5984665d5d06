"""Gates say what makes a run fail; what cannot be told never passes in silence."""

import math
from contextlib import suppress
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import evenhand
from evenhand.errors import GateFailedError, InvalidInputError
from evenhand.numbers import Missing
from evenhand.report.gate_evidence import GateEvidence
from evenhand.report.gate_expressions import Both, GateComparison, Limit, Named, Negation, comparisons_in, parse
from evenhand.report.gates import check
from evenhand.results.findings import Finding
from evenhand.results.unscored import UnscoredCounts
from evenhand.statistics import Interval, mean_intervals
from evenhand.statistics.intervals import UnscoredBounds
from tests.support.judges import ScriptedJudge


def interval(estimate, low, high):
    return Interval(estimate, low, high, 0.95, "beta", 200)


def counts(unscored, votes=200):
    """Votes, one for each row."""
    return UnscoredCounts(
        votes=votes,
        unscored_votes=unscored,
        rows=unscored,
        verdicts=votes,
        unscored_verdicts=unscored,
        reasons={"refusal": unscored},
    )


SCORES = (
    Finding("unscored", (), 0.021, "share", 240),
    Finding("relevance", ("new",), interval(0.71, 0.66, 0.76), "score", 200, counts(0)),
    Finding("relevance", ("old",), interval(0.80, 0.76, 0.84), "score", 200, counts(0)),
    Finding("relevance.parse_rate", ("new",), interval(1.0, 0.985, 1.0), "share", 200, counts(0)),
    Finding("relevance.parse_rate", ("old",), interval(0.99, 0.97, 1.0), "share", 200, counts(0)),
    Finding("relevance.difference", ("new", "old"), interval(-0.09, -0.15, -0.03), "difference", 200),
    Finding("relevance.difference", ("old", "new"), interval(0.09, 0.03, 0.15), "difference", 200),
    Finding("relevance.spread", ("new",), Missing("nothing was drawn twice"), "score", 200, counts(0)),
    Finding("answer quality", ("new",), interval(0.5, 0.4, 0.6), "score", 150, counts(50)),
    Finding(
        "tone", ("new",), Missing("unscored"), "score", 60, counts(40, 100), UnscoredBounds(0.4, 0.8, 0.3, 0.9, 0.4)
    ),
    Finding("calls", (), 400, "count"),
)
"""``tone`` has no mean at all: 40 of 100 rows are unscored."""


def results_of(*findings, samples=1):
    parameters = {"grid": {"samples": samples}}
    return SimpleNamespace(findings=lambda: findings, kind="judgements", parameters=parameters)


def gate(expression, **how):
    (found,) = check(results_of(*SCORES), [expression], **how).gates
    return found


def fails(expression):
    return gate(expression).failed


def test_the_line_of_a_gate_that_failed_says_what_was_found_where():
    assert str(gate("relevance[new].low < 0.7")) == (
        "FAILED relevance[new].low < 0.7: relevance of new is 0.71 [0.66, 0.76] (n 200; 0 of 200 votes unscored): "
        "its lower limit 0.66 is below 0.7 (0.7 lies within its interval: about 5,000 in place of 200 "
        "would tell, if it stays where it is)"
    )  # (0.71 - 0.66)² / (0.71 - 0.7)² = 25 times 200


@pytest.mark.parametrize(
    ("expression", "failed"),
    [
        ("relevance[new] < 0.72", True),
        ("relevance[new] < 0.71", False),
        ("relevance[new] <= 0.71", True),
        ("relevance[new] >= 0.71", True),
        ("relevance[new] > 0.71", False),
        ("relevance[new] == 0.71", True),
        ("relevance[new] != 0.71", False),
        ("0.72 > relevance[new]", True),
        ("relevance[new].high > 76 %", False),
        ("relevance[new].high >= 76%", True),
        ("relevance[new].n < 201", True),
        ("unscored > 2 %", True),
        ("unscored > 0.03", False),
        ("calls >= 400", True),
        ("relevance.difference[new, old].high < 0", True),
        ("relevance.difference[old, new].high < 0", False),
        ("relevance.difference[old].low < -1e-3", False),
        ("relevance[new].high < relevance[old].low", False),
        ("relevance[new].high <= relevance[old].low", True),
        ('"answer quality".unscored > 20 %', True),  # 50 of 200
        ("'answer quality'.unscored > 25 %", False),
        ("relevance[new].low < 0.7 and unscored > 0.03", False),
        ("relevance[new].low < 0.7 or unscored > 0.03", True),
        ("not (relevance[new].low >= 0.7)", True),
        ("unscored > 0.03 or unscored < 0.01 and calls > 1", False),  # and binds more tightly
        ("(unscored > 0.03 or unscored < 0.03) and calls > 1", True),
    ],
)
def test_what_fails(expression, failed):
    assert gate(expression).failed is failed


def test_a_mean_that_is_a_last_digit_off_is_what_it_is():
    found = results_of(Finding("relevance", (), 0.1 + 0.2, "score"))  # 0.30000000000000004
    assert [each.failed for each in check(found, ["relevance > 0.3", "relevance != 0.3"]).gates] == [False, False]


def test_without_brackets_a_measure_is_that_of_every_system_and_the_line_names_which():
    one = gate("relevance.low < 0.7")
    assert one.failed
    assert [each.split(" is ")[0] for each in one.found] == ["relevance of new"]
    assert len(gate("relevance.low < 0.8").found) == 2
    assert not gate("relevance.low < 0.6").failed
    # of one system both: new has a low score, and none that is also read perfectly
    assert not fails("relevance.low < 0.7 and relevance.parse_rate < 1")
    assert fails("relevance.low < 0.77 and relevance.parse_rate < 1")


def test_an_assertion_holds_of_all_and_what_cannot_be_told_does_not_hold():
    assert gate("relevance.low >= 0.66", holding=True).failed is False
    assert gate("relevance.low >= 0.7", holding=True).failed is True
    assert gate("relevance.spread[new] < 1", holding=True).undecided is True


@pytest.mark.parametrize("sign", ["<", "<=", ">", ">=", "==", "!="])
def test_what_has_no_number_fails_every_gate_with_the_reason(sign):
    for expression in (f"relevance.spread {sign} 0.3", f"not relevance.spread {sign} 0.3"):
        found = gate(expression)
        assert (found.failed, found.undecided) == (True, True)
        assert found.found == ("relevance.spread of new has no number: nothing was drawn twice",)


def test_what_is_unknown_does_not_matter_where_the_rest_decides():
    assert not fails("relevance.spread > 1 and unscored > 0.5")
    decided = gate("relevance.spread > 1 or unscored > 0.01")
    assert (decided.failed, decided.undecided) == (True, False)


@pytest.mark.parametrize(
    ("expression", "failed", "undecided"),
    [  # the mean lies between 0.4 and 0.8, the limits of its interval from 0.3 and to 0.9
        ("tone < 0.3", False, False),
        ("tone < 0.5", True, True),
        ("tone < 0.85", True, False),
        ("tone.low < 0.25", False, False),
        ("tone.low < 0.7", True, True),
        ("tone.high > 0.95", False, False),
        ("tone.high > 0.85", True, True),
    ],
)
def test_where_so_much_is_unscored_that_either_may_be_a_gate_fails_and_says_so(expression, failed, undecided):
    found = gate(expression)
    assert (found.failed, found.undecided) == (failed, undecided)
    assert ("too many votes are unscored to tell" in str(found)) is undecided
    assert "0.40–0.80 [0.30, 0.90], 40 % of rows affected" in str(found)


def test_a_limit_within_the_interval_is_noise_and_beyond_it_is_none():
    assert gate("relevance[new] < 0.7").in_noise
    assert not gate("relevance[new] < 0.65").in_noise
    assert "too near" in str(gate("relevance[new] < 0.71"))


def test_where_draws_differ_so_much_that_drawing_again_could_decide_otherwise_it_says_how_many_would_settle_it():
    held = [
        Finding("quality", ("new",), interval(4.75, 4.5, 5.0), "score", 10, 0),
        Finding("quality.draw_deviation", ("new",), interval(0.4, 0.3, 0.5), "score", 10, 0),
    ]
    (near,) = check(results_of(*held, samples=3), ["quality < 4.65"]).gates
    # (2.086 · 0.4 / 0.1)² / 10 = 6.96, with Student's quantile of 20 degrees of freedom
    assert "as draws differ by ± 0.40: 7 draws in place of 3 settle it" in str(near)
    assert near.in_noise
    (far,) = check(results_of(*held, samples=3), ["quality < 4.4"]).gates
    assert "draw" not in str(far)
    (same,) = check(results_of(*held, samples=3), ["quality < 4.75"]).gates
    assert str(same).endswith("draws differ by ± 0.40)")  # no number of draws settles that
    (once,) = check(results_of(*held), ["quality < 4.65"]).gates
    assert "draw" not in str(once)


@pytest.mark.parametrize(("estimate", "limit"), [(0.71, 0.7), (0.6, 0.55), (1.0, 0.98)])
def test_as_many_rows_as_it_names_tell(estimate, limit):
    """The interval of a share of so many rows leaves the limit out, and that of a fifth fewer does not."""

    def share_of(n):
        hits = round(estimate * n)
        return mean_intervals([1.0] * hits + [0.0] * (n - hits))[0]

    held = results_of(Finding("share", (), share_of(100), "share", 100))
    (found,) = check(held, [f"share < {limit}"]).gates
    rows = int(str(found).split("about ")[1].split(" in place")[0].replace(",", ""))
    assert share_of(rows).low > limit - 0.001
    assert share_of(round(0.8 * rows)).low < limit


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("relevence.low < 0.7", "Did you mean 'relevance.low'?"),
        ("relevance.lwo < 0.7", "Did you mean 'relevance.low'?"),
        ("relevance[neu].low < 0.7", "there is no relevance of 'neu'. Did you mean 'new'? Accepted: 'new', 'old'."),
        ("relevance.difference.high < 0", "name them, as relevance.difference[new, old]"),
        ("unscored.low > 0.1", "unscored is a number without an interval: leave .low out"),
        ("unscored > 2", "a share from 0 to 1, with 2: write 2 % or 0.02"),
        ("1 < relevance.low < 2", "a comparison has two sides"),
        ("relevance", "at its end: a comparison needs"),
        ("relevance = 0.7", "at '= 0.7': equality is written =="),
        ("relevance <> 0.7", "write !="),
        ("relevance < 0,7", "',' belongs to no gate"),
        ("(relevance < 0.7", "a parenthesis is not closed"),
        ("relevance < 0.7 unscored > 1", "join comparisons by and / or"),
        ("answer quality < 1", "a comparison needs"),
        ("1 < 2", "compares two numbers"),
        ("unscored < 1e999", "too great"),
        ("", "a gate is ''"),
        ("__import__('os').system('true') < 1", "a comparison needs"),
        ("(" * 60 + "unscored < 1" + ")" * 60, "more than 50 parentheses"),
        ("relevance[] < 1", "a name in the brackets is empty"),
        ("relevance[new < 1", "a bracket is not closed"),
    ],
)
def test_what_is_no_gate_or_names_nothing_is_one_error_that_says_where(expression, said):
    with pytest.raises(InvalidInputError) as refused:
        gate(expression)
    assert said in str(refused.value)


def test_an_unknown_name_is_answered_with_all_that_there_are():
    with pytest.raises(InvalidInputError) as refused:
        gate("clarity < 1")
    listed = (
        'It has unscored, "answer quality", tone, calls; relevance, and of it .parse_rate, .difference, .spread; and'
    )
    assert listed in str(refused.value)


NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)


@given(NAMES, NAMES, st.floats(-1e6, 1e6))
def test_any_name_can_be_written_in_quotes(criterion, system, number):
    def quoted(name):
        return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'

    parsed = parse(f"{quoted(criterion)}[{quoted(system)}].low <= {number!r}")
    assert isinstance(parsed, GateComparison)
    assert parsed.left == Named((criterion, "low"), (system,), (), parsed.left.text)
    assert parsed.right.value == number


@given(st.lists(NAMES, min_size=1, max_size=3).map(".".join), st.lists(NAMES | st.just("a, b=c"), max_size=2))
def test_what_is_printed_of_a_number_can_be_written_in_a_gate(name, of):
    named = parse(f"{Finding(name, tuple(of), 0.5, 'share').label} < 1").left
    assert (".".join(named.path), named.of) == (name, tuple(of))


@given(st.text("ab.<=>!()[]\"'0 1%-andortn,\\", max_size=30))
def test_every_text_is_a_gate_or_one_error(text):
    with suppress(InvalidInputError):
        assert list(comparisons_in(parse(text)))


TRUTHS = {"unscored > 0": True, "unscored > 1 %": True, "unscored > 0.9": False, "relevance.spread > 1": None}


def kleene(expression):
    """Three-valued truth by the tables of Kleene, with 1 for true, 0 for false and a half for what cannot be told."""
    match expression:
        case Negation(part):
            return 1 - kleene(part)
        case Both(kind, parts):
            return (min if kind == "and" else max)(map(kleene, parts))
        case GateComparison(Named(path=("relevance", "spread")), _, _):
            return 0.5
        case GateComparison(_, _, Limit(value=limit)):
            return float(limit < 0.021)


GATES = st.recursive(
    st.sampled_from(list(TRUTHS)),
    lambda part: st.one_of(
        part.map("not ({})".format),
        st.tuples(part, st.sampled_from(["and", "or"]), part).map("({0[0]}) {0[1]} ({0[2]})".format),
    ),
    max_leaves=6,
)


@given(GATES)
def test_a_gate_passes_only_where_it_is_false_whatever_is_unknown(expression):
    assert gate(expression).failed is (kleene(parse(expression)) > 0)


ROWS = [
    {
        "id": f"r{number}",
        "language": "de" if number % 2 else "en",
        "answer": "Yes" if number % 4 else "No",
        "gold": "Yes",
    }
    for number in range(20)
]


OPTIONS = (evenhand.Option(label="Yes", value=1.0), evenhand.Option(label="No", value=0.0))
YES = evenhand.Criterion(name="is yes", description="Is it a yes?", options=OPTIONS, scale="binary")


@pytest.fixture(scope="module")
def judged():
    """Of the rows in German all are yes, of those in English a half."""

    def reply(request):
        return "No" if "\nNo\n" in request.messages[-1]["content"] else "Yes"

    return evenhand.judge(
        ROWS,
        YES,
        ScriptedJudge(reply),
        response_field="answer",
        group_fields="language",
        id_field="id",
        gold_fields={"is yes": "gold"},
        flow="one_step",
        check_positional_bias=False,
        journal=None,
        progress=False,
    )


def test_a_group_is_checked_alone_and_agrees_with_results_by(judged):
    by = {name[0]: each.score for name, each in judged.by("language").scores.items()}
    name = '"is yes"'
    for group, score in by.items():
        if group != "all rows":
            (found,) = judged.check(f"{name}[language={group}] == {score.estimate}").gates
            assert found.failed, str(found)
            assert f"where language is {group}," in str(found)
    report = judged.check(f"{name}[language=*].low < 0.5")
    assert [each.split(", is ")[0] for each in report.failed[0].found] == [
        f"{name[1:-1]} of answer, where language is en"
    ]
    with pytest.raises(InvalidInputError, match=r"no row has 'dee' there\. Did you mean 'de'"):
        judged.check(f"{name}[language=dee] < 1")


def test_two_groups_are_compared_with_each_other(judged):
    name = '"is yes"'
    english, german = (f"{name}[language={group}]" for group in ("en", "de"))  # a half, and all
    assert judged.check(f"{english} < {german}").failed
    assert not judged.check(f"{german} < {english}").failed
    (found,) = judged.check(f"{english} < {name}[language=*]").failed
    assert "where language is en, is 0.50" in found.found[0]
    assert "where language is de, is 1.00" in found.found[0]
    with pytest.raises(InvalidInputError, match="a column twice: a row is of one group"):
        judged.check(f"{name}[language=de, language=en] < 1")


def graded(rows, names="is yes", **how):
    criteria = [YES.model_copy(update={"name": name}) for name in ([names] if isinstance(names, str) else names)]
    said = ScriptedJudge(lambda request: request.question.responses[0])
    quiet = {"flow": "one_step", "check_positional_bias": False, "journal": None, "progress": False}
    return evenhand.judge(rows, criteria, said, response_field="answer", **quiet, **how)


def test_groups_of_two_columns_of_which_there_are_no_rows_are_no_alarm():
    kinds = [("de", "law", "Yes"), ("en", "law", "No"), ("en", "art", "Yes"), ("fr", "", "Yes")]  # and no German art
    rows = [{"language": language, "topic": topic, "answer": said} for language, topic, said in kinds]
    held = graded([{**row, "topic": row["topic"] or None} for row in rows], group_fields=["language", "topic"])
    every, other = ('"is yes"[language=*, topic=*]', '"is yes"[language=*, topic=law]')
    assert not held.check(f"{every} < 0").failed
    (found,) = held.check(f"{every} < 1").failed
    assert (len(found.found), found.undecided) == (1, False)
    assert "where language is en and topic is law, is 0.00" in found.found[0]
    # of French law there are no rows either, and so a gate that names it alone cannot be told
    assert held.check('"is yes"[language=fr, topic=law] < 1').failed[0].undecided
    assert not held.check(f"{other} < 0").failed
    assert held.check(f"{every} < 0 or {other} < 0").failed[0].undecided  # which names German art beside German law
    with pytest.raises(InvalidInputError, match="no row is of such groups"):
        held.check('"is yes"[language=fr, topic=*] < 1')


def test_a_criterion_called_unscored_is_not_taken_for_the_share_unscored_of_the_whole():
    held = graded([{"answer": "Yes"}, {"answer": "No"}], "unscored")
    assert held.check("unscored[answer] == 0.5").failed
    assert held.check("unscored.unscored > 0.5").failed == ()
    for given_gate in ("unscored < 0.6", "unscored.low < 0.6"):
        with pytest.raises(InvalidInputError, match=r"name the system of the score, as unscored\[SYSTEM\]"):
            held.check(given_gate)
    assert not graded([{"answer": "Yes"}]).check("unscored > 0").failed


def test_a_name_that_two_numbers_have_never_passes():
    items = {"name": "unscored", "items": [{"question": "Is it so?"}]}
    how = {"response_field": "answer", "journal": None, "progress": False}
    checked = evenhand.checklist([{"answer": "x"}], items, ScriptedJudge(["Yes", "Yes"]), **how)
    (found,) = checked.check("unscored[answer] < 0").failed
    assert "two numbers are called so" in str(found)


@pytest.mark.parametrize("limit", ["pass_rate > 3", "scaled_score_1_5.low < 0.7", "weighted_score[answer] > 1.5"])
def test_further_scores_of_a_checklist_have_their_units_too(limit):
    how = {"response_field": "answer", "journal": None, "progress": False}
    items = {"name": "list", "items": [{"question": "Is it so?"}]}
    checked = evenhand.checklist([{"answer": "x"}], items, ScriptedJudge(["Yes", "Yes"]), **how)
    assert checked.check("scaled_score_1_5 > 4.5", "pass_rate > 0.9").failed
    with pytest.raises(InvalidInputError, match="Give a limit in its units"):
        checked.check(limit)


def test_corrected_scores_are_those_of_correct(judged):
    corrected = judged.correct(design="random").scores[0].corrected
    name = '"is yes"'
    (found,) = judged.check(f"{name}.corrected.low == {corrected.low!r}", design="random").gates
    assert found.failed
    assert "(labels 20)" in str(found)
    with pytest.raises(InvalidInputError, match="design is not given"):
        judged.check(f"{name}.corrected.low < 1")


@pytest.mark.parametrize("limit", ["1.5", "-0.1", "70"])
def test_a_limit_that_no_score_can_reach_is_refused_because_such_a_gate_never_fires(judged, limit):
    with pytest.raises(InvalidInputError, match=r"lies between 0\.00 and 1\.00, with .*: it would always come out"):
        judged.check(f'"is yes" > {limit}')
    assert not judged.check('"is yes" > 1').failed


def test_a_limit_is_in_the_units_of_the_criterion_and_a_difference_within_its_width():
    options = [{"label": str(level), "value": level} for level in range(1, 6)]
    criterion = {"name": "grade", "description": "How good is it?", "options": options, "scale": "ordinal"}
    rows = [{"new": "a", "old": "b"}] * 3
    how = {"response_field": ["new", "old"], "flow": "one_step", "check_positional_bias": False, "journal": None}
    results = evenhand.judge(rows, criterion, ScriptedJudge(["4"] * 6), progress=False, **how)
    assert results.check("grade.low < 4.9").failed
    assert not results.check("grade.difference[new, old] > 4").failed
    for gate_of_another_scale in ("grade.low < 0.7", "grade.difference[new, old] > 4.5"):
        with pytest.raises(InvalidInputError, match="Give a limit in its units"):
            results.check(gate_of_another_scale)


def test_a_winrate_is_corrected_under_its_name():
    rows = [{"id": str(row), "new": "a", "old": "b", "third": "c", "gold": "new"} for row in range(12)]
    how = {"check_positional_bias": False, "journal": None, "progress": False, "id_field": "id", "resamples": 50}
    systems = ["new", "old", "third"]
    judge = ScriptedJudge(["Response A"] * 36)
    compared = evenhand.winrates(rows, systems, "Which response is better?", judge, flow="one_step", **how)
    pairs = [("new", "old"), ("new", "third"), ("old", "third")]
    asked = [{"id": str(row), "first": one, "second": two, "label": one} for row in range(8) for one, two in pairs]
    labels = [label for label in asked if label["id"] != "7" or label["second"] == "old"]
    corrected = compared.correct(labels, design="random")
    pair = next(each for each in corrected.scores if (each.system, each.criterion) == ("new", "against old"))
    report = compared.check(f"winrate[new, old].corrected.low <= {pair.corrected.low!r}", gold=labels, design="random")
    assert "corrected winrate of new against old" in str(report.failed[0])
    assert "(labels 8)" in str(report.failed[0])


def test_without_labels_a_corrected_gate_fails_and_says_why(judged):
    rows = [{key: row[key] for key in ("id", "answer")} for row in ROWS[:2]]
    how = {"response_field": "answer", "flow": "one_step", "journal": None, "progress": False}
    found = evenhand.judge(rows, YES, ScriptedJudge(["Yes"] * 8), **how).check('"is yes".corrected < 1')
    assert "there are no labels of people" in str(found.failed[0])


def test_a_report_prints_raises_and_is_read(judged):
    name = '"is yes"'
    report = judged.check(f"{name}.low < 0.99", "unscored > 2 %")
    assert [each.expression for each in report.failed] == [f"{name}.low < 0.99"]
    assert "Gates: 1 of 2 passed" in str(report)
    with pytest.raises(GateFailedError) as failed:
        report.raise_if_failed()
    assert str(failed.value) == str(report.failed[0])
    passing = judged.check("unscored > 2 %")
    assert passing.raise_if_failed() is passing
    assert math.isclose(judged.findings()[0].value, 0.0)


def test_what_is_not_counted_is_not_taken_for_nothing():
    left = gate("relevance.difference[new, old].unscored > 2 %")  # of a difference nobody counts what is unscored
    assert left.undecided
    assert "has no number: its unscored votes are not counted" in left.told


def test_a_gate_of_every_group_is_refused_where_no_row_has_one():
    results = results_of(*SCORES)
    results.group_of = lambda column, data: [None, "", None]
    evidence = GateEvidence(results)
    with pytest.raises(InvalidInputError, match="no row has anything in 'language'"):
        list(evidence.bindings(parse("unscored[language=*] > 2 %")))


def test_brackets_behind_what_is_of_the_whole_are_refused():
    with pytest.raises(InvalidInputError, match="unscored is of the whole: leave the brackets out"):
        gate("unscored[new] > 2 %")


def test_what_changed_between_runs_is_not_told_by_what_was_read_alone():
    rows = [{"answer": f"number {number}"} for number in range(10)]
    how = {"response_field": "answer", "flow": "one_step", "journal": None, "progress": False, "max_failure_rate": 1.0}

    def judged(numbers):
        read = [f"number {number}" for number in numbers]
        judge = ScriptedJudge(lambda request: "Yes" if any(n in request.messages[0]["content"] for n in read) else "?")
        return evenhand.judge(rows, "Is it so?", judge, check_positional_bias=False, **how)

    whole, part, none = judged(range(10)), judged(range(6)), judged([])
    bounds = [
        found.bounds
        for other in (whole, part)
        for found in whole.compare(other).findings()
        if found.name == "is_it_so.change"
    ]
    assert bounds[0] is None
    assert (bounds[1].low, bounds[1].high, bounds[1].share) == (-0.4, 0.0, 0.4)  # the other four may all be No
    compared = whole.compare(part)
    close, far = check(compared, ["is_it_so.change < -0.3", "is_it_so.change < -0.5"]).gates
    assert close.undecided
    assert not far.failed
    assert check(whole.compare(none), ["is_it_so.change.low < -0.9"]).failed  # nothing is known of it
    assert not check(compared, ["is_it_so.change < -1"]).failed
    with pytest.raises(InvalidInputError, match=r"lies between -1\.00 and 1\.00, with -7: it would always come out"):
        check(compared, ["is_it_so.change < -7"])
