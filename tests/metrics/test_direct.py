"""Direct assessment inside unitxt: the whole result of a small run, by hand."""

import math

import pytest

from evenhand.criteria import Criterion, Option
from evenhand.metrics.judge_metrics import DirectJudge
from evenhand.statistics import mean_intervals, ratio_intervals
from evenhand.unitxt.loading import load_criteria_artifact
from evenhand.votes import Completion
from tests.support.judges import ScriptedJudge

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


TONE = Criterion(
    name="tone",
    description="Is it polite?",
    options=(Option(label="Good", value=1.0), Option(label="Fair", value=0.5), Option(label="Bad", value=0.0)),
)
GIVEN, REVERSED = (0, 1, 2), (2, 1, 0)
DRAWS = {
    ("one", GIVEN): ["Good", "Bad", "Bad"],
    ("one", REVERSED): ["Good", "Good", "Fair"],
    ("two", GIVEN): ["Good", "Good", "Good"],
    ("two", REVERSED): ["Good", "Who can say?", "Good"],
}


def reply_to(request):
    """What the judge says; every assessment and every summary is its vote's own."""
    response, order, sample = request.question.responses[0], request.presentation.order, request.sample
    vote = f"{response}, {'given' if order == GIVEN else 'reversed'}, draw {sample}"
    texts = {"assessment": f"Assessed: {vote}.", "summary": f"In short: {vote}."}
    text = texts.get(request.stage, DRAWS[response, order][sample])
    return Completion(text=text, finish_reason="stop", prompt_tokens=10, completion_tokens=2, cost=0.01)


def instance_of(response):
    return {"prediction": response, "references": [], "task_data": {"question": "q"}}


