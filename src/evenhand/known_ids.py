"""The ids of evenhand's own catalog, looked up in its files before anything is imported that takes seconds."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from difflib import get_close_matches
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from evenhand.errors import ArtifactError, did_you_mean
from evenhand.files import expanded

KINDS: Final = {
    "criteria": "criterion",
    "rubrics": "rubric",
    "checklists": "checklist",
    "engines": "engine",
    "metrics": "metric",
}
"""The folders of the catalog, and what lies in each."""

HOW_TO_GIVE_AN_ENGINE: Final = (
    "Give one in any of four ways: the name of a model as litellm has it, such as 'openai/gpt-4.1-mini', or the "
    "address of a server with its model, such as 'http://localhost:8000/v1[model=qwen3-8b]'; a catalog id such as "
    "'engines.evenhand.litellm[model=openai/gpt-4.1-mini]'; an engine of unitxt or evenhand, such as "
    "CrossProviderInferenceEngine(model=…); or an object with the methods of evenhand.engines.base.JudgeEngine"
)
ROWS_ENDING: Final = ".jsonl"
FILE_ENDINGS: Final = (".json", ".yaml", ".yml", ROWS_ENDING)

_REFERENCES: Final = frozenset({"criteria", "rubric", "checklist", "reference"})
"""Arguments that name an entry of a catalog, if they are neither a file, JSON nor a sentence."""

_WORD = re.compile(r"[\w-]+")
_ID = re.compile(r"[\w-]+(\.[\w-]+)*(\[.*)?", re.DOTALL)
_OWN_ID = re.compile(rf"(({'|'.join(KINDS)})\.evenhand(?:\.\w+)+)(\[.*)?", re.DOTALL)
_FURTHER_CATALOGS = ("UNITXT_CATALOGS", "UNITXT_ARTIFACTORIES")


def catalog_path() -> Path:
    """The folder of the catalog, in an installed wheel and in an editable install alike.

    Raises:
        ArtifactError: If the installation has none.
    """
    package = Path(__file__).resolve().parent
    for candidate in (package / "catalog", package.parents[1] / "catalog"):
        if (candidate / "criteria" / "evenhand").is_dir():
            return candidate
    raise ArtifactError(f"this installation of evenhand has no catalog in {str(package)!r}: install it again")


def catalog_entries() -> dict[str, Path]:
    """The ids of everything in evenhand's own catalog, sorted, and their files."""
    root = catalog_path()
    return {".".join(path.relative_to(root).with_suffix("").parts): path for path in sorted(root.rglob("*.json"))}


def entry_ids(prefix: str) -> list[str]:
    """The ids of evenhand's own entries below a prefix such as ``rubrics``, sorted."""
    return sorted(identifier for identifier in catalog_entries() if identifier.startswith(f"{prefix}.evenhand."))


def unknown_id(identifier: str, kind: str | None = None) -> ArtifactError:
    """The error for an id that no catalog holds, with the nearest that there is.

    Args:
        identifier: As it was given, without what stands in brackets behind it.
        kind: What is expected; by default what the id's first word says, or anything that can be judged by.
    """
    kind = kind or KINDS.get(identifier.partition(".")[0])
    folders = [folder for folder in KINDS if kind == KINDS[folder]] or ["criteria", "rubrics", "checklists"]
    known = [entry for folder in folders for entry in entry_ids(folder)]
    last_words = {entry.rpartition(".")[2]: entry for entry in reversed(known)}
    meant = get_close_matches(identifier, last_words, n=1)  # of who gives no more than the last word
    told = did_you_mean(last_words[meant[0]] if meant else identifier, known)
    return ArtifactError(f"no local catalog holds the {kind or 'entry'} {identifier!r}. {told}")


def unknown_engine(name: str) -> ArtifactError:
    """The error for a text that is no engine."""
    return ArtifactError(f"no catalog holds the engine {name!r}. {HOW_TO_GIVE_AN_ENGINE}")


def check_ids(given: Mapping[str, object], function: str = "") -> None:
    """Check what must be ids by its form, one or several, against the files of the catalogs on this machine.

    Nothing is checked once unitxt is loaded, or where its settings name further catalogs: these may hold the id, and
    whoever loads it says so.

    Args:
        given: Arguments of a function or of the command by their names; what is no id is not looked at.
        function: Whose they are; ``judge`` takes rubrics for criteria too.

    Raises:
        ArtifactError: If an id is in no catalog.
    """
    if "unitxt" in sys.modules or any(os.environ.get(name) for name in _FURTHER_CATALOGS):
        return
    for argument, each in given.items():
        for word in each if isinstance(each, (list, tuple)) else [each]:
            if isinstance(word, str):
                _check_id(argument, word, None if function == "judge" else "criterion")


def _check_id(argument: str, word: str, judged_by: str | None) -> None:
    """Check one text: an id of ours wherever it stands, and whatever else only a catalog could hold."""
    found = _OWN_ID.fullmatch(word)
    if found is not None:
        if not _entry_in(catalog_path(), found[1]).is_file():
            raise unknown_id(found[1])
    elif argument == "engine" and _WORD.fullmatch(word):  # entries lie in folders, and models behind a provider
        raise unknown_engine(word)
    elif (
        argument in {"criteria", "rubric", "checklist", "reference"} and _ID.fullmatch(word) and not names_a_file(word)
    ):
        unitxt = find_spec("unitxt")
        catalogs = [catalog_path(), *([Path(unitxt.origin).with_name("catalog")] if unitxt and unitxt.origin else [])]
        if not any(_entry_in(catalog, word.partition("[")[0]).is_file() for catalog in catalogs):
            raise unknown_id(word, {"criteria": judged_by, "reference": None}.get(argument, argument))


def _entry_in(catalog: Path, identifier: str) -> Path:
    return (catalog / Path(*identifier.split("."))).with_suffix(".json")


_NO_SENTENCE = re.compile(r"[{\[]|(criteria|rubrics|checklists|metrics|engines)\.")


def is_sentence(reference: str) -> bool:
    """Whether a text is a plain sentence, which stands for a yes/no criterion, and neither JSON, path nor id.

    It has several words or ends in a question mark.

    >>> [is_sentence(text) for text in ("Is it polite?", "Polite?", "It cites [1].", "polite", "a b.json")]
    [True, True, True, False, False]
    """
    said = reference.strip()
    return is_worded(said) and not (os.sep in said and _exists(said))


def _exists(name: str) -> bool:
    try:
        return expanded(name).exists()
    except OSError:  # too long
        return False


def is_worded(said: str) -> bool:
    """Whether a text reads as a sentence, whatever files there are."""
    if _NO_SENTENCE.match(said) or said.lower().endswith(FILE_ENDINGS):
        return False
    return len(said.split()) > 1 or said.endswith(("?", "？"))


def names_a_file(reference: str) -> bool:
    """Whether a text is a path: no JSON, no sentence, and no catalog id, which has no slash and no ending of a file."""
    if reference.lstrip().startswith(("{", "[")) or is_sentence(reference):
        return False
    name = reference.partition("[")[0]
    return reference.strip().lower().endswith(FILE_ENDINGS) or "/" in name or os.sep in name
