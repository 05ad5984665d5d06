"""How replies are read: same, inverted, believed and unscored, on recorded replies and on cases written for it.

``python -m benchmarks.reading`` prints a Markdown table; ``--show`` adds the replies that are read wrong. Recorded data
that is not there is left out. *Inverted* is a stated verdict read as another one; *believed* is a verdict read where
the reply states none; *unscored* is a stated verdict that is in none of the forms. ``--check`` exits with 1 where a set
is outside the limits of the contract.
"""

import argparse
import gzip
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator

from evenhand.parsing import compile_pattern, match_closest_option, match_pattern
from tests.support.renamed_cases import renamed_cases
from tests.support.shared import shared_root

FINISH = {"length": "length", "content management policy": "content_filter"}
RENAMED = (
    ("correct", "incorrect"),
    ("Correct", "Not correct"),
    ("CORRECT", "INCORRECT"),
    ("valid", "invalid"),
    ("relevant", "irrelevant"),
    ("faithful", "unfaithful"),
    ("Fully met", "Not met"),
    ("Good", "Bad"),
    ("accurate", "inaccurate"),
    ("Satisfactory", "Unsatisfactory"),
    ("true", "false"),
)
TAGS = compile_pattern(r"\[\[([ABC])\]\]")
PROSE = {"CoT", "Swap", "Swap_CoT"}
"""LLMBar's prompts that ask for reasons; all others, and the second question of Swap, ask for the label alone."""
LIMITS = {  # least share read the same, most believed; nothing may be inverted
    "LLMBar, label alone": (0.985, 0),
    "MT-bench": (0.99, 10),
    "MT-bench, pattern": (0.995, 32),
    "cases": (0.0, 0),
    "openqa": (0.0, 0),
}
Row = tuple[str, str, tuple[str, ...], str | None, int | None]  # set, reply, labels, finish reason, index stated


def recorded(name: str) -> list[dict[str, object]]:
    """The rows of a recorded set, none where it is absent."""
    path = shared_root() / "data" / name
    if not path.exists():
        return []
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def rename(text: str, positive: str, negative: str) -> str:
    """The reply with its words for correct and incorrect replaced."""
    text = re.sub(r"\bincorrect\b", "\0", text).replace("Incorrect", "\0")
    text = re.sub(r"\b[Cc]orrect\b", positive.lower(), text)
    return text.replace("\0", negative.lower())


def openqa() -> Iterator[Row]:
    """The recorded prose verdicts under other labels; states a verdict in their words where a simple reader sees it."""
    rows = recorded("openqa_replies_dev.jsonl.gz")
    for row in rows:
        yield "openqa Yes/No", str(row["text"]), ("Yes", "No"), None, 0 if row["says"] == "yes" else 1
    for positive, negative in RENAMED:
        for row in rows:
            reply = rename(str(row["text"]), positive, negative)
            says = 0 if row["says"] == "yes" else 1
            yield f"openqa {positive}/{negative}", reply, (positive, negative), None, says


def pairwise() -> Iterator[Row]:
    """The recorded pairwise replies, as their authors read them."""
    for row in recorded("llmbar_raw_completions.jsonl.gz"):
        says = None if row["parsed"] is None else "ab".index(str(row["parsed"]))
        name = "LLMBar, prose" if row["st"] in PROSE else "LLMBar, label alone"
        yield name, str(row["text"]), ("Output (a)", "Output (b)"), FINISH.get(str(row["fin"])), says
    for row in recorded("posbias_mtbench_raw.jsonl.gz"):
        says = "ABC".index(str(row["parsed"])) if str(row["parsed"]) in "ABC" and row["parsed"] else None
        yield "MT-bench", str(row["text"]), ("A", "B", "C"), None, says
        yield "MT-bench, pattern", str(row["text"]), ("A", "B", "C"), None, says


def cases() -> Iterator[Row]:
    """The written cases, under each of their label sets."""
    for desc, reply, labels, says in renamed_cases():
        yield f"cases: {desc.partition(':')[0]}", reply, labels, None, says


def outcome(row: Row) -> str:
    """How the reader fares with one reply."""
    name, reply, labels, finish, says = row
    if name.endswith("pattern"):
        index = match_pattern(reply, labels, TAGS).index
    else:
        index = match_closest_option(reply, labels, finish_reason=finish).index
    if says is None:
        return "same" if index is None else "believed"
    return "same" if index == says else "unscored" if index is None else "inverted"


def main(arguments: Iterable[str] | None = None) -> None:
    """Read everything and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--show", action="store_true", help="print the replies that are not read as stated")
    parser.add_argument("--check", action="store_true", help="exit with 1 where a set is outside its limits")
    parser.add_argument("--only", default="", help="sets whose name begins so")
    options = parser.parse_args(None if arguments is None else list(arguments))
    known: dict[Row, str] = {}
    counts: dict[str, Counter[str]] = {}
    for rows in (cases(), openqa(), pairwise()):
        for row in rows:
            if not row[0].startswith(options.only):
                continue
            if row not in known:
                known[row] = outcome(row)
                if options.show and known[row] != "same":
                    print(known[row], row[0], row[2], repr(row[1][:300]))
            counts.setdefault(row[0], Counter())[known[row]] += 1
    print("| set | replies | same | inverted | believed | unscored |")
    print("|---|---|---|---|---|---|")
    for name, counted in counts.items():
        total = counted.total()
        shares = [f"{counted[kind]} ({counted[kind] / total:.2%})" for kind in ("same", "inverted", "believed")]
        print(
            f"| {name} | {total} | {' | '.join(shares)} | {counted['unscored']} ({counted['unscored'] / total:.2%}) |"
        )
    if options.check and (broken := [name for name, counted in counts.items() if not within(name, counted)]):
        raise SystemExit(f"outside the limits: {', '.join(broken)}")


def within(name: str, counted: Counter[str]) -> bool:
    """Whether a set is read within its limits."""
    least, most = LIMITS.get(name) or LIMITS.get(re.split(r"[ :]", name)[0], (0.0, counted.total()))
    return not counted["inverted"] and counted["believed"] <= most and counted["same"] >= least * counted.total()


if __name__ == "__main__":
    main()
