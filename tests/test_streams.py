"""Rows that are never held whole: the same verdicts as at once, parts that hold, and runs that go on."""

import json
import signal

import pytest

import evenhand
from evenhand.cli import main
from evenhand.errors import EvenhandWarning, InvalidInputError, RejectedRequestError
from tests.support.judges import ScriptedJudge
from tests.support.processes import Running
from tests.support.server import JudgeServer

CRITERION = "Is the answer right?"
HOW = {"id_field": "id", "context_fields": ["question"], "flow": "one_step", "progress": False}


def rows(count=40):
    return [
        {"id": f"r{n}", "question": f"What is {n} + {n}?", "response": f"It is {2 * n}." if n % 3 else "No idea."}
        for n in range(count)
    ]


SYSTEMS = [{"id": f"p{n}", "question": f"q{n}", "a": f"one {n}", "b": f"two {n}"} for n in range(12)]


def noisy():
    return evenhand.SimulatedEngine(noise=0.4)


def parts_of(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.glob("part-*.parquet"))}


def told(result):
    """The records, which a result in parts has part by part, and what it prints."""
    records = sorted(result.records(votes=True), key=lambda row: [str(row.get(name)) for name in result.names])
    return json.dumps(records, default=str), str(result)


def crit_judge(**how):
    return ScriptedJudge(lambda request: '{"assessment": "a", "selected_option": "Yes"}', **how)


def test_a_run_goes_on_from_the_parts_that_are_there(tmp_path):
    """Only the rows of a part that is gone are judged again, and all files are as they were."""
    folder, how = tmp_path / "to", {**HOW, "journal": None, "stream_to": tmp_path / "to", "part_rows": 7}
    whole = evenhand.judge(rows(), CRITERION, crit_judge(), **how)
    before = parts_of(folder)
    (folder / "part-000002.parquet").unlink()
    (folder / ".part-000002.parquet.4711").write_bytes(b"begun")  # what a process that was killed leaves
    judge = crit_judge()
    again = evenhand.judge(iter(rows()), CRITERION, judge, **how)
    assert len(judge.requests) == 2 * 7  # in both orders
    assert parts_of(folder) == before
    assert not list(folder.glob(".part-*.parquet.*"))
    assert told(again) == told(whole)


def test_parts_with_failed_votes_are_judged_again_and_rows_stand_once(tmp_path):
    folder, broken = tmp_path / "to", {"r3", "r20"}
    how = {**HOW, "journal": tmp_path / "journal.sqlite3", "stream_to": folder, "part_rows": 7, "max_failure_rate": 1.0}

    def reply(request):
        asked = request.question.draw_key
        return RejectedRequestError("no") if asked in broken else '{"assessment": "a", "selected_option": "Yes"}'

    first = evenhand.judge(rows(), CRITERION, ScriptedJudge(reply), **how)
    assert {row["id"] for row in first.records() if row["unscored_reason"]} == {"r3", "r20"}
    broken.clear()
    judge = ScriptedJudge(reply)
    second = evenhand.judge(rows(), CRITERION, judge, **how)
    assert {request.question.draw_key for request in judge.requests} == {"r3", "r20"}
    assert [row["id"] for row in second.records()] == [f"r{n}" for n in range(40)]
    at_once = evenhand.judge(rows(), CRITERION, crit_judge(), **HOW, journal=None)
    assert [row["selected_option"] for row in second.records()] == [row["selected_option"] for row in at_once.records()]


