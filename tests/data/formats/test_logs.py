"""Logs of inspect_ai and lm-eval, written here in the shape of theirs; by inspect_ai itself where it is installed."""

import gzip
import json
import zlib
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import pyarrow
import pytest

import evenhand
from evenhand.data.formats import ZSTANDARD
from evenhand.data.rows import read_rows
from evenhand.errors import InvalidInputError

LONG = "Is the answer right? " * 20


def sample(identifier, epoch=1, *, output="Yes", grade="GRADE: C", **more):
    return {
        "id": identifier,
        "epoch": epoch,
        "input": "Is it even?",
        "target": "Yes",
        "output": {
            "model": "mockllm/model",
            "choices": [{"message": {"role": "assistant", "content": output}, "stop_reason": "stop"}],
        },
        "scores": {"model_graded_qa": {"value": "C", "answer": "Yes", "explanation": grade}},
        "metadata": {"doc": 3},
        "attachments": {},
        "events": [{"event": "model"}],
        **more,
    }


SAMPLES = [
    sample("q2", 2, output=[{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "No"}]),
    sample("q1", grade="attachment://4f2a", attachments={"4f2a": f"{LONG}\nGRADE: I"}),
    sample("q2", 1, input=[{"role": "user", "content": [{"type": "text", "text": "Hi"}]}]),
    sample("q3", output=None, scores=None, error={"message": "it broke", "traceback": "…"}),
]
HEADER = {
    "version": 2,
    "status": "success",
    "eval": {"task": "parity", "model": "mockllm/model", "dataset": {"sample_ids": ["q1", "q2", "q3"]}},
}


def write_eval(path, samples, header=HEADER, *, compression=ZSTANDARD, finished=True):
    """An archive as inspect_ai writes it: Zstandard today, Deflate before."""
    files = {f"samples/{each['id']}_epoch_{each['epoch']}.json": each for each in samples}
    files |= {"_journal/start.json": {key: header[key] for key in ("version", "eval")}, "summaries.json": []}
    files |= {"header.json": header} if finished else {}
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        for name, value in files.items():
            data = json.dumps(value).encode()
            if compression == ZIP_DEFLATED:
                archive.writestr(name, data)
            else:
                _write_packed(archive, name, data)
    return path


def _write_packed(archive, name, data):
    """A member that Python's zipfile cannot compress itself: stored as it is, and described as what it is."""
    packed = pyarrow.compress(data, "zstd", asbytes=True)
    info = ZipInfo(name)
    archive.writestr(info, packed, compress_type=0)
    entry = archive.getinfo(name)
    entry.compress_type, entry.file_size, entry.CRC = ZSTANDARD, len(data), zlib.crc32(data)


@pytest.fixture(params=["zstandard", "deflate", "json", "json.gz"])
def log(request, tmp_path):
    if request.param == "json.gz":
        path = tmp_path / "run.json.gz"
        path.write_bytes(gzip.compress(json.dumps({**HEADER, "samples": SAMPLES}).encode()))
        return path
    if request.param == "json":
        path = tmp_path / "run.json"
        path.write_text(json.dumps({**HEADER, "samples": SAMPLES}))
        return path
    return write_eval(
        tmp_path / "run.eval", SAMPLES, compression=ZSTANDARD if request.param == "zstandard" else ZIP_DEFLATED
    )


def test_a_log_of_inspect_is_its_samples_in_the_order_of_the_data_set(log):
    rows = evenhand.read_log(log)
    assert rows == read_rows(log)
    assert [(row["id"], row["epoch"]) for row in rows] == [("q1", 1), ("q2", 1), ("q2", 2), ("q3", 1)]
    assert rows[0]["scores"]["model_graded_qa"]["explanation"] == f"{LONG}\nGRADE: I"
    assert rows[1]["input"] == [{"role": "user", "content": "Hi"}]
    assert (rows[2]["output"], rows[2]["reasoning"], rows[2]["finish_reason"]) == ("No", "hm", "stop")
    assert (rows[3]["output"], rows[3]["scores"], rows[3]["error"]) == (None, {}, "it broke")
    assert (rows[3]["task"], rows[3]["model"], rows[3]["metadata"]) == ("parity", "mockllm/model", {"doc": 3})


GRADE = {
    "name": "grade",
    "description": "Is the answer right?",
    "options": [{"label": "C", "value": 1.0}, {"label": "I", "value": 0.0}],
    "scale": "binary",
}


def test_the_replies_of_its_grader_are_read_again(log):
    rows = evenhand.read_log(log)[:3]
    table = evenhand.read_replies(rows, "scores/model_graded_qa/explanation", GRADE, id_field="id")
    assert [verdict.selected_label for verdict in table.verdicts] == ["I", "C"]
    assert [len(verdict.votes) for verdict in table.verdicts] == [1, 2]


def test_a_log_that_was_not_finished_is_the_samples_that_were_written(tmp_path):
    rows = evenhand.read_log(write_eval(tmp_path / "begun.eval", SAMPLES, finished=False))
    assert {(row["id"], row["epoch"], row["task"]) for row in rows} == {
        *(("q1", 1, None), ("q2", 1, None), ("q2", 2, None), ("q3", 1, None))
    }


