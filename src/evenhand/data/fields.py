"""Reading a row of data: fields, contexts, texts, and the cluster of the row.

The columns that hold it are named in the same words on every surface, and are checked here.
"""

from __future__ import annotations

import json
import re
import unicodedata
import warnings
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from numbers import Integral
from statistics import median_high
from typing import Any, cast

from evenhand.criteria import Checklist, Criterion
from evenhand.data.plain import briefly, number_of, parse_cell, plain_cell
from evenhand.errors import EvenhandWarning, InvalidInputError, did_you_mean
from evenhand.question import Classifications
from evenhand.statistics.intervals import IntervalLevel
from evenhand.votes import is_missing, without_lone_surrogates


class LeftOutContextWarning(EvenhandWarning):
    """The context fields given leave out a field that the criterion is judged by."""


_NO_FIELD = object()
REFERENCE_FIELDS = frozenset({"reference", "references"})
CLASSIFICATION = "data_classification_policy"
"""The field of a row that holds its data classes, in unitxt and here."""
CONTEXT = "context"
"""The field that unitxt's judges show by default."""


def key_of(given: object, where: str) -> str:
    """Return the text by which equal cells are recognised."""
    try:
        return repr(given)
    except Exception as error:  # as for a text
        raise _no_text(given, where, error) from error


def _no_text(value: object, where: str, error: Exception) -> InvalidInputError:
    return InvalidInputError(
        f"{where} holds a value of the type {type(value).__name__}, which has no text ({type(error).__name__}: "
        f"{error}); accepted: texts, numbers, truth values, dates, and lists and mappings of these"
    )


def field_of(row: Mapping[str, Any], field: str, instance: int, setting: str) -> Any:  # noqa: ANN401 - data may be anything
    """Return a field of a row; ``a/b`` and ``a.b`` reach into a nested one when there is no field of that name.

    A number reaches into a list: ``resps/0``.

    Args:
        row: The row.
        field: The field's name.
        instance: The row's index, for the message.
        setting: The setting that names the field, for the message.

    Raises:
        InvalidInputError: If the row has no such field, or the name is not a text.
    """
    value = field_or(row, field, _NO_FIELD)
    if value is _NO_FIELD:
        raise InvalidInputError(
            f"instance {instance} has no field {field!r}, which {setting} names. {did_you_mean(field, row)}"
        )
    return value


def field_or(row: Mapping[str, Any], field: str, default: object = None) -> Any:  # noqa: ANN401 - as above
    """Return a field of a row as :func:`field_of` finds it; ``default`` where there is none.

    >>> row = {"meta": {"id": 3}, "a.b": 1, "resps": ["yes"]}
    >>> [field_or(row, name) for name in ("meta/id", "meta.id", "a.b", "resps/0", "resps/1", "meta.no")]
    [3, 3, 1, 'yes', None, None]
    """
    value: Any = row
    for part in [field] if field in row else re.split(r"/" if "/" in field else r"\.", field):
        if isinstance(value, Mapping) and part in value:
            value = value[part]
        elif isinstance(value, (list, tuple)) and part.isdecimal() and int(part) < len(value):
            value = value[int(part)]
        else:
            return default
    return value


def column_of(rows: Sequence[Mapping[str, Any]], field: str, default: object) -> list[Any]:
    """Return a column as :func:`field_of` finds it: that of this very name if any row has one, else a nested one.

    Args:
        rows: The data.
        field: The column's name.
        default: The cell of a row without it.
    """
    if any(field in row for row in rows):
        return [row.get(field, default) for row in rows]
    return [field_or(row, field, default) for row in rows]


