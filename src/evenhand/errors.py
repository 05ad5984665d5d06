"""Every exception that evenhand raises on purpose.

EvenhandError
├── InvalidInputError                   the caller's data, options or files cannot be used as they are
│   ├── InvalidCriterionError           a criterion, rubric or checklist that contradicts itself
│   ├── UnknownRuleError                an aggregation rule or strategy that does not exist or does not fit the scale
│   ├── InvalidPromptError              a prompt template whose placeholders do not fit its stage
│   ├── ArtifactError                   a catalog id, path or object that is not the kind that was asked for
│   └── DataClassificationError         data of a classification that the engine may not be shown
├── MissingDependencyError (ImportError) an optional package that is not installed
├── EngineError                         a judge's call did not bring a reply
│   ├── TransientEngineError            may pass if tried again: 429, 5xx, connection, time-out
│   │   ├── RateLimitedError            429; carries the Retry-After delay when the server gave one
│   │   └── ConnectionLostError         no connection, or one that broke off; 502, 503, 504
│   ├── ReplyTooLongError               a reply came, longer than what is read; it is not asked for again
│   ├── RejectedRequestError            this request cannot succeed: 400, 413, 422; 403, 404 after a reply
│   └── FatalEngineError                no request to this engine can succeed: 401; 403, 404 before any reply
│       └── UnreachableError            the server stayed away for longer than the run waits
├── WithheldError                       a call that was not launched on purpose; says why, as votes do
│   ├── BudgetExhaustedError            max_calls or max_cost was reached
│   ├── MockModeError                   unitxt's mock mode: nothing is sent, and nothing is judged
│   └── OfflineError                    nothing is to be sent, and the journal holds no reply
├── JournalError                        the journal cannot be opened, read or written
├── TooManyFailuresError                more votes failed than max_failure_rate allows; what was judged is journaled
│   └── ServerAwayError                 the run ended because a judge's server stayed away
├── UnscoredError                       a strict judge has no score to return
├── DistributedRunError                 a cluster, or a worker on it, failed; what was judged holds
├── CheckFailedError                    a condition on a result does not hold
├── UnwritableFileError (OSError)        a result cannot be saved there; what was there is as it was
└── EstimationError (ArithmeticError)   a statistic that is undefined for these data, or did not converge

Terminated, which is a SystemExit, ends a run when the process is asked to end, as KeyboardInterrupt does.
"""

from __future__ import annotations

import signal
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from typing import ClassVar, Literal

from evenhand.visible import visible


class _RootError(Exception):
    """The substitute for unitxt's own error until unitxt is loaded."""


class EvenhandError(_RootError):
    """The root of every error that evenhand raises on purpose. Where unitxt is loaded, it is a ``UnitxtError`` too."""

    def __str__(self) -> str:
        """The message, with every character of names and replies in it shown.

        unitxt draws a box into that of an error raised while it makes an artifact; it is left out.
        """
        context = getattr(self, "__error_context__", None)
        return visible(str(context["original_message"]) if context else super().__str__())


class InvalidInputError(EvenhandError):
    """The caller's data, options or files cannot be used as they are.

    It is not a ``ValueError``: pydantic would swallow one that is raised while a value is checked.
    """


class InvalidCriterionError(InvalidInputError):
    """A criterion, rubric or checklist contradicts itself."""


class UnknownRuleError(InvalidInputError):
    """An aggregation rule or strategy does not exist, or does not belong to the scale."""


class InvalidPromptError(InvalidInputError):
    """A prompt template's placeholders do not fit the stage that it is for."""


class ArtifactError(InvalidInputError):
    """A catalog id, path or object is not the kind of artifact that was asked for."""


class DataClassificationError(InvalidInputError):
    """Data have a classification that the engine may not be shown. Nothing was sent."""


class MissingDependencyError(EvenhandError, ImportError):
    """An optional package is not installed; the message ends with the command that installs it."""


