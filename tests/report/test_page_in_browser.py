"""The page of a result in a real browser: what it shows is what the result holds, and nothing runs or leaves."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from typing import Any
from urllib.parse import quote

import pytest

import evenhand
from evenhand.numbers import format_cost, format_count, format_number
from evenhand.report.page import write_report
from evenhand.results.looking import VerdictView, VoteView
from evenhand.results.measures import Reported
from evenhand.results.render import TextTable
from evenhand.results.results import Results
from evenhand.visible import visible, visible_line
from tests.golden import runs
from tests.support import browser

pytestmark = pytest.mark.skipif(browser.MISSING is not None, reason=str(browser.MISSING))

QUIET = runs.QUIET


@pytest.fixture(scope="module")
def window(tmp_path_factory) -> Iterator[browser.Browser]:
    with browser.browser(tmp_path_factory.mktemp("browser")) as opened:
        yield opened


def direct(**how: Any) -> Any:
    faulty = runs.judge_of(position_preference=0.6, refusal_rate=0.1)
    return evenhand.judge(
        runs.rows(14), [runs.RELEVANCE, "criteria.evenhand.direct.clarity"], faulty, response_fields=["alder", "birch"],
        gold_fields={"relevance": "{system}_relevance"}, context_fields=["question"], flow="one_step",
        max_failure_rate=1.0, **how, **QUIET,
    )  # fmt: skip


KINDS: dict[str, Callable[[], Any]] = {
    "direct": direct,
    "panel": runs.direct_panel,
    "rubric": runs.rubric,
    "checklist": runs.checklist,
    "winrates": runs.winrates,
    "votes": runs.aggregated_votes,
    "reliability": runs.reliability,
}

CELLS = """
return [...document.querySelectorAll("#tables table")].map((table) =>
  [...table.rows].map((row) => [...row.cells].map((cell) => cell.textContent)))
"""
SCORES = """
return [...document.querySelectorAll(".scores li")].map((each) =>
  [...each.children].map((part) => part.textContent))
"""
IMAGES = """
return [...document.querySelectorAll("#pictures img")].map((each) => [each.naturalWidth, each.alt,
  each.closest("figure").querySelector("figcaption").textContent, each.getBoundingClientRect().right])
"""
LISTED = """
return [...document.querySelectorAll("#list a")].map((each) =>
  [decodeURIComponent(each.getAttribute("href").slice(9)), each.querySelector(".said").textContent,
   each.querySelector(".num").textContent])
