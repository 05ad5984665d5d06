"""The formats that are known, and data in one of them as our own."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

from evenhand.data.formats.autochecklist import AUTOCHECKLIST
from evenhand.data.formats.autorubric import AUTORUBRIC
from evenhand.data.formats.benchmark_rubrics import HEALTHBENCH, PAPERBENCH, PROMETHEUS, WILDBENCH
from evenhand.data.formats.evalassist import EVALASSIST, UNITXT
from evenhand.data.formats.translation import Format, Translated, Value
from evenhand.errors import InvalidInputError, did_you_mean

FORMATS: Mapping[str, Format] = {
    each.name: each
    for each in (AUTORUBRIC, AUTOCHECKLIST, EVALASSIST, HEALTHBENCH, PAPERBENCH, PROMETHEUS, WILDBENCH, UNITXT)
}


class LeftOutWarning(UserWarning):
    """A file of another tool says what is not read with it."""


def format_of(data: object) -> Format | None:
    """The format of another tool that data are in; None where they are in none, or in our own."""
    return next((each for each in FORMATS.values() if each.fits(data)), None)


def translated(data: Any, what: str) -> Any:  # noqa: ANN401 - data may be anything
    """Data in the form of our own documents: those of another tool are translated, all others stay as they are.

    Warns (:class:`LeftOutWarning`) of what they say and is not read.
    """
    found = format_of(data)
    if found is None:
        return data
    read = found.read(data, what)
    if read.left_out:
        warnings.warn(f"{what} is {found.holds}; not read with it: {'; '.join(read.left_out)}", LeftOutWarning, 3)
    return read.data


def exported(value: Value, name: str) -> Translated:
    """A value in the format of another tool, and what it cannot say.

    Raises:
        InvalidInputError: If there is no such format, it holds no such value, or its score would be another one there.
    """
    if name not in FORMATS:
        raise InvalidInputError(f"there is no format {name!r}. {did_you_mean(name, FORMATS)}")
    return FORMATS[name].write(value)
