"""Runs as files: what is read, what counts before what, what is refused and where, and that a result runs again."""

import json
import logging

import jsonschema
import pytest

import evenhand
import evenhand.demo
from evenhand.cli import main
from evenhand.criteria import Criterion, Option, Rubric
from evenhand.data.plain import parse_yaml
from evenhand.errors import CheckFailedError, InvalidInputError
from evenhand.options import RunOptions
from evenhand.results.made_by import run_yaml
from evenhand.run_files import TEMPLATES, RunFile, schema, template
from tests.support.rows import write_rows
from tests.support.server import JudgeServer

BASELINE = "engines.evenhand.baseline"
ROWS = [
    {"id": f"r{n}", "question": f"What is {n}?", "answer": f"{n} is a number.", "other": "No idea."} for n in range(6)
]
RUN = {
    "job": "judge",
    "data": "rows.jsonl",
    "response_fields": ["answer"],
    "engine": BASELINE,
    "criteria": ["Is it true?"],
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with data that is not the current one."""
    (tmp_path / "there").mkdir()
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    write_rows(tmp_path / "there" / "rows.jsonl", ROWS)
    return tmp_path / "there"


GOOD_OR_BAD = Criterion(
    name="good", description="?", options=(Option(label="Good", value=1.0), Option(label="Bad", value=0.0))
)


def write(folder, name="run.yaml", **changes):
    path = folder / name
    said = {key: value for key, value in {**RUN, **changes}.items() if value is not None}
    path.write_text(json.dumps(said, indent=1) if name.endswith(".json") else run_yaml(said, folder), encoding="utf-8")
    return path


def said(path, **call):
    file = RunFile.read(path)
    return file.job.settled(call, file).given


def test_a_run_file_runs_from_anywhere_and_an_option_of_the_shell_counts_instead(folder, capsys):
    path = write(folder, out="result.parquet")
    assert main(["run", str(path), "--limit", "4", "--quiet", "--out", str(folder / "other.parquet")]) == 0
    assert not capsys.readouterr().err
    assert len(evenhand.open(folder / "other.parquet")) == 4
    assert not (folder / "result.parquet").exists()


def test_a_verb_takes_a_run_file_that_may_lack_what_it_is_given(folder, capsys):
    path = write(folder, job=None, criteria=None, rubric_field="own")
    out = folder / "out.parquet"
    given = ["--config", str(path), "--limit", "2", "--quiet", "--out", str(out)]
    assert main(["judge", *given, "--criteria", "Is it short?"]) == 0
    assert [each.name for each in evenhand.open(out).criteria] == ["is_it_short"]
    assert main(["winrates", "--config", str(write(folder))]) == 2
    assert "job is 'judge', and this is winrates: evenhand run FILE" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["run.yaml", "run.json"])
def test_the_call_counts_before_the_file(name, folder):
    path = write(folder, name, samples=3, seed=1, gold_fields={"a": "b"})
    found = said(path, seed=3, gold_fields={"c": "d"}, rubric_field="own")
    assert (found["data"], found["response_fields"]) == (str(folder / "rows.jsonl"), ("answer",))
    assert (found["samples"], found["seed"]) == (3, 3)
    assert found["gold_fields"] == {"c": "d"}  # not merged
    assert "criteria" not in found  # the rubrics stand for them
    assert found["rubric_field"] == "own"


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ({"sampels": 3}, "run.yaml: there is no option 'sampels'. Did you mean 'samples'?"),
        ({"samples": "many"}, "run.yaml: samples is 'many'; it should be a valid integer"),
        ({"orders": "bth"}, "run.yaml: orders is 'bth'. Did you mean 'both'?"),
        ({"check_positional_bias": 2}, "check_positional_bias is 2; it should be a valid boolean, or less than"),
        ({"job": "jugde"}, "run.yaml: job is 'jugde'. Did you mean 'judge'?"),
        ({"job": None}, "has no job"),
        ({"guidelines": "house.md"}, "guidelines is 'house.md', which looks like the name of a file that is not there"),
        ({"out": "rows.jsonl"}, "rows.jsonl', the same file as the input"),
        ({"report": "x.pdf"}, "x.pdf' ends in '.pdf'. Accepted: '.html'"),
        ({"report": "x.html", "out": "missing/x.parquet"}, "cannot be written (No such file or directory)"),
        ("- a\n- b\n", "is not a mapping of names to values"),
        ("job: judge\njob: judge\n", 'found duplicate key "job"'),
        ("job: !!python/object/apply:os.system [ls]\n", "is not valid YAML (line 1"),
    ],
)
def test_what_cannot_be_used_is_one_line_that_names_place_value_and_what_is_accepted(written, message, folder, capsys):
    path = write(folder, **({} if isinstance(written, str) else written))
    if isinstance(written, str):
        path.write_text(written, encoding="utf-8")
    assert main(["run", str(path)]) == 2
    shown = capsys.readouterr()
    (line,) = shown.err.splitlines()
    assert (message in line, shown.out) == (True, "")


def test_criteria_are_written_inline_and_texts_and_files_lie_beside_the_run_file(folder):
    criterion = {
        "name": "tone",
        "description": "Is it polite?",
        "options": [{"label": "Yes", "value": 1}, {"label": "No", "value": 0}],
    }
    (folder / "mine.json").write_text(json.dumps(criterion | {"name": "mine"}), encoding="utf-8")
    (folder / "house.md").write_text("Be strict.", encoding="utf-8")
    path = write(folder, criteria=[criterion, "mine.json", "Is it short?"], guidelines="house.md")
    table = evenhand.run(path, limit=1)
    assert [each.name for each in table.criteria][:2] == ["tone", "mine"]
    assert table.parameters["guidelines"] == "Be strict."


def test_a_run_of_python_gives_the_result_and_takes_objects(folder):
    table = evenhand.run(write(folder), data=ROWS[:2], engine=evenhand.BaselineEngine())
    assert len(table) == 2
    assert table.run_file["left_out"] == ["data", "engine"]
    with pytest.raises(InvalidInputError, match="there is no option 'sampels'"):
        evenhand.run(write(folder), sampels=3)


def test_what_ran_is_in_the_result_and_runs_again_without_a_call(folder, tmp_path, monkeypatch, capsys):
    with JudgeServer(reply=lambda body: "Yes") as server:
        engine = f"engines.evenhand.openai_compatible[base_url={server.base_url},model=judge]"
        path = write(folder, engine=engine, journal="journal.db", seed=7, flow="verdict_only")
        first = folder / "first.parquet"
        assert main(["run", str(path), "--out", str(first), "--limit", "3"]) == 0
        evenhand.open(first).to_run_file(tmp_path / "again.yaml")
        bought = server.seen
        assert bought > 0
        header = json.loads(__import__("pyarrow.parquet").parquet.read_schema(first).metadata[b"evenhand"])["run"]
        assert header["data"] == "rows.jsonl"
        assert header["journal"] == "journal.db"
        before = evenhand.open(first)
        for again in (tmp_path / "again.yaml", first):
            second = tmp_path / f"second{again.suffix}.parquet"
            assert main(["run", str(again), "--out", str(second)]) == 0
            after = evenhand.open(second)
            assert [each.verdict.aggregated_value for each in after] == [
                each.verdict.aggregated_value for each in before
            ]
            assert after.run_file == before.run_file
            assert after.parameters["seed"] == 7
        assert server.seen == bought
        monkeypatch.chdir(tmp_path)
        capsys.readouterr()
        assert main(["show", str(first), "--run-file"]) == 0
        assert parse_yaml(capsys.readouterr().out, "the run") == parse_yaml(
            (tmp_path / "again.yaml").read_text(encoding="utf-8"), "the run"
        )
    assert "key" not in (tmp_path / "again.yaml").read_text(encoding="utf-8")


def test_a_result_of_python_gives_its_run_where_its_data_are_a_path(folder):
    made = {"engine": BASELINE, "response_fields": "answer", "progress": False, "context_fields": {"task": "question"}}
    table = evenhand.judge(folder / "rows.jsonl", "Is it true?", **made)
    table.to_run_file(folder / "run.yaml")
    again = evenhand.run(folder / "run.yaml")
    assert list(again.records(votes=True)) == list(table.records(votes=True))
    in_memory = evenhand.judge(ROWS, "Is it true?", **made)
    assert "# data: left out" in in_memory.to_run_file()
    in_memory.save(folder / "memory.parquet")
    with pytest.raises(InvalidInputError, match="does not hold the data of the run that made it"):
        evenhand.run(folder / "memory.parquet")
    assert len(evenhand.run(folder / "memory.parquet", data=folder / "rows.jsonl")) == len(ROWS)
    with pytest.raises(InvalidInputError, match="no run is known that makes this result"):
        table.filter(instance=0).to_run_file()


@pytest.mark.parametrize(
    "made", [GOOD_OR_BAD, Rubric(name="one", criteria=(GOOD_OR_BAD,)), GOOD_OR_BAD.model_dump(exclude={"scale"})]
)
def test_a_run_repeats_a_criterion_whose_scale_is_the_default(folder, made):
    table = evenhand.judge(
        folder / "rows.jsonl", made, BASELINE, response_fields="answer", progress=False, context_fields={}
    )
    table.to_run_file(folder / "run.yaml")
    assert evenhand.run(folder / "run.yaml").header["criteria"] == table.header["criteria"]
    assert table.header["criteria"][0]["scale"] == "ordinal"


def test_no_key_is_in_the_run_of_a_result(folder, monkeypatch):
    monkeypatch.setenv("MY_API_KEY", "sk-this-is-secret-4711")
    table = evenhand.judge(
        ROWS, "Is it true?", BASELINE, response_fields="answer", guidelines="sk-this-is-secret-4711", progress=False
    )
    assert "guidelines" not in table.run_file
    assert "guidelines" in table.run_file["left_out"]
    assert "4711" not in table.to_run_file()


@pytest.mark.parametrize("name", sorted(path.stem for path in TEMPLATES.glob("*.yaml")))
def test_each_template_runs_as_it_is_and_its_schema_accepts_it(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["run", "--template", name]) == 0
    text = capsys.readouterr().out
    (tmp_path / "run.yaml").write_text(text, encoding="utf-8")
    assert main(["run", "run.yaml", "--limit", "1", "--quiet"]) == 0
    assert capsys.readouterr().out
    jsonschema.Draft202012Validator(json.loads(schema())).validate(parse_yaml(text, "the template"))
    assert text.count("\n") <= 30


def test_the_schema_refuses_what_the_reader_refuses():
    validator = jsonschema.Draft202012Validator(json.loads(schema()))
    validator.check_schema(json.loads(schema()))
    run = parse_yaml(template("judge"), "the template")
    for change in ({"sampels": 3}, {"samples": 0}, {"samples": "3"}, {"orders": "bth"}, {"job": "jugde"}, {"level": 2}):
        assert not validator.is_valid(run | change), change
    described = json.loads(schema())["$defs"]["JudgeJob"]["properties"]
    assert all(described[name]["description"] for name in RunOptions.model_fields)


def test_a_run_of_which_more_than_a_tenth_is_unscored_ends_in_3_and_is_saved(folder, capsys):
    with JudgeServer(reply=lambda body: "Yes") as server:
        engine = f"engines.evenhand.openai_compatible[base_url={server.base_url},model=judge]"
        path = write(folder, engine=engine, journal="journal.db", flow="verdict_only", check_positional_bias=False)
        out = folder / "out.parquet"
        run = ["run", str(path), "--max-calls", "2", "--out", str(out), "--quiet"]
        assert main(run) == 3
        (line,) = capsys.readouterr().err.splitlines()
        assert "4 verdicts unscored: 4 budget. That is 67 % of the votes, more than --max-unscored 0.10 allows" in line
        assert "raise --max-calls" in line
        assert len(evenhand.open(out)) == 6
        assert main([*run, "--max-unscored", "0.7"]) == 0
        with pytest.raises(CheckFailedError, match="2 of 6 votes unscored") as failed:
            evenhand.run(path, max_calls=0, max_unscored=0.2)  # the journal has 4
        assert len(failed.value.results) == 6


def test_quiet_leaves_results_and_errors_and_verbose_tells_what_is_done_without_texts(folder, capsys):
    path = write(folder)
    assert main(["run", str(path), "--limit", "2", "--verbose"]) == 0
    told = capsys.readouterr().err
    assert "INFO evenhand.judging.run: 2 questions" in told
    assert not any(row["answer"] in told for row in ROWS)
    assert logging.getLogger("evenhand").handlers == []


def test_a_report_on_a_judge_and_the_demo_end_in_3_too_where_much_is_unscored(folder, capsys, monkeypatch):
    monkeypatch.setenv("EVENHAND_OFFLINE", "1")
    rows = evenhand.demo.load_rows()
    monkeypatch.setattr(evenhand.demo, "load_rows", lambda: rows[:2])
    engine = "engines.evenhand.openai_compatible[base_url=http://127.0.0.1:9/v1,model=judge]"
    asked = ["--engine", engine, "--no-progress"]
    judged = ["--criteria", "Is it true?", "--response-fields", "answer"]
    assert main(["reliability", str(folder / "rows.jsonl"), *judged, *asked]) == 3
    assert "12 offline. That is 100 % of the votes" in capsys.readouterr().err
    assert main(["demo", *asked]) == 3
    assert capsys.readouterr().err.count("of the votes, more than --max-unscored") == 3


def test_conditions_and_formats_of_a_file_hold_in_the_shell_and_in_python(folder, capsys):
    told = {"require": ["is_it_true.low >= 0.99", "unscored <= 0"], "format": ["junit=checks.xml"]}
    path = write(folder, **told)
    assert main(["run", str(path), "--quiet"]) == 3
    assert "is_it_true.low >= 0.99" in capsys.readouterr().err
    assert (folder / "checks.xml").read_text(encoding="utf-8").count("<failure") == 1
    (folder / "checks.xml").unlink()
    with pytest.raises(CheckFailedError, match=r"is_it_true\.low >= 0\.99") as failed:
        evenhand.run(path, progress=False)
    assert len(failed.value.results) == len(ROWS)
    assert (folder / "checks.xml").exists()
