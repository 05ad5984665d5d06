"""Checking a data set: what is asked, what the table holds, how it is kept and shown, and recorded verdicts."""

import gzip
import json

import datasets
import pytest

from evenhand import checklist
from evenhand.aggregation.checklist_score import met_answers
from evenhand.errors import ArtifactError, InvalidInputError, TooManyFailuresError, UnknownRuleError
from evenhand.numbers import Missing
from tests.support.checklists import sheet, shown_items
from tests.support.judges import ScriptedJudge, http_judge
from tests.support.server import JudgeServer
from tests.support.shared import shared_path

CHECKS = {
    "name": "mail",
    "items": [
        {"name": "polite", "question": "Is it polite?", "weight": 50, "category": "tone"},
        {"name": "short", "question": "Is it short?", "weight": 10, "category": "form"},
        {"name": "greets", "question": "Does it greet?", "weight": 40, "category": "tone", "prerequisites": ["polite"]},
    ],
}
ROWS = [
    {"topic": "t0", "alder": "alder 0", "birch": "birch 0", "human": ["yes", "no", "yes"]},
    {"topic": "t1", "alder": "alder 1", "birch": "birch 1", "human": [True, None, False]},
    {"topic": "t2", "alder": "alder 2", "birch": None, "human": None},
]
SAID = {
    "alder 0": ("Yes", "Yes", "Yes"),
    "alder 1": ("No", "Yes", "Yes"),
    "alder 2": ("Yes", None, "No"),
    "birch 0": ("No", "No", "No"),
    "birch 1": ("No", "No", "Yes"),
}


def answers(request):
    """What is said of each response; the short one of alder 2 is never answered."""
    said = dict(
        zip([item["question"] for item in CHECKS["items"]], SAID[request.items[0].question.responses[0]], strict=True)
    )
    entries = [
        {"index": item.number, "answer": said[item.question.criterion.description]}
        for item in request.items
        if said[item.question.criterion.description]
    ]
    return json.dumps({"answers": entries})


def check(engine=None, *, rows=ROWS, given=CHECKS, **options):
    settings = {"response_fields": ["alder", "birch"], "journal": None, "progress": False, **options}
    return checklist(rows, given, engine or ScriptedJudge(answers), **settings)


@pytest.fixture(scope="module")
def table():
    return check(gold_fields="human", context_fields=["topic"])


def test_responses_stand_by_system_and_instance(table):
    assert [(each.system, each.instance) for each in table.responses] == [
        (system, instance) for system in ("alder", "birch") for instance in range(3)
    ]


def test_the_scores_by_hand(table):
    alder, birch = table.reports["alder"], table.reports["birch"]
    # alder 0: 3 of 3; alder 1: not polite, so that the greeting is not met: 1 of 3; alder 2: yes, nothing, no: 1 of 2
    assert [result.scores.pass_rate for result in table.results[:3]] == pytest.approx([1, 1 / 3, 1 / 2])
    assert alder.pass_rate.estimate == pytest.approx((1 + 1 / 3 + 1 / 2) / 3)
    assert alder.micro_pass_rate.estimate == pytest.approx(5 / 8)
    assert alder.weighted_score.estimate == pytest.approx((1 + 10 / 100 + 50 / 90) / 3)
    assert alder.scaled_score_1_5.estimate == pytest.approx(4 * alder.pass_rate.estimate + 1)
    assert (alder.answered_share.estimate, alder.num_partial) == (pytest.approx(8 / 9), 1)
    assert birch.pass_rate.estimate == 0.0
    assert (birch.num_instances, birch.num_unscored, birch.unanswered) == (3, 1, 3)
    assert dict(birch.unanswered_reasons) == {"missing_response": 3}
    # alder 2's missing answer: 1 of 3 or 2 of 3
    assert alder.score_if_unscored_0 == pytest.approx((1 + 1 / 3 + 1 / 3) / 3)
    assert alder.score_if_unscored_1 == pytest.approx((1 + 1 / 3 + 2 / 3) / 3)


