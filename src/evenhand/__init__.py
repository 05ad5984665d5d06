"""evenhand: LLM judges for unitxt that say truthfully how far their judgement can be trusted.

The public names are those of the lines ``from … import …`` in ``__init__.pyi``. Each is imported when it is first used:
``import evenhand`` loads neither unitxt nor litellm.
"""

import sys
from importlib import import_module
from pathlib import Path

from evenhand.version import __version__ as __version__

_STUB = Path(__file__).with_name("__init__.pyi").read_text(encoding="utf-8")
_HOMES = {line.split()[3]: line.split()[1] for line in _STUB.splitlines() if line.startswith("from ")}
_SLOW = ("evenhand.evaluate", "evenhand.tables", "evenhand.unitxt.loading")  # modules that take seconds to import
__all__ = sorted([*_HOMES, "__version__"])  # noqa: PLE0605 - a type checker reads the stub


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'evenhand' has no attribute {name!r}")
    if home.startswith(_SLOW) and name.islower() and home not in sys.modules:
        return import_module("evenhand.early_checks").Deferred(home, name)
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return __all__
