"""Read the messages of a chat-completions server: replies, errors, and the time that it asks to wait.

No key is in anything that is written down: texts are redacted here, and only the names of environment variables are
ever fields.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import re
import time
from collections.abc import Iterable, Mapping
from email.utils import parsedate_to_datetime
from typing import Any, Final

from evenhand.errors import (
    ConnectionLostError,
    EngineError,
    FatalEngineError,
    InvalidInputError,
    RateLimitedError,
    RejectedRequestError,
    ReplyTooLongError,
    TransientEngineError,
)
from evenhand.votes import FINAL_FINISHES, Completion, TokenLogprob

FATAL_STATUSES: Final = frozenset({401, 402, 403, 404, 405})
TRANSIENT_STATUSES: Final = frozenset({408, 409, 425})
GATEWAY_STATUSES: Final = frozenset({502, 503, 504, 521, 522, 523})
"""The statuses of a gateway without a server behind it; the last three are Cloudflare's."""
FILTERED: Final = "content_filter"
FILTER_CODES: Final = (FILTERED, "content_policy_violation", "ContentPolicyViolation")
"""Words of a 400 whose prompt a content filter stopped; the last is litellm's."""
SHOWN_CHARACTERS: Final = 300
MOST_ERROR_CHARACTERS: Final = 2**16


MOST_TOKENS: Final = 10**12
MOST_CHARACTERS: Final = 2**17
"""The longest text of a reply, about 30,000 tokens: finding a verdict in more takes seconds of work."""
MANY_VALUES: Final = 2**16
BYTES_PER_VALUE: Final = 8
"""JSON with more values per byte than this is not written by a model's server."""
BYTES_READ_AT_ONCE: Final = 2**16
READ_NAMES: Final = frozenset(
    {"choices", "message", "content", "text", "refusal", "finish_reason", "model", "error", "usage", "cost"}
    | {"reasoning_content", "reasoning", "prompt_tokens", "completion_tokens", "total_tokens", "reasoning_tokens"}
    | {"prompt_tokens_details", "cached_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"}
    | {"completion_tokens_details", "logprobs", "token", "logprob", "top_logprobs"}
)
"""The keys of a body that :func:`read_completion` reads."""

IMPOSSIBLE_LOGPROB: Final = -9999.0
"""The number that servers write for the logarithm of 0, which JSON cannot write."""

MODERATION_WORDS: Final = ("moderation", "content policy", "content_policy", "content filter", "content_filter")


async def decoded_reply(body: bytes) -> object:
    """Decode the JSON of a reply's body, outside the event loop if it is long; see :func:`decode_reply`."""
    return decode_reply(body) if len(body) <= BYTES_READ_AT_ONCE else await asyncio.to_thread(decode_reply, body)


