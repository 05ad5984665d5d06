"""Logs of inspect_ai and lm-eval as rows: what was asked, the reply texts, and the scores that the tool gave them."""

from __future__ import annotations

import json
import os
import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile, ZipInfo

import pyarrow

from evenhand.data.formats.translation import OTHER_SHAPE
from evenhand.errors import InvalidInputError
from evenhand.files import check_growth, open_file

Row = Mapping[str, Any]

ZSTANDARD = 93
"""The number of the compression in a zip archive, which Python's ``zipfile`` reads from 3.14 on."""

_LOCAL_HEADER = struct.Struct("<4s5H3I2H")
_ATTACHMENT = "attachment://"
_FINISH_REASONS = {"max_tokens": "length", "model_length": "length"}


def is_inspect_log(data: object) -> bool:
    """Whether a JSON object is a log of inspect_ai."""
    return isinstance(data, Mapping) and {"eval", "status", "version"} <= data.keys()


def inspect_rows(path: Path, log: Mapping[str, Any] | None = None) -> list[Row]:
    """A row per sample and epoch of a log of inspect_ai, ``.eval`` or ``.json``, in the order of its data set.

    A row has ``id``, ``epoch``, ``task``, ``model``, ``input``, ``choices``, ``target``, ``output`` (the model's text),
    ``reasoning``, ``finish_reason``, ``error``, ``metadata`` and ``scores``: scorer -> ``value``, ``answer``,
    ``explanation`` and ``metadata``. The reply of a model that graded is ``scores/<scorer>/explanation``.

    Args:
        path: The file.
        log: What it holds, where it is one JSON text; None for an archive, which is read.

    Raises:
        InvalidInputError: If the file is damaged, holds no samples, or something else than them.
    """
    header, samples = _archived(path) if log is None else (log, list(log.get("samples") or ()))
    if not samples:
        raise InvalidInputError(
            f"the log {str(path)!r} holds no samples (its status is {header.get('status')!r}): a log of inspect_ai has "
            "them once a sample was run, unless it was written with --no-log-samples"
        )
    try:
        return _inspect_rows(samples, header.get("eval") or {})
    except OTHER_SHAPE as error:
        raise InvalidInputError(
            f"{str(path)!r} begins as a log of inspect_ai, but not all of it has that shape: {type(error).__name__}: "
            f"{error}"
        ) from error


def _inspect_rows(samples: list[dict[str, Any]], spec: Mapping[str, Any]) -> list[Row]:
    order = {str(name): place for place, name in enumerate((spec.get("dataset") or {}).get("sample_ids") or ())}
    samples.sort(key=lambda sample: (order.get(str(sample.get("id")), len(order)), sample.get("epoch", 1)))
    return [_inspect_row(sample, spec) for sample in samples]


def _archived(path: Path) -> tuple[Mapping[str, Any], list[dict[str, Any]]]:
    """The header and the samples; of a log that was not finished, what was written."""
    try:
        with open_file(path) as file, ZipFile(file) as archive:
            check_growth(os.fstat(file.fileno()).st_size, sum(info.file_size for info in archive.infolist()))
            names = list(dict.fromkeys(archive.namelist()))
            header: dict[str, Any] = {}
            for name in ("_journal/start.json", "header.json"):
                if name in names:
                    header |= _member(path, archive, name)
            samples = [name for name in names if name.startswith("samples/") and name.endswith(".json")]
            return header, [_member(path, archive, name) for name in samples]
    except (BadZipFile, NotImplementedError, OSError, RecursionError, zlib.error, struct.error, ValueError) as error:
        raise InvalidInputError(
            f"{str(path)!r} is not a whole log of inspect_ai ({error}): 'inspect log convert --to json' writes it anew"
        ) from error


def _member(path: Path, archive: ZipFile, name: str) -> Any:  # noqa: ANN401 - JSON
    info = archive.getinfo(name)
    return json.loads(archive.read(info) if info.compress_type != ZSTANDARD else _unpacked(path, info))


def _unpacked(path: Path, info: ZipInfo) -> bytes:
    """A member of an archive that is compressed with Zstandard."""
    with open_file(path) as file:
        file.seek(info.header_offset)
        *_, name_length, extra_length = _LOCAL_HEADER.unpack(file.read(_LOCAL_HEADER.size))
        file.seek(name_length + extra_length, 1)
        packed = file.read(info.compress_size)
    with pyarrow.CompressedInputStream(pyarrow.BufferReader(packed), "zstd") as stream:
        data: bytes = stream.read(info.file_size + 1)
    if zlib.crc32(data) != info.CRC:
        raise ValueError(f"{info.filename!r} is damaged")
    return data


