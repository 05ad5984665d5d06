"""A plan by which judges hand on what they are unsure of, with an agreement with people that is promised.

A cheap judge first, a stronger one for the rest, people for what is left. From which confidence on a judge decides is
learnt from labelled rows (:mod:`evenhand.statistics.selective`); where no threshold qualifies the plan abstains.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, Self

import numpy as np
from pydantic import TypeAdapter, ValidationError
from scipy import stats

import evenhand
from evenhand.errors import InvalidInputError, did_you_mean
from evenhand.files import expanded
from evenhand.labels.confidence import (
    Confidence,
    JudgedQuestion,
    Named,
    check_confidence,
    confidence_of,
    questions_of,
)
from evenhand.labels.people import paired, read_gold
from evenhand.numbers import Missing, format_cost, format_count, format_number, format_percent
from evenhand.results.fingerprint import digest
from evenhand.results.measures import as_json, plain
from evenhand.results.outcomes import QuestionName
from evenhand.results.render import PrintedTables, TextTable
from evenhand.results.results import Results
from evenhand.results.saved import written_whole
from evenhand.statistics.resampling import BoolArray, FloatArray
from evenhand.statistics.selective import (
    EARLIER,
    LAST,
    NOTHING,
    Cascade,
    candidate_thresholds,
    certified_cascades,
    check_promise,
    fewest_labels,
    stages,
)

Design = Literal["random", "probabilities"]
_FORMAT: Final = "evenhand escalation plan"


@dataclass(frozen=True, slots=True)
class PlannedStage:
    """One judge of a plan, on one criterion.

    Attributes:
        threshold: The least confidence with which it decides; None where it decides nothing, and is not asked.
        asked: The share of all questions that it is expected to be asked.
        decided: The share that it is expected to decide.
    """

    threshold: float | None
    asked: float
    decided: float


@dataclass(frozen=True, slots=True)
class PlannedCriterion:
    """A plan for one criterion, rubric or checklist.

    Attributes:
        criterion: Its name.
        stages: One a judge.
        left: The share of all questions that is expected to be left to people.
        num_labels: Labelled questions that the plan was learnt from.
        num_decided: Those of them that the judges decide by the plan.
        num_right: Those of them that people decided alike.
        at_least: What the agreement is at least, with the certainty that the promise has; None where that is not said,
            as rows come in clusters or were drawn with unequal probabilities, and None where nothing is decided.
        fewest: Labels, all of them as the judges say, with which anything could have been promised.
    """

    criterion: str
    stages: tuple[PlannedStage, ...]
    left: float
    num_labels: int
    num_decided: int
    num_right: int
    at_least: float | None
    fewest: int

    @property
    def abstains(self) -> bool:
        """Whether no threshold qualified, so that all is left to people."""
        return all(stage.threshold is None for stage in self.stages)


@dataclass(frozen=True)
class PlannedJudge:
    """A judge, or the panel, of a stage.

    Attributes:
        judges: Their names.
        confidence: What its confidence is: ``votes``, ``probability`` or ``spread``.
        price: US dollars a question; None where no price is known.
        made_by: Digits for the judge and its prompts, and how it was asked; other ones void the promise.
    """

    judges: tuple[str, ...]
    confidence: Confidence
    price: float | None
    made_by: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Their names in one."""
        return ", ".join(self.judges)