MAY_BE_BILLED = frozenset(
    {"timeout", "connection", "garbage", "repeated_key", "http_408", "http_502", "http_504", "http_524"}
)
"""The causes of failures that do not tell whether the server had done its work; an error of its own says that it had
not."""


class EngineError(EvenhandError):
    """A judge's call did not bring a reply.

    Attributes:
        cause: A short, stable name for counting, such as ``"http_500"`` or ``"timeout"``.
        attempts: The number of times that the request was sent.
        lost: Of these, those that may have been billed.
        at_risk: US dollars at most that these cost, where ``max_cost`` was to be kept.
        retry_after: Seconds that the server asked to wait, if it said so.
        reached: There was a connection, so that this request may be what broke it.
    """

    cause = "engine_error"
    attempts = 1
    lost = 0
    at_risk = 0.0
    retry_after: float | None = None
    reached = True

    def __init__(self, message: str, *, cause: str = "", attempts: int = 1, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.cause, self.attempts, self.retry_after = cause or self.cause, attempts, retry_after

    @property
    def may_be_billed(self) -> bool:
        """Whether the server may have worked on the last attempt and charged for it, though no reply came.

        After a time-out, a connection that broke once it stood, an answer that is no reply.
        """
        return self.cause in MAY_BE_BILLED and self.reached


class TransientEngineError(EngineError):
    """The call failed in a way that may pass: 5xx, a lost connection, a time-out."""


class RateLimitedError(TransientEngineError):
    """The server answered 429."""

    cause = "http_429"


class ConnectionLostError(TransientEngineError):
    """There was no connection to the server, or it broke off, or a gateway found nothing behind it."""

    cause = "connection"

    def __init__(self, message: str, *, cause: str = "", attempts: int = 1, reached: bool = False) -> None:
        super().__init__(message, cause=cause, attempts=attempts)
        self.reached = reached


class ReplyTooLongError(EngineError):
    """A reply came, and it is longer, larger when unpacked, or nested deeper than what is read."""

    cause = "too_long"


class RejectedRequestError(EngineError):
    """This request cannot succeed however often it is sent: 400, 413, 422; 403 and 404 where others were answered."""


class FatalEngineError(EngineError):
    """No request to this engine can succeed: a wrong key (401), or 403 and 404 before the first reply."""


class UnreachableError(FatalEngineError):
    """The server stayed away or wants to be left alone for longer than the run waits, or cannot be reached at all."""

    cause = "unreachable"

    @property
    def may_be_billed(self) -> bool:
        """Whether the last attempt may be billed, as the failure tells that this one was raised from."""
        return isinstance(self.__cause__, EngineError) and self.__cause__.may_be_billed


class WithheldError(EvenhandError):
    """A call was not launched on purpose.

    Attributes:
        reason: Why, as the votes that it was for say it (an :data:`~evenhand.votes.UnscoredReason`).
        attempts: The number of times that the request was sent before; more than 0 where a retry was withheld.
        lost: Of these, those that may have been billed.
        at_risk: US dollars at most that these cost, where ``max_cost`` was to be kept.
    """

    attempts = 0
    lost = 0
    at_risk = 0.0
    reason: ClassVar[Literal["budget", "mock_mode", "offline"]]


class BudgetExhaustedError(WithheldError):
    """``max_calls`` or ``max_cost`` was reached before this call was launched."""

    reason = "budget"


class MockModeError(WithheldError):
    """unitxt's mock mode is on: no engine sends anything, and nothing is judged."""

    reason = "mock_mode"


class OfflineError(WithheldError):
    """Nothing is to be sent, and the journal holds no reply to this request."""

    reason = "offline"


class JournalError(EvenhandError):
    """The journal of paid replies cannot be opened, read or written.

    Attributes:
        votes: The votes of the run that it ended, as the run would have returned them.
    """

    votes: Sequence[Sequence[object]] = ()


class TooManyFailuresError(EvenhandError):
    """More votes failed than ``max_failure_rate`` allows. Everything that was judged is journaled.

    Attributes:
        votes: The votes of the run, the failed ones included, as the run would have returned them.
    """

    def __init__(self, message: str, *, votes: Sequence[Sequence[object]] = ()) -> None:
        super().__init__(message)
        self.votes = votes


class ServerAwayError(TooManyFailuresError):
    """The run ended because a judge's server stayed away, or wants no requests. What was judged is journaled.

    Attributes:
        votes: The votes that came, with those that failed; what was not asked any more has none.
    """


class UnscoredError(EvenhandError):
    """A strict judge has no score to return.

    Attributes:
        result: The incomplete result: votes with their reasons.
    """

    def __init__(self, message: str, result: object) -> None:
        super().__init__(message)
        self.result = result


class DistributedRunError(EvenhandError):
    """A cluster, or a worker on it, failed; what was judged holds, and the same run goes on from there."""


class CheckFailedError(EvenhandError):
    """A condition on a result does not hold: one line per such condition.

    Attributes:
        results: The result; None if the caller holds it.
    """

    def __init__(self, message: str, results: object = None) -> None:
        super().__init__(message)
        self.results = results


class UnwritableFileError(EvenhandError, OSError):
    """A file cannot be written, as on a full disk. What was there is as it was."""


class EstimationError(EvenhandError, ArithmeticError):
    """A statistic is undefined for these data, or its iteration did not converge."""


class Terminated(SystemExit):
    """The process was asked to end by SIGTERM or SIGHUP: uncaught, it ends with the exit code that shells give these.

    Attributes:
        signal: Which.
        code: 128 and its number: 143 or 129.
    """

    def __init__(self, number: int) -> None:
        super().__init__(128 + number)
        self.signal = signal.Signals(number)


class EvenhandWarning(UserWarning):
    """The root of every warning that evenhand gives."""

    def __str__(self) -> str:
        """Return the message, with every character of names in it shown."""
        return visible(super().__str__())


def origins(error: BaseException) -> Iterator[BaseException]:
    """Yield an error, its cause or the error before it, and so on; each once."""
    seen = set[int]()
    source: BaseException | None = error
    while source is not None and id(source) not in seen:
        yield source
        seen.add(id(source))
        source = source.__cause__ or source.__context__


@contextmanager
def ungrouped() -> Iterator[None]:
    """Raise the error that ended a task group, such as a full disk under the journal, without the group.

    The first failure is raised, from the group, which shows the others.
    """
    try:
        yield
    except ExceptionGroup as group:
        cause: Exception = group
        while isinstance(cause, ExceptionGroup):
            cause = cause.exceptions[0]
        raise cause from group


MOST_LISTED = 12


def check_known(value: object, accepted: Collection[object], problem: str) -> None:
    """Check that a name is known.

    Raises:
        InvalidInputError: If it is not: the problem, and the closest known name.
    """
    if value not in accepted:
        raise InvalidInputError(f"{problem}. {did_you_mean(value, accepted)}")


def did_you_mean(value: object, accepted: Iterable[object]) -> str:
    """Return the tail of a message about an unknown name: the closest accepted one, then all if they are few.

    >>> did_you_mean("medain", ["mean", "median"])
    "Did you mean 'median'? Accepted: 'mean', 'median'."
    >>> did_you_mean(3, ["mean"])
    "Accepted: 'mean'."
    """
    names = [str(name) for name in accepted]
    close = get_close_matches(str(value), names, n=1)
    hint = f"Did you mean {close[0]!r}? " if close else ""
    listed = ", ".join(map(repr, names[:MOST_LISTED]))
    more = f" and {len(names) - MOST_LISTED} more" if len(names) > MOST_LISTED else ""
    return f"{hint}Accepted: {listed or 'none'}{more}."