"""


def shown_page(window: browser.Browser, results: Any, *, script: bool = True, **how: Any) -> None:
    path = window.folder / "page.html"
    write_report(path, results, **how)
    window.command("Emulation.setScriptExecutionDisabled", value=not script)
    window.open(path)
    if script and window.run("return Boolean(document.querySelector('#verdicts'))"):
        window.wait_for("document.querySelector('#list a')")


def expected_tables(results: Any) -> list[Any]:
    return [[list(table.headers), *map(list, table.rows)] for table in results.text_tables()]


def listed(window: browser.Browser) -> list[list[str]]:
    """Each entry of the list, of all its pages."""
    found = window.run(LISTED)
    while not window.run("return document.querySelector('#after').disabled"):
        window.run("document.querySelector('#after').click()")
        found += window.run(LISTED)
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_every_number_of_the_page_is_that_of_the_result_with_and_without_javascript(window, kind):
    results = KINDS[kind]()
    window.resize(1200)
    shown_page(window, results, script=False)
    assert window.run(CELLS) == expected_tables(results)
    scores = window.run(SCORES)
    if kind == "reliability":
        assert scores == []
        assert window.complaints() == []
        return
    written = {(", ".join(each.of) or "all", each.written, each.n, str(each.unscored)) for each in results.findings()}
    for of, estimate, limits, rests in scores:
        known = [each for each in written if each[:2] == (of, f"{estimate} {limits}")]
        counts = [f"n = {format_count(each[2])}" + (f"; {each[3]}" if each[3] != "None" else "") for each in known]
        assert rests in counts, (of, estimate, limits, rests)
    assert scores
    assert "needs JavaScript" in window.text("#verdicts")
    window.wait_for("[...document.images].every((each) => each.complete)")
    assert window.run(IMAGES)
    for width, description, title, _ in window.run(IMAGES):
        assert width > 0  # the policy of the page lets it be seen
        assert description.startswith(f"{title}; ")
    shown_page(window, results)
    assert window.run(CELLS) == expected_tables(results)
    views = {view.name: view for view in results.verdict_views()}
    entries = listed(window)
    assert sorted(name for name, _, _ in entries) == sorted(views)
    for name, _, score in entries:
        assert score == ("" if views[name].score is None else format_number(views[name].score))
    view = max(views.values(), key=lambda each: len(each.votes))
    window.run("location.hash = '#verdict=' + encodeURIComponent(arguments[0])", view.name)
    window.wait_for(f"document.querySelectorAll('.votes > .box').length === {len(view.votes)}")
    votes = window.run("return [...document.querySelectorAll('.votes > .box')].map((each) => each.innerText)")
    for shown, each in zip(votes, view.votes, strict=True):
        vote = each.vote
        assert f"{vote.judge_id} · draw {vote.sample + 1}" in shown
        assert vote.value is None or f"{each.selected} · {format_number(vote.value)}" in shown
        assert vote.usage.cost is None or format_cost(vote.usage.cost) in shown
        assert vote.assessment is None or vote.assessment in shown
    assert window.complaints() == []


def opened_page(window: browser.Browser, **how: Any) -> dict[str, VerdictView]:
    """A page that is open, and the verdicts that it shows."""
    results = direct(**how)
    window.resize(1200)
    shown_page(window, results)
    return {view.name: view for view in results.verdict_views()}


CHOOSE = """
const field = document.getElementById(arguments[0]);
field.value = [...field.options].find((each) => each.text === arguments[1]).value;
field.dispatchEvent(new Event("change", {bubbles: true}));
"""


def texts_of(view: VerdictView) -> Iterator[str]:
    """What a search reads."""
    yield from (text or "" for text in (view.name, view.question, *view.context.values(), *view.responses.values()))
    for each in view.votes:
        reasoning = each.vote.completion.reasoning if each.vote.completion else None
        yield from (text or "" for text in (each.vote.assessment, each.reply, reasoning))


def test_verdicts_are_filtered_searched_and_sorted(window):
    views = opened_page(window, on_position_bias="abstain")

    def choose(field: str, text: str) -> None:
        window.run(CHOOSE, field, text)

    def names() -> set[str]:
        return {name for name, _, _ in listed(window)}

    def everything() -> None:
        window.click("button[type=reset]")
        window.wait_for(f"document.querySelector('#count').textContent === '{len(views)} verdicts'")

    def those(keep: Callable[[VerdictView], Any]) -> set[str]:
        found = {name for name, view in views.items() if keep(view)}
        assert 0 < len(found) < len(views)
        return found

    choose("system", "birch")
    choose("criterion", "relevance")
    assert names() == those(lambda view: view.systems == ("birch",) and view.criterion == "relevance")
    everything()
    choose("read", "unscored: refusal")
    assert names() == those(lambda view: any(each.vote.unscored_reason == "refusal" for each in view.votes))
    everything()
    for box, holds in (("flipped", "flipped"), ("divided", "divided"), ("wrong", "wrong")):
        window.click(f"input[name={box}]")
        assert names() == those(lambda view, holds=holds: getattr(view, holds))
        everything()
    choose("sort", "lowest score")
    scores = [views[name].score for name, _, _ in listed(window)]
    known = [score for score in scores if score is not None]
    assert known == sorted(known)
    everything()
    word = views["3/alder/relevance"].responses["alder"].split()[-3:]
    window.type_into("#search", " ".join(word).upper())
    wanted = " ".join(word).lower()
    window.wait_for(f"document.querySelector('#count').textContent.includes(' of {len(views)} ')")
    assert names() == those(lambda view: any(wanted in text.lower() for text in texts_of(view)))
    assert window.complaints() == []


def test_a_link_shows_a_verdict_whole_and_keys_lead_to_the_others(window):
    views = opened_page(window)
    path = (window.folder / "page.html").as_uri()
    name = "5/birch/relevance"
    window.ask("POST", "/url", {"url": f"{path}#verdict={quote(name)}"})
    window.reload()
    window.wait_for(f"document.querySelector('#verdict').getAttribute('aria-label') === 'Verdict {name}'")
    view = views[name]
    assert window.text("#verdict .asked .head") == "Criterion"
    assert str(view.responses["birch"]) in window.text("#verdict")
    assert str(views["5/alder/relevance"].responses["alder"]) in window.text("#verdict")  # side by side
    read = next(vote for vote in view.votes if vote.read_at)
    opened = "document.querySelectorAll('.votes details').forEach((each) => { each.open = true; })"
    window.run(opened)
    window.wait_for("document.querySelector('.votes mark') && document.querySelector('.votes .message')")
    assert window.run("return document.querySelector('mark').textContent") == read.reply[slice(*read.read_at)]
    sent = window.run("return [...document.querySelectorAll('.message .text')].map((each) => each.textContent)")
    assert sent == [content for vote in view.votes for messages in vote.prompts.values() for _, content in messages]
    walk_by_keys(window, name)
    nameless = "return [...document.querySelectorAll('input, select')].filter((each) => !each.labels.length).length"
    assert window.run(nameless) == 0
    assert window.complaints() == []


def walk_by_keys(window: browser.Browser, name: str) -> None:
    """From a verdict that is shown."""
    order = [name for name, _, _ in window.run(LISTED)]
    window.run("document.activeElement.blur()")
    window.press("j")
    current = "decodeURIComponent(document.querySelector('#list [aria-current]').getAttribute('href').slice(9))"
    after = order[order.index(name) + 1]
    window.wait_for(f"{current} === '{after}'")
    window.press("\ue007")  # Enter
    assert window.run("return document.activeElement.id") == "verdict"
    window.press("/")
    assert window.run("return document.activeElement.id") == "search"
    window.press("\ue00c?")  # Escape
    assert window.run("return document.querySelector('#help').open")
    window.press("\ue00c")
    window.run("document.querySelector('#keys').click()")
    window.run("document.querySelector('#list a').focus()")
    window.press("/")
    assert window.run("return document.activeElement.id") != "search"


def test_two_runs_show_what_changed_first(window):
    one = direct()
    other = one.rescore(on_position_bias="first")
    shown_page(window, one, other=other, names=("as asked", "first order"))
    first, second = ({view.name: view for view in run.verdict_views()} for run in (one, other))
    differs = {name for name in first if first[name].selected != second[name].selected}
    changed = {name for name in differs if first[name].selected and second[name].selected}
    cells = window.run(CELLS.replace("#tables", "#comparison"))
    assert cells == [[list(table.headers), *map(list, table.rows)] for table in one.compare(other).text_tables()]
    window.click("input[name=changed]")
    assert {name for name, _, _ in listed(window)} == changed
    name = listed(window)[0][0]
    window.click("#list a")
    window.wait_for(f"document.querySelector('#verdict').getAttribute('aria-label') === 'Verdict {name}'")
    text = window.text("#verdict")
    assert all(f"{run[name].selected}" in text for run in (first, second))
    assert "first order · simulated" in text
    window.click("input[name=changed]")
    window.click("input[name=lost]")
    assert {name for name, _, _ in listed(window)} == differs - changed != set()
    kinds = window.run("return [...document.querySelectorAll('.picture')].map((each) => each.dataset.kind)")
    assert kinds[::2] == kinds[1::2]
    assert window.complaints() == []


@pytest.mark.parametrize("width", [390, 1600])
def test_the_page_fits_the_window(window, width):
    window.resize(width, dark=width == 390)
    shown_page(window, direct(), further=(runs.winrates(), runs.checklist()))
    window.run("location.hash = '#verdict=' + encodeURIComponent('0/alder/relevance')")
    window.wait_for("document.querySelector('.votes')")
    assert window.run("return document.documentElement.scrollWidth <= innerWidth")
    assert max(right for *_, right in window.run(IMAGES)) < width  # all of each picture is seen
    hidden = window.run("return getComputedStyle(document.querySelector('#listing')).display === 'none'")
    assert hidden == (width == 390)
    if hidden:
        window.click(".back")
        assert window.run("return document.activeElement.getAttribute('aria-current')") == "true"
    window.resize(1200)


HIT = "window.hit=1"
HOSTILE = [
    f"</script><script>{HIT}</script>",
    f"<script>{HIT}</script>",
    f"<img src=x onerror={HIT}>",
    f"<svg onload={HIT}>",
    f"<svg><script>{HIT}</script></svg>",
    "<!-- <script>",
    "--><!--",
    "<![CDATA[",
    "]]>",
    f"javascript:{HIT}",
    f'"><a href="javascript:{HIT}">x</a>',
    f"' onmouseover='{HIT}",
    f'" autofocus onfocus="{HIT}',
    f"`${{{HIT}}}`",
    "{{ 7*7 }}{% raw %}",
    "${7*7}<%= 7 %>",
    "</style><style>*{display:none}",
    "<style>body{display:none}</style>",
    "<link rel=stylesheet href=http://127.0.0.1:9/x.css>",
    "<iframe src=http://127.0.0.1:9/></iframe>",
    "<meta http-equiv=refresh content='0;url=http://127.0.0.1:9/'>",
    "<base href=http://127.0.0.1:9/>",
    "<form action=http://127.0.0.1:9/><button>",
    "</title></head></body></html>",
    "</table></main></section>",
    "</textarea></select></noscript></template>",
    "<plaintext>",
    "&lt;b&gt;&amp;&#0;&quot;",
    "\u202etxt.exe\u202c",
    "\u2066a\u2069\u200f",
    "line\u2028separator\u2029paragraph",
    "nul\0and\x1b[2J\x07bell",
    "half \ud83d a character",
    "\ufeffbom\u200b\u2060",
    "e" + "\u0301" * 50,
    "long " + "x" * 20_000,
    "\n\n\t\r\nlines\r\n" * 20,
    "__proto__",
    "constructor",
    "</script\t\n bar><SCRIPT>" + HIT + "</SCRIPT>",
]


class Hostile(Results):
    """A result that says nothing but hostile texts."""

    def text_tables(self) -> tuple[TextTable, ...]:
        return (TextTable(HOSTILE[0], ("a", *HOSTILE), (("b", *HOSTILE),), tuple(HOSTILE)),)

    def closing_notes(self) -> tuple[str, ...]:
        return tuple(HOSTILE)

    def reported(self) -> Iterator[Reported]:
        for text in HOSTILE:
            yield from (replace(each, name=text, of=(text,)) for each in list(self.analysis.reported())[:1])

    def verdict_views(self, data: object = None) -> Iterator[VerdictView]:
        view = next(super().verdict_views(data))
        cast = view.votes[0].vote
        assert cast.completion is not None
        assert cast.match is not None
        for text in HOSTILE:
            said: dict[str, Any] = dict.fromkeys(("judge_id", "error", "assessment", "unscored_reason"), text)
            said["completion"] = cast.completion.model_copy(
                update={"text": text + text, "reasoning": text, "model": text}
            )
            said["match"] = cast.match.model_copy(update={"kind": text})
            sent = {text: ((text, text), ("assistant", text))}
            own = VoteView(
                cast.model_copy(update=said), (text, text), text, {text: 0.5}, (len(text), 2 * len(text)), sent
            )
            about: dict[str, Any] = dict.fromkeys(
                ("name", "row", "criterion", "question", "selected", "gold", "cluster"), text
            )
            about |= {"context": {text: text}, "responses": {text: text}, "systems": (text,), "votes": (own,)}
            verdict = view.verdict.model_copy(update={"unscored_reason": text})
            yield replace(view, verdict=verdict, **about)


def test_hostile_texts_run_nothing_and_break_nothing(window):
    assert len(HOSTILE) == 40
    row = {"question": HOSTILE[0], HOSTILE[1]: HOSTILE[2]}
    hostile = evenhand.Criterion(name=HOSTILE[3], description=HOSTILE[4], options=[*map(_option, HOSTILE[:3])])
    real = evenhand.judge([row, row], hostile, runs.judge_of(HOSTILE[5]), response_fields=HOSTILE[1], **QUIET)
    held = {field.name: getattr(real, field.name) for field in fields(real)}
    results = Hostile(**{**held, "parameters": {**real.parameters, "judges": HOSTILE, "more": HOSTILE}})
    window.resize(1200)
    window.requests()
    shown_page(window, results, title=HOSTILE[0])
    window.wait_for("'searchable' in document.documentElement.dataset")
    assert window.run("return document.querySelectorAll('#tables tbody td').length") == len(HOSTILE)
    assert window.run("return document.querySelectorAll('script').length") == 2
    assert [name for name, _, _ in listed(window)] == [visible_line(text) for text in HOSTILE]
    for text in HOSTILE:
        name = visible_line(text)
        window.run("location.hash = '#verdict=' + encodeURIComponent(arguments[0])", name)
        label = "document.querySelector('#verdict').getAttribute('aria-label')"
        window.wait_for(f"{label} === 'Verdict ' + {json.dumps(name)} && document.querySelector('#verdict details')")
        window.run("document.querySelectorAll('#verdict details').forEach((each) => { each.open = true; })")
        window.wait_for("document.querySelectorAll('#verdict .message').length === 2")
        shown = visible(text.replace("\r\n", "\n"))
        texts = window.run("return [...document.querySelectorAll('#verdict .text')].map((each) => each.textContent)")
        # question, context, response, error beside them, reasons, reply, thinking, and what was sent
        assert texts == [shown, shown, shown, shown, shown + shown, shown, shown, shown]
        assert window.run("return document.querySelector('#verdict mark').textContent") == shown
        assert window.run("return document.documentElement.scrollWidth <= innerWidth"), text[:50]
    assert window.run("return typeof window.hit") == "undefined"
    assert window.run("return document.querySelectorAll('#verdict img, #verdict iframe, #verdict style').length") == 0
    assert [url for url in window.requests() if not url.startswith(("data:", "blob:", "file:"))] == []
    assert window.complaints() == []
    refused = "return fetch('http://127.0.0.1:9/').then(() => 'sent', () => 'refused')"
    assert window.run(refused) == "refused"
    assert any("Content Security Policy" in complaint for complaint in window.complaints())


def _option(text: str) -> evenhand.Option:
    return evenhand.Option(label=text, value=len(text) / 100)
