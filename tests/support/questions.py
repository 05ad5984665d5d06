"""Criteria of three options, questions on one of them, and a run of these."""

from evenhand.criteria import Criterion, Option
from evenhand.judging.conversation import Flow
from evenhand.judging.run import run_votes
from evenhand.options import Grid, Limits
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


def run(asked, judges, *, grid=None, flow=None, journal=None, weights=None, **limits):
    return run_votes(
        asked,
        judges,
        grid=grid or Grid(),
        flow=flow or Flow(),
        limits=Limits(**{"progress": False, "max_failure_rate": 1.0, **limits}),
        journal=journal,
        weights=weights,
    )


def selections(votes):
    return [[(vote.judge_id, vote.order, vote.sample, vote.selected_label) for vote in row] for row in votes]
