"""The sentences: functions of the numbers, each with its evidence, and never an adjective without a number."""

import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.judge_reliability.one_judge import (
    FIRST,
    NEITHER,
    SECOND,
    Categories,
    ChoiceReliability,
    agreement_of_judges,
)
from evenhand.judge_reliability.tables import WIDE, _place, finding_on_choices, findings, findings_on_judges
from evenhand.modes.grade_scores import ChoiceHistograms, grade, unrelated_effect
from evenhand.numbers import Missing
from evenhand.question import comparison_criterion
from evenhand.statistics.grade_score import uniformity
from evenhand.votes import Verdict, Vote
from tests.judge_reliability.builders import CITES, CLEAR, asked, comparison, report


def said_of(found):
    return {finding.measure: finding.text for finding in findings(found)}


def test_a_judge_that_likes_the_first_place():
    # Thirty pairs stuck to the first place, ten to the second, sixty consistent.
    pairs = [("A", "B")] * 30 + [("B", "A")] * 10 + [("A", "A")] * 60
    said = said_of(report([comparison([pair], place) for place, pair in enumerate(pairs)]))
    # Clopper and Pearson's interval of 30 in 40 and the binomial test of 30 in 40 against a half: p = 0.0022.
    assert said["preference for a place"] == (
        "first-shown responses win in 75 % [59, 87] of the 40 inconsistent pairs (p = 0.002, exact test)"
    )
    assert said["position consistency"].startswith("the same response wins in both orders in 60 % [")
    assert "of 100 pairs of votes" in said["position consistency"]


def test_a_judge_that_likes_the_second_place_and_one_that_moves_to_later_options():
    pairs = [("B", "A")] * 30 + [("A", "B")] * 10
    said = said_of(report([comparison([pair], place) for place, pair in enumerate(pairs)]))
    assert said["preference for a place"].startswith("second-shown responses win in 75 % [59, 87] of the 40")
    moved = [("No", "Yes")] * 12
    said = said_of(report([asked(CITES, [pair], place) for place, pair in enumerate(moved)], CITES))
    assert said["preference for a place"] == (
        "the selection moves to an option shown later in 100 % [74, 100] of the 12 inconsistent pairs (p < 0.001, "
        "exact test)"
    )


def test_no_evidence_comes_with_what_the_data_leave_open():
    pairs = [("A", "B")] * 52 + [("B", "A")] * 48
    said = said_of(report([comparison([pair], place) for place, pair in enumerate(pairs)]))
    # The exact test of 52 in 100.
    assert said["preference for a place"] == (
        "no evidence of a preference for a place: first-shown responses win in 52 % [42, 62] of the 100 inconsistent "
        "pairs (p = 0.764, exact test); the data leave open 42 % to 62 %"
    )


def test_what_is_too_few_to_tell_is_said():
    said = said_of(report([comparison([("A", "B")], place) for place in range(3)]))
    # Three of three: p = 2 / 8, and no three pairs have a smaller one.
    assert said["preference for a place"] == (
        "too few to tell: first-shown responses win in 100 % [29, 100] of the 3 inconsistent pairs (p = 0.250, exact "
        "test), and with 3 the test cannot fall below p = 0.250"
    )
    assert said["position consistency"].endswith("too few to tell (n = 3)")
    ten = said_of(report([comparison([("A", "B")], place) for place in range(5)] + [comparison([("B", "A")], 9)]))
    assert ten["preference for a place"].startswith("no evidence of a preference for a place")
    assert ten["preference for a place"].endswith("; too few to tell (n = 6)")


def test_pairs_of_few_instances_are_too_few_however_many_they_are():
    # Five instances of three draws each: signs flip by instance, and 2 / 2^5 is the least that the test can give.
    said = said_of(report([comparison([("A", "B")] * 3, place) for place in range(5)]))["preference for a place"]
    assert said.startswith("too few to tell: first-shown responses win in 100 % [")
    assert said.endswith("and with pairs from 5 instances the test cannot fall below p = 0.062")


def test_a_preference_that_only_the_test_sees_is_said_to_be_that():
    # To the first place eight instances of one pair and two of three, to the second one of two: 12 pairs more. Of the
    # 2^11 flips of these signs 76 reach that (p = 0.037); for the interval eleven instances do not exclude a half.
    weights = [1] * 8 + [3] * 2
    stuck = [comparison([("A", "B")] * weight, place) for place, weight in enumerate(weights)]
    said = said_of(report([*stuck, comparison([("B", "A")] * 2, 10)]))["preference for a place"]
    assert said.startswith("first-shown responses win in 88 % [47, ")
    assert said.endswith("(p = 0.037, exact test); by the test alone, as the interval does not exclude 50 %")


