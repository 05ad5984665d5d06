"""Hand-worked checklists; an item without an answer is never a no."""

import pytest

from evenhand.aggregation.scores import item_results, met_answers
from evenhand.aggregation.verdict import VoteRules, aggregate
from evenhand.criteria import Checklist, ChecklistItem
from evenhand.votes import Vote
from tests.aggregation.builders import checklist_scores, possible_scores

YES_NO = ChecklistItem(question="Is it?", name="is").as_criterion()
INDEX = {"yes": 0, "no": 1, "na": 2, None: None}


def vote(answer, judge="a", order=(0, 1), sample=0, probabilities=None, **more):
    reason = "no_match" if answer is None else None
    return Vote(
        judge_id=judge,
        order=order,
        sample=sample,
        selected_index=INDEX[answer],
        na=answer == "na",
        probabilities=probabilities,
        unscored_reason=reason,
        **more,
    )


def verdict_of(*answers, item=None):
    """One verdict of one judge's draws, or the verdict on the votes given."""
    votes = [one if isinstance(one, Vote) else vote(one, sample=place) for place, one in enumerate(answers)]
    criterion = ChecklistItem(question="Is it?", name="is", na=True).as_criterion() if item is None else item
    return aggregate(votes, criterion)


@pytest.mark.parametrize(
    ("own", "needed", "met"),
    [
        ("yes", ["yes"], "yes"),
        ("yes", ["no"], "no"),  # its prerequisite failed
        ("yes", [None], None),  # not known whether it is met: never a no
        ("yes", ["na"], "yes"),  # what does not apply cannot fail
        ("no", [None], "no"),  # a no whatever the prerequisite is
        ("no", ["yes"], "no"),
        (None, ["no"], "no"),  # cannot be met whatever the missing answer is
        (None, ["yes"], None),
        ("na", ["no"], "na"),  # does not apply, whatever it would need
        ("yes", ["yes", None, "no"], "no"),
        ("yes", ["yes", None], None),
        ("yes", [], "yes"),
    ],
)
def test_an_item_and_its_prerequisites(own, needed, met):
    answers = {f"needed {place}": answer for place, answer in enumerate(needed)}
    assert met_answers({**answers, "item": own}, {"item": list(answers)})["item"] == met


def test_prerequisites_reach_through_others():
    answers = {"c": "yes", "a": "no", "b": "yes"}
    needed = {"c": ["b"], "b": ["a"]}
    assert met_answers(answers, needed) == {"c": "no", "a": "no", "b": "no"}
    assert met_answers(answers, needed, transitive=False) == {"c": "yes", "a": "no", "b": "no"}


def test_the_items_of_a_checklist_with_reasons():
    checklist = Checklist(
        name="l",
        items=(
            ChecklistItem(name="runs", question="Runs?"),
            ChecklistItem(name="fast", question="Fast?", prerequisites=("runs",)),
            ChecklistItem(name="short", question="Short?"),
            ChecklistItem(name="elegant", question="Elegant?", prerequisites=("short",)),
        ),
    )
    results = item_results([verdict_of("no"), verdict_of("yes"), verdict_of(None), verdict_of("yes")], checklist)
    assert [(result.answer, result.judged, result.reason) for result in results] == [
        ("no", "no", None),
        ("no", "yes", "prerequisite"),
        (None, None, "no_match"),
        (None, "yes", "prerequisite_unanswered"),
    ]
    assert [result.confidence for result in results] == [None, 0.0, None, None]
    score = checklist_scores([result.verdict for result in results], checklist)
    assert (score.yes, score.no, score.unanswered) == (0, 2, 2)


def confidence_of(verdict, **rules):
    return item_results([verdict], checklist_of(1), **rules)[0].confidence


def test_below_the_least_mass_the_answer_counts():
    votes = [vote("yes", probabilities=(0.1, 0.3, 0)), vote("yes", sample=1, probabilities=(0.6, 0.2, 0))]
    verdict = verdict_of(*votes)
    assert confidence_of(verdict) == pytest.approx((1 + 0.75) / 2)  # .4 is covered by the first: its yes counts
    assert confidence_of(verdict, rules=VoteRules(min_mass=0.4)) == pytest.approx((0.25 + 0.75) / 2)
    assert item_results([verdict], checklist_of(1))[0].covered_mass == pytest.approx((0.4 + 0.8) / 2)


def test_without_probabilities_the_share_of_yes_among_draws():
    assert confidence_of(verdict_of("yes", "no", "yes", "yes", None)) == pytest.approx(3 / 4)
    assert confidence_of(verdict_of("yes")) is None
    assert confidence_of(verdict_of("yes", None)) is None
    assert confidence_of(verdict_of(None)) is None


