"""Results that lie on disk in parts are what the same rows come to when they are judged at once."""

import gc
import json
import tracemalloc
from collections import deque
from functools import partial

import numpy as np
import pyarrow.parquet
import pytest

import evenhand
from evenhand.errors import InvalidInputError
from evenhand.results.made_by import DIGITS
from evenhand.results.vote_columns import OnDisk
from tests.results.kinds import KINDS, rows, whole_of


def part_of(whole, first, size):
    """The result of some of the rows, as if these alone had been judged."""
    said = dict(whole.parameters)
    rows = slice(first, first + size)
    said |= {"n": size, "ids": list(whole.ids)[rows]} if whole.ids else {"n": size}
    if "groups" in said:
        said["groups"] = {name: list(values)[rows] for name, values in said["groups"].items()}
    digits = slice(first * DIGITS, (first + size) * DIGITS)
    shown = {name: each[digits] for name, each in said["fingerprint"]["shown"].items()}
    said["fingerprint"] = {**said["fingerprint"], "shown": shown}
    cells = (
        cell._replace(about={**cell.about, "instance": cell.about["instance"] - first})
        for cell in whole.cells()
        if first <= cell.about["instance"] < first + size
    )
    return whole.of_cells(whole.analyse, {**whole.header, "parameters": said}, cells)


def in_parts(whole, sizes, folder):
    """The same result, as it lies on disk in parts of so many rows."""
    folder.mkdir(exist_ok=True)
    for number, size in enumerate(sizes):
        part_of(whole, sum(sizes[:number]), size).save(folder / f"part-{number:06d}.parquet")
    return evenhand.open(folder)


def in_order(found):
    return sorted(json.dumps(each, sort_keys=True, default=str) for each in found)


WHERE_CUT = [*((kind, (4, 1, 7)) for kind in KINDS), ("judgements", (12,))]


@pytest.mark.parametrize(("kind", "sizes"), WHERE_CUT, ids=str)
def test_parts_come_to_what_all_rows_come_to_at_once(kind, sizes, tmp_path):
    whole = whole_of(kind)
    parts = in_parts(whole, sizes, tmp_path)
    assert parts.kind == whole.kind
    assert isinstance(parts.stored, OnDisk)
    assert len(parts) == len(whole)
    assert str(parts) == str(whole)
    assert parts.findings() == whole.findings()
    assert parts.spending == whole.spending
    assert parts.unscored_counts == whole.unscored_counts
    assert in_order(parts.records(votes=True)) == in_order(whole.records(votes=True))
    assert in_order(each.about for each in parts.named_cells()) == in_order(each.about for each in whole.named_cells())
    assert parts.clusters() == whole.clusters()
    assert list(parts.ids) == list(whole.ids)
    assert parts.fingerprint == whole.fingerprint


def test_a_folder_without_parts_and_parts_of_two_runs_are_refused(tmp_path):
    with pytest.raises(InvalidInputError, match="holds no parts of a result"):
        evenhand.open(tmp_path)
    part_of(whole_of("judgements"), 0, 6).save(tmp_path / "part-000000.parquet")
    part_of(whole_of("judgements"), 6, 6).rescore(on_position_bias="first").save(tmp_path / "part-000001.parquet")
    with pytest.raises(InvalidInputError, match=r"of another run.*: on_position_bias is None there and 'first' here"):
        evenhand.open(tmp_path)


@pytest.mark.parametrize("kind", ["systems", "checklist", "winrates"])
def test_parts_are_saved_as_one_file_and_written_as_rows(kind, tmp_path):
    whole, parts = whole_of(kind), in_parts(whole_of(kind), (5, 7), tmp_path / "parts")
    parts.save(tmp_path / "one.parquet")
    again = evenhand.open(tmp_path / "one.parquet")
    assert not isinstance(again.stored, OnDisk)
    assert again.findings() == whole.findings()
    assert list(again.ids) == list(whole.ids)
    assert parts.votes().num_rows == whole.votes().num_rows
    assert set(parts.votes().column_names) == set(whole.votes().column_names)
    assert sorted(map(str, parts.to_pandas().columns)) == sorted(map(str, whole.to_pandas().columns))
    assert len(parts.to_pandas()) == len(whole.to_pandas())


@pytest.mark.parametrize("kind", ["systems", "rubric", "checklist", "winrates", "mode", "grades"])
def test_parts_are_filtered_as_one_result_is(kind, tmp_path):
    whole, parts = whole_of(kind), in_parts(whole_of(kind), (5, 3, 4), tmp_path)
    for kept in ({"instance": [1, 6, 7]}, {"keep": lambda about: about["instance"] < 8}):
        some, few = whole.filter(**kept), parts.filter(**kept)
        assert isinstance(few.stored, OnDisk)
        assert (len(few), str(few)) == (len(some), str(some))
        assert few.findings() == some.findings()
        assert in_order(few.records()) == in_order(some.records())
    with pytest.raises(InvalidInputError, match="none is left"):
        parts.filter(instance=99)


def test_scores_are_the_columns_of_the_files_under_their_rules_and_else_those_of_the_votes(tmp_path):
    whole = whole_of("judgements")
    parts = in_parts(whole, (12,), tmp_path)
    table = pyarrow.parquet.read_table(tmp_path / "part-000000.parquet")
    scores = table.to_pandas().groupby("cell")["verdict_score"].first()
    assert scores.tolist() == pytest.approx(np.array([each["score"] for each in parts.records()], float), nan_ok=True)
    place, zeros = table.column_names.index("verdict_score"), pyarrow.array([0.0] * len(table))
    pyarrow.parquet.write_table(table.set_column(place, "verdict_score", zeros), tmp_path / "part-000000.parquet")
    assert [each.score.estimate for each in evenhand.open(tmp_path).summaries.values()] == [0.0]
    again = evenhand.open(tmp_path).rescore(on_position_bias="first")
    assert again.summaries == whole.rescore(on_position_bias="first").summaries


def test_walking_over_many_parts_holds_no_more_than_a_few(tmp_path):
    whole = KINDS["judgements"](rows(96))

    def most_held(count):
        result = in_parts(part_of(whole, 0, count), [8] * (count // 8), tmp_path / str(count))
        assert len(result.stored.files) == count // 8
        most_rows = partial(result.filter, lambda about: about["instance"] % 8)
        walks = [lambda walk=walk: deque(walk(), maxlen=0) for walk in (result.records, result.cells)]
        walks += [lambda: deque(result.verdict_views(), maxlen=0), lambda: result.save(tmp_path / "one.jsonl")]
        walks += [lambda: deque(most_rows().cells(), maxlen=0)]
        held = []
        for walk in walks:
            walk()  # what is imported, and held once
            gc.collect()
            tracemalloc.start()
            walk()
            held.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
        return held

    few = most_held(16)
    assert all(many < 1.5 * small for many, small in zip(most_held(96), few, strict=True))
