"""Keeping keys out of everything that is written down: only the names of environment variables are ever fields."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from typing import Final

from evenhand.errors import InvalidInputError

REDACTED: Final = "[redacted]"
SHORTEST_SECRET: Final = 6

_VARIABLE_NAME: Final = re.compile(r"[A-Z][A-Z0-9_]{0,99}")
_SECRET_VARIABLE: Final = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS?)S?$")
_SECRET_SHAPE: Final = re.compile(
    r"(?i:\b(?:bearer|basic)\s+[\w.~+/=-]{6,})|\b(?:sk|pk|gsk|xai|hf|key)[-_][\w-]{8,}|\bAIza[\w-]{20,}|(?<=://)[^/\s@]+@"
    r"|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\b(?:gh[opsu]|glpat|github_pat|nvapi|r8|xox[abp])[-_][\w-]{16,}"
    r"|\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?"
    r"|(?i:[?&][\w-]*(?:key|token|secret|password|signature)=[^&\s\"']+)"
)
_SECRET_WORDS: Final = ("key", "token", "secret", "password", "passphrase", "auth", "bearer", "cookie", "signature")
_NO_SECRETS: Final = re.compile(
    r"tokeniz|(?:stop|eos|bos|pad|unk|sep|cls|mask|special|prefix|suffix|image)_?tokens?|keyword|author(?!iz)"
)
_RANDOM: Final = re.compile(r"(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z0-9]{20,}")


def check_variable_name(field: str, name: str) -> None:
    """Refuse what is not the name of an environment variable, and above all a key in its place.

    Raises:
        InvalidInputError: With a message that does not repeat the value: it may be a key.
    """
    digits = sum(character.isdigit() for character in name)
    if _VARIABLE_NAME.fullmatch(name) is None or digits > 4:
        raise InvalidInputError(
            f"{field} must name an environment variable (capital letters, underscores, a few digits, such as "
            f"'OPENAI_API_KEY'), and what was given is not such a name. If it is the key itself: put it into an "
            f"environment variable, and that variable's name into {field}. It is not shown here, in case it is one."
        )


def names_a_secret(name: str) -> bool:
    """Whether a field, parameter or header of this name holds a key, going by the words in it.

    >>> [names_a_secret(name) for name in ("hf_token", "X-API-Key", "watsonx_apikey", "tokenizer_name", "model")]
    [True, True, True, False, False]
    """
    folded = _NO_SECRETS.sub("", name.casefold())
    return any(word in folded for word in _SECRET_WORDS)


def looks_random(text: str) -> bool:
    """Whether twenty or more letters and digits follow each other, as in keys and hardly anywhere else.

    >>> looks_random("8f3k2Lq9ZxY7w5Tn1VbC0d"), looks_random("llama-3-3-70b-instruct")
    (True, False)
    """
    return _RANDOM.search(text) is not None


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    """The text without these secrets, without those of the environment, and without what looks like a key.

    >>> redact("Incorrect API key: abc123def", ["abc123def"])
    'Incorrect API key: [redacted]'
    >>> redact("Authorization: Bearer abcdefgh")
    'Authorization: [redacted]'
    """
    known = {value for name, value in os.environ.items() if _SECRET_VARIABLE.search(name.upper())} | set(secrets)
    known |= {json.dumps(secret, ensure_ascii=ascii_only)[1:-1] for secret in known for ascii_only in (True, False)}
    for secret in sorted(known, key=len, reverse=True):
        if len(secret) >= SHORTEST_SECRET:
            text = text.replace(secret, REDACTED)
    return _SECRET_SHAPE.sub(REDACTED, text)
