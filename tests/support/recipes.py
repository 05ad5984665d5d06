"""A recipe of unitxt around metrics: rows and predictions in, the results of an evaluation out."""

from typing import Any

from unitxt import create_dataset, evaluate
from unitxt.task import Task


def evaluated(metrics: Any, rows: Any, predictions: Any, **recipe: Any) -> Any:
    """What unitxt's ``evaluate`` says of predictions; those that are no texts are left as they are."""
    if not all(isinstance(each, str) for each in predictions):
        recipe = {"postprocessors": [], **recipe}
    task = Task(
        input_fields=dict.fromkeys(rows[0], Any),
        reference_fields={},
        prediction_type=Any,
        metrics=metrics if isinstance(metrics, list) else [metrics],
        default_template="templates.empty",
    )
    data = create_dataset(task=task, test_set=rows, split="test", data_classification_policy=["public"], **recipe)
    return evaluate(predictions=predictions, data=data)
