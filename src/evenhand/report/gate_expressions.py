"""Gates as people write them: comparisons of named measures, such as ``relevance.low < 0.7 or unscored > 2 %``.

The grammar, in which names with spaces, dots or other signs stand in quotes::

    gate       = part {"or" part}          part    = factor {"and" factor}
    factor     = "not" factor | "(" gate ")" | comparison
    comparison = operand ("<" | "<=" | ">" | ">=" | "==" | "!=") operand
    operand    = number | measure          number  = -1e-3, 0.7, 70 %
    measure    = name {"." name} with, behind any of its names, "[" entry {"," entry} "]"
    entry      = system | column "=" group

Nothing of it is ever run as Python.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal, NoReturn

from evenhand.errors import InvalidInputError
from evenhand.results.gate_names import GATE_WORDS

Sign = Literal["<", "<=", ">", ">=", "==", "!="]

EXAMPLES: Final = (
    "relevance.low < 0.7, unscored > 2 %, winrate[new].low <= 0.5, relevance.difference[new, old].high < 0"
)
MOST_NESTED: Final = 50


@dataclass(frozen=True, slots=True)
class Limit:
    """A number as it was written.

    Attributes:
        value: What it is; of a percentage, the share.
        text: As it was written.
    """

    value: float
    text: str


@dataclass(frozen=True, slots=True)
class Named:
    """A measure as it was named.

    Attributes:
        path: The names between the dots.
        of: What stands in brackets: systems.
        where: Column -> group, which stand there too.
        text: As it was written.
    """

    path: tuple[str, ...]
    of: tuple[str, ...]
    where: tuple[tuple[str, str], ...]
    text: str


@dataclass(frozen=True, slots=True)
class GateComparison:
    """Two operands and the sign between them."""

    left: Limit | Named
    sign: Sign
    right: Limit | Named

    @property
    def measures(self) -> tuple[Named, ...]:
        """The operands that are no numbers: one or two."""
        return tuple(each for each in (self.left, self.right) if isinstance(each, Named))


@dataclass(frozen=True, slots=True)
class Both:
    """All parts, or any of them."""

    kind: Literal["and", "or"]
    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Negation:
    """What must not be."""

    part: Expression


Expression = GateComparison | Both | Negation


def parse(text: str) -> Expression:
    """A gate as it was written.

    Raises:
        InvalidInputError: If it is none; the message says where it goes wrong.
    """
    given: object = text
    if not isinstance(given, str) or not given.strip():
        raise InvalidInputError(f"a gate is {given!r}; write a comparison, as {EXAMPLES}")
    reader = _GateReader(given)
    found = reader.gate(0)
    if reader.kind != "end":
        reader.refuse("a gate is over here; join comparisons by and / or")
    return found


def comparisons_in(expression: Expression) -> Iterator[GateComparison]:
    """The comparisons of a gate, in its order."""
    match expression:
        case GateComparison():
            yield expression
        case Both(_, parts):
            for part in parts:
                yield from comparisons_in(part)
        case Negation(part):
            yield from comparisons_in(part)


_QUOTED: Final = r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'"
_TOKEN: Final = re.compile(
    rf"(?P<space>\s+)|(?P<number>[-−+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?:\s*%)?(?![\w.]))"
    rf"|(?P<quoted>{_QUOTED})|(?P<word>[^\W\d][\w-]*)|(?P<brackets>\[(?:[^\]\"']|{_QUOTED})*\])"
    r"|(?P<sign><=|>=|==|!=|<(?![>=])|>)|(?P<dot>\.)|(?P<open>\()|(?P<close>\))"
)
_ENTRY: Final = re.compile(rf"\s*(?:({_QUOTED})|([^,=\"'\[\]]*?))\s*(?:=\s*(?:({_QUOTED})|([^,=\"'\[\]]*?))\s*)?(,|$)")


class _GateReader:
    """Reads a gate from left to right."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._end = 0
        self.advance()

    def advance(self) -> None:
        """Go to the next token."""
        self.start = self._end
        while True:
            if self._end == len(self._text):
                self.kind, self.token = "end", ""
                return
            found = _TOKEN.match(self._text, self._end)
            if found is None or found.lastgroup is None:
                self.start = self._end
                self.refuse(_hint(self._text[self._end :]))
            self.start, self._end = found.span()
            self.kind, self.token = found.lastgroup, found[0]
            if self.kind == "word" and self.token in GATE_WORDS:
                self.kind = self.token
            if self.kind != "space":
                return

    def refuse(self, why: str) -> NoReturn:
        """Say where the gate goes wrong."""
        rest = self._text[self.start :].strip()
        where = f"at {rest!r}" if rest else "at its end"
        raise InvalidInputError(f"the gate {self._text!r} cannot be read {where}: {why}. Gates are {EXAMPLES}")

    def gate(self, depth: int) -> Expression:
        """Parts joined by ``or``."""
        if depth > MOST_NESTED:
            self.refuse(f"more than {MOST_NESTED} parentheses in each other")
        return self._joined("or", lambda: self._joined("and", lambda: self._factor(depth)))

    def _joined(self, word: Literal["and", "or"], part: Callable[[], Expression]) -> Expression:
        parts = [part()]
        while self.kind == word:
            self.advance()
            parts.append(part())
        return parts[0] if len(parts) == 1 else Both(word, tuple(parts))

    def _factor(self, depth: int) -> Expression:
        negated = False
        while self.kind == "not":
            self.advance()
            negated = not negated
        if self.kind == "open":
            self.advance()
            found = self.gate(depth + 1)
            if self.kind != "close":
                self.refuse("a parenthesis is not closed")
            self.advance()
        else:
            found = self._comparison()
        return Negation(found) if negated else found

    def _comparison(self) -> GateComparison:
        left = self._operand()
        if self.kind != "sign":
            self.refuse("a comparison needs <, <=, >, >=, == or !=")
        sign: Sign = self.token  # type: ignore[assignment] # as the tokens are
        self.advance()
        right = self._operand()
        if self.kind == "sign":
            self.refuse("a comparison has two sides; join two by and")
        if isinstance(left, Limit) and isinstance(right, Limit):
            raise InvalidInputError(f"the gate {self._text!r} compares two numbers; name a measure, as in {EXAMPLES}")
        return GateComparison(left, sign, right)

    def _operand(self) -> Limit | Named:
        if self.kind == "number":
            text = self.token
            number = float(text.replace("−", "-").rstrip("%")) / (100 if text.endswith("%") else 1)
            if math.isinf(number):
                self.refuse("the number is too great")
            self.advance()
            return Limit(number, text)
        if self.kind not in {"word", "quoted"}:
            self.refuse("a measure or a number is missing")
        return self._measure()

    def _measure(self) -> Named:
        begin, end = self.start, self.start
        path: list[str] = []
        of: list[str] = []
        where: list[tuple[str, str]] = []
        while True:
            if self.kind not in {"word", "quoted", *GATE_WORDS}:
                self.refuse("a name is missing behind the dot")
            path.append(_unquoted(self.token))
            end = self._end
            self.advance()
            while self.kind == "brackets":
                for column, value in self._entries():
                    of.append(value) if column is None else where.append((column, value))
                end = self._end
                self.advance()
            if self.kind != "dot":
                return Named(tuple(path), tuple(of), tuple(where), self._text[begin:end])
            self.advance()

    def _entries(self) -> Iterator[tuple[str | None, str]]:
        """What stands in brackets: systems, and columns with a group."""
        inside = self.token[1:-1]
        at = 0
        while True:
            found = _ENTRY.match(inside, at)
            if found is None:
                self.refuse("in brackets stand systems, and columns with a group, as [new, old] or [language=de]")
            first, value = (
                _unquoted(quoted) if quoted else raw for quoted, raw in (found.group(1, 2), found.group(3, 4))
            )
            if not first or value == "":
                self.refuse("a name in the brackets is empty")
            yield (None, first) if value is None else (first, value)
            if not found[5]:
                return
            at = found.end()


def _unquoted(token: str) -> str:
    return re.sub(r"\\(.)", r"\1", token[1:-1]) if token[0] in "\"'" else token


_HINTS: Final[Mapping[str, str]] = {
    "<>": "write !=",
    "&&": "write and",
    "||": "write or",
    "!": "write not, or !=",
    "=": "equality is written ==",
    "[": "a bracket is not closed",
    '"': "a quotation is not closed",
    "'": "a quotation is not closed",
}
"""What is meant by something that no gate has."""


def _hint(rest: str) -> str:
    if rest[0].isdigit():
        return "a number is written as 0.7, 70 % or -1e-3, and a name that begins with a digit in quotes"
    meant = (hint for sign, hint in _HINTS.items() if rest.startswith(sign))
    return next(meant, f"{rest[0]!r} belongs to no gate; names with such signs stand in quotes")
