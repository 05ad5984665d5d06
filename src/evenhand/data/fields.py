"""Reading a row of data: fields, contexts, texts, clusters, and the option of a criterion that a cell means.

The columns are named in the same words on every surface, and are checked here. A vote, a gold label or the label of an
example (:class:`LabelReader`) is read in this order:

1. **Nothing**: None, NaN, the missing values of pandas, and an empty text. It is missing, and neither the lowest nor
   the highest level. So are the texts ``None``, ``nan`` and ``null``, unless they are labels: unitxt writes a missing
   reference or prediction of a recipe so.
2. **A label**: compared as :func:`~evenhand.criteria.fold_label` does, without regard to case, white space and the
   form of Unicode. With an NA option, ``NA`` and ``N/A`` are it.
3. **A truth value** (True, False, or these words): the option called so, or Yes and No; of a binary criterion the
   option of the higher value and the other one. Where the two differ (Yes is worth 0), it is an error.
4. **A number** (a number of Python or numpy, or a text that shows one): the option whose *label* is that number (a
   grade of 1 to 5), or the one option that has it as its *value* (1 for Yes and 0 for No, wherever they stand in the
   list). All numbers of a column are of one kind: labels if all can be, else values. Where they can be both, and
   differ, they are labels if they are written as the labels are (``1`` or ``"1"`` for ``"1"``); else (1.0, which may
   be the label ``"1"`` or the value of ``"5"``) it is an error.

The *place* of an option (0 for the first) is what a number means only with ``as_index=True``; then every number is one.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from numbers import Integral
from statistics import median_high
from typing import Any, Final, Literal, cast

from evenhand.criteria import NA_LABELS, Checklist, Criterion, Option, Rubric, fold_label
from evenhand.data.plain import briefly, number_of, parse_cell, plain_cell
from evenhand.errors import EvenhandWarning, InvalidInputError, did_you_mean
from evenhand.numbers import format_count
from evenhand.question import Classifications
from evenhand.statistics.intervals import IntervalLevel
from evenhand.votes import Completion, Match, Verdict, Vote, is_missing, without_lone_surrogates


class LeftOutContextWarning(EvenhandWarning):
    """The context fields given leave out a field that the criterion is judged by."""


_NO_FIELD = object()
REFERENCE_FIELDS = frozenset({"reference", "references"})
CLASSIFICATION = "data_classification_policy"
"""The field of a row that holds its data classes, in unitxt and here."""
CONTEXT = "context"
"""The field that unitxt's judges show by default."""


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