def _inspect_row(sample: Mapping[str, Any], spec: Mapping[str, Any]) -> dict[str, Any]:
    sample = _attached(sample, sample.get("attachments") or {})
    output = sample.get("output") or {}
    choice: Mapping[str, Any] = next(iter(output.get("choices") or ()), {})
    text, reasoning = _said((choice.get("message") or {}).get("content"))
    reason = choice.get("stop_reason")
    error = sample.get("error")
    asked = sample.get("input")
    return {
        "id": sample.get("id"),
        "epoch": sample.get("epoch", 1),
        "task": spec.get("task"),
        "model": output.get("model") or spec.get("model"),
        "input": asked if isinstance(asked, str) else [_message(message) for message in asked or ()],
        "choices": sample.get("choices"),
        "target": sample.get("target"),
        "output": text,
        "reasoning": reasoning,
        "finish_reason": _FINISH_REASONS.get(reason, reason) if isinstance(reason, str) else None,
        "error": error.get("message") if isinstance(error, Mapping) else error,
        "metadata": sample.get("metadata") or {},
        "scores": {
            scorer: {name: (score or {}).get(name) for name in ("value", "answer", "explanation", "metadata")}
            for scorer, score in (sample.get("scores") or {}).items()
        },
    }


def _attached(value: Any, attachments: Mapping[str, str]) -> Any:  # noqa: ANN401 - JSON
    """The value with the long texts that stand beside it in its places."""
    if isinstance(value, str):
        return attachments.get(value.removeprefix(_ATTACHMENT), value) if value.startswith(_ATTACHMENT) else value
    if isinstance(value, Mapping):
        skipped = {"attachments", "events", "events_data", "messages"}
        return {name: _attached(each, attachments) for name, each in value.items() if name not in skipped}
    return [_attached(each, attachments) for each in value] if isinstance(value, list) else value


def _said(content: object) -> tuple[str | None, str | None]:
    """The text of a message, and its reasoning."""
    if not isinstance(content, list):
        return (content if isinstance(content, str) else None), None
    parts = [part for part in content if isinstance(part, Mapping)]
    texts = [part["text"] for part in parts if isinstance(part.get("text"), str)]
    thoughts = [part["reasoning"] for part in parts if part.get("reasoning")]
    return ("\n".join(texts) if texts else None), ("\n".join(thoughts) or None)


def _message(message: Mapping[str, Any]) -> dict[str, Any]:
    return {"role": message.get("role"), "content": _said(message.get("content"))[0]}


_OF_LM_EVAL = frozenset(
    {"doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics"}
    | {"doc_hash", "prompt_hash", "target_hash"}
)


def lm_eval_rows(records: Iterable[Mapping[str, Any]], what: str) -> list[Row]:
    """A row per document and draw of the samples that lm-eval logs (``samples_*.jsonl``).

    A row has ``id`` (the document's), ``sample`` (0 for the first draw), ``doc``, ``input`` (the prompt), ``target``,
    ``output`` (the model's text), ``filtered`` (filter -> what it made of the replies) and ``metrics`` (filter ->
    metric -> value). A task with several filters logs each document once for each of them; the replies are the same.

    Args:
        records: The lines.
        what: The file, for messages.

    Raises:
        InvalidInputError: If the samples have no texts, because choices were compared by their likelihood.
    """
    found: dict[Any, dict[str, Any]] = {}
    for number, record in enumerate(records):
        document = record.get("doc_id", number)
        row = found.get(document)
        if row is None:
            replies = list(_texts(record.get("resps")))
            if not replies:
                raise InvalidInputError(
                    f"line {number + 1} of {what} has no reply text in 'resps': its task compares the likelihoods of "
                    "choices, and there is nothing to read"
                )
            row = found[document] = {
                "id": document,
                "doc": record.get("doc"),
                "input": next(_texts(_argument(record.get("arguments"))), None),
                "target": record.get("target"),
                "output": replies,
                "filtered": {},
                "metrics": {},
            }
        name = str(record.get("filter", "none"))
        filtered = record.get("filtered_resps")
        row["filtered"][name] = filtered[0] if isinstance(filtered, list) and len(filtered) == 1 else filtered
        row["metrics"][name] = {key: value for key, value in record.items() if key not in _OF_LM_EVAL}
    return [
        {**row, "sample": sample, "output": text} for row in found.values() for sample, text in enumerate(row["output"])
    ]


def _argument(arguments: object) -> object:
    """The prompt among the arguments of a request: ``[[prompt, {…}]]``, or ``{"gen_args_0": {"arg_0": prompt}}``."""
    first = next(iter(arguments.values()), None) if isinstance(arguments, Mapping) else arguments
    return first.get("arg_0") if isinstance(first, Mapping) else first


def _texts(value: object) -> Iterator[str]:
    """The texts in nested lists."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Sequence):
        for each in value:
            yield from _texts(each)
