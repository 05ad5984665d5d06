"""Recorded preferences and grades of AlpacaEval, MT-Bench and Chatbot Arena as rows with the texts of the judges.

A row of a comparison has ``first`` and ``second`` (the systems), ``winner`` (a system, ``tie``, or None where there is
no verdict), ``vote`` (``first``, ``tie``, ``second`` or None) and ``judge``.

:func:`read_log` tells by its shape which tool wrote a file, these and those of :mod:`evenhand.data.formats.logs`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from evenhand.data.formats.logs import lm_eval_rows
from evenhand.data.formats.translation import OTHER_SHAPE
from evenhand.data.rows import Row, read_rows
from evenhand.errors import InvalidInputError
from evenhand.votes import is_missing

TIE = "tie"
FAILED = "$ERROR$"
"""What FastChat writes where its call of the judge brought no reply."""


def alpaca_eval_rows(records: Iterable[Mapping[str, Any]], what: str) -> list[Row]:
    """A row per annotation of AlpacaEval (``annotations.json``).

    Beside what rows of comparisons have: ``instruction``, ``dataset``, ``first_response``, ``second_response``,
    ``preference`` as it is (1 for the first output, 2 for the second, 1.5 or 0 for a tie, numbers between for
    weighted annotators), ``swapped`` (None: not known) and ``reply``, the judge's text. That names the outputs by
    the places in which they were shown, in a random order that AlpacaEval does not record: it explains a vote, and
    cannot be read as one.

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
                "swapped": None,  # it is not recorded
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


def _as_read(rows: Iterable[Row], what: str) -> list[Row]:  # noqa: ARG001 - as the other readers
    return list(rows)


SHAPES: tuple[tuple[str, frozenset[str], Callable[[Iterable[Row], str], list[Row]]], ...] = (
    ("samples of inspect_ai (.eval, .json)", frozenset({"id", "epoch", "output", "scores"}), _as_read),
    ("samples of lm-eval (samples_*.jsonl)", frozenset({"doc", "resps", "filtered_resps"}), lm_eval_rows),
    (
        "annotations of AlpacaEval (annotations.json)",
        frozenset({"instruction", "output_1", "output_2", "preference"}),
        alpaca_eval_rows,
    ),
    (
        "comparisons of MT-Bench (*_pair.jsonl)",
        frozenset({"model_1", "model_2", "g1_winner", "g2_winner"}),
        mt_bench_pair_rows,
    ),
    (
        "grades of MT-Bench (*_single.jsonl)",
        frozenset({"question_id", "model", "judgment", "score"}),
        mt_bench_single_rows,
    ),
    ("preferences of MT-Bench's people or of Chatbot Arena", frozenset({"model_a", "model_b", "winner"}), arena_rows),
)
"""What a file holds, the columns by which it is known, and its reader."""


def read_log(source: object) -> list[Row]:
    """The rows of another tool's log, which is recognised by its shape; the tool need not be installed.

    - inspect_ai, ``.eval`` and ``.json``: :func:`~evenhand.data.formats.logs.inspect_rows`
    - lm-eval, ``samples_*.jsonl``: :func:`~evenhand.data.formats.logs.lm_eval_rows`
    - AlpacaEval, ``annotations.json``: :func:`~evenhand.data.formats.annotations.alpaca_eval_rows`
    - MT-Bench, ``*_pair.jsonl``: :func:`~evenhand.data.formats.annotations.mt_bench_pair_rows`; ``*_single.jsonl``:
      :func:`~evenhand.data.formats.annotations.mt_bench_single_rows`; votes of people, and those of Chatbot Arena:
      :func:`~evenhand.data.formats.annotations.arena_rows`

    Args:
        source: The path of the file (``.gz`` too), or its rows as a data set, a data frame or a list.

    Raises:
        InvalidInputError: If it cannot be read, or has no shape that is known, or not throughout.
    """
    rows = read_rows(source)
    what = repr(str(source)) if isinstance(source, (str, Path)) else "the log"
    for name, columns, reader in SHAPES:
        if columns <= rows[0].keys():
            try:
                return reader(rows, what)
            except OTHER_SHAPE as error:
                raise InvalidInputError(
                    f"{what} begins as {name}, but not all of it has that shape: {type(error).__name__}: {error}"
                ) from error
    known = "; ".join(f"{name}: {', '.join(sorted(columns))}" for name, columns, _ in SHAPES)
    raise InvalidInputError(
        f"{what} has the columns {list(rows[0])!r}, by which no log is known. Known by their columns are {known}. Rows "
        "of any other shape are data as they are, without read_log"
    )