def decode_reply(body: bytes) -> object:
    """Decode the JSON of a reply's body.

    Args:
        body: The body as it was sent.

    Raises:
        TransientEngineError: If it is not JSON, or has a number of thousands of digits, or repeats a field that is
            read: which of two ``choices`` or ``content`` is meant is undefined (RFC 8259, section 4). A field that is
            not read may be repeated, as tokens that print alike are.
        ReplyTooLongError: If it is nested deeper than can be read, or is made of little but brackets and commas:
            each of these bytes becomes a value.
    """
    if body.count(b",") + body.count(b"[") + body.count(b"{") > max(MANY_VALUES, len(body) // BYTES_PER_VALUE):
        raise ReplyTooLongError("the server's reply is JSON of more values than are read")
    try:
        text = body.decode(json.detect_encoding(body), "surrogatepass")
        reply: object = _OF_NAMES.decode(text)
    except RecursionError:
        raise ReplyTooLongError("the server's reply is JSON that is nested deeper than is read") from None
    except ValueError:
        raise TransientEngineError("the server's reply is not JSON", cause="garbage") from None
    return reply


def short_enough(completion: Completion) -> Completion:
    """Return the reply, without its text if that is too long to be searched for a verdict."""
    if len(completion.reasoning or "") > MOST_CHARACTERS:
        completion = completion.model_copy(update={"reasoning": None})
    if len(completion.text or "") <= MOST_CHARACTERS:
        return completion
    return completion.model_copy(update={"text": None, "finish_reason": "too_long", "logprobs": None})


def reply_without_text(error: EngineError) -> Completion | None:
    """Return the reply without a text that a failure stands for: it was paid for, and another would be no better."""
    return Completion(text=None, finish_reason=error.cause) if error.cause in FINAL_FINISHES else None


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        if twice := [name for name in names if name in READ_NAMES and names.count(name) > 1]:
            raise TransientEngineError(f"the server's reply has {twice[0]!r} twice in one object", cause="repeated_key")
    return found


_OF_NAMES: Final = json.JSONDecoder(object_pairs_hook=_object)


def at(value: object, *path: str | int) -> Any:  # noqa: ANN401 - any JSON
    """Return what a JSON value holds at a path of names and indices; None if it holds nothing there.

    >>> at({"choices": [{"index": 3}]}, "choices", 0, "index"), at({"choices": []}, "choices", 0, "index")
    (3, None)
    """
    for step in path:
        if isinstance(step, str):
            value = value.get(step) if isinstance(value, dict) else None
        else:
            value = value[step] if isinstance(value, list) and len(value) > step else None
    return value


def mappings(value: object) -> list[Mapping[str, Any]]:
    """Return the objects in a JSON list; none if it is not a list."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _string(value: object) -> str | None:
    return value if isinstance(value, str) else None


def read_completion(reply: object, secrets: Iterable[str] = ()) -> Completion:
    """Read the first choice of a chat completion.

    No content, and content without a part that is text, give ``text=None``. The reasoning trace of a thinking model
    (``reasoning_content``, or ``reasoning`` as newer vLLM and OpenRouter call it) is kept, too. A refusal in its
    own field is the text when there is no content.

    Raises:
        TransientEngineError: If the reply has no choice with a message: servers under load send such bodies.
    """
    choice, given = at(reply, "choices", 0), at(reply, "usage")
    message, usage = at(choice, "message"), given if isinstance(given, dict) else {}
    if not isinstance(message, dict):
        error = _string(at(reply, "error", "message")) or _string(at(reply, "error"))
        detail = f": {brief(error, secrets)}" if error else ""
        raise TransientEngineError(f"the server's reply has no choice with a message{detail}", cause="garbage")
    text, cost = _text(message.get("content")), _finite(usage.get("cost"))
    return Completion(
        text=_text(message.get("refusal")) if text is None else text,
        finish_reason=_string(at(choice, "finish_reason")),
        prompt_tokens=token_count(usage.get("prompt_tokens")),
        completion_tokens=_completion_tokens(usage),
        cached_tokens=_cached_tokens(usage),
        cost=cost if cost is not None and cost >= 0 else None,
        model=_string(at(reply, "model")),
        logprobs=_logprobs(at(choice, "logprobs", "content")),
        reasoning=_text(message.get("reasoning_content")) or _text(message.get("reasoning")) or None,
    )


def _text(content: object) -> str | None:
    if not isinstance(content, list):
        return _string(content)
    texts = [text for part in content if (text := _string(at(part, "text") or part)) is not None]
    return "".join(texts) if texts else None


def _cached_tokens(usage: Mapping[str, Any]) -> int | None:
    """Return the tokens of the prompt that came from the server's cache, by the fields of the known servers."""
    found = token_count(at(usage, "prompt_tokens_details", "cached_tokens"))
    found = token_count(usage.get("cache_read_input_tokens")) if found is None else found
    prompt = token_count(usage.get("prompt_tokens"))
    return found if found is None or prompt is None else min(found, prompt)


def _completion_tokens(usage: Mapping[str, Any]) -> int | None:
    """Return the tokens of the reply and its reasoning, which some servers count in the total only (xAI, Gemini).

    A total that is larger because of Anthropic's counts of cached tokens says nothing about the reply.
    """
    names = ("completion_tokens", "prompt_tokens", "total_tokens")
    reply, prompt, total = (token_count(usage.get(name)) for name in names)
    if reply is None or prompt is None or total is None or total <= prompt + reply:
        return reply
    reasoning = token_count(at(usage, "completion_tokens_details", "reasoning_tokens")) or 0
    cached = usage.get("cache_read_input_tokens") or usage.get("cache_creation_input_tokens")
    return reply if cached and total != prompt + reply + reasoning else total - prompt


def token_count(value: object) -> int | None:
    """Return a number of tokens as a server gives it; None if the value is not a token count."""
    valid = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_TOKENS
    return value if valid else None  # type: ignore[return-value]


def _finite(value: object) -> float | None:
    """Return a number that a journal can hold: servers also write NaN, Infinity and integers beyond every float."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _logprobs(content: object) -> tuple[TokenLogprob, ...] | None:
    if not isinstance(content, list):
        return None
    return tuple(
        TokenLogprob(
            token=entry["token"],
            logprob=_logprob(entry.get("logprob")),
            top=tuple((each["token"], _logprob(each.get("logprob"))) for each in _tokens(entry.get("top_logprobs"))),
        )
        for entry in _tokens(content)
    )


def _tokens(entries: object) -> list[Mapping[str, Any]]:
    return [entry for entry in mappings(entries) if isinstance(entry.get("token"), str)]


def _logprob(value: object) -> float | None:
    return IMPOSSIBLE_LOGPROB if value == -math.inf else _finite(value)


def read_error(
    status: int, body: str, retry_after: str | None = None, secrets: Iterable[str] = (), *, advice: str = ""
) -> EngineError:
    """Return the error for a status other than 200; its message quotes the body, without secrets, and gives advice."""
    message, cause = f"the server answered {status}: {brief(body, secrets) or 'nothing'}{advice}", f"http_{status}"
    wait = seconds_to_wait(retry_after)
    if _is_filtered(status, body):
        return RejectedRequestError(message, cause=FILTERED)
    if status in FATAL_STATUSES or 300 <= status < 400 or (status == 429 and "insufficient_quota" in body):
        return FatalEngineError(message, cause=cause)
    if status == 429 or (status >= 500 and wait is not None):  # an overloaded server that says when to come back
        return RateLimitedError(message, cause=cause, retry_after=wait)
    if status in GATEWAY_STATUSES:
        return ConnectionLostError(message, cause=cause, reached=True)
    if status >= 500 or status in TRANSIENT_STATUSES:
        return TransientEngineError(message, cause=cause)
    return RejectedRequestError(message, cause=cause)


def _is_filtered(status: int, body: str) -> bool:
    """Return whether a 400 or 403 reports that the server's content filter stopped the prompt."""
    if status != 403:
        return status == 400 and any(code in body for code in FILTER_CODES)
    folded = body.casefold()  # an account that is flagged is refused for any prompt
    return any(word in folded for word in MODERATION_WORDS) or ("flagged" in folded and "account" not in folded)


REFUSED_WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    "schema": ("response_format", "json_schema", "schema", "structured output", "guided"),
    "logprobs": ("logprob", "log_prob", "log prob", "log-prob"),
    "fewer logprobs": ("top_logprobs", "greater than", "max", "at most", "less than", "<="),
}
"""Words of an error's message when the server refuses a feature of a request."""
_UNSUPPORTED: Final = re.compile(
    r"unsupported[_ ](?:parameter|value)|not support|does not allow|not permitted|extra inputs|unrecognized|unexpected"
)


