"""The rubrics of HealthBench, PaperBench, BiGGen Bench, Prometheus and WildBench."""

import json
from random import Random

import pytest

import evenhand
from evenhand.aggregation.scores import rubric_score
from evenhand.data.formats import FORMATS
from evenhand.votes import Verdict

HEALTH_ROW = {
    "prompt": [{"role": "user", "content": "Is it safe?"}],
    "prompt_id": "x",
    "rubrics": [
        {"criterion": "Advises to see a doctor.", "points": 7, "tags": ["level:example", "axis:accuracy"]},
        {"criterion": "Names a dose that harms.", "points": -9, "tags": []},
        {"criterion": "Asks for the age.", "points": 3},
    ],
    "example_tags": [],
}


def verdicts(met):
    return [
        Verdict(unscored_reason="engine_error") if said is None else Verdict(value=float(said), aggregated_value=said)
        for said in met
    ]


def test_a_row_of_healthbench_is_a_rubric():
    rubric = evenhand.load(HEALTH_ROW)
    assert rubric == evenhand.load(HEALTH_ROW["rubrics"]) == evenhand.load(json.dumps(HEALTH_ROW["rubrics"]))
    assert [(each.name, each.weight, each.tags) for each in rubric.criteria] == [
        ("advises_to_see_a_doctor", 7, ("level:example", "axis:accuracy")),
        ("names_a_dose_that_harms", -9, ()),
        ("asks_for_the_age", 3, ()),
    ]
    assert (rubric.clip, rubric.criteria[0].labels) == ("mean", ("Yes", "No"))
    # 7 - 9 of 10 points; the score of a response is not clipped
    assert rubric_score(verdicts([True, True, False]), rubric).score == -0.2


def test_scores_of_healthbench_as_published():
    random = Random(3)
    for _ in range(500):
        points = [random.choice([1, 5, 10]), *random.choices([-10, -7, -1, 2, 4, 8], k=random.randint(0, 30))]
        data = {"rubrics": [{"criterion": f"C{place}.", "points": each} for place, each in enumerate(points)]}
        met = [random.random() < 0.4 for _ in points]
        expected = sum(each for each, said in zip(points, met, strict=True) if said) / sum(p for p in points if p > 0)
        assert rubric_score(verdicts(met), evenhand.load(data)).score == expected


def node(name, weight, *parts, **fields):
    return {"id": name, "requirements": f"About {name}.", "weight": weight, "sub_tasks": list(parts), **fields}


TREE = node(
    "root",
    1,
    node("a", 2, task_category="Code Development", finegrained_task_category="Method Implementation"),
    node("b", 3, node("b1", 1, task_category="Code Execution"), node("b2", 1, node("b21", 4), node("b22", 0))),
)


def test_a_tree_of_paperbench_is_a_nested_rubric(tmp_path):
    path = tmp_path / "paper.json"
    path.write_text(json.dumps(TREE), "utf-8")
    rubric = evenhand.load(path)
    assert (rubric.name, rubric.description) == ("paper", "About root.")
    assert [(each.name, each.weight, each.section) for each in rubric.criteria] == [
        ("a", 2, ""),
        ("b1", 1, "b"),
        ("b21", 4, "b2"),
        ("b22", 0, "b2"),
    ]
    assert [(each.name, each.weight, each.within) for each in rubric.sections] == [("b", 3, ""), ("b2", 1, "b")]
    assert rubric.criteria[0].tags == ("Code Development", "Method Implementation")
    # b2 = 1, b = (0 + 1) / 2, root = (2 · 1 + 3 · ½) / 5
    result = rubric_score(verdicts([True, False, True, False]), rubric)
    assert (result.score, dict(result.sections)) == (0.7, {"b": 0.5, "b2": 1.0})
    # a leaf without a grade is left out, and not a leaf that is not met
    assert rubric_score(verdicts([True, None, True, False]), rubric).score == 1.0


def generated(random, leaves, levels, name="n"):
    if levels == 1 or leaves == 1:
        return [node(f"{name}.{place}", random.randint(0, 9)) for place in range(leaves)]
    sizes = [1] * random.randint(1, min(leaves, 9))
    for _ in range(leaves - len(sizes)):
        sizes[random.randrange(len(sizes))] += 1
    return [
        node(f"{name}.{place}", random.randint(0, 9), *generated(random, size, levels - 1, f"{name}.{place}"))
        for place, size in enumerate(sizes)
    ]


def published(tree, met):
    """The score of a node, by the few lines that PaperBench's paper describes."""
    if not tree["sub_tasks"]:
        return float(met[tree["id"]])
    total = sum(each["weight"] for each in tree["sub_tasks"])
    return sum(each["weight"] * published(each, met) for each in tree["sub_tasks"]) / total if total else 0.0


@pytest.mark.parametrize(("leaves", "levels", "times"), [(9, 3, 60), (200, 5, 5), (3000, 5, 1)])
def test_scores_of_paperbench_as_published(leaves, levels, times):
    random = Random(leaves)
    for _ in range(times):
        tree = node("root", 1, *generated(random, leaves, levels))
        rubric = evenhand.load(tree)
        met = {criterion.name: random.random() < 0.6 for criterion in rubric.criteria}
        assert len(met) == leaves
        result = rubric_score(verdicts(met.values()), rubric)
        assert result.score == pytest.approx(published(tree, met), abs=1e-12)
        for part in tree["sub_tasks"]:
            if part["sub_tasks"]:
                assert result.sections[part["id"]] == pytest.approx(published(part, met), abs=1e-12)


LEVELS = {f"score{score}_description": f"Level {score}." for score in range(1, 6)}


@pytest.mark.parametrize(
    "data",
    [
        {"criteria": "Is it kind?", **LEVELS},
        {"id": "x", "score_rubric": {"criteria": "Is it kind?", **LEVELS}, "reference_answer": "y"},
        {"orig_criteria": "Is it kind?", **{f"orig_{name}": text for name, text in LEVELS.items()}},
    ],
)
def test_a_score_rubric_is_an_ordinal_criterion(data):
    criterion = evenhand.load(data)
    assert (criterion.name, criterion.description, criterion.scale) == ("is_it_kind", "Is it kind?", "ordinal")
    assert [(option.label, option.value, option.description) for option in criterion.options] == [
        (str(score), score, f"Level {score}.") for score in range(1, 6)
    ]


def test_a_row_of_wildbench_is_a_checklist():
    row = {"id": 1, "checklist": ["Is it polite?", "Is it short?"], "intent": "x"}
    checklist = evenhand.load(row)
    assert [(item.name, item.question, item.weight) for item in checklist.items] == [
        ("1", "Is it polite?", 1),
        ("2", "Is it short?", 1),
    ]


def test_formats_are_told_apart():
    from tests.data.formats.test_autochecklist import WRITTEN as CHECKLIST  # noqa: PLC0415
    from tests.data.formats.test_autorubric import WRITTEN as RUBRIC  # noqa: PLC0415
    from tests.data.formats.test_evalassist import DIRECT  # noqa: PLC0415

    samples = {
        "autorubric": RUBRIC,
        "autochecklist": CHECKLIST,
        "evalassist": DIRECT,
        "healthbench": HEALTH_ROW,
        "paperbench": TREE,
        "prometheus": {"criteria": "x", **LEVELS},
        "wildbench": {"checklist": ["x"]},
    }
    for name, data in samples.items():
        assert [each for each, form in FORMATS.items() if form.fits(data)] == [name]
