"""The shape of the code: who imports whom, what an import costs, and that types and style hold."""

import ast
import importlib
import inspect
import json
import pkgutil
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path
from types import NoneType
from typing import get_args

import pytest
from unitxt.artifact import Artifact
from unitxt.text_utils import camel_to_snake_case

import evenhand
import evenhand.metrics
import evenhand.unitxt
from benchmarks import size
from tests.support.processes import Running

ROOT = Path(__file__).resolve().parents[1]
SOURCES = sorted((ROOT / "src" / "evenhand").rglob("*.py"))
CHECKED = [folder for folder in ("src", "tests", "benchmarks") if (ROOT / folder).is_dir()]


@cache
def parsed(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def run(*arguments):
    return subprocess.run([sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, check=False)


def expect_success(*arguments):
    done = run(*arguments)
    assert done.returncode == 0, f"{' '.join(arguments)}\n{done.stdout}\n{done.stderr}"


@pytest.mark.slow
def test_types_hold():
    expect_success("-m", "mypy")


@pytest.mark.parametrize("rules", [["check"], ["format", "--check"]], ids=["lint", "format"])
def test_rules_of_style_hold(rules):
    expect_success("-m", "ruff", *rules, *CHECKED)


def test_imports_go_from_high_layers_to_low_ones():
    code = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True))"
    expect_success("-c", code)


def test_no_modules_import_each_other():
    """In no way: at the head of a module, in a function, for types alone, or by a string."""
    found = list(size.circles(size.imported(size.parsed())))
    assert found == []


def test_nothing_is_imported_by_a_string_but_by_the_facade():
    package = ROOT / "src" / "evenhand"
    found = {
        str(path.relative_to(package))
        for path in SOURCES
        for node in ast.walk(parsed(path))
        if isinstance(node, (ast.Name, ast.Attribute, ast.alias))
        and {getattr(node, name, "") for name in ("id", "attr", "name")} & {"import_module", "__import__", "pkgutil"}
    }
    assert found == {"__init__.py"}


CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
PURE, OTHERS = [set(contract["source_modules"]) for contract in CONTRACTS if contract["type"] == "forbidden"]


def test_every_module_is_told_whether_it_may_know_unitxt():
    modules = {f"evenhand.{info.name}" for info in pkgutil.iter_modules(evenhand.__path__)} - {"evenhand.unitxt"}
    modules |= {f"evenhand.unitxt.{info.name}" for info in pkgutil.iter_modules(evenhand.unitxt.__path__)}
    assert {name for name in PURE if name.count(".") == 1} | OTHERS == modules - {"evenhand.unitxt.bases"}
    assert not PURE & OTHERS


def test_importing_modules_loads_no_slow_library():
    light = PURE | OTHERS - {"evenhand.__main__", "evenhand.metrics"}
    light -= {each for each in light if each.startswith("evenhand.unitxt.")}
    code = (
        "import importlib, sys; [*map(importlib.import_module, sys.argv[1:])]; "
        "print(sorted({'unitxt', 'litellm', 'datasets', 'torch', 'matplotlib'} & sys.modules.keys()))"
    )
    done = run("-W", "error", "-c", code, *sorted(light), "evenhand.unitxt.loading")
    assert done.stdout.strip() == "[]", done.stdout + done.stderr


def test_no_file_and_no_class_of_the_package_has_the_name_of_another():
    files = [path for path in (ROOT / "src" / "evenhand").rglob("*.py") if path.name != "__init__.py"]
    classes = [node.name for path in files for node in parsed(path).body if isinstance(node, ast.ClassDef)]
    for names in ([path.name for path in files], classes):
        assert {name for name in names if names.count(name) > 1} == set()


SLOW = {"datasets", "evaluate", "inspect_ai", "litellm", "matplotlib", "ray", "sklearn", "unitxt"}
"""Libraries that take seconds to import, or that need not be there: imported where they are used."""

OF_UNITXT = ("evenhand.metrics.", "evenhand.unitxt.")
"""Modules of ours that import unitxt."""

LOCAL_IMPORTS = {
    **dict.fromkeys(("labels/correct.py", "results/looking.py", "results/results.py"), "pandas: for its frames only"),
    "pytest_plugin.py": "pytest loads it in every session, and few of them judge",
    "run_files.py": "the shell reads its options for every page of help",
}
"""Files that import something else within a function, and why; a verb of the shell imports what it runs."""