def test_a_budget_that_runs_out_is_over_all_parts_and_a_raised_one_goes_on(tmp_path):
    how = {**HOW, "journal": tmp_path / "journal", "stream_to": tmp_path / "to", "part_rows": 7}
    how["check_positional_bias"] = False
    judge = crit_judge()
    first = evenhand.judge(rows(), CRITERION, judge, **how, max_calls=10)
    assert len(judge.requests) == 10
    assert sum(row["unscored_reason"] == "budget" for row in first.records()) == 30
    second = evenhand.judge(rows(), CRITERION, judge, **how, max_calls=100)
    assert len(judge.requests) == 40
    assert not any(row["unscored_reason"] for row in second.records())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seed": 3}, "seed is 0 there and 3 here"),
        ({"criteria": "Is it polite?"}, "criteria is"),
        ({"engine": crit_judge(name="other")}, "judges is"),
        ({"response_fields": "question"}, "systems is"),
    ],
)
def test_the_folder_of_another_run_is_refused_before_a_call(tmp_path, change, message):
    how = {**HOW, "journal": None, "stream_to": tmp_path / "to"}
    evenhand.judge(rows(5), CRITERION, crit_judge(), **how)
    before = parts_of(tmp_path / "to")
    judge = change.get("engine", crit_judge())
    given = {"criteria": CRITERION, "engine": judge, **how, **change}
    with pytest.raises(InvalidInputError, match=f"holds the parts of another run: {message}"):
        evenhand.judge(rows(6), **given)
    assert not judge.requests
    assert parts_of(tmp_path / "to") == before


def test_ids_are_unique_and_rows_of_an_id_stay_what_they_were(tmp_path):
    how = {**HOW, "stream_to": tmp_path / "to", "part_rows": 7}
    with pytest.raises(InvalidInputError, match=r"row 40 of the data set has the id 'r3' in 'id', .* earlier row"):
        evenhand.judge([*rows(), rows()[3]], CRITERION, noisy(), **how)
    assert len(parts_of(tmp_path / "to")) == 5  # what came before it was judged
    changed = [{**row, "response": "Otherwise."} if row["id"] == "r9" else row for row in rows()]
    with pytest.raises(
        InvalidInputError, match=r"part-000001\.parquet' holds other rows than the data from row 7 of the data set on"
    ):
        evenhand.judge(changed, CRITERION, noisy(), **how)
    assert len(evenhand.judge(rows(), CRITERION, noisy(), **how)) == 40


def test_a_bad_row_in_the_midst_is_named_and_what_came_before_stays(tmp_path):
    one, two = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    one.write_text("".join(json.dumps(row) + "\n" for row in rows()[:20]))
    bad = [*rows()[20:25], {"id": "bad", "question": "q"}, *rows()[25:]]
    two.write_text("".join(json.dumps(row) + "\n" for row in bad))
    how = {**HOW, "stream_to": tmp_path / "to", "part_rows": 8}
    message = r"^row 5 of the data set '.*b.jsonl' has no field 'response', .*What was judged before is in .*/to'"
    with pytest.raises(InvalidInputError, match=message):
        evenhand.judge(tmp_path / "*.jsonl", CRITERION, noisy(), **how)
    assert len(parts_of(tmp_path / "to")) >= 3
    two.write_text("".join(json.dumps(row) + "\n" for row in rows()[20:]))
    mended = evenhand.judge(tmp_path / "*.jsonl", CRITERION, noisy(), **how)
    assert told(mended)[1] == told(evenhand.judge(rows(), CRITERION, noisy(), **HOW))[1]


WIDE = {"response_fields": ["a", "b"]}


@pytest.mark.parametrize(
    ("function", "given", "message"),
    [
        ("winrates", {**WIDE, "design": "swiss:1"}, "design is 'swiss:1', which needs all rows at once"),
        ("winrates", {**WIDE, "design": "sample:1"}, "design is 'sample:1', which needs all rows"),
        ("winrates", {**WIDE, "stop": "decided"}, "stop is 'decided', which needs all rows at once"),
        ("winrates", {"systems_field": "model"}, "systems_field is 'model', which needs all rows at once"),
        ("grade_scores", {**WIDE, "unrelated_option": True}, "unrelated_option is True, which needs"),
        ("checklist", {"votes": "v"}, "votes is 'v', which needs all rows at once"),
    ],
)
def test_what_needs_all_rows_is_refused(tmp_path, function, given, message):
    with pytest.raises(InvalidInputError, match=message):
        getattr(evenhand, function)(SYSTEMS, engine=noisy(), **given, stream_to=tmp_path / "to")
    assert not (tmp_path / "to").exists()


