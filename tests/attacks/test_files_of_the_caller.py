"""The files that the caller names: regular ones of bounded size, or a pipe of the shell; and what they may hold."""

import gzip
import json
import os
import sys
import zipfile

import pyarrow
import pyarrow.parquet
import pytest

import evenhand
from evenhand import files
from evenhand.cli import main
from evenhand.data import plain
from evenhand.data.rows import read_rows
from evenhand.errors import InvalidInputError
from evenhand.unitxt.loading import load_checklist, load_rubric

READERS = {
    "criterion": evenhand.load,
    "rubric": load_rubric,
    "checklist": load_checklist,
    "rows": read_rows,
    "result": evenhand.open,
}
LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="queues and devices have these names on Linux")
ROWS = [{"question": "Who?", "answer": "Jane Austen."}, {"question": "What?", "answer": "A rose."}]
LINES = "".join(json.dumps(row) + "\n" for row in ROWS)


def refusal(read, path):
    with pytest.raises(InvalidInputError) as refused:
        read(path)
    return str(refused.value)


@LINUX
@pytest.mark.parametrize("reader", READERS)
def test_what_is_no_regular_file_is_refused_at_once_and_by_its_kind(reader, tmp_path):
    queue = tmp_path / ("queue.jsonl" if reader in {"rows", "result"} else "queue.json")
    os.mkfifo(queue)
    assert "it is no regular file" in refusal(READERS[reader], queue)
    queue.unlink()
    queue.symlink_to("/dev/zero")
    assert "it is no regular file" in refusal(READERS[reader], queue)


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("name", ["a\0b.json", "a" * 5000 + ".json", "~nobody-of-this-name/a.json", "none.json"])
def test_a_name_that_no_file_can_have_is_one_message(reader, name):
    assert refusal(READERS[reader], name)


@pytest.mark.parametrize("reader", ["criterion", "rubric", "checklist"])
def test_a_document_that_is_too_large_is_not_read(reader, tmp_path):
    path = tmp_path / "large.json"
    with path.open("wb") as file:
        file.truncate(files.MOST_BYTES + 1)
    assert "holds more than 16 MiB" in refusal(READERS[reader], path)
    path = path.with_suffix(".yaml")  # YAML has a smaller bound because it is read slowly
    path.write_text("# " + "x" * plain.MOST_YAML_BYTES)
    assert "holds more than 1 MiB" in refusal(READERS[reader], path)


BOMBS = {
    "aliases.yaml": "a: &a [x, x, x, x, x, x, x, x, x]\n"
    + "".join(
        f"{one}: &{one} [{', '.join([f'*{before}'] * 9)}]\n" for before, one in zip("abcdefgh", "bcdefghi", strict=True)
    ),
    "itself.yaml": "a: &a [*a]\n",
    "deep.json": "[" * 100_000,
    "digits.json": '{"name": "n", "weight": ' + "9" * 5000 + "}",
    "infinite.json": '{"name": "n", "description": "d", "weight": 1e400}',
    "tag.yaml": "!!python/object/apply:os.system [id]\n",
    "twice.json": '{"name": "a", "name": "b"}',
    "latin.json": b'{"name": "\xe9"}',
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_document_that_grows_nests_or_counts_without_end_is_one_message(bomb, tmp_path):
    path = tmp_path / bomb
    path.write_bytes(BOMBS[bomb] if isinstance(BOMBS[bomb], bytes) else BOMBS[bomb].encode())
    assert str(path) in refusal(evenhand.load, path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a": ' + "9" * 5000 + "}", "holds a number or a truth value that cannot be read"),
        ('{"a": 1e400}', "too large"),
        ("[" * 100_000, "is nested too deeply"),
        ('{"a": ' * 100_000, "is nested too deeply"),
    ],
)
def test_a_row_with_a_number_or_a_depth_that_cannot_be_read_is_one_message_that_names_the_line(text, said, tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text(LINES + text + "\n")
    message = refusal(read_rows, path)
    assert said in message
    assert "line 3" in message
    whole = tmp_path / "rows.json"
    whole.write_text(f"[{text}]")
    assert said in refusal(read_rows, whole)


def test_cells_of_any_length_are_read_from_csv(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text('answer\n"' + "long " * 200_000 + '"\n')
    assert len(read_rows(path)[0]["answer"]) == 1_000_000


def test_what_grows_beyond_what_data_do_is_not_decompressed(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "ALWAYS_INFLATED", 1024**2)
    row = json.dumps({"answer": "a" * 4096}) + "\n"
    packed = tmp_path / "rows.jsonl.gz"
    packed.write_bytes(gzip.compress(row.encode() * 1000))
    assert "times their size" in refusal(read_rows, packed)
    archive = tmp_path / "log.eval"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("header.json", '{"eval": {}, "status": "success", "version": 2}')
        file.writestr("samples/1_epoch_1.json", json.dumps({"id": 1, "input": "a" * 4_000_000}))
    assert "times their size" in refusal(read_rows, archive)
    table = tmp_path / "rows.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"answer": ["a" * 4096] * 5000}), table)
    assert "times their size" in refusal(read_rows, table)
    pyarrow.parquet.write_table(pyarrow.table({"answer": [None] * 100_000}), table)
    assert "times their size" in refusal(read_rows, table)


def test_a_gzip_file_of_two_parts_is_read_whole(tmp_path):
    packed, half = tmp_path / "rows.jsonl.gz", len(LINES) // 2
    packed.write_bytes(gzip.compress(LINES[:half].encode()) + gzip.compress(LINES[half:].encode()))
    assert read_rows(packed) == ROWS
    packed.write_bytes(packed.read_bytes()[:-9])
    assert "is not a whole gzip file" in refusal(read_rows, packed)


@LINUX
@pytest.mark.parametrize(
    "content",
    [LINES.encode(), json.dumps(ROWS).encode(), b"question,answer\nWho?,Jane Austen.\nWhat?,A rose.\n"],
    ids=["lines", "list", "csv"],
)
def test_rows_come_through_a_pipe_of_the_shell(content):
    out, into = os.pipe()
    os.write(into, content)
    os.close(into)
    try:
        assert read_rows(f"/dev/fd/{out}") == ROWS
    finally:
        os.close(out)


@LINUX
def test_a_dash_is_standard_input(capsys):
    verb = ["--criteria", "Is it short?", "--response-fields", "answer", "--engine", "engines.evenhand.baseline"]
    out, into = os.pipe()
    os.write(into, LINES.encode())
    os.close(into)
    own = os.dup(0)
    os.dup2(out, 0)
    try:
        assert main(["judge", "-", *verb, "--no-progress"]) == 0
    finally:
        os.dup2(own, 0)
        os.close(own)
        os.close(out)
    assert capsys.readouterr().out.count("Direct assessment") == 1


def test_a_text_of_the_shell_that_names_a_file_which_is_no_text_is_one_message(tmp_path, capsys):
    path = tmp_path / "guide.txt"
    path.write_bytes(b"\xff\xfe")
    rows = tmp_path / "rows.jsonl"
    rows.write_text(LINES)
    verb = ["judge", str(rows), "--criteria", "Is it short?", "--response-fields", "answer"]
    assert main([*verb, "--engine", "engines.evenhand.baseline", "--guidelines", str(path)]) == 2
    assert "is not UTF-8" in capsys.readouterr().err
