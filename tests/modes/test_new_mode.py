"""A new way of judging is one file: what is defined here is a metric, a function, a table, a saved form and a verb."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar

import pandas as pd
import pytest

import evenhand
from evenhand.criteria import Criterion, Option
from evenhand.engines.free_engines import SimulatedEngine
from evenhand.errors import InvalidInputError
from evenhand.modes.mode import Mode, Subject
from evenhand.numbers import Missing, format_level, measure, or_missing
from evenhand.statistics import Interval, mean_intervals
from evenhand.unitxt.bases import EvaluationInput, fetch_artifact
from evenhand.votes import Verdict

QUIET = {"progress": False, "journal": None}


@dataclass(frozen=True)
class ToneMeasures:
    """How many responses have which tone."""

    wanted: Interval | Missing = measure("share", name="")
    tones: Mapping[str, int] = measure("count", name="num")


@dataclass(frozen=True)
class ToneMode(Mode[Verdict]):
    """Which tone a response has, and how often it is the one that is wanted."""

    tones: tuple[str, ...] = ("friendly", "neutral", "harsh")
    wanted: str = "friendly"

    kind: ClassVar = "tone"
    run_defaults: ClassVar = MappingProxyType({"flow": "one_step"})

    def questions(self, about: Subject):
        return [
            about.question(f"{about.instance}/{name}", self._tone(), (text,))
            for name, text in about.texts.items()
            if text
        ]

    def result(self, about: Subject, votes):
        return self.rules.aggregate(votes[0], self._tone()) if votes else Verdict(unscored_reason="missing_response")

    def record(self, about: Subject, result: Verdict) -> dict[str, Any]:
        tone = result.selected_label
        return {"score": None if tone is None else float(tone == self.wanted), "tone": tone}

    def measures(self, subjects, results, level):
        hits = [float("nan") if each.selected_label is None else each.selected_label == self.wanted for each in results]
        counts = Counter(each.selected_label for each in results if each.selected_label is not None)
        return ToneMeasures(or_missing(mean_intervals(hits, level=level)[0], "no tone was read"), dict(counts))

    def _tone(self) -> Criterion:
        options = tuple(Option(label=tone, value=None) for tone in self.tones)
        return Criterion(name="tone", description="Which tone has it?", options=options, scale="nominal")


ROWS = [{"a": f"Good day number {row}.", "b": None if row == 0 else f"No. {row}"} for row in range(6)]
JUDGE = SimulatedEngine(seed=2)


def toned(**more):
    return evenhand.run_mode(ROWS, ToneMode, JUDGE, response_fields=["a", "b"], **{**QUIET, **more})


def test_the_function_judges_each_system_and_prints_its_measures():
    found = toned()
    assert [(each.instance, each.system) for each in found] == [(row, system) for system in "ab" for row in range(6)]
    assert found["0/b/None"].views[0].unscored_reason == "missing_response"
    assert found.run_file["mode"] == "tone"
    table = found.to_pandas()
    assert list(table.columns) == ["instance", "system", "score", "tone", "cluster"]
    for system, measures in found.measures.items():
        own = table[table.system == system]
        assert measures.tones == Counter(own.tone.dropna())
        assert measures.wanted.estimate == pytest.approx(own.score.mean())
        assert measures.wanted.low < own.score.mean() < measures.wanted.high
    printed = str(found)
    assert f"score [{format_level(0.95)}]" in printed
    assert all(f"num {tone}" in printed for tone in found.measures["a"].tones)


def test_it_is_saved_opened_filtered_compared_and_read_again(tmp_path):
    found = toned(samples=3, mode_options={"wanted": "harsh"})
    found.save(tmp_path / "tones.parquet")
    again = evenhand.open(tmp_path / "tones.parquet")
    assert (again, str(again)) == (found, str(found))
    assert again.mode.wanted == "harsh"
    assert len(pd.read_parquet(tmp_path / "tones.parquet")) == 11 * 2 * 3 + 1  # 11 responses, 2 orders, 3 draws
    assert list(found.filter(system="b").measures) == ["b"]
    friendly = toned(samples=3)
    shares = [each.measures["a"].wanted.estimate for each in (found, friendly)]
    difference = found.compare(friendly).groups[("a",)].difference
    assert difference.estimate == pytest.approx(shares[1] - shares[0])
    abstained = found.rescore(on_position_bias="abstain")
    changed = [each.instance for each in abstained if each.result.unscored_reason == "inconsistent"]
    assert changed == [each.instance for each in found if each.result.position_consistent is False]


@dataclass(frozen=True)
class RankingMode(ToneMode):
    """A ranking, which is not a choice of one response."""

    kind: ClassVar = "ranking"
    compares: ClassVar = True

    def questions(self, about: Subject):
        options = tuple(Option(label=label) for label in ("A > B", "B > A", "A = B"))
        criterion = Criterion(name="order", description="In which order?", options=options, scale="nominal")
        return [about.question(str(about.instance), criterion, about.responses, mode="choose")]


@pytest.mark.parametrize("dry_run", [False, True])
def test_a_mode_whose_options_are_not_the_responses_is_refused(dry_run):
    rows = [{"a": "x", "b": "y", "c": "z"}]
    with pytest.raises(InvalidInputError, match="A ranking is not a choice of one option"):
        evenhand.run_mode(rows, RankingMode, JUDGE, response_fields=["a", "b", "c"], dry_run=dry_run, **QUIET)


def test_a_recipe_takes_it_by_its_kind():
    evenhand.register()
    fetched, _ = fetch_artifact("metrics.evenhand.mode[mode=tone, inference_engine=engines.evenhand.simulated[seed=2]]")
    metric = evenhand.ModeJudge(
        mode="tone", mode_options={"wanted": "harsh"}, inference_engine=fetched.inference_engine
    )
    metric.progress, metric.journal = False, None
    given = [EvaluationInput(row["a"], [], {}) for row in ROWS]
    mapped = metric.map_stream(given)
    instances = [metric.annotate_scores(metric.reduce_one(each)) for each in mapped]
    together = metric.annotate_scores(metric.reduce(mapped))
    assert [each["tone"] for each in instances] == [float(each["tone_tone"] == "harsh") for each in instances]
    assert together["tone"] == together["score"] == pytest.approx(sum(each["tone"] for each in instances) / 6)
    assert together["tone_ci_low"] < together["tone"] < together["tone_ci_high"]
    assert sum(value for name, value in together.items() if name.startswith("tone_num_")) == 6
