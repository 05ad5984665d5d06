"""The code blocks of README.md and docs/: found, run, and compared with what the page says they print.

A page is run from top to bottom in one process and one folder, so that a tutorial goes on where it stopped; in the
README each block stands alone. ``evenhand`` in a shell block is called in that process too. A block of the language
``text`` right behind one of code is what it prints; a line that is ``…`` there stands for lines left out.

``python -m tests.support.pages [PAGE …]`` writes what is printed into the pages, where nothing is left out.
"""

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import traceback
from contextlib import ExitStack, redirect_stdout
from dataclasses import dataclass
from importlib import import_module
from io import StringIO
from pathlib import Path

from evenhand.cli import main
from tests.support.processes import Running
from tests.support.server import JudgeServer

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
PAGES = [README, *sorted((ROOT / "docs").rglob("*.md"))]
SERVER = "http://localhost:8000/v1"
COLUMNS = 100
LEFT_OUT = "…"
STANDS_FOR = {  # this very run is the second; the first's installation is what runs here, and its verb follows
    "pip install -e . && evenhand demo": "evenhand demo",
    "pip install -e '.[dev]' && pytest": "python -m pytest --version",
}
_CALL = "import sys; sys.path.insert(0, sys.argv[2]); from tests.support import pages; pages._run_pages(sys.argv[1])"
_BLOCK = re.compile(r"^```(python|sh)\b[^\n]*\n(.*?)^```\n(?:\n```text\n(.*?)^```$)?", re.MULTILINE | re.DOTALL)
_OF_A_SHELL = re.compile(r"\|\||&&|[|<>;&]|\$\(")


@dataclass(frozen=True)
class Block:
    """A block of code.

    Attributes:
        language: python or sh.
        code: What stands in it.
        shown: What the page says that it prints; None where it says nothing.
        span: Where that stands in the page.
    """

    language: str
    code: str
    shown: str | None
    span: tuple[int, int]


def blocks(page):
    return [Block(*found.groups(), found.span(3)) for found in _BLOCK.finditer(page.read_text(encoding="utf-8"))]


@dataclass(frozen=True)
class Ran:
    """What became of a page.

    Attributes:
        printed: What each block printed; None if one failed.
        told: The other output, with the error if there was one.
        asked: How many requests reached the server that stands in for the one that the page names.
    """

    printed: list[str] | None
    told: str
    asked: int


def run(pages, folder):
    """Run pages: each in a fork of one process that has imported what they share, which takes longer than they do."""
    with ExitStack() as stack:
        servers = {page: stack.enter_context(JudgeServer()) for page in pages if SERVER in page.read_text("utf-8")}
        places = {page: folder / f"{number:03}" for number, page in enumerate(pages)}
        for page, place in places.items():
            address = servers[page].base_url if page in servers else SERVER
            given = [(each.language, each.code.replace(SERVER, address)) for each in blocks(page)]
            (place / "page").mkdir(parents=True)
            (place / "blocks.json").write_text(json.dumps([given, page == README]), encoding="utf-8")
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        environment = {**os.environ, "COLUMNS": str(COLUMNS), "PATH": path}
        running = Running(_CALL, folder, ROOT, output=folder / "told.txt", folder=folder, environment=environment)
        assert running.wait(290) == 0, running.told
        return {page: _ran(place, servers.get(page)) for page, place in places.items()}


def _ran(place, server):
    told, printed = (place / "told.txt").read_text(encoding="utf-8"), place / "printed.json"
    texts = json.loads(printed.read_text(encoding="utf-8")) if printed.exists() else None
    if server is not None and texts is not None:
        texts = [each.replace(server.base_url, SERVER) for each in texts]
    return Ran(texts, told, len(server.requests) if server else 0)


def agrees(shown, printed):
    """Whether what a page shows is what was printed, but for spaces at the ends of lines and for what it leaves out."""
    parts = [_lines(part) for part in re.split(rf"^{LEFT_OUT}\n", shown, flags=re.MULTILINE)]
    lines, start = _lines(printed), 0
    for part in parts:
        places = [at for at in range(start, len(lines) - len(part) + 1) if lines[at : at + len(part)] == part]
        if not places:
            return False
        start = places[0] + len(part)
    return len(parts) > 1 or lines == parts[0]


