"""The analyses of results by the kinds that saved files name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from evenhand.modes.any_mode import ModeAnalysis
from evenhand.modes.checked import ChecklistAnalysis
from evenhand.modes.judgements import JudgementAnalysis
from evenhand.results.analysis import Analysis
from evenhand.tables.grade_table import GradeAnalysis
from evenhand.tables.recorded_votes import AgreementAnalysis, VoteAnalysis
from evenhand.tables.winrate_table import WinrateAnalysis

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
