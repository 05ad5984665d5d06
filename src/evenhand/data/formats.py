"""Files of other tools: logs and recorded preferences as rows of data, rubrics and checklists as documents.

Logs and recorded preferences:

- inspect_ai and lm-eval: what was asked, the texts of the replies, and the scores that the tool gave them.
- AlpacaEval, MT-Bench and Chatbot Arena: a row of a comparison has ``first`` and ``second`` (the systems), ``winner``
  (a system, ``tie``, or None if there is no verdict), ``vote`` (``first``, ``tie``, ``second`` or None) and
  ``judge``.

Rubrics, checklists and criteria, read into the plain data of our own documents:

- autorubric (https://pypi.org/project/autorubric): a list of criteria, or a mapping that holds one under ``rubric``,
  ``sections`` or ``criteria``. A criterion without options is met, not met, or cannot be assessed; a missing weight is
  10. evenhand's own form has ``requirement`` and ``scale_type`` too, so a file is autorubric's if every criterion in it
  is a mapping with a ``requirement`` and nothing in it is only ours: a name of the rubric, a text as a criterion, an
  option with a description, an option that is not NA and has no value in [0, 1].
- autochecklist (https://pypi.org/project/autochecklist): a checklist with ``source_method`` or ``generation_level``,
  or whose items have an ``id``; or what its generators reply, ``{"questions": […]}``. A missing weight is 100.
- EvalAssist (https://github.com/IBM/eval-assist): a criterion whose options have scores; one without options is for
  comparisons.
- HealthBench (arXiv:2505.08775, section 3): ``rubrics``, a list of ``{criterion, points, tags}``. The score is the
  points that are met divided by all positive points, and only the mean over rows is clipped.
- PaperBench (arXiv:2504.01848, section 2): a tree of ``{id, requirements, weight, sub_tasks}``, whose leaves are met or
  not and whose inner scores are weighted means.
- BiGGen Bench (arXiv:2406.05761) and Prometheus (arXiv:2310.08491): ``criteria`` with ``score1_description`` to
  ``score5_description``, one ordinal criterion.
- WildBench (arXiv:2406.04770): a row with a ``checklist`` of questions.
"""

from __future__ import annotations

import json
import os
import re
import warnings
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import ZIP_STORED, BadZipFile, ZipFile

import pyarrow

from evenhand.data.fields import field_or
from evenhand.errors import EvenhandWarning, InvalidCriterionError, InvalidInputError
from evenhand.files import check_growth, open_file
from evenhand.votes import is_missing

Row = Mapping[str, Any]

ZSTANDARD = 93
"""The number of the compression in a zip archive, which Python's ``zipfile`` reads from 3.14 on."""

_ATTACHMENT = "attachment://"
_FINISH_REASONS = {"max_tokens": "length", "model_length": "length"}


@contextmanager
def _checked_shape(what: str, holds: str, kind: type[InvalidInputError] = InvalidInputError) -> Iterator[None]:
    """Refuse data that are recognised by their shape, and have another one further down."""
    try:
        yield
    except (AttributeError, KeyError, TypeError) as error:
        raise kind(
            f"{what} begins as {holds}, but not all of it has that shape: {type(error).__name__}: {error}"
        ) from error


def is_inspect_log(data: object) -> bool:
    """Return whether a JSON object is a log of inspect_ai."""
    return isinstance(data, Mapping) and {"eval", "status", "version"} <= data.keys()


def inspect_rows(path: Path, log: Mapping[str, Any] | None = None) -> list[Row]:
    """Return a row per sample and epoch of a log of inspect_ai, ``.eval`` or ``.json``, in the order of its data set.

    A row has ``id``, ``epoch``, ``task``, ``model``, ``input``, ``choices``, ``target``, ``output`` (the model's text),
    ``reasoning``, ``finish_reason``, ``error``, ``metadata`` and ``scores``: scorer -> ``value``, ``answer``,
    ``explanation`` and ``metadata``. The reply of a model that graded is ``scores/<scorer>/explanation``.

    Args:
        path: The file.
        log: Its content where it is one JSON text; None for an archive, which is read.

    Raises:
        InvalidInputError: If the file is damaged, or holds something else than samples.
    """
    header, samples = _read_archive(path) if log is None else (log, list(log.get("samples") or ()))
    spec = header.get("eval") or {}
    with _checked_shape(repr(str(path)), "a log of inspect_ai"):
        order = {str(name): place for place, name in enumerate((spec.get("dataset") or {}).get("sample_ids") or ())}
        samples.sort(key=lambda sample: (order.get(str(sample.get("id")), len(order)), sample.get("epoch", 1)))
        return [_inspect_row(sample, spec) for sample in samples]