def _lines(text):
    return "\n".join(line.rstrip() for line in text.splitlines()).strip("\n").splitlines()


def _run_pages(folder):
    """In a process of its own: run what stands in the folders of a folder."""
    for shared in ("evenhand.functions", "evenhand.report.page", "matplotlib.figure"):
        import_module(shared)
    for place in sorted(Path(folder).glob("*/")):
        child = os.fork()
        if child:
            os.waitpid(child, 0)
            continue
        failed = 1
        try:
            told = os.open(place / "told.txt", os.O_WRONLY | os.O_CREAT)
            os.dup2(told, 1)
            os.dup2(told, 2)
            os.chdir(place / "page")
            os.environ["EVENHAND_CACHE_DIR"] = str(place / "cache")
            _run_blocks(place)
            failed = 0
        except BaseException:  # noqa: BLE001 - it is told, and the fork ends
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(failed)


def _run_blocks(folder):
    """Run the blocks of a page."""
    given, alone = json.loads((Path(folder) / "blocks.json").read_text(encoding="utf-8"))
    printed, names = [], {"__name__": "__main__"}
    for number, (language, code) in enumerate(given):
        if alone:
            names = {"__name__": "__main__"}
            Path(str(number)).mkdir()
            os.chdir(str(number))
        with redirect_stdout(StringIO()) as out:
            if language == "python":
                exec(compile(code, f"block {number + 1}", "exec"), names)
            else:
                for statement in _statements(STANDS_FOR.get(code.strip(), code)):
                    out.write(_shell(statement))
        printed.append(out.getvalue())
        if alone:
            os.chdir("..")
    (Path(folder) / "printed.json").write_text(json.dumps(printed), encoding="utf-8")


def _statements(code):
    """A shell block in parts: each call of evenhand, and what stands between them."""
    between, lines = [], iter(re.sub(r"\\\n *", " ", code).splitlines())
    for line in lines:
        if line.startswith("evenhand "):
            yield "\n".join(between)
            between = []
            yield line
        else:
            between.append(line)
            if ends := re.search(r"<<'(\w+)'", line):
                between += iter(lambda: next(lines), ends[1])
                between.append(ends[1])
    yield "\n".join(between)


def _shell(statement):
    """What a statement prints; one that fails is an error."""
    called, either, otherwise = statement.partition(" || ")
    if not called.startswith("evenhand ") or _OF_A_SHELL.search(re.sub(r"'[^']*'|\"[^\"]*\"", "", called)):
        done = subprocess.run(["sh", "-ec", statement], stdout=subprocess.PIPE, text=True, check=True)
        return done.stdout
    with redirect_stdout(StringIO()) as out:
        code = main(shlex.split(called, comments=True)[1:])
    if code and not either:
        raise AssertionError(f"exit code {code}: {statement}\n{out.getvalue()}")
    return out.getvalue() + (_shell(f"(exit {code}) || {otherwise}") if code else "")


def rewrite(page, printed):
    """Write what the blocks print into the page."""
    text = page.read_text(encoding="utf-8")
    for block, now in reversed([*zip(blocks(page), printed, strict=True)]):
        if block.shown is None or agrees(block.shown, now):
            continue
        if f"\n{LEFT_OUT}\n" in f"\n{block.shown}":
            sys.stdout.write(f"{page.name}: what is left out of this is yours to choose:\n{now}\n")
        else:
            start, end = block.span
            text = text[:start] + "\n".join([*_lines(now), ""]) + text[end:]
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    chosen = [Path(name).resolve() for name in sys.argv[1:]] or [page for page in PAGES if blocks(page)]
    with tempfile.TemporaryDirectory() as made:
        for each, ran in run(chosen, Path(made)).items():
            if ran.printed is None:
                sys.stdout.write(f"{each.name} fails:\n{ran.told}\n")
            else:
                rewrite(each, ran.printed)
