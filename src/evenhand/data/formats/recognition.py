"""Which tool wrote a file, by its shape; and its rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from evenhand.data.formats.annotations import (
    alpaca_eval_rows,
    arena_rows,
    mt_bench_pair_rows,
    mt_bench_single_rows,
)
from evenhand.data.formats.logs import lm_eval_rows
from evenhand.data.rows import Row, read_rows
from evenhand.errors import InvalidInputError


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
        InvalidInputError: If it cannot be read, or has no shape that is known.
    """
    rows = read_rows(source)
    what = repr(str(source)) if isinstance(source, (str, Path)) else "the log"
    for _, columns, reader in SHAPES:
        if columns <= rows[0].keys():
            return reader(rows, what)
    known = "; ".join(f"{name}: {', '.join(sorted(columns))}" for name, columns, _ in SHAPES)
    raise InvalidInputError(
        f"{what} has the columns {list(rows[0])!r}, by which no log is known. Known by their columns are {known}. Rows "
        "of any other shape are data as they are, without read_log"
    )
