"""A recorded vote as a person or a file gives it, to the option of the criterion that it stands for.

A vote is a label, a number, a truth value, or nothing: :mod:`evenhand.cells` says which option each of them is, for
votes, gold labels and the labels of examples alike. Nothing is an abstention. Who is not named at all (a list that is
shorter than others, a mapping without the judge, a row without the column) was not asked: that is no vote, and no
abstention.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import SupportsIndex, TypeAlias

from evenhand.cells import NOT_ASKED, LabelReader, held_in
from evenhand.criteria import Criterion, Option
from evenhand.errors import InvalidInputError
from evenhand.votes import Vote

RecordedVote: TypeAlias = str | bool | float | SupportsIndex | None
"""A label, the value of an option, whether it is so, or None for an abstention."""

RecordedVotes: TypeAlias = Sequence[RecordedVote] | Mapping[str, RecordedVote]
"""The votes of one instance: one a judge in a fixed order, or judge -> vote."""

YES_OR_NO = Criterion(
    name="votes",
    description="Is it so?",
    options=(Option(label="No", value=0.0), Option(label="Yes", value=1.0)),
    scale="binary",
)
"""What binary votes are about when nothing else is said."""


class VoteReader(LabelReader):
    """Reads the votes on one criterion."""

    def votes(self, recorded: object, where: str) -> tuple[Vote, ...]:
        """The votes of one instance.

        Args:
            recorded: A list with one vote a judge, or a mapping judge -> vote.
            where: Which instance it is, for the messages.

        Raises:
            InvalidInputError: If it is something else, or a vote cannot be read.
        """
        named = {judge: vote for judge, vote in named_votes(recorded, where).items() if vote is not NOT_ASKED}
        judges = list(named)
        read = self.read(list(named.values()), lambda place: f"{where}: the judge {judges[place]!r} voted")
        return tuple(self.vote(judge, index) for judge, index in zip(judges, read, strict=True))

    def vote(self, judge: str, index: int | None) -> Vote:
        """The vote of a judge for an option; an abstention where there is none."""
        order = tuple(range(len(self.criterion.options)))
        if index is None:
            return Vote(judge_id=judge, order=order, unscored_reason="abstained")
        option = self.criterion.options[index]
        return Vote(
            judge_id=judge,
            order=order,
            selected_index=index,
            selected_label=option.label,
            value=option.value,
            na=option.na,
        )


def named_votes(recorded: object, where: str, *, prefix: str = "judge") -> dict[str, object]:
    """The votes of one instance by judge; in a list, the judges are ``judge_0``, ``judge_1``, ….

    A text that holds a list or a mapping, as JSON or as Python writes it, is read as what it holds: unitxt's default
    post-processor makes such texts of predictions.

    Args:
        recorded: A list or a mapping.
        where: Which instance it is, for the message.
        prefix: Of the names of judges in a list.

    Raises:
        InvalidInputError: If it is something else.

    >>> named_votes(["yes", None], "instance 0")
    {'judge_0': 'yes', 'judge_1': None}
    """
    given = held_in(recorded, where) if isinstance(recorded, str) else recorded
    if hasattr(given, "tolist"):  # a numpy array or a pandas series
        given = given.tolist()
    if isinstance(given, Mapping):
        return {str(judge): vote for judge, vote in given.items()}
    if isinstance(given, Sequence) and not isinstance(given, str | bytes):
        return {f"{prefix}_{place}": vote for place, vote in enumerate(given)}
    raise InvalidInputError(
        f"{where}: the recorded votes are {recorded!r}; give a list with one vote a judge, or a mapping judge -> vote"
    )


def judge_weights(weights: object, votes: Sequence[Vote], where: str) -> dict[str, float] | None:
    """The weight of each judge that voted on an instance.

    Args:
        weights: Judge -> weight, or for votes in a list one weight a vote; None for none.
        votes: As they were read.
        where: Which instance it is, for the message.

    Raises:
        InvalidInputError: If a judge has no weight, or a list is not as long as that of the votes.
    """
    if weights is None:
        return None
    judges = [vote.judge_id for vote in votes]
    if isinstance(weights, Mapping):
        named = {str(judge): weight for judge, weight in weights.items()}
        if missing := [judge for judge in judges if judge not in named]:
            raise InvalidInputError(
                f"{where}: the weights {named!r} name no weight for the judge {missing[0]!r}; give one for each of "
                f"{judges!r}"
            )
        return {judge: named[judge] for judge in judges}
    if not isinstance(weights, Sequence) or isinstance(weights, str):
        raise InvalidInputError(f"the weights are {weights!r}; give a list, one a judge, or a mapping judge -> weight")
    if judges != [f"judge_{place}" for place in range(len(weights))]:
        raise InvalidInputError(
            f"{where}: there are {len(weights)} weights in a list for the judges {judges!r}; give one a vote in the "
            "order of the votes, or for judges with names a mapping judge -> weight"
        )
    return {judge: float(weight) for judge, weight in zip(judges, weights, strict=True)}
