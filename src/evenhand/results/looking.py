"""Views of verdicts: each with all texts and replies, a selection as a table, and a whole row.

Results hold votes and no texts. What a judge was shown stands between the tags of the prompts that were sent; where
these were not kept, it is read from the data that were judged. A selection has no scores: what is chosen for being
divided, unscored or extreme has no mean that describes a system.
"""

from __future__ import annotations

import html
import math
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property, partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, overload

from rich.cells import cell_len

from evenhand.errors import InvalidInputError, check_known
from evenhand.numbers import format_count, format_number, format_percent
from evenhand.parsing import where_read
from evenhand.parsing.labels import comparison_key
from evenhand.prompts import shown_texts
from evenhand.results.measures import Column, measures_table
from evenhand.results.render import PrintedTables, TextTable, styled, terminal_width, wrapped
from evenhand.results.vote_columns import Cell
from evenhand.visible import visible, visible_line
from evenhand.votes import Verdict, Vote

if TYPE_CHECKING:
    import pandas as pd

Texts = tuple[Mapping[str, str], Mapping[str, str | None]]
"""The context that was shown, and the responses."""

Sent = Mapping[str, tuple[tuple[str, str], ...]]
"""Stage -> the messages that were sent, each with its role."""


@dataclass(frozen=True, slots=True)
class VoteView:
    """One vote.

    Attributes:
        vote: The vote.
        shown: The options, or the systems compared, in the order shown; empty if the order is not known.
        selected: The selected label, or the system that it prefers; None if it is unscored.
        probabilities: Option or system -> probability, if the engine gave some.
        read_at: First character of the verdict in the reply, and the one after its last; None if no place decided.
        prompts: The messages that were sent; empty if they were not kept.
    """

    vote: Vote
    shown: tuple[str, ...]
    selected: str | None
    probabilities: Mapping[str, float]
    read_at: tuple[int, int] | None
    prompts: Sent

    @property
    def reply(self) -> str | None:
        """The text that the verdict was read from."""
        return None if self.vote.completion is None else self.vote.completion.text


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionAsked:
    """The question of one cell, and its verdict.

    Attributes:
        name: The unique name in the result: ``3/alder/relevance``.
        criterion: The name of the criterion.
        question: The question: the description of a criterion, or the text of an item.
        options: The options, in the criterion's own order; empty if they are not known.
        systems: The systems of the responses, in the order in which a vote's ``order`` counts them; empty if results
            know no systems.
        selected: The label selected, or the system that is better, or ``tie``; None without a selection.
        score: The score in the units of the criterion; of a comparison that of the first system. None without one.
        verdict: The verdict of the votes.
        gold: The label of a person, if it is known.
        compares: Whether several responses were shown together, so that orders are orders of these.
        offered: The labels as replies name them, if these are not the options.
    """

    name: str
    criterion: str
    question: str
    options: tuple[str, ...]
    systems: tuple[str, ...]
    selected: str | None
    score: float | None
    verdict: Verdict
    gold: str | None = None
    compares: bool = False
    offered: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictView(QuestionAsked):
    """One question, its verdict, the texts shown, and the replies.

    Attributes:
        row: The id of the row, or else its index as a text.
        instance: The row's index.
        cluster: The cluster of the row.
        context: Name -> text that was shown with the responses.
        responses: System -> its response; None for one that is missing. Texts that were not kept are left out.
        votes: All votes.
    """

    row: str
    instance: int
    cluster: str | None
    context: Mapping[str, str]
    responses: Mapping[str, str | None]
    votes: tuple[VoteView, ...]

    @property
    def flipped(self) -> bool | None:
        """Whether a judge selected something else in another order; None if none was asked in two."""
        return None if self.verdict.position_consistent is None else not self.verdict.position_consistent

    @property
    def wrong(self) -> bool | None:
        """Whether the selection differs from the gold label; None without one of them, or for a number as gold."""
        is_label = self.gold in {*self.options, *self.systems, "tie"}
        return self.selected != self.gold if is_label and self.selected is not None else None

    @property
    def unscored_reason(self) -> str | None:
        """Why there is no score."""
        return None if self.verdict.na else self.verdict.unscored_reason

    @property
    def divided(self) -> bool:
        """Whether votes chose different things."""
        return len({vote.selected for vote in self.votes if vote.selected is not None}) > 1

    @property
    def unscored(self) -> bool:
        """Whether all its votes are unscored, or none was cast."""
        return all(each.vote.unscored for each in self.votes)

    def record(self) -> dict[str, Any]:
        """Return the row, the question and the verdict as plain fields, without context, responses and votes."""
        names = (
            *("row", "question", "systems", "selected", "score", "unscored_reason", "gold"),
            *("wrong", "flipped", "divided", "unscored", "cluster"),
        )
        of_verdict = {name: getattr(self.verdict, name) for name in ("na", "spread", "agreement")}
        return {**{name: getattr(self, name) for name in names}, **of_verdict}


