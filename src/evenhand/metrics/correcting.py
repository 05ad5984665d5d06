"""Corrected scores in a recipe: the labels of people in a field of the task data, and the scores corrected by them.

The scores are those of :func:`evenhand.correct`, on the result that :func:`evenhand.from_results` would make.
"""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Union

from evenhand.by_name import results_of_run
from evenhand.data.cells import LabelReader, is_abstention
from evenhand.data.fields import field_of
from evenhand.data.plain import number_of
from evenhand.errors import InvalidInputError
from evenhand.labels.correct import DESIGNS, CorrectedScores, correct, notes_on
from evenhand.modes.mode import Mode, Subject
from evenhand.options import GoldOptions
from evenhand.results.measures import QuestionName, scores_of
from evenhand.results.results import Results
from evenhand.results.vote_columns import Cell

logger = logging.getLogger(__name__)

REPORTED = ("corrected", "labels", "labels_saved", "num_labelled")
"""The measures of a corrected score that a recipe does not yet have."""

Gold = tuple[Mapping[str, Any], ...]
"""The labels of an instance, one row each, as :func:`~evenhand.labels.people.read_gold` reads them."""


def options_of_labels(metric: Any) -> Union[GoldOptions, None]:
    """Return where a metric's labels are, and how the labelled instances were chosen; None if it takes no labels.

    Args:
        metric: With the fields of :class:`~evenhand.options.GoldOptions`.

    Raises:
        InvalidInputError: If the design is missing, or is given without labels.
    """
    options = GoldOptions(**{name: getattr(metric, name) for name in GoldOptions.model_fields})
    if options.gold_field is None:
        for name in ("gold_design", "gold_probability_field"):
            if (given := getattr(options, name)) is not None:
                raise InvalidInputError(f"{name} is {given!r}, and gold_field, the field with the labels, is not given")
        return None
    if options.gold_design is None:
        meant = "; ".join(f"{name!r}: {what}" for name, what in DESIGNS.items())
        raise InvalidInputError(
            f"gold_field is {options.gold_field!r}, and gold_design is not given: how the labelled instances were "
            f"chosen cannot be seen in the labels. {meant}"
        )
    return options


def labels_of(rows: Sequence[Mapping[str, Any]], options: GoldOptions) -> list[Gold]:
    """Read the labels of each row of task data.

    Raises:
        InvalidInputError: If a labelled row has no probability although a field for it is named.
    """
    found: list[Gold] = []
    for instance, row in enumerate(rows):
        given = field_of(row, str(options.gold_field), instance, "gold_field")
        about: dict[str, Any] = {"instance": instance}
        if given is None or is_abstention(given):
            found.append(())
            continue
        if (chance := options.gold_probability_field) is not None:
            about["probability"] = field_of(row, chance, instance, "gold_probability_field")
            if number_of(about["probability"]) is None:
                raise InvalidInputError(
                    f"the field {chance!r} of instance {instance}, which is labelled, is {about['probability']!r}; "
                    "give the probability with which it was drawn"
                )
        found.append(({**about, "label": given},))
    return found


def check_labels(
    options: GoldOptions,
    run: Mapping[str, Any],
    mode: Mode[Any],
    subjects: Sequence[Subject],
    gold: Sequence[Gold],
    *,
    seed: int,
) -> None:
    """Check, before the first call, that the scores can be corrected: with judges that all abstain.

    Args:
        options: The options for the labels.
        run: The metric's description of the run.
        mode: The way of judging.
        subjects: What is judged.
        gold: The labels of each subject.
        seed: Of draws.

    Raises:
        InvalidInputError: Labels that fit no question, or too few of them, or scores that people cannot give.
    """
    if len({id(about.judged) for about in subjects}) > 1:
        raise InvalidInputError(
            f"gold_field is {options.gold_field!r}, and the instances are judged by criteria of their own: a "
            "corrected score is about one; evaluate the instances of one criterion alone"
        )
    cells = []
    for about in subjects:
        votes = [[LabelReader(question.criterion).vote("abstaining judge", None)] for question in mode.questions(about)]
        for named, cast in mode.cells(about, mode.result(about, votes), 0):
            cells.append(Cell({"instance": about.instance, **named, "cluster": about.cluster}, tuple(cast)))
    _correct(results_of_run(run, cells), gold, options, seed)


def corrected_scores(
    options: GoldOptions,
    run: Mapping[str, Any],
    cells: Iterable[Cell],
    gold: Sequence[Gold],
    main: str,
    *,
    seed: int,
    with_intervals: bool,
) -> dict[str, Any]:
    """Return the corrected entries of the global scores; if the labels do not suffice, NaN and the reason.

    Args:
        options: The options for the labels.
        run: The metric's description of the run.
        cells: The votes.
        gold: The labels of each instance.
        main: The name of the main score.
        seed: Of draws.
        with_intervals: Give the limits of intervals too.
    """
    results = results_of_run(run, cells)
    try:
        found = _correct(results, gold, options, seed)
    except InvalidInputError as error:  # of a group of instances, which may have no labels; all were checked before
        logger.warning("%s_corrected is missing: %s", main, error)
        return {f"{main}_corrected": float("nan"), f"{main}_corrected_notes": [str(error)]}
    wholes = {each.criterion for each in results.outcomes() if each.part_of is None}
    entries: dict[str, Any] = {f"{main}_corrected_notes": [*notes_on(found.scores), *found.notes]}
    for score in found.scores:
        parts = [*([] if score.criterion in wholes else [score.criterion]), *filter(None, [score.option])]
        name = f"{score.system}_winrate" if results.kind == "winrates" else main
        named = "_".join([name, *(part.lower().replace(" ", "_") for part in parts)])
        entries |= scores_of(score, named, with_intervals=with_intervals, only=REPORTED)
    return entries


def _correct(results: Results, gold: Sequence[Gold], options: GoldOptions, seed: int) -> CorrectedScores:
    """Correct by the labels of each instance that is still there."""
    asked: dict[int, list[QuestionName]] = {}
    for cell in results.cells():
        name = results.question_name(cell)
        asked.setdefault(name[0], []).append(name)
    given = [row for own in gold for row in own if row["instance"] in asked]
    rows = [label for row in given for label in _rows(row, asked[row["instance"]], results.labelled_by)]
    return correct(results, rows, design=options.gold_design, seed=seed, label_field="label")


def _rows(label: Mapping[str, Any], asked: Sequence[QuestionName], parts: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield one label per row: a mapping or list is of several people about one question, or of one about several.

    Args:
        label: The instance, the content of its field, and the probability, if there is one.
        asked: The questions about the instance.
        parts: The columns that distinguish them.
    """
    given, several = label["label"], len(asked) > 1
    if isinstance(given, (list, tuple)) and given and all(isinstance(each, Mapping) for each in given):
        yield from ({**label, "label": None, **each} for each in given)
    elif isinstance(given, Mapping):
        column = parts[-1] if several else "annotator"
        yield from ({**label, column: str(part), "label": each} for part, each in given.items())
    elif isinstance(given, (list, tuple)) and several:
        if len(given) != len(asked):
            raise InvalidInputError(
                f"instance {label['instance']} has {len(given)} labels, and was asked {len(asked)} questions: give one "
                f"for each, or a mapping {parts[-1]} -> label"
            )
        for name, each in zip(asked, given, strict=True):
            yield {**label, **dict(zip(parts, name[1:], strict=True)), "label": each}
    elif isinstance(given, (list, tuple)):
        yield from ({**label, "annotator": str(place), "label": each} for place, each in enumerate(given))
    else:
        yield dict(label)
