"""What is wrong with a call, told before the modules are imported that would tell it, which takes seconds.

Functions are read, not imported: their source says what they take. What is found here is said in the words of who would
find it later, by the same functions; what is not found here is found there.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from evenhand.known_ids import check_ids

if TYPE_CHECKING:
    from evenhand.checked_options import Options

FUNCTIONS: Final = Path(__file__).with_name("tables")
"""Where the functions are that judge and count."""

_COLUMNS: Final = ("response_field", "systems", "systems_field", "id_field")
"""Arguments that name columns which every row must have."""


@cache
def _module(function: str) -> ast.Module:
    """The source of the module of ``evenhand.tables`` that defines a function.

    Raises:
        LookupError: If there is none.
    """
    for path in sorted(FUNCTIONS.glob("*.py")):
        source = path.read_text(encoding="utf-8")
        if f"\ndef {function}(" in source:
            return ast.parse(source)
    raise LookupError(f"no module in {str(FUNCTIONS)!r} defines {function!r}")


def definition(function: str) -> ast.FunctionDef:
    """The source of a function of ``evenhand.tables``; without its overloads.

    Raises:
        LookupError: If there is none of this name.
    """
    found = [each for each in _module(function).body if isinstance(each, ast.FunctionDef)]
    return [each for each in found if each.name == function][-1]  # behind its overloads


def models_of(function: str) -> tuple[type[Options], ...]:
    """The models of a function's options, which its decorator names."""
    imported = [each for each in _module(function).body if isinstance(each, ast.ImportFrom)]
    home = {alias.name: each.module for each in imported for alias in each.names}
    takes = [each for each in definition(function).decorator_list if isinstance(each, ast.Call)]
    named = [ast.unparse(model) for call in takes for model in call.args]
    return tuple(getattr(import_module(str(home[name])), name) for name in named)


def check_options(function: str, given: Mapping[str, object]) -> None:
    """Check the values of a function's options, each by itself.

    Args:
        function: Its name.
        given: Its arguments by name; what is none of its options is not looked at.

    Raises:
        InvalidInputError: If one is not accepted.
    """
    for model in models_of(function):
        model(**{name: value for name, value in given.items() if name in model.model_fields})


def check_columns(rows: object, given: Mapping[str, object]) -> None:
    """Check that the first row has the columns that every row must have; what is no list of rows is not looked at.

    Raises:
        InvalidInputError: If it lacks one.
    """
    if not (isinstance(rows, (list, tuple)) and rows and isinstance(rows[0], Mapping)):
        return
    from evenhand.data.fields import field_of  # noqa: PLC0415 - pydantic, as above

    for setting in _COLUMNS:
        named = given.get(setting)
        if setting == "systems" and given.get("systems_field") is not None:  # names of systems, and not of columns
            continue
        for column in [named] if isinstance(named, str) else named if isinstance(named, (list, tuple)) else ():
            field_of(rows[0], column, 0, setting)


class Deferred:
    """A public function whose module takes seconds to import: it is imported when the function is called.

    What is mistyped is told before that. Once the module is loaded, the facade gives the function itself.

    Args:
        home: Its module.
        name: Its name there.
    """

    def __init__(self, home: str, name: str) -> None:
        self.__module__ = home
        self.__name__ = self.__qualname__ = name

    def __call__(self, *given: object, **options: object) -> Any:  # noqa: ANN401 - whatever the function returns
        """Check what is given, and call the function."""
        if self.__module__.startswith("evenhand.tables"):
            self._check(given, options)
        else:
            check_ids({"reference": given, **options})
        return self.__wrapped__(*given, **options)

    def _check(self, given: Sequence[object], options: Mapping[str, object]) -> None:
        from evenhand.checked_options import check_names  # noqa: PLC0415 - pydantic, as above

        name, taken = self.__name__, definition(self.__name__).args
        named = [each.arg for each in taken.args]
        bound = {**dict(zip(named, given, strict=False)), **options}
        check_ids(bound, name)
        if taken.kwarg is not None:
            own = [*named, *(each.arg for each in taken.kwonlyargs)]
            check_names(options, [*own, *(field for model in models_of(name) for field in model.model_fields)])
        check_options(name, bound)
        check_columns(bound.get(named[0]), bound)

    @property
    def __wrapped__(self) -> Callable[..., Any]:
        """The function."""
        function: Callable[..., Any] = getattr(import_module(self.__module__), self.__name__)
        return function

    @property
    def __signature__(self) -> inspect.Signature:
        """That of the function."""
        return inspect.signature(self.__wrapped__)

    @property
    def __doc__(self) -> str | None:  # type: ignore[override] # of each function its own
        """That of the function."""
        return self.__wrapped__.__doc__
