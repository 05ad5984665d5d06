"""The verdicts as the page holds them: columns for its list, and what is long in parts, each text once.

Whatever stands here is shown and not obeyed (:mod:`evenhand.visible`), and every number comes with its text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from evenhand.numbers import format_cost, format_number, format_percent
from evenhand.visible import visible, visible_line

if TYPE_CHECKING:
    from evenhand.results.looking import VerdictView, VoteView

PART: Final = 1_000_000
"""Characters of texts from which on a part of the verdicts is full; it ends with a row."""

FLAGS: Final = {"na": 1, "flipped": 2, "wrong": 4, "divided": 8, "unscored": 16, "absent": 32}
"""What may hold of a verdict; divided where some votes say something else, absent where a run has none of the name."""

_FENCED: Final = re.compile(r"<([\w-]+?)-([0-9a-f]{8})>\n(.*?)\n</\1-\2>", re.DOTALL)
"""Material between tags, as prompts of ours hold it."""

Kind = TypeVar("Kind", bound=Hashable)


class Numbered(Generic[Kind]):
    """Values by numbers, each once; what is None has the number -1."""

    def __init__(self, shown: Callable[[Kind], Any] | None = None) -> None:
        self._shown = shown
        self._numbers: dict[Kind, int] = {}
        self.values: list[Any] = []

    def __call__(self, value: Kind | None) -> int:
        """The number of a value."""
        if value is None:
            return -1
        number = self._numbers.get(value)
        if number is None:
            number = self._numbers[value] = len(self.values)
            self.values.append(value if self._shown is None else self._shown(value))
        return number


@dataclass
class Counts:
    """What is counted in the verdicts of a run.

    Attributes:
        ordered: Of how many it is known whether they changed with the order.
        flipped: How many did.
        labelled: How many have a label of people.
    """

    ordered: int = 0
    flipped: int = 0
    labelled: int = 0

    def add(self, view: VerdictView) -> None:
        """Count a verdict."""
        self.ordered += view.flipped is not None
        self.flipped += bool(view.flipped)
        self.labelled += view.gold is not None


@dataclass(frozen=True)
class PackedVerdicts:
    """What the page reads.

    Attributes:
        index: All that lists, filters and sorts need.
        parts: Texts and votes, the rows in their order.
        counts: Of each run.
    """

    index: Mapping[str, Any]
    parts: Sequence[Mapping[str, Any]]
    counts: Sequence[Counts]


def pack(runs: Sequence[Iterable[VerdictView]], *, leave_out: Collection[str] = ()) -> PackedVerdicts:
    """The verdicts of one run, or of two of which the same questions were asked.

    Args:
        runs: Of each its verdicts.
        leave_out: What of the votes the page does not hold: ``prompts``, ``reasoning``.
    """
    packer = _Packer(leave_out)
    counts = [Counts() for _ in runs]
    for number, views in enumerate(runs):
        for view in views:
            packer.add(view, number)
            counts[number].add(view)
    index, parts = packer.packed(len(runs))
    return PackedVerdicts(index, parts, counts)


@dataclass
class _PackedVerdict:
    """A verdict of any number of runs."""

    about: list[Any]
    row: int
    columns: dict[int, list[Any]]
    votes: dict[int, list[Any]]
    texts: set[int]
    messages: set[int]


class _Packer:
    def __init__(self, leave_out: Collection[str]) -> None:
        self._leave_out = leave_out
        self._lists: dict[str, Numbered[Any]] = {
            name: Numbered(visible_line)
            for name in (
                "rows",
                "systems",
                "criteria",
                "items",
                "labels",
                "judges",
                "reasons",
                "contexts",
                "stages",
                "models",
            )
        }
        self._lists |= {"hows": Numbered(visible_line), "roles": Numbered(visible_line)}
        self._lists |= {name: Numbered(list) for name in ("pairs", "orders", "said")}
        self._lists["numbers"] = Numbered(list)
        self._texts: Numbered[str] = Numbered(_shown)
        self._messages: Numbered[tuple[int, tuple[int, ...]]] = Numbered(list)
        self._held: dict[str, _PackedVerdict] = {}

    def _number(self, value: float | None, write: Callable[[float], str] = format_number) -> int:
        return -1 if value is None else self._lists["numbers"]((value, write(value)))

    def _of(self, name: str, value: object) -> int:
        return self._lists[name](value)

    def add(self, view: VerdictView, run: int) -> None:
        """Hold a verdict."""
        name, number = view.name, 1
        while (held := self._held.get(name)) is not None and run in held.columns:  # no verdict hides another one
            number += 1
            name = f"{view.name} ({number})"
        if held is None:
            held = self._held[name] = self._about(view)
        else:
            self._also(view, held, run)
        texts, messages = held.texts, held.messages
        for vote in view.votes:  # the labels in the order of the criterion, as far as votes show it
            for label in vote.shown:
                self._of("labels", label)
        held.columns[run] = self._columns(view)
        held.votes[run] = [self._vote(vote, texts, messages) for vote in view.votes]

    def _about(self, view: VerdictView) -> _PackedVerdict:
        texts: set[int] = set()
        pair = tuple(self._of("systems", system) for system in view.systems)
        context = [[self._of("contexts", name), self._text(text, texts)] for name, text in view.context.items()]
        responses = [[self._of("systems", name), self._text(text, texts), -1] for name, text in view.responses.items()]
        length = sum(len(text) for text in view.responses.values() if text)
        self._of("criteria", view.criterion)
        about = [self._of("items", _item(view)), self._of("pairs", pair), length]
        row = self._of("rows", view.row)
        details = [self._text(view.question, texts), context, responses, self._text(view.cluster, texts)]
        return _PackedVerdict([about, details], row, {}, {}, texts, set())

    def _also(self, view: VerdictView, held: _PackedVerdict, run: int) -> None:
        """Hold what another run was shown in place of what the first was, or beside it."""
        _, context, responses, _ = held.about[1]
        for name, text in view.context.items():
            shown = [self._of("contexts", name), self._text(text, held.texts)]
            if shown not in context:
                context.append(shown)
        for name, response in view.responses.items():
            system, number = self._of("systems", name), self._text(response, held.texts)
            known = [each for each in responses if each[0] == system]
            if not any(each[1] == number for each in known):
                responses.append([system, number, run])
                for each in known:
                    each[2] = 0

    def _columns(self, view: VerdictView) -> list[Any]:
        flags = {"na": view.na, "flipped": view.flipped, "wrong": view.wrong, "divided": view.divided}
        said = {
            (
                self._of("judges", vote.judge),
                self._of("labels", vote.selected),
                self._of("reasons", vote.unscored_reason),
            )
            for vote in view.votes
        }
        return [
            self._of("labels", view.selected),
            self._number(view.score),
            self._number(view.spread),
            self._number(view.agreement, format_percent),
            sum(FLAGS[name] for name, holds in {**flags, "unscored": view.unscored}.items() if holds),
            self._of("reasons", view.unscored_reason),
            self._of("labels", view.gold),
            self._of("said", tuple(sorted(said))),
        ]

    def _vote(self, vote: VoteView, texts: set[int], messages: set[int]) -> list[Any]:
        reply, read = self._reply(vote, texts)
        reasoning = None if "reasoning" in self._leave_out else vote.reasoning
        prompts = {} if "prompts" in self._leave_out else vote.prompts
        return [
            self._of("judges", vote.judge),
            self._of("orders", tuple(self._of("labels", label) for label in vote.shown)),
            vote.sample + 1,
            self._of("labels", vote.selected),
            self._number(vote.value),
            int(vote.na),
            self._of("reasons", vote.unscored_reason),
            self._text(vote.error, texts),
            self._text(vote.reasons, texts),
            reply,
            read,
            self._text(reasoning, texts),
            self._of("hows", vote.how),
            self._of("models", vote.model),
            self._number(vote.cost, format_cost),
            [
                [self._of("labels", label), self._number(share, format_percent)]
                for label, share in vote.probabilities.items()
            ],
            [self._stage(name, sent, messages) for name, sent in prompts.items()],
        ]

    def _reply(self, vote: VoteView, texts: set[int]) -> tuple[int, list[int]]:
        """The reply, and between which of its characters the verdict was read, as JavaScript counts them."""
        if vote.reply is None or vote.read_at is None:
            return self._text(vote.reply, texts), []
        start, end = vote.read_at
        before, read, after = map(_shown, (vote.reply[:start], vote.reply[start:end], vote.reply[end:]))
        number = self._texts(before + read + after)
        texts.add(number)
        return number, [_utf16_length(before), _utf16_length(before + read)]

    def _stage(self, name: str, sent: Sequence[tuple[str, str]], messages: set[int]) -> list[int]:
        numbers = []
        for role, content in sent:
            pieces = (content,) if role == "assistant" else tuple(_pieces(content))
            message = self._messages((self._of("roles", role), tuple(self._texts(piece) for piece in pieces)))
            numbers.append(message)
            messages.add(message)
        return [self._of("stages", name), *numbers]

    def _text(self, text: str | None, texts: set[int]) -> int:
        number = self._texts(text)
        if number >= 0:
            texts.add(number)
        return number

    def packed(self, runs: int) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """The index and the parts of all that was added."""
        names = sorted(self._held, key=lambda name: self._held[name].row)  # stable: within a row as they came
        held = [self._held[name] for name in names]
        absent = [-1, -1, -1, -1, FLAGS["absent"], -1, -1, -1]
        columns = [[each.columns.get(run, absent) for each in held] for run in range(runs)]
        parts, part_of = self._parts(held, runs)
        index = {
            "names": [visible_line(name) for name in names],
            "row": [each.row for each in held],
            "about": _turned([each.about[0] for each in held], 3),
            "part": part_of,
            "runs": [_turned(own, len(absent)) for own in columns],
            "lists": {name: numbered.values for name, numbered in self._lists.items()},
            "flags": FLAGS,
        }
        return index, parts

    def _parts(self, held: Sequence[_PackedVerdict], runs: int) -> tuple[list[dict[str, Any]], list[int]]:
        """The verdicts with their texts in parts, and which part holds each; no row is divided."""
        parts: list[dict[str, Any]] = []
        part_of: list[int] = []
        full = True
        size = 0
        for place, each in enumerate(held):
            if full and (place == 0 or held[place - 1].row != each.row):
                parts.append({"texts": {}, "messages": {}, "verdicts": {}})
                full, size = False, 0
            part = parts[-1]
            pieces = {piece for message in each.messages for piece in self._messages.values[message][1]}
            for number in sorted(number for number in each.texts | pieces if number not in part["texts"]):
                part["texts"][number] = self._texts.values[number]
                size += len(part["texts"][number])
            part["messages"].update((number, self._messages.values[number]) for number in sorted(each.messages))
            part["verdicts"][place] = [*each.about[1], [each.votes.get(run, []) for run in range(runs)]]
            part_of.append(len(parts) - 1)
            full = full or size >= PART
        return parts, part_of


def _item(view: VerdictView) -> str:
    """What tells a verdict apart from others on the same responses: its criterion, or the last part of its name."""
    last = view.name.rpartition("/")[2]
    own = not last.isdigit() and last not in view.systems and not view.name.endswith(f"/{view.criterion}")
    return last if own and "/" in view.name else view.criterion


def _turned(rows: Sequence[Sequence[Any]], width: int) -> list[list[Any]]:
    """Rows as columns."""
    return [[row[place] for row in rows] for place in range(width)]


def _shown(text: str) -> str:
    return visible(text.replace("\r\n", "\n"))


def _utf16_length(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le")) // 2


def _pieces(content: str) -> Iterator[str]:
    """A message in pieces that others repeat: what is between tags, their nonce, and our own words."""
    found = _FENCED.search(content)
    if found is None:
        yield content
        return
    place = 0
    for fenced in _FENCED.finditer(content):
        yield from _parted(content[place : fenced.start(3)], found[2])
        yield fenced[3]
        place = fenced.end(3)
    yield from _parted(content[place:], found[2])


def _parted(text: str, nonce: str) -> Iterator[str]:
    for number, piece in enumerate(text.split(nonce)):
        if number:
            yield nonce
        if piece:
            yield piece
