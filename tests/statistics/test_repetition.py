"""Repetition and draw stability: worked examples, another package's cases, known truth."""

import gzip
import json
from collections import Counter, defaultdict

import numpy as np
import pytest

from evenhand.statistics.consistency import (
    NOT_ASKED,
    UNSCORED,
    repetition_stability,
)
from evenhand.statistics.intervals import IntervalLevel
from tests.support.shared import shared_path


def test_by_hand():
    # Three alike; two of three; three different; two alike and one unscored; a lone verdict; none; one not asked.
    selections = [[0, 0, 0], [0, 1, 0], [0, 1, 2], [2, 2, UNSCORED], [1, UNSCORED, UNSCORED]]
    selections += [[UNSCORED] * 3, [NOT_ASKED] * 3, [1, 1, NOT_ASKED]]
    found = repetition_stability(selections)
    assert found.pair_agreement.n == found.mode_share.n == 5
    assert found.mode_share.estimate == pytest.approx((1 + 2 / 3 + 1 / 3 + 1 + 1) / 5)
    assert found.pair_agreement.estimate == pytest.approx((1 + 1 / 3 + 0 + 1 + 1) / 5)


def published_rate(draws):
    """The rule of the code published with the study, in pandas' words: value_counts drops what is missing."""
    counts = Counter(draw for draw in draws if draw is not None)
    return max(counts.values()) / len(draws) if counts else None


def test_real_judges_by_the_published_rule_and_ours():
    with gzip.open(shared_path("data/posbias_repetition_verdicts.jsonl.gz"), "rt") as file:
        rows = [json.loads(line) for line in file]
    runs = defaultdict(lambda: defaultdict(list))
    for row in rows:
        runs[row["bench"], row["judge"]][row["q"], row.get("task"), row["a"], row["b"]].append(row["parsed"])
    assert len(runs) == 18
    for prompts in runs.values():
        codes = {"A": 0, "B": 1, "C": 2, None: UNSCORED}
        table = np.array([[codes[verdict] for verdict in draws] for draws in prompts.values()])
        pairs = [(key[0], key[1], *sorted(key[2:])) for key in prompts]
        found = repetition_stability(table, level=IntervalLevel(0.95, [str(pair) for pair in pairs]))
        published = np.mean([rate for draws in prompts.values() if (rate := published_rate(draws)) is not None])
        assert len(set(pairs)) == len(table) / 2
        # An unscored draw is a dissent to them, and no draw to us.
        assert found.mode_share.estimate >= published - 1e-9
        if not (table == UNSCORED).any():
            assert found.mode_share.estimate == pytest.approx(published, abs=1e-9)
        assert found.mode_share.low < found.mode_share.estimate < found.mode_share.high
