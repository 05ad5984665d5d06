"""The group of each row of a result, which is kept when it is judged."""

import pytest

import evenhand
from evenhand.errors import InvalidInputError

BASELINE = "engines.evenhand.baseline"
BETTER = "criteria.evenhand.pairwise.overall_quality"
HOW = {"context_fields": [], "progress": False}
TOPICS = ["law", "art", None, "law"]
ROWS = [
    {"id": f"p{n}", "topic": topic, "year": 2000 + n // 2, "small": "It is.", "large": f"It is {n}."}
    for n, topic in enumerate(TOPICS)
]
LONG = [
    {"id": row["id"], "topic": row["topic"], "model": name, "text": row[name]}
    for row in ROWS
    for name in ("small", "large")
]
VOTES = [{"id": row["id"], "topic": row["topic"], "judge": j, "vote": "yes"} for row in ROWS for j in ("a", "b")]
PAIRS = [{**row, "first": "x", "second": "y", "vote": "x"} for row in VOTES]
WITH = {"group_fields": "topic"}
WAYS = {
    "winrates of long data": lambda: evenhand.winrates(
        LONG,
        BETTER,
        BASELINE,
        systems_field="model",
        response_fields="text",
        id_field="id",
        **WITH,
        **HOW,
    ),
    "recorded votes": lambda: evenhand.aggregate_votes([{**row, "v": "yes"} for row in ROWS], "v", **WITH),
    "recorded pairs": lambda: evenhand.winrates(votes=PAIRS, **WITH),
    "recorded answers": lambda: evenhand.checklist(votes=[{**row, "item": "short"} for row in VOTES], **WITH),
    "read replies": lambda: evenhand.read_replies(
        [{**row, "reply": "Yes"} for row in VOTES], "reply", judge_field="judge", id_field="id", **WITH
    ),
    "agreement": lambda: evenhand.agreement([{**row, "a": "yes", "b": "no"} for row in ROWS], ["a", "b"], **WITH),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_column_that_is_named_is_kept_and_saved(way, tmp_path):
    results = WAYS[way]()
    assert results.group_of("topic") == tuple(TOPICS)
    results.save(tmp_path / "saved.parquet")
    assert evenhand.open(tmp_path / "saved.parquet").group_of("topic") == tuple(TOPICS)


@pytest.mark.parametrize(
    ("by", "message"),
    [
        ("topic", r"keeps no column 'topic'\. Did you mean 'topics'.*group_fields='topic'"),
        (TOPICS, r"keeps no column \['law', "),
        ({"p0": "law"}, "keeps no column {'p0'"),
    ],
)
def test_a_column_that_is_not_kept_is_refused(by, message):
    rows = [{**row, "topics": row["topic"]} for row in ROWS]
    asked = {"response_fields": "small", "id_field": "id", "group_fields": "topics", **HOW}
    results = evenhand.judge(rows, "criteria.evenhand.direct.clarity", BASELINE, **asked)
    with pytest.raises(InvalidInputError, match=message):
        results.group_of(by)