def _prompts_of(cell: Cell, asked: QuestionAsked, sheets: dict[Any, Any]) -> list[Sent]:
    """Return the prompts of each vote; of an answer on a sheet that another cell of the row holds whole, this sheet."""
    found: list[Sent] = []
    for vote in cell.votes:
        replied = None if vote.completion is None else vote.completion.text
        key = (cell.about["instance"], asked.systems, vote.judge_id, vote.sample, replied)
        held = sheets.get(key) if vote.prompts is None else vote.prompts
        plain = {} if held is None else held.plain()  # once, as they are unpacked each time
        if vote.prompts is not None and "sheet" in plain:
            sheets[key] = vote.prompts
        found.append({stage: tuple((str(m["role"]), str(m["content"])) for m in own) for stage, own in plain.items()})
    return found


def verdict_view(
    cell: Cell, asked: QuestionAsked, sheets: dict[Any, Any], row: str, texts: Texts | None = None
) -> VerdictView:
    """Return the view of a cell.

    Args:
        cell: The votes.
        asked: The question and verdict of its result.
        sheets: The sheets sent so far, by row, responses, judge, draw and reply; it grows.
        row: The id of its row.
        texts: The context and the responses, where the data were given.
    """
    sent = _prompts_of(cell, asked, sheets)
    context, responses = _texts(cell, asked, sent, texts)
    return VerdictView(
        **{each.name: getattr(asked, each.name) for each in fields(asked)},
        row=row,
        instance=cell.about["instance"],
        cluster=cell.about.get("cluster"),
        context=context,
        responses=responses,
        votes=tuple(_vote_view(vote, asked, own) for vote, own in zip(cell.votes, sent, strict=True)),
    )


def _vote_view(vote: Vote, asked: QuestionAsked, sent: Sent) -> VoteView:
    reply, options, selected, read_at = vote.completion, asked.options, vote.selected_label, None
    if vote.selected_index is not None and vote.selected_index < len(options):
        selected = options[vote.selected_index]
    if reply and reply.text and vote.match and vote.match.index is not None and "sheet" not in sent:
        read_at = where_read(reply.text, asked.offered or options)  # not in a sheet of many answers
        label = reply.text[slice(*read_at)] if read_at else ""
        if not asked.compares and comparison_key(label) != comparison_key(vote.selected_label or ""):
            read_at = None
    shown = _in_order(vote.order, asked.systems if asked.compares else options)
    probabilities = dict(zip(options, vote.probabilities or (), strict=False))
    return VoteView(vote, shown, selected, probabilities, read_at, sent)


def _in_order(order: Sequence[int], names: Sequence[str]) -> tuple[str, ...]:
    """Return the names in the order shown; none if the order does not fit the names."""
    return tuple(names[place] for place in order) if order and max(order) < len(names) else ()


def _texts(cell: Cell, asked: QuestionAsked, sent: Sequence[Sent], texts: Texts | None) -> Texts:
    """Return the texts shown: from the data if they are given, else from the prompts."""
    names = asked.systems or ("response",)
    if texts is not None:
        context, responses = texts
        return context, {name: responses.get(name, responses.get("")) for name in asked.systems or responses}
    if not cell.votes and asked.verdict.unscored_reason == "missing_response":
        lengths = [cell.about.get(name) for name in ("first_length", "second_length")] if len(names) == 2 else []
        lacking = [name for name, length in zip(names, lengths, strict=False) if length is None]
        return {}, dict.fromkeys(lacking if asked.compares else names)
    for vote, own in zip(cell.votes, sent, strict=True):
        first = next((messages[0][1] for messages in own.values() if messages), None)
        found = None if first is None else shown_texts(first)
        if found is not None and found.responses:
            shown = _in_order(vote.order, names) if asked.compares else names
            if len(shown) != len(found.responses):  # a prompt of the user's own may show them in part
                return found.context, {}
            given = dict(zip(shown, found.responses, strict=True))
            return found.context, {name: given[name] for name in names if name in given}
    return {}, {}


ORDERS: Final[Mapping[str, Callable[[VerdictView], float | None]]] = {
    "spread": lambda view: view.verdict.spread,
    "disagreement": lambda view: None if view.verdict.agreement is None else 1 - view.verdict.agreement,
    "length": lambda view: sum(len(text) for text in view.responses.values() if text) if view.responses else None,
    "score": lambda view: view.score,
}
"""By what verdicts are sorted: the spread of their draws, the share of their votes that chose something else, the
characters of their responses, their score."""


