"""YAML and JSON as plain data: what a person means by it, and what is refused with its line."""

import math

import pytest

from evenhand.data.plain import parse_json, parse_yaml, read_document
from evenhand.errors import ArtifactError


@pytest.mark.parametrize(
    ("written", "data"),
    [
        ("label: no", {"label": "no"}),
        ("label: true", {"label": "true"}),
        ("label: 5", {"label": "5"}),
        ("label: None", {"label": "None"}),
        ("na: yes", {"na": "yes"}),
        ("na: true", {"na": True}),
        ("weight: 010", {"weight": 10}),
        ("weight: -.inf", {"weight": -math.inf}),
        ("weight: 1_000", {"weight": 1000}),
        ("when: 2024-01-31", {"when": "2024-01-31"}),
        ("5: a", {"5": "a"}),
        ("no: a", {"no": "a"}),
        ("prerequisites: [1, b]", {"prerequisites": [1, "b"]}),
        ("- a\n- no\n- 3", ["a", "no", 3]),
        ("a: &kept [1]\nb: *kept", {"a": [1], "b": [1]}),
        ("a: &kept {x: 1, y: 2}\nb: {<<: *kept, y: 3}", {"a": {"x": 1, "y": 2}, "b": {"x": 1, "y": 3}}),
        ("- {question: Is it polite?, weight: 2}", [{"question": "Is it polite?", "weight": 2}]),
        ("", None),
    ],
)
def test_yaml_is_read_as_it_was_written(written, data):
    assert parse_yaml(written, "the text") == data


@pytest.mark.parametrize(
    ("parse", "written", "message"),
    [
        (parse_json, '[{"x": {"b": 1, "b": 2}}]', "has 'b' twice, and only one of them could count"),
        (parse_json, '{"a": ', "is not JSON (line 1"),
        (parse_yaml, "a: 1\nb: 2\na: 3", '(line 3: found duplicate key "a" with value "3"'),
        (parse_yaml, "a: [1", "(line 1: expected ',' or ']'"),
        (parse_yaml, "a: 1\n---\nb: 2", "found another document"),
        (parse_yaml, "[a]: 1", "(line 1: a field's name is a text)"),
        (parse_yaml, "a: !!python/object/apply:os.system [ls]", "python/object/apply:os.system' is not read"),
        (parse_yaml, "\x00", "is not valid YAML (unacceptable character #x0000"),
        (parse_yaml, "a: !!int b", "holds a number or a truth value that cannot be read"),
    ],
)
def test_what_a_text_may_not_say(parse, written, message):
    with pytest.raises(ArtifactError) as caught:
        parse(written, "the text")
    assert str(caught.value).startswith("the text ")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_ending_says_how_a_file_is_read(tmp_path):
    for name, written in {"a.yaml": "label: no", "b.YML": "label: no", "c.json": '{"label": "no"}'}.items():
        (tmp_path / name).write_text(written, encoding="utf-8-sig")
        assert read_document(tmp_path / name, "the file") == {"label": "no"}
    (tmp_path / "d.json").write_text("label: no", encoding="utf-8")
    with pytest.raises(ArtifactError, match="the file is not JSON"):
        read_document(tmp_path / "d.json", "the file")
    with pytest.raises(ArtifactError, match=r"the file cannot be read \(No such file or directory\)"):
        read_document(tmp_path / "e.json", "the file")
    (tmp_path / "f.yaml").write_bytes(b"label: \xff")
    with pytest.raises(ArtifactError, match=r"the file is not UTF-8 text \(byte 7\)"):
        read_document(tmp_path / "f.yaml", "the file")
