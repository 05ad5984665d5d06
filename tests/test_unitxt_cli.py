"""``evenhand unitxt``: the command of the documentation runs unitxt's own command line with our metrics."""

import json
import os
import shlex
import subprocess
import sys

from tests.support.pages import ROOT
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
        "metrics": ["metrics.accuracy"],  # the recipe names ours
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
        page = (ROOT / "docs" / "unitxt.md").read_text(encoding="utf-8")
        (written,) = [line for line in page.splitlines() if line.startswith("    evenhand unitxt --tasks")]
        command = [sys.executable, "-m", *shlex.split(written)]
        command[command.index("--model_args") + 1] = json.dumps(model)
        command[command.index("--output_path") + 1] = str(tmp_path / "out")
        done = subprocess.run(
            command,
            env={**os.environ, "UNITXT_CATALOGS": str(tmp_path / "catalog")},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert server.seen == 2
    (results,) = (tmp_path / "out").rglob("*.json")
    held = json.loads(results.read_text(encoding="utf-8"))["results"]
    (scores,) = [held[name] for name in held if name.startswith("card=cards.legs")]
    assert scores["score_name"] == "relevance"
    assert scores["relevance_ci_low"] < scores["relevance"] < scores["relevance_ci_high"]
