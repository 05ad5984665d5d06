"""The methods of a result that need labels of people, checks, pictures or a page; a result imports them when used."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict, Unpack, overload

from evenhand.judge_reliability.reliability import against_gold as compared_with_gold
from evenhand.labels.blind_sheet import to_label as blind_sheet
from evenhand.labels.correct import by_group
from evenhand.labels.correct import correct as corrected_scores
from evenhand.report.gates import CheckReport, Summary
from evenhand.report.gates import check as check_conditions
from evenhand.report.page import write_report
from evenhand.report.pictures import plot as drawn
from evenhand.results.results import Results as JudgedResults


class PageOptions(TypedDict, total=False):
    """What a page shows.

    Attributes:
        data: The rows that were judged, for their texts; by default these are those of the prompts that were sent.
        gold: Labels of people, by which scores are corrected; by default those that the result holds.
        design: How the labelled rows were chosen.
        other: A second run of the same kind: the page says what changed.
        further: Results of other kinds on the same rows, which the page shows too.
        title: Of the page.
        names: What the two runs are called.
    """

    data: object
    gold: object
    design: str | None
    other: JudgedResults
    further: Sequence[JudgedResults]
    title: str | None
    names: tuple[str, str]


class ResultMethods(JudgedResults):
    """The result of judging a data set, with the functions of results that need labels, checks, pictures or pages."""

    against_gold = compared_with_gold
    by = by_group
    correct = corrected_scores
    plot = drawn
    to_label = blind_sheet

    def check(self, *conditions: str, gold: object = None, design: str | None = None) -> CheckReport:
        """Check what must hold, such as ``results.check("relevance.low >= 0.7", "unscored <= 2 %")``.

        A condition is ``NAME[.PART] OP NUMBER``: a measure under its name in :meth:`findings`, with the system in
        brackets where several have it (``relevance[new]``, ``relevance.difference[new, old]``); ``.low`` or ``.high``
        for a limit of its interval, ``.n`` for the rows on which it rests; ``<``, ``<=``, ``>``, ``>=`` or ``==``; and
        a number, which may be a percentage. ``relevance.corrected`` is the score that people would give.

        Args:
            *conditions: All must hold. A condition on a measure that has no number does not, nor does one for which
                too many votes are unscored to tell.
            gold: Labels of people for ``.corrected``, as :meth:`correct` takes them; by default those held.
            design: How the labelled rows were chosen.

        Returns:
            A :class:`~evenhand.report.gates.CheckReport`: it prints as a table, has those that ``failed``, and
            ``raise_if_failed``.

        Raises:
            InvalidInputError: A text that is not a condition, a name of no measure or of several, or a number that the
                measure cannot reach.
        """
        return check_conditions(self, conditions, gold=gold, design=design)

    def summarize(self, *conditions: str, gold: object = None, design: str | None = None) -> Summary:
        """Summarize the result for programs: ``to_json()``, ``to_junit()`` and ``to_markdown()``, with conditions.

        The arguments are those of :meth:`check`.
        """
        return Summary(self, self.check(*conditions, gold=gold, design=design))

    @overload
    def to_html(self) -> str: ...
    @overload
    def to_html(self, path: str | Path, **page: Unpack[PageOptions]) -> None: ...

    def to_html(self, path: str | Path | None = None, **page: Unpack[PageOptions]) -> str | None:
        """Return the tables as HTML; with a path, write a page of its own there instead.

        The page is one file that needs nothing else: it opens offline, loads nothing and sends nothing. It shows how
        the result was made, cautions, scores, pictures and every verdict with its texts and votes.

        Args:
            path: A file that ends in ``.html``.
            **page: With a path: see :class:`PageOptions`.

        Raises:
            InvalidInputError: If the path ends otherwise, or what is given does not fit.
            UnwritableFileError: If the file cannot be written; what was there is as it was.
        """
        write_report(path, self, **page)  # type: ignore[arg-type] # a missing path is refused there
        return None