BETTER = {"criteria": "Which is better?", "id_field": "id"}
RIGHT = {"criteria": CRITERION, "id_field": "id", "flow": "one_step"}


@pytest.mark.parametrize(
    ("function", "data", "given"),
    [
        ("judge", rows(), {**RIGHT, "orders": "given", "check_positional_bias": True}),
        ("judge", rows(), {**RIGHT, "orders": "shuffled", "check_positional_bias": 0.3}),
        ("winrates", SYSTEMS, {**WIDE, **BETTER}),
        ("checklist", SYSTEMS, {"checklist": ["Is it short?", "Is it kind?"], **WIDE, "id_field": "id"}),
        ("run_mode", SYSTEMS, {"mode": "best_of", **WIDE, **BETTER}),
        ("grade_scores", SYSTEMS, {**WIDE, **BETTER}),
    ],
)
def test_every_way_of_judging_streams(tmp_path, function, data, given):
    """Draws of the judge, shuffles and the sample that is shown twice depend on ids, not on places."""
    how = {**given, "context_fields": ["question"], "progress": False}
    judge = getattr(evenhand, function)
    at_once = judge(data, engine=noisy(), **how)
    streamed = judge(iter(data), engine=noisy(), **how, stream_to=tmp_path / "to", part_rows=5)
    assert told(streamed) == told(at_once)
    (tmp_path / "to" / "part-000001.parquet").unlink()
    assert told(judge(iter(data), engine=noisy(), **how, stream_to=tmp_path / "to", part_rows=5)) == told(at_once)


STREAMED = """
import sys, warnings
import evenhand
data, folder, journal, address = sys.argv[1:]
engine = evenhand.OpenAICompatibleEngine(base_url=address, model="m", max_in_flight=8)
evenhand.judge(
    data, "Is the answer right?", engine, id_field="id", context_fields=["question"], flow="one_step", progress=False,
    journal=journal, stream_to=folder, part_rows=10,
)
"""


def streaming(tmp_path, server, count):
    """Return what starts a streamed run of this many rows, and its folder."""
    data, folder = tmp_path / "rows.jsonl", tmp_path / "to"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows(count)))
    given = (STREAMED, data, folder, tmp_path / "journal.sqlite3", server.base_url)
    return lambda told: Running(*given, output=tmp_path / told), folder


def asked_of(server):
    return [json.dumps(request.body, sort_keys=True) for request in server.requests]


def test_a_killed_run_goes_on_buys_nothing_twice_and_comes_to_the_same(tmp_path):
    with JudgeServer(labels=["Yes", "No"], latency=0.02) as server:
        start, folder = streaming(tmp_path, server, 80)
        run = start("killed.txt")
        run.kill_when(lambda: len(parts_of(folder)) >= 2)
        left = parts_of(folder)
        assert all(len(evenhand.open(folder / name)) == 10 for name in left)  # what is there is whole
        assert len(left) < 8
        assert start("again.txt").wait() == 0
        asked = asked_of(server)
        assert len(set(asked)) == 160  # each in two orders
        assert len(asked) - 160 <= 8  # what was on its way when it was killed
        engine = evenhand.OpenAICompatibleEngine(base_url=server.base_url, model="m")
        whole = evenhand.judge(rows(80), CRITERION, engine, **HOW, journal=None)
    streamed = evenhand.open(folder)
    assert list(streamed.records()) == list(whole.records())
    assert [*map(str, streamed.text_tables())] == [*map(str, whole.text_tables())]
    assert {name: held for name, held in parts_of(folder).items() if name in left} == left