def text_of(value: object, where: str = "a cell") -> str:
    """Return a value as the judge reads it: a text as it is, "" for a missing value, other data as JSON or their text.

    Args:
        value: Of a row.
        where: It stands, for the message.

    Raises:
        InvalidInputError: If it has no text: bytes that are not UTF-8, an object of a program, or data that
            contain themselves.

    >>> import datetime, numpy
    >>> text_of(["é", 1]), text_of(numpy.int64(2)), text_of(datetime.date(2025, 1, 2))
    ('["é", 1]', '2', '2025-01-02')
    """
    if is_missing(value):
        return ""
    plain = plain_cell(value)
    try:
        as_it_is = not isinstance(plain, (bool, int, float, list, tuple, Mapping))
        text = _own_text(plain) if as_it_is else json.dumps(plain, ensure_ascii=False, default=_plain_within)
    except Exception as error:  # a user's type may raise any exception in __str__
        raise _no_text(value, where, error) from error
    return without_lone_surrogates(text)


def _own_text(value: object) -> str:
    """Return the text of a value that is not data; a text that only gives a place in memory is refused."""
    if isinstance(value, bytes):
        return value.decode("utf-8")
    if callable(value) or (type(value).__str__ is object.__str__ and type(value).__repr__ is object.__repr__):
        raise TypeError("it is an object of a program")
    return str(value)


def _plain_within(value: object) -> object:
    plain = plain_cell(value)
    return _own_text(plain) if plain is value else plain


def cell_name(field: str, instance: int) -> str:
    """Return what messages call a cell."""
    return f"the field {field!r} of instance {instance}"


def name_of(value: object) -> str:
    """Return the name of a prompt, a system or a cluster, by which rows are brought together; empty for nothing.

    It is the text that stands there, without white space around it and in one form of Unicode; case counts. A whole
    number is one name whether it was read as 2, as 2.0 (as pandas reads a column with a gap) or as the text ``"2"``;
    the texts ``"2.0"`` and ``"02"`` are names of their own.

    >>> [name_of(value) for value in (2, 2.0, "2", " 2", 2.5, "2.0", "p-2", None)]
    ['2', '2', '2', '2', '2.5', '2.0', 'p-2', '']
    """
    whole = not isinstance(value, str) and (number := number_of(value)) is not None and number.is_integer()
    return unicodedata.normalize("NFC", str(int(cast("int", value))) if whole else text_of(value)).strip()


def texts_of(value: object, where: str = "a cell") -> tuple[str, ...]:
    """Return one text per item of a list, one for any other value, none for a missing one; see :func:`text_of`."""
    items = value if isinstance(value, (list, tuple)) else [value]
    return tuple(text_of(item, where) for item in items if not is_missing(item))


def context_of(
    row: Mapping[str, Any],
    fields: Mapping[str, str] | None,
    criterion: Criterion | Checklist,
    instance: int,
    references: Sequence[str] = (),
) -> dict[str, str]:
    """Return what the judge is shown next to the response: name shown -> text.

    A field called ``reference`` or ``references`` that the row lacks is filled from the instance's references, and one
    that holds a list shows its items one below the other.

    Args:
        row: The data.
        fields: Name shown -> field; None for the criterion's own context fields.
        criterion: What the context is for.
        instance: The row's index, for messages.
        references: Known good answers.

    Raises:
        InvalidInputError: If the row lacks any other field.
    """
    setting = "context_fields"
    if fields is None:
        fields = criterion.context_fields
        how = "map it with context_fields={name: your field}, in the shell --context-fields NAME=FIELD"
        setting = f"the {type(criterion).__name__.lower()} {criterion.name!r} ({how})"
    context = {}
    for name, field in fields.items():
        if field in REFERENCE_FIELDS and field not in row and references:
            context[name] = "\n\n".join(references)
            continue
        value, where = field_of(row, field, instance, setting), cell_name(field, instance)
        context[name] = "\n\n".join(texts_of(value, where)) if field in REFERENCE_FIELDS else text_of(value, where)
    return context