def test_a_judge_that_always_takes_the_longer_response_is_not_passed_over():
    found = report([comparison([("A", "A")], place, lengths=(20 + place, 9)) for place in range(12)])
    assert found.verbosity.reason.endswith("no finite estimate; the longer response wins 24 of 24 times")


def test_ties_throughout_are_no_wins_by_length():
    found = report([comparison([("T", "T")], place, lengths=(20 + place, 9)) for place in range(12)])
    assert found.verbosity.reason == "neither of two responses was ever held better"


def test_a_limit_beside_no_effect_is_not_rounded_to_it():
    # 115 of 200: Clopper and Pearson's interval begins at 50.3 %, and the exact test is just below 0.05.
    pairs = [("A", "B")] * 115 + [("B", "A")] * 85
    said = said_of(report([comparison([pair], place) for place, pair in enumerate(pairs)]))["preference for a place"]
    assert said.startswith("first-shown responses win in 57 % [50.3, 64] of the 200 inconsistent pairs")


def test_an_abandoned_response_is_called_by_its_system_and_not_by_a_place():
    # The first response in one order and the second in the other, whatever stood where: "Response A" would be a place.
    graded = comparison_criterion("better", "Which response is better?", graded=True)
    moved = asked(graded, [("Response A is much better", "Response B is slightly better")])
    labels = [each.label for each in report([moved], graded, sides=("elm", "Response A")).flips]
    assert labels == [
        "elm is much better",
        "elm is slightly better",
        "Both are equally good",
        "Response A is slightly better",
        "Response A is much better",
    ]


def test_options_abandoned_alike_and_options_of_lone_orders():
    said = said_of(report([comparison([("A", "B")], 0), comparison([("T", None)], 1)]))["option flips"]
    assert said.startswith("'first' is abandoned as often as any: another order selects something else in 100 %")
    assert "never selected where two orders answer: 'Tie'" in said


def test_repeated_draws():
    said = said_of(report([comparison([("A", "A")] * 3, place) for place in range(100)]))
    assert said["repetition"] == (
        "repeated draws agree in 100 % [97, 100] of the pairs of draws (200 prompts of up to 3 draws)"
    )
    assert said["spread of draws"].startswith(
        "the values drawn for one prompt have a standard deviation of 0.000 [0.000"
    )
    assert said["preference for a place"] == "no number: none of 300 pairs of votes changes with the order"
    # The limit is that of no flip in 100 instances.
    assert said["option flips"] == (
        "no option is abandoned in another order; of 'first', selected 300 times, the data leave open up to 3 %"
    )


@pytest.mark.parametrize(
    ("longer_wins", "words"),
    [
        (80, "longer responses are preferred: twice the length raises the chance of winning from 50 % to 80 % ["),
        (20, "shorter responses are preferred: twice the length lowers the chance of winning from 50 % to 20 % ["),
        (50, "no evidence of a preference for length: at twice the length the chance of winning is 50 % ["),
    ],
)
def test_length(longer_wins, words):
    # Lengths 199 and 99 count as 200 and 100.
    won = ["A"] * longer_wins + ["B"] * (100 - longer_wins)
    questions = [comparison([(said, said)], place, lengths=(199, 99)) for place, said in enumerate(won)]
    text = said_of(report(questions))["verbosity"]
    assert text.startswith(words)
    assert ("the data leave open" in text) == (longer_wins == 50)


def test_length_with_ties():
    questions = [comparison([(said, said)], place, lengths=(199, 99)) for place, said in enumerate("AAABT" * 20)]
    assert "raises the chance of winning, ties aside, from 50 % to 75 % [" in said_of(report(questions))["verbosity"]


