"""Options that are declared once: what is checked, what a refusal says, and how functions take them."""

import inspect

import numpy as np
import pytest

import evenhand
import evenhand.functions
from evenhand.by_name import FUNCTIONS
from evenhand.errors import InvalidInputError
from evenhand.options import Options, option, takes
from tests.support.stubs import STUB, stub


class Oven(Options):
    """How to bake."""

    heat: int = option(180, "Degrees Celsius.", ge=50, le=300)
    shelf: str | None = option(None, "Which shelf; the middle one when None.")


@takes(Oven)
def bake(cake, *, minutes=30, **options):
    """Bake a cake.

    Args:
        cake: Which.
        minutes: How long.
        **options: See the oven.
    """
    return cake, minutes, Oven(**options)


def test_values_are_checked_once_and_never_change():
    oven = Oven(heat=np.int64(200))
    assert (type(oven.heat), oven.heat, oven.shelf) == (int, 200, None)
    assert oven.or_else(heat=90, shelf="top") == Oven(heat=200, shelf="top")
    with pytest.raises(Exception, match="frozen"):
        oven.heat = 10
    for given, accepted in ((20, "greater than or equal to 50"), (True, "a valid integer")):
        with pytest.raises(InvalidInputError, match=f"heat is {given}; it should be {accepted}"):
            Oven(heat=given)


def test_a_function_shows_its_options_and_answers_a_mistyped_keyword_with_the_nearest_one():
    assert str(inspect.signature(bake)) == "(cake, *, minutes=30, heat: int = 180, shelf: str | None = None)"
    assert "        heat: Degrees Celsius.\n" in bake.__doc__
    assert bake("plum", heat=150) == ("plum", 30, Oven(heat=150))
    with pytest.raises(InvalidInputError, match=r"there is no option 'haet'. Did you mean 'heat'\?"):
        bake("plum", haet=3)


def test_the_stub_of_the_functions_over_rows_is_generated():
    """``python -m tests.support.stubs`` writes it."""
    assert STUB.read_text(encoding="utf-8") == stub()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_help_and_the_stub_have_every_keyword(name):
    function, model = getattr(evenhand.functions, name), FUNCTIONS[name].arguments
    typed: dict[str, object] = {}
    exec(STUB.read_text(encoding="utf-8").replace("@overload\n", ""), typed)
    written_out = {*inspect.signature(typed[name]).parameters} - {"options"}
    assert written_out | {*typed[f"_{model.__name__}"].__annotations__} == {"data", *model.model_fields}
    assert {*inspect.signature(function).parameters} == {"data", *model.model_fields}
    for keyword in vars(model)["__annotations__"]:
        assert f"        {keyword}: " in function.__doc__