def _read_archive(path: Path) -> tuple[Mapping[str, Any], list[dict[str, Any]]]:
    """Return the header and the samples; a log that was not finished has no header."""
    try:
        with open_file(path) as file, ZipFile(file) as archive:
            check_growth(os.fstat(file.fileno()).st_size, sum(info.file_size for info in archive.infolist()))
            names = list(dict.fromkeys(archive.namelist()))
            header = _member(archive, "header.json") if "header.json" in names else {}
            samples = [name for name in names if name.startswith("samples/") and name.endswith(".json")]
            return header, [_member(archive, name) for name in samples]
    except (BadZipFile, EOFError, NotImplementedError, OSError, RecursionError, zlib.error, ValueError) as error:
        raise InvalidInputError(
            f"{str(path)!r} is not a whole log of inspect_ai ({error}): 'inspect log convert --to json' writes it anew"
        ) from error


def _member(archive: ZipFile, name: str) -> Any:  # noqa: ANN401 - JSON
    info = archive.getinfo(name)
    if info.compress_type != ZSTANDARD:
        return json.loads(archive.read(info))
    stored = copy(info)
    stored.compress_type, stored.file_size = ZIP_STORED, info.compress_size
    stored.CRC = None  # type: ignore[assignment] # not checked: it is that of the decompressed data
    with archive.open(stored) as packed, pyarrow.CompressedInputStream(packed, "zstd") as stream:
        data: bytes = stream.read(info.file_size + 1)
    if zlib.crc32(data) != info.CRC:
        raise ValueError(f"{name!r} is damaged")
    return json.loads(data)


def _inspect_row(sample: Mapping[str, Any], spec: Mapping[str, Any]) -> dict[str, Any]:
    sample = _with_attachments(sample, sample.get("attachments") or {})
    text, reasoning = _text_and_reasoning(field_or(sample, "output/choices/0/message/content"))
    reason, given = field_or(sample, "output/choices/0/stop_reason"), sample.get("input")
    if not isinstance(given, str):
        given = [
            {"role": each.get("role"), "content": _text_and_reasoning(each.get("content"))[0]} for each in given or ()
        ]
    return {
        **{name: sample.get(name) for name in ("id", "choices", "target")},
        "epoch": sample.get("epoch", 1),
        "task": spec.get("task"),
        "model": field_or(sample, "output/model") or spec.get("model"),
        "input": given,
        "output": text,
        "reasoning": reasoning,
        "finish_reason": _FINISH_REASONS.get(reason, reason) if isinstance(reason, str) else None,
        "error": field_or(sample, "error/message", sample.get("error")),
        "metadata": sample.get("metadata") or {},
        "scores": {
            scorer: {name: (score or {}).get(name) for name in ("value", "answer", "explanation", "metadata")}
            for scorer, score in (sample.get("scores") or {}).items()
        },
    }


def _with_attachments(value: Any, attachments: Mapping[str, str]) -> Any:  # noqa: ANN401 - JSON
    """Return the value with long texts, which are stored once in the attachments, in their places."""
    if isinstance(value, str):
        return attachments.get(value.removeprefix(_ATTACHMENT), value) if value.startswith(_ATTACHMENT) else value
    if isinstance(value, Mapping):
        skipped = {"attachments", "events", "events_data", "messages"}
        return {name: _with_attachments(each, attachments) for name, each in value.items() if name not in skipped}
    return [_with_attachments(each, attachments) for each in value] if isinstance(value, list) else value


def _text_and_reasoning(content: object) -> tuple[str | None, str | None]:
    if not isinstance(content, list):
        return (content if isinstance(content, str) else None), None
    parts = [part for part in content if isinstance(part, Mapping)]
    texts = [part["text"] for part in parts if isinstance(part.get("text"), str)]
    thoughts = [part["reasoning"] for part in parts if part.get("reasoning")]
    return ("\n".join(texts) if texts else None), ("\n".join(thoughts) or None)


