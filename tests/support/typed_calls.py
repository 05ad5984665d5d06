"""Calls that a type checker refuses by ``functions.pyi``: mypy reads them, and fails if it accepts one."""

from evenhand.functions import agreement, judge


def refused() -> None:
    """A wrong name and a wrong type, of a function with ``dry_run`` and of one without it."""
    judge([], "Is it clear?", "openai/gpt-4.1-mini", sample=3)  # type: ignore[call-overload]
    judge([], "Is it clear?", "openai/gpt-4.1-mini", samples="3")  # type: ignore[call-overload]
    agreement([], ["judge"], gold_feilds="gold")  # type: ignore[call-arg]
    agreement([], ["judge"], seed="0")  # type: ignore[arg-type]
