"""Which of two responses a person preferred, out of a column a pair."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from evenhand.cells import is_abstention, is_written_nothing
from evenhand.criteria import fold_label
from evenhand.errors import InvalidInputError, did_you_mean
from evenhand.judging.instances import field_of
from evenhand.tables.contestants import Prompt
from evenhand.tables.winrate_table import TIE


def read_preferences(prompts: Sequence[Prompt], gold_field: str | None) -> dict[tuple[int, str, str], str]:
    """(Instance, first system, second system) -> the system preferred, or ``"tie"``; nothing where there is no label.

    Args:
        prompts: All with the same systems.
        gold_field: The column; ``{first}`` and ``{second}`` stand for the systems of the pair, in either order.

    Raises:
        InvalidInputError: If there is no such column, or a label names neither system of the pair.
    """
    if gold_field is None:
        return {}
    found = {}
    for instance, prompt in enumerate(prompts):
        for first, second in combinations(prompt.responses, 2):
            preference = _preference(prompt, instance, (first, second), gold_field)
            if preference is not None:
                found[instance, first, second] = preference
    return found


def _preference(prompt: Prompt, instance: int, pair: tuple[str, str], gold_field: str) -> str | None:
    columns = [gold_field.replace("{first}", first).replace("{second}", second) for first, second in (pair, pair[::-1])]
    column = next((column for column in columns if column in prompt.fields), columns[0])
    value = field_of(prompt.fields, column, instance, "gold_field")
    if is_abstention(value) or is_written_nothing(value):
        return None
    if value in (*pair, TIE):
        return str(value)
    named = [name for name in (*pair, TIE) if fold_label(name) == fold_label(str(value))]
    if len(named) != 1:
        raise InvalidInputError(
            f"instance {instance} has {value!r} in {column!r}, which gold_field names. "
            + did_you_mean(value, (*pair, TIE))
        )
    return named[0]
