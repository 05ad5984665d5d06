"""Rubrics of autorubric: their defaults and labels, and the scores of autorubric itself where it is installed."""

from random import Random

import pytest

import evenhand
from evenhand.aggregation.scores import rubric_score
from evenhand.criteria import Option
from evenhand.data.formats import format_of
from evenhand.votes import Verdict

LEVELS = [
    {"label": "Poor", "value": 0.0, "na": False},
    {"label": "Good", "value": 0.6},
    {"label": "Best", "value": 1.0},
    {"label": "No claims", "value": 0.0, "na": True},
]
WRITTEN = [
    {"name": "exact", "requirement": "Names the year.", "weight": 4},
    {"requirement": "Is polite."},
    {"name": "rude", "weight": -15.0, "requirement": "Insults somebody."},
    {"name": "depth", "requirement": "How deep is it?", "options": LEVELS, "scale_type": "ordinal"},
]


def test_its_defaults_and_its_labels():
    rubric = evenhand.load(WRITTEN)
    assert [(each.name, each.weight, each.scale, each.labels) for each in rubric.criteria] == [
        ("exact", 4, "binary", ("MET", "UNMET", "CANNOT_ASSESS")),
        ("is_polite", 10, "binary", ("MET", "UNMET", "CANNOT_ASSESS")),
        ("rude", -15, "binary", ("MET", "UNMET", "CANNOT_ASSESS")),
        ("depth", 10, "ordinal", ("Poor", "Good", "Best", "No claims")),
    ]
    assert [option.value for option in rubric.criteria[0].options] == [1, 0, None]
    assert rubric.criteria[3].options[3] == Option(label="No claims", na=True)


@pytest.mark.parametrize(
    "data",
    [
        {"criteria": WRITTEN},
        {"rubric": WRITTEN},
        {"rubric": {"criteria": WRITTEN}},
        {"sections": [{"name": "facts", "criteria": WRITTEN[:1]}, {"name": "style", "criteria": WRITTEN[1:]}]},
        [{"name": "facts", "criteria": WRITTEN[:2]}, *WRITTEN[2:]],
    ],
)
def test_every_form_that_it_reads(data):
    rubric = evenhand.load(data)
    assert [each.model_copy(update={"section": ""}) for each in rubric.criteria] == list(
        evenhand.load(WRITTEN).criteria
    )
    assert (rubric.sections, rubric.clip) == ((), "score")


@pytest.mark.parametrize(
    "ours",
    [
        {"name": "mine", "criteria": [{"requirement": "a", "weight": 2}, {"requirement": "b"}]},
        {"criteria": [{"requirement": "a"}, {"requirement": "b", "context_fields": ["question"]}]},
        [{"requirement": "a", "options": [{"label": "x", "value": 1}, {"label": "y", "value": 0, "description": "z"}]}],
        [{"requirement": "a", "options": [{"label": "x", "value": 1}, {"label": "y"}]}],
        [{"requirement": "a", "options": [{"label": "1", "value": 1}, {"label": "5", "value": 5}]}],
        {"requirement": "Is polite."},
        {"requirement": "How deep?", "options": LEVELS},
        {"requirement": "How deep?", "options": [*LEVELS[:3], {"label": "No claims", "na": True}]},
    ],
)
def test_our_own_form_keeps_its_own_defaults(ours):
    assert format_of(ours) is None


@pytest.fixture(scope="module")
def autorubric():
    pytest.importorskip("autorubric", reason="autorubric is not installed: its scores are not compared with ours")
    import autorubric  # noqa: PLC0415 - only where it is installed

    return autorubric


def generated(random):
    """A rubric as people write it, with or without weights, options and NA, and a label for each criterion."""
    criteria, labels = [], []
    for place in range(random.randint(1, 8)):
        criterion = {"name": f"c{place}", "requirement": f"Requirement {place}."}
        if random.random() < 0.7:
            criterion["weight"] = random.choice([-15.0, -5, -1, 0, 0.5, 3, 10, 20])
        if random.random() < 0.5:
            count = random.randint(2, 5)
            options = [{"label": f"level {level}", "value": random.random()} for level in range(count)]
            if random.random() < 0.5:
                options.insert(random.randint(0, count), {"label": "none", "value": random.choice([0, 7]), "na": True})
            criterion |= {"options": options, "scale_type": random.choice(["ordinal", "nominal"])}
            labels.append(random.choice(options)["label"])
        else:
            labels.append(random.choices(["MET", "UNMET", "CANNOT_ASSESS"], [4, 3, 1])[0])
        criteria.append(criterion)
    return criteria, labels


def verdicts_of(rubric, labels):
    for criterion, label in zip(rubric.criteria, labels, strict=True):
        option = criterion.options[criterion.index_of(label)]
        yield Verdict(na=True) if option.na else Verdict(value=option.value, aggregated_value=option.value)


def test_equal_scores(autorubric):
    random = Random(7)
    compared = undefined = 0
    strategies = {"skip": "SKIP", "zero": "ZERO", "partial": "PARTIAL", "fail": "FAIL"}
    while compared < 600:
        data, labels = generated(random)
        strategy = random.choice(list(strategies))
        partial = random.random()
        theirs = autorubric.Rubric.from_dict(data).compute_score(
            labels,
            cannot_assess_strategy=autorubric.CannotAssessStrategy[strategies[strategy]],
            partial_credit=partial,
        )
        rubric = evenhand.load(data).model_copy(update={"na_strategy": strategy, "na_partial": partial})
        result = rubric_score(list(verdicts_of(rubric, labels)), rubric)
        if result.score is None and theirs is not None:
            # what is left has another sign than the rubric as written, or no weight: a form that nobody wrote
            left = [each.weight for each in rubric.criteria if each.name in result.counted]
            assert max(left) <= 0
            assert any(each.weight > 0 for each in rubric.criteria) or not any(left)
            undefined += 1
            continue
        assert result.score == (None if theirs is None else pytest.approx(theirs, abs=1e-12))
        compared += 1
    assert undefined < 60


def test_what_it_cannot_read_is_ours(autorubric):
    """A rubric that has only its fields is its own if it can read it, an NA option without a value aside."""
    random = Random(3)
    readable = []
    for _ in range(300):
        data, _ = generated(random)
        options = [option for criterion in data for option in criterion.get("options", ())]
        if options:
            random.choice(options).update(random.choice([{}, {"value": 3}, {"value": None}, {"value": -0.1}]))
        recognised = format_of(data) is not None
        for option in options:
            if option.get("na"):
                option["value"] = 0.0
        try:
            autorubric.Rubric.from_dict(data)
        except ValueError:
            readable.append(False)
        else:
            readable.append(True)
        assert recognised == readable[-1]
    assert 100 < sum(readable) < 250