def recipe_context_fields(
    row: Mapping[str, Any], criterion: Criterion | Checklist, *, with_context: bool = True
) -> dict[str, str] | None:
    """Return what a recipe without context fields shows: the row's ``context``, and what the criterion names.

    unitxt's judges (1.26.10) show the row's ``context`` for every criterion, and look at the criterion's own
    fields only where the metric's are set to nothing. So their context is always part of this one, and all of it for
    the 34 criteria of unitxt's catalog that name no field. A field that a criterion names is also shown, for it is
    what the criterion is judged by; where the row has a ``context`` and lacks such a field, it is left out as in
    unitxt, with a `LeftOutContextWarning`.

    Args:
        row: The data.
        criterion: What the context is for.
        with_context: Whether the metric's fields were left as they are by default; else they were set to nothing.

    Returns:
        Name shown -> field; None for all that the criterion names, whether the row has it or not.

    >>> from evenhand.criteria import yes_no_criterion
    >>> plain = yes_no_criterion("clear", "Is it clear?")
    >>> recipe_context_fields({"context": "c", "question": "q"}, plain), recipe_context_fields({"question": "q"}, plain)
    ({'context': 'context'}, None)
    """
    own = dict(criterion.context_fields)
    if with_context and (CONTEXT not in row or CONTEXT in own or CONTEXT in own.values()):
        return None
    present = {
        name: field
        for name, field in own.items()
        if field in REFERENCE_FIELDS or field_or(row, field, _NO_FIELD) is not _NO_FIELD
    }
    if not with_context:
        return present
    _warn_of_left_out(criterion, [name for name in own if name not in present], "the data do not have", 5)
    return {CONTEXT: CONTEXT, **present}


def warn_of_left_out_context(criterion: Criterion | Checklist, fields: Mapping[str, str] | None) -> None:
    """Warn when the context fields given leave out what the criterion is judged by."""
    if fields:  # showing nothing is a decision
        shown = {*fields, *fields.values()}
        own = criterion.context_fields.items()
        left_out = [name for name, field in own if name not in shown and field not in shown]
        _warn_of_left_out(criterion, left_out, f"context_fields={dict(fields)!r} leaves out", 4)


def _warn_of_left_out(criterion: Criterion | Checklist, fields: Sequence[str], why: str, level: int) -> None:
    if fields:
        warnings.warn(
            f"the {type(criterion).__name__.lower()} {criterion.name!r} is judged by {fields!r}, which {why}, so the "
            "judge does not see it: map it with context_fields={name: your field}",
            LeftOutContextWarning,
            stacklevel=level,
        )


def name_in(
    row: Mapping[str, Any], number: int, column: str, setting: str, *, allow_none: bool = False, what: str = "row"
) -> str:
    """Return the name that a row has in a column, as :func:`name_of` reads it.

    Args:
        row: The row.
        number: The number of the row, for the message.
        column: The column.
        setting: The setting that names the column, for the message.
        allow_none: Return an empty name where there is none.
        what: The noun for a row in the message.

    Raises:
        InvalidInputError: If it has none, and needs one.
    """
    value = field_of(row, column, number, setting)
    name = name_of(value)
    if not name and not allow_none:
        raise cell_error(number, column, value, f"every {what} needs a name there", setting=setting, what=what)
    return name


def row_groups(rows: Sequence[Mapping[str, Any]], fields: str | Sequence[str] | None) -> dict[str, Any]:
    """Return ``groups``, column -> one name per row, as a result repeats them; empty without group columns.

    Args:
        rows: The data.
        fields: One column or several (``group_fields``), or None. A row without a value is of no group (None).

    Raises:
        InvalidInputError: A column that a row lacks.

    >>> row_groups([{"topic": "law"}, {"topic": None}], "topic")
    {'groups': {'topic': ['law', None]}}
    """
    return named_groups(
        {
            column: [field_of(row, column, number, "group_fields") for number, row in enumerate(rows)]
            for column in group_columns(fields)
        }
    )


