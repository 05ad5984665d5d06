"""What users install: the wheel is whole, it works from its own folder, and the demo stays on this machine."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "evenhand"

FROM_THE_WHEEL = """
import json, sys

CONNECTIONS = []

def watch(event, arguments):
    if event in {"socket.connect", "socket.sendto", "socket.getaddrinfo", "socket.gethostbyname"}:
        CONNECTIONS.append([event, repr(arguments)])

sys.addaudithook(watch)
import evenhand
from evenhand.catalog import catalog_path
from evenhand.cli import main
from evenhand.demo import load_rows
from evenhand.unitxt.bases import fetch_artifact

root = evenhand.register()
metric = fetch_artifact("metrics.evenhand.direct[criteria=criteria.evenhand.direct.relevance,"
                        "inference_engine=engines.evenhand.baseline,progress=False]")[0]
rows = [{"prediction": "Eight legs.", "references": [], "task_data": {"question": "How many legs has a spider?"}}]
scored = metric.compute(rows)[1]["score_name"]
code = main(["demo", "--no-progress"])
print(json.dumps({
    "package": evenhand.__file__,
    "catalog": [str(catalog_path()), str(root)],
    "criterion": evenhand.load("criteria.evenhand.direct.relevance").name,
    "rows": len(load_rows()),
    "score": scored,
    "demo": code,
    "connections": CONNECTIONS,
}))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel, unpacked: a zip file of what pip copies to the environment."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    done = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = folder.glob("*.whl")
    with zipfile.ZipFile(built) as archive:
        archive.extractall(folder / "content")
    return folder / "content"


@pytest.fixture(scope="module")
def found(wheel, tmp_path_factory):
    """What the wheel says in another folder, on a stranger's machine: nothing keeps the libraries offline."""
    offline = {
        "UNITXT_USE_ONLY_LOCAL_CATALOGS",
        "HF_HUB_OFFLINE",
        "HF_DATASETS_OFFLINE",
        "LITELLM_LOCAL_MODEL_COST_MAP",
    }
    environment = {name: value for name, value in os.environ.items() if name not in offline}
    done = subprocess.run(
        [sys.executable, "-c", FROM_THE_WHEEL],
        cwd=tmp_path_factory.mktemp("elsewhere"),
        env={**environment, "PYTHONPATH": str(wheel)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_the_wheel_holds_every_file_of_the_package_and_of_the_catalog(wheel):
    package = {
        path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*") if path.is_file() and path.suffix != ".pyc"
    }
    catalog = {f"catalog/{path.relative_to(ROOT / 'catalog').as_posix()}" for path in ROOT.glob("catalog/**/*.json")}
    assert {"py.typed", "demo/prompts.jsonl", "prompts/direct_assessment.md", "cli/__init__.py"} <= package
    assert len(catalog) >= 80
    held = {path.relative_to(wheel / "evenhand").as_posix() for path in (wheel / "evenhand").rglob("*")}
    assert package | catalog <= held
    (entry_points,) = wheel.glob("evenhand-*.dist-info/entry_points.txt")
    assert "evenhand = evenhand.cli:main" in entry_points.read_text(encoding="utf-8")
    assert list(wheel.glob("evenhand-*.dist-info/licenses/LICENSE"))


def test_the_wheel_works_from_another_folder(wheel, found):
    assert Path(found["package"]).is_relative_to(wheel)
    assert found["catalog"] == [str(wheel / "evenhand" / "catalog")] * 2
    assert found["criterion"] == found["score"] == "relevance"
    assert found["rows"] >= 40


def test_the_demo_asks_nothing_of_the_network(found):
    assert found["demo"] == 0
    assert found["connections"] == []
