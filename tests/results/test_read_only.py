import copy
import json
import pickle

import pytest

from evenhand.results.results import read_only

PLAIN = {"judges": ["a", "b"], "fields": {"question": {"as": "task"}}, "level": 0.95, "seed": None, "pair": (1, 2)}

CHANGES = {
    "set": lambda made: made.__setitem__("level", 0.5),
    "delete": lambda made: made.__delitem__("level"),
    "update": lambda made: made.update(level=0.5),
    "or": lambda made: made.__ior__({"level": 0.5}),
    "pop": lambda made: made.pop("level"),
    "popitem": lambda made: made.popitem(),
    "clear": lambda made: made.clear(),
    "setdefault": lambda made: made.setdefault("more", 1),
    "inner": lambda made: made["fields"]["question"].__setitem__("as", "x"),
    "append": lambda made: made["judges"].append("c"),
    "extend": lambda made: made["judges"].__iadd__(["c"]),
    "item": lambda made: made["judges"].__setitem__(0, "c"),
    "sort": lambda made: made["judges"].sort(reverse=True),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_nothing_in_it_can_be_changed(change):
    made = read_only(PLAIN)
    with pytest.raises(TypeError, match=r"dataclasses\.replace"):
        change(made)
    assert made == PLAIN


@pytest.mark.parametrize(
    "again",
    [copy.copy, copy.deepcopy, lambda made: pickle.loads(pickle.dumps(made))],
    ids=["copy", "deepcopy", "pickle"],
)
def test_copies_are_equal_and_as_read_only(again):
    made = again(read_only(PLAIN))
    assert made == PLAIN
    for change in CHANGES.values():
        with pytest.raises(TypeError):
            change(made)


def test_it_is_written_as_any_other_and_does_not_follow_its_source():
    source = {"judges": ["a"]}
    made = read_only(source)
    source["judges"].append("b")
    assert json.dumps(made) == '{"judges": ["a"]}'
    assert repr(made) == "{'judges': ['a']}"
    assert {**made, "judges": "c"} == {"judges": "c"}
