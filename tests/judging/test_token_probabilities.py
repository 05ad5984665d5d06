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


def read(tokens, chosen=0, text="Yes", *, span=None, labels=YES_NO):
    return option_probabilities(tokens, labels, chosen, text=text, span=span)


def test_every_surface_form_is_summed_and_what_only_begins_an_answer_is_not():
    forms = ["Yes", " yes", "YES", "yes.", '"yes', "\u0120Yes", "\u2581yes", "**Yes"]
    top = dict.fromkeys(forms, 0.05) | {"No": 0.1, " NO": 0.1, "Maybe": 0.2}
    # yes 8 · .05 = .4; no .1 + .1 = .2; Maybe counts for neither
    assert read([listed("Yes", 0.05, top)]) == pytest.approx((0.4, 0.2))
    for prefix in ("Y", "Ye", "Yesterday", "not", "None", "N/A"):
        assert read([listed("Yes", 0.5, {"Yes": 0.5, prefix: 0.4})]) == pytest.approx((0.5, 0.0))


def test_the_generated_token_counts_once_whether_it_is_listed_or_not():
    unlisted = listed("No", 0.05, {"Yes": 0.9})
    both = listed("No", 0.05, {"Yes": 0.9, "No": 0.05})
    twice = unlisted.model_copy(update={"top": (*both.top, ("No", log(0.05)))})
    for generated in (unlisted, both, twice):
        assert read([generated], 1, "No") == pytest.approx((0.9, 0.05))


def test_the_token_is_that_of_the_span_or_the_last_one_that_names_the_answer():
    text = "Yes, it is kind. So: yes."
    tokens = [
        listed("Yes", 0.5, {"Yes": 0.5, "No": 0.5}),
        token(", it is kind. So"),
        token(":"),
        listed(" yes", 0.8, {" yes": 0.8, " no": 0.2}),
        token("."),
        token("<|im_end|>"),
    ]
    start = text.rindex("yes")
    assert read(tokens, 0, text) == pytest.approx((0.8, 0.2))
    assert read(tokens, 0, text, span=(0, 3)) == pytest.approx((0.5, 0.5))
    assert read(tokens, 0, text, span=(start, start + 3)) == pytest.approx((0.8, 0.2))
    assert read(tokens, 0, text, span=(5, 10)) is None
    assert read(tokens, 1, text) is None
    article = [listed("A", 0.6, {"A": 0.6, "B": 0.4}), token(" is"), token(" a"), token(" gem")]
    assert read(article, 0, "A is a gem", labels=("A", "B")) == pytest.approx((0.6, 0.4))


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


def test_an_answer_of_several_tokens_is_not_read_and_its_code_and_booleans_of_json_are():
    labels = ("Met", "Partly met", "Not met")
    tokens = [listed("Part", 0.6, {"Part": 0.6, "Met": 0.3, "Not": 0.1}), token("ly"), token(" met")]
    assert read(tokens, 1, "Partly met", span=(0, 10), labels=labels) is None
    code = listed("2", 0.6, {"2": 0.6, "1": 0.3, "3": 0.1})
    assert read([code], 1, "2", labels=("1", "2", "3")) == pytest.approx((0.3, 0.6, 0.1))
    tokens = [token('{"answer":'), listed(" true", 0.7, {" true": 0.7, " false": 0.2}), token("}")]
    assert read(tokens, 0, '{"answer": true}', span=(11, 15)) == pytest.approx((0.7, 0.2))


@pytest.mark.parametrize("structured", [True, False])
def test_the_field_of_the_verdict_may_come_before_the_reasons(structured):
    name = "selected_option" if structured else "note"
    pieces = ['{"', name, '": "', "2", '", "assessment": "of ', "2", ' it is the best"}']
    tokens = [token(piece) for piece in pieces]
    tokens[3] = listed("2", 0.6, {"1": 0.4, "2": 0.6})
    found = option_probabilities(tokens, ("1", "2"), 1, text="".join(pieces))
    assert found == pytest.approx((0.4, 0.6) if structured else (0.0, 1.0))


def test_rounding_above_one_is_taken_back():
    rounded = TokenLogprob(token="Yes", logprob=1e-7, top=(("Yes", 1e-7),))
    assert read([rounded]) == pytest.approx((1.0, 0.0))
    # servers that report the sampled token after the temperature and the others before it: .9 and .5 of 1.4
    assert read([listed("Yes", 0.9, {"No": 0.5})]) == pytest.approx((0.9 / 1.4, 0.5 / 1.4))


IMPOSSIBLE = [
    *(TokenLogprob(token="Yes", logprob=number) for number in (nan, inf, 0.5, -inf, -9999.0)),
    TokenLogprob(token="Yes", logprob=0.9, top=(("Yes", 0.9), ("No", 0.1))),  # probabilities instead of logarithms
    TokenLogprob(token="Yes", logprob=0.0, top=(("Yes", 0.0), ("No", 0.0))),  # e^0 + e^0 = 2 of at most 1
    *(TokenLogprob(token="Yes", logprob=number, top=(("No", log(0.9)),)) for number in (-9999.0, -inf)),
]


@pytest.mark.parametrize("generated", IMPOSSIBLE)
def test_what_is_no_probability_or_was_not_drawn_from_the_list_is_not_read(generated):
    assert read([generated]) is None


SOUND = (("Yes", log(0.7)), ("No", log(0.2)), ("Maybe", log(0.05)))
NO_LOGPROBS = {"none": None, "nan": nan, "positive": 0.5, "infinite": inf, "huge": 1e308}


@pytest.mark.parametrize("number", NO_LOGPROBS.values(), ids=NO_LOGPROBS)
@pytest.mark.parametrize("place", ["generated", "Yes", "No", "Maybe"])
def test_one_number_that_is_no_log_probability_voids_them_all_at_the_verdict(number, place):
    top = tuple((name, number if name == place else value) for name, value in SOUND)
    generated = number if place == "generated" else log(0.7)
    voided = TokenLogprob(token="Yes", logprob=generated, top=top)
    assert read([voided]) is None
    # elsewhere in the reply it says nothing about the verdict
    behind = [token("Yes", 0.7, Yes=0.7, No=0.2), TokenLogprob(token=".", logprob=number)]
    assert read(behind, 0, "Yes.") == pytest.approx((0.7, 0.2))


@pytest.mark.parametrize("impossible", [-9999.0, -inf])
def test_an_alternative_without_probability_has_none(impossible):
    alternative = TokenLogprob(token="Yes", logprob=log(0.9), top=(("Yes", log(0.9)), ("No", impossible)))
    assert read([alternative]) == pytest.approx((0.9, 0.0))


def test_tokens_that_end_before_the_reply_does_are_no_evidence_of_its_verdict():
    tokens = [token("Some say"), listed(" Yes", 0.6, {" Yes": 0.6, " No": 0.4}), token(". Verdict:"), token(" Yes")]
    whole = "Some say Yes. Verdict: Yes"
    assert read(tokens, 0, whole) == pytest.approx((1.0, 0.0))
    assert read(tokens[:-1], 0, whole) is None


@given(
    tokens=st.lists(
        st.tuples(
            st.text(max_size=6) | st.sampled_from(["yes", "No", "\u2581Yes", "<0xE2>", "\ufffd"]), st.floats(-5, 0)
        )
    ),
    text=st.none() | st.text(max_size=40),
    chosen=st.integers(0, 1),
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
