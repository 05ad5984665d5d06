"""The files about the project: what cites it, and the forms of issues, can be read by the tools that read them."""

import re
import tarfile

import pytest
from hatchling.builders.sdist import SdistBuilder

import evenhand
from evenhand.data.plain import parse_yaml
from tests.support.pages import ROOT

FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))


def document(path):
    return parse_yaml(path.read_text(encoding="utf-8"), path.name)


def test_the_citation_has_what_its_schema_requires_and_this_version():
    # https://github.com/citation-file-format/citation-file-format/blob/main/schema-guide.md, version 1.2.0
    cited = document(ROOT / "CITATION.cff")
    assert {"authors", "cff-version", "message", "title"} <= cited.keys()
    assert cited["cff-version"] == "1.2.0"
    assert cited["type"] == "software"
    assert cited["authors"] == [{"name": "The evenhand developers"}]
    assert cited["version"] == evenhand.__version__
    assert cited["license"] == "Apache-2.0"


def test_there_is_a_form_for_a_bug_a_wrong_number_and_a_feature():
    assert {"bug.yml", "wrong_number.yml", "feature.yml"} <= {path.name for path in FORMS}


@pytest.mark.parametrize("path", [path for path in FORMS if path.name != "config.yml"], ids=lambda path: path.stem)
def test_a_form_is_such_as_github_takes(path):
    # https://docs.github.com/en/communities/using-templates-to-encourage-useful-issues-and-pull-requests
    form = document(path)
    assert {"name", "description", "body"} <= form.keys() <= {"name", "description", "body", "labels", "title"}
    ids = [part["id"] for part in form["body"] if part["type"] != "markdown"]
    assert len(ids) == len({*ids}) >= 3
    for part in form["body"]:
        assert part["type"] in {"markdown", "input", "textarea", "dropdown", "checkboxes"}
        if part["type"] == "markdown":
            assert part["attributes"]["value"]
        else:
            assert re.fullmatch(r"[\w-]+", part["id"])
            assert part["attributes"]["label"]
            assert {*part.get("validations", {})} <= {"required"}


def test_who_downloads_the_source_gets_the_documentation_and_can_build_it(tmp_path):
    (built,) = SdistBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"])
    with tarfile.open(built) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    wanted = {"mkdocs.yml", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "CITATION.cff", "docs/index.md"}
    assert wanted | {"docs/hooks.py", "docs/notebooks/comparison.ipynb", "docs/tutorials/recipe.md"} <= names
