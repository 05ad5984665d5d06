import asyncio
import gzip
import json
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from evenhand.engines.calls import Calls
from evenhand.engines.free_engines import (
    BaselineEngine,
    TextStatistics,
    choose_option,
    quality,
)
from evenhand.judging.conversation import Flow, ask
from evenhand.question import Question, comparison_criterion
from tests.support.shared import shared_path

REFERENCE = "The treaty was signed in Lisbon on 13 December 2007 by the heads of 27 states."
CONTEXT = {"question": "When and where was the treaty signed, and by whom?"}


def comparison(*responses, criterion=None, references=(REFERENCE,), mode="compare"):
    if criterion is None:
        criterion = comparison_criterion("better", "Which is better?", allow_ties=True)
    return Question(id="q", criterion=criterion, responses=responses, context=CONTEXT, references=references, mode=mode)


def vote(question, order, flow=None):
    async def run():
        calls = Calls(BaselineEngine())
        async with calls.running():
            return (await ask(flow or Flow(), [question], [order], 0, calls))[0]

    return asyncio.run(run())


def test_the_formula_with_and_without_references():
    found = {"words": 0.5, "completeness": 0.5, "empty": False}
    with_one = {"characters": 0.25, "repetition": 0.1, "refused": True}
    # (0.6 · 0.5 + 0.4 · 0.25) / 0.6 = 2/3; · (0.7 + 0.15) = 0.56667; · 0.9 · 1/5 = 0.102
    assert quality(TextStatistics(**found, **with_one, with_reference=True)) == pytest.approx(0.102)
    without = {"characters": 0.9, "repetition": 0.0, "refused": False}
    # 0.3 · 0.5 + 0.7 · 0.5 = 0.5
    assert quality(TextStatistics(**found, **without, with_reference=False)) == pytest.approx(0.5)


TEXTS = st.text(max_size=60) | st.sampled_from(
    [REFERENCE, "Lisbon", "I'm sorry, I can't.", "ok " * 30, "\ud800", "今日は"]
)


@settings(deadline=None, max_examples=15)
@given(st.lists(TEXTS, min_size=2, max_size=2), st.sampled_from([(False, False), (True, False), (True, True)]))
def test_a_comparison_is_the_same_in_both_orders_and_mirrored_when_the_systems_are(pair, kind):
    criterion = comparison_criterion("better", "Which?", allow_ties=kind[0], graded=kind[1])
    question = comparison(*pair, criterion=criterion)
    given_order, reversed_order = vote(question, (0, 1)), vote(question, (1, 0))
    if pair[0] == pair[1]:
        assert given_order.value + reversed_order.value == 1  # a tie, or what is shown first in each order
        return
    assert given_order.selected_index == reversed_order.selected_index is not None
    mirrored = vote(comparison(*reversed(pair), criterion=criterion), (0, 1))
    assert mirrored.value == 1 - given_order.value


def test_it_agrees_with_people_above_chance():
    """999 pairs judged by three people: where a majority names a winner, chance is 1/2; so far below a real judge."""
    with gzip.open(shared_path("data/pandalm_testset.jsonl.gz"), "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    criterion = comparison_criterion("better", "Which response follows the instruction better?")
    people, baseline = [], []
    for row in rows:
        winner, count = Counter(row["humans"]).most_common(1)[0]
        if count < 2 or winner == 0:
            continue
        question = Question(
            id=str(row["idx"]),
            criterion=criterion,
            responses=(str(row["response1"]), str(row["response2"])),
            context={"instruction": str(row["instruction"]), "input": str(row["input"])},
            mode="compare",
        )
        people.append(winner)
        baseline.append(1 + choose_option(question))
    agreement = sum(a == b for a, b in zip(people, baseline, strict=True)) / len(people)
    assert len(people) == 894
    assert agreement > 0.5 + 4 * (0.25 / 894) ** 0.5  # four standard errors of a coin
    assert cohen_kappa_score(people, baseline) > 0.15
