"""What all results share, whatever the way of judging."""

import json
import pickle
from dataclasses import FrozenInstanceError

import pytest
from pyarrow.parquet import read_schema

import evenhand
from evenhand.data.rows import PARQUET_HEADER
from evenhand.errors import InvalidInputError
from tests.results.kinds import REVIEWED, whole_of

RESCORED = {
    "checklist": {"primary_metric": "normalized"},
    "votes": {"rule": "any"},
    **{kind: {"on_position_bias": "first"} for kind in ("judgements", "systems", "panel", "expected")},
    **{kind: {"on_position_bias": "abstain"} for kind in ("winrates", "mode")},
}
"""Kind -> rules that change verdicts."""


@pytest.fixture(params=REVIEWED)
def kind(request):
    return request.param


def plain(found):
    """Return records as JSON, without an order, so that missing numbers are equal."""
    return sorted(json.dumps(each, sort_keys=True, default=str) for each in found)


def test_it_is_saved_and_opened_whole(kind, tmp_path):
    whole, path = whole_of(kind), tmp_path / "result.parquet"
    whole.save(path)
    whole.save(tmp_path / "export.jsonl")
    lines = (tmp_path / "export.jsonl").read_text().splitlines()
    assert list(map(json.loads, lines)) == json.loads(json.dumps(list(whole.records(votes=True))))
    for text in (*lines, read_schema(path).metadata[PARQUET_HEADER]):  # any reader of JSON accepts it, without NaN
        json.loads(text, parse_constant=pytest.fail)
    opened = evenhand.open(path)
    assert (opened, opened.kind, str(opened)) == (whole, whole.kind, str(whole))
    assert opened.findings() == whole.findings()
    assert plain(opened.records(votes=True)) == plain(whole.records(votes=True))
    assert opened.votes().num_rows == whole.votes().num_rows
    assert pickle.loads(pickle.dumps(opened)) == whole
    assert opened.run_file == whole.run_file
    held = path.read_bytes()
    path.write_bytes(held[: len(held) // 2])
    with pytest.raises(InvalidInputError, match=r"is not a (saved result|Parquet file)"):
        evenhand.open(path)


def test_it_cannot_be_changed(kind):
    with pytest.raises(FrozenInstanceError):
        whole_of(kind).parameters = {}


def test_a_record_is_plain_and_a_frame_has_them_all(kind):
    whole = whole_of(kind)
    records, frame = list(whole.records()), whole.to_pandas()
    assert len(frame) >= len(records) >= len(whole) > 0
    assert json.loads(json.dumps(records)) == records
    if whole.ids:
        assert {record["id"] for record in records} == set(whole.ids)
    with_votes = [record for record in whole.records(votes=True) if "votes" in record]
    assert all("judge_id" in vote for record in with_votes for vote in record["votes"])


def test_every_form_shows_every_table(kind):
    whole = whole_of(kind)
    forms = [whole.to_terminal(width=200), whole.to_markdown(), whole.to_html(), whole.to_latex()]
    for table in whole.tables():
        names = {cell for row in table.rows for cell in row[: table.naming]}
        for name in (name for name in names if name.isalnum()):
            assert all(name in form for form in forms)
        assert table in whole.tables(table.kind)
    assert repr(whole) == str(whole)


def test_many_measures_of_a_mode_are_rows():
    (table,) = whole_of("mode").tables()
    assert len(table.headers) == 2
    assert table.headers[0] == "measure [95%]"
    assert "response selection rate" in {name for name, _ in table.rows}


def test_some_rows_are_a_result_with_the_records_of_these_rows(kind):
    whole = whole_of(kind)
    some = whole.filter(instance=[1, 2, 5, 7])
    assert {about["instance"] for about in some.abouts()} == {1, 2, 5, 7}
    assert some.parameters["n"] == 4
    if kind != "agreement":  # whose records are pairs of raters
        kept = [record for record in whole.records() if record["instance"] in {1, 2, 5, 7}]
        assert plain(some.records()) == plain(kept)
    with pytest.raises(InvalidInputError, match="none is left"):
        whole.filter(instance=99)
    with pytest.raises(InvalidInputError, match="there is no column 'sistem'"):
        whole.filter(sistem="response")


def test_it_is_scored_by_other_rules_and_back(kind, tmp_path):
    whole = whole_of(kind)
    if kind not in RESCORED:
        if kind in {"grades", "agreement"}:
            with pytest.raises(InvalidInputError, match="are not made by rules"):
                whole.rescore(aggregation="mode")
        return
    changed = whole.rescore(**RESCORED[kind])
    assert plain(changed.records()) != plain(whole.records())
    assert list(changed.cells()) == list(whole.cells())
    back = changed.rescore(**{name: whole.parameters[name] for name in RESCORED[kind]})
    assert plain(back.records()) == plain(whole.records())
    changed.save(tmp_path / "changed.parquet")
    assert evenhand.open(tmp_path / "changed.parquet") == changed
    with pytest.raises((InvalidInputError, TypeError), match="agregation"):
        whole.rescore(agregation="mode")


def test_it_is_compared_with_itself_and_with_no_other_kind(kind):
    whole = whole_of(kind)
    if kind in {"agreement", "mode"}:  # without scores of rows
        with pytest.raises(InvalidInputError, match="compared"):
            whole.compare(whole)
        return
    found = whole.compare(whole)
    assert found.groups
    assert {group.difference.estimate for group in found.groups.values() if group.n_compared} == {0.0}
    assert (found.changes, found.changed) == ((), ())
    other = whole_of("checklist" if kind == "votes" else "votes")
    with pytest.raises(InvalidInputError, match="cannot be compared"):
        whole.compare(other)


def test_its_entries_are_found_by_place_and_name(kind):
    whole = whole_of(kind)
    assert list(whole) == whole[:] == [whole[place] for place in range(len(whole))]
    assert whole[-1] == whole[len(whole) - 1]
    view = next(whole.verdict_views())
    assert whole[view.name].views == (view,)
    with pytest.raises(InvalidInputError, match="there is no row and no verdict 'nothing'"):
        whole["nothing"]


def test_its_verdicts_are_shown_with_their_votes(kind):
    whole = whole_of(kind)
    views = list(whole.verdict_views())
    assert [len(view.votes) for view in views] == [len(cell.votes) for cell in whole.cells()]
    assert len({view.name for view in views}) == len(views)
    assert len(whole.row(views[0].row).views) == sum(view.row == views[0].row for view in views)


def test_it_counts_its_unscored_votes_and_verdicts(kind):
    whole = whole_of(kind)
    cells, counts = list(whole.cells()), whole.unscored_counts
    asked = [[vote for vote in cell.votes if vote.unscored_reason != "not_asked"] for cell in cells]
    silent = [[vote for vote in cell.votes if vote.selected_index is None and not vote.na] for cell in cells]
    assert (counts.votes, counts.unscored_votes) == (sum(map(len, asked)), sum(map(len, silent)))
    assert counts.rows == len({cell.about["instance"] for cell, own in zip(cells, silent, strict=True) if own})
    assert counts.verdicts == len(cells)
    assert counts.unscored_verdicts == sum(len(cell.votes) == len(own) for cell, own in zip(cells, silent, strict=True))
    shares = {each.name: each.value for each in whole.findings() if not each.of}
    assert shares["unscored"] == counts.unscored_votes / counts.votes
    if kind != "agreement" and counts:
        assert str(counts) in " ".join(str(whole).split())
    views = list(whole.verdict_views())
    assert sum(each.vote.unscored for view in views for each in view.votes) == counts.unscored_votes
    assert sum(view.unscored for view in views) == counts.unscored_verdicts
