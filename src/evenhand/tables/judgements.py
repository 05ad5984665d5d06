"""Direct assessment of a data set: systems × criteria, each cell with its interval and what it rests on."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, Unpack, overload

import evenhand
from evenhand.aggregation import aggregate, check_on_position_bias, check_rule
from evenhand.artifacts import context_mapping, load_criterion
from evenhand.criteria import Criterion
from evenhand.engines.base import JudgeEngine
from evenhand.engines.unitxt import as_judge
from evenhand.errors import InvalidInputError
from evenhand.judging.instances import REFERENCE_FIELDS, context_of, field_of, text_of
from evenhand.judging.run import RunEstimate
from evenhand.judging.settings import RunOptions, RunSettings
from evenhand.question import Question
from evenhand.reports import TextTable, format_count, format_interval, format_share
from evenhand.scoring import ScoreSummary, summarize
from evenhand.statistics import Interval, mean_intervals
from evenhand.tables.rows import Row, read_rows
from evenhand.votes import Verdict

if TYPE_CHECKING:
    import datasets
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Judgement:
    """One response on one criterion.

    Attributes:
        instance: The row's index.
        system: The column that held the response.
        criterion: The criterion's name.
        verdict: The verdict with all votes.
        gold: The label that a person gave, where there is one.
    """

    instance: int
    system: str
    criterion: str
    verdict: Verdict
    gold: str | None = None


@dataclass(frozen=True)
class JudgementTable:
    """The result of :func:`judge`: every verdict, and a summary a system and criterion.

    Attributes:
        judgements: Ordered by criterion, system and instance.
        criteria: In the order asked for.
        systems: In the order asked for.
        parameters: What made the table: judges, fields, orders, rules, seed, interval level, version.
    """

    judgements: tuple[Judgement, ...]
    criteria: tuple[Criterion, ...]
    systems: tuple[str, ...]
    parameters: Mapping[str, Any]

    @cached_property
    def summaries(self) -> Mapping[tuple[str, str], ScoreSummary]:
        """``(system, criterion name)`` -> what the verdicts come to."""
        return {
            (system, criterion.name): summarize(
                [judgement.verdict for judgement in self._cell(system, criterion.name)],
                level=self.parameters["level"],
            )
            for criterion in self.criteria
            for system in self.systems
        }

    def gold_agreement(self, system: str, criterion: str) -> Interval | None:
        """The share of a cell's instances with a gold label and a selection whose labels are the same."""
        cell = self._cell(system, criterion)
        hits = [
            float(judgement.verdict.selected_label == judgement.gold)
            if judgement.gold is not None and judgement.verdict.selected_label is not None
            else float("nan")
            for judgement in cell
        ]
        (share,) = mean_intervals(hits, level=self.parameters["level"])
        return share

    def rescore(self, *, aggregation: str | None = None, on_position_bias: str | None = None) -> JudgementTable:
        """The same votes under other rules, without a call. What is not given takes the scale's default."""
        criteria = {criterion.name: criterion for criterion in self.criteria}
        for criterion in self.criteria:
            check_rule(aggregation, criterion.scale)
            check_on_position_bias(on_position_bias, criterion.scale)
        rescored = tuple(
            replace(
                judgement,
                verdict=aggregate(
                    judgement.verdict.votes,
                    criteria[judgement.criterion],
                    aggregation,
                    on_position_bias=on_position_bias,
                ),
            )
            for judgement in self.judgements
        )
        rules = {"aggregation": aggregation, "on_position_bias": on_position_bias}
        return replace(self, judgements=rescored, parameters={**self.parameters, **rules})

    def text_table(self) -> TextTable:
        """The table as texts."""
        gold = any(judgement.gold is not None for judgement in self.judgements)
        level = f"{self.parameters['level']:.0%}"
        headers = (
            "system",
            "criterion",
            f"score [{level}]",
            "n",
            "unscored",
            "NA",
            "parse rate",
            "flips",
        )
        rows = []
        for (system, criterion), summary in self.summaries.items():
            cells = (
                system,
                criterion,
                format_interval(summary.score),
                format_count(summary.num_instances),
                format_count(summary.num_unscored),
                format_count(summary.num_na),
                format_share(summary.parse_rate),
                format_share(summary.positional_bias),
            )
            rows.append((*cells, format_share(self.gold_agreement(system, criterion))) if gold else cells)
        return TextTable(
            title=f"Direct assessment by {', '.join(self.parameters['judges'])}",
            headers=(*headers, "agrees with gold") if gold else headers,
            rows=tuple(rows),
            notes=self._notes(),
        )

    def to_markdown(self) -> str:
        """The summaries as a Markdown table."""
        return self.text_table().to_markdown()

    def to_dataset(self) -> datasets.Dataset:
        """A Hugging Face data set with one row a judgement, its votes inside."""
        import datasets  # noqa: PLC0415 - a second of import that only this needs

        return datasets.Dataset.from_list(list(self._records(votes=True)))

    def to_pandas(self) -> pd.DataFrame:
        """One row a judgement, without the votes."""
        import pandas as pd  # noqa: PLC0415 - as above

        return pd.DataFrame.from_records(list(self._records(votes=False)))

    def save(self, path: str | Path) -> None:
        """Write JSONL: a line with the parameters and criteria, then a line a judgement, votes and all."""
        with Path(path).open("w", encoding="utf-8") as file:
            file.writelines(line + "\n" for line in self.json_lines())

    def json_lines(self) -> Iterable[str]:
        """The lines that :meth:`save` writes."""
        header = {
            "evenhand": "judgements",
            "parameters": dict(self.parameters),
            "systems": self.systems,
            "criteria": [criterion.model_dump(mode="json") for criterion in self.criteria],
        }
        yield json.dumps(header, ensure_ascii=False)
        for judgement in self.judgements:
            line = {
                **_identity(judgement),
                "gold": judgement.gold,
                "verdict": judgement.verdict.model_dump(mode="json"),
            }
            yield json.dumps(line, ensure_ascii=False)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what :meth:`save` wrote.

        Raises:
            InvalidInputError: If the file is something else.
        """
        try:
            lines = [json.loads(line) for line in Path(path).read_text(encoding="utf-8").split("\n") if line]
            header = lines.pop(0)
            if header["evenhand"] != "judgements":
                raise KeyError(header["evenhand"])
            return cls(
                judgements=tuple(
                    Judgement(**{**line, "verdict": Verdict.model_validate(line["verdict"])}) for line in lines
                ),
                criteria=tuple(Criterion.model_validate(criterion) for criterion in header["criteria"]),
                systems=tuple(header["systems"]),
                parameters=header["parameters"],
            )
        except OSError as error:
            raise InvalidInputError(f"{str(path)!r} cannot be read ({error.strerror})") from error
        except (ValueError, LookupError, TypeError) as error:
            raise InvalidInputError(
                f"{str(path)!r} is not a saved table of judgements, or not a whole one; JudgementTable.save writes one"
            ) from error

    def __str__(self) -> str:
        return self.text_table().to_terminal()

    def __repr__(self) -> str:
        return (
            f"<JudgementTable of {len(self.systems)} system(s), {len(self.criteria)} criterion/criteria and "
            f"{self.parameters['n']} instances>\n{self}"
        )

    def _repr_html_(self) -> str:
        return self.text_table().to_html()

    def _cell(self, system: str, criterion: str) -> list[Judgement]:
        return [item for item in self.judgements if item.system == system and item.criterion == criterion]

    def _records(self, *, votes: bool) -> Iterable[dict[str, Any]]:
        for judgement in self.judgements:
            verdict = judgement.verdict
            record: dict[str, Any] = {
                **_identity(judgement),
                "selected_option": verdict.selected_label,
                "score": verdict.aggregated_value,
                "position_consistent": verdict.position_consistent,
                "agreement": verdict.agreement,
                "spread": verdict.spread,
                "na": verdict.na,
                "unscored_reason": verdict.unscored_reason,
                "assessment": verdict.assessment,
                "gold": judgement.gold,
            }
            if votes:
                record["votes"] = [_vote_record(vote.model_dump(mode="json")) for vote in verdict.votes]
            yield record

    def _notes(self) -> tuple[str, ...]:
        notes = []
        reasons: dict[str, int] = {}
        for summary in self.summaries.values():
            for reason, count in summary.unscored_votes.items():
                reasons[reason] = reasons.get(reason, 0) + count
        if reasons:
            listed = ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items()))
            notes.append(f"Votes without a selection: {listed}. They are in no score.")
        unscored = sum(summary.num_unscored for summary in self.summaries.values())
        if unscored:
            bounds = "; ".join(
                f"{system}, {criterion}: {format_count(summary.score_if_unscored_0, digits=3)} to "
                f"{format_count(summary.score_if_unscored_1, digits=3)}"
                for (system, criterion), summary in self.summaries.items()
                if summary.num_unscored
            )
            notes.append(f"Scores if every unscored instance had the lowest or the highest score: {bounds}.")
        if any("baseline" in judge for judge in self.parameters["judges"]):
            notes.append(
                "The baseline judge is text statistics without a model: the floor that a real judge must beat, "
                "not a measure of quality."
            )
        return tuple(notes)


def _identity(judgement: Judgement) -> dict[str, Any]:
    return {"instance": judgement.instance, "system": judgement.system, "criterion": judgement.criterion}


def _vote_record(vote: dict[str, Any]) -> dict[str, Any]:
    """A vote as a row of a data set: the same flat fields for every vote."""
    completion = vote["completion"] or {}
    plain = (
        "judge_id",
        "order",
        "sample",
        "selected_index",
        "selected_label",
        "value",
        "na",
        "assessment",
        "summary",
        "unscored_reason",
        "error",
        "weight",
        "reasks",
    )
    return {
        **{name: vote[name] for name in plain},
        "reply": completion.get("text"),
        "finish_reason": completion.get("finish_reason"),
        "calls": vote["usage"]["calls"],
        "prompt_tokens": vote["usage"]["prompt_tokens"],
        "completion_tokens": vote["usage"]["completion_tokens"],
        "cost": vote["usage"]["cost"],
    }


@dataclass(frozen=True, slots=True)
class _Plan:
    """What :func:`judge` asks, checked, before the first call."""

    rows: Sequence[Row]
    criteria: tuple[Criterion, ...]
    judges: tuple[JudgeEngine, ...]
    systems: tuple[str, ...]
    context_fields: Mapping[str, str] | None
    reference_field: str | None
    gold_fields: Mapping[str, str]
    settings: RunSettings

    def cells(self) -> list[tuple[int, str, Criterion]]:
        """What is judged: instance, system and criterion."""
        return [
            (instance, system, criterion)
            for criterion in self.criteria
            for system in self.systems
            for instance in range(len(self.rows))
        ]

    def questions(self) -> list[Question]:
        return [self._question(instance, system, criterion) for instance, system, criterion in self.cells()]

    def gold(self) -> list[str | None]:
        """The label that a person gave, a cell."""
        return [self._gold(instance, system, criterion) for instance, system, criterion in self.cells()]

    def run(self) -> JudgementTable:
        cells, gold = self.cells(), self.gold()
        votes = self.settings.run(self.questions(), self.judges)
        rule, policy = self.settings.aggregation, self.settings.on_position_bias
        return JudgementTable(
            judgements=tuple(
                Judgement(
                    instance=instance,
                    system=system,
                    criterion=criterion.name,
                    verdict=aggregate(cast, criterion, rule, on_position_bias=policy),
                    gold=label,
                )
                for (instance, system, criterion), cast, label in zip(cells, votes, gold, strict=True)
            ),
            criteria=self.criteria,
            systems=self.systems,
            parameters=self.parameters(),
        )

    def estimate(self) -> RunEstimate:
        self.gold()
        return self.settings.estimate(self.questions(), self.judges)

    def parameters(self) -> dict[str, Any]:
        """What the result repeats."""
        return {
            "evenhand_version": evenhand.__version__,
            "judges": [judge.judge_id for judge in self.judges],
            "n": len(self.rows),
            "context_fields": None if self.context_fields is None else dict(self.context_fields),
            "reference_field": self.reference_field,
            "gold_fields": dict(self.gold_fields),
            **self.settings.parameters(),
        }

    def _question(self, instance: int, system: str, criterion: Criterion) -> Question:
        row = self.rows[instance]
        fields = criterion.context_fields if self.context_fields is None else self.context_fields
        references: tuple[str, ...] = ()
        if self.reference_field is not None:
            reference = field_of(row, self.reference_field, instance, "reference_field")
            references = () if reference is None else (text_of(reference),)
        response = field_of(row, system, instance, "response_field")
        if response is None:
            raise InvalidInputError(
                f"instance {instance} has no response in {system!r} (it is None): leave the row out, or put '' there "
                "if the system answered with nothing"
            )
        return Question(
            id=f"{instance}/{system}/{criterion.name}",
            criterion=criterion,
            responses=(text_of(response),),
            context=context_of(row, fields, instance, references),
            references=references,
            instance=instance,
        )

    def _gold(self, instance: int, system: str, criterion: Criterion) -> str | None:
        column = self.gold_fields.get(criterion.name)
        if column is None:
            return None
        label = field_of(self.rows[instance], column.replace("{system}", system), instance, "gold_fields")
        return None if label is None else criterion.options[criterion.index_of(text_of(label))].label


@overload
def judge(
    dataset: object,
    criteria: object,
    engine: object,
    *,
    response_field: str | Sequence[str] = ...,
    context_fields: str | Sequence[str] | Mapping[str, str] | None = ...,
    reference_field: str | None = ...,
    gold_fields: Mapping[str, str] | None = ...,
    split: str | None = ...,
    dry_run: Literal[False] = ...,
    **options: Unpack[RunOptions],
) -> JudgementTable: ...


@overload
def judge(
    dataset: object,
    criteria: object,
    engine: object,
    *,
    response_field: str | Sequence[str] = ...,
    context_fields: str | Sequence[str] | Mapping[str, str] | None = ...,
    reference_field: str | None = ...,
    gold_fields: Mapping[str, str] | None = ...,
    split: str | None = ...,
    dry_run: Literal[True],
    **options: Unpack[RunOptions],
) -> RunEstimate: ...


def judge(
    dataset: object,
    criteria: object,
    engine: object,
    *,
    response_field: str | Sequence[str] = "response",
    context_fields: str | Sequence[str] | Mapping[str, str] | None = None,
    reference_field: str | None = None,
    gold_fields: Mapping[str, str] | None = None,
    split: str | None = None,
    dry_run: bool = False,
    **options: Unpack[RunOptions],
) -> JudgementTable | RunEstimate:
    """Assess every response of a data set against one or more criteria.

    Args:
        dataset: A ``datasets.Dataset``, a ``DatasetDict`` (with ``split``), or rows.
        criteria: A criterion, or several: catalog ids, paths, dicts, artifacts or frozen criteria.
        engine: The judge, or several that form a panel: catalog ids or engines.
        response_field: The column with the responses; several columns are several systems.
        context_fields: What the judge is shown beside the response: a column, several, or name shown -> column. Without
            it, each criterion says.
        reference_field: The column with a known good answer; ``reference`` when there is one.
        gold_fields: Criterion name -> column with the label that a person gave; ``{system}`` stands for the system.
        split: Which split of a ``DatasetDict``.
        dry_run: Return what the run would take, without a call.
        **options: How to judge; see :class:`~evenhand.judging.settings.RunOptions`.

    Returns:
        The table of judgements; with ``dry_run`` the estimated calls, tokens and cost.

    Raises:
        InvalidInputError: Data, fields or options that cannot be used; nothing has been called then.
        TooManyFailuresError: More votes failed than ``max_failure_rate`` allows; what was judged is journaled.
    """
    rows = read_rows(dataset, split)
    loaded = tuple(load_criterion(criterion) for criterion in listed(criteria))
    names = [criterion.name for criterion in loaded]
    if not names or len(set(names)) < len(names):
        raise InvalidInputError(f"the criteria are named {names!r}; give at least one, each once")
    unknown = sorted(set(gold_fields or {}) - set(names))
    if unknown:
        raise InvalidInputError(f"gold_fields names the criteria {unknown!r}, which are not judged; judged: {names!r}")
    plan = _Plan(
        rows=rows,
        criteria=loaded,
        judges=tuple(as_judge(item) for item in listed(engine)),
        systems=_systems(response_field),
        context_fields=None if context_fields is None else context_mapping(context_fields),
        reference_field=reference_field or next((name for name in sorted(REFERENCE_FIELDS) if name in rows[0]), None),
        gold_fields=dict(gold_fields or {}),
        settings=RunSettings.from_options(options, [criterion.scale for criterion in loaded]),
    )
    return plan.estimate() if dry_run else plan.run()


def _systems(response_field: str | Sequence[str]) -> tuple[str, ...]:
    systems = (response_field,) if isinstance(response_field, str) else tuple(response_field)
    if not systems or len(set(systems)) < len(systems):
        raise InvalidInputError(f"response_field is {response_field!r}; name at least one column, each once")
    return systems


def listed(given: object) -> list[object]:
    """One thing or a list of them, as a list."""
    return list(given) if isinstance(given, (list, tuple)) else [given]
