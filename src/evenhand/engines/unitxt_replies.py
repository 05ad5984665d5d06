"""How evenhand's requests read to a unitxt engine, and how its outputs and failures read to evenhand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from evenhand.engines.redaction import redact
from evenhand.engines.replies import SHOWN_CHARACTERS, filtered_completion, read_error
from evenhand.engines.unitxt_fields import secret_values
from evenhand.errors import EngineError, RejectedRequestError, TransientEngineError
from evenhand.unitxt_bases import InferenceEngine, TextGenerationInferenceOutput, own_words
from evenhand.votes import Completion, Message

_FINISH_REASONS = {"max_tokens": "length", "eos": "stop", "eos_token": "stop", "stop_sequence": "stop", "": None}


def flatten(messages: tuple[Message, ...]) -> str:
    """A conversation as one text, for engines that know no chat: a heading a turn, the last one the assistant's.

    A single message stays as it is.

    >>> print(flatten(({"role": "user", "content": "Assess."}, {"role": "assistant", "content": "It is good."},
    ...                {"role": "user", "content": "Your verdict?"})))
    User:
    Assess.
    <BLANKLINE>
    Assistant:
    It is good.
    <BLANKLINE>
    User:
    Your verdict?
    <BLANKLINE>
    Assistant:
    """
    if len(messages) == 1:
        return messages[0]["content"]
    turns = [f"{message['role'].capitalize()}:\n{message['content']}" for message in messages]
    return "\n\n".join([*turns, "Assistant:"])


def read_output(output: object) -> Completion | EngineError:
    """What an engine returned for one instance: a text, a conversation, unitxt's output with meta data, or None."""
    prediction = getattr(output, "prediction", output)
    text = _text(prediction)
    if isinstance(text, EngineError) or not isinstance(output, TextGenerationInferenceOutput):
        return text if isinstance(text, EngineError) else Completion(text=text)
    if text == "-" and (output.input_tokens, output.output_tokens) == (0, 0):  # so unitxt's OpenAI engines report a 400
        return RejectedRequestError("the server refused the request as invalid (400)", cause="http_400")
    reason = output.stop_reason
    return Completion(
        text=text,
        finish_reason=_FINISH_REASONS.get(str(reason).casefold(), str(reason)) if reason is not None else None,
        prompt_tokens=output.input_tokens,
        completion_tokens=output.output_tokens,
        model=output.model_name,
    )


def _text(prediction: object) -> str | EngineError | None:
    if prediction is None or isinstance(prediction, str):
        return prediction
    if isinstance(prediction, list) and prediction and isinstance(prediction[-1], Mapping):
        content = prediction[-1].get("content")  # Hugging Face pipelines return the whole conversation
        if isinstance(content, str):
            return content
    return EngineError(f"the engine returned a {type(prediction).__name__} where a text belongs", cause="reply_type")


def read_failure(error: Exception, engine: InferenceEngine) -> EngineError:
    """The engine's failure as one of ours, judged by the HTTP status or the kind of what it raised."""
    if isinstance(error, EngineError):
        return error
    secrets = [*secret_values({"credentials": getattr(engine, "credentials", None)})]
    secrets += secret_values(getattr(engine, "_init_dict", {}))
    chain = _causes(error)
    failure = EngineError(_shown(chain[-1], secrets), cause=type(chain[-1]).__name__)
    for link in chain:
        status = getattr(link, "status_code", None)
        if isinstance(status, int) and status >= 400:
            failure = read_error(status, own_words(link), secrets=secrets)
            if filtered_completion(status, own_words(link)) is not None:
                failure = RejectedRequestError(str(failure), cause="content_filter")
            break
        if isinstance(link, TimeoutError | ConnectionError) or "Timeout" in type(link).__name__:
            failure = TransientEngineError(_shown(link, secrets), cause=type(link).__name__)
            break
    failure.__cause__ = error
    return failure


def refusal_of_data(error: Exception) -> RejectedRequestError:
    """The engine's refusal of data of this classification."""
    return RejectedRequestError(_shown(error, ()), cause="data_classification")


def _causes(error: BaseException) -> list[BaseException]:
    """The exception, what it was raised from, and so on down to the first."""
    chain = [error]
    while chain[-1].__cause__ is not None and chain[-1].__cause__ not in chain:
        chain.append(chain[-1].__cause__)
    return chain


def _shown(error: BaseException, secrets: Iterable[str]) -> str:
    return redact(f"{type(error).__name__}: {own_words(error)}", secrets)[:SHOWN_CHARACTERS]
