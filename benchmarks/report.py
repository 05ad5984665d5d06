"""A report of 10,000 rows × 4 systems: how large it is, how fast it is made, opened, filtered and searched.

    python -m benchmarks.report [rows] [folder]

Chromium opens the file as a user would; times are those that the page itself measures, from the start of navigation to
the first list, and from a change of a filter to the list that is painted.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import evenhand
from evenhand.engines.simulated import SimulatedEngine
from evenhand.numbers import format_bytes, format_count, format_number
from tests.support import browser

SYSTEMS = ["alder", "birch", "cedar", "dogwood"]
LETTERS = random.Random(1)
WORDS = ["".join(LETTERS.choices("aeiouabcdefghijklmnopqrstuvwxyz", k=LETTERS.randint(2, 10))) for _ in range(5_000)]
"""So many, or the texts would be packed far smaller than those of people."""

PAINTED = """
const [done] = [arguments[arguments.length - 1]];
const begun = performance.now();
%s
const told = () => requestAnimationFrame(() => setTimeout(() => done(performance.now() - begun)));
const wait = () => (%s ? told() : setTimeout(wait, 1));
wait();
"""


def text(seed: random.Random, words: int) -> str:
    return " ".join(seed.choices(WORDS, k=words)).capitalize() + "."


def rows(number: int) -> list[dict[str, Any]]:
    seed = random.Random(0)
    return [
        {"question": text(seed, 15), "context": text(seed, 100), **{name: text(seed, 80) for name in SYSTEMS}}
        for _ in range(number)
    ]


def measured(window: browser.Browser, change: str, ready: str = "true") -> float:
    found = window.ask("POST", "/execute/async", {"script": PAINTED % (change, ready), "args": []})
    return float(found)


def main() -> None:
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    folder = Path(sys.argv[2] if len(sys.argv) > 2 else tempfile.mkdtemp())
    saved, page = folder / f"run-{number}.parquet", folder / "report.html"
    if not saved.exists():
        judge = SimulatedEngine(name="simulated", position_preference=0.4, noise=0.2, refusal_rate=0.01)
        how: dict[str, Any] = {"flow": "one_step", "progress": False, "journal": None, "max_failure_rate": 1.0}
        criterion = "criteria.evenhand.direct.relevance"
        fields = ["question", "context"]
        evenhand.judge(rows(number), criterion, judge, response_fields=SYSTEMS, context_fields=fields, **how).save(
            saved
        )
    results = evenhand.open(saved)
    begun = time.perf_counter()
    results.to_html(page)
    took = format_number(time.perf_counter() - begun, digits=1)
    size, of_run = (format_bytes(path.stat().st_size) for path in (page, saved))
    print(f"{format_count(number)} rows × {len(SYSTEMS)} systems, 2 orders: {size}, made in {took} s of {of_run}")
    with browser.browser(folder, width=1400) as window:
        window.ask("POST", "/timeouts", {"script": 120_000})
        opened = []
        for _ in range(3):
            window.open(page)
            listed = "document.querySelector('#list a')"
            measured(window, "", listed)
            opened.append(float(window.run("return performance.getEntriesByName('listed')[0].startTime")))
        print(f"open to the first list: {format_number(sorted(opened)[1] / 1000)} s (median of 3)")
        change = (
            "const field = document.querySelector('#{0}'); field.{1};"
            "field.dispatchEvent(new Event('{2}', {{bubbles: true}}));"
        )
        filters = {
            "filter by system": ("system", "value = '2'", "change"),
            "filter by level": ("level", "value = '1'", "change"),
            "sort by agreement": ("sort", "value = '2'", "change"),
        }
        for name, (field, value, event) in filters.items():
            print(f"{name}: {format_number(measured(window, change.format(field, value, event)), digits=0)} ms")
        searchable = measured(window, "", "'searchable' in document.documentElement.dataset")
        print(f"all texts read for searching, in the background: {format_number(searchable / 1000)} s more")
        for wanted in (WORDS[7], f"{WORDS[7]} {WORDS[8]}", "no such words"):
            told = change.format("search", f"value = '{wanted}'", "input")
            print(
                f"search for {wanted!r}: {format_number(measured(window, told), digits=0)} ms: {window.text('#count')}"
            )


if __name__ == "__main__":
    main()
