"""Votes by hand: what one judge said in both orders, draw by draw."""

from evenhand.aggregation.verdict import VoteRules, aggregate
from evenhand.criteria import Criterion, Option, yes_no_criterion
from evenhand.judge_reliability.reliability import Asked, Questions, criterion_reliability
from evenhand.question import comparison_criterion
from evenhand.statistics.intervals import IntervalLevel
from evenhand.votes import Vote

FEW_DRAWS = IntervalLevel(resamples=50)
BETTER = comparison_criterion("better", "Which response is better?", allow_ties=True)
PLAIN = comparison_criterion("better", "Which response is better?")
CITES = yes_no_criterion("cites", "Does the response cite a source?")
CLEAR = Criterion(
    name="clear",
    description="Is the response clear?",
    options=(
        Option(label="Good", value=1.0),
        Option(label="Fair", value=0.5),
        Option(label="Bad", value=0.0),
        Option(label="N/A", na=True),
    ),
)


def vote_on(criterion, label, order, sample=0, *, reason="no_match", **more):
    """A vote for a label; None for a reply that names none."""
    if label is None:
        return Vote(judge_id="judge", order=order, sample=sample, unscored_reason=reason, **more)
    index = criterion.index_of(label)
    option = criterion.options[index]
    return Vote(
        judge_id="judge",
        order=order,
        sample=sample,
        selected_index=index,
        selected_label=option.label,
        value=option.value,
        na=option.na,
        **more,
    )


def orders_of(criterion):
    places = 2 if criterion.scale == "pairwise" else len(criterion.options)
    given = tuple(range(places))
    return given, given[::-1]


def asked(criterion, draws, instance=0, *, label=None, lengths=None, **more):
    """A question: one tuple per draw, with the label selected in the given order and in the reverse."""
    votes = [
        vote_on(criterion, said, order, sample, **more)
        for sample, pair in enumerate(draws)
        for order, said in zip(orders_of(criterion), pair, strict=False)
    ]
    return Asked(instance, aggregate(votes, criterion), label, lengths or ())


def comparison(draws, instance=0, *, criterion=BETTER, label=None, lengths=None, **more):
    """A comparison in which A, B and T name the first response, the second, and a tie, whatever was shown where."""
    names = {"A": "Response A", "B": "Response B", "T": "Tie", None: None}
    pairs = [tuple(names[said] for said in pair) for pair in draws]
    return asked(criterion, pairs, instance, label=label, lengths=lengths, **more)


def report(questions, criterion=BETTER, level=FEW_DRAWS):
    return criterion_reliability("judge", Questions(criterion, VoteRules(), tuple(questions)), level=level)
