"""One question to a judge: choose one option about one subject. Every mode of evenhand asks nothing else.

A question about one response shows the criterion's options in some order. A comparison shows the responses in some
order, as A, B, … (or, where the best of several is chosen, as 1, 2, …), and the options follow the places. An item of
a checklist that is asked in one call with the others shows all items in some order. Either way an ``order`` is a
permutation: place ``i`` shows item ``order[i]`` of the question's own order, and :meth:`Question.present` says what the
judge sees and how a choice is read back.
"""

from __future__ import annotations

import string
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

from evenhand.criteria import Criterion, Option, fold_label
from evenhand.errors import InvalidInputError

Mode = Literal["assess", "compare", "choose", "check"]

GRADED_LEVELS = (
    ("{a} is much better", 1.0),
    ("{a} is slightly better", 0.75),
    ("Both are equally good", 0.5),
    ("{b} is slightly better", 0.25),
    ("{b} is much better", 0.0),
)


TIE = 0.5
"""The value of an option of a comparison that prefers neither response."""

Classifications = tuple[tuple[str, ...], ...]
"""How data are classified: a tuple of classes for each row that they come from; an engine must allow one of them."""


@dataclass(frozen=True, slots=True)
class Example:
    """One judged case that a judge is shown before its own.

    Attributes:
        response: The judged response.
        label: The label of the option that it was given.
        context: The texts that were shown with it: name -> text.
        data_classifications: The classes of the rows that hold it.
    """

    response: str
    label: str
    context: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    data_classifications: Classifications = ()


