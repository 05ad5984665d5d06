"""A recorded vote as a person or a file gives it, to the option of the criterion that it stands for.

A vote is a label, an index, or nothing. Labels are compared without regard to case and spaces. Where the criterion's
own labels are numbers, a number is a label and never an index, so that a grade of 1 to 5 is not read as the place of
another one. On a binary criterion a boolean says whether it is met. ``None``, NaN and an empty text are an abstention:
missing, and neither the lowest nor the highest level. So are the texts ``None``, ``nan`` and ``null``, unless they are
labels: unitxt writes a missing reference or prediction of a recipe so. Who is not named at all (a list that is shorter
than others, a mapping without the judge, a row without the column) was not asked: that is no vote, and no abstention.
"""

from __future__ import annotations

import ast
import json
import math
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import SupportsIndex, TypeAlias

from evenhand.aggregation import worst_option
from evenhand.criteria import Criterion, Option, fold_label
from evenhand.errors import InvalidInputError, did_you_mean
from evenhand.votes import Vote, is_missing

RecordedVote: TypeAlias = str | bool | float | SupportsIndex | None
"""A label, an index, whether a binary criterion is met, or None for an abstention."""

RecordedVotes: TypeAlias = Sequence[RecordedVote] | Mapping[str, RecordedVote]
"""The votes of one instance: one a judge in a fixed order, or judge -> vote."""

YES_OR_NO = Criterion(
    name="votes",
    description="Is it so?",
    options=(Option(label="No", value=0.0), Option(label="Yes", value=1.0)),
    scale="binary",
)
"""What binary votes are about when nothing else is said; here the index of an answer is its truth value."""

NOT_ASKED = object()
"""The cell of who was not asked about an instance: a row without the column, a list that is shorter than others, a
mapping that does not name the judge. It is no vote and no abstention, and counts nowhere."""

_TRUTH = {"true": True, "false": False}
_WRITTEN_NOTHING = frozenset({"none", "nan", "null"})


def is_abstention(vote: object) -> bool:
    """Whether nothing was recorded: None, NaN, or a text without content.

    >>> [is_abstention(vote) for vote in (None, float("nan"), " ", 0, False, "no")]
    [True, True, True, False, False, False]
    """
    if isinstance(vote, str):
        return not vote.strip()
    return is_missing(vote)


def is_written_nothing(vote: object) -> bool:
    """Whether it is the text that Python or JSON makes of nothing.

    >>> [is_written_nothing(vote) for vote in ("None", "NaN", "null", None, "no")]
    [True, True, True, False, False]
    """
    return isinstance(vote, str) and fold_label(vote) in _WRITTEN_NOTHING


@dataclass(frozen=True, slots=True)
class VoteReader:
    """Reads the votes on one criterion.

    Attributes:
        criterion: Whose options are voted on.
        met: For a binary criterion the index of the option that says that it is met.
        numerals: Whether one of the labels is a number, so that numbers are labels.
    """

    criterion: Criterion
    met: int | None
    numerals: bool
    _places: Mapping[str, int]

    @classmethod
    def of(cls, criterion: Criterion) -> VoteReader:
        """The reader of a criterion's votes.

        Raises:
            InvalidInputError: If it is something else.
        """
        if not isinstance(criterion, Criterion):
            raise InvalidInputError(
                f"the criterion is {criterion!r}; give a Criterion, such as "
                "evenhand.load('criteria.evenhand.direct.relevance')"
            )
        scored = [index for index, option in enumerate(criterion.options) if not option.na]
        met = None
        if criterion.scale == "binary":
            unmet = worst_option(criterion.model_copy(update={"weight": 1.0}), scored)
            met = next(index for index in scored if index != unmet)
        return cls(
            criterion=criterion,
            met=met,
            numerals=any(_number(label) is not None for label in criterion.labels),
            _places={fold_label(label): index for index, label in enumerate(criterion.labels)},
        )

    def index_of(self, vote: object, who: str) -> int | None:
        """The option that a vote stands for; None for an abstention.

        Args:
            vote: As it was recorded.
            who: The beginning of a message about it: whose vote it is, and a verb.

        Raises:
            InvalidInputError: If the vote is no label, no index and no abstention.
        """
        if vote is NOT_ASKED or is_abstention(vote):
            return None
        found = self._of_truth(vote) if isinstance(vote, bool) else self._of_text(vote)
        if found is None:
            found = self._of_number(vote)
        if found is None and not is_written_nothing(vote):
            raise InvalidInputError(self._refusal(vote, who))
        return found

    def votes(self, recorded: object, where: str) -> tuple[Vote, ...]:
        """The votes of one instance.

        Args:
            recorded: A list with one vote a judge, or a mapping judge -> vote.
            where: Which instance it is, for the messages.

        Raises:
            InvalidInputError: If it is something else, or a vote cannot be read.
        """
        return tuple(
            self._vote(judge, vote, where)
            for judge, vote in named_votes(recorded, where).items()
            if vote is not NOT_ASKED
        )

    def _vote(self, judge: str, recorded: object, where: str) -> Vote:
        order = tuple(range(len(self.criterion.options)))
        index = self.index_of(recorded, f"{where}: the judge {judge!r} voted")
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

    def _of_truth(self, vote: bool) -> int | None:
        """The option that says that a binary criterion is met, or the one that says that it is not."""
        if self.met is None:
            return None
        unmet = next(i for i, option in enumerate(self.criterion.options) if not option.na and i != self.met)
        return self.met if vote else unmet

    def _of_text(self, vote: object) -> int | None:
        folded = fold_label(str(vote))
        if folded in self._places:
            return self._places[folded]
        if self.numerals and (number := _number(folded)) is not None:
            return next((i for label, i in self._places.items() if _number(label) == number), None)
        return self._of_truth(_TRUTH[folded]) if folded in _TRUTH else None

    def _of_number(self, vote: object) -> int | None:
        """The option at an index, unless numbers are labels here."""
        if self.numerals or isinstance(vote, bool):
            return None
        number = _number(vote)
        whole = None if number is None or number != int(number) else int(number)
        return whole if whole is not None and 0 <= whole < len(self.criterion.options) else None

    def _refusal(self, vote: object, who: str) -> str:
        last = len(self.criterion.options) - 1
        index = "(they are numbers, so a number is a label, not an index)" if self.numerals else f"an index 0 … {last}"
        return (
            f"{who} {vote!r}, which is no option of {self.criterion.name!r}. "
            f"{did_you_mean(vote, self.criterion.labels)[:-1]}{' ' if self.numerals else ', '}{index}, or None for an "
            "abstention"
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
    given = _parsed(recorded) if isinstance(recorded, str) else recorded
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


def _parsed(text: str) -> object:
    """The list or mapping that a text holds; the text itself when it holds none."""
    if text.strip()[:1] not in {"[", "{", "("}:
        return text
    for parse in (json.loads, _literal):
        try:
            return parse(text)
        except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
            continue
    return text


def _literal(text: str) -> object:
    """What a Python literal stands for; a bare ``nan`` in it, as pandas has for nothing, is None."""
    tree = ast.parse(text, mode="eval")
    return ast.literal_eval(_WithoutNan().visit(tree))


class _WithoutNan(ast.NodeTransformer):
    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Constant(None) if node.id == "nan" else node


def _number(value: object) -> float | None:
    """The number that a value is or that a text shows; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, str | float | SupportsIndex):
        return None
    try:
        number = float(value if isinstance(value, str | float) else operator.index(value))
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None
