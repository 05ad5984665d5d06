"""evenhand: LLM judges for unitxt, with honest error bars.

Each public name is imported when it is first used: ``import evenhand`` loads no library. unitxt and datasets are loaded
only where their objects, ids or recipes are used.
"""

from importlib import import_module

from evenhand.version import __version__ as __version__

_NAMES = {
    "evenhand.by_name": ("from_results", "open"),
    "evenhand.criteria": ("Checklist", "ChecklistItem", "Criterion", "Option", "Rubric"),
    "evenhand.data.rows": ("read_log",),
    "evenhand.engines.base": ("JudgeEngine",),
    "evenhand.engines.free_engines": ("BaselineEngine", "SimulatedEngine"),
    "evenhand.engines.hosted": ("LiteLLMEngine", "OpenAICompatibleEngine"),
    "evenhand.errors": ("EvenhandError",),
    "evenhand.functions": (
        "aggregate_votes",
        "agreement",
        "checklist",
        "grade_scores",
        "judge",
        "read_replies",
        "reliability",
        "run_mode",
        "winrates",
    ),
    "evenhand.integrations.hf_evaluate": ("evaluation_module",),
    "evenhand.judges": ("Judge",),
    "evenhand.labels.blind_sheet": ("read_labels", "to_label"),
    "evenhand.labels.correct": ("CorrectedScores", "correct"),
    "evenhand.labels.plan": ("plan",),
    "evenhand.metrics": ("register",),
    "evenhand.metrics.judge_metrics": (
        "BestOfJudge",
        "ChecklistJudge",
        "DirectJudge",
        "GradeScore",
        "ModeJudge",
        "PairwiseJudge",
        "RubricJudge",
        "VoteAggregation",
    ),
    "evenhand.modes.mode": ("Mode", "Subject"),
    "evenhand.parsing": ("match_closest_option",),
    "evenhand.question": ("Question",),
    "evenhand.reliability_report": ("ReliabilityReport",),
    "evenhand.results.results": ("Results",),
    "evenhand.run_jobs": ("run",),
    "evenhand.unitxt.loading": ("load",),
    "evenhand.votes": ("Completion", "Verdict", "Vote"),
}
_HOMES = {name: home for home, names in _NAMES.items() for name in names}
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
