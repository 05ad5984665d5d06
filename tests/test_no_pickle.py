"""evenhand unpickles nothing: diskcache, which unitxt depends on, is imported neither with it nor by what it does."""

import ast
from pathlib import Path
from textwrap import dedent

import pytest

import evenhand
from tests.faults.modes import true_reply
from tests.support.processes import ROOT, Running
from tests.support.server import JudgeServer

SOURCES = sorted(Path(evenhand.__file__).parent.rglob("*.py"))
UNPICKLING = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "marshal", "diskcache"}
RUNS = {
    "functions": """
        from tests.faults.cells import own, litellm, run_once
        from tests.faults.modes import MODES
        for mode in MODES:
            for engine in (own, litellm):
                assert run_once(mode, engine(sys.argv[1]), (0,), journal="journal.sqlite3").scored == 1
    """,
    "a recipe": """
        from evenhand.metrics.judge_metrics import DirectJudge
        from tests.faults.cells import own
        from tests.support.recipes import evaluated
        metric = DirectJudge(criteria="Is it polite?", inference_engine=own(sys.argv[1]), context_fields=[])
        evaluated(metric, [{"question": "item-0000"}], ["What item-0000 says."])
    """,
    "verbs": """
        from pathlib import Path
        from evenhand.cli import main
        Path("rows.jsonl").write_text('{"response": "Yes, please.", "other": "No."}')
        common = ["--criteria", "Is it polite?", "--engine", "engines.evenhand.baseline", "--no-progress"]
        for verb in (
            ["demo", "--no-progress"],
            ["judge", "rows.jsonl", *common, "--response-fields", "response", "--out", "out.parquet"],
            ["catalog", "list"],
        ):
            assert main(verb) == 0, verb
    """,
}


def test_no_source_imports_what_unpickles():
    for source in SOURCES:
        for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not {name.partition(".")[0] for name in names} & UNPICKLING, source


@pytest.mark.parametrize("code", RUNS.values(), ids=RUNS)
def test_what_evenhand_does_imports_no_diskcache(code, tmp_path):
    ended = "\nassert 'diskcache' not in sys.modules, 'diskcache was imported'"
    with JudgeServer(reply=true_reply) as server:
        process = Running(
            f"import sys\nsys.path.insert(0, {str(ROOT)!r})\n{dedent(code)}{ended}",
            server.base_url,
            output=tmp_path / "told.txt",
            folder=tmp_path,
        )
        assert process.wait() == 0, process.told
