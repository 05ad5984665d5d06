"""Verdicts to be looked at: a selection that prints as a table, and a row with all that was shown and said of it.

A selection is no result: what is chosen for being divided, unscored or extreme has no mean that tells of a system.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple, get_args, overload

from rich.cells import cell_len

from evenhand.errors import InvalidInputError, did_you_mean
from evenhand.numbers import format_count, format_number, format_percent
from evenhand.results.layout import terminal_width, wrapped
from evenhand.results.measures import Column, measures_table
from evenhand.results.render import PrintedTables, TextTable, as_markdown, as_paragraph, styled
from evenhand.results.verdict_view import VerdictView, VoteView
from evenhand.visible import visible, visible_line
from evenhand.votes import UnscoredReason

if TYPE_CHECKING:
    import pandas as pd

MOST_PRINTED: Final = 50

Key = Callable[[VerdictView], float | str | None]

ORDERS: Final[dict[str, Key]] = {
    "spread": lambda view: view.spread,
    "disagreement": lambda view: None if view.agreement is None else 1 - view.agreement,
    "length": lambda view: sum(len(text) for text in view.responses.values() if text) if view.responses else None,
    "score": lambda view: view.score,
    "cost": lambda view: sum(costs) if (costs := [vote.cost for vote in view.votes if vote.cost is not None]) else None,
    "name": lambda view: view.name,
}
"""By what verdicts are sorted: the spread of their draws, the share of their votes that chose something else, the
characters of their responses, their score, what they cost, their name."""


@dataclass(frozen=True)
class VerdictList(PrintedTables, Sequence[VerdictView]):
    """Verdicts in an order, each with its texts and votes: printed as a table, and one by one whole.

    It is no result, and has no scores: a mean over verdicts that were chosen says nothing of a system. For the scores
    of some of the rows there is :meth:`~evenhand.results.results.Results.filter`. What it holds is made when it is
    asked for: ``results.verdict_list().head(5)`` makes five, however many there are.

    ``found[0]`` is a :class:`~evenhand.results.verdict_view.VerdictView`, ``found["3/alder/relevance"]`` one verdict as
    it is printed, and ``found["p-17"]`` all verdicts on a row.

    Attributes:
        what: What was chosen, as its title says it.
        source: Gives the verdicts, each time anew.
    """

    what: str
    source: Callable[[], Iterable[VerdictView]]

    @cached_property
    def views(self) -> tuple[VerdictView, ...]:
        """All of them."""
        return tuple(self.source())

    def __len__(self) -> int:
        return len(self.views)

    def __iter__(self) -> Iterator[VerdictView]:
        return iter(self.views)

    def __bool__(self) -> bool:
        return next(self._stream(), None) is not None

    def _stream(self) -> Iterator[VerdictView]:
        """One after the other, without holding them all."""
        return iter(self.views if "views" in vars(self) else self.source())

    @overload
    def __getitem__(self, key: int) -> VerdictView: ...
    @overload
    def __getitem__(self, key: slice) -> VerdictList: ...
    @overload
    def __getitem__(self, key: str) -> RowView: ...

    def __getitem__(self, key: int | slice | str) -> VerdictView | VerdictList | RowView:
        if isinstance(key, int):
            return self.views[key]
        if isinstance(key, slice):
            return VerdictList(self.what, lambda: self.views[key])
        named = [view for view in self if view.name == key] or [view for view in self if view.row == key]
        if not named:
            known = dict.fromkeys(name for view in self for name in (view.name, view.row))
            raise InvalidInputError(f"there is no verdict and no row {key!r}. {did_you_mean(key, known)}")
        return RowView(named[0].row, tuple(named))

    def filter(self, keep: Callable[[VerdictView], bool] | None = None, **about: object) -> VerdictList:
        """Those of which a function says so, or an attribute equals a value, or is among a list of values.

        Args:
            keep: Told a verdict, says whether it stays.
            **about: An attribute of :class:`~evenhand.results.verdict_view.VerdictView` -> a value or several:
                ``criterion="relevance"``, ``wrong=True``; ``row`` is an id, or an index where rows have none;
                ``system`` is about any of the systems compared, ``judge`` about any vote.

        Raises:
            InvalidInputError: If a verdict has no such attribute.
        """
        accepted = [*(field.name for field in fields(VerdictView)), "divided", "unscored", "system", "judge"]
        for name in about:
            if name not in accepted:
                raise InvalidInputError(f"a verdict has no {name!r}. {did_you_mean(name, accepted)}")
        wanted = {name: value if isinstance(value, (list, tuple, set)) else [value] for name, value in about.items()}
        if "row" in wanted:
            wanted["row"] = [str(each) for each in wanted["row"]]

        def stays(view: VerdictView) -> bool:
            found = all(any(each in values for each in _told(view, name)) for name, values in wanted.items())
            return found and (keep is None or keep(view))

        said = [f"{name} {value!r}" for name, value in about.items()] + (["chosen by a function"] if keep else [])
        return self._of(", ".join(said), lambda: filter(stays, self._stream()))

    def sort(self, by: str | Key = "spread", *, ascending: bool = False) -> VerdictList:
        """In another order, the greatest first; what has no such number comes last.

        Args:
            by: ``spread``, ``disagreement``, ``length``, ``score``, ``cost``, ``name``, or a function of a verdict.
            ascending: The least first.

        Raises:
            InvalidInputError: If there is no such order.
        """
        if not callable(by) and by not in ORDERS:
            raise InvalidInputError(f"by is {by!r}. {did_you_mean(by, ORDERS)}")
        key: Any = by if callable(by) else ORDERS[by]

        def ordered() -> Iterator[VerdictView]:
            views = list(self._stream())
            known = [view for view in views if key(view) is not None]
            yield from sorted(known, key=key, reverse=not ascending)
            yield from (view for view in views if key(view) is None)

        return self._of(f"by {by if isinstance(by, str) else 'a function'}", ordered)

    def head(self, n: int = 5) -> VerdictList:
        """The first of them."""
        given: Any = n
        if not isinstance(given, int) or given < 0:
            raise InvalidInputError(f"n is {n!r}; give how many verdicts, 0 or more")
        return self._of(f"the first {n}", lambda: islice(self._stream(), n))

    def disagreements(self) -> VerdictList:
        """Those of which votes chose different things."""
        return self._of("votes differ", lambda: (view for view in self._stream() if view.divided))

    def flips(self) -> VerdictList:
        """Those of which a judge chose otherwise in another order."""
        return self._of("flipped in another order", lambda: (view for view in self._stream() if view.flipped))

    def unscored(self, reason: str | None = None) -> VerdictList:
        """Those of which all votes are unscored.

        Args:
            reason: Why the verdict has no score, or any of its votes none; the other votes may be scored.

        Raises:
            InvalidInputError: If there is no such reason.
        """
        if reason is None:
            return self._of("unscored", lambda: (view for view in self._stream() if view.unscored))
        if reason not in get_args(UnscoredReason):
            raise InvalidInputError(f"reason is {reason!r}. {did_you_mean(reason, get_args(UnscoredReason))}")
        return self._of(f"unscored: {reason}", lambda: (view for view in self._stream() if reason in _reasons(view)))

    def _of(self, what: str, source: Callable[[], Iterable[VerdictView]]) -> VerdictList:
        return VerdictList(f"{self.what}, {what}" if what else self.what, source)

    def text_tables(self) -> tuple[TextTable, ...]:
        """A row for each verdict, of the first :data:`MOST_PRINTED`."""
        first = self.views[:MOST_PRINTED]
        more = len(self) - len(first)
        left = f"{format_count(more, 'verdict')} more: head(n), to_csv('all') and to_pandas() have them."
        return (self._table(first, "verdicts", (left,) if more else ()),)

    def further_tables(self) -> tuple[TextTable, ...]:
        """All of them, however many."""
        return (self._table(self.views, "all", ()),)

    def _table(self, views: Sequence[VerdictView], kind: str, notes: Sequence[str]) -> TextTable:
        named = [((view.name,), view) for view in views]
        return measures_table(
            f"{self.what}: {format_count(len(self), 'question')}", ("verdict",), named, COLUMNS, notes, kind=kind
        )

    def to_pandas(self) -> pd.DataFrame:
        """A row for each verdict: what it came to, and its texts under ``context.<name>`` and ``response.<system>``."""
        import pandas as pd  # noqa: PLC0415 - a second of import that only this needs

        return pd.DataFrame.from_records([_record(view) for view in self])

    def __repr__(self) -> str:
        return str(self)


def _told(view: VerdictView, name: str) -> Iterable[object]:
    if name == "system":
        return view.systems
    return {vote.judge for vote in view.votes} if name == "judge" else [getattr(view, name)]


def _reasons(view: VerdictView) -> set[str | None]:
    return {view.unscored_reason, *(vote.unscored_reason for vote in view.votes)}


def _record(view: VerdictView) -> dict[str, Any]:
    told = {field.name: getattr(view, field.name) for field in fields(VerdictView)}
    del told["context"], told["responses"], told["votes"]
    texts: dict[str, str | None] = {f"context.{name}": text for name, text in view.context.items()}
    texts |= {f"response.{name or 'response'}": text for name, text in view.responses.items()}
    return {**told, "divided": view.divided, "unscored": view.unscored, "num_votes": len(view.votes), **texts}


def _selected(view: VerdictView) -> str:
    if view.na:
        return "does not apply"
    if view.selected:
        return view.selected
    word = "unscored" if view.unscored else "no verdict"
    return f"{word}: {view.unscored_reason}" if view.unscored_reason else word


def _yes(value: bool | None) -> str:
    return "yes" if value else ""


COLUMNS: Final = (
    Column("selected", _selected),
    Column("score", lambda view: format_number(view.score), optional=True),
    Column("spread", lambda view: format_number(view.spread), optional=True),
    Column("agreement", lambda view: "" if len(view.votes) < 2 else format_percent(view.agreement), optional=True),
    Column("votes", lambda view: format_count(len(view.votes))),
    Column("flipped", lambda view: _yes(view.flipped), optional=True),
    Column("gold", lambda view: view.gold or "", optional=True),
    Column("wrong", lambda view: _yes(view.wrong), optional=True),
)


@dataclass(frozen=True)
class RowView:
    """A row whole: what was shown, and every verdict with every vote, as a terminal, Markdown or a notebook shows it.

    ⟦ and ⟧ in a reply stand around the place where the verdict was read.

    Attributes:
        row: Its id, or its index as a text.
        views: The verdicts on it, each with all that is to be seen.
    """

    row: str
    views: tuple[VerdictView, ...]

    def __len__(self) -> int:
        return len(self.views)

    def __iter__(self) -> Iterator[VerdictView]:
        return iter(self.views)

    def to_terminal(self, *, width: int | None = None) -> str:
        """As lines of at most so many cells; by default those of the terminal."""
        width = width or terminal_width()
        lines: list[str] = []
        for block in self._blocks():
            label, text = visible_line(block.label), visible(block.text)
            if block.level == VOTE:
                lines += ["", *(f"  {line}" for line in wrapped(label, width - 2))]
            elif block.level is not None:
                lines += ["", *wrapped(label, width), ("=", "─")[block.level] * min(width, 60)]
            elif "\n" not in text and cell_len(label) + cell_len(text) + 4 <= width:
                lines.append(f"  {label}: {text}")
            else:
                lines += [f"  {line}" for line in wrapped(f"{label}:", width - 2)]
                lines += [f"    {line}" for line in wrapped(text, width - 4)]
        return "\n".join(lines[1:]) + "\n"

    def to_markdown(self) -> str:
        """With headings, and texts as quotations."""
        found = []
        for block in self._blocks():
            label = as_markdown(visible_line(block.label))
            if block.level is not None:
                found.append(f"{'#' * (block.level + 3)} {label}")
                continue
            lines = [as_paragraph(line) for line in visible(block.text).split("\n")]
            breaks = ["\\" if one and other else "" for one, other in zip(lines, [*lines[1:], ""], strict=True)]
            quoted = "\n".join(f"> {line}{ends}".rstrip(" ") for line, ends in zip(lines, breaks, strict=True))
            found.append(f"**{label}**\n\n{quoted}")
        return "\n\n".join(found) + "\n"

    def to_html(self) -> str:
        """In a box of its own: responses side by side, and marks where verdicts were read."""
        found = []
        for block in self._blocks():
            label = html.escape(visible_line(block.label))
            if block.level is not None:
                found.append(f"<h{block.level + 3}>{label}</h{block.level + 3}>")
                continue
            marked = (f"<mark>{text}</mark>" if is_read else text for text, is_read in _escaped(block.parts))
            beside = ' class="beside"' if block.beside else ""
            found.append(f"<div{beside}><p><b>{label}</b></p><pre>{''.join(marked)}</pre></div>")
        return styled(f'<div class="row">{"".join(found)}</div>')

    def __str__(self) -> str:
        return self.to_terminal()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.to_html()

    def _blocks(self) -> Iterator[_Block]:
        """What is to be shown, in order: the texts once, then verdict by verdict."""
        yield _Block(ROW, f"Row {self.row}")
        yield from dict.fromkeys(
            _Block(None, name or "response", ((text if text is not None else "(missing)", False),), kind == "responses")
            for kind in ("context", "responses")
            for view in self.views
            for name, text in getattr(view, kind).items()
        )
        for view in self.views:
            about = f" of {' and '.join(filter(None, view.systems))}" if any(view.systems) else ""
            yield _Block(VERDICT, f"{view.criterion}{about}: {_selected(view)}")
            yield _Block(None, "verdict", ((_in_words(view), False),))
            for vote in view.votes:
                yield from _vote_blocks(vote)


ROW, VERDICT, VOTE = range(3)
"""The levels of headings."""

Parts = tuple[tuple[str, bool], ...]
"""Text, and whether it is where a verdict was read."""


class _Block(NamedTuple):
    """A heading, or a text with its label; responses stand beside each other."""

    level: int | None
    label: str
    parts: Parts = ()
    beside: bool = False

    @property
    def text(self) -> str:
        return "".join(f"⟦{part}⟧" if is_read else part for part, is_read in self.parts)


def _escaped(parts: Parts) -> Iterator[tuple[str, bool]]:
    return ((html.escape(visible(text)), marked) for text, marked in parts)


def _in_words(view: VerdictView) -> str:
    said = [
        view.name,
        "" if view.score is None else f"score {format_number(view.score)}",
        "" if view.spread is None else f"spread of draws {format_number(view.spread)}",
        "" if view.agreement is None or len(view.votes) < 2 else f"agreement {format_percent(view.agreement)}",
        "flipped in another order" if view.flipped else "",
        f"people say {view.gold}" if view.gold is not None else "",
        "wrong" if view.wrong else "",
        f"no score: {view.unscored_reason}" if view.unscored_reason else "",
        f"of {view.cluster}" if view.cluster else "",
        "" if view.votes else "nobody was asked",
    ]
    return "; ".join(filter(None, said))


def _vote_blocks(vote: VoteView) -> Iterator[_Block]:
    shown = f"; shown {' – '.join(vote.shown)}" if vote.shown else ""
    chose = "does not apply" if vote.na else vote.selected or f"unscored: {vote.unscored_reason}"
    value = "" if vote.value is None else f" ({format_number(vote.value)})"
    how = f", read as {vote.how}" if vote.how and vote.selected else ""
    yield _Block(VOTE, f"{vote.judge}, draw {vote.sample + 1}: {chose}{value}{how}{shown}")
    if vote.error:
        yield _Block(None, "error", ((vote.error, False),))
    if vote.reasons and vote.reasons not in (vote.reply or ""):
        yield _Block(None, "reasons", ((vote.reasons, False),))
    if vote.reply:
        yield _Block(None, "reply", _marked(vote.reply, vote.read_at))


def _marked(reply: str, read_at: tuple[int, int] | None) -> Parts:
    if read_at is None:
        return ((reply, False),)
    first, last = read_at
    return tuple(part for part in ((reply[:first], False), (reply[first:last], True), (reply[last:], False)) if part[0])
