"""Real judges that others recorded: the report's numbers are the published ones, or differ by a rule that is named."""

import gzip
import json
from collections import Counter, defaultdict

import numpy as np
import pytest

from evenhand.numbers import Missing
from tests.judge_reliability.builders import PLAIN, comparison, report
from tests.support.shared import shared_path


def read_lines(name):
    path = shared_path(name)
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as file:
        return [json.loads(line) for line in file]


def read_position_bias():
    """(benchmark, judge) -> pair of responses -> draw -> what was said in either order, by the responses' names."""
    runs = defaultdict(lambda: defaultdict(lambda: defaultdict(lambda: [None, None])))
    for row in read_lines("data/posbias_repetition_verdicts.jsonl.gz"):
        systems = sorted((row["a"], row["b"]))
        order = systems.index(row["a"])
        said = {"A": "AB"[order], "B": "BA"[order], "C": "T", None: None}[row["parsed"]]
        pair = (row["q"], row.get("task"), *systems)
        runs[row["bench"], row["judge"]][pair][row["rep"] - 1][order] = said
    return runs


@pytest.mark.slow
def test_consistency_and_stability_of_18_judges_are_the_published_ones_by_their_rule():
    logs = defaultdict(list)
    for log in json.loads(shared_path("data/posbias_published_logs.json").read_text()):
        if log["rep"]:
            logs[log["bench"], log["judge"]].append(log)
    runs = read_position_bias()
    assert len(runs) == 18
    differ = 0
    for key, pairs in runs.items():
        prompts = {pair[:2]: number for number, pair in enumerate(pairs)}
        questions = [
            comparison([draws[sample] for sample in range(3)], prompts[pair[:2]]) for pair, draws in pairs.items()
        ]
        found = report(questions)
        # Their logs are one a repetition; together they count what the report counts over the three draws.
        extracted, consistent = (sum(log[name] for log in logs[key]) for name in ("extracted", "consistent"))
        assert 2 * found.position.n_checked + found.position.n_lone == extracted
        theirs = (2 * found.position.n_consistent + found.position.n_lone) / extracted
        assert theirs == pytest.approx(consistent / extracted, abs=1e-12)
        mean = np.average([log["consistent_pct"] for log in logs[key]], weights=[log["of"] for log in logs[key]])
        assert 100 * theirs == pytest.approx(mean, abs=0.005)
        # Ours leaves out the verdicts that stand alone, which theirs call consistent.
        ours = found.position.position_consistency
        if found.position.n_lone:
            assert ours.estimate < theirs
            differ += 1
        else:
            assert ours.estimate == pytest.approx(theirs)
        assert ours.n == found.num_instances == len(prompts)
        # Their stability: the count of the verdict said most, over all draws; ours over those with a verdict.
        said = [[draws[sample][order] for sample in range(3)] for draws in pairs.values() for order in range(2)]
        counted = [[each for each in draws if each is not None] for draws in said]
        rates = [max(Counter(each).values()) / 3 for each in counted if each]
        shares = [max(Counter(each).values()) / len(each) for each in counted if len(each) > 1]
        assert found.repetition.mode_share.estimate == pytest.approx(np.mean(shares), abs=1e-12)
        assert found.repetition.mode_share.estimate >= np.mean(rates) - 1e-9
        assert found.num_samples == 3
        assert {*found.replies.unscored_counts.reasons} <= {"no_match"}
        assert found.replies.unscored_counts.unscored_votes == 6 * len(pairs) - extracted
    assert 0 < differ < 18


@pytest.mark.slow
def test_agreement_of_llmbar_judges_with_people_is_the_published_one():
    runs = defaultdict(list)
    for row in read_lines("data/llmbar_verdicts.jsonl.gz"):
        runs[row["sub"], row["ev"], row["st"]].append(row)
    published = read_lines("data/llmbar_published_statistics.jsonl")[::12]
    gaps = 0
    for expected in published:
        rows = runs[expected["sub"], expected["ev"], expected["st"]]
        names = {"1": "A", "2": "B", None: None}
        questions = [
            comparison([(names[row["w0"]], names[row["w1"]])], place, criterion=PLAIN, label="12".index(row["label"]))
            for place, row in enumerate(rows)
        ]
        found = report(questions, PLAIN, resamples=20)
        people, position, n = found.people, found.position, expected["n"]
        assert people.num_references == found.num_instances == n
        if isinstance(position, Missing):
            assert all(None in (row["w0"], row["w1"]) for row in rows)
            continue
        # They count what was not read as wrong and divide by all; ours are over what was read.
        blank = sum(row["w0"] is row["w1"] is None for row in rows)
        counts = found.replies.unscored_counts
        right = people.vote_accuracy.estimate * (counts.votes - counts.unscored_votes)
        assert 100 * right / (2 * n) == pytest.approx(expected["correct_average"], abs=1e-9)
        both = people.all_orders_right.estimate * position.n_checked
        assert 100 * both / n == pytest.approx(expected["correct_both"], abs=1e-9)
        assert 100 * (position.n_consistent + blank) / n == pytest.approx(expected["equal"], abs=1e-9)
        if not counts.unscored_votes:
            gaps += 1
            assert 100 * people.vote_accuracy.estimate == pytest.approx(expected["correct_average"], abs=1e-9)
            assert 100 * position.position_consistency.estimate == pytest.approx(expected["equal"], abs=1e-9)
            # Orders that contradict each other are a tie, which no person said.
            assert 100 * people.accuracy.estimate == pytest.approx(expected["correct_both"], abs=1e-9)
        assert sum(map(sum, people.confusion_matrix)) == n
    assert gaps > len(published) / 2
