"""Result tables as JSON lines, and votes as rows of a data set: the same for every kind of table."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from evenhand.data.rows import saved_kind
from evenhand.errors import InvalidInputError
from evenhand.results.results import could_stop_early
from evenhand.votes import EarlyStop, Verdict, Vote

Table = TypeVar("Table")

_PLAIN_FIELDS = (
    "judge_id",
    "order",
    "sample",
    "selected_index",
    "selected_label",
    "value",
    "na",
    "assessment",
    "summary",
    "unscored_reason",
    "error",
    "weight",
    "reasks",
)


def save_table(path: str | Path, kind: str, header: Mapping[str, Any], rows: Iterable[Mapping[str, Any]]) -> None:
    """Write JSONL: a line that says what the table is and how many rows it has, then a line a row."""
    given = list(rows)
    first = {"evenhand": kind, "rows": len(given), **header}
    with Path(path).open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in (first, *given))


def load_table(
    path: str | Path, kind: str, build: Callable[[dict[str, Any], list[dict[str, Any]]], Table], class_name: str
) -> Table:
    """Read what :func:`save_table` wrote.

    Args:
        path: The file.
        kind: What it must be.
        build: Header and rows -> the table.
        class_name: Of the table, for the message.

    Raises:
        InvalidInputError: If the file cannot be read, is something else, or is not whole.
    """
    try:
        lines = [json.loads(line) for line in Path(path).read_text(encoding="utf-8").split("\n") if line]
        header = lines.pop(0)
        other = saved_kind(header)
        if header["evenhand"] != kind and other is not None:
            raise InvalidInputError(
                f"{str(path)!r} is not a saved table of {kind}: it holds {other.holds}, which {other.class_name}.load "
                "reads"
            )
        if header["evenhand"] != kind or header["rows"] != len(lines):
            raise KeyError(kind)
        return build(header, lines)
    except OSError as error:
        raise InvalidInputError(f"{str(path)!r} cannot be read ({error.strerror})") from error
    except (ValueError, LookupError, TypeError) as error:
        raise InvalidInputError(
            f"{str(path)!r} is not a saved table of {kind}, or not a whole one; {class_name}.save writes one"
        ) from error


def loaded_verdict(saved: Mapping[str, Any], parameters: Mapping[str, Any]) -> Verdict:
    """A saved verdict whose votes know that they could stop early; aggregate them again where `could_stop_early`.

    Before votes were saved with the rule that ended them it stood only in the table's parameters.
    """
    verdict = Verdict.model_validate(saved)
    if not could_stop_early(parameters) or any("early_stop" in vote for vote in saved["votes"]):
        return verdict
    stop = EarlyStop(planned=parameters["grid"]["samples"], confidence=parameters["grid"]["confidence"])
    votes = tuple(vote.model_copy(update={"early_stop": stop}) for vote in verdict.votes)
    return verdict.model_copy(update={"votes": votes})


def vote_record(vote: Vote) -> dict[str, Any]:
    """A vote as a row of a data set: the same flat fields for every vote."""
    dumped = vote.model_dump(mode="json", include={*_PLAIN_FIELDS, "usage"})
    usage = dumped["usage"]
    return {
        **{name: dumped[name] for name in _PLAIN_FIELDS},
        "match_kind": vote.match.kind if vote.match else None,
        "reply": vote.completion.text if vote.completion else None,
        "finish_reason": vote.completion.finish_reason if vote.completion else None,
        "calls": usage["calls"],
        "prompt_tokens": usage["prompt_tokens"],
        "completion_tokens": usage["completion_tokens"],
        "cost": usage["cost"],
        "draws_planned": vote.early_stop.planned if vote.early_stop else None,
    }
