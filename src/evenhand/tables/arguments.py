"""What the functions of this package are told in the same words: judges, criteria, and the columns of the data."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from evenhand.criteria import Criterion
from evenhand.data.fields import REFERENCE_FIELDS, field_of, texts_of
from evenhand.data.plain_data import context_mapping
from evenhand.data.rows import Row
from evenhand.engines.base import JudgeEngine
from evenhand.engines.unitxt import as_judge
from evenhand.errors import InvalidInputError


def listed(given: object) -> list[object]:
    """One thing or a list of them, as a list."""
    return list(given) if isinstance(given, (list, tuple)) else [given]


def judges_of(engine: object) -> tuple[JudgeEngine, ...]:
    """The judge, or the judges of a panel.

    Raises:
        InvalidInputError: If there is none, or it is something else.
    """
    if engine is None:
        raise InvalidInputError(
            "no engine was given, and a judge has no default: give a catalog id such as "
            "'engines.evenhand.litellm[model=openai/gpt-4.1-mini]', an engine object, or, offline and without a model, "
            "'engines.evenhand.baseline'"
        )
    return tuple(as_judge(item) for item in listed(engine))


def names_of(criteria: Sequence[Criterion]) -> list[str]:
    """The names of the criteria, by which results tell them apart.

    Raises:
        InvalidInputError: If there is none, or two have one name.
    """
    names = [criterion.name for criterion in criteria]
    if not names or len(set(names)) < len(names):
        raise InvalidInputError(f"the criteria are named {names!r}; give at least one, each once")
    return names


def response_columns(response_field: str | Sequence[str]) -> tuple[str, ...]:
    """The columns with responses, each of which is a system.

    Raises:
        InvalidInputError: If there is none, or one twice, or something that is no name.
    """
    columns = (response_field,) if isinstance(response_field, str) else tuple(response_field or ())
    if not columns or len(set(columns)) < len(columns) or not all(isinstance(column, str) for column in columns):
        raise InvalidInputError(f"response_field is {response_field!r}; name at least one column, each once")
    return columns


def context_columns(context_fields: object) -> dict[str, str] | None:
    """Name shown -> column; None where what is judged says what is shown.

    Raises:
        InvalidInputError: If it is no column, list of columns or mapping.
    """
    if context_fields is None:
        return None
    if not isinstance(context_fields, (str, list, tuple, Mapping)):
        raise InvalidInputError(
            f"context_fields is {context_fields!r}; give a column, a list of columns, or name shown -> column"
        )
    return context_mapping(context_fields)


def reference_column(reference_field: str | None, row: Row, others: Collection[object] = ()) -> str | None:
    """The column with a known good answer: the one that is named, or ``reference`` where a row has it.

    Args:
        reference_field: As it was given.
        row: Of the data.
        others: Columns that hold something else, whatever they are called.
    """
    known_good = (name for name in sorted(REFERENCE_FIELDS) if name in row and name not in others)
    return reference_field or next(known_good, None)


def references_of(row: Row, reference_field: str | None, instance: int) -> tuple[str, ...]:
    """The known good answers of a row; none without a column for them."""
    if reference_field is None:
        return ()
    return texts_of(field_of(row, reference_field, instance, "reference_field"))


def check_gold_criteria(gold_fields: Mapping[str, str] | None, names: Sequence[str]) -> None:
    """Check that labels are named for what is judged.

    Raises:
        InvalidInputError: If they are for another criterion.
    """
    unknown = sorted(set(gold_fields or {}) - set(names))
    if unknown:
        raise InvalidInputError(f"gold_fields names the criteria {unknown!r}, which are not judged; judged: {names!r}")


def check_resamples(resamples: object) -> None:
    """Check how many draws an interval is made of.

    Raises:
        InvalidInputError: If it is no whole number from 1.
    """
    if isinstance(resamples, bool) or not isinstance(resamples, int) or resamples < 1:
        raise InvalidInputError(f"resamples is {resamples!r}; give a whole number from 1")