class Viewable(PrintedTables):
    """An object with verdicts, which are sorted and selected: a result, or a list of verdicts."""

    @abstractmethod
    def verdict_list(self, data: object = None) -> VerdictList:
        """Return every verdict: printed as a table, filtered, sorted, and one by one whole."""

    def sort(self, by: str = "spread", *, ascending: bool = False) -> VerdictList:
        """Sort the verdicts, the greatest first; verdicts without such a number come last.

        Args:
            by: ``spread``, ``disagreement``, ``length`` or ``score``.
            ascending: The least first.

        Raises:
            InvalidInputError: If there is no such order.
        """
        check_known(by, ORDERS, f"by is {by!r}")
        sign = 1 if ascending else -1

        def key(view: VerdictView) -> float:
            number = ORDERS[by](view)
            return math.inf if number is None else sign * number

        return self._select(f"by {by}", lambda views: sorted(views, key=key))

    def head(self, n: int = 5) -> VerdictList:
        """Return the first verdicts."""
        if n < 0:
            raise InvalidInputError(f"n is {n!r}; give how many verdicts, 0 or more")
        return self._select(f"the first {n}", lambda views: islice(views, n))

    def disagreements(self) -> VerdictList:
        """Return the verdicts on which the votes disagree."""
        return self._select("votes differ", lambda views: (view for view in views if view.divided))

    def flips(self) -> VerdictList:
        """Return the verdicts on which a judge changed its choice with the order."""
        return self._select("flipped in another order", lambda views: (view for view in views if view.flipped))

    def unscored(self) -> VerdictList:
        """Return the verdicts whose votes are all unscored."""
        return self._select("unscored", lambda views: (view for view in views if view.unscored))

    def _select(self, what: str, select: Callable[[Iterable[VerdictView]], Iterable[VerdictView]]) -> VerdictList:
        every = self.verdict_list()
        return VerdictList(f"{every.what}, {what}", lambda: select(every.source()))


@dataclass(frozen=True, repr=False)
class VerdictList(Viewable, Sequence[VerdictView]):
    """Verdicts in an order, each with its texts and votes: printed as a table, and one by one whole.

    It is not a result and has no scores: a mean over selected verdicts does not describe a system. For the scores of
    some of the rows use :meth:`~evenhand.results.results.Results.filter`. Verdicts are made on demand:
    ``results.verdict_list().head(5)`` makes five, however many there are.

    Attributes:
        what: The selection, as its title says it.
        source: A function that gives the verdicts, each time anew.
    """

    what: str
    source: Callable[[], Iterable[VerdictView]]

    def verdict_list(self, data: object = None) -> VerdictList:  # noqa: ARG002 - of results
        """Return the list itself."""
        return self

    @cached_property
    def views(self) -> tuple[VerdictView, ...]:
        """All of them."""
        return tuple(self.source())

    def __len__(self) -> int:
        return len(self.views)

    def __iter__(self) -> Iterator[VerdictView]:
        return iter(self.views)

    @overload
    def __getitem__(self, key: int) -> VerdictView: ...
    @overload
    def __getitem__(self, key: slice) -> VerdictList: ...
    def __getitem__(self, key: int | slice) -> VerdictView | VerdictList:
        return self.views[key] if isinstance(key, int) else VerdictList(self.what, lambda: self.views[key])

    def filter(self, keep: Callable[[VerdictView], bool]) -> VerdictList:
        """Keep the verdicts for which a function returns True: ``found.filter(lambda view: "new" in view.systems)``."""
        return self._select("chosen by a function", partial(filter, keep))

    def text_tables(self) -> tuple[TextTable, ...]:
        """Return a table with a row for each verdict."""
        title, named = f"{self.what}: {format_count(len(self), 'question')}", [((view.name,), view) for view in self]
        return (measures_table(title, ("verdict",), named, COLUMNS, kind="verdicts"),)

    def to_pandas(self) -> pd.DataFrame:
        """Return a row for each verdict, with its texts under ``context.<name>`` and ``response.<system>``."""
        import pandas as pd  # noqa: PLC0415 - a second of import that only this needs

        records = []
        for view in self:
            record = {name: getattr(view, name) for name in ("name", "row", "instance", "criterion")} | view.record()
            record |= {f"context.{name}": text for name, text in view.context.items()}
            record |= {f"response.{name or 'response'}": text for name, text in view.responses.items()}
            records.append({**record, "num_votes": len(view.votes)})
        return pd.DataFrame.from_records(records)


def _describe_selection(view: VerdictView) -> str:
    if view.verdict.na:
        return "does not apply"
    word = "unscored" if view.unscored else "no verdict"
    return view.selected or (f"{word}: {view.unscored_reason}" if view.unscored_reason else word)


