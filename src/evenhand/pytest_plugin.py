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
    from evenhand.results.looking import VerdictList, VerdictView
    from evenhand.results.results import Results

CLOSE: Final = 1e-9
"""As in conditions, a score that is lower by less is equal."""

WORST: Final = 3
MOST_SIGNS: Final = 300


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
    from evenhand.errors import InvalidInputError  # noqa: PLC0415 - who asserts nothing imports nothing
    from evenhand.visible import visible  # noqa: PLC0415 - as above

    if isinstance(judged, (str, Path)):
        from evenhand.by_name import open as open_results  # noqa: PLC0415 - as above

        judged = open_results(judged)
    if hasattr(judged, "findings") and conditions and at_least is None and not fields:
        from evenhand.report.gates import check  # noqa: PLC0415 - as above

        found: Any = check(judged, conditions)
        why = _explain_conditions(judged, found.failed) if found.failed else ""
    elif hasattr(judged, "run") and not conditions and isinstance(at_least, (int, float)):
        found = judged.run(**fields)
        why = _explain_score(found, at_least)
    else:
        raise InvalidInputError(
            "assert_judged takes a judge, what it is shown, and at_least (assert_judged(judge, response=answer, "
            "at_least=0.7)), or a result and conditions (assert_judged(results, 'relevance.low >= 0.7'))"
        )
    if why:
        raise AssertionError(visible(why))
    return found


def _explain_score(found: Any, at_least: float) -> str:  # noqa: ANN401 - as any judge returns it
    """Why a response does not pass; empty where it does."""
    from evenhand.numbers import format_apart  # noqa: PLC0415 - as above

    if found.score is None:
        return f"the response has no score: {found.unscored_reason}"
    label = "" if found.label is None else f" ({found.label})"
    lower = f"the score {format_apart(found.score, at_least)}{label} is below {at_least}: {_shorten(found.reason)}"
    return "" if found.score >= at_least - CLOSE else lower


def _explain_conditions(results: Any, failed: tuple[CheckedCondition, ...]) -> str:  # noqa: ANN401 - of any kind
    lines = [line for each in failed for line in (f"{each.condition} does not hold:", f"  {each.found}")]
    worst = list(_worst(results, failed)) if hasattr(results, "verdict_list") else []
    lines += ["", "The worst verdicts:"] if worst else []
    return "\n".join([*lines, *(line for view in worst for line in _describe(view))])


def _worst(results: Results, failed: tuple[CheckedCondition, ...]) -> VerdictList:
    """The verdicts with the lowest scores, or the highest where all conditions are upper limits."""
    from evenhand.report.gates import Condition  # noqa: PLC0415 - as above

    criteria = {each.measure.partition(".")[0] for each in failed}
    systems = {name for each in failed for name in each.of}
    found = results.verdict_list().filter(
        lambda view: not view.na and (not systems or not systems.isdisjoint(view.systems))
    )
    found = found.filter(lambda view: view.criterion in criteria) or found
    if any("unscored" in each.measure for each in failed):
        return found.filter(lambda view: view.unscored or any(vote.unscored for vote in view.votes)).head(WORST)
    highest = all(Condition.parse(each.condition).sign.startswith("<") for each in failed)
    return found.sort("score", ascending=not highest).head(WORST)


def _describe(view: VerdictView) -> Iterator[str]:
    from evenhand.numbers import format_number  # noqa: PLC0415 - as above

    score = f"no score ({view.unscored_reason})" if view.score is None else f"score {format_number(view.score)}"
    yield f"  {view.name}: {view.selected or 'nothing selected'}, {score}"
    for name, text in (*view.context.items(), *view.responses.items()):
        yield f"    {name}: {_shorten(text)}"
    for vote in view.votes[:1]:
        yield f"    {vote.judge}: {_shorten(vote.reasons or vote.reply)}"


def _shorten(text: str | None) -> str:
    """A text in one line, cut in its middle where it is long."""
    line = " ".join((text or "(nothing)").split())
    half = MOST_SIGNS // 2
    return line if len(line) <= MOST_SIGNS else f"{line[:half]} … {line[-half:]}"


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
