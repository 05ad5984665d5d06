"""``evenhand unitxt``: unitxt's own command line finds evenhand's metrics by their ids."""

import json
import os
import subprocess
import sys

from tests.support.server import JudgeServer

CARD = {
    "__type__": "task_card",
    "loader": {
        "__type__": "load_from_dictionary",
        "data": {"test": [{"question": "How many legs has a spider?"}, {"question": "How many legs has an ant?"}]},
        "data_classification_policy": ["public"],
    },
    "task": {
        "__type__": "task",
        "input_fields": {"question": "str"},
        "reference_fields": {},
        "prediction_type": "str",
        "metrics": [
            (
                "metrics.evenhand.direct[criteria=criteria.evenhand.direct.relevance,"
                "inference_engine=engines.evenhand.baseline,context_fields=[question]]"
            )
        ],
        "default_template": "templates.empty",
    },
}


def test_a_recipe_is_generated_and_judged(tmp_path):
    cards = tmp_path / "catalog" / "cards"
    cards.mkdir(parents=True)
    (cards / "legs.json").write_text(json.dumps(CARD), encoding="utf-8")
    with JudgeServer(reply="A spider has eight legs.") as server:
        model = {
            "model_name": "gpt-4",
            "provider": "open-ai",
            "max_tokens": 20,
            "credentials": {"api_base": server.base_url, "api_key": "loopback"},
        }
        command = [
            sys.executable,
            "-m",
            "evenhand",
            "unitxt",
            "--tasks",
            "card=cards.legs",
            "--model",
            "cross_provider",
        ]
        done = subprocess.run(
            [*command, "--model_args", json.dumps(model), "--output_path", str(tmp_path / "out")],
            env={**os.environ, "UNITXT_CATALOGS": str(tmp_path / "catalog")},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert server.seen == 2
    (results,) = (tmp_path / "out").rglob("*.json")
    scores = json.loads(results.read_text(encoding="utf-8"))["results"]["card=cards.legs"]
    assert scores["score_name"] == "relevance"
    assert scores["relevance_ci_low"] < scores["relevance"] < scores["relevance_ci_high"]
