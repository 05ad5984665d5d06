from math import exp, inf, log, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.judging.token_probabilities import option_probabilities
from evenhand.votes import TokenLogprob

YES_NO = ("Yes", "No")


def token(text, share=1.0, **top):
    return TokenLogprob(token=text, logprob=log(share), top=tuple((name, log(mass)) for name, mass in top.items()))


def listed(text, share, top):
    return token(text, share, **top)


def test_every_surface_form_is_summed():
    forms = ["Yes", " yes", "YES", "yes.", '"yes', "\u0120Yes", "\u2581yes", "**Yes"]
    top = dict.fromkeys(forms, 0.05) | {"No": 0.1, " NO": 0.1, "Maybe": 0.2}
    # yes 8 · .05 = .4; no .1 + .1 = .2; Maybe counts for neither
    found = option_probabilities([listed("Yes", 0.05, top)], YES_NO, 0, text="Yes")
    assert found == pytest.approx((0.4, 0.2))


def test_the_generated_token_counts_once_whether_it_is_listed_or_not():
    unlisted = option_probabilities([listed("No", 0.05, {"Yes": 0.9})], YES_NO, 1, text="No")
    both = option_probabilities([listed("No", 0.05, {"Yes": 0.9, "No": 0.05})], YES_NO, 1, text="No")
    twice = option_probabilities(
        [TokenLogprob(token="No", logprob=log(0.05), top=(("Yes", log(0.9)), ("No", log(0.05)), ("No", log(0.05))))],
        YES_NO,
        1,
        text="No",
    )
    assert unlisted == both == twice == pytest.approx((0.9, 0.05))


REASONED = [
    listed("Yes", 0.5, {"Yes": 0.5, "No": 0.5}),
    token(", it is kind. So"),
    token(":"),
    listed(" yes", 0.8, {" yes": 0.8, " no": 0.2}),
    token("."),
    token("<|im_end|>"),
]
REASONED_TEXT = "Yes, it is kind. So: yes."


def test_without_a_span_it_is_the_last_token_that_names_the_answer():
    assert option_probabilities(REASONED, YES_NO, 0, text=REASONED_TEXT) == pytest.approx((0.8, 0.2))


def test_a_span_names_the_token():
    assert option_probabilities(REASONED, YES_NO, 0, text=REASONED_TEXT, span=(0, 3)) == pytest.approx((0.5, 0.5))
    start = REASONED_TEXT.rindex("yes")
    span = (start, start + 3)
    assert option_probabilities(REASONED, YES_NO, 0, text=REASONED_TEXT, span=span) == pytest.approx((0.8, 0.2))


def test_no_token_at_the_span_names_the_answer():
    assert option_probabilities(REASONED, YES_NO, 0, text=REASONED_TEXT, span=(5, 10)) is None
    assert option_probabilities(REASONED, YES_NO, 1, text=REASONED_TEXT) is None


SHEET = '{"answers": [{"index": 1, "answer": "Yes"}, {"index": 2, "answer": "Yes"}]}'


def sheet_tokens(space, pieces=None):
    head, middle, tail = SHEET.split("Yes")
    first, second = {"Yes": 0.9, "No": 0.1}, {"Yes": 0.6, "No": 0.4}
    plain = [head, listed("Yes", 0.9, first), middle, listed("Yes", 0.6, second), tail]
    return [
        entry if isinstance(entry, TokenLogprob) else token(entry.replace(" ", space)) for entry in (pieces or plain)
    ]


@pytest.mark.parametrize("space", [" ", "\u0120", "\u2581"])
@pytest.mark.parametrize("before", [[], ["<s>", "\u2581"], ["<think>Is it Yes? ", "No, Yes", "</think>", "\n\n"]])
@pytest.mark.parametrize("after", [[], ["</s>"], ["\n", "<|eot_id|>"]])
def test_each_answer_of_a_sheet_has_its_own_token(space, before, after):
    tokens = [*map(token, before), *sheet_tokens(space), *map(token, after)]
    first, second = SHEET.index("Yes"), SHEET.rindex("Yes")
    assert option_probabilities(tokens, YES_NO, 0, text=SHEET, span=(first, first + 3)) == pytest.approx((0.9, 0.1))
    assert option_probabilities(tokens, YES_NO, 0, text=SHEET, span=(second, second + 3)) == pytest.approx((0.6, 0.4))


