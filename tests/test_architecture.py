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

import pytest
from unitxt.text_utils import camel_to_snake_case

import evenhand
import evenhand.unitxt
from benchmarks import size
from tests.support.processes import Running

ROOT = Path(__file__).resolve().parents[1]
SOURCES = sorted((ROOT / "src" / "evenhand").rglob("*.py"))
CHECKED = [folder for folder in ("src", "tests", "benchmarks") if (ROOT / folder).is_dir()]


@cache
def parsed(path):
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def classes_in(path):
    return [node for node in ast.walk(parsed(path)) if isinstance(node, ast.ClassDef)]


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


BY_STRING = {
    "__init__.py": "the facade imports a name when it is first used",
    "run_files.py": "--mode MODULE:CLASS is a class of the user's",
}


def test_nothing_is_imported_by_a_string_but_by_the_facade_and_what_users_name():
    package = ROOT / "src" / "evenhand"
    found = {
        str(path.relative_to(package))
        for path in SOURCES
        for node in ast.walk(parsed(path))
        if isinstance(node, (ast.Name, ast.Attribute, ast.alias))
        and {getattr(node, name, "") for name in ("id", "attr", "name")} & {"import_module", "__import__", "pkgutil"}
    }
    assert found == BY_STRING.keys()


def test_circles_of_imports_are_found_however_they_are_written():
    modules = {
        "evenhand.one": "import evenhand.two",
        "evenhand.two": "def late():\n    from evenhand import three",
        "evenhand.three": "if TYPE_CHECKING:\n    from evenhand.four import Four",
        "evenhand.four": "import_module('evenhand.one')",
        "evenhand.five": "from evenhand.one import name",
    }
    graph = size.imported({name: ast.parse(source) for name, source in modules.items()})
    assert list(size.circles(graph)) == [["evenhand.one", "evenhand.two", "evenhand.three", "evenhand.four"]]


def test_every_module_is_told_whether_it_may_know_unitxt():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    [pure, others] = [set(contract["source_modules"]) for contract in contracts if contract["type"] == "forbidden"]
    modules = {f"evenhand.{info.name}" for info in pkgutil.iter_modules(evenhand.__path__)} - {"evenhand.unitxt"}
    modules |= {f"evenhand.unitxt.{info.name}" for info in pkgutil.iter_modules(evenhand.unitxt.__path__)}
    assert {name for name in pure if name.count(".") == 1} | others == modules - {"evenhand.unitxt.bases"}
    assert not pure & others


LIGHT = [
    "evenhand",
    "evenhand.cli",
    "evenhand.criteria",
    "evenhand.votes",
    "evenhand.parsing",
    "evenhand.prompts",
    "evenhand.statistics",
    "evenhand.aggregation",
    "evenhand.scoring",
    "evenhand.modes.judgements",
    "evenhand.question",
    "evenhand.data.documents",
    "evenhand.data.fields",
    "evenhand.data.rows",
    "evenhand.raters",
    "evenhand.unitxt.loading",
    "evenhand.judges",
    "evenhand.judging.run",
    "evenhand.modes.winrates",
    "evenhand.modes.checklist",
    "evenhand.judge_reliability",
    "evenhand.engines.names",
    "evenhand.report.page",
]
IMPORTS = """
import importlib, json, sys

found = {}
for module in sys.argv[1:]:
    for name in [name for name in sys.modules if name.partition(".")[0] == "evenhand"]:
        del sys.modules[name]
    importlib.import_module(module)
    found[module] = sorted({"unitxt", "litellm", "datasets", "torch", "matplotlib"} & sys.modules.keys())
    if found[module]:
        break
print(json.dumps(found))
"""


def test_importing_a_module_loads_no_slow_library():
    """Each module is imported anew, up to the first that loads one."""
    done = run("-W", "error", "-c", IMPORTS, *LIGHT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout) == {module: [] for module in LIGHT}


def test_no_file_and_no_class_of_the_package_has_the_name_of_another():
    files = [path for path in (ROOT / "src" / "evenhand").rglob("*.py") if path.name != "__init__.py"]
    classes = [node.name for path in files for node in parsed(path).body if isinstance(node, ast.ClassDef)]
    for names in ([path.name for path in files], classes):
        assert {name for name in names if names.count(name) > 1} == set()


def test_the_facade_is_imported_without_numpy():
    assert run("-c", "import sys, evenhand; print('numpy' in sys.modules)").stdout.strip() == "False"


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


def test_imports_stand_at_the_top_but_for_those_of_slow_libraries():
    root = ROOT / "src" / "evenhand"
    found = {
        path.relative_to(root).as_posix()
        for path in SOURCES
        for name in modules_imported_in_functions(path)
        if name.partition(".")[0] not in SLOW and not name.startswith(OF_UNITXT)
    }
    assert {path for path in found if not path.startswith("cli/")} == set(LOCAL_IMPORTS)


def names_annotations_import(tree):
    return any(
        isinstance(node, ast.ImportFrom)
        and node.module == "__future__"
        and any(alias.name == "annotations" for alias in node.names)
        for node in tree.body
    )


@cache
def artifact_names():
    """The classes that are artifacts of unitxt, directly or through others."""
    found = {"Artifact", "Criteria", "CriteriaWithOptions", "InferenceEngine", "MapReduceMetric"}
    derived = [
        (node.name, {base.id for base in node.bases if isinstance(base, ast.Name)})
        for path in SOURCES
        for node in classes_in(path)
    ]
    while more := {name for name, bases in derived if bases & found} - found:
        found |= more
    return found


DEFINING = [path for path in SOURCES if path.name != "bases.py"]  # which says what types unitxt's own have


def artifacts_in(path):
    return [
        node
        for node in classes_in(path)
        if any(isinstance(base, ast.Name) and base.id in artifact_names() for base in node.bases)
    ]


def test_no_module_that_defines_artifacts_postpones_its_annotations():
    """unitxt reads annotations at run time; as strings they silently stop nested artifacts from being built."""
    assert {"JudgeMetric", "GradeScore", "VoteAggregation", "EvenhandRubric", "EngineArtifact"} <= artifact_names()
    assert not {"Flow", "Results", "FreeEngine"} & artifact_names()
    defining = []
    for path in DEFINING:
        if artifacts_in(path):
            defining.append(path.name)
            assert not names_annotations_import(parsed(path)), f"{path} defines artifacts and imports annotations"
    assert {"engines.py", "judge_metrics.py", "recorded.py"} <= set(defining)


def test_no_artifact_field_has_an_optional_type():
    """unitxt drops the nested artifacts of fields whose type is a union with None."""
    for path in DEFINING:
        for artifact in artifacts_in(path):
            for node in artifact.body:
                if isinstance(node, ast.AnnAssign):
                    written = ast.unparse(node.annotation)
                    assert "Optional" not in written, f"{path}: {written}"
                    assert "| None" not in written, f"{path}: {written}"


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


def test_every_module_says_what_it_is():
    names = {path.stem for path in SOURCES} | {path.parent.name for path in SOURCES}
    assert not names & {"utils", "util", "helpers", "helper", "misc", "common", "conftest"}
    for path in SOURCES:
        assert not path.stem.startswith("test_")
        assert ast.get_docstring(parsed(path)), f"{path} has no docstring"


def test_every_table_has_a_kind_by_which_it_is_asked_for():
    """One that it is made with: tables of texts, and those of measures, from which it is passed on."""
    for path in SOURCES:
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in {"TextTable", "measures_table"}:
                named = {keyword.arg for keyword in node.keywords}
                assert "kind" in named or (len(node.args) >= 5 and node.func.id == "TextTable"), (path, node.lineno)
