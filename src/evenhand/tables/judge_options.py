"""What :func:`~evenhand.tables.judge` is told beside the options that every run has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Self

from evenhand.criteria import Criterion
from evenhand.data.rows import Row, read_file, read_rows
from evenhand.errors import InvalidInputError
from evenhand.judging.examples import (
    ExampleFields,
    ExamplePool,
    check_label_fields,
    check_number_of_examples,
    example_pool,
)
from evenhand.judging.sheet import check_calls
from evenhand.rubric_scoring import length_penalty_of
from evenhand.run_options import AssessmentOptions, RunOptions

RUBRIC_DEFAULTS: Mapping[str, Any] = {"flow": "one_step", "check_positional_bias": False, "orders": "shuffled"}
"""The options of a run that have another default for a rubric."""

FOR_RUBRICS = ("calls", "na_strategy", "na_partial", "length_penalty")


class Assessing(AssessmentOptions):
    """What an assessment is told beside the options of a run, with the defaults of what is judged."""

    @classmethod
    def from_options(cls, options: Mapping[str, Any], *, rubric: bool) -> tuple[Self, dict[str, Any]]:
        """These options with the defaults of what is judged, and those of the run.

        Raises:
            InvalidInputError: An option that is for rubrics, or has a value that is not accepted.
        """
        for name in options:
            if name in FOR_RUBRICS and not rubric:
                raise InvalidInputError(f"{name} is for a rubric, and criteria were given; drop it, or give a rubric")
        run: dict[str, Any] = {name: value for name, value in options.items() if name in RunOptions.model_fields}
        if rubric:
            run = {**RUBRIC_DEFAULTS, **run}
        own = cls(**{name: value for name, value in options.items() if name in cls.model_fields})
        if own.shuffle_options is not None:
            run["orders"] = _orders(options.get("orders"), shuffled=own.shuffle_options)
        check_number_of_examples(own.num_examples, examples=own.examples)
        check_calls(own.calls, run, examples=own.examples)
        resolved = own.changed(
            auto_na_option=rubric if own.auto_na_option is None else own.auto_na_option,
            examples=_example_rows(own.examples),
            length_penalty=length_penalty_of(own.length_penalty),
        )
        return resolved, run

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
            "examples": len(self.examples or ()),
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


def _example_rows(given: object) -> tuple[Row, ...]:
    if given is None:
        return ()
    return tuple(read_file(given) if isinstance(given, str | Path) else read_rows(given))
