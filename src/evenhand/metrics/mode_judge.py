"""Any way of judging in a recipe: a mode of evenhand, of another package, or of your own."""

import math
from collections.abc import Sequence
from typing import Any, Dict, List, Union

from evenhand.criteria import Criterion
from evenhand.data.systems import read_responses
from evenhand.errors import InvalidInputError
from evenhand.metrics.base_metric import number_or_nan
from evenhand.metrics.judge_metric import JudgedInstance, JudgeMetric
from evenhand.modes.known import find_mode
from evenhand.modes.mode import NO_CRITERION, Mode, Subject
from evenhand.options import RunOptions
from evenhand.results.measures import scores_of
from evenhand.unitxt.bases import Criteria, EvaluationInput, Maybe
from evenhand.unitxt.loading import load_comparison, load_criterion


class ModeJudge(JudgeMetric):
    """A judge judges by a mode: any class derived from :class:`evenhand.modes.mode.Mode`.

    An instance's scores are the mode's record, the global ones its measures, under the name of the criterion, or of the
    mode where there is none. :class:`~evenhand.metrics.judge_metric.JudgeMetric` lists the other settings; an option of
    the run that is left at its default has the mode's own default.

    Attributes:
        mode: The ``kind`` of the mode; one of your own is known when the module that defines it has been imported.
        mode_options: The mode's own options.
    """

    mode: str = ""
    mode_options: Maybe[Dict[str, Any]] = None

    def check_options(self) -> None:
        """Check the options of the mode; the prompt is checked with the questions, which the mode knows."""
        if self.mode:
            self.mode_of(())
        else:
            self.run_options()

    def mode_of(self, subjects: Sequence[Subject]) -> Mode[Any]:  # noqa: ARG002 - other modes need to know
        """The mode with its options.

        Raises:
            InvalidInputError: If there is no such mode, or it has a metric of its own.
        """
        kind = find_mode(self.mode)
        if kind.function != "run_mode":
            raise InvalidInputError(f"the mode {kind.kind!r} has a metric of its own: see metrics.evenhand")
        declared = RunOptions.model_fields
        changed = {name: value for name, value in self.option_values().items() if value != declared[name].default}
        return kind.from_options(self.mode_options or {}, RunOptions(**changed))

    def subjects(self, inputs: Sequence[EvaluationInput]) -> tuple[List[Subject], Sequence[Union[str, None]]]:
        """The response, or the responses, of each instance."""
        criteria: Sequence[Criterion] = [NO_CRITERION] * len(inputs)
        artifacts: Sequence[Union[str, None]] = [None] * len(inputs)
        if self.criteria is not None or self.criteria_field is not None:
            criteria, artifacts = self.frozen_criteria(inputs, self._criterion)
        read = self._responses if find_mode(self.mode).compares else self.response_subject
        rows = enumerate(zip(inputs, criteria, strict=True))
        found = [read(row, *about) for row, about in rows]
        self.warn_of_context(criteria)
        return found, artifacts

    def _criterion(self, artifact: Criteria) -> Criterion:
        return load_comparison(artifact) if find_mode(self.mode).compares else load_criterion(artifact)

    def _responses(self, row: int, given: EvaluationInput, criterion: Criterion) -> Subject:
        responses = read_responses(self.response_of(given, criterion.prediction_field, row), row)
        return self.subject(given, criterion, row, responses)

    def score_name(self, subjects: Sequence[Subject]) -> str:
        """The name of the criterion, where all instances share one, or of the mode."""
        named = super().score_name(subjects)
        return self.mode if named == self.main_score else named

    def instance_scores(self, judged: JudgedInstance) -> Dict[str, Any]:
        """What the mode records of one instance."""
        record = judged.mode.record(judged.about, judged.result)
        score = number_or_nan(record.pop("score", math.nan))
        named = {f"{judged.score_name}_{name}": value for name, value in record.items()}
        return {judged.score_name: score, f"{judged.score_name}_using_{judged.evaluator}": score, **named}

    def global_scores(self, measures: Any, judged: Sequence[JudgedInstance]) -> Dict[str, Any]:
        """The measures of the mode."""
        main = judged[0].score_name
        return {main: math.nan, **scores_of(measures, main, with_intervals=self.return_confidence_interval)}
