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
from collections.abc import Callable, Iterable, Mapping
from email.utils import parsedate_to_datetime
from typing import Final

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
from evenhand.votes import Completion, TokenLogprob

FATAL_STATUSES: Final = frozenset({401, 402, 403, 404, 405})
TRANSIENT_STATUSES: Final = frozenset({408, 409, 425})
GATEWAY_STATUSES: Final = frozenset({502, 503, 504, 521, 522, 523})
"""The statuses of a gateway without a server behind it; the last three are Cloudflare's."""
CONTENT_FILTER_CODES: Final = ("content_filter", "content_policy_violation")
GONE: Final = frozenset({"http_404", "http_410"})
"""The causes of failures that say that something is not, or no longer, there."""
REPEATED_KEY: Final = "repeated_key"
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
    {"choices", "message", "content", "text", "refusal", "finish_reason", "model", "error"}
    | {"reasoning_content", "reasoning"}
    | {"usage", "prompt_tokens", "completion_tokens", "cost"}
    | {"prompt_tokens_details", "cached_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"}
    | {"total_tokens", "completion_tokens_details", "reasoning_tokens"}
    | {"logprobs", "token", "logprob", "top_logprobs"}
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


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next((name for name in found if name in READ_NAMES and names.count(name) > 1), None)
        if twice is not None:
            raise TransientEngineError(f"the server's reply has {twice!r} twice in one object", cause=REPEATED_KEY)
    return found


_OF_NAMES: Final = json.JSONDecoder(object_pairs_hook=_object)


def read_completion(reply: object, secrets: Iterable[str] = ()) -> Completion:
    """Read the first choice of a chat completion.

    No content, and content without a part that is text, give ``text=None``. The reasoning trace of a thinking model
    (``reasoning_content``, or ``reasoning`` as newer vLLM and OpenRouter call it) is kept, too. A refusal in its
    own field is the text when there is no content.

    Raises:
        TransientEngineError: If the reply has no choice with a message: servers under load send such bodies.
    """
    if not isinstance(reply, Mapping):
        raise TransientEngineError("the server's reply is JSON but not an object", cause="garbage")
    choices = reply.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, Mapping) else None
    if not isinstance(choice, Mapping) or not isinstance(message, Mapping):
        error = reply.get("error")
        detail = f": {redact(_as_text(error), secrets)[:SHOWN_CHARACTERS]}" if error else ""
        raise TransientEngineError(f"the server's reply has no choice with a message{detail}", cause="garbage")
    usage = reply.get("usage")
    usage = usage if isinstance(usage, Mapping) else {}
    text, cost = _text(message.get("content")), _finite(usage.get("cost"))
    finish_reason, model = choice.get("finish_reason"), reply.get("model")
    return Completion(
        text=_text(message.get("refusal")) if text is None else text,
        finish_reason=finish_reason if isinstance(finish_reason, str) else None,
        prompt_tokens=token_count(usage.get("prompt_tokens")),
        completion_tokens=_completion_tokens(usage),
        cached_tokens=_cached_tokens(usage),
        cost=cost if cost is not None and cost >= 0 else None,
        model=model if isinstance(model, str) else None,
        logprobs=_logprobs(choice.get("logprobs")),
        reasoning=_text(message.get("reasoning_content")) or _text(message.get("reasoning")) or None,
    )


def _as_text(error: object) -> str:
    try:
        return json.dumps(error, ensure_ascii=False)
    except RecursionError:
        return type(error).__name__


def _text(content: object) -> str | None:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return None
    parts = [part if isinstance(part, str) else part.get("text") for part in content if isinstance(part, str | Mapping)]
    texts = [part for part in parts if isinstance(part, str)]
    return "".join(texts) if texts else None


def _cached_tokens(usage: Mapping[str, object]) -> int | None:
    """Return the tokens of the prompt that came from the server's cache, by the fields of the known servers."""
    details = usage.get("prompt_tokens_details")
    found = token_count(details.get("cached_tokens")) if isinstance(details, Mapping) else None
    found = token_count(usage.get("cache_read_input_tokens")) if found is None else found
    prompt = token_count(usage.get("prompt_tokens"))
    return found if found is None or prompt is None else min(found, prompt)


def _completion_tokens(usage: Mapping[str, object]) -> int | None:
    """Return the tokens of the reply and its reasoning, which some servers count in the total only (xAI, Gemini).

    A total that is larger because of Anthropic's counts of cached tokens says nothing about the reply.
    """
    names = ("completion_tokens", "prompt_tokens", "total_tokens")
    reply, prompt, total = (token_count(usage.get(name)) for name in names)
    if reply is None or prompt is None or total is None or total <= prompt + reply:
        return reply
    details = usage.get("completion_tokens_details")
    reasoning = token_count(details.get("reasoning_tokens")) if isinstance(details, Mapping) else None
    cached = any(usage.get(name) for name in ("cache_read_input_tokens", "cache_creation_input_tokens"))
    return reply if cached and total != prompt + reply + (reasoning or 0) else total - prompt


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


