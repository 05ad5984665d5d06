"""Completions, votes and verdicts as values that travel as JSON."""

import copy
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from evenhand.votes import Completion, Match, Prompts, TokenLogprob, Usage, Verdict, Vote, without_lone_surrogates


def test_a_cached_reply_is_no_call_and_costs_nothing():
    reply = Completion(text="Yes", prompt_tokens=30, completion_tokens=2, cost=0.25)
    assert reply.usage == Usage(calls=1, cached=0, prompt_tokens=30, completion_tokens=2, cost=0.25)
    cached = reply.model_copy(update={"cached": True})
    assert cached.usage == Usage(calls=0, cached=1, prompt_tokens=30, completion_tokens=2, cost=0.0)
    unpriced = Completion(text="Yes", cached=True)
    assert unpriced.usage == Usage(cached=1)


def test_usage_adds_up_and_an_unknown_price_stays_unknown():
    # calls 1 + 2, cached 3 + 0, tokens 10 + 5 and 4 + 1, cost 0.5 + unknown = 0.5 known
    priced = Usage(calls=1, cached=3, prompt_tokens=10, completion_tokens=4, cost=0.5)
    assert priced + Usage(calls=2, prompt_tokens=5, completion_tokens=1) == Usage(
        calls=3, cached=3, prompt_tokens=15, completion_tokens=5, cost=0.5
    )
    assert (Usage(calls=1) + Usage(calls=1)).cost is None


def test_an_na_vote_is_answered_but_not_scored():
    assert Vote(judge_id="j", order=(0, 1), selected_index=0).scored
    assert not Vote(judge_id="j", order=(0, 1), selected_index=1, na=True).scored
    assert not Vote(judge_id="j", order=(0, 1), unscored_reason="empty").scored


def test_a_reason_must_be_one_of_those_that_are_known():
    with pytest.raises(ValidationError, match="unscored_reason"):
        Vote(judge_id="j", order=(0,), unscored_reason="bored")


texts = st.none() | st.text()
votes = st.builds(
    Vote,
    judge_id=st.text(),
    order=st.permutations([0, 1, 2]).map(tuple),
    sample=st.integers(0, 5),
    selected_index=st.none() | st.integers(0, 2),
    selected_label=texts,
    value=st.none() | st.floats(0, 1),
    assessment=texts,
    completion=st.none()
    | st.builds(
        Completion,
        text=texts,
        finish_reason=texts,
        cost=st.none() | st.floats(0, 10),
        logprobs=st.none() | st.lists(st.builds(TokenLogprob, token=st.text(), logprob=st.floats(-50, 0))).map(tuple),
    ),
    match=st.none() | st.builds(Match, index=st.none() | st.integers(0, 2), kind=st.just("exact")),
    prompts=st.none()
    | st.dictionaries(st.text(), st.lists(st.fixed_dictionaries({"role": st.text(), "content": st.text()}))),
)


@given(st.lists(votes, max_size=3))
def test_a_verdict_and_its_votes_travel_as_json(cast):
    verdict = Verdict(votes=tuple(cast), agreement=0.5)
    assert Verdict.model_validate_json(verdict.model_dump_json()) == verdict


@given(st.text(st.characters()))
def test_every_reply_can_be_written_down(text):
    """Hypothesis draws half characters too: a reply cut inside an emoji ends in one, and UTF-8 has no bytes for it."""
    mended = Completion(text=text).text
    mended.encode()
    if not any("\ud800" <= character <= "\udfff" for character in text):
        assert mended == text


def test_half_characters_are_replaced_and_whole_ones_joined():
    assert Completion(text="cut \ud83d").text == "cut \ufffd"
    assert without_lone_surrogates("\ud83d\ude00 \ude00") == "\U0001f600 \ufffd"
    assert Completion(text=None).text is None
    token = TokenLogprob(token="\ud83d", logprob=-1.0, top=(("\ude00", -1.0),))
    Completion(text="", finish_reason="\ud83d", model="\ud83d", logprobs=(token,)).model_dump_json().encode()


def test_prompts_are_what_they_were_packed_of_wherever_they_are_carried():
    sent = {stage: [{"role": "user", "content": f"Is it {stage}? – {{}}"}] for stage in ("clear", "kind")}
    packed = Prompts(sent, like=("Is it clear?", "{}"))
    turned = Prompts(dict(reversed(sent.items())))
    assert packed == turned == sent
    assert hash(packed) == hash(turned)
    vote = Vote(judge_id="j", order=(0, 1), prompts=packed)
    for carried in (copy.deepcopy(vote), pickle.loads(pickle.dumps(vote)), Vote.model_validate(vote.model_dump())):
        assert carried == vote
        assert carried.prompts == sent
    assert Prompts({"clear": [{"role": "user", "content": "cut \ud83d"}]})["clear"][0]["content"] == "cut ?"


@given(st.lists(st.text(min_size=1), min_size=1, max_size=4), st.text(max_size=4))
def test_texts_that_are_held_elsewhere_are_not_held_in_prompts(texts, between):
    """Texts may be part of each other, and hold what JSON escapes, digits and the character that points to texts."""
    like = tuple(text * (1 + 40 // len(text)) for text in (*texts, texts[0] + texts[-1], "\x000\x00"))
    sent = {"selection": [{"role": "user", "content": between.join((*like, *like))}]}
    assert Prompts(sent, like=like, known=b"selection").plain() == Prompts(sent).plain()