_LM_EVAL_FIELDS = frozenset(
    {"doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics"}
    | {"doc_hash", "prompt_hash", "target_hash"}
)


def lm_eval_rows(records: Sequence[Row], what: str) -> list[Row]:
    """Return a row per document and draw of the samples that lm-eval logs (``samples_*.jsonl``).

    A row has ``id`` (the document's), ``sample`` (0 for the first draw), ``doc``, ``input`` (the prompt), ``target``,
    ``output`` (the model's text), ``filtered`` (filter -> what it made of the replies) and ``metrics`` (filter ->
    metric -> value). A task with several filters logs each document once per filter; the replies are the same.

    Args:
        records: The lines.
        what: The name of the file in messages.

    Raises:
        InvalidInputError: If the samples have no texts, because choices were compared by their likelihood.
    """
    found: dict[Any, dict[str, Any]] = {}
    for number, record in enumerate(records):
        document = record.get("doc_id", number)
        if document not in found:
            replies = list(_texts(record.get("resps")))
            if not replies:
                raise InvalidInputError(
                    f"line {number + 1} of {what} has no reply text in 'resps': its task compares the likelihoods of "
                    "choices, and there is nothing to read"
                )
            found[document] = {
                "id": document,
                "doc": record.get("doc"),
                "input": next(_texts(record.get("arguments")), None),
                "target": record.get("target"),
                "output": replies,
                "filtered": {},
                "metrics": {},
            }
        row, name, filtered = found[document], str(record.get("filter", "none")), record.get("filtered_resps")
        row["filtered"][name] = filtered[0] if isinstance(filtered, list) and len(filtered) == 1 else filtered
        row["metrics"][name] = {key: value for key, value in record.items() if key not in _LM_EVAL_FIELDS}
    return [
        {**row, "sample": sample, "output": text} for row in found.values() for sample, text in enumerate(row["output"])
    ]


