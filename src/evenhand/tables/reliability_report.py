"""The report on the reliability of judges: frozen, printable, and written as JSON, Markdown or HTML."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from pydantic import TypeAdapter, ValidationError

from evenhand.errors import InvalidInputError
from evenhand.judge_reliability.one_judge import ChoiceReliability, CriterionReliability
from evenhand.judge_reliability.people import JudgesAgreement
from evenhand.judge_reliability.report import choices_table, criterion_tables, judges_table
from evenhand.judge_reliability.words import Finding, finding_on_choices, findings, findings_on_judges
from evenhand.results.measures import as_json, plain
from evenhand.results.notes import baseline_note
from evenhand.results.render import PrintedTables, TextTable
from evenhand.results.results import read_only

KIND = "reliability"
SUFFIXES = (".json", ".md", ".html")


@dataclass(frozen=True)
class ReliabilityReport(PrintedTables):
    """The result of :func:`~evenhand.tables.reliability`.

    Attributes:
        results: One per criterion and judge, in the order asked for, judges within criteria.
        choices: Of pairwise criteria with three systems or more, or where prompts were named: the Grade Score of each
            judge and prompt, without and with an unrelated candidate.
        agreements: One per criterion, where there are several judges: how far they agree.
        parameters: What made the report: judges, fields, orders, samples, rules, seed, interval level, version.
    """

    results: tuple[CriterionReliability, ...]
    choices: tuple[ChoiceReliability, ...]
    agreements: tuple[JudgesAgreement, ...]
    parameters: Mapping[str, Any]

    def __post_init__(self) -> None:
        object.__setattr__(self, "parameters", read_only(self.parameters))

    @property
    def criteria(self) -> tuple[str, ...]:
        """The names of the criteria, in the order asked for."""
        return tuple(dict.fromkeys(result.criterion for result in self.results))

    @property
    def judges(self) -> tuple[str, ...]:
        """The names of the judges, in the order asked for."""
        return tuple(dict.fromkeys(result.judge_id for result in self.results))

    def of(self, criterion: str | None = None, judge: str | None = None) -> CriterionReliability:
        """The numbers of one judge on one criterion; what there is only one of need not be named.

        Raises:
            InvalidInputError: If that is none, or several.
        """
        found = [
            result
            for result in self.results
            if criterion in {None, result.criterion} and judge in {None, result.judge_id}
        ]
        if len(found) != 1:
            raise InvalidInputError(
                f"{len(found)} results are of the criterion {criterion!r} and the judge {judge!r}; name one of the "
                f"criteria {list(self.criteria)!r} and of the judges {list(self.judges)!r}"
            )
        return found[0]

    def findings(self, criterion: str | None = None, judge: str | None = None) -> tuple[Finding, ...]:
        """What the numbers say in words, a sentence per measure."""
        return findings(self.of(criterion, judge))

    def text_tables(self) -> tuple[TextTable, ...]:
        """All tables as texts."""
        tables: list[TextTable] = []
        for criterion in self.criteria:
            tables += criterion_tables([result for result in self.results if result.criterion == criterion])
            chosen = [each for each in self.choices if each.criterion == criterion]
            tables += [choices_table(chosen)] if chosen else []
        level = self.parameters["level"]
        return (*tables, *(judges_table(agreement, level=level) for agreement in self.agreements))

    def closing_notes(self) -> tuple[str, ...]:
        """What the baseline is, where it is among the judges."""
        return baseline_note(self.judges)

    def to_json(self) -> str:
        """Parameters, every number, and the words; :meth:`load` reads it again. An infinite limit is null."""
        said = [
            *((each.criterion, each.judge_id, found) for each in self.results for found in findings(each)),
            *((each.criterion, each.judge_id, finding_on_choices(each)) for each in self.choices),
            *((each.criterion, None, found) for each in self.agreements for found in findings_on_judges(each)),
        ]
        document = {
            "evenhand": KIND,
            **plain(self, reasons=True),
            "findings": [{"criterion": name, "judge": judge, **plain(found)} for name, judge, found in said],
        }
        return as_json(document, indent=1)

    def save(self, path: str | Path) -> None:
        """Write ``.json`` (which :meth:`load` reads), ``.md`` or ``.html``.

        Raises:
            InvalidInputError: If the name ends otherwise.
        """
        written = {".json": self.to_json, ".md": self.to_markdown, ".html": self._page}
        check_suffix(path)
        Path(path).write_text(written[Path(path).suffix.lower()]() + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read the ``.json`` that :meth:`save` wrote.

        Raises:
            InvalidInputError: If the file cannot be read, or is something else.
        """
        try:
            document = json.loads(Path(path).read_text(encoding="utf-8"))
            if document["evenhand"] != KIND:
                raise KeyError(KIND)
            return TypeAdapter(cls).validate_python(document)
        except OSError as error:
            raise InvalidInputError(f"{str(path)!r} cannot be read ({error.strerror})") from error
        except (ValueError, ValidationError, LookupError, TypeError) as error:
            raise InvalidInputError(
                f"{str(path)!r} is not a saved report on the reliability of judges; ReliabilityReport.save writes one "
                "to a name that ends in '.json'"
            ) from error

    def __repr__(self) -> str:
        return f"<ReliabilityReport on {len(self.judges)} judge(s) and {len(self.criteria)} criterion/criteria>\n{self}"

    def _page(self) -> str:
        return f'<!doctype html>\n<meta charset="utf-8">\n<title>How reliable is the judge?</title>\n{self.to_html()}'


def check_suffix(path: str | Path) -> None:
    """Check that a report can be written under this name.

    Raises:
        InvalidInputError: If its ending says no format.
    """
    if Path(path).suffix.lower() not in SUFFIXES:
        raise InvalidInputError(
            f"{str(path)!r} ends in {Path(path).suffix!r}. Accepted: {', '.join(map(repr, SUFFIXES))}"
        )