def text_of(value: object, where: str = "a cell") -> str:
    """Return a value as the judge reads it: a text as it is, "" for a missing value, other data as JSON or their text.

    Args:
        value: The value of a cell.
        where: The name of the cell, for the message.

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
        is_data = isinstance(plain, (bool, int, float, list, tuple, Mapping))
        text = json.dumps(plain, ensure_ascii=False, default=_plain) if is_data else str(_plain(plain))
    except Exception as error:  # a user's type may raise any exception in __str__
        raise InvalidInputError(
            f"{where} holds a value of the type {type(value).__name__}, which has no text ({type(error).__name__}: "
            f"{error}); accepted: texts, numbers, truth values, dates, and lists and mappings of these"
        ) from error
    return without_lone_surrogates(text)


def _plain(value: object) -> object:
    """Return numpy's values as Python's, and others as text; a text that only gives a place in memory is refused."""
    plain = plain_cell(value)
    if plain is not value:
        return plain
    if isinstance(value, bytes):
        return value.decode("utf-8")
    if callable(value) or (type(value).__str__ is object.__str__ and type(value).__repr__ is object.__repr__):
        raise TypeError("it is an object of a program")
    return str(value)


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


def warn_of_left_out_context(judged: Criterion | Checklist | Rubric, fields: Mapping[str, str] | None) -> None:
    """Warn when the context fields given leave out what a criterion is judged by."""
    if fields:  # showing nothing is a decision
        shown = {*fields, *fields.values()}
        for criterion in judged.criteria if isinstance(judged, Rubric) else (judged,):
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


def name_in(row: Mapping[str, Any], number: int, column: str, setting: str, *, what: str = "row") -> str:
    """Return the name that a row has in a column, as :func:`name_of` reads it.

    Args:
        row: The row.
        number: The number of the row, for the message.
        column: The column.
        setting: The setting that names the column, for the message.
        what: The noun for a row in the message.

    Raises:
        InvalidInputError: If it has none.
    """
    value = field_of(row, column, number, setting)
    name = name_of(value)
    if not name:
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
    return (fields,) if isinstance(fields, str) else tuple(fields or ())


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

    Two rows are in one cluster if :func:`name_of` gives one name for both.

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


def clustered_level(
    level: float, clusters: Sequence[str | None], method: str = "auto", resamples: int = 1000, seed: int = 0
) -> IntervalLevel:
    """Return the level of intervals over rows with these clusters; all are None if rows are independent."""
    known = [cluster for cluster in clusters if cluster is not None]
    return IntervalLevel(level, known or None, method, resamples, seed)


def repeated_column(rows: Sequence[Mapping[str, Any]], apart: Collection[str] = ()) -> str | None:
    """Return the column that most plainly groups the rows; None if none does.

    A column groups the rows if its cells are long texts (80 characters or more at the median) with at least three
    different values, or texts or whole numbers with at least five different values under a name like that of an id or a
    document (``doc_id``, ``conversation``, ``user``), and not of a system or a rating; and if a value stands in two
    rows or more on average, and half of the rows share theirs with another row. Of several columns the one with the
    most values is returned.

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
        if column in apart or not all(isinstance(cell, str | Integral) for cell in cells):
            continue
        words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", str(column)).lower()
        is_long = median_high(len(cell) if isinstance(cell, str) else 0 for cell in cells) >= LONG_TEXT
        counts = Counter(cells)
        shared = sum(count for count in counts.values() if count > 1)
        fewest = 3 if is_long else FEWEST_VALUES
        is_named = _GROUPING.search(words) and not _CATEGORY.search(words)
        if (is_long or is_named) and fewest <= len(counts) <= len(cells) / 2 <= shared:
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


_TRUTH = {"true": True, "false": False}
_DIGITS = 9
"""The decimals in which numbers of cells and values of options are compared."""

NOT_ASKED = object()
"""The cell of a judge not asked about an instance: a row without the column, a list that is shorter than others, a
mapping that does not name the judge. It is neither a vote nor an abstention, and counts nowhere."""

Reading = Literal["label", "value", "index"]
"""The meaning of the numbers of a column."""

MOST_OUT_OF_SCALE: Final = 0.01
"""The share of a table's votes that may name no option."""


class OutOfScaleWarning(EvenhandWarning):
    """A few recorded votes name no option and are set aside."""


@dataclass(frozen=True, slots=True)
class OutOfScale:
    """A vote that names no option.

    Attributes:
        who: The beginning of a message: whose vote it is, and a verb.
        cell: The recorded value.
        refusal: The message of an error about it.
    """

    who: str
    cell: str
    refusal: str


def as_text(cell: object) -> str:
    """Return a cell as text; what is not a text in one short line."""
    return cell if isinstance(cell, str) else briefly(cell)


def set_aside(votes: Iterable[object]) -> None:
    """Warn of the votes of a table that are out of scale.

    Args:
        votes: All of the table; None for an abstention.

    Raises:
        InvalidInputError: If more than :data:`MOST_OUT_OF_SCALE` of them are.
    """
    cast = [vote for vote in votes if vote is not None]
    strange = [vote for vote in cast if isinstance(vote, OutOfScale)]
    if len(strange) > MOST_OUT_OF_SCALE * len(cast):
        raise InvalidInputError(strange[0].refusal)
    if strange:
        named = "; ".join(f"{each.who} {briefly(each.cell)}" for each in strange[:5])
        warnings.warn(
            f"{format_count(len(strange))} of {format_count(len(cast))} recorded votes name no option and are set "
            f"aside as unscored: {named}"
            f"{'; …' if len(strange) > 5 else ''}. Correct them, or leave them empty",
            OutOfScaleWarning,
            stacklevel=2,
        )


