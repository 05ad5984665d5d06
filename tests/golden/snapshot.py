"""What a run says, as text that a person can compare line by line: numbers to nine significant digits."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.data.plain import as_plain
from tests.golden.refusals import refusals
from tests.golden.runs import METRICS, TABLES, Run
from tests.golden.saved import KINDS, saved

HERE = Path(__file__).parent
LONGEST = 60
SAVED: Mapping[str, Run] = {f"saved_{name}": run for name, run in KINDS.items()}
RUNS: Mapping[str, Run] = {**TABLES, **METRICS, **SAVED, "refusals": refusals}


def plain(value: Any) -> Any:
    """JSON of it, with numbers that do not depend on the last bits."""
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in sorted(value.items(), key=lambda pair: str(pair[0]))}
    if isinstance(value, list | tuple | np.ndarray):
        return [plain(entry) for entry in value]
    if isinstance(value, float | np.floating):
        number = float(value)
        return float(f"{number:.9g}") + 0.0 if math.isfinite(number) else repr(number)
    if isinstance(value, np.integer | np.bool_):
        return value.item()
    if isinstance(value, str) and len(value) > LONGEST:
        return f"{value[:LONGEST]}… {hashlib.sha256(value.encode()).hexdigest()[:8]}"
    return value


def line(name: str, value: Any) -> str:
    return f"{name}: {json.dumps(plain(value), ensure_ascii=False, default=str)}"


def snapshot(name: str) -> str:
    if name in SAVED:
        return "\n".join(line(key, value) for key, value in saved(SAVED[name])) + "\n"
    result = RUNS[name]()
    return "\n".join(_metric_lines(result) if name in METRICS else _table_lines(result)) + "\n"


def _table_lines(result: Any) -> list[str]:
    lines = [printed.rstrip() for printed in str(result).splitlines()]
    if ranked := getattr(result, "ranked", None):
        lines += [line("row", as_plain(system)) for system in ranked]
    elif to_pandas := getattr(result, "to_pandas", None):
        lines += [line("row", record) for record in to_pandas().to_dict("records")]
    return lines


def _is_of_votes(name: str, value: Any) -> bool:
    return (name.endswith("_run") and isinstance(value, Mapping)) or (
        name.endswith("_votes") and isinstance(value, list)
    )


def _metric_lines(result: Any) -> list[str]:
    """The votes, and what they are about, are those that from_results is tested with."""
    lines = [line(name, value) for name, value in sorted(result.global_scores.items()) if not _is_of_votes(name, value)]
    for instance in result.instance_scores:
        found = [line(f"  {name}", value) for name, value in sorted(instance.items()) if not _is_of_votes(name, value)]
        lines += ["instance", *found]
    groups = result[0]["score"].get("groups", {})
    for grouping, scores in sorted(groups.items()):
        of_groups = {
            group: {name: value for name, value in own.items() if not _is_of_votes(name, value)}
            for group, own in scores.items()
        }
        lines.append(line(f"groups by {grouping}", of_groups))
    return lines


def path_of(name: str) -> Path:
    return HERE / f"{name}.txt"
