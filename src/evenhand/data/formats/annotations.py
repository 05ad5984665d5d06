"""Recorded preferences and grades of AlpacaEval, MT-Bench and Chatbot Arena as rows with the texts of the judges.

A row of a comparison has ``first`` and ``second`` (the systems), ``winner`` (a system, ``tie``, or None where there is
no verdict), ``vote`` (``first``, ``tie``, ``second`` or None) and ``judge``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from evenhand.errors import InvalidInputError
from evenhand.votes import is_missing

Row = Mapping[str, Any]
TIE = "tie"
FAILED = "$ERROR$"
"""What FastChat writes where its call of the judge brought no reply."""


def alpaca_eval_rows(records: Iterable[Mapping[str, Any]], what: str) -> list[Row]:
    """A row per annotation of AlpacaEval (``annotations.json``).

    Beside what rows of comparisons have: ``instruction``, ``dataset``, ``first_response``, ``second_response``,
    ``preference`` as it is (1 for the first output, 2 for the second, 1.5 or 0 for a tie, numbers between for weighted
    annotators) and ``reply``, the judge's text. That names the outputs by the places in which they were shown, in a
    random order that AlpacaEval does not record: it explains a vote, and cannot be read as one.

    Args:
        records: The annotations.
        what: The file, for messages.

    Raises:
        InvalidInputError: If a preference is none.
    """
    found: list[Row] = []
    for number, record in enumerate(records):
        preference, where = record.get("preference"), f"annotation {number} of {what}"
        vote = None if is_missing(preference) else _preferred(preference, where)
        first = str(record.get("generator_1") or "output_1")
        second = str(record.get("generator_2") or "output_2")
        if first == second:
            first, second = "output_1", "output_2"
        found.append(
            {
                "instruction": record.get("instruction"),
                "dataset": record.get("dataset"),
                **_verdict(vote, first, second),
                "first_response": record.get("output_1"),
                "second_response": record.get("output_2"),
                "judge": record.get("annotator"),
                "preference": None if is_missing(preference) else preference,
                "reply": _completion(record.get("raw_completion")),
            }
        )
    return found


def _preferred(preference: object, where: str) -> str:
    if isinstance(preference, bool) or not isinstance(preference, (int, float)):
        raise InvalidInputError(f"{where} has the preference {preference!r}; accepted: a number from 1 to 2, 0 or null")
    if preference in (0, 1.5):
        return TIE
    if not 1 <= preference <= 2:
        raise InvalidInputError(f"{where} has the preference {preference!r}; accepted: a number from 1 to 2, 0 or null")
    return "first" if preference < 1.5 else "second"


def _completion(completion: object) -> str | None:
    if completion is None or isinstance(completion, str):
        return completion
    text = completion.get("text") if isinstance(completion, Mapping) else None
    return text if isinstance(text, str) else json.dumps(completion, ensure_ascii=False)


def _verdict(vote: str | None, first: str, second: str) -> dict[str, Any]:
    winner = None if vote is None else {"first": first, "second": second, TIE: TIE}[vote]
    return {"first": first, "second": second, "winner": winner, "vote": vote}


_VOTES = {
    "model_1": "first",
    "model_2": "second",
    "model_a": "first",
    "model_b": "second",
    "tie": TIE,
    "tie (inconsistent)": TIE,
    "tie (bothbad)": TIE,
    "both_bad": TIE,
    "error": None,
}


def mt_bench_pair_rows(records: Iterable[Mapping[str, Any]], what: str) -> list[Row]:
    """Two rows per comparison that MT-Bench's ``gen_judgment.py`` recorded (``*_pair.jsonl``), one for each order.

    Beside what rows of comparisons have: ``id`` (the question's), ``turn``, ``pair`` (names the comparison, for
    ``id_field``), ``swapped`` (the second system was shown first), ``reply`` (the judge's text, which calls what was
    shown first A) and ``prompt`` (the name of the judge's prompt). Read them again with the options A (1), C (a tie,
    0.5) and B (0), ``id_field="pair"``, ``swapped_field="swapped"`` and ``judge_field="judge"``.

    Args:
        records: The judgements.
        what: The file, for messages.

    Raises:
        InvalidInputError: If a winner is none.
    """
    found: list[Row] = []
    for number, record in enumerate(records):
        judge, prompt = _judge(record.get("judge"))
        first, second = str(record["model_1"]), str(record["model_2"])
        about = {"id": record.get("question_id"), "turn": record.get("turn", 1)}
        pair = "/".join(map(str, (*about.values(), first, second, prompt)))
        rated = "m1_score" in record  # each response was graded alone, once: the replies compare nothing
        for game, swapped in (("g1", False), ("g2", True))[: 1 if rated else 2]:
            vote = _vote(record.get(f"{game}_winner"), f"{game}_winner", f"line {number + 1} of {what}")
            reply = None if rated else record.get(f"{game}_judgment")
            found.append(
                {
                    **about,
                    "pair": pair,
                    "swapped": swapped,
                    **_verdict(vote, first, second),
                    "judge": judge,
                    "prompt": prompt,
                    "reply": None if reply == FAILED else reply,
                }
            )
    return found


def mt_bench_single_rows(records: Iterable[Mapping[str, Any]], what: str) -> list[Row]:  # noqa: ARG001 - as the others
    """A row per grade that MT-Bench's ``gen_judgment.py`` recorded (``*_single.jsonl``).

    A row has ``id`` (the question's), ``turn``, ``system``, ``judge``, ``prompt`` (the name of the judge's prompt),
    ``score`` (1 to 10; None where MT-Bench read none, which it writes as -1) and ``reply``, the judge's text.
    """
    found: list[Row] = []
    for record in records:
        judge, prompt = _judge(record.get("judge"))
        score, reply = record.get("score"), record.get("judgment")
        found.append(
            {
                "id": record.get("question_id"),
                "turn": record.get("turn", 1),
                "system": record.get("model"),
                "judge": judge,
                "prompt": prompt,
                "score": None if score == -1 else score,
                "reply": None if reply == FAILED else reply,
            }
        )
    return found


def arena_rows(records: Iterable[Mapping[str, Any]], what: str) -> list[Row]:
    """A row per preference of MT-Bench's people, its published GPT-4 votes, or Chatbot Arena (``model_a``, ``winner``).

    Beside what rows of comparisons have: ``id`` (the question's) and ``turn``.

    Raises:
        InvalidInputError: If a winner is none.
    """
    found: list[Row] = []
    for number, record in enumerate(records):
        vote = _vote(record.get("winner"), "winner", f"row {number} of {what}")
        judge, _ = _judge(record.get("judge"))
        found.append(
            {
                "id": record.get("question_id"),
                "turn": record.get("turn", 1),
                **_verdict(vote, str(record["model_a"]), str(record["model_b"])),
                "judge": judge,
            }
        )
    return found


def _judge(judge: object) -> tuple[str | None, str | None]:
    """The judge, and the name of its prompt."""
    if isinstance(judge, (list, tuple)) and len(judge) == 2:
        return str(judge[0]), str(judge[1])
    return None if judge is None else str(judge), None


def _vote(winner: object, field: str, where: str) -> str | None:
    if is_missing(winner):
        return None
    if str(winner) not in _VOTES:
        raise InvalidInputError(f"{where} has the {field} {winner!r}; accepted: {', '.join(map(repr, _VOTES))}")
    return _VOTES[str(winner)]
