"""The demonstration data: 48 prompts, the responses of three systems, references, gold labels, and a checklist."""

import json
from importlib import resources
from typing import Any

from evenhand.criteria import Checklist, Scale
from evenhand.data.documents import read_checklist
from evenhand.data.plain import parse_json

SYSTEMS = ("alder", "birch", "cedar")
CRITERIA = ("criteria.evenhand.direct.relevance", "criteria.evenhand.direct.correctness")
COMPARISON = "criteria.evenhand.pairwise.overall_quality"
SCALES: tuple[Scale, ...] = ("ordinal", "pairwise")
"""Of the criteria and of the comparison."""

GOLD_PREFERENCE = "preferred_{first}_{second}"
GOLD_FIELDS = {"relevance": "{system}_relevance", "correctness": "{system}_correctness"}


def load_rows() -> list[dict[str, Any]]:
    """Return the rows; the README next to the data says what each column holds."""
    text = resources.files(__name__).joinpath("prompts.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def load_demo_checklist() -> Checklist:
    """Eight questions that fit every prompt."""
    text = resources.files(__name__).joinpath("checklist.json").read_text(encoding="utf-8")
    return read_checklist(parse_json(text, "the checklist of the demonstration"), "the checklist of the demonstration")
