"""Corrected scores in a recipe: what a field of the task data says that people say, and the scores by it.

The scores are those of :func:`evenhand.correct`, on the result that :func:`evenhand.from_results` would make.
"""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Union

from evenhand.by_name import results_of_run
from evenhand.data.cells import is_abstention, number_of
from evenhand.data.fields import field_of
from evenhand.data.recorded_columns import VoteReader
from evenhand.errors import InvalidInputError
from evenhand.labels.correct import DESIGNS, CorrectedMean, CorrectedScores, correct, worth
from evenhand.metrics.base_metric import score_name_of
from evenhand.modes.mode import Mode, Subject
from evenhand.options import Design, GoldOptions
from evenhand.results.measures import QuestionName, scores_of
from evenhand.results.results import Results
from evenhand.results.vote_columns import Cell

logger = logging.getLogger(__name__)

REPORTED = ("corrected", "labels", "labels_saved", "num_labelled")
"""What of a corrected score is one of a recipe; the rest is there already."""

Gold = tuple[Mapping[str, Any], ...]
"""The labels of an instance, a row each, as :func:`~evenhand.labels.people.read_gold` reads them."""


def check_gold_fields(fields: GoldOptions) -> None:
    """Check that it is said how labelled instances were chosen, and nothing of labels that are not given.

    Raises:
        InvalidInputError: If not.
    """
    if fields.gold_field is None:
        for name in ("gold_design", "gold_probability_field"):
            if (given := getattr(fields, name)) is not None:
                raise InvalidInputError(f"{name} is {given!r}, and gold_field, the field with the labels, is not given")
    elif fields.gold_design is None:
        meant = "; ".join(f"{name!r}: {what}" for name, what in DESIGNS.items())
        raise InvalidInputError(
            f"gold_field is {fields.gold_field!r}, and gold_design is not given: how the labelled instances were "
            f"chosen cannot be seen in the labels. {meant}"
        )


@dataclass(frozen=True)
class Correcting:
    """How the scores of a metric are corrected.

    Attributes:
        fields: Which fields hold the labels, and how labelled instances were chosen.
        seed: Of draws.
    """

    fields: GoldOptions
    seed: int

    def gold_of(self, rows: Sequence[Mapping[str, Any]]) -> list[Gold]:
        """What people say of each instance, as the fields have it.

        Args:
            rows: The task data.
        """
        return [self._labels_of(row, instance) for instance, row in enumerate(rows)]

    def _labels_of(self, row: Mapping[str, Any], instance: int) -> Gold:
        if self.fields.gold_field is None:
            return ()
        given = field_of(row, self.fields.gold_field, instance, "gold_field")
        if given is None or is_abstention(given):
            return ()
        about: dict[str, Any] = {"instance": instance}
        if (chance := self.fields.gold_probability_field) is not None:
            about["probability"] = field_of(row, chance, instance, "gold_probability_field")
            if number_of(about["probability"]) is None:
                raise InvalidInputError(
                    f"the field {chance!r} of instance {instance}, which is labelled, is {about['probability']!r}; "
                    "give the probability with which it was drawn"
                )
        return ({**about, "label": given},)

    def check(self, run: Mapping[str, Any], mode: Mode[Any], subjects: Sequence[Subject], gold: Sequence[Gold]) -> None:
        """Check, before the first call, that all can be corrected that will be judged: on a judge that says nothing.

        Args:
            run: What the metric will say of the run.
            mode: The way of judging.
            subjects: What is judged.
            gold: Of each.

        Raises:
            InvalidInputError: Labels that fit no question, or too few of them, or scores that people cannot give.
        """
        if len({id(about.judged) for about in subjects}) > 1:
            raise InvalidInputError(
                f"gold_field is {self.fields.gold_field!r}, and the instances are judged by criteria of their own: a "
                "corrected score is about one; evaluate the instances of one criterion alone"
            )
        cells = (cell for about in subjects for cell in _abstentions(mode, about))
        self.correct(results_of_run(run, cells), gold)

    def correct(self, results: Results, gold: Sequence[Gold]) -> CorrectedScores:
        """The corrected scores.

        Args:
            results: What was judged.
            gold: The labels of each instance that is still there.
        """
        asked: dict[int, list[QuestionName]] = {}
        for cell in results.cells():
            name = results.question_name(cell)
            asked.setdefault(name[0], []).append(name)
        given = [row for own in gold for row in own if row["instance"] in asked]
        rows = [label for row in given for label in _rows(row, asked[row["instance"]], results.labelled_by)]
        return correct(results, rows, design=self.fields.gold_design, seed=self.seed, label_field="label")

    def scores(
        self, run: Mapping[str, Any], cells: Iterable[Cell], gold: Sequence[Gold], main: str, *, with_intervals: bool
    ) -> dict[str, Any]:
        """The entries of the global scores. What was judged is never lost: where labels fail, it is said why.

        Args:
            run: What the metric says of the run.
            cells: The votes.
            gold: The labels of each instance.
            main: The name of the main score.
            with_intervals: Give the limits of intervals too.
        """
        results = results_of_run(run, cells)
        try:
            found = self.correct(results, gold)
        except InvalidInputError as error:  # of a group of instances, which may have no labels; all were checked before
            logger.warning("%s_corrected is missing: %s", main, error)
            return {f"{main}_corrected": float("nan"), f"{main}_corrected_notes": [str(error)]}
        wholes = {each.criterion for each in results.outcomes() if each.part_of is None}
        entries: dict[str, Any] = {f"{main}_corrected_notes": [*worth(found.scores), *found.notes]}
        for score in found.scores:
            name = _name(score, main, wholes, of_systems=results.kind == "winrates")
            entries |= scores_of(score, name, with_intervals=with_intervals, only=REPORTED)
        return entries


