"""The words behind a result that need labels of people, checks, pictures or a page, which are functions of it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, TypedDict, TypeVar, Unpack, overload

from evenhand.errors import InvalidInputError
from evenhand.labels.by_group import by_group
from evenhand.labels.correct import correct as corrected_scores
from evenhand.labels.to_label import to_label as blind_sheet
from evenhand.report.explorer import write_report
from evenhand.report.gates import GateReport
from evenhand.report.gates import check as checked
from evenhand.report.plots import plot as drawn
from evenhand.report.summaries import Summary
from evenhand.results.results import Results as JudgedResults

Entry = TypeVar("Entry")


class PageOptions(TypedDict, total=False):
    """What a page shows.

    Attributes:
        data: The rows that were judged, for their texts; by default these are those of the prompts that were sent.
        gold: Labels of people, by which scores are corrected; by default those that the result holds.
        design: How the labelled rows were chosen.
        other: A second run, of which the page says what changed.
        leave_out: What of the votes the page does not hold: ``prompts``, ``reasoning``.
        title: Of the page.
        names: What the two runs are called.
    """

    data: object
    gold: object
    design: str | None
    other: JudgedResults[Any]
    leave_out: Collection[str]
    title: str | None
    names: Sequence[str]


class ResultMethods(JudgedResults[Entry]):
    """A result as users hold it: every class of results derives from this one."""

    by = by_group
    correct = corrected_scores
    plot = drawn
    to_label = blind_sheet

    def check(self, *fail_if: str, gold: object = None, design: str | None = None, data: object = None) -> GateReport:
        """Check what would make this result fail, such as ``results.check("relevance.low < 0.7", "unscored > 2 %")``.

        A measure is named as :meth:`findings` name it, then ``.low``, ``.high``, ``.n``, ``.unscored`` (the share of
        its votes) or ``.unscored_verdicts`` of it: in brackets whose (``winrate[new].low <= 0.5``,
        ``relevance.difference[new, old].high < 0``), and of which rows
        (``relevance[language=de].low < 0.6``, ``[language=*]`` for each group). Without brackets it stands for every
        system, as ``.corrected`` for what people would say. Comparisons are joined by ``and``, ``or``, ``not`` and
        parentheses; names with spaces or other signs stand in quotes.

        Args:
            *fail_if: What must not be. A gate whose measure has no number fails, and so does one for which too many
                votes are unscored to tell.
            gold: Labels of people for ``.corrected``, as :meth:`correct` takes them; by default those held.
            design: How the labelled rows were chosen.
            data: The rows that were judged, where the result keeps no column of groups.

        Returns:
            A :class:`~evenhand.report.gates.GateReport`: it prints as a table, has those that ``failed``, and
            ``raise_if_failed``.

        Raises:
            InvalidInputError: What is no gate, or names what this result does not have.
        """
        return checked(self, fail_if, gold=gold, design=design, data=data)

    def summarize(self, *fail_if: str, gold: object = None, design: str | None = None, data: object = None) -> Summary:
        """Say what was found, for programs: ``to_json()``, ``to_junit()`` and ``to_markdown()``, with gates.

        The arguments are those of :meth:`check`.
        """
        return Summary(self, self.check(*fail_if, gold=gold, design=design, data=data))

    @overload
    def to_html(self, *, kind: str | None = None) -> str: ...
    @overload
    def to_html(self, path: str | Path, **page: Unpack[PageOptions]) -> None: ...

    def to_html(
        self, path: str | Path | None = None, *, kind: str | None = None, **page: Unpack[PageOptions]
    ) -> str | None:
        """Return the tables as HTML; with a path, write a page of its own there instead.

        The page is one file that needs nothing else: it opens offline, loads nothing and sends nothing. It shows how
        the result was made, cautions, scores, pictures and every verdict with its texts and votes.

        Args:
            path: A file that ends in ``.html``.
            kind: Without a path: only the table of a kind (see :meth:`tables`).
            **page: With a path: see :class:`PageOptions`.

        Raises:
            InvalidInputError: If the path ends otherwise, or what is given does not fit.
            UnwritableFileError: If the file cannot be written; what was there is as it was.
        """
        if path is None and not page:
            return super().to_html(kind=kind)
        if kind is not None:
            raise InvalidInputError(f"kind is {kind!r}, and a page has all tables: give no path, or no kind")
        write_report(path, self, **page)  # type: ignore[arg-type] # who gives no path is told so there
        return None


Results = ResultMethods
"""What users call it."""
