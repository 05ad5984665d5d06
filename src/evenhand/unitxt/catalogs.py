"""What a reference to a criterion, a rubric or a checklist stands for, as plain data; and unitxt's catalogs.

A reference is a catalog id, the path of a JSON or YAML file, a JSON text, a mapping or a list; and, where a criterion
may stand, a plain sentence, which is a yes/no criterion. Nothing is built. Data in the format of another tool are
translated (:mod:`evenhand.data.formats`), and so are artifacts of unitxt. unitxt is imported only for ids that are not
evenhand's own, for what stands in brackets behind an id, and for artifacts.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, cast

from evenhand.catalog import catalog_path, own_entry, read_entry, unknown_id
from evenhand.criteria import Checklist, Criterion, FrozenModel, Rubric, yes_no_criterion
from evenhand.data.documents import ROWS_ENDING, derived_name, is_worded, names_a_file
from evenhand.data.formats.rubrics import translated
from evenhand.data.plain import briefly, is_of, parse_json, plain, plain_cell, read_document
from evenhand.errors import ArtifactError
from evenhand.files import expanded

FURTHER_CATALOGS: Final = ("UNITXT_CATALOGS", "UNITXT_ARTIFACTORIES")
"""The settings of unitxt that name further catalogs, which may hold ids of the form ``….evenhand.…`` too."""


def register_catalog() -> Path:
    """Add the catalog to those that unitxt searches, and return its folder. Doing it twice is harmless."""
    from evenhand.unitxt.bases import register_local_catalog  # noqa: PLC0415 - imports unitxt

    path = catalog_path()
    register_local_catalog(str(path))
    return path


def local_entry(identifier: str) -> tuple[Path, dict[str, Any]]:
    """The file of a catalog id, and what ``[name=value]`` behind the id overrides. Nothing is built.

    Only catalogs on this machine are searched: unitxt would ask its catalog on the network about an unknown id.

    Raises:
        LookupError: If no local catalog has the id.
        ArtifactError: If what is behind the id is not ``[name=value,…]``.
    """
    name, overrides = _with_overrides(identifier) if {"[", "]"} & set(identifier) else (identifier, {})
    path = own_entry(name)
    if path is None and (".evenhand." not in name or any(os.environ.get(each) for each in FURTHER_CATALOGS)):
        path = _entry_for_unitxt(name)
    if path is None:
        raise LookupError(f"no local catalog holds {name!r}")
    return path, overrides


def _with_overrides(identifier: str) -> tuple[str, dict[str, Any]]:
    """An id, and what is behind it in brackets."""
    from evenhand.unitxt.bases import own_words, separate_overrides, with_numbers  # noqa: PLC0415 - imports unitxt

    try:
        name, overrides = separate_overrides(identifier)
    except ValueError as error:
        raise ArtifactError(f"{identifier!r} is not of the form id[name=value,…]: {own_words(error)}") from error
    return name, cast(dict[str, Any], with_numbers(overrides or {}))


def _entry_for_unitxt(name: str) -> Path | None:
    """The file of an id in the catalogs that unitxt has on this machine."""
    from evenhand.unitxt.bases import Catalogs, LocalCatalog  # noqa: PLC0415 - imports unitxt

    register_catalog()
    for catalog in Catalogs():
        if name.strip() and isinstance(catalog, LocalCatalog) and catalog.is_local and name in catalog:
            return Path(catalog.path(name))
    return None


def check_entry(path: Path) -> str | None:
    """What is wrong with a catalog entry, or None: it must build, say what it is, and come back from its own JSON."""
    from evenhand.unitxt.bases import Artifact, own_words  # noqa: PLC0415 - imports unitxt

    entry = read_entry(path)
    for field in ("__description__", "__tags__"):
        if not entry.get(field):
            return f"has no {field}"
    try:
        artifact = Artifact.load(str(path))
    except Exception as error:  # noqa: BLE001 - unitxt raises many kinds; the caller is told which
        return f"cannot be built: {own_words(error)}"
    if json.loads(artifact.to_json()) != {key: value for key, value in entry.items() if key != "__id__"}:
        return "changes when it is built and written again"
    return None


Kind = Literal["criterion", "rubric", "checklist"]
EXAMPLES: Mapping[Kind, str] = {
    "criterion": "criteria.evenhand.direct.relevance",
    "rubric": "rubrics.evenhand.summarization",
    "checklist": "checklists.evenhand.summary",
}
VALUES: Mapping[Kind, type[FrozenModel]] = {"criterion": Criterion, "rubric": Rubric, "checklist": Checklist}
_SHOWN_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class Referent:
    """What a reference stands for. It is a reference itself: what was read once is not read again.

    Attributes:
        data: The frozen value that is given; else a mapping, or a list where the reference is or holds one. Of an
            artifact, its fields with their ``__type__``.
        reference: As it was given.
        path: The file that it names outside catalogs.
        name: What it may be called when it does not say so itself: the name of its file or entry.
    """

    data: Any
    reference: object
    path: Path | None = None
    name: str | None = None

    def what(self, kind: Kind | None = None) -> str:
        """What messages call it, where a kind is expected."""
        if is_artifact(self.reference):
            return f"the {kind or 'artifact'} {self.data['name']!r}"
        return shown(self.reference) if self.path is None else _called(self.path, kind)


def resolve(reference: object, kind: Kind | None = None) -> Referent:
    """What a reference stands for.

    Args:
        reference: A catalog id, the path of a JSON or YAML file, a JSON text, a plain sentence, a mapping, a list, a
            frozen value, an artifact, or what another call found.
        kind: What is expected, for messages; None for any kind.

    Raises:
        ArtifactError: If there is no such thing, or it cannot be read.
    """
    if isinstance(reference, Referent):
        return reference
    if isinstance(reference, VALUES[kind] if kind else tuple(VALUES.values())):
        return Referent(reference, reference)
    if isinstance(reference, (Mapping, list, tuple)):
        data = dict(reference) if isinstance(reference, Mapping) else list(reference)
        return Referent(translated(plain(data, shown(reference)), shown(reference)), reference)
    if isinstance(reference, (str, Path)):
        return _named(reference, kind)
    if is_artifact(reference):
        return Referent(_data_of_artifact(reference, kind), reference)
    wanted = kind or "criterion"
    given = f"no {wanted} was given" if reference is None else f"{shown(reference)} is a {type(reference).__name__}"
    raise ArtifactError(
        f"{given}; give a catalog id such as "
        f"{EXAMPLES[wanted]!r}, the path of a JSON or YAML file, a dict, or a {wanted}"
    )


def is_artifact(value: object) -> bool:
    """Whether a value is an artifact of unitxt, such as its criteria and its engines."""
    return is_of(value, "unitxt")


def _data_of_artifact(artifact: object, kind: Kind | None) -> dict[str, Any]:
    from evenhand.unitxt.criteria_artifacts import data_of  # noqa: PLC0415 - imports unitxt

    data = data_of(artifact)
    named = None if data is None else str(data["__type__"]).removeprefix("evenhand_")
    found = named if named in {None, "rubric", "checklist"} else "criterion"
    if data is None or found != (kind or found):
        wanted = kind or "criterion, a rubric or a checklist"
        raise ArtifactError(f"{shown(artifact)} is a {type(artifact).__name__}, not a {wanted}")
    return data


_OF_ROWS: Mapping[Kind, tuple[str, str]] = {
    "criterion": ("a mapping with name, description and options, a yes/no question", "put the criterion"),
    "rubric": ("a list or mapping of criteria, in the form of another tool too", "put the criteria"),
    "checklist": ("a list of questions, a list or mapping of items", "put the questions"),
}
"""What a row of data may hold, and what to do instead of naming a file there."""

_CATALOG_ID = re.compile(r"[\w-]+(\.[\w-]+)+")


def resolve_of_row(given: object, kind: Kind) -> Referent:
    """What a row of data holds, or names by its catalog id.

    Rows are data: they may come from anywhere, so no file is opened, and nothing behind an id is overridden, because
    they say so.

    Args:
        given: A mapping or list, a JSON text of one, an id; where a criterion may stand, a plain sentence; or what a
            Python program put there: a frozen value or an artifact.
        kind: What is expected.

    Raises:
        ArtifactError: If it is something else, or no catalog holds the id.
    """
    given = plain_cell(given)
    if (isinstance(given, (VALUES[kind], Mapping, list, tuple)) or is_artifact(given)) and given:
        return resolve(given, kind)
    said = given.strip() if isinstance(given, str) else ""
    inline = said.startswith(("{", "[")) or (kind == "criterion" and is_worded(said))
    if inline or (_CATALOG_ID.fullmatch(said) and not names_a_file(said)):
        return _said(said, kind)
    forms, instead = _OF_ROWS[kind]
    if said and names_a_file(said):
        raise ArtifactError(
            f"{shown(given)} is the name of a file, and no file is read because a row of data names it: {instead} into "
            f"the row, or the id of a {kind} such as {EXAMPLES[kind]!r}"
        )
    raise ArtifactError(
        f"{shown(given)} is no {kind} of a row; accepted: {forms}, or the id of a {kind} such as {EXAMPLES[kind]!r}, "
        "with nothing in brackets behind it"
    )


def _named(reference: str | Path, kind: Kind | None) -> Referent:
    """What a text or a path stands for."""
    if isinstance(reference, Path) or names_a_file(reference):
        path = expanded(reference)
        what = _called(path, kind)
        if path.suffix.lower() == ROWS_ENDING:
            raise ArtifactError(
                f"{what} holds rows of data, of which each may have a rubric or a checklist of its own: judge them "
                "with rubric_field or checklist_field, which names the column, or translate them first with "
                f"`evenhand catalog import {path} --out rows.jsonl`"
            )
        return Referent(translated(read_document(path, what), what), reference, path, path.stem)
    return _said(reference, kind)


def _said(reference: str, kind: Kind | None) -> Referent:
    """What a text stands for that is no path."""
    said = reference.strip()
    if said.startswith(("{", "[")):
        return Referent(translated(parse_json(reference, "the JSON text"), "the JSON text"), reference)
    if is_worded(said) and kind in {None, "criterion"}:
        return Referent(yes_no_criterion(derived_name(said), said), reference)
    name = reference.partition("[")[0].rpartition(".")[2]
    return Referent(_catalog_object(reference, kind), reference, name=name)


def shown(reference: object) -> str:
    """A reference as messages show it."""
    given = reference.reference if isinstance(reference, Referent) else reference
    try:
        text = " ".join(repr(given).split())
    except Exception:  # noqa: BLE001 - as there
        text = briefly(given)
    return text if len(text) <= _SHOWN_CHARACTERS else text[: _SHOWN_CHARACTERS - 3] + "..."


def _called(path: Path, kind: Kind | None) -> str:
    return f"the {kind} file {str(path)!r}" if kind else f"the file {str(path)!r}"


def _catalog_object(identifier: str, kind: Kind | None) -> dict[str, Any]:
    try:
        path, overrides = local_entry(identifier)
    except LookupError as error:
        raise unknown_id(identifier, kind) from error
    entry = read_entry(path)
    if entry.get("__type__") == "artifact_link":
        entry = _catalog_object(str(entry.get("to")), kind)
    return {**entry, **overrides}