def is_abstention(vote: object) -> bool:
    """Return whether nothing was recorded: a missing value, or a text without content.

    >>> [is_abstention(vote) for vote in (None, float("nan"), " ", 0, False, "no")]
    [True, True, True, False, False, False]
    """
    return not vote.strip() if isinstance(vote, str) else is_missing(vote)


def is_text_for_nothing(vote: object) -> bool:
    """Return whether it is the text that Python or JSON makes of nothing.

    >>> [is_text_for_nothing(vote) for vote in ("None", "NaN", "null", None, "no")]
    [True, True, True, False, False]
    """
    return isinstance(vote, str) and fold_label(vote) in {"none", "nan", "null"}


@dataclass(frozen=True)
class LabelReader:
    """A reader of the option in a cell; the rule is that of this module.

    Attributes:
        criterion: Whose options are meant.
        as_index: Numbers are places of options.
    """

    criterion: Criterion
    as_index: bool = False

    @cached_property
    def places(self) -> Mapping[str, int]:
        """Folded label -> place."""
        found = {fold_label(label): place for place, label in enumerate(self.criterion.labels)}
        if self.criterion.na_index is not None:
            for label in (*NA_LABELS, "NA"):
                found.setdefault(fold_label(label), self.criterion.na_index)
        return found

    @cached_property
    def numbers(self) -> Mapping[Reading, Mapping[float, int | None]]:
        """Reading -> number -> place of its option; None for a value that several options share."""
        options = list(enumerate(self.criterion.options))
        labels = [(number_of(option.label), place) for place, option in options]
        values: dict[float, int | None] = {}
        for place, option in options:
            if option.value is not None:
                number = round(option.value, _DIGITS)
                values[number] = None if number in values else place
        return {
            "label": {number: place for number, place in reversed(labels) if number is not None},
            "value": values,
            "index": {float(place): place for place, _ in options},
        }

    def index_of(self, cell: object, who: str) -> int | None:
        """Return the option that a single cell says, as in a column of its own; see :meth:`read`."""
        return self.read([cell], lambda _: who)[0]

    def read(self, cells: Sequence[object], who: Callable[[int], str]) -> tuple[int | None, ...]:
        """Return the option that each cell of a column says, as :meth:`read_most`; refuse a cell that says none."""
        found: list[int | None] = []
        for index in self.read_most(cells, who):
            if isinstance(index, OutOfScale):
                raise InvalidInputError(index.refusal)
            found.append(index)
        return tuple(found)

    def read_most(self, cells: Sequence[object], who: Callable[[int], str]) -> tuple[int | OutOfScale | None, ...]:
        """Return the option that each cell of a column says; None if it says nothing.

        Args:
            cells: As they were recorded.
            who: Place in the column -> the beginning of a message about it: whose label it is, and a verb.

        Raises:
            InvalidInputError: If a cell may mean two options.
        """
        given = [plain_cell(cell) for cell in cells]
        reading = self.reading(given, who)
        return tuple(self._option_of(cell, reading, who, place) for place, cell in enumerate(given))

    def reading(self, cells: Sequence[object], who: Callable[[int], str]) -> Reading:
        """Return what the numbers of a column are.

        Raises:
            InvalidInputError: If they can be two things.
        """
        if self.as_index:
            return "index"
        labels, values = self.numbers["label"], self.numbers["value"]
        numbers = [(place, _rounded(cell)) for place, cell in enumerate(cells)]
        known = [(place, number) for place, number in numbers if number in labels or number in values]
        are_labels = all(number in labels for _, number in known)
        are_values = all(values.get(number) is not None for _, number in known)
        if not labels or (are_values and not are_labels):
            return "value"
        for place, number in known if are_values else ():
            label, value = (self.criterion.labels[found[number] or 0] for found in (labels, values))
            if label != value and fold_label(str(cells[place])) not in self.places:
                raise InvalidInputError(
                    f"{who(place)} {cells[place]!r}, which may mean the label {label!r} of {self.criterion.name!r}, or "
                    f"the value {number:g} of the option {value!r}: write the labels as the criterion does"
                )
        return "label"

    def vote(self, judge: str, index: int | OutOfScale | None) -> Vote:
        """Return the vote of a judge for an option; an abstention where there is none."""
        about: dict[str, Any] = {"judge_id": judge, "order": tuple(range(len(self.criterion.options)))}
        if index is None:
            return Vote(**about, unscored_reason="abstained")
        if isinstance(index, OutOfScale):
            match = Match(index=None, kind="none", reason="no_match")
            return Vote(**about, unscored_reason="no_match", match=match, completion=Completion(text=index.cell))
        option = self.criterion.options[index]
        return Vote(**about, selected_index=index, selected_label=option.label, value=option.value, na=option.na)

    def _option_of(
        self, cell: object, reading: Reading, who: Callable[[int], str], place: int
    ) -> int | OutOfScale | None:
        if is_abstention(cell):
            return None
        number, folded, found = _rounded(cell), fold_label(as_text(cell)), None
        if isinstance(cell, str) and (math.isnan(number) or reading == "label"):
            found = self.places.get(folded)
        if found is None:
            found = self.numbers[reading].get(number)
        if found is None and folded in _TRUTH:
            found = self._option_of_truth(_TRUTH[folded], f"{who(place)} {briefly(cell)}")
        if found is None and not is_text_for_nothing(cell):
            return OutOfScale(who(place), as_text(cell), self._refusal(cell, who(place)))
        return found

    def _option_of_truth(self, truth: bool, cell: str) -> int | None:
        options = self.criterion.options
        named = next(
            (self.places[word] for word in (("true", "yes") if truth else ("false", "no")) if word in self.places), None
        )
        if self.criterion.scale != "binary" or not self.criterion.has_values:
            return named
        scored = [place for place, option in enumerate(options) if not option.na]
        valued = sorted(scored, key=lambda place: options[place].value or 0.0)[-1 if truth else 0]
        if named is not None and named != valued:
            raise InvalidInputError(
                f"{cell}, which may mean the answer {options[named].label!r} of {self.criterion.name!r}, or that it is "
                f"{'met' if truth else 'not met'}, which is {options[valued].label!r}: give labels"
            )
        return valued

    def _refusal(self, cell: object, who: str) -> str:
        options = self.criterion.options
        values = [f"{option.value:g} = {option.label}" for option in options if option.value is not None]
        number = "a number is a label, or the value of one option"
        meant = f"{number} ({', '.join(values) or 'these have none'}); as_index=True (--as-index) reads it as a place"
        if self.as_index:
            meant = f"a number is an index 0 … {len(options) - 1}"
        hint = did_you_mean(as_text(cell), self.criterion.labels)[:-1]
        none = f"which is not an option of {self.criterion.name!r}"
        return f"{who} {briefly(cell)}, {none}. {hint}; {meant}; None for an abstention"


