"""The data set that ``evenhand demo`` judges: complete, labelled with catalog options, and consistent."""

import itertools
import json
from pathlib import Path
from statistics import fmean

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
PROMPTS = REPOSITORY / "src/evenhand/demo/prompts.jsonl"
CRITERIA = REPOSITORY / "catalog/criteria/evenhand/direct"
SYSTEMS = ("alder", "birch", "cedar")
PAIRS = tuple(itertools.combinations(SYSTEMS, 2))
CRITERION_NAMES = ("relevance", "correctness")
COLUMNS = (
    "id",
    "kind",
    "question",
    "context",
    "reference",
    *SYSTEMS,
    *(f"{system}_{name}" for name in CRITERION_NAMES for system in SYSTEMS),
    *(f"preferred_{one}_{other}" for one, other in PAIRS),
)


@pytest.fixture(scope="module")
def rows():
    return [json.loads(line) for line in PROMPTS.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def values():
    """The value of every option, by criterion, as the catalog gives it."""
    return {
        name: json.loads((CRITERIA / f"{name}.json").read_text(encoding="utf-8"))["option_map"]
        for name in CRITERION_NAMES
    }


def gold(row, system, values):
    return [values[name][row[f"{system}_{name}"]] for name in CRITERION_NAMES]


def test_ids_and_questions_are_unique(rows):
    assert len({row["id"] for row in rows}) == len(rows)
    assert len({(row["question"], row["context"]) for row in rows}) == len(rows)


def test_every_row_has_the_same_flat_columns_of_text(rows):
    for row in rows:
        assert tuple(row) == COLUMNS
        for column, text in row.items():
            assert isinstance(text, str), (row["id"], column)
            assert text == text.strip(), (row["id"], column)
            assert text or column == "context", (row["id"], column)


@pytest.mark.parametrize("name", CRITERION_NAMES)
def test_gold_labels_are_options_of_the_catalog_criterion(rows, values, name):
    used = {row[f"{system}_{name}"] for row in rows for system in SYSTEMS}
    assert used <= set(values[name])


def test_pairwise_gold_names_one_of_the_pair_or_a_tie(rows):
    for row, (one, other) in itertools.product(rows, PAIRS):
        assert row[f"preferred_{one}_{other}"] in {one, other, "tie"}, row["id"]


def test_the_systems_are_clearly_ordered_but_not_in_every_prompt(rows, values):
    means = {system: fmean(fmean(gold(row, system, values)) for row in rows) for system in SYSTEMS}
    assert means["birch"] - means["cedar"] >= 0.2
    assert means["cedar"] - means["alder"] >= 0.2
    usual = {"preferred_alder_birch": "birch", "preferred_alder_cedar": "cedar", "preferred_birch_cedar": "birch"}
    upset = sum(any(row[c] not in {winner, "tie"} for c, winner in usual.items()) for row in rows)
    assert 0.15 <= upset / len(rows) <= 0.25


def test_the_file_reads_as_a_hugging_face_data_set_and_survives_csv(rows, tmp_path):
    datasets = pytest.importorskip("datasets")
    pandas = pytest.importorskip("pandas")
    loaded = datasets.Dataset.from_list(rows)
    assert loaded.column_names == list(COLUMNS)
    table = tmp_path / "prompts.csv"
    pandas.DataFrame(rows).to_csv(table, index=False)
    assert pandas.read_csv(table, dtype=str, keep_default_na=False).to_dict("records") == rows
