"""Completions, votes and verdicts as values that travel as JSON."""

import copy
import pickle

from hypothesis import given
from hypothesis import strategies as st

from evenhand.votes import Completion, Prompts, TokenLogprob, Usage, Vote, without_lone_surrogates


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
    Completion.adapter.dump_json(Completion(text="", finish_reason="\ud83d", model="\ud83d", logprobs=(token,)))


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
