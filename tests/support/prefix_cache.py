"""A simulated prefix cache: which bytes of the prompts a server has computed before, as vLLM and hosted models keep it.

A conversation is rendered by a chat template and cut into blocks of 64 bytes (16 tokens of four bytes), each known by
the hash of itself and of all before it. What is found is the longest run of whole blocks at the beginning that stood
in another conversation; the last block, which is not whole, is never found. The blocks of replies are kept too: they
were computed when the reply was written. Nothing is ever thrown out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

BLOCK = 64


def rendered(body: Mapping[str, Any], reply: str | None = None) -> bytes:
    """The conversation as a chat template writes it, up to where the reply begins, or to its end."""
    turns = "".join(f"<|{each['role']}|>\n{each['content']}\n" for each in body["messages"])
    return f"{turns}<|assistant|>\n{reply or ''}".encode()


class PrefixCache:
    """What a server remembers, and how much of what it was sent it had in memory.

    Attributes:
        sent: Bytes of all prompts, as rendered.
        found: Bytes of these that were in the cache.
    """

    def __init__(self) -> None:
        self._known: set[bytes] = set()
        self.sent = self.found = 0

    @property
    def computed(self) -> int:
        """Bytes of prompts that were not in the cache."""
        return self.sent - self.found

    def read(self, body: Mapping[str, Any]) -> float:
        """Count a prompt, remember it, and say which share of it was in the cache."""
        prompt = rendered(body)
        found = self._remember(prompt)
        self.sent += len(prompt)
        self.found += found
        return found / len(prompt)

    def replied(self, body: Mapping[str, Any], reply: str | None) -> None:
        """Remember a reply behind its prompt."""
        self._remember(rendered(body, reply))

    def _remember(self, text: bytes) -> int:
        """How many bytes at the beginning were known; from now on all are."""
        found, digest, known = 0, b"", True
        for start in range(0, len(text) - BLOCK + 1, BLOCK):
            digest = hashlib.blake2b(digest + text[start : start + BLOCK], digest_size=16).digest()
            known = known and digest in self._known
            found += BLOCK if known else 0
            self._known.add(digest)
        return found
