"""Best-of-N questions: the candidates of one instance, the prompts, an option from elsewhere, and what is chosen.

A candidate without a text is left out before it is asked about. Every measure here treats the candidates alike: no tie
is decided by who comes first.
"""

from __future__ import annotations

import bisect
import hashlib
import json
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from evenhand.criteria import Criterion, fold_label
from evenhand.errors import InvalidInputError, InvalidPromptError, UnknownRuleError, did_you_mean
from evenhand.prompts import PromptName
from evenhand.question import Question, choice_criterion
from evenhand.run_options import FlowName

CHOICE_PROMPTS: Final[Mapping[str, PromptName]] = MappingProxyType(
    {
        "select": "best_of_select",
        "evaluate_first": "best_of_evaluate_first",
        "avoid_order_bias": "best_of_avoid_order_bias",
        "grade": "best_of_grade",
    }
)
"""What the four ways of asking are called -> the prompt."""

CHOICE_POSITION_RULES: Final = ("average", "abstain", "first")
"""What a disagreement between orders may count where the best of several is chosen, the default first."""

CHOICE_PANEL_RULES: Final = ("mode", "weighted_mode", "unanimous")
"""How a panel's choices become one, the default first."""


def choice_prompt(prompt: str | None, flow: FlowName) -> str | None:
    """The prompt that a name of :data:`CHOICE_PROMPTS` stands for, or a text of the user's own.

    None where the flow has its own prompt. A text is checked when the run begins
    (:meth:`~evenhand.judging.flow.Flow.check_prompt`).

    Raises:
        InvalidPromptError: If there is no such prompt, or the flow does not ask in one step, as all four do.

    >>> choice_prompt("grade", "one_step"), choice_prompt(None, "verdict_only")
    ('best_of_grade', None)
    """
    if prompt is None:
        return CHOICE_PROMPTS["evaluate_first"] if flow == "one_step" else None
    known: dict[str, PromptName] = dict(CHOICE_PROMPTS)
    known.update({name: name for name in CHOICE_PROMPTS.values()})
    if "{{" in prompt:
        return prompt
    if prompt not in known:
        raise InvalidPromptError(
            f"the prompt {prompt[:80]!r} cannot ask for the best of several candidates. "
            f"{did_you_mean(prompt, CHOICE_PROMPTS)} A text of your own names {{{{ responses }}}}"
        )
    if flow != "one_step":
        raise InvalidPromptError(
            f"prompt={prompt!r} asks for reasons and choice in one reply, which flow={flow!r} does not: set "
            "flow='one_step', or leave the prompt out"
        )
    return known[prompt]


@dataclass(frozen=True, slots=True)
class Candidates:
    """The candidates of one instance, and what the judge is told about them.

    Attributes:
        instance: The row of the data.
        texts: Name -> text, in the order given; None where there is none. Names are never shown.
        criterion: What makes one the best; its options play no part.
        context: What the judge is shown beside the candidates: name -> text.
        references: Known good answers.
        draw_key: Names the instance in seeded draws.
        data_classification: The data classification policy of the instance.
        guidelines: What the judge is told about judging, beside the criterion.
    """

    instance: int
    texts: Mapping[str, str | None]
    criterion: Criterion
    context: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    references: tuple[str, ...] = ()
    draw_key: str = ""
    data_classification: tuple[str, ...] | None = None
    guidelines: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """The candidates that have a text: these are the options, in this order."""
        return tuple(name for name, text in self.texts.items() if text is not None)

    @property
    def missing(self) -> tuple[str, ...]:
        """The candidates without a text."""
        return tuple(name for name, text in self.texts.items() if text is None)

    @property
    def responses(self) -> tuple[str, ...]:
        """The texts that there are."""
        return tuple(text for text in self.texts.values() if text is not None)

    def question(self, unrelated: str | None = None) -> Question | None:
        """Which of them is the best; None where fewer than two are left.

        Args:
            unrelated: The text of an option from elsewhere, which becomes the last one.
        """
        if len(self.responses) < 2:
            return None
        responses = self.responses if unrelated is None else (*self.responses, unrelated)
        return Question(
            id=str(self.instance) if unrelated is None else f"{self.instance}/unrelated",
            criterion=choice_criterion(
                self.criterion.name,
                self.criterion.description,
                len(responses),
                context_fields=self.criterion.context_fields,
            ),
            responses=responses,
            context=self.context,
            references=self.references,
            mode="choose",
            instance=self.instance,
            draw_key=self.draw_key,
            data_classification=self.data_classification,
            guidelines=self.guidelines,
        )