def _texts(value: object) -> Iterator[str]:
    """Yield the texts in nested lists and mappings."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Sequence | Mapping):
        for each in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(each)


TIE = "tie"
FAILED = "$ERROR$"
"""The text that FastChat writes if the judge gave no reply."""

_WINNERS = {"model_1": "first", "model_2": "second", "model_a": "first", "model_b": "second", "error": None}
_WINNERS |= dict.fromkeys(("tie", "tie (inconsistent)", "tie (bothbad)", "both_bad"), TIE)


def alpaca_eval_rows(records: Sequence[Row], what: str) -> list[Row]:
    """Return a row per annotation of AlpacaEval (``annotations.json``).

    In addition to the columns of a comparison it has ``instruction``, ``dataset``, ``first_response``,
    ``second_response``, ``preference`` as it is (1 for the first output, 2 for the second, 1.5 or 0 for a tie, numbers
    between for weighted annotators), ``swapped`` (None: not known) and ``reply``, the judge's text. The reply names the
    outputs by the places in which they were shown, in a random order that AlpacaEval does not record: it explains a
    vote, and cannot be read as one.

    Args:
        records: The annotations.
        what: The name of the file in messages.

    Raises:
        InvalidInputError: If a preference is not valid.
    """
    found: list[Row] = []
    for number, record in enumerate(records):
        names = [str(record.get(f"generator_{place}") or f"output_{place}") for place in (1, 2)]
        reply = field_or(record, "raw_completion/text", record.get("raw_completion"))
        found.append(
            {
                **{name: record.get(name) for name in ("instruction", "dataset", "preference")},
                **_comparison(
                    record.get("preference"), f"annotation {number} of {what} has the preference", *names, numbers=True
                ),
                "first_response": record.get("output_1"),
                "second_response": record.get("output_2"),
                "swapped": None,  # not known: no vote is for a place
                "judge": record.get("annotator"),
                "reply": reply if reply is None or isinstance(reply, str) else json.dumps(reply, ensure_ascii=False),
            }
        )
    return found


def mt_bench_pair_rows(records: Sequence[Row], what: str) -> list[Row]:
    """Return two rows per comparison of MT-Bench's ``gen_judgment.py`` (``*_pair.jsonl``), one for each order.

    In addition to the columns of a comparison they have ``id`` (the question's), ``turn``, ``pair`` (names the
    comparison, for ``id_field``), ``swapped`` (the second system was shown first), ``reply`` (the judge's text, in
    which A is what was shown first) and ``prompt`` (the name of the judge's prompt). Read them again with the options
    A (1), C (a tie, 0.5) and B (0), ``id_field="pair"``, ``swapped_field="swapped"`` and ``judge_field="judge"``.

    Args:
        records: The judgements.
        what: The name of the file in messages.

    Raises:
        InvalidInputError: If a winner is not known.
    """
    found: list[Row] = []
    for number, record in enumerate(records):
        shared, pair = _mt_bench_columns(record), (str(record["model_1"]), str(record["model_2"]))
        shared["pair"] = "/".join(map(str, (shared["id"], shared["turn"], *pair, shared["prompt"])))
        is_rated = "m1_score" in record  # each response was graded alone, once: the replies compare nothing
        for game, swapped in (("g1", False), ("g2", True))[: 1 if is_rated else 2]:
            winner = f"{game}_winner"
            compared = _comparison(record.get(winner), f"line {number + 1} of {what} has the {winner}", *pair)
            reply = None if is_rated else record.get(f"{game}_judgment")
            found.append({**shared, "swapped": swapped, **compared, "reply": None if reply == FAILED else reply})
    return found


def arena_rows(records: Sequence[Row], what: str) -> list[Row]:
    """Return a row per preference of MT-Bench's people, its published GPT-4 votes, or Chatbot Arena.

    In addition to the columns of a comparison it has ``id`` (the question's), ``turn`` and ``prompt``.

    Raises:
        InvalidInputError: If a winner is not known.
    """
    return [
        {
            **_mt_bench_columns(record),
            **_comparison(
                record.get("winner"),
                f"row {number} of {what} has the winner",
                str(record["model_a"]),
                str(record["model_b"]),
            ),
        }
        for number, record in enumerate(records)
    ]


def _mt_bench_columns(record: Row) -> dict[str, Any]:
    judge, prompt = record.get("judge"), None
    if isinstance(judge, (list, tuple)) and len(judge) == 2:
        judge, prompt = judge[0], str(judge[1])
    judge = None if judge is None else str(judge)
    return {"id": record.get("question_id"), "turn": record.get("turn", 1), "judge": judge, "prompt": prompt}


def _comparison(given: object, has: str, first: str, second: str, *, numbers: bool = False) -> dict[str, Any]:
    """Return the columns of a comparison.

    Args:
        given: The winner by its place.
        has: The beginning of a message about it.
        first: The first system.
        second: The second system.
        numbers: The winner is given as a preference from 1 to 2; elsewhere a number could be any code.
    """
    vote = None
    if numbers and isinstance(given, int | float) and not isinstance(given, bool) and (given == 0 or 1 <= given <= 2):
        vote = "first" if given < 1.5 else "second"
        if given in (0, 1.5):
            vote = TIE
    elif not numbers and isinstance(given, str) and given in _WINNERS:
        vote = _WINNERS[given]
    elif not is_missing(given):
        accepted = "a number from 1 to 2, 0 or null" if numbers else ", ".join(map(repr, _WINNERS))
        raise InvalidInputError(f"{has} {given!r}; accepted: {accepted}")
    winner = None if vote is None else {"first": first, "second": second, TIE: TIE}[vote]
    return {"first": first, "second": second, "winner": winner, "vote": vote}


LOGS: Sequence[tuple[str, set[str], Callable[[Sequence[Row], str], list[Row]]]] = (
    ("samples of inspect_ai (.eval, .json)", {"id", "epoch", "output", "scores"}, lambda rows, _: [*rows]),
    ("samples of lm-eval (samples_*.jsonl)", {"doc", "resps", "filtered_resps"}, lm_eval_rows),
    ("annotations of AlpacaEval", {"instruction", "output_1", "output_2", "preference"}, alpaca_eval_rows),
    ("comparisons of MT-Bench (*_pair.jsonl)", {"model_1", "model_2", "g1_winner", "g2_winner"}, mt_bench_pair_rows),
    ("preferences of MT-Bench's people or of Chatbot Arena", {"model_a", "model_b", "winner"}, arena_rows),
)
"""The content of a file, the columns by which it is recognised, and its reader."""


def rows_of_log(records: Sequence[Row], what: str) -> list[Row]:
    """Return the rows of a log as :func:`~evenhand.data.rows.read_log` describes them.

    Raises:
        InvalidInputError: If it has no shape that is known, or not throughout.
    """
    for name, columns, reader in LOGS:
        if columns <= records[0].keys():
            with _checked_shape(what, name):
                return reader(records, what)
    known = "; ".join(f"{name}: {', '.join(sorted(columns))}" for name, columns, _ in LOGS)
    raise InvalidInputError(
        f"{what} has the columns {list(records[0])!r}, by which no log is known. Known by their columns are {known}. "
        "Rows of any other shape are data as they are, without read_log"
    )


AUTORUBRIC_WEIGHT = 10.0
AUTOCHECKLIST_WEIGHT = 100.0
AUTORUBRIC_OPTIONS = (
    {"label": "MET", "value": 1.0, "description": "The requirement is satisfied."},
    {"label": "UNMET", "value": 0.0, "description": "The requirement is not satisfied."},
    {"label": "CANNOT_ASSESS", "na": True, "description": "What is there does not let one tell."},
)


class Format(NamedTuple):
    """A format of another tool.

    Attributes:
        holds: The noun for its data in messages, such as "a rubric of autorubric".
        fits: Whether data have its shape.
        read: Makes a document of the data.
        unread: The fields that are not read.
    """

    holds: str
    fits: Callable[[Any], bool]
    read: Callable[[Any], dict[str, Any]]
    unread: tuple[str, ...] = ()


def _are_mappings(data: object, needed: Collection[str], accepted: Collection[str] | None = None) -> bool:
    """Return whether data are a list of at least one mapping, each with the needed fields and only accepted ones."""
    are_mappings = isinstance(data, list) and bool(data) and all(isinstance(each, dict) for each in data)
    return are_mappings and all(
        each.keys() >= set(needed) and (accepted is None or each.keys() <= set(accepted))
        for each in data  # type: ignore[attr-defined] # a list
    )


def _non_empty(**fields: Any) -> dict[str, Any]:  # noqa: ANN401 - plain data
    """Return the fields that are neither null nor empty."""
    return {name: value for name, value in fields.items() if value not in (None, "", [])}


_HOLDERS = ("rubric", "sections", "criteria")
_AUTORUBRIC_FIELDS = {"name", "weight", "requirement", "options", "scale_type", "aggregation"}


def _is_autorubric(data: object) -> bool:
    """Return whether data are a rubric of autorubric."""
    if isinstance(data, dict):
        held = [data[holder] for holder in _HOLDERS if holder in data]
        return len(held) == 1 and data.keys() <= {*_HOLDERS, "guidelines"} and _is_autorubric(held[0])
    return isinstance(data, list) and bool(data) and all(map(_is_autorubric_part, data))


def _is_autorubric_part(data: object) -> bool:
    """Return whether data are a criterion or a section of autorubric."""
    if isinstance(data, dict) and "criteria" in data:
        held = data["criteria"]
        return data.keys() <= {"name", "criteria"} and isinstance(held, list) and _is_autorubric(held)
    if not _are_mappings([data], {"requirement"}, _AUTORUBRIC_FIELDS):
        return False
    options = data.get("options")  # type: ignore[attr-defined] # a mapping
    return options is None or (
        _are_mappings(options, {"label"}, {"label", "value", "na"})
        and all(option.get("na") or _fits_autorubric(option.get("value")) for option in options)
    )


def _fits_autorubric(value: object) -> bool:
    """Return whether an option's value lies in [0, 1], or is refused later because it is not a number."""
    return value is not None and (not isinstance(value, int | float) or 0 <= value <= 1)


def _read_autorubric(rubric: Any) -> dict[str, Any]:  # noqa: ANN401 - plain data
    return {"criteria": list(_autorubric_criteria(rubric))}


def _autorubric_criteria(rubric: Any, section: str = "") -> Iterator[dict[str, Any]]:  # noqa: ANN401 - plain data
    if isinstance(rubric, dict):
        yield from _autorubric_criteria(next(rubric[holder] for holder in _HOLDERS if holder in rubric), section)
        return
    for part in rubric:
        if "criteria" in part:
            yield from _autorubric_criteria(part["criteria"], part.get("name") or section)
        else:
            yield {**_autorubric_criterion(part), **_non_empty(section=section)}


def _autorubric_criterion(given: Mapping[str, Any]) -> dict[str, Any]:
    weight, scale = given.get("weight"), given.get("scale_type") or "ordinal"
    document = _non_empty(name=given.get("name"), requirement=given["requirement"])
    document["weight"] = AUTORUBRIC_WEIGHT if weight is None else weight
    if given.get("options") is None:
        return {**document, "scale": "binary", "options": [dict(option) for option in AUTORUBRIC_OPTIONS]}
    options = [{**option, "label": str(option["label"])} for option in given["options"]]
    return {**document, "scale": scale, "options": options}


_AUTOCHECKLIST_ITEM = {"id", "question", "weight", "category", "metadata"}


def _is_autochecklist(data: object) -> bool:
    if not isinstance(data, dict):
        return _are_mappings(data, {"id", "question"}, _AUTOCHECKLIST_ITEM)
    if "questions" in data:
        return data.keys() == {"questions"} and _are_mappings(data["questions"], {"question"}, _AUTOCHECKLIST_ITEM)
    items = data.get("items")
    has_fields = {"source_method", "generation_level"} & data.keys() or _are_mappings(items, {"id"})
    return bool(has_fields) and _are_mappings(items, {"question"}, _AUTOCHECKLIST_ITEM)


def _read_autochecklist(data: Any) -> dict[str, Any]:  # noqa: ANN401 - plain data
    fields = data if isinstance(data, dict) else {"items": data}
    items = []
    for given in fields["questions"] if "questions" in fields else fields["items"]:
        weight = given.get("weight")
        item = _non_empty(name=given.get("id"), question=given["question"], category=given.get("category"))
        items.append({**item, "weight": AUTOCHECKLIST_WEIGHT if weight is None else weight})
    return {**_non_empty(description=fields.get("corpus_description")), "items": items}


_EVALASSIST_FIELDS = {"name", "description", "options", "to_evaluate_field", "prediction_field", "context_fields"}
_EVALASSIST_FIELDS |= {"examples", "metadata"}


def _is_evalassist(data: object) -> bool:
    """Return whether data are a criterion of EvalAssist: with scores or the name of its field."""
    if not isinstance(data, dict) or not {"name", "description"} <= data.keys() <= _EVALASSIST_FIELDS:
        return False
    options, has_field = data.get("options"), "to_evaluate_field" in data
    if not options:
        return has_field or "options" in data
    are_options = _are_mappings(options, {"name"}, {"name", "description", "score"})
    return are_options and (has_field or any("score" in option for option in options))


def _read_evalassist(data: Any) -> dict[str, Any]:  # noqa: ANN401 - plain data
    judged = data.get("to_evaluate_field", data.get("prediction_field"))
    fields = {"name": data["name"], "description": data["description"]}
    fields |= _non_empty(prediction_field=judged, context_fields=data.get("context_fields"))
    given = data.get("options") or ()
    options = [{"name": each["name"], "description": each.get("description")} for each in given]
    scores = {each["name"]: each["score"] for each in given if each.get("score") is not None}
    return {**fields, **_non_empty(options=options, option_map=scores or None)}


def _is_healthbench(data: object) -> bool:
    points = data.get("rubrics") if isinstance(data, dict) else data
    return _are_mappings(points, {"criterion", "points"})


def _read_healthbench(data: Any) -> dict[str, Any]:  # noqa: ANN401 - plain data
    points = data["rubrics"] if isinstance(data, dict) else data
    criteria = [
        {"requirement": each["criterion"], "weight": each["points"], **_non_empty(tags=each.get("tags"))}
        for each in points
    ]
    return {"clip": "mean", "criteria": criteria}


_PAPERBENCH_NODE = {"id", "requirements", "weight", "sub_tasks"}


def _is_paperbench(data: object) -> bool:
    return isinstance(data, dict) and data.keys() >= _PAPERBENCH_NODE


def _read_paperbench(data: Any) -> dict[str, Any]:  # noqa: ANN401 - plain data
    sections: list[dict[str, Any]] = []
    criteria: list[dict[str, Any]] = []
    for node, within in _paperbench_nodes(data["sub_tasks"] or [data], ""):
        named = {"name": node["id"], "weight": node["weight"]}
        if node["sub_tasks"]:
            sections.append(named | _non_empty(within=within, description=node["requirements"]))
        else:
            tags = [node[field] for field in ("task_category", "finegrained_task_category") if node.get(field)]
            criteria.append(named | {"requirement": node["requirements"]} | _non_empty(section=within, tags=tags))
    return {**_non_empty(description=data["requirements"], sections=sections), "criteria": criteria}


def _paperbench_nodes(nodes: Any, within: str) -> Iterator[tuple[dict[str, Any], str]]:  # noqa: ANN401 - plain data
    """Yield the nodes of a tree, each before those below it, with the id of the one above."""
    for node in nodes:
        yield node, within
        yield from _paperbench_nodes(node["sub_tasks"], node["id"])


_SCORE_DESCRIPTION = re.compile(r"(?:orig_)?score(\d+)_description")


def _score_rubric(data: Any) -> Mapping[str, Any]:  # noqa: ANN401 - plain data
    """Return the part of a row, or the data themselves, that describes the scores."""
    if not isinstance(data, dict):
        return {}
    held = data.get("score_rubric", data.get("rubric"))
    return held if isinstance(held, dict) else data


def _score_descriptions(data: object) -> dict[int, str]:
    found = ((_SCORE_DESCRIPTION.fullmatch(str(name)), text) for name, text in _score_rubric(data).items())
    return dict(sorted((int(match[1]), str(text)) for match, text in found if match and text is not None))


def _read_prometheus(data: Any) -> dict[str, Any]:  # noqa: ANN401 - plain data
    given = _score_rubric(data)
    options = [
        {"label": str(score), "value": float(score), "description": description}
        for score, description in _score_descriptions(data).items()
    ]
    return {"requirement": given.get("criteria", given.get("orig_criteria")), "scale": "ordinal", "options": options}


def _is_wildbench(data: object) -> bool:
    questions = data.get("checklist") if isinstance(data, dict) else None
    return isinstance(questions, list) and bool(questions) and all(isinstance(each, str) for each in questions)


FORMATS: Mapping[str, Format] = {
    "autorubric": Format("a rubric of autorubric", _is_autorubric, _read_autorubric, ("guidelines", "aggregation")),
    "autochecklist": Format("a checklist of autochecklist", _is_autochecklist, _read_autochecklist, ("input",)),
    "evalassist": Format("a criterion of EvalAssist", _is_evalassist, _read_evalassist, ("examples",)),
    "healthbench": Format("a row or a rubric of HealthBench", _is_healthbench, _read_healthbench),
    "paperbench": Format("a tree of PaperBench", _is_paperbench, _read_paperbench),
    "prometheus": Format(
        "a score rubric of BiGGen Bench or Prometheus",
        lambda data: len(_score_descriptions(data)) > 1,
        _read_prometheus,
    ),
    "wildbench": Format("a row of WildBench", _is_wildbench, lambda data: {"items": list(data["checklist"])}),
}
"""The formats that are recognised, by name."""


class LeftOutWarning(EvenhandWarning):
    """A part of a file of another tool is not read."""


def format_of(data: object) -> Format | None:
    """Return the format of another tool that data are in; None if they are in none, or in evenhand's own."""
    return next((each for each in FORMATS.values() if each.fits(data)), None)


def translate_format(data: Any, what: str) -> Any:  # noqa: ANN401 - data may be anything
    """Translate data in the format of another tool to a document of evenhand's; return all others as they are.

    Warns (:class:`LeftOutWarning`) of what is not read.
    """
    found = format_of(data)
    if found is None:
        return data
    with _checked_shape(what, found.holds, InvalidCriterionError):
        document = found.read(data)
    if left_out := [name for name in found.unread if _has_field(data, name)]:
        warnings.warn(f"{what} is {found.holds}; {left_out!r} are not read: give options of the run", LeftOutWarning, 3)
    return document


def _has_field(data: object, name: str) -> bool:
    """Return whether a mapping in the data has a field that is not empty."""
    if isinstance(data, Mapping) and data.get(name):
        return True
    parts = data.values() if isinstance(data, Mapping) else data if isinstance(data, list) else ()
    return any(_has_field(each, name) for each in parts)
