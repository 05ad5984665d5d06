# The public names for type checkers, as __init__.py has them.
from evenhand.by_name import from_results as from_results
from evenhand.by_name import open as open  # noqa: A004 - a public name
from evenhand.criteria import Checklist as Checklist
from evenhand.criteria import ChecklistItem as ChecklistItem
from evenhand.criteria import Criterion as Criterion
from evenhand.criteria import Option as Option
from evenhand.criteria import Rubric as Rubric
from evenhand.data.rows import read_log as read_log
from evenhand.engines.base import JudgeEngine as JudgeEngine
from evenhand.engines.free_engines import BaselineEngine as BaselineEngine
from evenhand.engines.free_engines import SimulatedEngine as SimulatedEngine
from evenhand.engines.hosted import LiteLLMEngine as LiteLLMEngine
from evenhand.engines.hosted import OpenAICompatibleEngine as OpenAICompatibleEngine
from evenhand.errors import EvenhandError as EvenhandError
from evenhand.functions import aggregate_votes as aggregate_votes
from evenhand.functions import agreement as agreement
from evenhand.functions import checklist as checklist
from evenhand.functions import grade_scores as grade_scores
from evenhand.functions import judge as judge
from evenhand.functions import read_replies as read_replies
from evenhand.functions import reliability as reliability
from evenhand.functions import run_mode as run_mode
from evenhand.functions import winrates as winrates
from evenhand.integrations.hf_evaluate import evaluation_module as evaluation_module
from evenhand.judges import Judge as Judge
from evenhand.labels.blind_sheet import read_labels as read_labels
from evenhand.labels.blind_sheet import to_label as to_label
from evenhand.labels.correct import CorrectedScores as CorrectedScores
from evenhand.labels.correct import correct as correct
from evenhand.labels.plan import plan as plan
from evenhand.metrics import register as register
from evenhand.metrics.judge_metrics import BestOfJudge as BestOfJudge
from evenhand.metrics.judge_metrics import ChecklistJudge as ChecklistJudge
from evenhand.metrics.judge_metrics import DirectJudge as DirectJudge
from evenhand.metrics.judge_metrics import GradeScore as GradeScore
from evenhand.metrics.judge_metrics import ModeJudge as ModeJudge
from evenhand.metrics.judge_metrics import PairwiseJudge as PairwiseJudge
from evenhand.metrics.judge_metrics import RubricJudge as RubricJudge
from evenhand.metrics.judge_metrics import VoteAggregation as VoteAggregation
from evenhand.modes.mode import Mode as Mode
from evenhand.modes.mode import Subject as Subject
from evenhand.parsing import match_closest_option as match_closest_option
from evenhand.question import Question as Question
from evenhand.reliability_report import ReliabilityReport as ReliabilityReport
from evenhand.result_methods import ResultMethods
from evenhand.run_jobs import run as run
from evenhand.unitxt.loading import load as load
from evenhand.votes import Completion as Completion
from evenhand.votes import Verdict as Verdict
from evenhand.votes import Vote as Vote

Results = ResultMethods
__version__: str
