# ruff: noqa: E402, F401 - the other modules import these from here
"""The few classes and functions of unitxt that evenhand builds on, with the types that unitxt does not ship.

Importing unitxt reseeds Python's global random generator; its state is put back here.
"""

import os
import random
import re
import sys
from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Dict, List, Literal, Union, get_args, get_origin

from evenhand.errors import EvenhandError, InvalidInputError
from evenhand.options import Options, kinds_of, sentences_of

_state = random.getstate()
try:
    import unitxt
except ValueError as error:  # the error of unitxt's settings, without the variable's name
    _refused = [name for name, value in os.environ.items() if name.startswith("UNITXT_") and value in str(error)]
    raise InvalidInputError(
        f"unitxt refuses the environment variable {' or '.join(sorted(_refused)) or 'of a setting'}: {error}"
    ) from error
from unitxt.artifact import Catalogs, UnitxtArtifactNotFoundError, fetch_artifact, get_artifacts_data_classification
from unitxt.catalog import LocalCatalog
from unitxt.error_utils import UnitxtError
from unitxt.inference import TextGenerationInferenceOutput
from unitxt.metric_utils import EmptyPrediction, group_str
from unitxt.register import register_local_catalog

random.setstate(_state)
EvenhandError.__bases__ = (UnitxtError,)  # handlers of unitxt's errors handle these too

if TYPE_CHECKING:
    from typing import Any, Self, dataclass_transform
    from typing import Optional as Maybe

    @dataclass_transform(kw_only_default=True)
    class Artifact:
        """unitxt's base of everything in a catalog."""

        data_classification_policy: list[str] | None = None

        def verify(self) -> None: ...
        def __getattr__(self, name: str) -> Any: ...

    class Criteria(Artifact):
        """unitxt's criterion of a comparison."""

        name: str
        description: str
        prediction_field: str | None = None
        context_fields: str | list[str] | dict[str, str] | None = None

    class CriteriaOption(Artifact):
        """unitxt's option of a criterion."""

        name: str
        description: str

    class CriteriaWithOptions(Criteria):
        """unitxt's criterion of a direct assessment."""

        options: list[CriteriaOption]
        option_map: dict[str, float] | None = None

    class InferenceEngine(Artifact):
        """unitxt's base of everything that answers prompts."""

        label: str
        use_cache: bool = True

    class MapReduceMetric(Artifact):
        """unitxt's base of a metric that maps instances and reduces what they map to."""

        def compute(self, stream: Any, stream_name: str | None = None) -> Any: ...
        def _instance_to_evaluation_input(self, instance: dict[str, Any]) -> Any: ...

    class EvaluationInput(tuple[Any, list[Any], dict[str, Any]]):
        """A prediction, its references and the task data."""

        def __new__(cls, prediction: Any, references: list[Any], task_data: dict[str, Any]) -> Self: ...

else:
    from unitxt.artifact import Artifact
    from unitxt.inference import InferenceEngine
    from unitxt.llm_as_judge_constants import Criteria, CriteriaOption, CriteriaWithOptions
    from unitxt.metrics import EvaluationInput, MapReduceMetric

    class Maybe:
        """``Maybe[X]`` is ``X`` to unitxt, which does not understand optional field types, and ``X | None`` to mypy."""

        def __class_getitem__(cls, item: object) -> object:
            return item


def fields_class(
    name: str,
    base: "type[Artifact]",
    options: "type[Options]",
    *,
    module: str,
    left_out: Collection[str] = (),
    **more: object,
) -> "type[Artifact]":
    """Return a subclass of ``base`` with the options of a model as fields, as unitxt declares fields.

    Args:
        name: The name of the class.
        base: Its base.
        options: The model, whose required options are None until they are given.
        module: The module of the class.
        left_out: Options that do not become fields.
        **more: Attributes of the class: other defaults, further fields, methods.
    """
    declared = {field: info for field, info in options.model_fields.items() if field not in left_out}
    namespace = {
        "__module__": module,
        "__qualname__": name,
        "__doc__": f"The fields of :class:`{options.__module__}.{options.__name__}`.\n\n    Attributes:\n"
        + sentences_of(declared),
        "__annotations__": {field: _field_type(info.annotation) for field, info in declared.items()},
        **{field: info.default for field, info in declared.items()},
        **more,
    }
    made: type[Artifact] = type(base)(name, (base,), namespace)  # type: ignore[misc] # a metaclass is called
    return made


def _field_type(annotation: object) -> object:
    """Return the type that unitxt understands: None is accepted by every field, texts stand for choices and paths."""
    kinds = list(dict.fromkeys(_field_kind(kind) for kind in kinds_of(annotation) if kind not in {NoneType, Path}))
    return kinds[0] if len(kinds) == 1 else Union[tuple(kinds)]  # noqa: UP007 - unitxt reads typing's generics


def _field_kind(kind: object) -> object:
    origin = get_origin(kind)
    if origin is Literal:
        return type(get_args(kind)[0])
    if origin is tuple:
        return List[get_args(kind)[0]]  # type: ignore[misc] # noqa: UP006 - made at run time, as unitxt reads it
    if origin in {Mapping, dict}:
        return Dict[get_args(kind)]  # type: ignore[misc] # noqa: UP006 - as above
    return kind


def data_classifications_of(artifact: "Artifact") -> "tuple[str, ...] | None":
    """Return the classifications of the data that an artifact may be shown, as unitxt has it; None for any.

    What ``UNITXT_DATA_CLASSIFICATION_POLICY`` says of the artifact's name, or else its own field.
    """
    named = get_artifacts_data_classification(artifact.get_pretty_print_name())
    return tuple(named or artifact.data_classification_policy or ()) or None


def own_words(error: BaseException) -> str:
    """Return an exception's own words in one line, without the box that unitxt draws around them."""
    context = getattr(error, "__error_context__", None)
    original = context.get("original_message") if isinstance(context, Mapping) else None
    return " ".join(str(original or error).split()) or type(error).__name__


def evaluate_recipes(arguments: Collection[str]) -> None:
    """Run unitxt's own command line with these arguments."""
    from unitxt.evaluate_cli import main  # noqa: PLC0415 - only ``evenhand unitxt`` runs it

    sys.argv = ["evenhand unitxt", *arguments]
    main()
