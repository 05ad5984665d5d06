"""What the metrics share that assess one response at a time: the cases that a judge is shown before its own."""

from collections.abc import Sequence
from typing import Any, Dict, List

from evenhand.criteria import Criterion
from evenhand.errors import InvalidInputError
from evenhand.judging.examples import (
    ExampleFields,
    ExamplePool,
    check_label_fields,
    check_number_of_examples,
    example_pool,
)
from evenhand.metrics.judge_metric import JudgeMetric
from evenhand.unitxt.bases import Maybe


class AssessingJudge(JudgeMetric):
    """The base of the metrics in which one response is judged at a time.

    Attributes:
        examples: Labelled rows, from which each question draws cases that are shown first: balanced over the labels,
            seeded by the content of the instance, never the instance itself. A row has the fields of the task data
            that are shown as context, ``response`` (or the criterion's prediction field) and the label.
        num_examples: How many cases each question is shown; one of each label in the rows when None.
        label_fields: Criterion name -> the field of ``examples`` with the label; a criterion that is not named has its
            labels in the field of its own name.
        as_index: Labels of ``examples`` that are numbers are places of options, 0 for the first, not values.
    """

    examples: Maybe[List[Dict[str, Any]]] = None
    num_examples: Maybe[int] = None
    label_fields: Maybe[Dict[str, str]] = None
    as_index: bool = False

    def verify(self) -> None:
        """Check every setting that can be checked before there is data."""
        super().verify()
        check_number_of_examples(self.num_examples, examples=self.examples)
        rows: object = self.examples
        if rows is not None and not (isinstance(rows, list) and all(isinstance(row, dict) for row in rows)):
            raise InvalidInputError(f"examples is {rows!r}; give a list of rows, each a dict")

    def example_pools(self, criteria: Sequence[Criterion]) -> dict[str, ExamplePool]:
        """Criterion name -> its labelled cases; empty without examples.

        Raises:
            InvalidInputError: If the rows cannot be used.
        """
        check_label_fields(self.label_fields, criteria)
        return {
            criterion.name: self._pool(criterion, self.examples) for criterion in criteria if self.examples is not None
        }

    def _pool(self, criterion: Criterion, rows: List[Dict[str, Any]]) -> ExamplePool:
        field = criterion.prediction_field
        response = field if field is not None and any(field in row for row in rows) else "response"
        fields = ExampleFields(
            label=(self.label_fields or {}).get(criterion.name, criterion.name),
            responses=(response,),
            context=self.given_context_fields() or None,
            as_index=self.as_index,
        )
        return example_pool(rows, criterion, fields, number=self.num_examples, seed=self.seed)
