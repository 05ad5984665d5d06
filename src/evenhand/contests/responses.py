"""The responses of several systems to one instance, in the forms in which they arrive."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evenhand.cells import held_in
from evenhand.errors import InvalidInputError
from evenhand.judging.instances import text_of
from evenhand.votes import is_missing


def read_responses(prediction: object, instance: int) -> dict[str, str | None]:
    """System -> response, from one instance's predictions.

    A dict names its systems; the systems of a list are called ``"1"``, ``"2"``, … A text that holds such a list or
    dict, as JSON or as Python writes it, is read (a recipe's post-processors may have made it one). A response that
    is not a text is shown as JSON. An empty response is a response; None and NaN mean that there is none.

    Args:
        prediction: The predictions for the instance.
        instance: Its index, for the message.

    Raises:
        InvalidInputError: If the predictions are something else, or a name is not a text.

    Example:
        >>> read_responses(["Paris", None], 0)
        {'1': 'Paris', '2': None}
        >>> read_responses("{'gpt-4.1': 'Paris', 'tie': ''}", 0)
        {'gpt-4.1': 'Paris', 'tie': ''}
    """
    found = held_in(prediction, f"instance {instance}") if isinstance(prediction, str) else prediction
    if isinstance(found, (list, tuple)):
        found = {str(number): response for number, response in enumerate(found, start=1)}
    if not isinstance(found, Mapping):
        raise InvalidInputError(
            f"the predictions of instance {instance} are {_shown(prediction)}; a comparison takes a list of "
            "responses, or a dict of system -> response"
        )
    for name in found:
        if not isinstance(name, str) or not name.strip():
            raise InvalidInputError(f"instance {instance} names a system {name!r}; a system's name is a text")
    return {name: _response(response) for name, response in found.items()}


def common_systems(rows: Sequence[Mapping[str, str | None]]) -> tuple[str, ...]:
    """The systems that every instance names, in the order of the first one.

    Raises:
        InvalidInputError: If there are no instances, fewer than two systems, or an instance names others than the
            first one does.
    """
    if not rows:
        raise InvalidInputError("there are no instances to compare: the data set is empty")
    systems = tuple(rows[0])
    for instance, row in enumerate(rows):
        if row.keys() == rows[0].keys():
            continue
        lacking = [name for name in systems if name not in row]
        extra = [name for name in row if name not in rows[0]]
        differences = [f"lacks {lacking!r}"] * bool(lacking) + [f"adds {extra!r}"] * bool(extra)
        raise InvalidInputError(
            f"instance {instance} does not name the same systems as instance 0: it {' and '.join(differences)}. Give a "
            "response of every system to every instance, None where there is none"
        )
    if len(systems) < 2:
        raise InvalidInputError(
            f"the predictions name {len(systems)} system(s), {list(systems)!r}; a comparison needs at least two, "
            "and one system alone fits metrics.evenhand.direct"
        )
    return systems


def _response(value: object) -> str | None:
    return None if is_missing(value) else text_of(value)


def _shown(value: object) -> str:
    text = repr(value)
    return f"a {type(value).__name__}, {text if len(text) <= 80 else text[:77] + '...'}"
