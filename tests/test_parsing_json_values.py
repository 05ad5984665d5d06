import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.parsing.json_values import Array, Scalar, containers, json_values

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)
OBJECTS = st.lists(JSON) | st.dictionaries(st.text(), JSON)


def plain(value, text):
    """The value as ``json`` would give it; scalars by what is written where they say that they stand."""
    if isinstance(value, Scalar):
        written = text[value.start : value.end]
        assert text[value.start - 1] == text[value.end] == '"' if value.quoted else written == value.text
        return value.text if value.quoted else json.loads(written)
    assert value.closed
    assert text[value.start] + text[value.end - 1] in {"{}", "[]"}
    if isinstance(value, Array):
        return [plain(one, text) for one in value.values]
    return {key: plain(one, text) for key, one in value.pairs}


@given(
    value=OBJECTS, indent=st.sampled_from([None, 0, 2]), ascii_only=st.booleans(), around=st.sampled_from(["", "x "])
)
def test_it_reads_what_json_reads(value, indent, ascii_only, around):
    text = f"{around}{json.dumps(value, indent=indent, ensure_ascii=ascii_only)}\n```"
    [root] = json_values(text)
    assert plain(root, text) == value


@given(value=OBJECTS, share=st.floats(0, 1))
def test_what_breaks_off_is_a_part_of_what_it_would_have_been(value, share):
    text = json.dumps(value)
    cut = text[: int(share * (len(text) - 1))]
    closed = [plain(one, cut) for root in json_values(cut) for one in containers(root) if one.closed]
    whole = [json.loads(json.dumps(plain(one, text))) for one in containers(next(iter(json_values(text))))]
    assert all(one in whole for one in closed)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("{'a': True, 'b': None,}", [{"a": "True", "b": "None"}]),
        ('{"a": 1, "a": 2}', [[("a", "1"), ("a", "2")]]),
        ("{a: yes, b: [no, 2,]}", [{"a": "yes", "b": ["no", "2"]}]),
        ('{"a": "x\ny"} and [1] then {"b": 2}', [{"a": "x\ny"}, ["1"], {"b": "2"}]),
        ('{"a": "say "no" now", "b": 1} {"c": 2}', [{"a": "say "}, {"c": "2"}]),
        ('{"a" 1}', [{}]),
        ('{"a": ]', [{}]),
        ('{"a": 1 2}', [{"a": "1"}]),
        ("no JSON at all", []),
    ],
)
def test_json_as_judges_write_it(text, values):
    def bare(value):
        if isinstance(value, Scalar):
            return value.text
        if isinstance(value, Array):
            return [bare(one) for one in value.values]
        pairs = [(key, bare(one)) for key, one in value.pairs]
        return dict(pairs) if len({key for key, _ in pairs}) == len(pairs) else pairs

    assert [bare(root) for root in json_values(text)] == values
