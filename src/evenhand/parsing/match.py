"""What was read from a reply."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

Kind = Literal["exact", "normalized", "verdict", "mention", "near", "none"]
Reason = Literal["empty", "refusal", "ambiguous", "no_match", "truncated", "content_filter"]


class Match(BaseModel):
    """The option that a reply names, or why it names none.

    Attributes:
        index: Position of the label among those offered; None if the reply names none of them.
        kind: The rule that found it, from the strictest to the loosest; ``"none"`` without an index.
        reason: Why there is no index; None with one.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    index: int | None
    kind: Kind
    reason: Reason | None = None