@dataclass(frozen=True)
class EscalationPlan(PrintedTables):
    """The result of :func:`evenhand.escalation`: from which confidence on each judge decides, and what that promises.

    Attributes:
        kind: Of the results it was learnt from: ``judgements``, ``winrates``, ….
        judges: The stages, the cheapest first.
        criteria: The thresholds of each criterion, and what is expected of them.
        agreement: The least share of the decided questions that people decide alike, as promised.
        certainty: The probability with which that holds, of each criterion by itself.
        tolerance: How far scores may be apart and still agree; None where the labels must be the same.
        label_price: US dollars that a label of people costs; None where it was not said.
        design: How the labelled rows were chosen.
        num_divided: Labelled questions that were set aside, as people were divided on them.
        version: Of evenhand.
    """

    kind: str
    judges: tuple[PlannedJudge, ...]
    criteria: tuple[PlannedCriterion, ...]
    agreement: float
    certainty: float
    tolerance: float | None = None
    label_price: float | None = None
    design: Design = "random"
    num_divided: int = 0
    version: str = ""

    def cost(self, planned: PlannedCriterion, questions: int = 1000) -> float | Missing:
        """US dollars that judges, and people where their price is known, are expected to cost."""
        prices = [*(judge.price for judge in self.judges), self.label_price or 0.0]
        shares = [*(stage.asked for stage in planned.stages), planned.left]
        unknown = [
            judge.name for judge, stage in zip(self.judges, planned.stages, strict=True)
            if judge.price is None and stage.asked
        ]  # fmt: skip
        if unknown:
            return Missing(f"the price of {', '.join(unknown)} is not known")
        return questions * sum(price * share for price, share in zip(prices, shares, strict=True) if price)

    def decided(self, results: Results[Any], stage: int) -> dict[QuestionName, bool]:
        """Which questions of a result the judge of a stage decides.

        Raises:
            InvalidInputError: A result with a criterion that the plan does not know.
        """
        thresholds = {each.criterion: each.stages[stage].threshold for each in self.criteria}
        found = {}
        for question in questions_of(results, self.judges[stage].confidence).values():
            threshold = self._of(question.part, thresholds)
            sure = [[question.confidence]]
            found[question.name] = bool(stages(sure, [NOTHING if threshold is None else threshold])[0] == 0)
        return found

    def _of(self, part: str, thresholds: Mapping[str, float | None]) -> float | None:
        if part not in thresholds:
            raise InvalidInputError(f"the plan has no thresholds for {part!r}. {did_you_mean(part, list(thresholds))}")
        return thresholds[part]

    def differences(self, results: Results[Any], stage: int) -> tuple[str, ...]:
        """In what a result was not made as the one that the plan was learnt from; the promise does not hold then."""
        now, before = _made_by(results), self.judges[stage].made_by
        criteria = now["criteria"].items() - dict(before.get("criteria", {})).items()
        systems = [each for each in now["systems"] if each not in before.get("systems", ())]
        asked = sorted({*now, *before} - {"criteria", "systems"})
        return (
            *(name for name in asked if now.get(name) != before.get(name)),
            *(f"the criterion {name!r}" for name, _ in sorted(criteria)),
            *(f"the system {name!r}" for name in systems),
        )

    def text_tables(self) -> tuple[TextTable, ...]:
        """A row a criterion and stage, with what it costs; the promise beneath."""
        rows: list[tuple[str, ...]] = []
        for planned in self.criteria:
            for judge, stage in zip(self.judges, planned.stages, strict=True):
                sure = "decides nothing" if stage.threshold is None else f"≥ {format_number(stage.threshold, digits=3)}"
                price = None if judge.price is None else 1000 * judge.price * stage.asked
                shares = (format_percent(stage.asked), format_percent(stage.decided))
                rows.append((planned.criterion, judge.name, sure, judge.confidence, *shares, format_cost(price)))
            people = None if self.label_price is None else 1000 * self.label_price * planned.left
            left = format_percent(planned.left)
            rows.append((planned.criterion, "people", "", "", left, left, format_cost(people)))
        headers = ("criterion", "who", "decides from", "confidence", "asked", "decides", "cost of 1,000")
        title = "Escalation: who decides what"
        return (TextTable(title, headers, tuple(rows), tuple(self._notes()), "plan", naming=2),)

    def _notes(self) -> Iterator[str]:
        agreement, certainty = format_percent(self.agreement), format_percent(self.certainty)
        for planned in self.criteria:
            labels = f"{format_count(planned.num_labels, 'labelled question')}"
            if planned.abstains:
                yield (
                    f"{planned.criterion}: abstains. By {labels} no threshold promises {agreement} agreement with "
                    f"{certainty} certainty, so everything is left to people. Anything needs {planned.fewest} labels "
                    "or more, all as the judges say; label more rows, take better judges, or promise less."
                )
                continue
            least = "" if planned.at_least is None else f": {format_percent(planned.at_least)} or more in all"
            seen = f"the judges decide {planned.num_decided}, of which people decided {planned.num_right} alike{least}"
            yield (
                f"{planned.criterion}: what the judges decide agrees with people in {agreement} or more, with "
                f"{certainty} certainty ({labels}; {seen})."
            )
            cost = self.cost(planned)
            whose = "judges and people" if self.label_price else "judges"
            spent = cost.reason if isinstance(cost, Missing) else f"{whose} cost {format_cost(cost)}"
            yield f"Of 1,000 questions: {format_count(round(1000 * planned.left), 'label')} of people; {spent}."
        if self.num_divided:
            yield (
                f"{format_count(self.num_divided, 'question')} set aside, on which as many people said one thing as "
                "another: the promise is for those on which most agree."
            )
        if len(self.criteria) > 1:
            yield "The certainty is that of each criterion by itself."
        yield (
            "It holds for rows like the labelled ones, judged in the same way; people's own disagreement counts as "
            "the judges'."
        )

    def to_json(self) -> str:
        """What :meth:`save` writes."""
        return as_json({"format": _FORMAT, **plain(self)}, indent=2)

    def save(self, path: str | Path) -> None:
        """Write the plan as JSON.

        Raises:
            UnwritableFileError: If the file cannot be written.
        """
        with written_whole(path) as beside:
            beside.write_text(self.to_json() + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what :meth:`save` wrote.

        Raises:
            InvalidInputError: If the file cannot be read, or is something else.
        """
        try:
            held = json.loads(expanded(path).read_text(encoding="utf-8"))
            if not isinstance(held, dict) or held.pop("format", None) != _FORMAT:
                raise ValueError  # noqa: TRY301 - the same answer
            plan: Self = TypeAdapter(cls).validate_python(held)
        except (OSError, ValueError, ValidationError) as error:
            raise InvalidInputError(
                f"{str(path)!r} is no escalation plan, or cannot be read; EscalationPlan.save writes one"
            ) from error
        return plan

    def __repr__(self) -> str:
        return f"<EscalationPlan of {format_count(len(self.judges), 'judge')}>\n{self}"


def escalation(
    results: Sequence[Results[Any]] | Results[Any],
    gold: object = None,
    *,
    agreement: float,
    certainty: float = 0.9,
    design: Literal["random", "probabilities", "by_verdict", "active"] | None = None,
    confidence: Confidence = "auto",
    tolerance: float | None = None,
    prices: Sequence[float | None] | None = None,
    label_price: float | None = None,
    label_field: str | None = None,
) -> EscalationPlan:
    """Learn from labelled rows which verdicts of which judge may be trusted, so that an agreement can be promised.

    Args:
        results: What the judges made of the same rows, the cheapest judge first: of one kind, with the same criteria
            and systems. Later judges need only have judged the labelled rows, if rows have ids (``id_field``).
        gold: The labels of people, as :func:`~evenhand.labels.people.read_gold` takes them; by default those that the
            first result holds.
        agreement: The share of what the judges decide that people would decide alike, at least: 0.9, say.
        certainty: The probability that this holds, over the draw of the labelled rows; of each criterion by itself.
        design: How the labelled rows were chosen, which the labels may say themselves: ``random`` from those that are
            to be judged, or with the ``probabilities`` that the labels hold (``by_verdict`` and ``active`` are these).
        confidence: ``votes`` (the share of the votes for what most select), ``probability`` (where log-probabilities
            were asked for), ``spread`` (of the values drawn); by default probabilities where all votes have some.
        tolerance: How far scores may be apart and still agree; by default the labels must be the same.
        prices: US dollars a question, a judge each; by default what the results cost.
        label_price: US dollars a label. The plan is the cheapest of those that keep the promise; without it the one
            that leaves least to people.
        label_field: The column with the label, where gold is a table.

    Raises:
        InvalidInputError: No design, results that do not go together, or no label that can be compared.
    """
    check_promise(agreement, certainty)
    check_confidence(confidence)
    asked = _check_results([results] if isinstance(results, Results) else results)
    labels = read_gold(asked[0], gold, label_field=label_field)
    chosen = _check_design(design or labels.design)
    hows = [confidence_of(each) if confidence == "auto" else confidence for each in asked]
    judged = [questions_of(each, how) for each, how in zip(asked, hows, strict=True)]
    judges = tuple(
        PlannedJudge(tuple(each.parameters.get("judges", ())), how, _price(own, prices, place), _made_by(each))
        for place, (each, how, own) in enumerate(zip(asked, hows, judged, strict=True))
    )
    people = {
        outcome.questions[0]: (pair.selected[row], float(pair.human[row]), float(pair.probabilities[row]))
        for pair in reversed(paired(asked[0], labels))
        for row, outcome in enumerate(pair.judge.rows)
        if pair.judge.labels and len(outcome.questions) == 1 and (pair.labelled[row] or pair.selected[row] is not None)
    }
    if tolerance is None:  # the mean of people who are divided is no option
        said = {
            name for name, given in labels.by_question.items() if all(isinstance(each.value, str) for each in given)
        }
        people = {name: told for name, told in people.items() if told[0] is not None or name not in said}
    learner = _Learner(judged, people, [each.price for each in judges], label_price, agreement, certainty, tolerance)
    parts = dict.fromkeys(question.part for question in judged[0].values())
    return EscalationPlan(
        kind=asked[0].kind,
        judges=judges,
        criteria=tuple(learner.plan(part, weighted=chosen == "probabilities") for part in parts),
        agreement=agreement,
        certainty=certainty,
        tolerance=tolerance,
        label_price=label_price,
        design=chosen,
        num_divided=len(labels.by_question.keys() & {each.name for each in judged[0].values()} - people.keys()),
        version=evenhand.__version__,
    )


@dataclass(frozen=True)
class _Learner:
    """What the judges and people said, and what is wanted of them."""

    judged: Sequence[Mapping[Named, JudgedQuestion]]
    people: Mapping[QuestionName, tuple[str | None, float, float]]
    prices: Sequence[float | None]
    label_price: float | None
    agreement: float
    certainty: float
    tolerance: float | None

    def plan(self, part: str, *, weighted: bool) -> PlannedCriterion:
        first = {name: each for name, each in self.judged[0].items() if each.part == part}
        everywhere = [name for name in first if all(name in own for own in self.judged)]
        sure = self._confidences(everywhere)
        labelled = [place for place, name in enumerate(everywhere) if first[name].name in self.people]
        names = [everywhere[place] for place in labelled]
        right = np.array([self._right(name, first[name].name) for name in names], dtype=bool)
        weights, clusters = (
            self._weights(first, names, weighted=weighted),
            _numbered([first[name].cluster for name in names]),
        )
        most = [*([EARLIER] * (len(self.judged) - 1)), LAST]
        alone = np.array([[each.confidence] for each in first.values()])
        grids = [candidate_thresholds(column, number) for column, number in zip(sure.T, most, strict=True)]
        found: tuple[Cascade, ...] = ()
        if labelled:
            found = certified_cascades(
                sure[labelled], right.reshape(len(names), -1), grids, agreement=self.agreement,
                certainty=self.certainty, weights=weights, clusters=clusters,
            )  # fmt: skip
        counts = np.ones(len(sure)) if weights is None or len(names) < len(sure) else weights
        expected = [self._expected(cascade.thresholds, sure, alone, counts) for cascade in found]
        chains = int(np.prod([1 + len(grid) for grid in grids[:-1]]))
        fewest = fewest_labels(self.agreement, self.certainty, chains)
        if not found:
            nothing = tuple(PlannedStage(None, 0.0, 0.0) for _ in self.judged)
            return PlannedCriterion(part, nothing, 1.0, len(names), 0, 0, None, fewest)
        best = min(range(len(found)), key=lambda place: self._cost(*expected[place]))
        cascade, (planned, left) = found[best], expected[best]
        plainly = weights is None and clusters is None
        least = _at_least(cascade) if plainly else None
        return PlannedCriterion(part, planned, left, len(names), cascade.num_decided, cascade.num_right, least, fewest)

    def _confidences(self, names: Sequence[Named]) -> FloatArray:
        return np.array([[own[name].confidence for own in self.judged] for name in names]).reshape(-1, len(self.judged))

    def _right(self, name: Named, asked: QuestionName) -> list[bool]:
        """Whether each judge says what people say."""
        label, score, _ = self.people[asked]
        said = [own[name] for own in self.judged]
        if self.tolerance is None:
            if label is None:
                raise InvalidInputError(
                    f"row {asked[0]} has the label {score:g}, which lies between options: say how far scores may be "
                    "apart and still agree, tolerance=…"
                )
            return [each.selected is not None and each.selected == label for each in said]
        return [each.score is not None and abs(each.score - score) <= self.tolerance + 1e-9 for each in said]

    def _weights(
        self, first: Mapping[Named, JudgedQuestion], names: Sequence[Named], *, weighted: bool
    ) -> FloatArray | None:
        shares = np.array([self.people[first[name].name][2] for name in names])
        if not weighted:
            return None
        if np.isnan(shares).any():
            raise InvalidInputError(
                "the labelled rows were drawn with probabilities, and some labels have none: give them a column "
                "'probability', that with which the row was drawn"
            )
        return None if len(set(shares)) < 2 else 1 / shares

    def _expected(
        self, thresholds: Sequence[float], sure: FloatArray, alone: FloatArray, counts: FloatArray
    ) -> tuple[tuple[PlannedStage, ...], float]:
        """Shares of all questions, of which the first judge alone may have judged more than the others."""
        reaching, found = 1.0, []
        left: BoolArray = np.ones(len(sure), dtype=bool)
        for place, threshold in enumerate(thresholds):
            decides = stages(sure[:, [place]], [threshold]) == 0
            if place == 0:
                decided = float((stages(alone, [threshold]) == 0).mean())
            else:
                decided = reaching * float(np.average(decides[left], weights=counts[left])) if left.any() else 0.0
            asked = 0.0 if threshold == NOTHING else reaching
            found.append(PlannedStage(None if threshold == NOTHING else float(threshold), asked, decided))
            reaching, left = reaching - decided, left & ~decides
        return tuple(found), max(reaching, 0.0)

    def _cost(self, planned: Sequence[PlannedStage], left: float) -> tuple[float, float]:
        """What is expected to be spent; where a label has no price, least of all on people."""
        prices = [1e-3 * 10**place if price is None else price for place, price in enumerate(self.prices)]
        calls = sum(price * stage.asked for price, stage in zip(prices, planned, strict=True))
        return (calls + left * self.label_price, left) if self.label_price is not None else (round(left, 2), calls)


def _at_least(cascade: Cascade) -> float:
    """The exact lower limit of the agreement, at the part of the uncertainty that the cascade's chain had."""
    wrong = cascade.num_decided - cascade.num_right
    return float(stats.beta.ppf(cascade.level, cascade.num_right, wrong + 1))


def _numbered(clusters: Sequence[Hashable]) -> list[int] | None:
    """Clusters as numbers; None where each row is its own."""
    places = {cluster: place for place, cluster in enumerate(dict.fromkeys(clusters))}
    return None if len(places) == len(clusters) else [places[cluster] for cluster in clusters]


def _price(judged: Mapping[Named, JudgedQuestion], prices: Sequence[float | None] | None, place: int) -> float | None:
    if prices is not None:
        return prices[place]
    known = [each.price for each in judged.values() if each.price is not None]
    return sum(known) / len(known) if known else None


def _made_by(results: Results[Any]) -> dict[str, Any]:
    """What a result must share with another for the confidences of both to mean the same."""
    made, said, judged = results.fingerprint, results.parameters, results.judged()
    digits = {"judge": made.judge, "prompts": made.prompts}
    known = {name: value for name, value in digits.items() if not isinstance(value, Missing)}
    rules = {name: said[name] for name in ("grid", "aggregation", "on_position_bias", "scoring") if name in said}
    asked = judged.get("criteria") or [judged["criterion"]] if "criterion" in judged or "criteria" in judged else []
    criteria = {each["name"]: digest(each) for each in asked}
    about = {"criteria": criteria, "systems": judged.get("systems", [])}
    written: dict[str, Any] = json.loads(as_json({**known, **about, **plain(rules)}))
    return written


def _check_results(results: Iterable[Results[Any]]) -> list[Results[Any]]:
    given = list(results)
    if not given or not all(isinstance(each, Results) for each in given):
        raise InvalidInputError(f"results is {results!r}; give a list of results, that of the cheapest judge first")
    kinds = [type(each).__name__ for each in given]
    systems = [each.judged().get("systems") for each in given]
    if len(set(kinds)) > 1 or any(each != systems[0] for each in systems):
        raise InvalidInputError(
            f"the results are of the kinds {kinds!r} and about the systems {systems!r}; let all judges judge the same"
        )
    numbers = {each.parameters.get("n") for each in given}
    if len(numbers) > 1 and not all(each.ids for each in given):
        raise InvalidInputError(
            f"the results are of {sorted(map(str, numbers))!r} rows, and rows have no ids: judge the same rows, or "
            "name the column of their ids, id_field=…"
        )
    return given


def _check_design(design: str | None) -> Design:
    """Whether labelled rows count alike, or by the probabilities with which they were drawn."""
    if design == "random":
        return "random"
    if design in {"probabilities", "by_verdict", "active"}:
        return "probabilities"
    raise InvalidInputError(
        f"design is {design!r}; say how the labelled rows were chosen: 'random' from those that are to be judged, or "
        "with 'probabilities' that the labels hold, as 'by_verdict' and 'active' are. Rows chosen otherwise promise "
        "nothing for the others"
    )
