"""A rubric asked for a response: each criterion in a call of its own, or all of them in one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, get_args

from evenhand.errors import InvalidInputError, did_you_mean
from evenhand.question import Question

Calls = Literal["per_criterion", "per_item"]


def check_calls(calls: str, options: Mapping[str, Any], *, examples: object) -> None:
    """Check how a rubric is asked.

    Args:
        calls: ``per_criterion``: a call for each criterion; ``per_item``: one for the whole rubric.
        options: The options of the run.
        examples: Whether examples are shown.

    Raises:
        InvalidInputError: If there is no such way, or it does not go with the other settings.
    """
    if calls not in get_args(Calls):
        raise InvalidInputError(f"calls is {calls!r}. {did_you_mean(calls, get_args(Calls))}")
    if calls == "per_criterion":
        return
    if options.get("flow") == "two_step":
        raise InvalidInputError(
            "calls='per_item' asks for one reply a response, and flow is 'two_step'; accepted: 'one_step', or "
            "'verdict_only' for answers without reasons"
        )
    if options.get("generate_summaries"):
        raise InvalidInputError(
            "calls='per_item' brings a sentence or two a criterion, which nothing summarizes; drop generate_summaries, "
            "or use calls='per_criterion'"
        )
    if examples:
        raise InvalidInputError(
            "calls='per_item' shows no examples, because each criterion has cases of its own; drop examples, or use "
            "calls='per_criterion'"
        )


def asked_together(questions: Sequence[Question], sheet: str) -> list[Question]:
    """The questions about one response as those of one sheet, each with what any of them is shown beside it.

    Raises:
        InvalidInputError: If they are about different responses, or show different things under one name.
    """
    context: dict[str, str] = {}
    for question in questions:
        if question.responses != questions[0].responses:
            raise InvalidInputError(
                f"the criteria {questions[0].criterion.name!r} and {question.criterion.name!r} judge different fields, "
                "which one call cannot hold: use calls='per_criterion'"
            )
        for name, text in question.context.items():
            if context.setdefault(name, text) != text:
                raise InvalidInputError(
                    f"the criterion {question.criterion.name!r} shows another field as {name!r} than a criterion "
                    "before it, which one call cannot: use calls='per_criterion', or give context_fields"
                )
    return [replace(question, context=context, sheet=sheet) for question in questions]