def _name(score: CorrectedMean, main: str, wholes: Iterable[str], *, of_systems: bool) -> str:
    """The name of the score that is corrected: the main one, that of a part of it, or that of a system."""
    parts = [] if score.criterion in wholes else [score.criterion]
    named = [score_name_of([part], part) for part in (*parts, *filter(None, [score.option]))]
    return "_".join([f"{score.system}_winrate" if of_systems else main, *named])


def _abstentions(mode: Mode[Any], about: Subject) -> Iterator[Cell]:
    """The cells of a subject about which every judge keeps silent."""
    votes = [[VoteReader.of(question.criterion).vote("nobody", None)] for question in mode.questions(about)]
    for named, cast in mode.cells(about, mode.result(about, votes), 0):
        yield Cell({"instance": about.instance, **named, "cluster": about.cluster}, tuple(cast))


def _rows(label: Mapping[str, Any], asked: Sequence[QuestionName], parts: Sequence[str]) -> Iterator[dict[str, Any]]:
    """One label a row: a mapping or list is of several people about one question, or of one about several.

    Args:
        label: The instance, what its field holds, and the probability, where there is one.
        asked: The questions about the instance.
        parts: What tells them apart.
    """
    given, several = label["label"], len(asked) > 1
    if isinstance(given, (list, tuple)) and given and all(isinstance(each, Mapping) for each in given):
        yield from ({**label, "label": None, **each} for each in given)
    elif isinstance(given, Mapping):
        named = parts[-1] if several else "annotator"
        yield from ({**label, named: str(part), "label": each} for part, each in given.items())
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


def gold_options(metric: Any) -> Union[GoldOptions, None]:
    """What a metric says of labels; None where it takes none.

    Args:
        metric: With the fields of :class:`~evenhand.options.GoldOptions`.
    """
    design: Union[Design, None] = metric.gold_design
    fields = GoldOptions(
        gold_field=metric.gold_field, gold_design=design, gold_probability_field=metric.gold_probability_field
    )
    check_gold_fields(fields)
    return None if fields.gold_field is None else fields
