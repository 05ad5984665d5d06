"""Every test here finds the catalog registered, and no prompt that another test sent."""

import pytest

import evenhand
from tests.support.scripted import SENT


@pytest.fixture(autouse=True)
def _catalog():
    evenhand.register()
    SENT.clear()
