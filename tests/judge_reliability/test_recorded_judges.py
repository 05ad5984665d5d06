"""Real judges that others recorded: the report's numbers are the published ones, or differ by a rule that is named."""

import gzip
import json
from collections import defaultdict

import pytest

from evenhand.numbers import Missing
from evenhand.statistics.intervals import IntervalLevel
from tests.judge_reliability.builders import PLAIN, comparison, report
from tests.support.shared import shared_path


def read_lines(name):
    path = shared_path(name)
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as file:
        return [json.loads(line) for line in file]


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
        found = report(questions, PLAIN, level=IntervalLevel(resamples=20))
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