COLUMNS: Final = (
    Column("selected", _describe_selection),
    Column("score", lambda view: format_number(view.score), optional=True),
    Column("spread", lambda view: format_number(view.verdict.spread), optional=True),
    Column("agreement", lambda view: format_percent(view.verdict.agreement) if view.votes[1:] else "", optional=True),
    Column("votes", lambda view: format_count(len(view.votes))),
    Column("flipped", lambda view: "yes" if view.flipped else "", optional=True),
    Column("gold", lambda view: view.gold or "", optional=True),
    Column("wrong", lambda view: "yes" if view.wrong else "", optional=True),
)


@dataclass(frozen=True)
class RowView:
    """A row whole: what was shown, and every verdict with every vote, as a terminal or a notebook shows it.

    ⟦ and ⟧ in a reply stand around the place where the verdict was read; a notebook highlights it.

    Attributes:
        row: The id of the row, or its index as a text.
        views: The verdicts on it, each with all texts and votes.
    """

    row: str
    views: tuple[VerdictView, ...]

    def to_terminal(self, *, width: int | None = None) -> str:
        """Return lines of at most ``width`` cells; by default the width of the terminal."""
        return "\n".join(self._lines(width or terminal_width(), ("⟦", "⟧"))) + "\n"

    def to_html(self) -> str:
        """Return the same in a box of its own."""
        text = html.escape("\n".join(self._lines(_PAGE_WIDTH, _MARKS)))
        for sign, tag in zip(_MARKS, ("<mark>", "</mark>"), strict=True):
            text = text.replace(sign, tag)
        return styled(f"<pre>{text}</pre>")

    def __str__(self) -> str:
        return self.to_terminal()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.to_html()

    def _lines(self, width: int, marks: tuple[str, str]) -> Iterator[str]:
        """Return the texts once, then the verdicts.

        Args:
            width: Of a line.
            marks: The marks before and after the place where a verdict was read.
        """
        yield from _heading(f"Row {self.row}", width, "=")
        texts = (
            (kind, *each)
            for kind in ("context", "responses")
            for view in self.views
            for each in getattr(view, kind).items()
        )
        for _, name, text in dict.fromkeys(texts):
            yield from _text(name or "response", visible("(missing)" if text is None else text), width)
        for view in self.views:
            about = f" of {' and '.join(filter(None, view.systems))}" if any(view.systems) else ""
            yield ""
            yield from _heading(f"{view.criterion}{about}: {_describe_selection(view)}", width, "─")
            facts = [(column.header, column.cell(view)) for column in COLUMNS[1:]] + [("cluster", view.cluster)]
            known = [f"{name} {fact}" for name, fact in facts if fact not in {None, "", format_number(None)}]
            yield from _text("verdict", visible("; ".join([view.name, *known])), width)
            for each in view.votes:
                yield ""
                yield from (f"  {line}" for line in wrapped(visible_line(_vote_line(each)), width - 2))
                yield from _text("error", visible(each.vote.error or ""), width)
                if each.vote.assessment and each.vote.assessment not in (each.reply or ""):
                    yield from _text("reasons", visible(each.vote.assessment), width)
                yield from _text("reply", _marked(each, marks), width)


_PAGE_WIDTH: Final = 100
"""The width of a line in a notebook."""

_MARKS: Final = ("\x00", "\x01")
"""Signs that no visible text holds."""


def _heading(text: str, width: int, rule: str) -> Iterator[str]:
    yield from wrapped(visible_line(text), width)
    yield rule * min(width, 60)


def _text(label: str, text: str, width: int) -> Iterator[str]:
    """Format a text with its label, in one line if it fits; return nothing without a text."""
    label = visible_line(label)
    if text and "\n" not in text and cell_len(label) + cell_len(text) + 4 <= width:
        yield f"  {label}: {text}"
    elif text:
        yield from (f"  {line}" for line in wrapped(f"{label}:", width - 2))
        yield from (f"    {line}" for line in wrapped(text, width - 4))


def _vote_line(view: VoteView) -> str:
    vote = view.vote
    shown = f"; shown {' – '.join(view.shown)}" if view.shown else ""
    selected = "does not apply" if vote.na else view.selected or f"unscored: {vote.unscored_reason}"
    value = "" if vote.value is None else f" ({format_number(vote.value)})"
    how = f", read as {vote.match.kind}" if vote.match and view.selected else ""
    return f"{vote.judge_id}, draw {vote.sample + 1}: {selected}{value}{how}{shown}"


def _marked(vote: VoteView, marks: tuple[str, str]) -> str:
    """Return the reply with marks around the label that was read."""
    reply = vote.reply or ""
    if vote.read_at is None:
        return visible(reply)
    (first, last), (opening, closing) = vote.read_at, marks
    return f"{visible(reply[:first])}{opening}{visible(reply[first:last])}{closing}{visible(reply[last:])}"
