"""Criteria of three options, questions on one of them, and a run of these."""

from evenhand.criteria import Criterion, Option
from evenhand.judging.conversation import Flow
from evenhand.judging.estimate import estimate
from evenhand.judging.run import ask
from evenhand.options import Grid, RunOptions
from evenhand.question import Question

LEVELS = Criterion(
    name="level",
    description="How good is it?",
    options=(Option(label="High", value=1.0), Option(label="Mid", value=0.5), Option(label="Low", value=0.0)),
)
QUALITY = Criterion(
    name="quality",
    description="How good is it?",
    options=tuple(Option(label=label, value=value) for label, value in (("Bad", 0.0), ("Fair", 0.5), ("Good", 1.0))),
)
ONCE = Grid(check_positional_bias=False)


def questions(count, text="answer {}"):
    return [
        Question(id=str(number), criterion=LEVELS, responses=(text.format(number),), instance=number)
        for number in range(count)
    ]


def run_options(*, grid=None, journal=None, **limits):
    """The options of a run of tests: without a progress bar, and with any number of failures."""
    path = None if journal is None else journal.path
    return RunOptions(**dict(grid or Grid()), **{"progress": False, "max_failure_rate": 1.0, "journal": path, **limits})


def run(asked, judges, *, flow=None, **options):
    return ask(asked, judges, run_options(**options), flow or Flow())


def estimated(asked, judges, *, flow=None, **options):
    return estimate(asked, judges, run_options(**options), flow or Flow())


def selections(votes):
    return [[(vote.judge_id, vote.order, vote.sample, vote.selected_label) for vote in row] for row in votes]
