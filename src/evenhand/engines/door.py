"""What holds before a request leaves, whoever asks: data may be shown to the engine, and something may be sent at all.

Every request of every mode and engine leaves through :class:`~evenhand.engines.calls.Calls`, which asks here.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from pydantic import TypeAdapter, ValidationError

from evenhand.engines.base import JudgeEngine, Request
from evenhand.errors import DataClassificationError, InvalidInputError, MockModeError, OfflineError, WithheldError
from evenhand.question import Classifications, Question

MOCK_VARIABLE: Final = "UNITXT_MOCK_INFERENCE_MODE"
OFFLINE_VARIABLE: Final = "EVENHAND_OFFLINE"
POLICY_VARIABLE: Final = "UNITXT_DATA_CLASSIFICATION_POLICY"


def mock_mode() -> bool:
    """Whether unitxt's mock mode is on: its setting, or the environment variable, where unitxt is not loaded.

    A setting made with ``unitxt.settings.context`` holds for the thread that made it: ask in the thread of the caller.

    Raises:
        InvalidInputError: If the variable is set to something that unitxt does not understand.
    """
    loaded = sys.modules.get("unitxt.settings_utils")
    try:
        if loaded is not None:
            return bool(loaded.get_settings().mock_inference_mode)
    except ValueError:  # unitxt's own words for a variable that it cannot read do not name it
        pass
    return _switch(MOCK_VARIABLE, {"True": True, "False": False, None: False})


def offline_mode() -> bool:
    """Whether the environment says that nothing may be sent.

    Raises:
        InvalidInputError: If the variable is set to something else than a yes or a no.
    """
    return _switch(OFFLINE_VARIABLE, {"1": True, "true": True, "0": False, "false": False, "": False, None: False})


def _switch(variable: str, accepted: Mapping[str | None, bool]) -> bool:
    value = os.environ.get(variable)
    known = {spelling if spelling is None else spelling.casefold(): on for spelling, on in accepted.items()}
    folded = value if value is None else value.strip().casefold()
    if folded not in known:
        listed = ", ".join(repr(spelling) for spelling in accepted if spelling)
        raise InvalidInputError(
            f"the environment variable {variable} is {value!r}; accepted: {listed}, or leave it unset"
        )
    return known[folded]


def why_withheld(judge_id: str, *, offline: bool = False) -> WithheldError | None:
    """Why nothing is sent now to an engine that sends; None where calls may leave.

    Args:
        judge_id: Who would be asked.
        offline: Whether the run was told to send nothing.
    """
    if mock_mode():
        return MockModeError(
            f"the judge {judge_id!r} was not asked: unitxt's mock_inference_mode is on, and then no engine sends "
            f"anything and nothing is judged; switch it off ({MOCK_VARIABLE}=False) to judge"
        )
    if offline or offline_mode():
        how = "offline=True" if offline else f"{OFFLINE_VARIABLE}={os.environ.get(OFFLINE_VARIABLE)}"
        return OfflineError(
            f"the judge {judge_id!r} was not asked: {how} says that nothing is sent, and the journal holds no "
            "reply to this request; run it once without, with the same journal"
        )
    return None


def classifications_set(*names: str) -> tuple[str, ...] | None:
    """Return what the environment lets an engine of one of these names see; None where it says nothing of it.

    Raises:
        InvalidInputError: If the variable does not hold lists of classifications by name.
    """
    value = os.environ.get(POLICY_VARIABLE)
    if value is None:
        return None
    try:
        policies = _POLICIES.validate_json(value)
    except ValidationError as error:
        raise InvalidInputError(
            f"the environment variable {POLICY_VARIABLE} is {value!r}; give a JSON object of names of engines with "
            'lists of classifications, such as {"OpenAICompatibleEngine": ["public"]}'
        ) from error
    return next((tuple(policies[name]) for name in names if policies.get(name)), None)


_POLICIES: Final = TypeAdapter(dict[str, list[str]])


def classifications_of(request: Request) -> Classifications:
    """The data classifications of all that is shown: about one question, or about all on a sheet; each once."""
    questions = [item.question for item in request.items] if request.question is None else [request.question]
    return tuple(dict.fromkeys(each for question in questions for each in question.classifications))


def check_classified(questions: Iterable[Question], judges: Sequence[JudgeEngine]) -> None:
    """Check that every judge may be shown what every question is about, before the first call.

    As unitxt has it: a judge that names no classifications may be shown everything, data without one may be shown to
    everyone, and else one of the data's must be among the judge's.

    Raises:
        DataClassificationError: If a judge may not.
    """
    instances: dict[tuple[str, ...], int] = {}
    for question in questions:
        for classification in question.classifications:
            instances.setdefault(classification, question.instance)
    for judge in judges:
        for classification, instance in instances.items():
            check_may_see(judge, (classification,), f"what is shown about instance {instance} has")


def check_may_see(judge: JudgeEngine, classifications: Classifications, what: str = "rows have") -> None:
    """Check that a judge may be shown data of each of these classifications; see :func:`check_classified`.

    Args:
        judge: Who is asked.
        classifications: Of the data.
        what: Has them, in the message.

    Raises:
        DataClassificationError: If it may not.
    """
    allowed: tuple[str, ...] = getattr(judge, "data_classification_policy", None) or ()
    unseen = [each for each in classifications if allowed and not set(each) & set(allowed)]
    if not unseen:
        return
    classification = unseen[0]
    raise DataClassificationError(
        f"{what} the data classification {list(classification)!r}, and the judge {judge.judge_id!r} may only be shown "
        f"data of {list(allowed)!r} (its data_classification_policy), so nothing was sent: take an engine that may see "
        f"them, or, where this one may, write [data_classification_policy=[{','.join([*allowed, classification[0]])}]] "
        "behind its name, address or id; or mend the classification of the data"
    )
