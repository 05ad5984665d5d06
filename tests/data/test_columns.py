import pytest

from evenhand.data.fields import context_columns, reference_column, references_of
from evenhand.engines.baseline import BaselineEngine
from evenhand.engines.names import judges_of
from evenhand.errors import InvalidInputError


def test_every_function_says_how_to_give_an_engine():
    with pytest.raises(InvalidInputError, match="no engine was given, and a judge has no default"):
        judges_of(None)


def test_one_engine_is_a_panel_of_one():
    engine = BaselineEngine()
    assert judges_of(engine) == (engine,)
    assert judges_of([engine, engine]) == (engine, engine)


@pytest.mark.parametrize(
    ("given", "columns"),
    [(None, None), ("question", {"question": "question"}), ({"asked": "question"}, {"asked": "question"}), ([], {})],
)
def test_context_is_a_column_several_or_a_mapping(given, columns):
    assert context_columns(given) == columns


def test_context_is_nothing_else():
    with pytest.raises(InvalidInputError, match="context_fields is 7; give a field name"):
        context_columns(7)


def test_a_reference_is_found_by_its_name_unless_it_is_what_is_judged():
    row = {"reference": "a", "references": ["b"], "gold": "c"}
    assert reference_column(None, row) == "reference"
    assert reference_column(None, row, ["reference"]) == "references"
    assert reference_column("gold", row) == "gold"
    assert reference_column(None, {"gold": "c"}) is None


def test_the_references_of_a_row_are_texts():
    assert references_of({"references": ["a", None, 3]}, "references", 0) == ("a", "3")
    assert references_of({"references": ["a"]}, None, 0) == ()
