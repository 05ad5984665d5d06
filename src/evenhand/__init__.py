"""evenhand: LLM judges for unitxt, with honest error bars.

Each public name is imported when it is first used: ``import evenhand`` loads no library. unitxt and datasets are loaded
only where their objects, ids or recipes are used.
"""

from importlib import import_module

from evenhand.version import __version__ as __version__

_HOMES = {
    "BaselineEngine": "evenhand.engines.free_engines",
    "BestOfJudge": "evenhand.metrics.judge_metrics",
    "Checklist": "evenhand.criteria",
    "ChecklistItem": "evenhand.criteria",
    "ChecklistJudge": "evenhand.metrics.judge_metrics",
    "Completion": "evenhand.votes",
    "CorrectedScores": "evenhand.labels.correct",
    "Criterion": "evenhand.criteria",
    "DirectJudge": "evenhand.metrics.judge_metrics",
    "EvenhandError": "evenhand.errors",
    "GradeScore": "evenhand.metrics.judge_metrics",
    "Judge": "evenhand.judges",
    "JudgeEngine": "evenhand.engines.base",
    "LiteLLMEngine": "evenhand.engines.hosted",
    "Mode": "evenhand.modes.mode",
    "ModeJudge": "evenhand.metrics.judge_metrics",
    "OpenAICompatibleEngine": "evenhand.engines.hosted",
    "Option": "evenhand.criteria",
    "PairwiseJudge": "evenhand.metrics.judge_metrics",
    "Question": "evenhand.question",
    "ReliabilityReport": "evenhand.reliability_report",
    "Results": "evenhand.results.results",
    "Rubric": "evenhand.criteria",
    "RubricJudge": "evenhand.metrics.judge_metrics",
    "SimulatedEngine": "evenhand.engines.free_engines",
    "Subject": "evenhand.modes.mode",
    "Verdict": "evenhand.votes",
    "Vote": "evenhand.votes",
    "VoteAggregation": "evenhand.metrics.judge_metrics",
    "aggregate_votes": "evenhand.functions",
    "agreement": "evenhand.functions",
    "checklist": "evenhand.functions",
    "correct": "evenhand.labels.correct",
    "evaluation_module": "evenhand.integrations.hf_evaluate",
    "from_results": "evenhand.by_name",
    "grade_scores": "evenhand.functions",
    "judge": "evenhand.functions",
    "load": "evenhand.unitxt.loading",
    "match_closest_option": "evenhand.parsing",
    "open": "evenhand.by_name",
    "plan": "evenhand.labels.plan",
    "read_labels": "evenhand.labels.blind_sheet",
    "read_log": "evenhand.data.rows",
    "read_replies": "evenhand.functions",
    "register": "evenhand.metrics",
    "reliability": "evenhand.functions",
    "run": "evenhand.run_jobs",
    "run_mode": "evenhand.functions",
    "to_label": "evenhand.labels.blind_sheet",
    "winrates": "evenhand.functions",
}
"""The public names, and their modules; ``__init__.pyi`` says the same to type checkers."""

_METHODS = {"ResultMethods": "evenhand.result_methods"}
"""The methods of results that need labels, checks, pictures or pages: imported when one is used."""

__all__ = sorted(_HOMES)  # noqa: PLE0605 - a type checker reads the stub


def __getattr__(name: str) -> object:
    home = _HOMES.get(name) or _METHODS.get(name)
    if home is None:
        raise AttributeError(f"module 'evenhand' has no attribute {name!r}")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return __all__
