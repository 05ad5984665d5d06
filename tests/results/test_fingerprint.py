"""What a result says of how it was made, and what a comparison says of two that were not made the same way."""

import pytest

import evenhand
from evenhand.by_name import open as open_results
from evenhand.engines.free_engines import SimulatedEngine
from evenhand.prompts import whole_source
from tests.golden.runs import QUIET

CLARITY = "criteria.evenhand.direct.clarity"
BETTER = "criteria.evenhand.pairwise.overall_quality"
ROWS = [{"question": f"q{n}", "small": f"It is {n}.", "large": None if n == 2 else f"No, {n}."} for n in range(6)]
SYSTEMS = ["small", "large"]
RUBRIC = {"name": "r", "criteria": ["Is it polite?", "Is it short?"]}
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
        (lambda: judged(flow="verdict_only", max_reasks=0), ["direct_verdict"]),
        (lambda: judged(generate_summaries=True), ["direct_assessment", "selection", "reask", "summary"]),
        (lambda: judged(criteria=RUBRIC, calls="per_item"), ["rubric_sheet", "sheet_reask"]),
        (lambda: evenhand.checklist(ROWS, ["Is it?"], JUDGE, **HOW), ["checklist_sheet", "sheet_reask"]),
        (lambda: evenhand.winrates(ROWS, BETTER, JUDGE, flow="one_step", **HOW), ["comparison_one_step", "reask"]),
        (lambda: evenhand.grade_scores(ROWS, BETTER, JUDGE, prompts=["select"], **HOW), ["best_of_select", "reask"]),
    ],
)
def test_the_prompts_are_those_that_are_sent(ask, used, monkeypatch):
    """Another text of a template that is used is another fingerprint; of one that is not used it is the same."""
    before = of(ask()).prompts
    own = lambda name, changed: whole_source(name) + (" changed" if name == f"{changed}.md" else "")  # noqa: E731
    for name in [used[len(used) // 2], "best_of_verdict"]:
        monkeypatch.setattr("evenhand.judging.conversation.whole_source", lambda each, name=name: own(each, name))
        assert (of(ask()).prompts != before) == (name in used)
