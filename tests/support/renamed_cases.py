"""The cases of ``parsing_renamed_cases.jsonl``: replies with places for labels, read under many sets of labels."""

import json
from collections.abc import Iterator
from pathlib import Path

LEVELS = (
    ("Excellent", "Acceptable", "Bad"),
    ("Excellent", "Mediocre", "Very Bad"),
    ("Flawless", "Laboured", "Barely readable"),
    ("Seamless", "Hard to follow", "Incoherent"),
    ("Fully correct", "Partly wrong", "Wrong"),
    ("correct", "partially_correct", "incorrect"),
    ("Civil", "Rude", "Hateful"),
    ("5", "3", "1"),
)
PAIRS = (
    ("correct", "incorrect"),
    ("Correct", "Not correct"),
    ("CORRECT", "INCORRECT"),
    ("valid", "invalid"),
    ("relevant", "irrelevant"),
    ("faithful", "unfaithful"),
    ("Accurate", "Inaccurate"),
    ("Good", "Bad"),
    ("Compliant", "Non-compliant"),
)
SIDES = (
    ("A", "B", "tie"),
    ("Response A", "Response B", "Tie"),
    ("Output (a)", "Output (b)", "Tie"),
    ("Assistant 1", "Assistant 2", "Tie"),
)
CANDIDATES = (
    ("Option 1", "Option 2", "Option 3"),
    ("Response A", "Response B", "Response C"),
    ("Candidate 1", "Candidate 2", "Candidate 3"),
)
SETS = {
    "levels": (("best", "mid", "worst"), LEVELS),
    "pairs": (("yes", "no"), PAIRS),
    "yes_no": (("yes", "no"), (("Yes", "No"),)),
    "sides": (("a", "b", "tie"), SIDES),
    "best_of": (("first", "second", "third"), CANDIDATES),
}


def renamed_cases() -> Iterator[tuple[str, str, tuple[str, ...], int | None]]:
    """Each case under each set of labels: what it is, the reply, the labels, and the index that it states."""
    file = Path(__file__).parents[1] / "parsing_renamed_cases.jsonl"
    for line in file.read_text("utf-8").splitlines():
        case = json.loads(line)
        roles, sets = SETS[case["grammar"]]
        for labels in sets:
            names = dict(zip(roles, labels, strict=True))
            bare = [label.split()[-1].strip("()") for label in labels]
            reply = case["reply"].format(**names, la=bare[0], lb=bare[1], l2=bare[1])
            says = None if case["says"] is None else roles.index(case["says"])
            yield f"{case['desc']} / {labels[0]}", reply, labels, says
