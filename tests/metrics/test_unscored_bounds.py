"""Recipes warn where so much is unscored that what was read need not be the score, and only there."""

import re

import pytest

from evenhand.criteria import yes_no_criterion
from evenhand.metrics.judge_metrics import ChecklistJudge, DirectJudge, PairwiseJudge
from tests.support.checklists import sheet
from tests.support.recipes import evaluated
from tests.support.scripted import ScriptedInferenceEngine, script

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

REFUSAL = "I cannot assist with that request."
BETTER = "criteria.evenhand.pairwise.overall_quality"
POLITE = yes_no_criterion("polite", "Is it polite?")


def scripts(name, good, bad):
    """Two judges: one that reads all, and one that refuses what is bad."""
    for ending, refuses in (("reads", False), ("refuses", True)):

        def reply(messages, refuses=refuses):
            text = messages[0]["content"]
            if "bad" not in text:
                return good(text)
            return REFUSAL if refuses else bad(text)

        reply.__name__ = f"{name}_{ending}"
        script(reply)


def better(text):
    return "Response A" if text.index("fine") < text.index("fair") else "Response B"


scripts("unscored_yes", lambda text: "Yes", lambda text: "No")
scripts("unscored_sheet", lambda text: sheet("Yes", "Yes"), lambda text: sheet("No", "No"))
scripts("unscored_comparer", better, better)

ANSWERS = (["fine"] * 6 + ["bad"] * 4) * 2
PAIRS = ([["fine", "fair"]] * 6 + [["fair bad", "fine"]] * 4) * 2
MODES = {
    "direct": (DirectJudge, "unscored_yes", {"criteria": POLITE}, ANSWERS, "polite"),
    "checklist": (
        ChecklistJudge,
        "unscored_sheet",
        {"checklist": ["Is it polite?", "Is it short?"]},
        ANSWERS,
        "primary_score",
    ),
    "pairwise": (PairwiseJudge, "unscored_comparer", {"criteria": BETTER}, PAIRS, "1_winrate"),
}


def global_scores(metric, predictions):
    rows = [{"question": f"question {row}"} for row in range(len(predictions))]
    return evaluated(metric, rows, predictions, postprocessors=[])[0]["score"]["global"]


def warned(caplog):
    """What was warned of as unscored."""
    messages = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    return [message for message in messages if "unscored" in message]


@pytest.mark.parametrize("mode", MODES)
def test_a_recipe_warns_where_much_is_unscored_and_only_there(mode, caplog):
    metric_class, name, settings, predictions, score = MODES[mode]
    found = {}
    for ending in ("reads", "refuses"):
        caplog.clear()
        engine = ScriptedInferenceEngine(script=f"{name}_{ending}")
        metric = metric_class(inference_engine=engine, max_reasks=0, progress=False, journal=None, **settings)
        found[ending] = global_scores(metric, predictions)
        messages = [message for message in warned(caplog) if f"'{score}'" in message]
        assert len(messages) == (ending == "refuses"), warned(caplog)
    # 12 of 20 are good; of the 8 bad ones nothing is read
    assert (found["reads"][score], found["refuses"][score]) == (0.6, 1.0)
    assert re.search(
        r"16 of 40 votes unscored \(8 rows affected\), (8|16) verdicts unscored \(40 % of \w+ affected\)", messages[0]
    )
    assert "lie between 0.60 and 1.00" in messages[0]
