"""A plain sentence as a criterion: "Is it polite?" is a yes/no criterion, on every surface."""

import pytest

import evenhand
from evenhand.criteria import yes_no_criterion
from evenhand.errors import ArtifactError
from evenhand.unitxt.loading import load_comparison, load_criterion


@pytest.mark.parametrize(
    ("sentence", "name"),
    [
        ("Is it polite?", "is_it_polite"),
        ("  Is it polite?\n", "is_it_polite"),
        ("Polite?", "polite"),
        ("The reply cites [1] and/or [2].", "the_reply_cites_1_and_or_2"),
        ("是否礼貌？", "是否礼貌"),
    ],
)
def test_a_sentence_is_a_yes_no_criterion(sentence, name):
    assert evenhand.load(sentence) == yes_no_criterion(name, sentence.strip())
    assert load_criterion(sentence) == evenhand.load(sentence)


def test_a_sentence_says_what_makes_a_response_better():
    criterion = load_comparison("Which reply is more polite?")
    assert (criterion.scale, criterion.description) == ("pairwise", "Which reply is more polite?")


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("polite", "no local catalog holds the entry 'polite'"),
        ("criteria.evenhand.direct.clarity, criteria.evenhand.direct.relevance", "no local catalog holds"),
        ("my criteria.json", "the file 'my criteria.json' cannot be read"),
        ("folder/criterion", "the file 'folder/criterion' cannot be read"),
        ("{'name': no json}", "the JSON text is not JSON"),
    ],
)
def test_what_is_no_sentence_stays_what_it_was(reference, message):
    with pytest.raises(ArtifactError, match=message):
        evenhand.load(reference)