def test_replies_people_and_options():
    questions = [comparison([("A", "A")], place, label=FIRST) for place in range(90)]
    questions += [comparison([("A", "B")], 90 + place, label=SECOND) for place in range(5)]
    questions += [comparison([(None, None)], 95 + place, label=NEITHER, reason="refusal") for place in range(5)]
    said = said_of(report(questions))
    assert said["replies"].startswith("95 % [")
    assert "; 10 of 200 votes unscored (5 rows affected), 5 verdicts unscored: 10 refusal (5 % [" in said["replies"]
    # 90 verdicts are right, 5 are ties where a person chose; the refused five have none.
    assert said["agreement with people"].startswith("the verdict is what people chose in 95 % [")
    assert "of 95 questions" in said["agreement with people"]
    assert said["agreement with people"].endswith("5 labelled questions without a verdict")
    # The second response was selected in five questions, and abandoned in all.
    assert said["option flips"].startswith("'second' is abandoned most: another order selects something else in 100 %")
    assert "never selected where two orders answer: 'Tie'" in said["option flips"]


def test_a_tie_is_an_answer_that_chooses_neither():
    # Twenty of forty pairs, by instances: from the 2.5 % quantile of Beta(20.4, 20.6), .347, to the mirror image of it.
    said = said_of(report([comparison([("A", "A") if place % 2 else ("T", "T")], place) for place in range(40)]))
    assert "; 50 % [35, 65] of the votes chose one" in said["Grade Score"]
    assert "100 % [" in said["replies"]


def test_votes_without_a_last_reply_say_why():
    questions = [comparison([(None, None)], place, reason="budget") for place in range(3)]
    said = said_of(report(questions))["replies"]
    assert said == "no number: no vote came to its last reply: 6 budget"


def test_a_judge_that_is_too_sure():
    # 100 votes at 0.9, of which 60 are right.
    questions = [
        comparison([("A",)], place, label=FIRST if place < 60 else SECOND, probabilities=(0.9, 0.0, 0.1))
        for place in range(100)
    ]
    text = said_of(report(questions))["confidences"]
    assert text.startswith("the judge is overconfident: mean confidence less share right is 30 points [")
    assert "over 100 votes" in text
    unsure = [
        comparison([("A",)], place, label=FIRST if place < 90 else SECOND, probabilities=(0.6, 0.0, 0.4))
        for place in range(100)
    ]
    assert said_of(report(unsure))["confidences"].startswith("the judge is underconfident")
    fair = [
        comparison([("A",)], place, label=FIRST if place < 60 else SECOND, probabilities=(0.6, 0.0, 0.4))
        for place in range(100)
    ]
    assert said_of(report(fair))["confidences"].startswith("no evidence of over- or underconfidence")


def choices(selections, *, unrelated=None):
    """Two candidates in both rotations, an instance a pair; 2 names the unrelated third, where there is one."""
    number = 2 if unrelated is None else 3
    rotations = [tuple((start + place) % number for place in range(number)) for start in range(number)]
    votes = [
        [
            Vote(judge_id="judge", order=order, selected_index=index)
            if index is not None
            else Vote(judge_id="judge", order=order, unscored_reason="refusal")
            for order, index in zip(rotations, chosen, strict=True)
        ]
        for chosen in selections
    ]
    grading = grade(votes, "judge")
    effect = None if unrelated is None else unrelated_effect(grading, unrelated)
    return grading, finding_on_choices(ChoiceReliability("better", "select", grading, effect))


def test_choices_among_candidates():
    # One mind in thirty instances: 1 where a random judge reaches 1/2.
    grading, steady = choices([(0, 0)] * 30)
    assert steady.measure == "Grade Score, prompt 'select'"
    assert steady.text.startswith("1.00 [")
    assert "where a random judge reaches 0.50; corrected for chance 1.00 [" in steady.text
    assert "does not tell" not in steady.text
    two = said_of(report([comparison([pair], place) for place, pair in enumerate([("A", "A"), ("A", "B")] * 15)]))
    assert "which does not tell the judge from a random one; 100 % [" in two["Grade Score"]
    # The first place throughout: 0, which corrected is (0 - 1/2) / (1/2).
    _, stuck = choices([(0, 1)] * 30)
    assert stuck.text.startswith("0.00 [0.00, ")
    assert "corrected for chance -1.00 [" in stuck.text
    assert "below what a random judge reaches" in stuck.text
    # Sixty answers, all at the first place; no draw of shifts is as uneven, so that p is 1 in 2,000.
    assert "; of 2 places number 1 is chosen most, in 100 % of 60 answers (p < 0.001 if all are chosen" in stuck.text
    assert "chosen most" not in steady.text
    _, half = choices([(0, 1), (1, 1)] * 15)
    assert "which does not tell the judge from a random one" in half.text
    _, silent = choices([(0, None)] * 3)
    assert (silent.measured, silent.text) == (False, "no number: no instance has two rotations answered")
    # The unrelated candidate in one rotation of three, for thirty instances.
    _, lured = choices([(0, 0, 2)] * 30, unrelated=grading)
    assert lured.measure.endswith("with an unrelated candidate")
    assert "the unrelated candidate was chosen in 33 % [" in lured.text
    assert "of the answers and changes the corrected score by -" in lured.text


