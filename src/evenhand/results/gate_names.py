"""Names as gates are given them: in quotes where they must stand in these."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

GATE_WORDS: Final = frozenset({"and", "or", "not"})
"""What joins the parts of a gate, and is a name in quotes only."""

CORRECTED: Final = "corrected"
"""What a gate writes behind a score for that which people would give."""


def spelled(name: str) -> str:
    """A name of a number.

    >>> spelled("relevance.parse_rate"), spelled("answer quality")
    ('relevance.parse_rate', '"answer quality"')
    """
    first, *others = name.split(".")
    plain = re.fullmatch(r"[^\W\d][\w-]*(\.[^\W\d][\w-]*)*", name) and not GATE_WORDS & {first, *others}
    return name if plain and CORRECTED not in others else _quoted(name)


def in_brackets(of: Iterable[str]) -> str:
    """Whose a number is.

    >>> in_brackets(["new", "gpt-4, old prompt"])
    '[new, "gpt-4, old prompt"]'
    """
    plain = re.compile(r"""[^,="'\[\]]+""")
    return f"[{', '.join(one if plain.fullmatch(one) and one == one.strip() else _quoted(one) for one in of)}]"


def _quoted(name: str) -> str:
    return '"' + name.replace("\\", r"\\").replace('"', r"\"") + '"'
