"""What a result says of how it was made, and what a comparison says of two that were not made the same way."""

import warnings

import pytest

import evenhand
from evenhand.by_name import open as open_results
from evenhand.engines.simulated import SimulatedEngine
from evenhand.prompts import whole_source
from evenhand.results.made_by import ConfoundedComparisonWarning
from tests.golden.runs import QUIET

CLARITY = "criteria.evenhand.direct.clarity"
BETTER = "criteria.evenhand.pairwise.overall_quality"
ROWS = [{"question": f"q{n}", "small": f"It is {n}.", "large": None if n == 2 else f"No, {n}."} for n in range(6)]
SYSTEMS = ["small", "large"]
RUBRIC = {"name": "r", "criteria": ["Is it polite?", "Is it short?"]}
EXAMPLE = {"response": "a", "question": "q", "clarity": "Clear at once"}
JUDGE = SimulatedEngine(name="first")
HOW = {"response_fields": SYSTEMS, "context_fields": ["question"], **QUIET}


def judged(judge=JUDGE, rows=ROWS, criteria=CLARITY, **options):
    return evenhand.judge(rows, criteria, judge, **{**HOW, **options})


def of(results):
    return results.fingerprint


def test_the_same_run_has_the_same_fingerprint_and_saving_keeps_it(tmp_path):
    one = judged()
    assert of(one).changes(of(judged())) == ()
    one.save(tmp_path / "one.parquet")
    assert of(open_results(tmp_path / "one.parquet")) == of(one)
    assert of(judged(seed=7, level=0.9)).changes(of(one)) == ()  # nothing of how the judge is asked


@pytest.mark.parametrize(
    ("other", "says"),
    [
        ({"judge": SimulatedEngine(name="second")}, ["judge (first → second)"]),
        ({"judge": SimulatedEngine(name="first", noise=1.0)}, ["settings of the judge first"]),
        ({"flow": "one_step"}, ["prompts", "flow ('two_step' → 'one_step')"]),
        ({"max_reasks": 0}, ["prompts", "max_reasks (1 → 0)"]),
        ({"prompt": "Is {{ response }} clear?"}, ["prompts", "prompt (None → "]),
        ({"guidelines": "Be strict."}, ["guidelines ('' → 'Be strict.')"]),
        ({"samples": 3}, ["samples (1 → 3)"]),
        ({"criteria": "criteria.evenhand.direct.relevance"}, ["criteria"]),
        (
            {"examples": [{"response": "a", "question": "q", "clarity": "Clear at once"}]},
            ["prompts", "examples (0 → 1)"],
        ),
    ],
)
def test_what_was_not_the_same_is_named(other, says):
    changes = of(judged()).changes(of(judged(**other)))
    assert len(changes) == len(says)
    assert all(change.startswith(said) for change, said in zip(changes, says, strict=True))


