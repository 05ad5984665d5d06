"""Who agrees with whom: published figures, other libraries, and what the table says."""

import csv
import gzip
import json

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, cohen_kappa_score

from evenhand.criteria import Criterion, Option
from evenhand.data.fields import OutOfScaleWarning
from evenhand.errors import InvalidInputError
from evenhand.functions import agreement
from tests.support.shared import shared_path


def grades(*labels, scale="ordinal"):
    values = np.linspace(0, 1, len(labels))
    options = tuple(Option(label=label, value=value) for label, value in zip(labels, values, strict=True))
    return Criterion(name="relevance", description="", options=options, scale=scale)


def test_the_published_kappas_and_alphas_of_every_twelfth_labeller_recompute():
    with gzip.open(shared_path("data/llmjudge_trecdl23_panel.csv.gz"), "rt") as file:
        rows = list(csv.DictReader(file))
    with shared_path("data/llmjudge_trecdl23_published.csv").open() as file:
        published = list(csv.DictReader(file))
    # some labellers answer 5 or 10 on the scale of 0 to 3, which the publication counts as categories of their own
    with pytest.warns(OutOfScaleWarning, match="2 of 4,423 .*row 2448: the judge 'RMITIR-llama70B' voted '5'"):
        table = agreement(rows, "RMITIR-llama70B", grades("0", "1", "2", "3"), gold_fields="human", resamples=1)
    assert table.pair("human", "RMITIR-llama70B").num_compared == 4423 - 2
    eleven, two = grades(*map(str, range(11))), grades("low", "high", scale="binary")
    kappas, alphas = [], []
    for line in published[::12]:
        judge = line["submission"]
        table = agreement(rows, judge, eleven, gold_fields="human", resamples=1)
        kappas.append((table.pair("human", judge).cohen_kappa.estimate, float(line["cohen_kappa"])))
        (panel,) = table.panels
        assert (panel.name, panel.metric) == ("judges and humans", "ordinal")
        alphas.append((panel.krippendorff_alpha.estimate, float(line["krippendorff_alpha_ordinal"])))
        for grade, name in enumerate(("kappa_0|123", "kappa_01|23", "kappa_012|3"), start=1):
            split = [{who: int(row[who]) >= grade for who in (judge, "human")} for row in rows]
            found = agreement(split, judge, two, gold_fields="human", resamples=1).pairs[0].cohen_kappa
            kappas.append((found.estimate, float(line[name])))
    assert (len(kappas), len(alphas)) == (12, 3)
    assert np.abs(np.subtract(*zip(*kappas, strict=True))).max() < 6e-5  # four decimals were published
    assert np.abs(np.subtract(*zip(*alphas, strict=True))).max() < 2e-4


def test_the_published_kappas_of_pandalms_people_recompute():
    with gzip.open(shared_path("data/pandalm_testset.jsonl.gz"), "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    table = agreement(rows, "pandalm7b", gold_fields="humans", resamples=50, cluster_field=False)
    humans = [pair for pair in table.pairs if pair.kinds == ("human", "human")]
    assert [pair.num_compared for pair in humans] == [999] * 3
    assert sorted(pair.cohen_kappa.estimate for pair in humans) == pytest.approx([0.85, 0.86, 0.88], abs=0.0055)
    for pair in humans:
        places = [int(name.removeprefix("humans_")) for name in (pair.first, pair.second)]
        first, second = ([row["humans"][place] for row in rows] for place in places)
        assert pair.cohen_kappa.estimate == pytest.approx(cohen_kappa_score(first, second))
        assert pair.accuracy.estimate == pytest.approx(accuracy_score(first, second))


@pytest.mark.parametrize(
    ("one", "other"), [((1, 0), ("yes", "no")), ((True, False), ("yes", "no")), (("a", "b"), (1, 2))]
)
def test_labels_written_in_two_ways_need_criteria(one, other):
    rows = [{"gpt": first, "ann": second} for first, second in zip(one, other, strict=True)] * 4
    with pytest.raises(InvalidInputError, match=r"'gpt' holds \[.*\] and 'ann' \[.*\], with no label in common"):
        agreement(rows, "gpt", gold_fields="ann")


def test_labels_written_in_one_way_need_no_criteria():
    rows = [{"gpt": number % 2, "ann": None if number == 3 else float(number % 2)} for number in range(8)]
    for given, share in ((rows, 1), ([{"gpt": "yes", "ann": "no"}] * 8, 0)):
        assert agreement(given, "gpt", gold_fields="ann").pair("gpt", "ann").accuracy.estimate == share