def test_a_run_that_is_asked_to_end_says_how_to_go_on_and_buys_nothing_twice(tmp_path):
    with JudgeServer(labels=["Yes", "No"], latency=0.02) as server:
        start, folder = streaming(tmp_path, server, 60)
        run = start("ended.txt")
        run.wait_until(lambda: len(parts_of(folder)) >= 2)
        run.send(signal.SIGTERM)
        assert run.wait() == 128 + signal.SIGTERM
        assert (
            f"'{folder}' holds {len(parts_of(folder))} parts: run the same again, and only the rest is asked for"
            in run.told
        )
        assert len(parts_of(folder)) < 6
        assert start("again.txt").wait() == 0
        asked = asked_of(server)
    assert len(evenhand.open(folder)) == 60
    assert len(asked) == len(set(asked)) == 120  # each in two orders, and what was on its way was waited for


def test_a_part_that_is_copied_counts_no_row_twice_and_one_that_is_cut_off_is_named(tmp_path):
    folder = tmp_path / "to"
    how = {**HOW, "stream_to": folder, "part_rows": 7}
    evenhand.judge(rows(20), CRITERION, noisy(), **how)
    whole = (folder / "part-000001.parquet").read_bytes()
    (folder / "part-000001 (copy).parquet").write_bytes(whole)
    with pytest.raises(
        InvalidInputError, match=r"row 'r7' is in .*part-000001 \(copy\).* and in .*part-000001\.parquet"
    ):
        evenhand.open(folder)
    (folder / "part-000001 (copy).parquet").unlink()
    (folder / "part-000001.parquet").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(
        InvalidInputError, match=r"000001\.parquet' is not a part .* or not a whole one \(.*\): move it"
    ):
        evenhand.judge(rows(20), CRITERION, noisy(), **how)
    (folder / "part-000001.parquet").unlink()
    with pytest.warns(EvenhandWarning, match="lacks parts with 7 rows of the run"):
        assert len(evenhand.open(folder)) == 13
    assert len(evenhand.judge(rows(20), CRITERION, noisy(), **how)) == 20


def test_parts_before_an_error_of_the_data_are_written(tmp_path):
    def broken():
        yield from rows(20)
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        evenhand.judge(broken(), CRITERION, crit_judge(), **HOW, journal=None, stream_to=tmp_path / "to", part_rows=7)
    assert len(parts_of(tmp_path / "to")) == 2


def test_the_shell_streams_and_goes_on_by_the_run_file_in_the_folder(tmp_path, capsys):
    (tmp_path / "shards").mkdir()
    for name, held in (("a.jsonl", rows()[:25]), ("b.jsonl", rows()[25:])):
        (tmp_path / "shards" / name).write_text("".join(json.dumps(row) + "\n" for row in held))
    folder = tmp_path / "to"
    how = "--criteria criteria.evenhand.direct.relevance --engine engines.evenhand.baseline --response-fields response"
    how += " --context-fields question --quiet --id-field id --part-rows 7"
    asked = ["judge", str(tmp_path / "shards"), *how.split(), "--stream-to", str(folder)]
    assert main([*asked, "--limit", "20"]) == 0
    assert len(evenhand.open(folder)) == 20
    first = parts_of(folder)
    capsys.readouterr()
    assert main([*asked, "--dry-run"]) == 0
    assert "votes: 52" in capsys.readouterr().out
    assert main(["run", str(folder / "run.yaml"), "--limit", "40", "--require", "unscored <= 0"]) == 0
    assert [row["id"] for row in evenhand.open(folder).records()] == [f"r{n}" for n in range(40)]
    whole = ["part-000000.parquet", "part-000001.parquet"]  # the third one had room for another row
    assert [parts_of(folder)[name] for name in whole] == [first[name] for name in whole]
    assert main(["show", str(folder)]) == 0
    assert "Direct assessment by baseline" in capsys.readouterr().out
    assert main([*asked, "--seed", "4"]) != 0
    assert "holds the parts of another run: seed is 0 there and 4 here" in capsys.readouterr().err