def modules_imported_in_functions(path):
    functions = [node for node in ast.walk(parsed(path)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    for node in {each for function in functions for each in ast.walk(function)}:
        if isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def test_the_shell_is_imported_without_numpy():
    """So that help and version take no second."""
    assert run("-c", "import sys, evenhand.cli; print('numpy' in sys.modules)").stdout.strip() == "False"


def test_imports_stand_at_the_top_but_for_those_of_slow_libraries():
    root = ROOT / "src" / "evenhand"
    found = {
        path.relative_to(root).as_posix()
        for path in SOURCES
        for name in modules_imported_in_functions(path)
        if name.partition(".")[0] not in SLOW and not name.startswith(OF_UNITXT)
    }
    assert {path for path in found if not path.startswith("cli/")} == set(LOCAL_IMPORTS)


def subclasses(base):
    return {base}.union(*map(subclasses, base.__subclasses__()))


def test_fields_of_artifacts_have_types_from_which_unitxt_builds_nested_artifacts():
    """unitxt builds none where the type is a text, as with postponed annotations, or a union with None."""
    for package in (evenhand.unitxt, evenhand.metrics):
        for info in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            importlib.import_module(info.name)
    own = [each for each in subclasses(Artifact) if each.__module__.startswith("evenhand.")]
    assert {"JudgeMetric", "GradeScore", "VoteAggregation", "EvenhandRubric", "EngineArtifact"} <= {
        each.__name__ for each in own
    }
    for artifact in own:
        for name, kind in inspect.get_annotations(artifact).items():
            assert not isinstance(kind, str), (artifact, name)
            assert NoneType not in get_args(kind), (artifact, name)


def packages():
    found = [info.name for info in pkgutil.walk_packages(evenhand.__path__, "evenhand.") if info.ispkg]
    return ["evenhand", *found]


def kind_and_name(name):
    """Constants, then classes, then functions."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2), name


@pytest.mark.parametrize("name", packages())
def test_the_public_names_of_a_package_are_sorted_and_complete(name):
    package = importlib.import_module(name)
    public = list(getattr(package, "__all__", ()))
    assert public == sorted(set(public), key=kind_and_name)
    assert all(getattr(package, exported) is not None for exported in public)
    taken = {
        alias.asname or alias.name
        for node in ast.walk(ast.parse(inspect.getsource(package)))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(f"{name}.")
        for alias in node.names
    }
    assert taken - {"__version__"} <= set(public)


def test_the_engines_and_metrics_of_the_catalog_are_public_under_their_names():
    types = {
        json.loads(path.read_text(encoding="utf-8"))["__type__"]
        for folder in ("engines", "metrics")
        for path in (ROOT / "catalog" / folder).rglob("*.json")
    }
    public = {name for name in evenhand.__all__ if isinstance(getattr(evenhand, name), type)}
    assert types - {camel_to_snake_case(name) for name in public} == {"replay_engine"}  # which its id names
    assert "JudgeEngine" in public


@pytest.mark.parametrize("door", ["evenhand", "evenhand.metrics.judge_metrics"])
def test_a_metric_takes_ids_of_the_catalog_unasked(door, tmp_path):
    made = (
        f"from {door} import DirectJudge; metric = DirectJudge(criteria='criteria.evenhand.direct.relevance', "
        "inference_engine='engines.evenhand.baseline'); print(metric.criteria.name)"
    )
    running = Running(made, output=tmp_path / "told.txt")
    assert running.wait() == 0, running.told
    assert running.told.strip() == "relevance"


VALUES = """
import sys
from contextlib import nullcontext

import evenhand

assert "numpy" not in sys.modules
from evenhand.cli import main

for words in ([], ["judge"], ["catalog"]):
    assert main([*words, "--help"]) == 0

class Engine:
    judge_id, concurrency = "scripted", 4

    def identity(self):
        return None

    def running(self):
        return nullcontext()

    async def complete(self, request):
        return evenhand.Completion(text="Yes")

polite = evenhand.Criterion(
    name="polite",
    description="Is it polite?",
    options=(evenhand.Option(label="Yes", value=1.0), evenhand.Option(label="No", value=0.0)),
    scale="binary",
)
rows = [{"a": "Eight.", "b": "Six."}, {"a": "Paris.", "b": "Rome."}]
quiet = {"progress": False, "journal": None}
written = {"requirement": "Is it polite?"}
for criteria in (polite, "Is it polite?", written, [written], "criteria.evenhand.direct.conciseness"):
    table = evenhand.judge(rows, criteria, Engine(), response_fields="a", context_fields=[], **quiet)
    assert len(table) == 2, table
better = "criteria.evenhand.pairwise.overall_quality"
assert len(evenhand.winrates(rows, better, Engine(), response_fields=["a", "b"], context_fields=[], **quiet)) == 2
assert len(evenhand.checklist(rows, ["Is it short?"], Engine(), response_fields="a", **quiet)) == 2
assert evenhand.Judge(polite, Engine(), journal=None).run(response="Eight.").score == 1.0
for mistyped, nearest in (("criteria.evenhand.direct.relevnce", "relevance"), ("rubrics.evenhand.safty", "safety")):
    try:
        evenhand.judge(rows, mistyped, Engine(), response_fields="a", **quiet)
    except evenhand.EvenhandError as error:
        assert f".{nearest}'?" in str(error), error
    else:
        raise AssertionError(mistyped)
print(sorted({"unitxt", "datasets", "litellm"} & sys.modules.keys()))
"""


def test_judging_by_plain_values_loads_neither_unitxt_nor_datasets():
    done = run("-c", VALUES)
    assert done.stdout.splitlines()[-1:] == ["[]"], done.stdout + done.stderr


def test_the_stub_of_the_facade_says_what_the_facade_has():
    stub = ast.parse((ROOT / "src" / "evenhand" / "__init__.pyi").read_text(encoding="utf-8")).body
    imported = {alias.asname: node.module for node in stub if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert imported.pop(None) == evenhand._METHODS["ResultMethods"]  # what a result has, once it is used
    assert imported | {"Results": "evenhand.results.results"} == evenhand._HOMES
    others = [ast.unparse(node) for node in stub if not isinstance(node, ast.ImportFrom)]
    assert others == ["Results = ResultMethods", "__version__: str"]


def test_the_facade_knows_no_other_name():
    with pytest.raises(AttributeError, match="no attribute 'jugde'"):
        evenhand.jugde  # noqa: B018 - reading it is the test
    assert set(evenhand.__all__) <= set(dir(evenhand))
