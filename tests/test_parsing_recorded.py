"""The reading of replies measured on a sixteenth and an eighth of two sets of recorded judges, beside their labels.

``python -m benchmarks.reading`` reads all of them.

The authors' labels are no gold: their parsers have known faults. Every reply that is read differently belongs to one of
the classes below, which an independent and much simpler reading of the text recognises.
"""

import gzip
import json
import re
from itertools import islice

import pytest

from evenhand.parsing import match_closest_option
from tests.support.shared import shared_path

OUTPUTS = ("Output (a)", "Output (b)")
SIDES = ("A", "B", "C")
FINISH = {"stop": "stop", "length": "length", "content management policy": "content_filter", "": None}
PHRASE = re.compile(r"Output \(([ab])\) is better")
NOT_MEANT = re.compile(
    r"neither[^.]*|Output \([ab]\) is not better|(?:argues|thinks|claims)[^.:]*|cannot (?:claim|select)[^.]*"
)
STATES = re.compile(
    r"Output \([ab]\) (?:is|was) (?:\w+ ){0,4}better|better output\b.{0,60}\bis Output \([ab]\)|and is better\.|"
    r"(?:choose|select|prefer) Output \([ab]\)|Output \([ab]\) (?:stands out as|seems to be) (?:a|the) better"
)
TAGGED = re.compile(r"\[\[\"?([ABC])\"?\]\]")
STATES_SIDE = re.compile(
    r"\[\[?\"?[ABC]\"?\]?\]|<\|[ABC]\|>|Assistant [AB](?:'s \w+)? is (?:\w+ ){0,3}(?:better|superior)|"
    r"answer .{0,50} is better"
)


def read(name, labels, spelled, every):
    with gzip.open(shared_path(f"data/{name}"), "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in islice(lines, 0, None, every)]
    known = {}
    for row in rows:
        key = (row["text"], FINISH[row.get("fin", "")])
        if key not in known:
            known[key] = match_closest_option(key[0], labels, finish_reason=key[1])
        row["match"] = known[key]
        row["ours"] = None if known[key].index is None else spelled[known[key].index]
    return rows


@pytest.fixture(scope="module")
def llmbar():
    return read("llmbar_raw_completions.jsonl.gz", OUTPUTS, "ab", every=16)


@pytest.fixture(scope="module")
def mtbench():
    return read("posbias_mtbench_raw.jsonl.gz", SIDES, "ABC", every=8)


def without_markup(text):
    return re.sub(r"[*`#]", "", text)


def names_an_output(text):
    """Whether the reply states a verdict where a simple reader looks for one: alone, first, or in a phrase."""
    plain = NOT_MEANT.sub(" ", without_markup(text)).strip()
    lines = [line.strip(" .:") for line in plain.split("\n") if line.strip()]
    alone = bool(lines) and (lines[0] in OUTPUTS or lines[-1] in OUTPUTS)
    return alone or re.match(r"Output \([ab]\) \(", plain) is not None or STATES.search(plain) is not None


def last_stated(text):
    """The label of the last "is better" that is meant, else of the label that stands first."""
    plain = NOT_MEANT.sub(" ", without_markup(text)).strip()
    phrases = PHRASE.findall(plain)
    first = re.match(r"Output \(([ab])\)", plain)
    return phrases[-1] if phrases else first.group(1) if first else None


@pytest.mark.slow
def test_llmbar_nearly_every_reply_is_read(llmbar):
    written = [row for row in llmbar if row["text"].strip()]
    assert sum(row["ours"] is not None for row in written) / len(written) > 0.998


@pytest.mark.slow
def test_llmbar_a_reply_is_read_differently_only_where_its_last_verdict_differs(llmbar):
    different = [row for row in llmbar if row["ours"] and row["parsed"] and row["ours"] != row["parsed"]]
    assert 0 < len(different) <= 100  # the authors' rule takes the first "(a)" anywhere: 390 such texts are known of
    assert [row["text"] for row in different if last_stated(row["text"]) != row["ours"]] == []


@pytest.mark.slow
def test_llmbar_no_reply_without_a_verdict_is_given_one(llmbar):
    free = [row for row in llmbar if not names_an_output(row["text"])]
    assert len(free) > 15
    assert [row["text"] for row in free if row["ours"] is not None] == []


@pytest.mark.slow
def test_llmbar_what_the_authors_read_and_we_do_not_is_cut_off_denied_or_contradictory(llmbar):
    unscored = [row for row in llmbar if row["parsed"] and row["ours"] is None]
    unexplained = []
    for row in unscored:
        cut_off = row["match"].reason == "truncated"
        contradictory = row["match"].reason == "ambiguous" and len(set(PHRASE.findall(row["text"]))) == 2
        denied_or_absent = not names_an_output(row["text"])
        if not (cut_off or contradictory or denied_or_absent):
            unexplained.append(row["text"])
    assert len(unscored) <= 10
    assert unexplained == []


@pytest.mark.slow
def test_llmbar_reasons_fit_what_is_known_of_the_reply(llmbar):
    for row in llmbar:
        if row["fin"] == "content management policy":
            assert row["match"].reason == "content_filter"
        elif not row["text"].strip():
            assert row["match"].reason == "empty"


@pytest.mark.slow
def test_mtbench_nearly_every_reply_is_read(mtbench):
    assert sum(row["ours"] is not None for row in mtbench) / len(mtbench) > 0.998


@pytest.mark.slow
def test_mtbench_a_reply_is_read_differently_only_where_several_verdicts_are_tagged(mtbench):
    different = [row for row in mtbench if row["ours"] and row["parsed"] and row["ours"] != row["parsed"]]
    assert len(different) <= 5
    for row in different:
        tags = TAGGED.findall(row["text"])
        assert (tags[0], tags[-1]) == (row["parsed"], row["ours"])


@pytest.mark.slow
def test_mtbench_no_reply_without_a_verdict_is_given_one(mtbench):
    free = [row for row in mtbench if not STATES_SIDE.search(without_markup(row["text"]))]
    assert free
    assert [row["text"] for row in free if row["ours"] is not None] == []
    assert all(row["ours"] is None for row in mtbench if row["text"].startswith("Failed to obtain answer"))


@pytest.mark.slow
def test_mtbench_what_the_authors_read_and_we_do_not_tags_several_sides(mtbench):
    unscored = [row for row in mtbench if row["parsed"] and row["ours"] is None]
    assert len(unscored) <= 5
    for row in unscored:
        assert len(set(TAGGED.findall(row["text"]))) > 1, row["text"]
