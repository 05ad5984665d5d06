"""What :func:`~evenhand.tables.judge` is told beside the options that every run has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self, cast

from evenhand.aggregation import LengthPenalty
from evenhand.criteria import Criterion
from evenhand.errors import InvalidInputError, did_you_mean
from evenhand.judging.examples import (
    ExampleFields,
    ExamplePool,
    check_label_fields,
    check_number_of_examples,
    example_pool,
)
from evenhand.judging.settings import DEFAULTS, RunOptions
from evenhand.judging.together import check_calls
from evenhand.rubric_scoring import length_penalty_of
from evenhand.tables.rows import Row, read_file, read_rows


class JudgeOptions(RunOptions, total=False):
    """The options of a run, and these. Those from ``calls`` on are for a rubric; the others go with criteria too.

    A rubric has defaults of its own: ``flow="one_step"``, since it asks many questions a response, and
    ``check_positional_bias=False`` with ``orders="shuffled"``.

    Attributes:
        guidelines: What the judge is told about judging, beside the criteria.
        examples: Labelled rows (or the path of a file with them) from which each question draws cases that are shown
            first: balanced over the labels, seeded, never the row itself. They have the response columns (or
            ``response``), the context columns and the labels.
        num_examples: How many cases each question is shown; one of each label in the rows by default.
        label_fields: Criterion name -> column of ``examples`` with the label; ``{system}`` stands for the system.
            Without it the column that ``gold_fields`` names, or else the one that is called like the criterion.
        as_index: Labels in ``gold_fields`` and ``label_fields`` that are numbers are places of options, 0 for the first
            (default: values of options; :mod:`evenhand.cells` says how labels are read).
        shuffle_options: Show the options in a seeded random order (the default for a rubric), or as written (the
            default for criteria).
        auto_na_option: Offer an option that says that it does not apply to each criterion that has none (the default
            for a rubric).
        calls: ``per_criterion`` (the default): a call for each criterion; ``per_item``: one reply for the whole rubric.
        na_strategy: What a criterion that does not apply does, instead of what the rubric says: ``skip``, ``zero``,
            ``partial`` or ``fail``.
        na_partial: What ``partial`` counts, instead of what the rubric says.
        length_penalty: A :class:`~evenhand.aggregation.LengthPenalty`, or its fields: what a response that is too long
            loses.
    """

    guidelines: str
    examples: object
    num_examples: int | None
    label_fields: Mapping[str, str] | None
    as_index: bool
    shuffle_options: bool
    auto_na_option: bool
    calls: str
    na_strategy: str | None
    na_partial: float | None
    length_penalty: LengthPenalty | Mapping[str, Any] | None


RUBRIC_DEFAULTS: RunOptions = {"flow": "one_step", "check_positional_bias": False, "orders": "shuffled"}
"""The options of a run that have another default for a rubric."""

FOR_RUBRICS = ("calls", "na_strategy", "na_partial", "length_penalty")


@dataclass(frozen=True, slots=True)
class Assessing:
    """The options beside those of the run, checked; see :class:`JudgeOptions`."""

    guidelines: str = ""
    examples: tuple[Row, ...] = ()
    num_examples: int | None = None
    label_fields: Mapping[str, str] | None = None
    as_index: bool = False
    auto_na_option: bool = False
    calls: str = "per_criterion"
    na_strategy: str | None = None
    na_partial: float | None = None
    length_penalty: LengthPenalty | None = None

    @classmethod
    def from_options(cls, options: JudgeOptions, *, rubric: bool) -> tuple[Self, RunOptions]:
        """These options, and those of the run.

        Raises:
            InvalidInputError: An option that does not exist, is for rubrics, or has a value that is not accepted.
        """
        accepted = {**DEFAULTS, **dict.fromkeys(cls.__dataclass_fields__), "shuffle_options": None}
        for name in options:
            if name not in accepted:
                raise InvalidInputError(f"there is no option {name!r}. {did_you_mean(name, accepted)}")
            if name in FOR_RUBRICS and not rubric:
                raise InvalidInputError(f"{name} is for a rubric, and criteria were given; drop it, or give a rubric")
        run: dict[str, Any] = {name: value for name, value in options.items() if name in DEFAULTS}
        if rubric:
            run = {**RUBRIC_DEFAULTS, **run}
        shuffled = options.get("shuffle_options")
        _check_switch("shuffle_options", shuffled)
        _check_switch("as_index", options.get("as_index"))
        if shuffled is not None:
            run["orders"] = _orders(options.get("orders"), shuffled=shuffled)
        given: dict[str, Any] = {name: value for name, value in options.items() if name in cls.__dataclass_fields__}
        _check_switch("auto_na_option", given.setdefault("auto_na_option", rubric))
        if not isinstance(given.get("guidelines", ""), str):
            raise InvalidInputError(f"guidelines is {given['guidelines']!r}; give a text")
        given["length_penalty"] = length_penalty_of(given.get("length_penalty"))
        check_number_of_examples(given.get("num_examples"), examples=given.get("examples"))
        check_calls(given.get("calls", "per_criterion"), run, examples=given.get("examples"))
        given["examples"] = _example_rows(given.get("examples"))
        return cls(**given), cast(RunOptions, run)

    def pools(
        self,
        criteria: Sequence[Criterion],
        systems: Sequence[str],
        gold_fields: Mapping[str, str],
        fields: ExampleFields,
        seed: int,
    ) -> dict[str, ExamplePool]:
        """Criterion name -> its labelled cases; empty without examples.

        Raises:
            InvalidInputError: If the rows cannot be used.
        """
        check_label_fields(self.label_fields, criteria)
        if not self.examples:
            return {}
        labels = {**gold_fields, **(self.label_fields or {})}
        responses = tuple(system for system in systems if any(system in row for row in self.examples))
        return {
            criterion.name: example_pool(
                self.examples,
                criterion,
                ExampleFields(
                    label=labels.get(criterion.name, criterion.name),
                    responses=responses or ("response",),
                    context=fields.context,
                    reference=fields.reference,
                    as_index=self.as_index,
                ),
                number=self.num_examples,
                seed=seed,
            )
            for criterion in criteria
        }

    def parameters(self, *, rubric: bool) -> dict[str, Any]:
        """What a table repeats of these options, as plain JSON; the rubric is in the table itself."""
        shared = {
            "guidelines": self.guidelines,
            "examples": len(self.examples),
            "num_examples": self.num_examples,
            "label_fields": None if self.label_fields is None else dict(self.label_fields),
            "as_index": self.as_index,
        }
        if not rubric:
            return shared
        penalty = None if self.length_penalty is None else asdict(self.length_penalty)
        return {**shared, "calls": self.calls, "length_penalty": penalty}


def _orders(given: str | None, *, shuffled: bool) -> str:
    """The order of options that ``shuffle_options`` and ``orders`` come to.

    Raises:
        InvalidInputError: If they contradict each other.
    """
    if given is not None and (given == "shuffled") != shuffled and (shuffled or given == "shuffled"):
        raise InvalidInputError(f"shuffle_options is {shuffled!r} and orders is {given!r}; drop one of the two")
    return given or ("shuffled" if shuffled else "given")


def _check_switch(name: str, value: object) -> None:
    if value is not None and not isinstance(value, bool):
        raise InvalidInputError(f"{name} is {value!r}; accepted: True or False")


def _example_rows(given: object) -> tuple[Row, ...]:
    if given is None:
        return ()
    return tuple(read_file(given) if isinstance(given, str | Path) else read_rows(given))
