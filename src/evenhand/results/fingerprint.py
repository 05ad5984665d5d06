"""By what a result was made, so that two results can be told apart that were not made the same way.

The parameters of a result hold digits that stand for the judges, the prompts and what was shown of each row, computed
when judges are asked (:mod:`evenhand.judging.run_fingerprint`). The names of the models are those that the replies
bring; the options are the parameters themselves.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2s
from typing import Any, Final

from evenhand.errors import EvenhandWarning
from evenhand.numbers import Missing, format_count
from evenhand.options import ChoiceVoteFields, IntervalOptions, ItemVoteFields, ReportVoteFields, Seeded
from evenhand.results.spending import LIMITS

DIGITS: Final = 8
"""Of what was shown of one row."""

NOTHING: Final = "." * DIGITS
"""In the place of a row of which nothing was shown."""

NOT_OPTIONS: Final = frozenset(
    {
        *(
            "evenhand_version",
            "judges",
            "n",
            "ids",
            "groups",
            "group_fields",
            "fingerprint",
            "include_prompts_in_result",
        ),
        *("gold", "gold_field", "gold_fields", "votes", "replies", "criteria_given", "as_index", "resamples"),
        *LIMITS,
        *(name for model in (IntervalOptions, Seeded) for name in model.model_fields),
        *(name for model in (ReportVoteFields, ItemVoteFields, ChoiceVoteFields) for name in model.model_fields),
    }
)
"""Parameters that say what was judged, how intervals are made or what was found, and not how judges are asked."""

CONFOUNDED: Final = "Both what was judged and how it was judged differ"
RECORDED: Final = Missing("its votes are recorded, and do not say how they were asked for")


class ConfoundedComparisonWarning(EvenhandWarning):
    """Two results are compared that differ both in what was judged and in how, so that neither explains the other."""


_PLAIN: Final = json.JSONEncoder(sort_keys=True, default=str)


def digest(*parts: object, digits: int = 12) -> str:
    """Hexadecimal digits that stand for these plain values.

    >>> digest("a", {"b": 1}) == digest("a", {"b": 1}), digest("a") == digest("b")
    (True, False)
    """
    text = _PLAIN.encode(parts)
    return blake2s(text.encode("utf-8", "surrogatepass"), digest_size=digits // 2).hexdigest()


def in_a_row(rows: Mapping[int, str]) -> str:
    """The digits of each row, one after the other."""
    return "".join(rows.get(row, NOTHING) for row in range(max(rows) + 1))


@dataclass(frozen=True)
class Fingerprint:
    """By what a result was made.

    Attributes:
        judges: The names of the judges.
        judge: Digits for all that the engines say of themselves: server, model, sampling.
        models: As the replies name them, with versions where servers tell them.
        prompts: Digits for the templates that were used, and the cases that are shown first.
        criteria: Digits for what was judged by.
        options: How the judges were asked, and how votes become scores.
        anchors: Digits for the labels of people that the result holds, and the rows that they are of.
        shown: Whose response -> eight digits for each row, which stand for it and for what was shown beside it.
    """

    judges: tuple[str, ...]
    judge: str | Missing
    models: tuple[str, ...]
    prompts: str | Missing
    criteria: str
    options: Mapping[str, Any]
    anchors: str | Missing
    shown: Mapping[str, str]

    @classmethod
    def of(
        cls, judged: Mapping[str, Any], said: Mapping[str, Any], models: Iterable[str], labels: Sequence[object]
    ) -> Fingerprint:
        """That of a result.

        Args:
            judged: What was judged, as plain JSON.
            said: The parameters.
            models: As the replies name them.
            labels: Those of people that the result holds, with the questions that they answer.
        """
        held = said.get("fingerprint", {})
        by = {name: value for name, value in judged.items() if name not in {"systems", "notes"}}
        return cls(
            judges=tuple(said.get("judges") or said.get("votes") or ()),
            judge=held.get("judge", RECORDED),
            models=tuple(sorted(models)),
            prompts=held.get("prompts", RECORDED),
            criteria=digest(by),
            options=dict(_options(said)),
            anchors=digest(labels, list(said.get("ids", ()))) if labels else Missing("it holds no label of people"),
            shown=held.get("shown", {}),
        )

    def shown_of(self, row: int, names: Sequence[str]) -> str | None:
        """The digits for what was shown of a row; None where nothing is known of it.

        Args:
            row: Of the data.
            names: Whose responses; where these are nobody's, those of all.
        """
        chosen = [name for name in names if name in self.shown] or list(self.shown)
        digits = [self.shown[name][row * DIGITS : (row + 1) * DIGITS] for name in chosen]
        return "".join(digits) if any(each not in {NOTHING, ""} for each in digits) else None

    def changes(self, other: Fingerprint) -> tuple[str, ...]:
        """What was not the same when the other result was made: the judge, its version, prompts, criteria, options."""
        found = []
        if self.judges != other.judges:
            found.append(f"judge ({_named(self.judges)} → {_named(other.judges)})")
        elif self.models and other.models and self.models != other.models:
            found.append(f"model behind the judge's name ({_named(self.models)} → {_named(other.models)})")
        elif _differ(self.judge, other.judge):
            found.append(f"settings of the judge {_named(self.judges)} (server, model or sampling)")
        if _differ(self.prompts, other.prompts):
            found.append("prompts")
        if self.criteria != other.criteria:
            found.append("criteria")
        for name in dict.fromkeys([*self.options, *other.options]):
            before, after = self.options.get(name), other.options.get(name)
            if before != after:
                found.append(f"{name} ({before!r} → {after!r})")
        return tuple(found)

    def unknown(self, other: Fingerprint) -> str | None:
        """Why it cannot be told whether all else was the same; None where it can."""
        missing = [each.judge for each in (self, other) if isinstance(each.judge, Missing)]
        return missing[0].reason if missing else None


def _named(names: Sequence[str]) -> str:
    return ", ".join(names) or "nobody"


def _differ(one: str | Missing, other: str | Missing) -> bool:
    return isinstance(one, str) and isinstance(other, str) and one != other


def _options(parameters: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The options by their names, those of grid and flow among them."""
    for name, value in parameters.items():
        if isinstance(value, Mapping) and name in {"grid", "flow"}:
            yield from _options(value)
        elif name not in NOT_OPTIONS:
            yield name, value


def notes_on_changes(
    one: Fingerprint, other: Fingerprint, rows: Iterable[tuple[int, int, Sequence[str]]]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What a comparison of two results must say of how they were made, in sentences, and in short.

    Args:
        one: Of the first.
        other: Of the second.
        rows: What is compared: the row in the data of the first, that of the second, and whose responses.
    """
    changed = one.changes(other)
    pairs = [(one.shown_of(row, names), other.shown_of(place, names)) for row, place, names in rows]
    known = [(a, b) for a, b in pairs if a is not None and b is not None]
    new = sum(a != b for a, b in known)
    notes = []
    if changed:
        notes.append(f"Not made the same way: {'; '.join(changed)}.")
    of = f"{format_count(new)} of {format_count(len(pairs), 'row')}"
    if new:
        notes.append(f"On {of} the judges were shown something else.")
    if new and changed:
        notes.append(
            f"{CONFOUNDED}, so that a difference of the scores may come from either: judge the same responses with "
            "both."
        )
    if not notes and known and one.unknown(other) is None:
        notes.append("Made in the same way, of the same responses: what differs is what judges say when asked again.")
    return tuple(notes), (*changed, *([f"what was shown (on {of})"] if new else []))