def test_questions_and_categories_by_hand(table):
    polite, short, greets = table.reports["alder"].items
    assert (polite.label, polite.yes, polite.no, polite.pass_rate.estimate) == ("polite", 2, 1, pytest.approx(2 / 3))
    assert (short.yes, short.no, short.unanswered, short.finding) == (2, 0, 1, "all pass")
    assert (greets.yes, greets.no, greets.by_prerequisite) == (1, 2, 1)
    tone, form = table.reports["alder"].categories
    assert (tone.category, tone.answered, tone.pass_rate.estimate) == ("tone", 6, pytest.approx(3 / 6))
    assert (form.category, form.pass_rate.estimate) == ("form", 1.0)
    assert short.discrimination == Missing("all pass")
    assert -1 <= polite.discrimination.low <= polite.discrimination.estimate <= polite.discrimination.high <= 1


def test_the_agreement_with_people_by_hand(table):
    # alder: yes-yes, no-yes, yes-yes; True-no, -, False-yes: 2 of 5 (what was said, not what prerequisites made of it)
    agreement = table.gold_agreement("alder")
    assert (agreement.estimate, agreement.n) == (pytest.approx(2 / 5), 2)
    assert "agrees with people" in table.to_markdown()
    assert check().gold_agreement("alder") is None


def test_gold_by_item_and_system():
    rows = [{"alder": "alder 0", "birch": "birch 0", "a_polite": "Yes", "b_polite": 0}]
    renamed = [{**row, "alder_polite": row["a_polite"], "birch_polite": row["b_polite"]} for row in rows]
    found = check(rows=renamed, gold_fields={"polite": "{system}_polite"})
    assert [each.gold for each in found.responses] == [("yes", None, None), ("no", None, None)]
    assert found.gold_agreement("birch").estimate == 1.0
    by_name = [{"alder": "alder 0", "birch": "birch 0", "human": {"greets": "n/a", "polite": True}}]
    assert check(rows=by_name, gold_fields="human").responses[0].gold == ("yes", None, "na")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"gold_fields": {"plite": "human"}}, "Did you mean 'polite'"),
        ({"gold_fields": {"polite": "topic"}}, "the gold answer is 't0', which is not an option"),
        ({"gold_fields": "topic"}, "has 1 answer"),
        ({"checklist_field": "topic"}, "give one of them"),
        ({"response_fields": []}, "give the name of a column, or several"),
        ({"response_fields": "aldre"}, "Did you mean 'alder'"),
        ({"mood": "batch"}, "there is no option 'mood'"),
        ({"flow": "one_step"}, "does not belong to a checklist"),
        ({"guidelines": 3}, "give a text"),
        ({"aggregation": "median"}, "median"),
    ],
)
def test_what_cannot_be_used_is_refused_before_the_first_call(options, message):
    engine = ScriptedJudge(answers)
    with pytest.raises((InvalidInputError, UnknownRuleError), match=message):
        check(engine, **options)
    assert engine.requests == []


def test_what_is_not_a_checklist():
    with pytest.raises(ArtifactError, match="which is not a checklist"):
        check(given="metrics.accuracy")


def test_each_row_its_own_checklist():
    rows = [
        {"checks": ["Is it polite?"], "alder": "alder 0", "birch": "birch 0"},
        {"checks": json.dumps(["Is it polite?", "Does it greet?"]), "alder": "alder 1", "birch": "birch 1"},
    ]
    found = check(rows=rows, given=None, checklist_field="checks")
    assert len(found.checklists) == 2
    assert [len(each.verdicts) for each in found.responses] == [1, 2, 1, 2]
    items = {item.label: (item.asked, item.yes) for item in found.reports["alder"].items}
    assert items == {"Is it polite?": (2, 1), "Does it greet?": (1, 1)}
    assert "2 checklists" in str(found)


