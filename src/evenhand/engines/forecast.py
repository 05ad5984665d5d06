"""How many tokens a request and its reply have: at most and likely, before it is sent; at least, when it is settled.

No tokenizer is asked: which one a server has is not known, and fetching one needs a network. A text has no more tokens
than bytes: byte-level vocabularies hold every byte, and what SentencePiece does not know it spells in bytes too. It has
no fewer than words: see :func:`least_tokens`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Self

from evenhand.engines.base import Request, Stage
from evenhand.votes import Completion, Message

TEMPLATE_TOKENS: Final = 64
"""What a chat template may write around a conversation: a system prompt of the server's own is learnt from replies."""
MESSAGE_TOKENS: Final = 16
ASSUMED_REPLY_TOKENS: Final = 1024
"""Of a reply without a token limit, until the first one has come."""
INSTRUCTION_BYTES: Final = 1024
"""What a further prompt of a conversation adds to it, until one was seen."""
BYTES_PER_TOKEN: Final = 4
"""Of a reply, until one was seen."""
LONGEST_TOKEN: Final = 128
"""Bytes of the longest token in the vocabularies of OpenAI (r50k, cl100k, o200k) and Llama 3; SentencePiece trains none
of more than 16 characters (``max_sentencepiece_length``)."""
MARGIN: Final = 2.0
"""How much longer than the longest seen the next reply without a token limit may be."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """Of a request and its reply."""

    prompt: float
    reply: float


@dataclass(frozen=True, slots=True)
class CallSize:
    """How large a call is.

    Attributes:
        stage: Of the flow.
        prompt: No less than its prompt's tokens: the bytes of its messages and schema, and what a chat template adds.
        added: Of these, what the last prompt of a longer conversation added to it; 0 for a first one.
    """

    stage: Stage
    prompt: int
    added: int

    @classmethod
    def of(cls, request: Request) -> Self:
        """The size of a request's call."""
        schema, sizes = request.response_schema, [_message_bytes(message) for message in request.messages]
        beside = TEMPLATE_TOKENS + (0 if schema is None else len(json.dumps(dict(schema))))
        return cls(request.stage, sum(sizes) + beside, sum(sizes[2:]) + beside if len(sizes) > 2 else 0)


def _message_bytes(message: Message) -> int:
    return sum(len(text.encode("utf-8", "replace")) for text in message.values()) + MESSAGE_TOKENS


def least_tokens(*texts: str | None) -> int:
    """Count the tokens that texts have at least: one per word, and one per :data:`LONGEST_TOKEN` bytes of a long word.

    A word is a run without white space that holds a letter or a digit. No token holds parts of two words: byte-level
    tokenizers split a text before they merge bytes, by patterns whose pieces have white space at the ends only (GPT-2's
    and those of cl100k and o200k, ``tiktoken_ext/openai_public.py``; Llama 3, Qwen, DeepSeek and Mistral use variants),
    and SentencePiece keeps pieces within white space (``split_by_whitespace``, its default). English has about 0.75
    words per token, so the bound is near; scripts without spaces have it far below.

    >>> least_tokens("Verdict: **Yes**, it is 3.5 m.", None, "-----"), least_tokens("x" * 300)
    (6, 3)
    """
    words = [word for text in texts if text for word in _WORD.findall(text)]
    if max(map(len, words), default=0) <= _SHORT_WORD:
        return len(words)
    return sum(-(-len(word.encode("utf-8", "replace")) // LONGEST_TOKEN) for word in words)


def believed_tokens(count: int | None, *texts: str | None) -> tuple[int, bool]:
    """Return a server's count and True, or the least that texts have and False where it is missing or smaller."""
    if count is not None:
        plenty = sum(len(text.split()) + len(text) // _SHORT_WORD for text in texts if text)  # no less, and quick
        if count >= plenty or count >= least_tokens(*texts):
            return count, True
    return least_tokens(*texts), False


_WORD: Final = re.compile(r"[^\W_]\S*")
_SHORT_WORD: Final = LONGEST_TOKEN // 4  # UTF-8 takes four bytes per character at most


@dataclass(slots=True)
class TokenForecast:
    """What one judge's calls are expected to have; never less than the most that was seen.

    Attributes:
        most_reply: The token limit of a reply; None where it has none.
        tried: A whole vote was done, so that its replies at each stage were seen.
    """

    most_reply: int | None = None
    tried: bool = False
    _replies: int = 0
    _ratio: float | None = None
    _longest: dict[Stage, int] = field(default_factory=dict)
    _bytes: dict[Stage, int] = field(default_factory=dict)
    _added: dict[Stage, int] = field(default_factory=dict)

    @property
    def learnt(self) -> bool:
        """Whether the replies of a vote were seen; where they have a limit, one reply is enough."""
        return self._replies > 0 and (self.tried or self.sure)

    @property
    def sure(self) -> bool:
        """Whether :meth:`most` is a bound: replies have a token limit."""
        return self.most_reply is not None

    def most(self, call: CallSize) -> Tokens:
        """The most that a call may have.

        With a token limit that is a bound: the bytes of the prompt (more, where a server has counted more tokens than
        bytes), and the limit. Without one, so many as :data:`MARGIN` times the most seen, or before the first reply
        :data:`ASSUMED_REPLY_TOKENS`.
        """
        likely = self.likely(call)
        bound = call.prompt * max(1.0, self._ratio or 0.0)
        if self.most_reply is not None:
            return Tokens(bound, float(self.most_reply))
        if not self._longest:
            return Tokens(bound, float(ASSUMED_REPLY_TOKENS))
        return Tokens(min(bound, MARGIN * likely.prompt), MARGIN * likely.reply)

    def likely(self, call: CallSize) -> Tokens:
        """As many as the prompts seen had a byte, and as the longest reply at this stage had; before that, the most."""
        prompt = call.prompt * (1.0 if self._ratio is None else self._ratio)
        return Tokens(prompt, self.likely_reply(call.stage))

    def likely_reply(self, stage: Stage) -> float:
        """Tokens of a reply at a stage; as at the others, where none was seen."""
        limit = self.most_reply if self.most_reply is not None else ASSUMED_REPLY_TOKENS
        longest = self._longest.get(stage, max(self._longest.values(), default=limit))
        return float(longest if self.most_reply is None else min(longest, self.most_reply))

    def most_after(self, call: CallSize, stages: Sequence[Stage]) -> Tokens:
        """The most that the last of these stages may have, which follow a request in its conversation."""
        most = self.most(call)
        reply, added = self._bytes.get(call.stage), 0.0
        for stage in stages:
            added += self.likely_reply(call.stage) * BYTES_PER_TOKEN if reply is None else reply
            added += self._added.get(stage, INSTRUCTION_BYTES)
            reply = self._bytes.get(stage)
        longest = MARGIN * self.likely_reply(stages[-1])
        limit = longest if self.most_reply is None else self.most_reply
        return Tokens(most.prompt + added * (most.prompt / call.prompt), float(limit))

    def learn(self, call: CallSize, completion: Completion) -> None:
        """Take note of what a reply had, where the server counted it."""
        self._replies += 1
        if completion.prompt_tokens is not None:
            self._ratio = max(self._ratio or 0.0, completion.prompt_tokens / call.prompt)
        if call.added:
            self._added[call.stage] = max(self._added.get(call.stage, 1), call.added)
        if completion.text is not None:
            written = len(completion.text.encode("utf-8", "replace"))
            self._bytes[call.stage] = max(self._bytes.get(call.stage, 1), written)
        if completion.completion_tokens is not None:
            self._longest[call.stage] = max(self._longest.get(call.stage, 1), completion.completion_tokens)