@pytest.mark.parametrize(
    ("ask", "used"),
    [
        (judged, ["direct_assessment", "selection", "reask"]),
        (lambda: judged(flow="one_step", max_reasks=0), ["direct_one_step"]),
        (lambda: judged(flow="verdict_only", max_reasks=0), ["direct_verdict"]),
        (lambda: judged(generate_summaries=True), ["direct_assessment", "selection", "reask", "summary"]),
        (lambda: judged(criteria=RUBRIC, calls="per_item"), ["rubric_sheet", "sheet_reask"]),
        (lambda: evenhand.checklist(ROWS, ["Is it?"], JUDGE, **HOW), ["checklist_sheet", "sheet_reask"]),
        (lambda: evenhand.checklist(ROWS, ["Is it?"], JUDGE, mode="item", **HOW), ["checklist_item", "reask"]),
        (
            lambda: evenhand.winrates(
                ROWS, BETTER, JUDGE, response_fields=SYSTEMS, context_fields=[], flow="one_step", **QUIET
            ),
            ["comparison_one_step", "reask"],
        ),
        (
            lambda: evenhand.grade_scores(
                ROWS, BETTER, JUDGE, response_fields=SYSTEMS, context_fields=[], prompts=["select", "grade"], **QUIET
            ),
            ["best_of_select", "best_of_grade", "reask"],
        ),
    ],
)
def test_the_prompts_are_those_that_are_sent(ask, used, monkeypatch):
    """Another text of a template that is used is another fingerprint; of one that is not used it is the same."""
    before = of(ask()).prompts
    own = lambda name, changed: whole_source(name) + (" changed" if name == f"{changed}.md" else "")  # noqa: E731
    for name in [used[len(used) // 2], "best_of_verdict"]:
        monkeypatch.setattr("evenhand.judging.conversation.whole_source", lambda each, name=name: own(each, name))
        assert (of(ask()).prompts != before) == (name in used)


def test_a_template_is_known_with_the_parts_that_it_includes():
    assert whole_source("_fence.md").strip() in whole_source("direct_assessment.md")


def test_each_row_has_digits_for_what_was_shown_of_it():
    changed = [
        {**row, "small": "Other."} if n == 3 else {**row, "question": "?"} if n == 4 else row
        for n, row in enumerate(ROWS)
    ]
    one, other = of(judged()), of(judged(rows=changed))
    same = {name: [one.shown_of(n, [name]) == other.shown_of(n, [name]) for n in range(6)] for name in SYSTEMS}
    assert same == {"small": [True, True, True, False, False, True], "large": [True, True, True, True, False, True]}
    assert one.shown_of(2, ["large"]) is None  # there was no response
    assert one.shown_of(9, ["small"]) is None
    contest = evenhand.winrates(ROWS, BETTER, JUDGE, response_fields=SYSTEMS, context_fields=["question"], **QUIET)
    assert contest.fingerprint.shown == one.shown


def test_a_comparison_says_what_was_not_the_same():
    def notes(one, other):
        return one.compare(other).text_tables()[0].notes[1:]

    one, second = judged(), SimulatedEngine(name="second")
    renewed = [{**row, "small": "New."} for row in ROWS]
    assert notes(one, judged()) == (
        "Made in the same way, of the same responses: what differs is what judges say when asked again.",
    )
    assert one.compare(judged(second)).changed == ("judge (first → second)",)
    assert notes(one, judged(second)) == ("Not made the same way: judge (first → second).",)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert notes(one, judged(rows=renewed)) == ("On 6 of 12 rows the judges were shown something else.",)
        assert one.compare(judged(rows=renewed)).changed == ("what was shown (on 6 of 12 rows)",)
    with pytest.warns(ConfoundedComparisonWarning, match="Both what was judged and how it was judged differ"):
        assert len(notes(one, judged(second, renewed))) == 3
    assert notes(one, one.rescore(on_position_bias="first")) == (
        "Not made the same way: on_position_bias (None → 'first').",
    )


def test_labels_of_people_are_the_anchors_of_a_result():
    rows = [{**row, "gold": "Clear at once"} for row in ROWS]
    gold = {"gold_fields": {"clarity": "gold"}}
    one, other = judged(rows=rows, **gold), judged(rows=rows, judge=SimulatedEngine(name="second"), **gold)
    assert of(one).anchors == of(other).anchors
    assert of(one).anchors != of(judged(rows=[{**row, "gold": None} for row in rows[:1]] + rows[1:], **gold)).anchors
    assert not of(judged()).anchors


def test_the_models_are_those_that_replies_name():
    cells = list(judged().cells())
    first = cells[0].votes[0]
    dated = first.model_copy(update={"completion": first.completion.model_copy(update={"model": "m-2026-01"})})
    one = judged()
    other = one.remade({**one.judged(), "parameters": one.parameters}, [cells[0]._replace(votes=(dated,)), *cells[1:]])
    assert "m-2026-01" in of(other).models
