"""The modes by their names: those of evenhand, of installed packages, and of the user."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import entry_points
from typing import Any, Final

from evenhand.errors import InvalidInputError, did_you_mean
from evenhand.modes.best_of import BestOfMode
from evenhand.modes.checklist import ChecklistMode
from evenhand.modes.grade_scores import GradeMode
from evenhand.modes.judgements import DirectMode, RubricMode
from evenhand.modes.mode import Mode
from evenhand.modes.winrates import WinratesMode

MODES: Final[Mapping[str, type[Mode[Any]]]] = {
    mode.kind: mode for mode in (BestOfMode, ChecklistMode, DirectMode, GradeMode, WinratesMode, RubricMode)
}


def find_mode(given: object) -> type[Mode[Any]]:
    """Return the class of a mode, by itself or by its ``kind``.

    The modes of evenhand are known, those of installed packages that name them as entry points of the group
    ``evenhand.modes``, and all whose classes have been imported.

    Raises:
        InvalidInputError: If there is no such mode.
    """
    if isinstance(given, type) and issubclass(given, Mode):
        return given
    if given not in (known := _known_modes()):
        for entry in entry_points(group="evenhand.modes"):
            entry.load()
        known = _known_modes()
    if given not in known:
        raise InvalidInputError(
            f"the mode is {given!r}. {did_you_mean(given, sorted(known))} A mode of your own is known when the module "
            "that defines its class has been imported"
        )
    return known[str(given)]


def _known_modes() -> dict[str, type[Mode[Any]]]:
    found: list[type[Any]] = [Mode]
    for mode in found:  # the list grows by the subclasses of each
        found += mode.__subclasses__()
    return {**{mode.kind: mode for mode in found if hasattr(mode, "kind")}, **MODES}