def test_the_calls_of_a_dry_run_are_those_of_the_run(tmp_path):
    journal = str(tmp_path / "replies.sqlite3")
    for settings, calls in (
        ({}, 5),
        ({"mode": "item"}, 15),
        ({"check_positional_bias": True}, 10),
        ({"samples": 3}, 15),
        ({"shuffle_items": True, "seed": 1}, None),
    ):
        reply = "Yes" if settings.get("mode") == "item" else sheet("Yes", "No", "No")
        with JudgeServer(reply=reply) as server:
            engine = http_judge(server.base_url, model=json.dumps(settings), temperature=1.0)
            options = {"journal": journal, **settings}
            estimate = check(engine, dry_run=True, **options)
            assert server.seen == 0
            check(engine, **options)
            assert server.seen == estimate.calls
            assert calls is None or estimate.calls == calls
            again = check(engine, dry_run=True, **options)
            assert (again.calls, again.cached) == (0, estimate.calls)
            check(engine, **options)
            assert server.seen == estimate.calls


def test_systems_are_never_named_and_each_has_its_own_call():
    engine = ScriptedJudge(answers)
    check(engine, context_fields=["topic"], max_reasks=0)
    sent = [request.messages[0]["content"] for request in engine.requests]
    assert len(sent) == 5
    assert all(set(shown_items(prompt).values()) == {item["question"] for item in CHECKS["items"]} for prompt in sent)
    assert all("Context, topic:" in prompt for prompt in sent)


def test_it_is_shown_as_text_markdown_and_html(table):
    for shown in (str(table), table.to_markdown(), table._repr_html_()):
        for piece in ("mail", "scripted", "alder", "polite", "Pass rate of each category", "1 no_match"):
            assert piece in shown.replace("no match", "no_match"), piece
    assert "due to a prerequisite" in str(table)
    assert repr(table).startswith("<Results: 6 checked responses>")
    alone = str(check(response_fields="alder"))
    assert "discrimination" in alone
    assert "all pass" in alone


def test_as_rows_of_items_and_as_a_data_set_of_responses(table):
    frame = table.to_pandas()
    assert len(frame) == 18
    row = frame[(frame["system"] == "alder") & (frame["instance"] == 1) & (frame["item"] == "greets")].iloc[0]
    assert (row["answer"], row["judged"], row["reason"]) == ("no", "yes", "prerequisite")
    data = table.to_dataset()
    assert isinstance(data, datasets.Dataset)
    assert len(data) == 6
    assert data[0]["pass_rate"] == 1.0
    assert data[0]["items"][0]["votes"][0]["judge_id"] == "scripted"
    assert data[5]["unscored_reason"] == "missing_response"


def test_rescored_without_a_call():
    panel = [
        ScriptedJudge(lambda request: sheet("Yes", "No", "Yes"), name="a"),
        ScriptedJudge(lambda request: sheet("No", "No", "Yes"), name="b"),
    ]
    found = check(panel, rows=[ROWS[0]], response_fields="alder")
    assert {each.item.name: each.answer for each in found.results[0].items} == {
        "polite": "no",
        "short": "no",
        "greets": "no",
    }
    kind = found.rescore(aggregation="any", primary_metric="weighted")
    assert {each.item.name: each.answer for each in kind.results[0].items} == {
        "polite": "yes",
        "short": "no",
        "greets": "yes",
    }
    assert kind.reports["alder"].primary_score.estimate == pytest.approx(90 / 100)
    assert kind.parameters["primary_metric"] == "weighted"
    assert sum(len(judge.requests) for judge in panel) == 2
    assert found.panels("alder").keys() == {"polite", "short", "greets"}
    assert check(rows=[ROWS[0]], response_fields="alder").panels("alder") == {}
    for rules, message in (
        ({"primary_metric": "wieghted"}, "Did you mean 'weighted'"),
        ({"aggregation": "median"}, "median"),
        ({"scoring": "expected"}, "does not belong"),
    ):
        with pytest.raises((InvalidInputError, UnknownRuleError), match=message):
            found.rescore(**rules)


