"""The data set that ``evenhand demo`` judges: complete, labelled with catalog options, and consistent."""

import itertools
import json
from collections import Counter
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


def test_there_are_at_least_40_prompts_of_at_least_10_kinds(rows):
    assert len(rows) >= 40
    assert len({row["kind"] for row in rows}) >= 10


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


def test_some_prompts_have_a_context_and_some_have_none(rows):
    with_context = sum(bool(row["context"]) for row in rows)
    assert 10 <= with_context <= len(rows) - 10


@pytest.mark.parametrize("name", CRITERION_NAMES)
def test_gold_labels_are_options_of_the_catalog_criterion(rows, values, name):
    used = {row[f"{system}_{name}"] for row in rows for system in SYSTEMS}
    assert used <= set(values[name])


@pytest.mark.parametrize("name", CRITERION_NAMES)
def test_every_level_of_the_criterion_occurs(rows, values, name):
    used = {row[f"{system}_{name}"] for row in rows for system in SYSTEMS}
    assert used == set(values[name])


def test_pairwise_gold_names_one_of_the_pair_or_a_tie(rows):
    for row, (one, other) in itertools.product(rows, PAIRS):
        assert row[f"preferred_{one}_{other}"] in {one, other, "tie"}, row["id"]


def test_pairwise_gold_follows_the_criteria_where_both_prefer_the_same_system(rows, values):
    decided = 0
    for row, (one, other) in itertools.product(rows, PAIRS):
        differences = [a - b for a, b in zip(gold(row, one, values), gold(row, other, values), strict=True)]
        if all(difference > 0 for difference in differences):
            assert row[f"preferred_{one}_{other}"] == one, (row["id"], one, other)
        elif all(difference < 0 for difference in differences):
            assert row[f"preferred_{one}_{other}"] == other, (row["id"], one, other)
        else:
            continue
        decided += 1
    assert decided >= len(rows)  # the check above is about something


def test_pairwise_gold_has_no_cycle(rows):
    for row in rows:
        winners = Counter(row[f"preferred_{one}_{other}"] for one, other in PAIRS)
        assert [winners[system] for system in SYSTEMS] != [1, 1, 1], row["id"]


def test_the_systems_are_clearly_ordered_but_not_in_every_prompt(rows, values):
    means = {system: fmean(fmean(gold(row, system, values)) for row in rows) for system in SYSTEMS}
    assert means["birch"] - means["cedar"] >= 0.2
    assert means["cedar"] - means["alder"] >= 0.2
    usual = {"preferred_alder_birch": "birch", "preferred_alder_cedar": "cedar", "preferred_birch_cedar": "birch"}
    upset = sum(any(row[c] not in {winner, "tie"} for c, winner in usual.items()) for row in rows)
    assert 0.15 <= upset / len(rows) <= 0.25


def test_length_does_not_give_the_best_response_away(rows):
    longest = Counter(max(SYSTEMS, key=lambda system: len(row[system])) for row in rows)
    assert max(longest.values()) <= len(rows) / 2


def test_responses_of_a_prompt_differ_and_seldom_repeat_the_reference(rows):
    for row in rows:
        assert len({row[system] for system in SYSTEMS}) == len(SYSTEMS), row["id"]
    verbatim = sum(row[system] == row["reference"] for row in rows for system in SYSTEMS)
    assert verbatim <= 5


def test_the_traps_for_a_judge_are_there(rows):
    responses = "\n".join(row[system] for row in rows for system in SYSTEMS)
    for trap in ("Ignore the rubric", "[[A]]", "{{ user }}", "{% for", "```", "| Person |", "**"):
        assert trap in responses, trap
    assert any(row[system] == "…" for row in rows for system in SYSTEMS)


def test_the_file_reads_as_a_hugging_face_data_set_and_survives_csv(rows, tmp_path):
    datasets = pytest.importorskip("datasets")
    pandas = pytest.importorskip("pandas")
    loaded = datasets.Dataset.from_list(rows)
    assert loaded.column_names == list(COLUMNS)
    table = tmp_path / "prompts.csv"
    pandas.DataFrame(rows).to_csv(table, index=False)
    assert pandas.read_csv(table, dtype=str, keep_default_na=False).to_dict("records") == rows
