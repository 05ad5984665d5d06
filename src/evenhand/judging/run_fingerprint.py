"""What a result was made by, in a few digits each: so that two runs can be told apart that were not made the same way.

A fingerprint is computed when judges are asked, from what was really used: what the engine says of itself, the
templates of the prompts with all parts that they include, and what each judge was shown of each row.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from evenhand.engines.base import FreeEngine, JudgeEngine
from evenhand.judging.conversation import Flow
from evenhand.question import Question
from evenhand.results.made_by import DIGITS, digest, in_a_row
from evenhand.version import __version__


class Shown(Protocol):
    """What judges are shown of one row: a :class:`~evenhand.modes.mode.Subject`."""

    @property
    def instance(self) -> int:
        """The row."""

    @property
    def texts(self) -> Mapping[str, str | None]:
        """What is judged."""

    @property
    def contexts(self) -> Iterable[Mapping[str, str]]:
        """What is shown beside it."""


def made_by(judges: Iterable[JudgeEngine]) -> dict[str, Any]:
    """Return by which evenhand and which judges a result was made, as its parameters repeat it."""
    return {"evenhand_version": __version__, "judges": [judge.judge_id for judge in judges]}


def fingerprint(
    judges: Iterable[JudgeEngine], asked: Iterable[tuple[Flow, Question]], examples: object, shown: Iterable[Shown]
) -> dict[str, Any]:
    """The fingerprint of a run, as its parameters repeat it: ``judge``, ``prompts``, and ``shown``, what of each row.

    Args:
        judges: Who judges.
        asked: Questions as they are asked, of each kind one at least.
        examples: The judged cases from which prompts draw.
        shown: What is judged.
    """
    templates = sorted({template for flow, question in asked for template in flow.templates(question)})
    return {
        "judge": digest(*map(_described, judges)),
        "prompts": digest(templates, examples),
        "shown": _shown(shown),
    }


def _described(judge: JudgeEngine) -> dict[str, Any]:
    """What a reply of a judge depends on, as it says; of one of ours that sends nothing, its plain settings."""
    identity = judge.identity()
    if identity is None:
        identity = judge.settings() if isinstance(judge, FreeEngine) else {}
    return {"judge": judge.judge_id, **{name: value for name, value in identity.items() if name != "once"}}


def _shown(given: Iterable[Shown]) -> dict[str, str]:
    """Whose response -> digits for each row, one after the other."""
    found: dict[str, dict[int, set[str]]] = {}
    for about in given:
        contexts = [dict(each) for each in about.contexts]
        for name, text in about.texts.items():
            if text is not None:
                own = found.setdefault(name or "response", {}).setdefault(about.instance, set())
                own.add(digest(text, contexts, digits=DIGITS))
    return {  # where criteria show a row with contexts of their own, digits stand for all of these
        name: in_a_row(
            {row: min(own) if len(own) == 1 else digest(sorted(own), digits=DIGITS) for row, own in rows.items()}
        )
        for name, rows in found.items()
    }
