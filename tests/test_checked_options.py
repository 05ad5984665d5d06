"""Options that are declared once: what is checked, what a refusal says, and how functions take them."""

import inspect

import numpy as np
import pytest

import evenhand
from evenhand.checked_options import Options, option, takes
from evenhand.errors import InvalidInputError


class Oven(Options):
    """How to bake."""

    heat: int = option(180, "Degrees Celsius.", ge=50, le=300)
    shelf: str | None = option(None, "Which shelf; the middle one when None.")


@takes(Oven)
def bake(cake, *, minutes=30, **options):
    return cake, minutes, Oven(**options)


def test_values_are_checked_once_and_never_change():
    oven = Oven(heat=np.int64(200))
    assert (type(oven.heat), oven.heat, oven.shelf) == (int, 200, None)
    assert oven.changed(shelf="top").given() == {"heat": 200, "shelf": "top"}
    with pytest.raises(Exception, match="frozen"):
        oven.heat = 10


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"heat": 20}, "heat is 20; give a whole number between 50 and 300"),
        ({"heat": True}, "heat is True; give a whole number between 50 and 300"),
        ({"shelf": 3}, "shelf is 3; give a text, or None"),
        ({"heta": 200}, r"there is no option 'heta'. Did you mean 'heat'\?"),
    ],
)
def test_a_refusal_names_the_value_and_what_is_accepted(given, message):
    with pytest.raises(InvalidInputError, match=message):
        Oven(**given)


def test_options_stand_in_the_docstring_of_their_class():
    assert "\n        heat: Degrees Celsius.\n" in Oven.__doc__


def test_a_function_shows_its_options_and_answers_a_mistyped_keyword_with_the_nearest_one():
    assert str(inspect.signature(bake)) == "(cake, *, minutes=30, heat: int = 180, shelf: str | None = None)"
    assert bake("plum", heat=150) == ("plum", 30, Oven(heat=150))
    with pytest.raises(InvalidInputError, match=r"there is no option 'minuets'. Did you mean 'minutes'\?"):
        bake("plum", minuets=3)


@pytest.mark.parametrize(
    ("function", "mistyped", "meant"),
    [
        ("judge", "respons_field", "response_field"),
        ("judge", "sample", "samples"),
        ("checklist", "primary_metrics", "primary_metric"),
        ("winrates", "desing", "design"),
        ("grade_scores", "unrelated_options", "unrelated_option"),
        ("reliability", "gold_fild", "gold_field"),
        ("aggregate_votes", "weight", "weights"),
        ("agreement", "criterion", "criteria"),
    ],
)
def test_every_function_knows_its_keywords(function, mistyped, meant):
    with pytest.raises(InvalidInputError, match=f"there is no option '{mistyped}'. Did you mean '{meant}'"):
        getattr(evenhand, function)([{"a": "b"}], "a", "b", **{mistyped: 1})
