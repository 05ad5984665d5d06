"""The pytest plugin: ``assert_judged``, a judge with a journal in pytest's cache, and what was spent.

It is found by pytest where evenhand is installed, and imports nothing heavy until it is used.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

import pytest

if TYPE_CHECKING:
    from evenhand.report.gate_expressions import Expression
    from evenhand.report.gates import GateReport
    from evenhand.results.compare import RunComparison
    from evenhand.results.results import Results
    from evenhand.results.verdict_view import VerdictView

SPENT: Final = "evenhand_spent"
WORST: Final = 3
MOST_SIGNS: Final = 300

_item: ContextVar[pytest.Item | None] = ContextVar("evenhand_item", default=None)


def assert_judged(
    judged: Results[Any] | RunComparison | str | Path,
    *must_hold: str,
    gold: object = None,
    design: str | None = None,
    data: object = None,
) -> GateReport:
    """Assert what must hold of a result, as ``assert_judged(results, "relevance.low >= 0.7", "unscored <= 2 %")``.

    The expressions are those of :meth:`~evenhand.results.results.Results.check`, which say what makes a run fail; here
    they say what must be so, as after ``assert``: of every system that a measure stands for. What has no number, and
    what cannot be told because too many votes are unscored, does not hold.

    Args:
        judged: A result, the path of a saved one, or what changed between two (``results.compare(other)``).
        *must_hold: What must hold; at least one.
        gold: Labels of people for ``.corrected``; by default those held.
        design: How the labelled rows were chosen.
        data: The rows that were judged: for groups, and for the texts in the message, where these were not kept.

    Returns:
        What was found, if all of it holds.

    Raises:
        AssertionError: If it does not: with the score, its interval, n and its unscored votes, and the three worst
            verdicts with their questions, responses and reasons, which of two runs are in ``changes``.
        InvalidInputError: What is no such expression, or names what the result does not have.
    """
    __tracebackhide__ = True
    from evenhand.opening import open as open_results  # noqa: PLC0415 - as above
    from evenhand.report.gates import check  # noqa: PLC0415 - seconds of import, which only who asserts needs

    results = open_results(judged) if isinstance(judged, (str, Path)) else judged
    if not must_hold:
        _refuse("assert_judged needs something that must hold, as 'relevance.low >= 0.7'")
    report = check(results, must_hold, holding=True, gold=gold, design=design, data=data)
    if report.failed:
        raise AssertionError(_message(results, report, data))
    return report


def _refuse(why: str) -> NoReturn:
    from evenhand.errors import InvalidInputError  # noqa: PLC0415 - as above

    raise InvalidInputError(why)


def _message(results: Results[Any] | RunComparison, report: GateReport, data: object) -> str:
    """What does not hold, and the worst verdicts."""
    from evenhand.results.compare import RunComparison  # noqa: PLC0415 - as above
    from evenhand.visible import visible  # noqa: PLC0415 - as above

    lines = []
    for gate in report.failed:
        lines += [f"{gate.expression} {'cannot be told' if gate.undecided else 'does not hold'}:"]
        lines += [f"  {found}" for found in gate.found]
    worst = [] if isinstance(results, RunComparison) else _worst(results, report, data)
    if worst:
        lines += ["", f"The {len(worst)} worst of the verdicts:" if len(worst) > 1 else "The worst of the verdicts:"]
    for view in worst:
        lines += _told(view)
    return visible("\n".join(lines))


def _worst(results: Results[Any], report: GateReport, data: object) -> list[VerdictView]:
    """The scores farthest from what is asserted; where that is about unscored votes, the verdicts that have some.

    The scores are the lowest scores, or the highest where all that is asserted is that something is small.
    """
    from evenhand.report.gate_expressions import comparisons_in, parse  # noqa: PLC0415 - as above

    asserted = [parse(gate.expression) for gate in report.failed]
    named = [each for whole in asserted for one in comparisons_in(whole) for each in one.measures]
    sign = -1.0 if all(small for whole in asserted for small in _small(whole)) else 1.0
    about, systems = {each.path[0] for each in named}, {system for each in named for system in each.of}
    views = [view for view in results.verdict_views(data) if not view.na]
    views = [view for view in views if view.criterion in about] or views
    views = [view for view in views if systems.intersection(view.systems)] or views
    of_unscored = any({"unscored", "unscored_verdicts"}.intersection(each.path) for each in named)
    lacking = [view for view in views if any(vote.unscored for vote in view.votes) or view.unscored]
    return sorted(
        (lacking if of_unscored else []) or views,
        key=lambda view: math.inf if view.score is None else sign * view.score,
    )[:WORST]


def _small(asserted: Expression, *, holds: bool = True) -> Iterator[bool]:
    """Of each comparison, whether it holds where its measure is small."""
    from evenhand.report.gate_expressions import GateComparison, Named, Negation  # noqa: PLC0415 - as above

    if isinstance(asserted, GateComparison):
        yield (asserted.sign.startswith("<") == isinstance(asserted.left, Named)) == holds
    elif isinstance(asserted, Negation):
        yield from _small(asserted.part, holds=not holds)
    else:
        for part in asserted.parts:
            yield from _small(part, holds=holds)


def _told(view: VerdictView) -> Iterator[str]:
    from evenhand.numbers import format_number  # noqa: PLC0415 - as above

    score = f"no score ({view.unscored_reason})" if view.score is None else f"score {format_number(view.score)}"
    yield f"  {view.name}: {view.selected or 'nothing selected'}, {score}"
    for name, text in (*view.context.items(), *view.responses.items()):
        yield f"    {name}: {_short(text)}"
    for vote in view.votes[:1]:
        yield f"    {vote.judge}: {_short(vote.reasons or vote.reply)}"


def _short(text: str | None) -> str:
    """A text in one line, cut in its middle where it is long."""
    if text is None:
        return "(nothing)"
    line = " ".join(text.split())
    half = MOST_SIGNS // 2
    return line if len(line) <= MOST_SIGNS else f"{line[:half]} … {line[-half:]}"


@pytest.fixture(scope="session")
def evenhand_judge(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """``evenhand.judge`` with a journal in pytest's cache, so that a test that runs again pays for no stored reply.

    Other functions are taken by name, as ``evenhand_judge(rows, ["new", "old"], ..., function="winrates")``. What is
    spent is told at the end of the test run.
    """
    cache = getattr(request.config, "cache", None)  # there is none where its plugin is switched off
    kept = {} if cache is None else {"journal": cache.mkdir("evenhand") / "journal.sqlite"}

    def judge(*given: Any, function: str = "judge", **how: Any) -> Any:  # noqa: ANN401 - as the functions have it
        import evenhand  # noqa: PLC0415 - as above

        results = getattr(evenhand, function)(*given, **{"progress": False, **kept, **how})
        item, spent = _item.get(), results.spending
        if item is not None and spent is not None:
            item.user_properties.append((SPENT, [spent.bought, spent.from_journal, spent.cost]))
        return results

    return judge


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Remember which test runs, whose report tells what it spent: reports come back from other processes too."""
    token = _item.set(item)
    try:
        return (yield)
    finally:
        _item.reset(token)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """One line of what was spent; nothing where nothing was."""
    reports = [each for known in terminalreporter.stats.values() for each in known]
    spent = [
        value
        for report in reports
        if getattr(report, "when", None) == "teardown"
        for name, value in report.user_properties
        if name == SPENT
    ]
    if not spent:
        return
    from evenhand.numbers import format_cost, format_count  # noqa: PLC0415 - as above

    bought, held = (sum(each[place] for each in spent) for place in (0, 1))
    known = [each[2] for each in spent if each[2] is not None]
    cost = f", {format_cost(sum(known))}" if len(known) == len(spent) else ", the price is not known"
    said = f"evenhand: {format_count(bought, 'reply')} bought, {format_count(held)} from the journal{cost}"
    terminalreporter.write_line(said)