@pytest.mark.parametrize(
    "dash",
    [
        ["—"],
        ["<0xE2>", "<0x80>", "<0x94>"],
        ["bytes:\\xe2\\x80", "bytes:\\x94"],
        ["\u00e2\u0122\u0136"],  # the alphabet of byte-level vocabularies: e2 stands for itself, 80 and 94 do not
        ["\ufffd", "\ufffd"],
    ],
)
def test_characters_of_several_tokens(dash):
    text = "No — it is unkind. Yes"
    vocabulary = dash == ["\u00e2\u0122\u0136"]
    rest = " it is unkind.".replace(" ", "\u0120") if vocabulary else " it is unkind."
    space = "\u0120" if vocabulary else " "
    tokens = [
        listed("No", 0.7, {"No": 0.7, "Yes": 0.3}),
        token(space),
        *map(token, dash),
        token(rest),
        listed(f"{space}Yes", 0.6, {f"{space}Yes": 0.6, f"{space}No": 0.4}),
    ]
    start = text.index("Yes")
    assert option_probabilities(tokens, YES_NO, 1, text=text, span=(0, 2)) == pytest.approx((0.3, 0.7))
    assert option_probabilities(tokens, YES_NO, 0, text=text, span=(start, start + 3)) == pytest.approx((0.6, 0.4))


def test_nothing_chosen_is_the_first_token_whose_alternatives_name_an_answer():
    tokens = [token("Well, "), listed("maybe", 0.5, {"maybe": 0.5, "yes": 0.3, "no": 0.2}), token("yes")]
    assert option_probabilities(tokens, YES_NO, None, text="Well, maybe yes") == pytest.approx((0.3, 0.2))
    assert option_probabilities([token("Well")], YES_NO, None, text="Well") is None


def test_an_answer_of_several_tokens_is_not_read():
    labels = ("Met", "Partly met", "Not met")
    tokens = [listed("Part", 0.6, {"Part": 0.6, "Met": 0.3, "Not": 0.1}), token("ly"), token(" met")]
    assert option_probabilities(tokens, labels, 1, text="Partly met", span=(0, 10)) is None
    codes = option_probabilities([listed("2", 0.6, {"2": 0.6, "1": 0.3, "3": 0.1})], ("1", "2", "3"), 1, text="2")
    assert codes == pytest.approx((0.3, 0.6, 0.1))


@pytest.mark.parametrize("prefix", ["Y", "Ye", "Yesterday", "not", "None", "N/A"])
def test_tokens_that_only_begin_an_answer_do_not_count(prefix):
    found = option_probabilities([listed("Yes", 0.5, {"Yes": 0.5, prefix: 0.4})], YES_NO, 0, text="Yes")
    assert found == pytest.approx((0.5, 0.0))


def test_an_article_is_no_letter_code():
    tokens = [listed("A", 0.6, {"A": 0.6, "B": 0.4}), token(" is"), token(" a"), token(" gem")]
    assert option_probabilities(tokens, ("A", "B"), 0, text="A is a gem") == pytest.approx((0.6, 0.4))


def test_booleans_of_json():
    text = '{"answer": true}'
    tokens = [token('{"answer":'), listed(" true", 0.7, {" true": 0.7, " false": 0.2}), token("}")]
    assert option_probabilities(tokens, YES_NO, 0, text=text, span=(11, 15)) == pytest.approx((0.7, 0.2))


@pytest.mark.parametrize("structured", [True, False])
def test_the_field_of_the_verdict_may_come_before_the_reasons(structured):
    name = "selected_option" if structured else "note"
    pieces = ['{"', name, '": "', "2", '", "assessment": "of ', "2", ' it is the best"}']
    tokens = [token(piece) for piece in pieces]
    tokens[3] = listed("2", 0.6, {"1": 0.4, "2": 0.6})
    found = option_probabilities(tokens, ("1", "2"), 1, text="".join(pieces))
    assert found == pytest.approx((0.4, 0.6) if structured else (0.0, 1.0))


def test_rounding_above_one_is_taken_back():
    found = option_probabilities([TokenLogprob(token="Yes", logprob=1e-7, top=(("Yes", 1e-7),))], YES_NO, 0, text="Yes")
    assert found == pytest.approx((1.0, 0.0))
    scaled = option_probabilities([listed("Yes", 0.9, {"No": 0.5})], YES_NO, 0, text="Yes")
    # servers that report the sampled token after the temperature and the others before it: .9 and .5 of 1.4
    assert scaled == pytest.approx((0.9 / 1.4, 0.5 / 1.4))


@pytest.mark.parametrize("logprob", [nan, inf, 0.5, -inf, -9999.0])
def test_what_is_no_probability_or_none_is_not_read(logprob):
    assert option_probabilities([TokenLogprob(token="Yes", logprob=logprob)], YES_NO, 0, text="Yes") is None


