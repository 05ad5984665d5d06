"""The origin of a result: digits by which two results are compared.

The parameters of a result hold digits that stand for the judges, the prompts and what was shown of each row, computed
when judges are asked (:mod:`evenhand.judging.run`). The names of the models are those that the replies
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
from evenhand.options import IntervalOptions, Seeded, VoteFields
from evenhand.results.notes import LIMITS

DIGITS: Final = 8
"""The number of digits per row."""

NOTHING: Final = "." * DIGITS
"""In place of a row without shown texts."""

NOT_OPTIONS: Final = frozenset(
    {"evenhand_version", "judges", "n", "ids", "groups", "group_fields", "fingerprint", "include_prompts_in_result"}
    | {"response_fields", "gold_fields", "votes", "replies", "criteria_given", "as_index", "resamples", "id_field"}
    | {*LIMITS, *IntervalOptions.model_fields, *Seeded.model_fields, *VoteFields.model_fields}
)
"""Parameters that say what was judged, how intervals are made or what was found, and not how judges are asked."""

CONFOUNDED: Final = "Both what was judged and how it was judged differ"
RECORDED: Final = Missing("its votes are recorded, and do not say how they were asked for")


class ConfoundedComparisonWarning(EvenhandWarning):
    """Two results are compared that differ both in what was judged and in how, so that neither explains the other."""


_PLAIN: Final = json.JSONEncoder(sort_keys=True, default=str)


def digest(*parts: object, digits: int = 12) -> str:
    """Return hexadecimal digits that stand for these plain values.

    >>> digest("a", {"b": 1}) == digest("a", {"b": 1}), digest("a") == digest("b")
    (True, False)
    """
    text = _PLAIN.encode(parts)
    return blake2s(text.encode("utf-8", "surrogatepass"), digest_size=digits // 2).hexdigest()


@dataclass(frozen=True)
class Fingerprint:
    """The judges, prompts, criteria and options that made a result.

    Attributes:
        judges: The names of the judges.
        judge: Digits for all parameters of the engines: server, model, sampling.
        models: The models that the replies name, with versions if servers report them.
        prompts: Digits for the templates that were used, and the cases that are shown first.
        criteria: Digits for the criteria.
        options: The options by which judges were asked, and by which votes become scores.
        shown: System -> eight digits for each row, which stand for its response and the texts shown with it.
    """

    judges: tuple[str, ...]
    judge: str | Missing
    models: tuple[str, ...]
    prompts: str | Missing
    criteria: str
    options: Mapping[str, Any]
    shown: Mapping[str, str]

    @classmethod
    def of(cls, judged: Mapping[str, Any], parameters: Mapping[str, Any], models: Iterable[str]) -> Fingerprint:
        """Return the fingerprint of a result.

        Args:
            judged: The criteria and systems, as plain JSON.
            parameters: The parameters.
            models: The models as the replies name them.
        """
        held = parameters.get("fingerprint", {})
        by = {name: value for name, value in judged.items() if name not in {"systems", "notes"}}
        return cls(
            judges=tuple(parameters.get("judges") or parameters.get("votes") or ()),
            judge=held.get("judge", RECORDED),
            models=tuple(sorted(models)),
            prompts=held.get("prompts", RECORDED),
            criteria=digest(by),
            options=dict(_options(parameters)),
            shown=held.get("shown", {}),
        )

    def shown_of(self, row: int, names: Sequence[str]) -> str | None:
        """Return the digits for the texts shown of a row; None if they are not known.

        Args:
            row: The row of the data.
            names: The systems; all if results know no systems.
        """
        chosen = [name for name in names if name in self.shown] or list(self.shown)
        digits = [self.shown[name][row * DIGITS : (row + 1) * DIGITS] for name in chosen]
        return "".join(digits) if any(each not in {NOTHING, ""} for each in digits) else None

    def changes(self, other: Fingerprint) -> tuple[str, ...]:
        """Return the differences from another result: the judge, its version, prompts, criteria, options."""
        found = []
        one, two = (", ".join(each.judges) or "no judge" for each in (self, other))
        if one != two:
            found.append(f"judge ({one} → {two})")
        elif self.models and other.models and self.models != other.models:
            found.append(f"model behind the judge's name ({', '.join(self.models)} → {', '.join(other.models)})")
        elif _differ(self.judge, other.judge):
            found.append(f"settings of the judge {one} (server, model or sampling)")
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
        """Return why it is not known whether all else was the same; None if it is known."""
        missing = [each.judge for each in (self, other) if isinstance(each.judge, Missing)]
        return missing[0].reason if missing else None


def _differ(one: str | Missing, other: str | Missing) -> bool:
    return isinstance(one, str) and isinstance(other, str) and one != other


def _options(parameters: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the options by their names, those of grid and flow among them."""
    for name, value in parameters.items():
        if isinstance(value, Mapping) and name in {"grid", "flow"}:
            yield from _options(value)
        elif name not in NOT_OPTIONS:
            yield name, value


def notes_on_changes(
    one: Fingerprint, other: Fingerprint, rows: Iterable[tuple[int, int, Sequence[str]]]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the notes on how the two results of a comparison were made, in sentences, and in short.

    Args:
        one: The fingerprint of the first.
        other: The fingerprint of the second.
        rows: The compared rows: the row in the data of the first, that of the second, and the systems.
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
        notes.append("Made in the same way on the same responses: differences come from asking the judges again.")
    return tuple(notes), (*changed, *([f"what was shown (on {of})"] if new else []))
