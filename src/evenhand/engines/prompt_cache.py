"""What tells a provider which part of a prompt other requests share, so that it is computed, and paid for, once.

Most servers find that out by themselves, and unknown ones may refuse what they do not know: nothing is said to them.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from evenhand.engines.base import Request

CacheMarks = Literal["key", "blocks"]
"""``key``: a ``prompt_cache_key`` that names the shared part (OpenAI); ``blocks``: its end is marked (Anthropic)."""

SHORTEST_CACHED: Final = 4000
"""Characters, about the 1,024 tokens from which on these providers keep the beginning of a prompt."""
_EPHEMERAL: Final = {"cache_control": {"type": "ephemeral"}}


_OPENAI_MODEL: Final = re.compile(r"(openai/)?(gpt-|chatgpt-|o\d)[^/]*$")
_ANTHROPIC_MODEL: Final = re.compile(r"(anthropic/)?claude-[^/]*$")


def marks_for(model: str, endpoint: Mapping[str, Any]) -> CacheMarks | None:
    """What a server is known to take; None where that is not known.

    >>> marks_for("gpt-4.1", {"endpoint": "https://api.openai.com/v1"})
    'key'
    >>> marks_for("anthropic/claude-sonnet-4-5", {"provider": "litellm", "endpoint": None})
    'blocks'
    >>> marks_for("gpt-oss-120b", {"endpoint": "http://localhost:8000/v1"})
    """
    address = endpoint.get("endpoint")
    if address is None and endpoint.get("provider") == "litellm":
        return "blocks" if _ANTHROPIC_MODEL.match(model) else "key" if _OPENAI_MODEL.match(model) else None
    return "key" if urlsplit(str(address)).hostname == "api.openai.com" else None


def with_marks(payload: dict[str, Any], request: Request, marks: CacheMarks | None) -> dict[str, Any]:
    """The payload of a request with what the provider takes; as it is where nothing would be kept."""
    first = request.messages[0]["content"]
    if marks is None or len(first) < SHORTEST_CACHED or "prompt_cache_key" in payload:
        return payload
    if marks == "key":
        named = first[: request.shared] if request.shared >= SHORTEST_CACHED else first
        key = hashlib.blake2b(named.encode("utf-8", "replace"), digest_size=16)
        return {**payload, "prompt_cache_key": key.hexdigest()}
    goes_on = len(request.messages) > 1 or request.stage == "assessment"
    blocks = [
        _block(first[: request.shared], marked=request.shared >= SHORTEST_CACHED),
        _block(first[request.shared :], marked=goes_on),
    ]
    marked = {**request.messages[0], "content": [each for each in blocks if each["text"]]}
    return {**payload, "messages": (marked, *request.messages[1:])}


def _block(text: str, *, marked: bool) -> Mapping[str, Any]:
    return {"type": "text", "text": text, **(_EPHEMERAL if marked else {})}


def speaks_of_marks(message: str) -> bool:
    """Whether an error's message is about what was said of the cache."""
    folded = message.casefold()
    return "prompt_cache_key" in folded or "cache_control" in folded
