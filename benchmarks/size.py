"""The size of the package: lines of code, files, functions, import circles, and what a call of it enters.

``python -m benchmarks.size`` counts lines without docstrings, comments and blank lines. Circles are of imports of any
kind: at the head of a module, in a function, under ``TYPE_CHECKING``, and ``import_module`` of a string; the facade
``evenhand/__init__.py`` is left out. Each walk is a process that imports everything, and then counts the named
functions that judging two rows enters.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import subprocess
import sys
import tempfile
import tokenize
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "src" / "evenhand"
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
NO_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}

WALKS = {
    "judge() with objects": """
levels = (evenhand.Option(label="Yes", value=1.0), evenhand.Option(label="No", value=0.0))
criterion = evenhand.Criterion(name="relevance", description="Does it answer the question?", options=levels)
engine = evenhand.BaselineEngine()
walked(lambda: evenhand.judge(ROWS, criterion, engine, id_field="id", journal=None, progress=False))
""",
    "judge() with ids": """
walked(lambda: evenhand.judge(ROWS, CRITERION, ENGINE, id_field="id", journal=None, progress=False))
""",
    "recipe": """
from unitxt import create_dataset, evaluate

evenhand.register()
data = create_dataset(
    task="tasks.qa.open",
    test_set=[{"question": row["question"], "answers": [""]} for row in ROWS],
    metrics=[f"metrics.evenhand.direct[criteria={CRITERION},inference_engine={ENGINE}]"],
    split="test",
)
walked(lambda: evaluate(predictions=[row["response"] for row in ROWS], data=data))
""",
    "evenhand run": """
from evenhand.cli import main

Path("rows.jsonl").write_text("\\n".join(map(json.dumps, ROWS)))
run = {"job": "judge", "data": "rows.jsonl", "criteria": CRITERION, "engine": ENGINE}
run |= {"id_field": "id", "response_fields": "response"}
Path("run.json").write_text(json.dumps(run))
walked(lambda: main(["run", "run.json", "--quiet"]))
""",
}
WALK = """
import contextlib, importlib, json, logging, pkgutil, sys, threading
from pathlib import Path

import evenhand

logging.disable()
CRITERION, ENGINE = "criteria.evenhand.direct.relevance", "engines.evenhand.baseline"
ROWS = [
    {"id": "a", "question": "How many legs has a spider?", "response": "A spider has eight legs."},
    {"id": "b", "question": "How many legs has an ant?", "response": "I like trains."},
]
HOME = str(Path(evenhand.__file__).parent)
for module in pkgutil.walk_packages(evenhand.__path__, "evenhand."):
    if module.name not in ("evenhand.__main__", "evenhand.pytest_plugin"):
        with contextlib.suppress(ImportError):  # an extra that is not installed
            importlib.import_module(module.name)
entered = set()


def watch(frame, event, argument):
    code = frame.f_code
    is_function = code.co_flags & 1  # bodies of modules and classes have no such flag
    if event == "call" and is_function and not code.co_name.startswith("<") and code.co_filename.startswith(HOME):
        entered.add((code.co_filename, code.co_firstlineno))


def walked(call):
    threading.setprofile(watch)
    sys.setprofile(watch)
    with contextlib.redirect_stdout(sys.stderr):
        found = call()
    sys.setprofile(None)
    if isinstance(found, int) and found:
        sys.exit(f"it ended with {found}")
    print(json.dumps([len(entered), len({path for path, _ in entered})]))

"""


def parsed(package: Path = PACKAGE) -> dict[str, ast.Module]:
    """Module of the package -> its syntax tree."""
    trees = {}
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package.parent).with_suffix("").parts
        trees[".".join(parts).removesuffix(".__init__")] = ast.parse(path.read_text(encoding="utf-8"))
    return trees


def lines_of_code(path: Path) -> int:
    """The lines of a file that are neither docstring, comment nor blank."""
    text = path.read_text(encoding="utf-8")
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in NO_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, *DEFINITIONS)) and ast.get_docstring(node, clean=False):
            lines.difference_update(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    return len(lines)


def names_of(node: ast.AST, module: str, *, is_package: bool) -> list[str]:
    """The modules that a piece of syntax may import; of a string with gaps what stands before the first gap."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        own = module.split(".")
        base = own[: len(own) - node.level + is_package] if node.level else []
        home = ".".join([*base, *([node.module] if node.module else [])])
        return [home, *(f"{home}.{alias.name}" for alias in node.names)]
    if isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) in {
        "import_module",
        "__import__",
    }:
        given = node.args[0] if node.args else None
        part = given.values[0] if isinstance(given, ast.JoinedStr) and given.values else given
        return [part.value] if isinstance(part, ast.Constant) and isinstance(part.value, str) else []
    return []


def imported(trees: Mapping[str, ast.Module]) -> dict[str, set[str]]:
    """Module -> the modules of the package that it imports in any way; the facade is left out."""
    facade, packages = "evenhand", {name.rpartition(".")[0] for name in trees}
    found: dict[str, set[str]] = {}
    for module, tree in trees.items():
        own = found.setdefault(module, set())
        for node in ast.walk(tree) if module != facade else ():
            named = [name for name in names_of(node, module, is_package=module in packages) if name in trees]
            own.update(name for name in named if not any(other.startswith(f"{name}.") for other in named))
        own -= {facade, module}
    return found


def circles(graph: Mapping[str, set[str]]) -> Iterator[list[str]]:
    """The sets of modules that reach each other, the largest first."""
    reached: dict[str, set[str]] = {}
    for module in graph:
        seen: set[str] = set()
        waiting = [*graph[module]]
        while waiting:
            if (name := waiting.pop()) not in seen:
                seen.add(name)
                waiting.extend(graph[name])
        reached[module] = seen
    found = defaultdict(list)
    for module, seen in reached.items():
        if module in seen:
            found[frozenset(name for name in seen if module in reached[name])].append(module)
    return iter(sorted(found.values(), key=len, reverse=True))


def walked(name: str) -> str:
    """What one walk enters, in words."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", WALK + WALKS[name]]
        ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if ended.returncode:
        raise SystemExit(f"{name} failed:\n{ended.stderr[-2000:]}")
    functions, files = json.loads(ended.stdout.splitlines()[-1])
    return f"| {name} | {functions} | {files} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--no-walks", action="store_true", help="only count; do not run the package")
    options = parser.parse_args()
    trees = parsed()
    lines = sum(map(lines_of_code, PACKAGE.rglob("*.py")))
    functions = sum(isinstance(node, DEFINITIONS) for tree in trees.values() for node in ast.walk(tree))
    found = list(circles(imported(trees)))
    sizes = ", ".join(str(len(circle)) for circle in found) or "none"
    print(f"{lines:,} lines of code, {len(trees)} files, {functions:,} functions; import circles: {sizes}")
    for circle in found:
        print(f"- {', '.join(circle)}")
    if not options.no_walks:
        print("\n| two rows | functions entered | files |\n|---|---|---|")
        for name in WALKS:
            print(walked(name), flush=True)


if __name__ == "__main__":
    main()