def test_what_is_no_whole_log_is_one_message(tmp_path):
    (tmp_path / "text.eval").write_text("no archive")
    empty = write_eval(tmp_path / "empty.eval", [], {**HEADER, "status": "error"})
    whole = write_eval(tmp_path / "whole.eval", SAMPLES).read_bytes()
    (tmp_path / "short.eval").write_bytes(whole[: len(whole) // 2])
    middle = whole.index(b"samples/q1") + 60
    (tmp_path / "damaged.eval").write_bytes(whole[:middle] + b"\0\0\0\0" + whole[middle + 4 :])
    size = whole.rindex(b"PK\1\2") + 20  # of the last sample, in the list of the archive
    (tmp_path / "listed.eval").write_bytes(whole[:size] + b"\xff\xff\0\0" + whole[size + 4 :])
    for name in ("text", "short", "damaged", "listed"):
        with pytest.raises(InvalidInputError, match=rf"{name}.eval' is not a whole log of inspect_ai"):
            evenhand.read_log(tmp_path / f"{name}.eval")
    with pytest.raises(InvalidInputError, match=r"is empty; there is nothing to judge"):
        evenhand.read_log(empty)
    (tmp_path / "other.json").write_text(json.dumps({**HEADER, "samples": ["q1"]}))
    with pytest.raises(InvalidInputError, match=r"other.json' begins as a log of inspect_ai, but not all of it"):
        evenhand.read_log(tmp_path / "other.json")
    with pytest.raises(InvalidInputError, match="there is no file or folder"):
        evenhand.read_log(tmp_path / "none.eval")


@pytest.mark.filterwarnings("ignore")
def test_inspect_ais_own_log_is_read(tmp_path):
    """With the tool itself, where it is installed: its reader and ours say the same of its own log."""
    inspect_ai = pytest.importorskip("inspect_ai", reason="inspect_ai writes the log that is read here")
    from inspect_ai.dataset import Sample  # noqa: PLC0415 - where it is installed
    from inspect_ai.log import read_eval_log  # noqa: PLC0415 - where it is installed
    from inspect_ai.model import ModelOutput, ModelUsage, get_model  # noqa: PLC0415 - where it is installed
    from inspect_ai.scorer import match  # noqa: PLC0415 - where it is installed
    from inspect_ai.solver import generate  # noqa: PLC0415 - where it is installed

    outputs = [ModelOutput.from_content("mockllm/model", text) for text in ("Yes", "No", "Perhaps. " * 50)]
    for output in outputs:
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    asked = [Sample(id=f"q{number}", input=f"Is {number} even?", target="Yes") for number in range(3)]
    for form in ("eval", "json"):
        [made] = inspect_ai.eval(
            inspect_ai.Task(dataset=asked, solver=generate(), scorer=match()),
            model=get_model("mockllm/model", custom_outputs=list(outputs)),
            log_format=form,
            log_dir=str(tmp_path / form),
            display="none",
            max_samples=1,
        )
        [path] = (tmp_path / form).glob("*")
        expected = read_eval_log(made.location).samples
        rows = evenhand.read_log(path)
        assert [row["output"] for row in rows] == [each.output.completion for each in expected]
        assert [row["scores"]["match"]["value"] for row in rows] == [each.scores["match"].value for each in expected]


def record(document, reply, *, name="none", filtered=None, **more):
    return {
        "doc_id": document,
        "doc": {"question": f"Question {document}?"},
        "target": "Yes",
        "arguments": {"gen_args_0": {"arg_0": f"Question {document}?\nAnswer:", "arg_1": {"until": ["\n"]}}},
        "resps": reply if isinstance(reply, list) else [[reply]],
        "filtered_resps": [filtered or reply],
        "filter": name,
        "metrics": ["exact_match"],
        "doc_hash": "d",
        "prompt_hash": "p",
        "target_hash": "t",
        "exact_match": 1.0,
        **more,
    }


def lines(path, records):
    path.write_text("".join(json.dumps(each) + "\n" for each in records))
    return path


def test_the_samples_of_lm_eval_are_a_row_per_document_whatever_its_filters(tmp_path):
    path = lines(
        tmp_path / "samples_parity_2026.jsonl",
        [
            record(0, "Yes.", name="strict", filtered="[invalid]", exact_match=0.0),
            record(1, "No", name="strict", arguments=[["Question 1?\nAnswer:", {"until": []}]]),
            record(0, "Yes.", name="flexible", filtered="Yes"),
            record(1, "No", name="flexible"),
        ],
    )
    rows = evenhand.read_log(path)
    assert [(row["id"], row["sample"], row["output"]) for row in rows] == [(0, 0, "Yes."), (1, 0, "No")]
    assert rows[0]["filtered"] == {"strict": "[invalid]", "flexible": "Yes"}
    assert rows[0]["metrics"] == {"strict": {"exact_match": 0.0}, "flexible": {"exact_match": 1.0}}
    assert [row["input"] for row in rows] == ["Question 0?\nAnswer:", "Question 1?\nAnswer:"]
    table = evenhand.read_replies(rows, "output", gold_fields="target")
    assert [verdict.selected_label for verdict in table.verdicts] == ["Yes", "No"]


def test_a_shape_that_is_not_known_is_refused_with_those_that_are(tmp_path):
    with pytest.raises(
        InvalidInputError, match=r"has the columns \['question'\], by which no log is known. Known by th"
    ):
        evenhand.read_log(lines(tmp_path / "rows.jsonl", [{"question": "Who?"}]))