def test_weights_count_where_the_rule_is_weighted():
    votes = [vote("yes", weight=3.0), vote("no", judge="b")]
    verdict = aggregate(votes, YES_NO, "weighted")
    assert confidence_of(verdict, rules=VoteRules(aggregation="weighted")) == pytest.approx(3 / 4)
    assert confidence_of(verdict) == pytest.approx(1 / 2)


def checklist_of(count, weights=None, prerequisites=()):
    weights = weights or [1] * count
    needed = dict(prerequisites)
    return Checklist(
        name="l",
        items=tuple(
            ChecklistItem(
                name=f"item {place}",
                question=f"Is it {place}?",
                weight=weights[place],
                na=True,
                prerequisites=tuple(f"item {other}" for other in needed.get(place, ())),
            )
            for place in range(count)
        ),
    )


def test_the_scores_that_missing_answers_leave_open():
    # yes, missing (weight 3), no: 1 / 3 to 2 / 3; weighted 1 / 5 to 4 / 5
    verdicts = [verdict_of("yes"), verdict_of(None), verdict_of("no")]
    checklist = checklist_of(3, [1, 3, 1])
    assert possible_scores(verdicts, checklist) == pytest.approx((1 / 3, 2 / 3))
    assert possible_scores(verdicts, checklist, primary="weighted_score") == pytest.approx((1 / 5, 4 / 5))
    assert possible_scores([verdict_of("na")] * 3, checklist) is None


def test_a_missing_vote_leaves_open_what_the_others_would_say():
    # two yes of three: a third no would not change the answer, but the mean probability
    verdict = verdict_of(vote("yes"), vote("yes", judge="b"), vote(None, judge="c"), item=YES_NO)
    assert possible_scores([verdict], checklist_of(1)) == (1.0, 1.0)
    assert possible_scores([verdict], checklist_of(1), primary="normalized_score") == pytest.approx((2 / 3, 1.0))


# P(yes), P(no) of each judge, which all said yes; the rule; what the item is.
EARNED = [
    ([(0.55, 0.45)], None, "no"),  # unsure
    ([(0.45, 0.55)], None, "no"),  # the token drawn was the rarer one
    ([(0.33, 0.27)], None, "no"),  # .55 of what yes and no cover
    ([(0.6, 0.4)], None, "yes"),  # yes_70 begins here
    ([(0.3, 0.05)], None, "yes"),  # covers .35 < min_mass: a plain yes
    ([(0.95, 0.05), (0.55, 0.45), (0.55, 0.45)], None, "no"),  # one of three is earned
    ([(0.65, 0.35), (0.65, 0.35), (0.3, 0.7)], None, "no"),  # two are, and the mean is .533: unsure
    ([(0.9, 0.1), (0.9, 0.1), (0.3, 0.7)], None, "yes"),  # mean .7
    ([(0.9, 0.1), (0.1, 0.9), (0.1, 0.9)], "any", "yes"),  # one suffices, and it is earned
    ([(0.55, 0.45), (0.55, 0.45), (0.1, 0.9)], "any", "no"),
    ([(0.9, 0.1), (0.9, 0.1), (0.55, 0.45)], "unanimous", "no"),
    ([(0.9, 0.1), (0.9, 0.1), (0.61, 0.39)], "unanimous", "yes"),
]


@pytest.mark.parametrize(("probabilities", "rule", "answer"), EARNED)
@pytest.mark.parametrize("scoring", ["selected", "expected"])
def test_a_yes_has_to_be_earned(probabilities, rule, answer, scoring):
    if scoring == "expected" and rule is not None:
        return  # these count selections
    rules = VoteRules(aggregation=rule, scoring=scoring)
    cast = [vote("yes", judge=f"judge {place}", probabilities=each) for place, each in enumerate(probabilities)]
    checklist = Checklist(name="c", items=({"question": "Is it?", "name": "is", "weight": 3},))
    verdict = rules.aggregate(cast, YES_NO)
    (item,) = item_results([verdict], checklist, rules=rules)
    if scoring == "expected" and len(probabilities) > 1:
        mean = sum(yes / (yes + no) for yes, no in probabilities) / len(probabilities)
        answer = "yes" if mean >= 0.6 else "no"
    assert (item.answer, item.judged) == (answer, answer)
    scores = checklist_scores([verdict], checklist, rules=rules)
    assert (scores.pass_rate, scores.weighted_score) == ((1.0, 1.0) if answer == "yes" else (0.0, 0.0))
    assert item.verdict is verdict  # what was said stays on record
