"""What may stand for a vote, and what is refused."""

import numpy as np
import pandas as pd
import pytest

from evenhand.data.cells import (
    YES_OR_NO,
    LabelReader,
    named_votes,
)
from evenhand.errors import InvalidInputError
from tests.judge_reliability.criteria import GRADES, KINDS, LEVELS, SAFE


def read(criterion, vote):
    return LabelReader(criterion).index_of(vote, "the judge 'a' voted")


@pytest.mark.parametrize(
    ("criterion", "vote", "index"),
    [
        (LEVELS, "Good", 1),
        (LEVELS, "  gOOd ", 1),
        (LEVELS, 1, 0),  # the value of Excellent, not the place of Good
        (LEVELS, np.int64(0), 4),
        (LEVELS, np.float32(0.25), 3),
        (LEVELS, "0.75", 1),  # a CSV file holds texts
        (LEVELS, "1.0", 0),
        (GRADES, "5", 4),
        (GRADES, 5, 4),  # the labels are numbers: the grade 5, not the place 5
        (GRADES, 1, 0),
        (GRADES, "1", 0),
        (GRADES, 4.0, 3),  # a pandas column with a gap holds floats
        (GRADES, 0.25, 1),  # no label, so that it can only be a value
        (GRADES, "5.0", 4),
        (SAFE, True, 0),  # met is the option of the higher value, wherever it is listed
        (SAFE, False, 1),
        (SAFE, "True", 0),
        (SAFE, np.bool_(False), 1),
        (SAFE, "n/a", 2),
        (SAFE, "NA", 2),
        (SAFE, 1, 0),
        (SAFE, 0, 1),
        (YES_OR_NO, "yes", 1),
        (YES_OR_NO, "No", 0),
        (YES_OR_NO, True, 1),
        (YES_OR_NO, 1, 1),
        (YES_OR_NO, "0", 0),
        (KINDS, "none", 3),  # the label, not an abstention
        (KINDS, None, None),
        (LEVELS, None, None),
        (LEVELS, float("nan"), None),
        (LEVELS, pd.NA, None),
        (LEVELS, pd.NaT, None),
        (LEVELS, np.float64("nan"), None),
        (LEVELS, "", None),
        (LEVELS, " ", None),
        (LEVELS, "None", None),  # what a recipe makes of it
        (LEVELS, "nan", None),
        (GRADES, "null", None),
    ],
)
def test_a_vote_is_read(criterion, vote, index):
    assert read(criterion, vote) == index


@pytest.mark.parametrize("recorded", ["yes", 1, None, "[yes"])
def test_what_holds_no_votes_is_refused(recorded):
    with pytest.raises(InvalidInputError, match=r"instance 3: the recorded votes are .* give a list"):
        named_votes(recorded, "instance 3")