@dataclass(frozen=True, slots=True)
class Presentation:
    """The parts of a question as one order shows them, and the meaning of a choice in it.

    Attributes:
        order: The permutation shown.
        options: The options as shown.
        responses: The responses as shown.
        to_own: Index of a shown option -> its index in the criterion's own order.
        coded: The judge names an option by a short code instead of its label, so that one token distinguishes them.
    """

    order: tuple[int, ...]
    options: tuple[Option, ...]
    responses: tuple[str, ...]
    to_own: tuple[int, ...]
    coded: bool = False

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels as shown."""
        return tuple(option.label for option in self.options)

    @property
    def answers(self) -> tuple[str, ...]:
        """The judge's names for the options: their labels, or their codes.

        Options with numbers in their labels have letters, but for those that name the places of several responses.
        """
        if not self.coded:
            return self.labels
        numbered = any(character.isdigit() for label in self.labels for character in label)
        return option_codes(len(self.options), letters=numbered and len(self.responses) == 1)


@dataclass(frozen=True, slots=True)
class Question:
    """One option to be chosen about one subject.

    Attributes:
        id: Names the question within a run, and nothing else.
        criterion: Its options are the answers.
        responses: One for an assessment or a check, two for a comparison, two or more for a choice, in their own order.
        context: The texts that the judge is shown with the responses: name -> text.
        references: Known good answers. An engine may look at them (the baseline does); the prompt shows them only
            when they are part of ``context``.
        mode: ``assess`` (the order permutes the options), ``compare`` (the order permutes the responses), ``choose``
            (so too, and the options name the places by number), or ``check`` (an item of a sheet, whose order
            permutes the items).
        instance: The row of the data that the question belongs to; all questions of a row are one cluster.
        draw_key: The name of the instance in seeded draws, independent of its row number in this part of the data; the
            row number when empty.
        data_classifications: The classes of the rows that are shown; the engine must allow each row.
        sheet: The name of the questions about one response that are asked together, in one call; alone when empty.
        sheet_size: The number of these questions.
        examples: Judged cases that are shown first.
        guidelines: Instructions for the judge, in addition to the criterion.
    """

    id: str
    criterion: Criterion
    responses: tuple[str, ...]
    context: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    references: tuple[str, ...] = ()
    mode: Mode = "assess"
    instance: int = 0
    draw_key: str = ""
    data_classifications: Classifications = ()
    sheet: str = ""
    sheet_size: int = 0
    examples: tuple[Example, ...] = ()
    guidelines: str = ""

    def __post_init__(self) -> None:
        given = len(self.responses)
        if not {"compare": given == 2, "choose": given >= 2}.get(self.mode, given == 1):
            raise InvalidInputError(
                f"question {self.id!r} has {given} response(s) and the mode {self.mode!r}; a comparison is of exactly "
                "two, a choice of at least two, and an assessment of exactly one"
            )
        if self.mode == "check" and (not self.sheet or self.sheet_size < 1):
            raise InvalidInputError(f"question {self.id!r} is an item of a sheet, but names none or no size of it")
        if self.compares:
            self._check_options()

    def _check_options(self) -> None:
        """Check that a choice can be read back when the responses change places, as the options do not."""
        options = self.criterion.options
        if self.mode == "choose":
            places = len(self.responses)
            labels = tuple(f"Option {place + 1}" for place in range(places))
            fit = self.criterion.labels[:places] == labels and all(each.na for each in options[places:])
        else:
            sides = [round(option.value - TIE, 9) for option in options if option.value not in {None, TIE}]
            unique = {*sides}
            fit = self.criterion.has_values and 0 < len(sides) == len(unique) == len(unique | {-side for side in sides})
        if not fit:
            raise InvalidInputError(
                f"question {self.id!r} shows its {len(self.responses)} responses in several orders, and the options "
                f"{list(self.criterion.labels)!r} do not name single responses. Accepted: 'Option 1', 'Option 2', … "
                "(evenhand.question.choice_criterion), or of two responses options in pairs of the values v and 1 - v "
                "and ties of 0.5 (comparison_criterion). A ranking is not a choice of one option: ask about pairs, or "
                "about the best"
            )

    @property
    def classifications(self) -> Classifications:
        """The classifications of all that is shown, the examples too."""
        shown = (self.data_classifications, *(example.data_classifications for example in self.examples))
        return tuple(dict.fromkeys(each for found in shown for each in found))

    @property
    def compares(self) -> bool:
        """Whether the order permutes responses, and the options name their places."""
        return self.mode in {"compare", "choose"}

    @property
    def places(self) -> int:
        """The number of items that an order permutes."""
        if self.mode == "check":
            return self.sheet_size
        return len(self.responses) if self.compares else len(self.criterion.options)

    def place_name(self, place: int) -> str:
        """Return the name of the response at a place: a letter in a comparison, a number if the best is chosen."""
        return str(place + 1) if self.mode == "choose" else response_letter(place)

    def present(self, order: tuple[int, ...], *, coded: bool = False) -> Presentation:
        """Return the presentation of the question under this order.

        Args:
            order: The permutation.
            coded: Let the judge name the options by short codes.
        """
        options = self.criterion.options
        if self.mode == "assess":
            return Presentation(order, tuple(options[index] for index in order), self.responses, order, coded)
        if self.mode == "check":
            return Presentation(order, options, self.responses, tuple(range(len(options))), coded)
        responses = tuple(self.responses[index] for index in order)
        if self.mode == "compare":
            swapped = order != (0, 1)
            to_own = tuple(swapped_index(options, index) if swapped else index for index in range(len(options)))
        else:
            to_own = tuple(order) + tuple(range(len(order), len(options)))
        return Presentation(order, options, responses, to_own, coded)


def swapped_index(options: tuple[Option, ...], index: int) -> int:
    """Return the option with the mirrored value, which means the same when the two responses change places.

    A tie means the same, and so does an NA option.
    """
    if options[index].na or options[index].value == TIE:
        return index
    ranked = [i for i, option in enumerate(options) if not option.na]
    ranked.sort(key=lambda i: -(options[i].value or 0.0))
    return ranked[len(ranked) - 1 - ranked.index(index)]


def response_letter(place: int) -> str:
    """Return the name of the response shown at a place: A to Z, then A2, B2 and so on.

    >>> response_letter(0), response_letter(25), response_letter(26)
    ('A', 'Z', 'A2')
    """
    cycle, letter = divmod(place, len(string.ascii_uppercase))
    return string.ascii_uppercase[letter] + (str(cycle + 1) if cycle else "")


PLAIN_ANSWERS = frozenset({"yes", "no", "true", "false", *string.ascii_lowercase})


def has_plain_answers(criterion: Criterion) -> bool:
    """Return whether each label that is not NA is one token in vocabularies: yes, no, a letter, a digit.

    >>> from evenhand.criteria import yes_no_criterion
    >>> has_plain_answers(yes_no_criterion("met", "Is it met?"))
    True
    """
    labels = [fold_label(option.label) for option in criterion.options if not option.na]
    return all(label in PLAIN_ANSWERS or (label.isascii() and label.isdigit() and len(label) == 1) for label in labels)


def option_codes(count: int, *, letters: bool = False) -> tuple[str, ...]:
    """Return that many names of one character: digits from 1, or letters if there are more than nine.

    Args:
        count: The number of options.
        letters: Take letters for few options too: "5" is a bad name for the option "1 star".

    Raises:
        InvalidInputError: If there are more options than letters.

    >>> option_codes(3), option_codes(10)[-1]
    (('1', '2', '3'), 'J')
    """
    if count > len(string.ascii_uppercase):
        raise InvalidInputError(
            f"{count} options cannot be distinguished by one letter; at most {len(string.ascii_uppercase)} can"
        )
    return tuple("123456789"[:count] if count <= 9 and not letters else string.ascii_uppercase[:count])


def comparison_criterion(
    name: str,
    description: str,
    *,
    allow_ties: bool = False,
    graded: bool = False,
    **fields: Any,  # noqa: ANN401 - other fields of a criterion
) -> Criterion:
    """Return the criterion of a comparison: 1 means the first response is better, 0 the second, ½ a tie.

    The labels name places (A is shown first), so they read the same in every order.

    Args:
        name: Names the scores.
        description: The reasons that make a response better.
        allow_ties: Offer a tie. A graded scale always does.
        graded: Five levels instead of two or three options.
        **fields: Other fields of :class:`~evenhand.criteria.Criterion`.
    """
    first, second = (f"Response {response_letter(place)}" for place in range(2))
    if graded:
        options = tuple(Option(label=label.format(a=first, b=second), value=value) for label, value in GRADED_LEVELS)
    else:
        tie = (Option(label="Tie", value=0.5, description="Neither response is better."),) if allow_ties else ()
        options = (
            Option(label=first, value=1.0, description=f"{first} is better."),
            *tie,
            Option(label=second, value=0.0, description=f"{second} is better."),
        )
    return Criterion(name=name, description=description, options=options, scale="pairwise", **fields)


def choice_criterion(name: str, description: str, candidates: int, **fields: Any) -> Criterion:  # noqa: ANN401 - as above
    """Return the criterion of a best-of-N question: one nominal option per place, ``Option 1`` to ``Option N``.

    Args:
        name: Names the scores.
        description: The reasons that make a candidate the best.
        candidates: N.
        **fields: Other fields of :class:`~evenhand.criteria.Criterion`.
    """
    options = tuple(Option(label=f"Option {place + 1}") for place in range(candidates))
    return Criterion(name=name, description=description, options=options, scale="nominal", **fields)