def _logprobs(logprobs: object) -> tuple[TokenLogprob, ...] | None:
    content = logprobs.get("content") if isinstance(logprobs, Mapping) else None
    if not isinstance(content, list):
        return None
    tokens = []
    for entry in content:
        if not isinstance(entry, Mapping) or not isinstance(entry.get("token"), str):
            continue
        listed = entry.get("top_logprobs")
        top = tuple(
            (each["token"], _logprob(each.get("logprob")))
            for each in (listed if isinstance(listed, list) else ())
            if isinstance(each, Mapping) and isinstance(each.get("token"), str)
        )
        tokens.append(TokenLogprob(token=entry["token"], logprob=_logprob(entry.get("logprob")), top=top))
    return tuple(tokens)


def _logprob(value: object) -> float | None:
    return IMPOSSIBLE_LOGPROB if value == -math.inf else _finite(value)


def read_error(
    status: int, body: str, retry_after: str | None = None, secrets: Iterable[str] = (), *, advice: str = ""
) -> EngineError:
    """Return the error for a status other than 200; its message quotes the body, without secrets, and gives advice."""
    detail = " ".join(redact(body[:MOST_ERROR_CHARACTERS], secrets).split())[:SHOWN_CHARACTERS]
    message = f"the server answered {status}: {detail or 'nothing'}{advice}"
    cause = f"http_{status}"
    wait = seconds_to_wait(retry_after)
    if status in FATAL_STATUSES or 300 <= status < 400 or (status == 429 and "insufficient_quota" in body):
        return FatalEngineError(message, cause=cause)
    if status == 429 or (status >= 500 and wait is not None):  # an overloaded server that says when to come back
        return RateLimitedError(message, cause=cause, retry_after=wait)
    if status in GATEWAY_STATUSES:
        return ConnectionLostError(message, cause=cause, reached=True)
    if status >= 500 or status in TRANSIENT_STATUSES:
        return TransientEngineError(message, cause=cause)
    return RejectedRequestError(message, cause=cause)


def filtered_completion(status: int, body: str) -> Completion | None:
    """Return a reply for a 400 or 403 by which some servers report that their content filter stopped a prompt."""
    folded = body.casefold()
    stopped = status == 400 and any(f'"{code}"' in body for code in CONTENT_FILTER_CODES)
    if status == 403:  # an account that is flagged is refused for any prompt
        stopped = any(word in folded for word in MODERATION_WORDS) or ("flagged" in folded and "account" not in folded)
    return Completion(text=None, finish_reason="content_filter") if stopped else None


REFUSED_WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    "schema": ("response_format", "json_schema", "schema", "structured output", "guided"),
    "logprobs": ("logprob", "log_prob", "log prob", "log-prob"),
    "fewer logprobs": ("top_logprobs", "greater than", "max", "at most", "less than", "<="),
    "cache marks": ("prompt_cache_key", "cache_control"),
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
    if retry_after is None:
        return None
    try:
        seconds = float(retry_after)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(retry_after).timestamp() - time.time()
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
_RANDOM: Final = re.compile(r"(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z0-9]{20,}")


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


def looks_random(text: str) -> bool:
    """Return whether twenty or more letters and digits follow each other, as in keys and hardly anywhere else.

    >>> looks_random("8f3k2Lq9ZxY7w5Tn1VbC0d"), looks_random("llama-3-3-70b-instruct")
    (True, False)
    """
    return _RANDOM.search(text) is not None


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    """Return the text without these secrets, without those of the environment, and without what looks like a key.

    >>> redact("Incorrect API key: abc123def", ["abc123def"])
    'Incorrect API key: [redacted]'
    >>> redact("Authorization: Bearer abcdefgh")
    'Authorization: [redacted]'
    """
    return redactor(secrets)(text)


def redactor(secrets: Iterable[str] = ()) -> Callable[[str], str]:
    """Return a function that does what :func:`redact` does, for many texts: the environment is read once."""
    known = {value for name, value in os.environ.items() if _SECRET_VARIABLE.search(name.upper())} | set(secrets)
    known |= {json.dumps(secret, ensure_ascii=ascii_only)[1:-1] for secret in known for ascii_only in (True, False)}
    hidden = [secret for secret in sorted(known, key=len, reverse=True) if len(secret) >= SHORTEST_SECRET]

    def redacted(text: str) -> str:
        for secret in hidden:
            text = text.replace(secret, REDACTED)
        return _SECRET_SHAPE.sub(REDACTED, text)

    return redacted
