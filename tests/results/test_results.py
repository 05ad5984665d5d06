"""Results as files and as sequences: nothing that a vote says is lost, and other tools can read them."""

import json
import stat

import pandas as pd
import pytest
from datasets import load_dataset
from hypothesis import given
from hypothesis import strategies as st

import evenhand
from evenhand.engines.free_engines import SimulatedEngine
from evenhand.errors import InvalidInputError, UnwritableFileError
from evenhand.functions import judge
from evenhand.results.vote_columns import Cell, cells_of, votes_tables
from evenhand.votes import Completion, Match, Prompts, TokenLogprob, Usage, Vote
from tests.golden.runs import rows
from tests.support.judges import ScriptedJudge

RELEVANCE = "criteria.evenhand.direct.relevance"
CORRECT = "criteria.evenhand.direct.correctness"


@pytest.fixture(scope="module")
def judged():
    given_rows = [{**row, "doc": f"d{number // 2}"} for number, row in enumerate(rows(6))]
    given_rows[1] = {**given_rows[1], "alder": None}
    return judge(
        given_rows,
        [RELEVANCE, CORRECT],
        [SimulatedEngine(name="one", noise=0.3, seed=1), SimulatedEngine(name="two", refusal_rate=0.3, seed=2)],
        response_fields=["alder", "birch"],
        gold_fields={"relevance": "{system}_relevance"},
        cluster_field="doc",
        samples=2,
        include_prompts_in_result=True,
        max_failure_rate=1.0,
        journal=None,
        progress=False,
    )


texts = st.none() | st.text(max_size=8).map(lambda text: text.encode("utf-8", "replace").decode())
numbers = st.none() | st.floats(0, 1)


@st.composite
def votes(draw):
    options = draw(st.integers(2, 4))
    logprobs = ((TokenLogprob(token="yes", logprob=-0.5, top=(("yes", -0.5), ("no", None))),),)
    return Vote(
        judge_id=draw(st.text("abc", min_size=1)),
        order=tuple(draw(st.permutations(range(options)))),
        sample=draw(st.integers(0, 5)),
        selected_index=draw(st.none() | st.integers(0, options - 1)),
        selected_label=draw(texts),
        value=draw(numbers),
        na=draw(st.booleans()),
        probabilities=draw(st.none() | st.tuples(*[st.floats(0, 1)] * options)),
        assessment=draw(texts),
        summary=draw(texts),
        completion=draw(
            st.none()
            | st.builds(
                Completion,
                text=texts,
                finish_reason=st.sampled_from([None, "stop"]),
                prompt_tokens=st.none() | st.integers(0, 9),
                cost=numbers,
                model=texts,
                logprobs=st.sampled_from([None, (), *logprobs]),
                cached=st.booleans(),
            )
        ),
        match=draw(
            st.sampled_from([None, Match(index=1, kind="near"), Match(index=None, kind="none", reason="empty")])
        ),
        unscored_reason=draw(st.sampled_from([None, "empty", "budget"])),
        error=draw(texts),
        weight=draw(st.floats(0, 3)),
        reasks=draw(st.integers(0, 2)),
        usage=draw(st.builds(Usage, calls=st.integers(0, 3), cached=st.integers(0, 3), cost=numbers)),
        prompts=draw(st.sampled_from([None, {"assessment": [{"role": "user", "content": "Is “x” it? \n"}]}])),
        draws_planned=draw(st.none() | st.integers(1, 9)),
    )


@given(st.lists(st.lists(votes(), max_size=3).map(tuple), min_size=1, max_size=3))
def test_no_field_of_a_vote_is_lost_in_columns(cast):
    cells = [Cell({"instance": place, "system": "s", "gold": None}, each) for place, each in enumerate(cast)]
    (table,) = votes_tables(cells)
    prompts = [text and Prompts(json.loads(text)) for text in table["prompts"].to_pylist()]
    assert list(cells_of(table, prompts)) == cells


def test_other_tools_read_the_parquet_file(judged, tmp_path):
    path = tmp_path / "result.parquet"
    judged.save(path)
    frame = pd.read_parquet(path)
    cast = [vote for item in judged for vote in item.verdict.votes]
    missing = sum(not item.verdict.votes for item in judged)
    assert len(frame) == len(cast) + missing == len(load_dataset("parquet", data_files=str(path))["train"])
    asked = frame[frame.judge_id.notna()]
    assert asked.selected_label.fillna("").tolist() == [vote.selected_label or "" for vote in cast]
    assert asked.calls.sum() == sum(vote.usage.calls for vote in cast)
    assert set(frame.system) == {"alder", "birch"}


def test_a_file_that_is_there_survives_a_failed_save(judged, tmp_path, monkeypatch):
    path = tmp_path / "result.parquet"
    judged.save(path)
    before = path.read_bytes()

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pyarrow.parquet.ParquetWriter.write_table", full)
    with pytest.raises(UnwritableFileError, match=r"No space left on device.*what was there is as it was"):
        judged.save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_and_permissions_outlive_a_save(judged, tmp_path):
    path, link = tmp_path / "result.parquet", tmp_path / "link.parquet"
    path.touch(mode=0o600)
    link.symlink_to(path)
    judged.save(link)
    assert link.is_symlink()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert evenhand.open(path).records()


@pytest.mark.parametrize(
    ("path", "error", "message"),
    [
        ("/nowhere/at/all/result.jsonl", UnwritableFileError, "No such file or directory"),
        ("x" * 300 + ".parquet", UnwritableFileError, "File name too long"),
        ("a\0b.jsonl", InvalidInputError, "is not the path of a file"),
        (5, InvalidInputError, "5 is not the path of a file"),
        (None, InvalidInputError, "None is not the path of a file"),
    ],
)
def test_a_path_where_nothing_can_be_saved_is_refused(path, error, message, judged):
    with pytest.raises(error, match=message):
        judged.save(path)


def test_of_very_many_pairs_a_terminal_shows_those_of_the_least_p():
    systems = [f"s{place}" for place in range(11)]
    data = [{system: "good" if system == "s9" else f"no {row}" for system in systems} for row in range(20)]
    engine = ScriptedJudge(lambda request: "Yes" if "good" in str(request.messages) else "No")
    how = {"flow": "one_step", "progress": False, "journal": None}
    table, *_ = judge(data, "Is it right?", engine, response_fields=systems, **how).tables("differences")
    assert len(table.rows) == 55
    assert all("s9" in pair for pair, *_ in table.rows[:10])
