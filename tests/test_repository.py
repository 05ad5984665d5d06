"""The files about the project: what cites it, and the forms of issues, can be read by the tools that read them."""

import tarfile

from hatchling.builders.sdist import SdistBuilder

import evenhand
from evenhand.data.plain import parse_yaml
from tests.support.pages import ROOT


def document(path):
    return parse_yaml(path.read_text(encoding="utf-8"), path.name)


def test_the_citation_has_what_its_schema_requires_and_this_version():
    # https://github.com/citation-file-format/citation-file-format/blob/main/schema-guide.md, version 1.2.0
    cited = document(ROOT / "CITATION.cff")
    assert {"message", "title"} <= cited.keys()
    expected = {"cff-version": "1.2.0", "type": "software", "license": "Apache-2.0", "version": evenhand.__version__}
    expected["authors"] = [{"name": "The evenhand developers"}]
    assert {name: cited[name] for name in expected} == expected


def test_who_downloads_the_source_gets_the_documentation_and_can_build_it(tmp_path):
    (built,) = SdistBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"])
    with tarfile.open(built) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    wanted = {"mkdocs.yml", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "CITATION.cff", "docs/index.md"}
    assert wanted | {"docs/hooks.py", "docs/notebooks/comparison.ipynb", "docs/tutorials/recipe.md"} <= names