SOUND = (("Yes", log(0.7)), ("No", log(0.2)), ("Maybe", log(0.05)))
NO_LOGPROBS = {"none": None, "nan": nan, "positive": 0.5, "infinite": inf, "huge": 1e308}


@pytest.mark.parametrize("number", NO_LOGPROBS.values(), ids=NO_LOGPROBS)
@pytest.mark.parametrize("place", ["generated", "Yes", "No", "Maybe"])
def test_one_number_that_is_no_log_probability_voids_them_all_at_the_verdict(number, place):
    top = tuple((name, number if name == place else value) for name, value in SOUND)
    generated = number if place == "generated" else log(0.7)
    voided = TokenLogprob(token="Yes", logprob=generated, top=top)
    assert option_probabilities([voided], YES_NO, 0, text="Yes") is None
    # elsewhere in the reply it says nothing about the verdict
    behind = [token("Yes", 0.7, Yes=0.7, No=0.2), TokenLogprob(token=".", logprob=number)]
    assert option_probabilities(behind, YES_NO, 0, text="Yes.") == pytest.approx((0.7, 0.2))


def test_probabilities_sent_instead_of_logarithms_are_none():
    sent = TokenLogprob(token="Yes", logprob=0.9, top=(("Yes", 0.9), ("No", 0.1)))
    assert option_probabilities([sent], YES_NO, 0, text="Yes") is None
    zeros = TokenLogprob(token="Yes", logprob=0.0, top=(("Yes", 0.0), ("No", 0.0)))  # e^0 + e^0 = 2 of at most 1
    assert option_probabilities([zeros], YES_NO, 0, text="Yes") is None


@pytest.mark.parametrize("impossible", [-9999.0, -inf])
def test_a_generated_token_without_probability_was_not_drawn_from_this_list(impossible):
    odd = TokenLogprob(token="Yes", logprob=impossible, top=(("No", log(0.9)),))
    assert option_probabilities([odd], YES_NO, 0, text="Yes") is None
    alternative = TokenLogprob(token="Yes", logprob=log(0.9), top=(("Yes", log(0.9)), ("No", impossible)))
    assert option_probabilities([alternative], YES_NO, 0, text="Yes") == pytest.approx((0.9, 0.0))


def test_tokens_that_end_before_the_reply_does_are_no_evidence_of_its_verdict():
    tokens = [token("Some say"), listed(" Yes", 0.6, {" Yes": 0.6, " No": 0.4}), token(". Verdict:"), token(" Yes")]
    whole = "Some say Yes. Verdict: Yes"
    assert option_probabilities(tokens, YES_NO, 0, text=whole) == pytest.approx((1.0, 0.0))
    assert option_probabilities(tokens[:-1], YES_NO, 0, text=whole) is None


@given(
    tokens=st.lists(
        st.tuples(
            st.text(max_size=6) | st.sampled_from(["yes", "No", "\u2581Yes", "<0xE2>", "\ufffd"]), st.floats(-5, 0)
        )
    ),
    text=st.none() | st.text(max_size=40),
    chosen=st.none() | st.integers(0, 1),
    span=st.none() | st.tuples(st.integers(0, 40), st.integers(0, 40)),
)
def test_it_never_fails_and_covers_at_most_one(tokens, text, chosen, span):
    logprobs = [TokenLogprob(token=name, logprob=value, top=((name, value), ("no", -3.0))) for name, value in tokens]
    reply = "".join(name for name, _ in tokens) if text is None else text
    found = option_probabilities(logprobs, YES_NO, chosen, text=reply, span=span)
    assert found is None or (0 < sum(found) <= 1 + 1e-12 and min(found) >= 0)


@given(
    before=st.lists(st.text(alphabet=' abcé—😀.,{"', min_size=1, max_size=5), max_size=8),
    share=st.floats(0.05, 0.95),
)
def test_the_token_at_the_span_is_found_behind_any_text(before, share):
    pieces = [*before, " Yes", " or", " Yes"]
    text = "".join(pieces)
    tokens = [token(piece) for piece in pieces]
    tokens[-3] = listed(" Yes", share, {" Yes": share, " No": 1 - share})
    start = len("".join(before)) + 1
    found = option_probabilities(tokens, YES_NO, 0, text=text, span=(start, start + 3))
    assert found == pytest.approx((share, 1 - share))
    assert exp(tokens[-3].logprob) == pytest.approx(share)
