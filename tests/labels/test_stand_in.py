"""May the judge stand in for annotators: from columns, from results, in words, and on recorded data."""

from __future__ import annotations

import gzip
import json
from typing import Any

import numpy as np
import pytest
from scipy import stats

from evenhand.cli import main
from evenhand.errors import InvalidInputError
from evenhand.functions import agreement
from evenhand.labels.annotators import stand_in_test
from tests.support.rows import write_rows
from tests.support.shared import shared_path

PEOPLE = ["ann", "bob", "cyd"]


def rows_of(number: int = 60, *, judge: float = 0.95) -> list[dict[str, Any]]:
    generator = np.random.default_rng(0)
    truth = generator.integers(1, 6, size=number)

    def said(right: float) -> np.ndarray:
        moved = np.clip(truth + generator.choice([-1, 1], size=number), 1, 5)
        return np.where(generator.random(number) < right, truth, moved)

    columns = {"judge": said(judge), **{name: said(0.85) for name in PEOPLE}}
    return [{name: int(column[row]) for name, column in columns.items()} for row in range(number)]


def test_a_good_judge_may_and_a_bad_one_may_not():
    rows = rows_of()
    for row, worse in zip(rows, rows_of(judge=0.2), strict=True):
        row["worse"] = worse["judge"]
    found = stand_in_test(agreement(rows, ["judge", "worse"], gold_fields=PEOPLE), 0.15)
    assert found["judge"].passed is True
    assert found["worse"].passed is False
    table = found.text_tables()[0]
    assert [row[:2] for row in table.rows] == [("judge", "yes"), ("worse", "no")]
    assert "ε = 0.15" in table.notes[0]


@pytest.mark.parametrize("epsilon", [None, 1.0, "experts", True])
def test_epsilon_is_asked_for(epsilon: Any) -> None:
    with pytest.raises(InvalidInputError, match=r"epsilon is .*from 0 to below 1"):
        stand_in_test(agreement(rows_of(), "judge", gold_fields=PEOPLE), epsilon)


def test_the_shell(tmp_path, capsys):
    path = write_rows(tmp_path / "votes.jsonl", rows_of())
    command = ["agreement", str(path), "--votes", "judge", "--gold-fields", "ann", "bob", "cyd"]
    assert main([*command, "--annotator-test", "0.15"]) == 0
    assert "May the judge stand in" in capsys.readouterr().out


def test_the_people_of_pandalm_would_not_be_replaced():
    """Three people on 999 pairs, and two judges: every number by another road."""
    with gzip.open(shared_path("data/pandalm_testset.jsonl.gz"), "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    found = stand_in_test(agreement(rows, ["gpt35", "pandalm7b"], gold_fields="humans", cluster_field=False), 0.1)
    people = np.array([row["humans"] for row in rows]).astype(str)
    for judge in ("gpt35", "pandalm7b"):
        said = np.array([[str(row[judge])] for row in rows])
        for left_out, own in enumerate(found[judge].annotators):
            others = np.delete(people, left_out, axis=1)
            ahead = (others == said).sum(axis=1) - (others == people[:, [left_out]]).sum(axis=1)
            lead = (ahead >= 0) * 1.0 - (ahead <= 0)
            assert own.advantage.estimate == pytest.approx((ahead >= 0).mean())
            assert own.p_value == pytest.approx(stats.ttest_1samp(-lead, 0.1, alternative="less").pvalue)
        assert found[judge].passed is False