class EqualCandidatesWarning(UserWarning):
    """Candidates of one instance have the same text, so that no judge can tell them apart."""


def warn_of_equal_candidates(rows: Sequence[Candidates]) -> None:
    """Warn (:class:`EqualCandidatesWarning`) of instances in which two candidates have the same text."""
    alike = [row.instance for row in rows if len(set(row.responses)) < len(row.responses)]
    if alike:
        warnings.warn(
            f"in {len(alike)} of {len(rows)} instances (first in {alike[0]}) candidates have the same text: between "
            "them a judge can only go by the place, and seems to change its mind. Leave one of them out",
            EqualCandidatesWarning,
            stacklevel=3,
        )


def check_choice_rules(aggregation: object, on_position_bias: object, weights: Sequence[float] | None = None) -> None:
    """Check the rules by which the choices on one instance become one.

    Args:
        aggregation: The panel rule, or None.
        on_position_bias: What a disagreement between orders counts, or None.
        weights: One a judge, or None.

    Raises:
        UnknownRuleError: If a rule does not exist.
        InvalidInputError: If the panel rule would ignore unequal weights.
    """
    given = (
        ("aggregation", aggregation, CHOICE_PANEL_RULES),
        ("on_position_bias", on_position_bias, CHOICE_POSITION_RULES),
    )
    for name, rule, accepted in given:
        if rule is not None and rule not in accepted:
            raise UnknownRuleError(
                f"{name} is {rule!r}, which does not fit a choice of the best candidate. "
                f"{did_you_mean(str(rule), accepted)}"
            )
    if weights is not None and aggregation != "weighted_mode" and len(set(weights)) > 1:
        raise InvalidInputError(
            f"judge_weights is {list(weights)!r}, which aggregation={aggregation!r} does not look at: set "
            "aggregation='weighted_mode', or leave the weights out"
        )


def unrelated_candidates(rows: Sequence[Candidates], *, seed: int = 0) -> tuple[str | None, ...]:
    """For every instance a candidate of another instance, drawn with the seed.

    All texts lie on a circle at places that the seed and the text determine. An instance begins at a place that the
    seed and its ``draw_key`` determine, and takes the next text that is not blank and equals none of its own candidates
    (apart from case and space). So an instance draws in a part of the data what it draws in the whole, wherever that
    text is in the part.

    Args:
        rows: The instances.
        seed: Another seed, another draw.

    Returns:
        One text an instance; None where fewer than two candidates are left, so that nothing is asked.

    Raises:
        InvalidInputError: If an instance that is asked about has no text to draw.
    """
    texts = sorted({text for row in rows for text in row.responses if text.strip()})
    circle = sorted((_lot(seed, "text", text), text) for text in texts)
    drawn: list[str | None] = []
    for row in rows:
        if len(row.responses) < 2:
            drawn.append(None)
            continue
        own = {fold_label(text) for text in row.responses}
        start = bisect.bisect(circle, (_lot(seed, "instance", row.draw_key or str(row.instance)), ""))
        found = next((text for text in _around(circle, start) if fold_label(text) not in own), None)
        if found is None:
            raise InvalidInputError(
                f"there is no unrelated option for instance {row.instance}: every candidate of the other instances "
                "equals one of its own. Give more instances, or set unrelated_option=False"
            )
        drawn.append(found)
    return tuple(drawn)


def _around(circle: Sequence[tuple[float, str]], start: int) -> Iterator[str]:
    for place in range(len(circle)):
        yield circle[(start + place) % len(circle)][1]


def _lot(seed: int, *labels: str) -> float:
    """A number in [0, 1) that the seed and the labels determine."""
    material = json.dumps([seed, "unrelated", *labels]).encode()
    return int.from_bytes(hashlib.sha256(material).digest()[:8], "big") / 2**64
