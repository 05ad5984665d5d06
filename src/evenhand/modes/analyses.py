"""The analyses of results by the kinds that saved files name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from evenhand.modes.any_mode import ModeAnalysis
from evenhand.modes.checklist import ChecklistAnalysis
from evenhand.modes.grade_scores import GradeAnalysis
from evenhand.modes.judgements import JudgementAnalysis
from evenhand.modes.recorded_votes import AgreementAnalysis, VoteAnalysis
from evenhand.modes.winrates import WinrateAnalysis
from evenhand.results.analysis import Analysis

ANALYSES: Final[Mapping[str, type[Analysis]]] = {
    analysis.kind: analysis
    for analysis in (
        JudgementAnalysis,
        WinrateAnalysis,
        ChecklistAnalysis,
        GradeAnalysis,
        ModeAnalysis,
        VoteAnalysis,
        AgreementAnalysis,
    )
}
"""Kind -> what its way of judging makes of votes."""
