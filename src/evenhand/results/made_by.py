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

from evenhand.options import IntervalOptions, Seeded, VoteFields

LIMITS: Final = ("max_calls", "max_cost")
"""The limits of a run; results repeat those that were given."""

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
        judge: Digits for all parameters of the engines: server, model, sampling; None for recorded votes.
        models: The models that the replies name, with versions if servers report them.
        prompts: Digits for the templates that were used, and the cases that are shown first; None for recorded votes.
        criteria: Digits for the criteria.
        options: The options by which judges were asked, and by which votes become scores.
        shown: System -> eight digits for each row, which stand for its response and the texts shown with it.
    """

    judges: tuple[str, ...]
    judge: str | None
    models: tuple[str, ...]
    prompts: str | None
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
            judge=held.get("judge"),
            models=tuple(sorted(models)),
            prompts=held.get("prompts"),
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
        elif self.judge and other.judge and self.judge != other.judge:
            found.append(f"settings of the judge {one} (server, model or sampling)")
        if self.prompts and other.prompts and self.prompts != other.prompts:
            found.append("prompts")
        if self.criteria != other.criteria:
            found.append("criteria")
        for name in dict.fromkeys([*self.options, *other.options]):
            before, after = self.options.get(name), other.options.get(name)
            if before != after:
                found.append(f"{name} ({before!r} → {after!r})")
        return tuple(found)


def _options(parameters: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the options by their names, those of grid and flow among them."""
    for name, value in parameters.items():
        if isinstance(value, Mapping) and name in {"grid", "flow"}:
            yield from _options(value)
        elif name not in NOT_OPTIONS:
            yield name, value