def group_columns(fields: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return the columns that ``group_fields`` names; none for None."""
    return () if fields is None else (fields,) if isinstance(fields, str) else tuple(fields)


def named_groups(cells: Mapping[str, Sequence[object]]) -> dict[str, Any]:
    """Return ``groups``, column -> one name per row, as a result repeats them; empty if there are no columns."""
    found = {column: [name_of(cell) or None for cell in own] for column, own in cells.items()}
    return {"groups": found} if found else {}


def classifications_of(row: Mapping[str, Any], instance: int) -> Classifications:
    """Return the classifications in a row's column ``data_classification_policy``; empty if there are none.

    Raises:
        InvalidInputError: If the column holds neither a text nor a list of texts.

    >>> classifications_of({"data_classification_policy": "pii"}, 0), classifications_of({}, 0)
    ((('pii',),), ())
    """
    given = row.get(CLASSIFICATION)
    held = parse_cell(given, f"instance {instance}")
    if is_missing(held) or (isinstance(held, (str, list, tuple)) and not held):
        return ()
    classes = [held] if isinstance(held, str) else held
    if not isinstance(classes, (list, tuple)) or not all(isinstance(each, str) and each.strip() for each in classes):
        raise InvalidInputError(
            f"instance {instance} has {briefly(given)} in {CLASSIFICATION!r}, which says who may see the row; "
            "accepted: a class of data such as 'pii', or a list of classes; an engine must allow one of them"
        )
    return (tuple(each.strip() for each in classes),)


class RepeatedColumnWarning(EvenhandWarning):
    """A column of the data groups its rows, and no option says whether rows of a group depend on each other."""


FEWEST_ROWS = 10
"""The least number of rows in which a column can be seen to group them."""

FEWEST_VALUES = 5
"""A column with fewer values is a category, unless its cells are long texts."""

LONG_TEXT = 80
"""The characters of the shortest text that is not a category."""

_GROUPING = re.compile(
    r"(^|[^a-z])((uu)?id|url|doc|document|conversation|dialog(ue)?|session|thread|user|participant|patient|author|"
    r"article|passage|paragraph|story|prompt|template|question|cluster|parent)s?($|[^a-z])"
)
_CATEGORY = re.compile(
    r"(^|[^a-z])(system|model|judge|rater|annotator|engine|label|class|category|criteri(on|a)|rubric|checklist|split|"
    r"language|type|gold|rating|score|vote|answer|response|prediction|option)s?($|[^a-z])"
)


def read_clusters(
    rows: Sequence[Mapping[str, Any]],
    field: str | bool | None,
    *,
    apart: Collection[str] = (),
    what: str = "row",
) -> tuple[str | None, ...]:
    """Return the cluster of each row, as text; all are None if rows do not belong together.

    Two rows are of one cluster if it has one name: see :func:`~evenhand.data.fields.name_of`.

    Args:
        rows: The data.
        field: The column that names the clusters; False where rows do not depend on each other. With None a column
            that plainly repeats is warned of: see :func:`repeated_column`.
        apart: Columns that are not looked at for that: those with responses, votes and labels.
        what: The noun for a row in messages.

    Raises:
        InvalidInputError: A row without a value in it.
    """
    if not isinstance(field, str):
        column = repeated_column(rows, apart) if field is None else None
        if column is not None:
            warnings.warn(
                f"the column {column!r} has {len({row[column] for row in rows})} values in {len(rows)} rows. If rows "
                f"with the same value depend on each other, intervals that do not know it are too narrow: name the "
                f"column with cluster_field={column!r} (in the shell --cluster-field {column}), or say that rows are "
                "independent with cluster_field=False (--cluster-field false)",
                RepeatedColumnWarning,
                stacklevel=3,
            )
        return (None,) * len(rows)
    return tuple(name_in(row, number, field, "cluster_field", what=what) for number, row in enumerate(rows))


def clustered_level(level: float, clusters: Sequence[str | None], method: str = "auto") -> IntervalLevel:
    """Return the level of intervals over rows with these clusters; all are None if rows are independent."""
    known = [cluster for cluster in clusters if cluster is not None]
    return IntervalLevel(level, known or None, method)


def repeated_column(rows: Sequence[Mapping[str, Any]], apart: Collection[str] = ()) -> str | None:
    """Return the column that most plainly groups the rows; None if none does.

    A column groups the rows if its cells are long texts (80 characters or more at the median) with at least three
    different values, or texts or whole numbers with at least five different values under a name like that of an id or a
    document (``doc_id``, ``conversation``, ``user``); and if a value stands in two rows or more on average, and half of
    the rows share theirs with another row. Constant columns, categories, labels, and columns named like a system or a
    rating do not count. Of several columns the one with the most values is returned.

    Args:
        rows: The data; fewer than 10 rows are too few.
        apart: Columns that are not looked at.

    >>> pages = [{"doc_id": number // 4, "answer": "yes", "grade": number % 3} for number in range(40)]
    >>> repeated_column(pages), repeated_column([{**row, "doc_id": 7} for row in pages])
    ('doc_id', None)
    """
    found = {}
    for column in rows[0] if len(rows) >= FEWEST_ROWS else ():
        cells = [row.get(column) for row in rows]
        if column in apart or any(isinstance(cell, bool) or not isinstance(cell, str | Integral) for cell in cells):
            continue
        words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", str(column)).lower()
        is_named = _GROUPING.search(words) and not _CATEGORY.search(words)
        lengths = [len(cell) for cell in cells if isinstance(cell, str)]
        is_long = len(lengths) == len(cells) and median_high(lengths) >= LONG_TEXT
        counts = Counter(cells)
        shared = sum(count for count in counts.values() if count > 1)
        if (is_long or is_named) and (3 if is_long else FEWEST_VALUES) <= len(counts) <= len(cells) / 2 <= shared:
            found[column] = len(counts)
    return max(found, key=lambda column: found[column], default=None)


def check_names(given: object, setting: str, least: int = 1) -> tuple[str, ...]:
    """Return the names in a setting: one text, or several.

    Args:
        given: What was given.
        setting: Its name, for the message.
        least: The least number of names.

    Raises:
        InvalidInputError: If a name is missing or repeated, or a value that is not a text.
    """
    named = (given,) if isinstance(given, str) else tuple(given) if isinstance(given, Iterable) else ()
    names = tuple(name for name in named if isinstance(name, str))
    if len(named) < least or len(names) < len(named) or len(set(names)) < len(names):
        raise InvalidInputError(f"{setting} is {given!r}; name at least {least}, each once")
    return names


def cell_error(
    number: int, column: str, value: object, advice: str, *, setting: str = "", what: str = "row"
) -> InvalidInputError:
    """Return the error of a cell that cannot be used.

    Args:
        number: The number of the row.
        column: The column.
        value: The cell.
        advice: What would be accepted.
        setting: The setting that names the column, if one does.
        what: The noun for a row.
    """
    named = f", which {setting} names" if setting else ""
    return InvalidInputError(f"{what} {number} has {briefly(value)} in {column!r}{named}: {advice}")


def reference_column(
    reference_field: str | None, row: Mapping[str, Any], others: Collection[object] = ()
) -> str | None:
    """Return the column with a known good answer: the one that is named, or ``reference`` where a row has it.

    Args:
        reference_field: The field as given.
        row: Of the data.
        others: Columns with another meaning.
    """
    known_good = (name for name in sorted(REFERENCE_FIELDS) if name in row and name not in others)
    return next(known_good, None) if reference_field is None else reference_field


def references_of(row: Mapping[str, Any], reference_field: str | None, instance: int) -> tuple[str, ...]:
    """Return the known good answers of a row; none without a column for them."""
    if reference_field is None:
        return ()
    return texts_of(field_of(row, reference_field, instance, "reference_field"), cell_name(reference_field, instance))


def check_label_columns(columns: object, names: Sequence[str], setting: str) -> None:
    """Check that a setting names columns of labels for what is judged.

    Args:
        columns: Name of a criterion or item -> column; None for none.
        names: Of what is judged.
        setting: The setting, for the message.

    Raises:
        InvalidInputError: If it names something else, or is not a mapping.
    """
    if columns is not None and not isinstance(columns, Mapping):
        raise InvalidInputError(
            f"{setting} is {columns!r}; give the column of each criterion, as "
            f"{{{next(iter(names), 'criterion')!r}: {columns if isinstance(columns, str) else 'column'!r}}}"
        )
    for name in columns or ():
        if name not in names:
            raise InvalidInputError(f"{setting} names {name!r}, which is not judged. {did_you_mean(name, names)}")
