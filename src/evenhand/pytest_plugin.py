"""The pytest plugin: ``assert_judged`` for a response or a result, and a judge with a journal in pytest's cache.

pytest loads it where evenhand is installed; it imports nothing heavy until it is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from evenhand.report.gates import CheckedCondition
    from evenhand.results.results import Results

WORST: Final = 3
MOST_CHARACTERS: Final = 300


def assert_judged(judged: Any, /, *conditions: str, at_least: float | None = None, **fields: Any) -> Any:  # noqa: ANN401 - a judge or a result
    """Assert that a response is good enough, or that conditions hold of a result.

    ``assert_judged(judge, response=answer, at_least=0.7)`` judges one response;
    ``assert_judged(results, "relevance.low >= 0.7", "unscored <= 2 %")`` checks a result, as ``results.check`` does.

    Args:
        judged: An ``evenhand.Judge``; or a result, the path of a saved one, or ``results.compare(other)``.
        *conditions: For a result: all must hold.
        at_least: For a judge: the lowest score that passes, in the units of the criterion.
        **fields: For a judge: what it is shown, such as ``response`` and ``context``.

    Returns:
        What the judge returned, or the report of the conditions.

    Raises:
        AssertionError: The score is lower, or there is none; or a condition does not hold. The message has the reasons,
            and for a result the worst verdicts.
        InvalidInputError: Neither of the two forms, or what the judge or ``results.check`` refuses.
    """
    __tracebackhide__ = True
    from evenhand.by_name import open as open_results  # noqa: PLC0415 - who asserts nothing imports nothing
    from evenhand.errors import InvalidInputError  # noqa: PLC0415 - as above
    from evenhand.numbers import format_apart  # noqa: PLC0415 - as above
    from evenhand.report.gates import CLOSE, check  # noqa: PLC0415 - as above
    from evenhand.visible import visible  # noqa: PLC0415 - as above

    if isinstance(judged, (str, Path)):
        judged = open_results(judged)
    lines: list[str] = []
    if hasattr(judged, "findings") and conditions and at_least is None and not fields:
        found: Any = check(judged, conditions)
        lines += [line for each in found.failed for line in (f"{each.condition} does not hold:", f"  {each.found}")]
        if lines and hasattr(judged, "verdict_list"):
            lines += ["", "The worst verdicts:", *_worst(judged, found.failed)]
    elif hasattr(judged, "run") and not conditions and isinstance(at_least, (int, float)):
        found = judged.run(**fields)
        label = "" if found.label is None else f" ({found.label})"
        if found.score is None:
            lines = [f"the response has no score: {found.unscored_reason}"]
        elif found.score < at_least - CLOSE:
            score = format_apart(found.score, at_least)
            lines = [f"the score {score}{label} is below {at_least}: {_shorten(found.reason)}"]
    else:
        raise InvalidInputError(
            "assert_judged takes a judge, what it is shown, and at_least (assert_judged(judge, response=answer, "
            "at_least=0.7)), or a result and conditions (assert_judged(results, 'relevance.low >= 0.7'))"
        )
    if lines:
        raise AssertionError(visible("\n".join(lines)))
    return found


def _worst(results: Results, failed: tuple[CheckedCondition, ...]) -> Iterator[str]:
    """Yield the unscored verdicts where a condition is about these, else those with the lowest scores."""
    from evenhand.numbers import format_number  # noqa: PLC0415 - as above

    about_unscored = any("unscored" in each.measure for each in failed)
    found = results.unscored() if about_unscored else results.sort("score", ascending=True)
    for view in found.head(WORST):
        score = f"no score ({view.unscored_reason})" if view.score is None else f"score {format_number(view.score)}"
        yield f"  {view.name}: {view.selected or 'nothing selected'}, {score}"
        texts = [*view.context.items(), *view.responses.items()]
        texts += [(each.vote.judge_id, each.vote.assessment or each.reply) for each in view.votes[:1]]
        yield from (f"    {name}: {_shorten(text)}" for name, text in texts)


def _shorten(text: str | None) -> str:
    """Return a text in one line, without its middle if it is long."""
    line, half = " ".join((text or "(nothing)").split()), MOST_CHARACTERS // 2
    return line if len(line) <= MOST_CHARACTERS else f"{line[:half]} … {line[-half:]}"


@pytest.fixture(scope="session")
def evenhand_judge(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """``evenhand.judge`` with a journal in pytest's cache, so that a test that runs again pays for no stored reply.

    Other functions are called by name, as ``evenhand_judge(rows, ["new", "old"], ..., function="winrates")``.
    """
    cache = getattr(request.config, "cache", None)  # None where the cache plugin is switched off
    kept = {} if cache is None else {"journal": cache.mkdir("evenhand") / "journal.sqlite"}

    def judge(*given: Any, function: str = "judge", **how: Any) -> Any:  # noqa: ANN401 - as the functions have it
        import evenhand  # noqa: PLC0415 - as above

        return getattr(evenhand, function)(*given, **{"progress": False, **kept, **how})

    return judge