def test_the_whole_result_by_hand():
    judge = ScriptedJudge(reply_to)
    metric = DirectJudge(
        inference_engine=judge,
        criteria=TONE,
        context_fields=["question"],
        samples=3,
        generate_summaries=True,
        progress=False,
    )
    metric.compute([instance_of("one")])
    # 2 orders, 3 draws; an assessment, a selection and a summary each
    assert len(judge.requests) == 18
    sent = {
        (request.presentation.order, request.sample, request.stage): list(request.messages)
        for request in judge.requests
    }
    instances, overall = metric.compute([instance_of("one"), instance_of("two")])
    # the draws of "two" and one re-ask
    assert len(judge.requests) == 18 + 19

    votes = instances[0].pop("tone_votes")
    assert [len(line["votes"]) for line in votes] == [6]

    # given: the median of 1, 0, 0 is 0; reversed: that of 1, 1, 0.5 is 1; their mean is 0.5, which is Fair
    # the draws' standard deviations are sqrt(2)/3 and sqrt(2)/6; one vote of six says Fair
    assert instances[0] == {
        "tone": 0.5,
        "llm_as_judge": 0.5,
        "score": 0.5,
        "score_name": "tone",
        "tone_using_scripted": 0.5,
        "tone_final_option": "Fair",
        "tone_agreement": pytest.approx(1 / 6),
        "tone_spread": pytest.approx(math.sqrt(2) / 4),
        "tone_unscored_reason": None,
        "tone_covered_mass": None,
        "tone_positional_bias": True,
        "tone_criteria": load_criteria_artifact(TONE).to_json(),
        # of each order, the first draw that says what the order comes to
        "tone_selected_option": "Bad",
        "tone_value": 0.0,
        "tone_assessment": "Assessed: one, given, draw 1.",
        "tone_summary": "In short: one, given, draw 1.",
        "tone_option_selection_completion": "Bad",
        "tone_positional_bias_selected_option": "Good",
        "tone_positional_bias_value": 1.0,
        "tone_positional_bias_assessment": "Assessed: one, reversed, draw 0.",
        "tone_positional_bias_summary": "In short: one, reversed, draw 0.",
        "tone_positional_bias_option_selection_completion": "Good",
        "tone_prompts": {
            "assessment": sent[GIVEN, 1, "assessment"],
            "option_selection": sent[GIVEN, 1, "selection"],
            "summarization": sent[GIVEN, 1, "summary"],
            "positional_bias_assessment": sent[REVERSED, 0, "assessment"],
            "positional_bias_option_selection": sent[REVERSED, 0, "selection"],
            "positional_bias_summarization": sent[REVERSED, 0, "summary"],
        },
    }

    # "two" is Good in both orders; five votes of six say so, the sixth says nothing
    def with_interval(name, *values):
        (interval,) = mean_intervals(values)
        return {name: interval.estimate, f"{name}_ci_low": interval.low, f"{name}_ci_high": interval.high}

    # 6 replies of 6, then 5 of 7, the re-ask being one more
    (parse_rate,) = ratio_intervals([[6.0], [5.0]], [[6.0], [7.0]])
    assert parse_rate.estimate == pytest.approx(11 / 13)
    (spread,) = mean_intervals([math.sqrt(2) / 4, 0.0], bounds=(0.0, 0.5))
    score = with_interval("tone", 0.5, 1.0)
    # of the pairs of draws, 1 of 3 in each order of "one" agree, and 3 of 3 and 1 of 1 of "two"
    (stability,) = ratio_intervals([[2.0], [4.0]], [[6.0], [4.0]])
    assert stability.estimate == pytest.approx(0.6)
    judge_scores = {
        **with_interval("tone_judge_mean_scripted", 0.5, 1.0),
        **with_interval("tone_judge_flip_rate_scripted", 1.0, 0.0),
        "tone_judge_spread_scripted": math.sqrt(2) / 8,
        "tone_judge_spread_scripted_ci_low": spread.low,
        "tone_judge_spread_scripted_ci_high": spread.high,
        "tone_judge_stability_scripted": 2 / 3,
        "tone_judge_stability_scripted_ci_low": stability.low,
        "tone_judge_stability_scripted_ci_high": stability.high,
        "tone_num_votes": 12,
        "tone_num_votes_planned": 12,
        "tone_num_votes_left_out": 0,
    }
    assert overall.pop("tone_run")["parameters"]["judges"] == ["scripted"]
    expected = {
        **judge_scores,
        **score,
        **{name.replace("tone", "score"): value for name, value in score.items()},
        **{name.replace("tone", "tone_using_scripted"): value for name, value in score.items()},
        **with_interval("tone_positional_bias", 1.0, 0.0),
        **with_interval("tone_agreement", 1 / 6, 5 / 6),
        "tone_parse_rate": 11 / 13,
        "tone_parse_rate_ci_low": parse_rate.low,
        "tone_parse_rate_ci_high": parse_rate.high,
        "tone_spread": math.sqrt(2) / 8,
        "tone_spread_ci_low": spread.low,
        "tone_spread_ci_high": spread.high,
        "tone_num_unscored": 0,
        "tone_num_na": 0,
        # whatever the lost draw had said, the median of 1, x, 1 is 1
        "tone_score_if_unscored_0": 0.75,
        "tone_score_if_unscored_1": 0.75,
        # two rows in two orders, three draws each
        "tone_num_asked_votes": 12,
        "tone_num_unscored_votes": 1,
        "tone_num_rows_affected": 1,
        "tone_num_unscored_verdicts": 0,
        "tone_unscored_votes_no_match": 1,
        "tone_reasks": 1,
        # every reply that was read is the option's label
        "tone_match_share_exact": 1.0,
        **dict.fromkeys([f"tone_match_share_{kind}" for kind in ("normalized", "near", "json", "tag", "line")], 0.0),
        # the 18 replies on "one" were in the journal and cost nothing
        "tone_calls": 19,
        "tone_cached_calls": 18,
        "tone_prompt_tokens": 37 * 10,
        "tone_completion_tokens": 37 * 2,
        "tone_cost": 0.19,
        "tone_requests": 19,
        "tone_lost_requests": 0,
        "tone_unreported_replies": 0,
        # of the draw that was lost: assessment, selection, re-ask, and the summary
        "tone_wasted_replies": 4,
        "tone_wasted_cost": 0.04,
        "num_of_instances": 2,
    }
    assert score["tone"] == 0.75
    assert overall == pytest.approx({**expected, "score_name": "tone"})