def _verdicts(selected):
    return {judge: [Verdict(selected_index=index) for index in each] for judge, each in selected.items()}


def test_two_judges():
    raters = {"one": [0] * 50 + [1] * 50, "two": [0] * 45 + [1] * 55}
    agreement = agreement_of_judges(_verdicts(raters), Categories(CITES), level=0.95, resamples=50, seed=0)
    pair, everyone = findings_on_judges(agreement)
    assert pair.measure == "one and two"
    # 95 of 100; chance is .5 * .45 + .5 * .55 = .5, so kappa is .9.
    assert pair.text.startswith("the same selection in 95 % [")
    assert "of 100 questions; Cohen's kappa is 0.90 [" in pair.text
    assert everyone.text.startswith("Krippendorff's alpha is 0.90 [")
    same = agreement_of_judges(
        _verdicts({"one": [0] * 5, "two": [0] * 5}), Categories(CITES), level=0.95, resamples=50, seed=0
    )
    assert "Cohen's kappa is undefined (" in findings_on_judges(same)[0].text


SAID = st.sampled_from(["A", "B", "T", None])
QUESTIONS = st.lists(
    st.tuples(
        st.lists(st.tuples(SAID, SAID), min_size=1, max_size=3),
        st.integers(0, 3),
        st.sampled_from([FIRST, SECOND, NEITHER, None]),
        st.integers(0, 40),
    ),
    min_size=1,
    max_size=30,
)


@given(QUESTIONS)
@settings(max_examples=12, deadline=None)
def test_every_sentence_has_a_number_or_a_reason(drawn):
    questions = [
        comparison(draws, instance, label=label, lengths=(length, 20)) for draws, instance, label, length in drawn
    ]
    found = report(questions)
    assert findings(found) == findings(found)
    for finding in findings(found):
        assert "nan" not in finding.text.lower().replace("nothing", "")
        assert finding.measured != finding.text.startswith("no number: ")
        if finding.measured:
            assert re.search(r"\d", finding.text), finding
        if "no evidence" in finding.text:
            assert re.search(r"\[[-<>]*\d.*\]", finding.text), finding


@given(st.lists(st.sampled_from(["Good", "Fair", "Bad", "N/A", None]), min_size=2, max_size=2), st.integers(1, 40))
@settings(max_examples=15, deadline=None)
def test_wide_intervals_and_only_they_are_called_too_few(pair, number):
    found = report([asked(CLEAR, [tuple(pair)], place) for place in range(number)], CLEAR)
    said = said_of(found)
    if said["position consistency"].startswith("no number"):
        return
    interval = found.position.position_consistency
    assert ("too few" in said["position consistency"]) == (interval.high - interval.low > WIDE)


def test_the_place_chosen_most_is_named_only_where_it_is_ahead_of_the_next():
    # 49 : 48 : 3 of 100: the places differ, the first two do not; 70 : 20 : 10 is 70 against 20, p < 1e-7.
    def said(counts):
        places = replace(uniformity([counts]), instance_p_value=1e-6)
        return _place(ChoiceHistograms(3, 1, places, Missing("not counted")), 0.95)

    close, clear = said((49, 48, 3)), said((70, 20, 10))
    assert "most" not in close
    assert "number 1 is chosen in 49 % and number 2 in 48 % of 100 answers" in close
    assert "number 1 is chosen most, in 70 % of 100 answers" in clear


def test_the_option_abandoned_most_is_named_only_where_the_intervals_tell_it_apart():
    def said(flipped, yes, no):
        draws = [("Yes", "No")] * flipped + [("Yes", "Yes")] * yes + [("No", "No")] * no
        questions = [asked(CITES, [pair], place) for place, pair in enumerate(draws)]
        return said_of(report(questions, CITES))["option flips"]

    # 48 of 100 and 48 of 98; 40 of 42 and 40 of 440.
    assert said(48, 52, 50).endswith("which option is abandoned most these data do not tell")
    assert said(40, 2, 400).startswith("'Yes' is abandoned most: ")