def _rounded(cell: object) -> float:
    """Return the number that a cell shows, as values are compared; NaN for anything else."""
    number = number_of(cell)
    return math.nan if number is None else round(number, _DIGITS)


YES_OR_NO = Criterion(
    name="votes",
    description="Is it so?",
    options=(Option(label="No", value=0.0), Option(label="Yes", value=1.0)),
    scale="binary",
)
"""The default criterion of binary votes."""

NO_VERDICT = Verdict(unscored_reason="not_asked")
"""The verdict on an instance for which no vote and no abstention is recorded."""


def weights_by_judge(
    weights: Mapping[str, float] | Sequence[float] | None, judges: Sequence[str]
) -> dict[str, float] | None:
    """Name the weights of judges; None for none.

    Args:
        weights: Judge -> weight, or one weight per judge in their order.
        judges: Who voted.

    Raises:
        InvalidInputError: If they are not one per judge, or name another judge.
    """
    if weights is None:
        return None
    if isinstance(weights, Mapping):
        if unknown := [judge for judge in weights if judge not in judges]:
            raise InvalidInputError(f"the weights name {unknown!r}, who did not vote; the judges are {judges!r}")
        return dict(weights)
    if len(weights) != len(judges):
        raise InvalidInputError(f"there are {len(weights)} weights for the judges {judges!r}; give one per judge")
    return dict(zip(judges, weights, strict=True))


VoteColumns = Mapping[str, Sequence[object]]
"""Judge or person -> one cell per instance, as recorded; `NOT_ASKED` where a row has no entry for them."""