def test_too_many_failures_end_the_run():
    with JudgeServer() as server:
        dead = http_judge(server.base_url)  # the server has stopped when it is asked
    with pytest.raises(TooManyFailuresError):
        check(dead)


# the requirements of 55 tasks, checked by people and by a judge: Zhuge et al. (2024), "Agent-as-a-Judge"
MET_WITH_PREREQUISITES = {"MetaGPT": 6.55, "GPT-Pilot": 28.96, "OpenHands": 28.68}
ALIGNMENT = {"MetaGPT": 92.08, "GPT-Pilot": 86.61, "OpenHands": 90.16}


@pytest.fixture(scope="module")
def recorded():
    path = shared_path("data/devai_checklist.jsonl.gz")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def needed_by(requirement):
    """Its prerequisites; one of the 366 names itself, which says nothing."""
    return [needed for needed in requirement["prereq"] if needed != requirement["id"]]


def checklist_of(row):
    numbers = {each["id"]: place for place, each in enumerate(row["requirements"], start=1)}
    return [
        {
            "name": f"requirement {each['id']}",
            "question": f"Is this requirement met: {each['criteria']}",
            "category": each["category"] or "",
            "prerequisites": [numbers[needed] for needed in needed_by(each)],
        }
        for each in row["requirements"]
    ]


@pytest.fixture(scope="module")
def tables(recorded):
    """One table a system: the judge's recorded verdicts said again, beside those of people."""
    found = {}
    for system in ALIGNMENT:
        rows = [
            {
                "checks": checklist_of(row),
                "response": f"the workspace of {row['task']}",
                "human": [each["human"] for each in row["requirements"]],
                "judge": [each["agent_judge"] for each in row["requirements"]],
            }
            for row in recorded
            if row["system"] == system
        ]
        said = {row["response"]: row["judge"] for row in rows}

        def reply(request, said=said):
            judged = said[request.items[0].question.responses[0]]
            return sheet(*("Yes" if met else "No" for met in judged))

        found[system] = checklist(
            rows,
            None,
            ScriptedJudge(reply, identity=False),
            checklist_field="checks",
            gold_fields="human",
            progress=False,
        )
    return found


def test_the_alignment_with_people(tables):
    for system, published in ALIGNMENT.items():
        agreement = tables[system].gold_agreement("response")
        assert 100 * agreement.estimate == pytest.approx(published, abs=0.006)
        assert agreement.low < agreement.estimate < agreement.high


def test_the_pass_rates_with_prerequisites(recorded, tables):
    """Against a recursion of its own over the recorded verdicts of the judge."""
    for system, table in tables.items():
        met = total = 0
        for row in (row for row in recorded if row["system"] == system):
            by_id = {each["id"]: each for each in row["requirements"]}

            def is_met(number, by_id=by_id):
                return by_id[number]["agent_judge"] and all(map(is_met, needed_by(by_id[number])))

            met += sum(is_met(number) for number in by_id)
            total += len(by_id)
        report = table.reports["response"]
        assert total == 366
        assert report.answered == total
        assert report.micro_pass_rate.estimate == pytest.approx(met / total)


def test_the_published_pass_rates_of_people(recorded):
    """Theirs look at the own answers of the direct prerequisites only."""
    for system, published in MET_WITH_PREREQUISITES.items():
        met, count = 0, 0
        for row in (row for row in recorded if row["system"] == system):
            own = {str(each["id"]): "yes" if each["human"] else "no" for each in row["requirements"]}
            wanted = {str(each["id"]): [str(needed) for needed in needed_by(each)] for each in row["requirements"]}
            met += list(met_answers(own, wanted, transitive=False).values()).count("yes")
            count += len(own)
        assert 100 * met / count == pytest.approx(published, abs=0.011)
