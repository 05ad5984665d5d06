"""The tree of errors: what can be caught as what, and what a message says."""

import inspect

import pytest

from evenhand import errors
from evenhand.criteria import Option
from evenhand.errors import (
    ArtifactError,
    EngineError,
    EvenhandError,
    EvenhandWarning,
    InvalidCriterionError,
    InvalidInputError,
    RateLimitedError,
    did_you_mean,
    ungrouped,
)


def test_every_error_is_an_evenhand_error():
    found = [each for name, each in inspect.getmembers(errors, inspect.isclass) if not name.startswith("_")]
    raised = [each for each in found if issubclass(each, Exception) and not issubclass(each, Warning)]
    assert len(raised) > 10
    assert [each for each in raised if not issubclass(each, EvenhandError)] == []


@pytest.mark.parametrize("kind", [InvalidInputError, EngineError, EvenhandWarning])
def test_a_message_shows_what_a_terminal_would_obey(kind):
    said = kind("the server said: \x1b]0;owned\x07 \u202e and\nmore")
    assert str(said) == "the server said: \\x1b]0;owned\\x07 \\u202e and\nmore"
    assert said.args == ("the server said: \x1b]0;owned\x07 \u202e and\nmore",)


def test_bad_input_is_no_value_error_because_pydantic_would_swallow_it():
    assert not issubclass(InvalidInputError, ValueError)
    assert issubclass(ArtifactError, InvalidInputError)
    with pytest.raises(InvalidCriterionError):
        Option(label="")


def test_an_engine_error_carries_its_cause_and_attempts():
    error = RateLimitedError("too fast", attempts=3, retry_after=2.5)
    assert (str(error), error.cause, error.attempts, error.retry_after) == ("too fast", "http_429", 3, 2.5)
    assert (EngineError("lost").cause, EngineError("lost").attempts) == ("engine_error", 1)


def test_the_accepted_names_follow_the_closest_one():
    assert did_you_mean("relevnce", ["relevance", "tone"]) == "Did you mean 'relevance'? Accepted: 'relevance', 'tone'."
    assert did_you_mean(None, ["mean", "median"]) == "Accepted: 'mean', 'median'."


def test_what_ended_a_task_group_is_raised_as_itself():
    cause = EngineError("down")
    with pytest.raises(EngineError) as caught, ungrouped():
        raise ExceptionGroup("outer", [ExceptionGroup("inner", [cause]), ValueError("late")])
    assert caught.value is cause
    assert isinstance(caught.value.__cause__, ExceptionGroup)
    with pytest.raises(KeyError), ungrouped():
        raise KeyError("alone")