def cells_of(rows: Sequence[Mapping[str, Any]], column: str, setting: str) -> list[Any]:
    """Return the cells of a column, nested or not; `NOT_ASKED` where a row lacks it.

    Raises:
        InvalidInputError: If all rows lack it.
    """
    cells = [field_or(row, column, NOT_ASKED) for row in rows]
    if all(cell is NOT_ASKED for cell in cells):
        known = list(dict.fromkeys(key for row in rows for key in row))
        raise InvalidInputError(
            f"{setting} names the column {column!r}, which no row has. {did_you_mean(column, known)}"
        )
    return cells


def columns_of(
    rows: Sequence[Mapping[str, Any]], names: str | Sequence[str], what: str, *, within: bool = True
) -> VoteColumns:
    """Return the columns of a data set that hold votes.

    A single column whose cells are lists or mappings stands for one judge per entry: ``votes_0``, ``votes_1``, …, or
    as the mapping names them. A text that holds a list or a mapping, as JSON or as Python writes it, is read as what it
    holds: unitxt's default post-processor makes such texts of predictions.

    Args:
        rows: Of the data set.
        names: One column or several.
        what: The parameter that named them, for the message.
        within: Whether a cell may hold the votes of several.

    Raises:
        InvalidInputError: No such column, one named twice, or a cell with one vote where others hold several.
    """
    columns = {name: [*map(plain_cell, cells_of(rows, name, what))] for name in check_names(names, what)}
    if not within or len(columns) > 1:
        return columns
    ((column, cells),) = columns.items()
    given = [parse_cell(cell, f"instance {row}") for row, cell in enumerate(cells)]
    if not any(isinstance(each, list | tuple | Mapping) for each in given):
        return columns
    votes: list[dict[str, object]] = []
    for row, each in enumerate(given):
        named = {} if each is NOT_ASKED or is_abstention(each) else each
        if isinstance(named, list | tuple):
            named = {f"{column}_{place}": vote for place, vote in enumerate(named)}
        if not isinstance(named, Mapping):
            raise InvalidInputError(
                f"instance {row}: the recorded votes are {each!r}; give a list with one vote per judge, or a mapping "
                "judge -> vote"
            )
        votes.append({str(judge): vote for judge, vote in named.items()})
    judges = dict.fromkeys(judge for own in votes for judge in own)
    return {judge: [own.get(judge, NOT_ASKED) for own in votes] for judge in judges}


def categories_of(columns: Mapping[str, Iterable[object]]) -> Criterion:
    """Return the nominal criterion whose options are the labels that occur, for votes without a criterion.

    A number is written as a whole one where it is: a column of whole numbers with a gap holds floats.

    Args:
        columns: Name of a judge or person -> cells.

    Raises:
        InvalidInputError: If fewer than two labels occur, or two columns have no label in common and write theirs in
            other ways: numbers, words, truth values.
    """
    occurring: dict[str, dict[str, str]] = {}
    ways: dict[str, set[str]] = {}
    for name, cells in columns.items():
        labels: dict[str, str] = {}
        for cell in cells:
            if not is_abstention(cell) and not is_text_for_nothing(cell):
                number = number_of(cell)
                label = str(cell).strip() if number is None or not number.is_integer() else str(int(number))
                labels.setdefault(fold_label(label), label)
        occurring[name] = labels
        ways[name] = {"truth" if each in _TRUTH else "word" if number_of(each) is None else "number" for each in labels}
    for one, other in combinations(occurring, 2):
        mine, theirs = occurring[one], occurring[other]
        if mine and theirs and mine.keys().isdisjoint(theirs) and ways[one].isdisjoint(ways[other]):
            raise InvalidInputError(
                f"{one!r} holds {list(mine.values())!r} and {other!r} {list(theirs.values())!r}, with no label in "
                "common: give criteria with these labels and their values, which say which of them mean the same"
            )
    labels = {folded: label for own in reversed(occurring.values()) for folded, label in own.items()}
    if len(labels) < 2:
        raise InvalidInputError(
            f"without criteria the options are the labels that occur, and only {list(labels.values())!r} did; give "
            "criteria, which say what could have been chosen"
        )
    options = tuple(Option(label=labels[folded]) for folded in sorted(labels))
    return Criterion(name="votes", description="", options=options, scale="nominal")