def speaks_of(feature: str, message: str) -> bool:
    """Return whether an error's message is about a feature of :data:`REFUSED_WORDS`.

    >>> speaks_of("fewer logprobs", "top_logprobs: must be at most 5"), speaks_of("schema", "no such model")
    (True, False)
    """
    folded = message.casefold()
    return any(word in folded for word in REFUSED_WORDS[feature])


def refused_parameter(message: str, sent: Iterable[str]) -> str | None:
    """Return which of the parameters sent an error's message refuses; None if it refuses none by name.

    >>> refused_parameter("Unsupported value: 'temperature' does not support 0.0 with this model.", ["temperature"])
    'temperature'
    """
    if _UNSUPPORTED.search(message.casefold()) is None:
        return None
    named = [(place.start(), name) for name in sent if (place := re.search(rf"\b{re.escape(name)}\b", message))]
    return min(named)[1] if named else None


def seconds_to_wait(retry_after: str | None) -> float | None:
    """Read the Retry-After header, in seconds or as an HTTP date; None when it is neither.

    >>> seconds_to_wait("1.5"), seconds_to_wait("Thu, 01 Jan 1970 00:00:00 GMT"), seconds_to_wait("soon")
    (1.5, 0.0, None)
    """
    try:
        seconds = float(retry_after or "")
    except ValueError:
        try:
            seconds = parsedate_to_datetime(retry_after or "").timestamp() - time.time()
        except ValueError:
            return None
    return max(0.0, seconds) if math.isfinite(seconds) else None


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


def check_variable_name(field: str, name: object) -> None:
    """Refuse what is not the name of an environment variable, and above all a key in its place.

    Raises:
        InvalidInputError: With a message that does not repeat the value: it may be a key.
    """
    given = str(name)
    digits = sum(character.isdigit() for character in given)
    if _VARIABLE_NAME.fullmatch(given) is None or digits > 4:
        raise InvalidInputError(
            f"{field} must name an environment variable (capital letters, underscores, a few digits, such as "
            f"'OPENAI_API_KEY'), and what was given is not such a name. If it is the key itself: put it into an "
            f"environment variable, and that variable's name into {field}. It is not shown here, in case it is one."
        )


def names_a_secret(name: str) -> bool:
    """Return whether a field, parameter or header of this name holds a key, going by the words in it.

    >>> [names_a_secret(name) for name in ("hf_token", "X-API-Key", "watsonx_apikey", "tokenizer_name", "model")]
    [True, True, True, False, False]
    """
    folded = _NO_SECRETS.sub("", name.casefold())
    return any(word in folded for word in _SECRET_WORDS)


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    """Return the text without these secrets, without those of the environment, and without what looks like a key.

    >>> redact("Incorrect API key: abc123def", ["abc123def"])
    'Incorrect API key: [redacted]'
    >>> redact("Authorization: Bearer abcdefgh")
    'Authorization: [redacted]'
    """
    known = {value for name, value in os.environ.items() if _SECRET_VARIABLE.search(name.upper())} | set(secrets)
    known |= {json.dumps(secret, ensure_ascii=ascii_only)[1:-1] for secret in known for ascii_only in (True, False)}
    for secret in sorted(known, key=len, reverse=True):
        text = text.replace(secret, REDACTED) if len(secret) >= SHORTEST_SECRET else text
    return _SECRET_SHAPE.sub(REDACTED, text)


def brief(text: str, secrets: Iterable[str]) -> str:
    """Return the beginning of a text of a server, redacted and on one line, for a message."""
    return " ".join(redact(text[:MOST_ERROR_CHARACTERS], secrets).split())[:SHOWN_CHARACTERS]
