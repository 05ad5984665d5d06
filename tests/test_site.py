"""The documentation as a site: it is built strictly, asks for nothing from elsewhere, and leaves nothing out."""

import html
import os
import re
import subprocess
import sys

import pytest

import evenhand
from evenhand.catalog import catalog_entries
from evenhand.cli.app import command_line
from evenhand.options import RunOptions
from tests.support.pages import ROOT

LOADED = re.compile(
    r"<(?:script|link|img|iframe|source|video|audio|object|embed|form)\b[^>]*?\b(?:src|srcset|href|data|action)="
    r"[\"']?((?:https?:)?//[^\"'\s>]+)",
    re.IGNORECASE,
)
BY_STYLE = re.compile(r"(?:url\(|@import\s+)[\"']?((?:https?:)?//[^\"')\s]+)")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def test_no_page_asks_for_anything_from_elsewhere(site):
    pages = [*site.rglob("*.html")]
    assert len(pages) > 150
    asked = {found for page in pages for found in LOADED.findall(page.read_text(encoding="utf-8"))}
    asked |= {found for page in site.rglob("*.css") for found in BY_STYLE.findall(page.read_text(encoding="utf-8"))}
    assert asked == set()


def test_every_entry_of_the_catalog_has_a_page_that_says_all_its_options(site):
    index = (site / "reference" / "catalog" / "index.html").read_text(encoding="utf-8")
    for identifier in catalog_entries():
        assert f'href="{identifier}/"' in index
        page = html.unescape((site / "reference" / "catalog" / identifier / "index.html").read_text(encoding="utf-8"))
        if identifier.startswith("criteria.") and ".pairwise." not in identifier:
            for option in evenhand.load(identifier).options:
                assert option.label in page, (identifier, option.label)


def test_the_reference_holds_every_public_name_verb_and_option(site):
    def read(name):
        return html.unescape((site / "reference" / name / "index.html").read_text(encoding="utf-8"))

    pages = {page.parent.name for page in (site / "reference").glob("*/index.html")}
    python = "".join(read(page) for page in pages - {"catalog", "command-line", "options"})
    missing = [name for name in evenhand.__all__ if f'id="evenhand.{name}"' not in python]
    assert missing == []
    assert all(f"evenhand {verb}" in read("command-line") for verb in command_line() if not verb.startswith("-"))
    fields = {*RunOptions.model_fields, *evenhand.LiteLLMEngine.model_fields}
    assert all(f"<code>{name}</code>" in read("options") for name in fields)
    assert not re.findall(r":(?:math|class|func|meth):", python)
    assert "```" not in python
    measures = html.unescape((site / "measures" / "index.html").read_text(encoding="utf-8"))
    assert all(f"<code>{name}</code>" in measures for name in ("score_if_unscored_0", "parse_rate", "num_na", "rank"))
