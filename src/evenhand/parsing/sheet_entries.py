"""The entries of a sheet of answers, as a reply gives them: JSON, a Markdown table, or numbered lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evenhand.parsing.fields import is_verdict_name
from evenhand.parsing.json_values import Array, Object, Scalar, Value, containers, folded_name, json_values

Span = tuple[int, int]

_INDEX_NAMES = frozenset(
    {"", "index", "idx", "i", "id", "item", "item_index", "item_number", "item_id", "number", "no", "num"}
    | {"q", "question", "question_index", "question_number", "question_id"}
)
_REASON_NAMES = frozenset(
    {"reasoning", "reason", "reasons", "rationale", "explanation", "justification", "assessment", "analysis"}
    | {"comment", "evidence", "thought", "thoughts", "because"}
)
_NUMBER = re.compile(
    r"[^\w\-−]*(?:(?:q|question|item|no|nr|number|index|criterion|check)[\W_]*)?(\d{1,6})(?:\.0+)?\W*", re.IGNORECASE
)
_NUMBERED = re.compile(
    r"^[ \t]*(?:[-*•+>][ \t]+)?(?:\#{1,6}[ \t]+)?[*_`]*(?P<open>[(\[])?"
    r"(?P<word>(?:q|question|item|no\.?|nr\.?|number|index|criterion|check)[ \t]*[.#:]?[ \t]*)?\#?(?P<number>\d{1,6})"
    r"(?:[*_`]*[ \t]*(?P<separator>[.):\]=,|–—→-]+>?)[*_`]*(?=[ \t]|$|[^\W\d])|[*_`]*(?=[ \t]|$))[ \t]*",
    re.IGNORECASE | re.MULTILINE,
)
_ON_ONE_LINE = re.compile(
    r"(?:^|(?<=[\s,;(\[]))(?:q|question|item)?[ ]?\#?(?P<number>\d{1,4})[ ]?[.):=][ ]?(?P<answer>[^\s,;\d][^,;\d\n]*)",
    re.IGNORECASE,
)
_ROW = re.compile(r"^[ \t]*\|(?P<cells>.*)\|?[ \t]*$", re.MULTILINE)
_CELL = re.compile(r"(?:[^|\\\n]|\\.)*")


@dataclass(frozen=True, slots=True)
class Entry:
    """What a reply says of one item.

    Attributes:
        number: The item's number as written.
        text: The words of the answer; None where the entry has none.
        span: Where they stand in the reply.
        reasoning: The reasons given with it.
        truth: The answer is true or false, and not a word.
        block: The text is all that follows the number, the answer somewhere in it.
        last: Nothing follows, so that a reply that was cut off may be cut off in it.
        doubled: The entry answers more than once.
    """

    number: int
    text: str | None
    span: Span | None
    reasoning: str | None = None
    truth: bool | None = None
    block: bool = False
    last: bool = False
    doubled: bool = False


def read_entries(text: str, count: int) -> list[Entry]:
    """The entries in the first of the three forms in which there are any.

    Args:
        text: The reply, its hidden thinking blanked out.
        count: How many items there are: a list of just so many bare answers counts as numbered from 1.
    """
    return _json_entries(text, count) or _table_entries(text) or _line_entries(text)


def _json_entries(text: str, count: int) -> list[Entry]:
    entries: list[Entry] = []
    for root in json_values(text):
        entries.extend(_of_root(root))
    return entries or _bare_list(text, count)


def _of_root(root: Array | Object) -> Iterator[Entry]:
    taken = set[int]()
    for container in containers(root):
        if not isinstance(container, Object) or id(container) in taken:
            continue
        numbers = [_number(key) for key, _ in container.pairs]
        if numbers and None not in numbers:
            for number, (_, value) in zip(numbers, container.pairs, strict=True):
                if isinstance(value, Object):
                    taken.add(id(value))
                if number is not None and (isinstance(value, Scalar) or value.closed):
                    yield _entry(number, [value] if not isinstance(value, Object) else _answers(value), value)
        elif container.closed:
            indices = [value for value in container.named(_INDEX_NAMES) if isinstance(value, Scalar)]
            found = [number for value in indices if (number := _number(value.text)) is not None]
            answers = _answers(container)
            for number in dict.fromkeys(found):
                yield _entry(number, answers, container, doubled=len(found) > 1)


def _answers(container: Object) -> list[Value]:
    """The values of the answer: those under that name, or else those under names of verdicts."""
    return container.named({"answer"}) or [
        value for key, value in container.pairs if is_verdict_name(key) and folded_name(key) not in _INDEX_NAMES
    ]


def _entry(number: int, answers: Sequence[Value], value: Value, *, doubled: bool = False) -> Entry:
    reasons = value.named(_REASON_NAMES) if isinstance(value, Object) else []
    reasoning = next((reason.text.strip() for reason in reasons if isinstance(reason, Scalar) and reason.quoted), None)
    doubled = doubled or len(answers) > 1
    answer = answers[0] if answers else None
    if not isinstance(answer, Scalar) or (not answer.quoted and answer.text in {"null", "None"}):
        return Entry(number, None, None, reasoning or None, doubled=doubled)
    truth = {"true": True, "false": False}.get(answer.text.casefold()) if not answer.quoted else None
    return Entry(number, answer.text, (answer.start, answer.end), reasoning or None, truth, doubled=doubled)


def _bare_list(text: str, count: int) -> list[Entry]:
    """A reply that is one complete list of as many answers as there are items, under a name or under none."""
    roots = list(json_values(text))
    if len(roots) != 1 or not roots[0].closed:
        return []
    root: Value = roots[0]
    around = re.sub(r"[`~]{3,}[ \t]*\w*", "", text[: root.start] + text[root.end :])
    if isinstance(root, Object) and len(root.pairs) == 1 and folded_name(root.pairs[0][0]) in {"answers", "verdicts"}:
        root = root.pairs[0][1]
    if around.strip() or not isinstance(root, Array) or len(root.values) != count:
        return []
    scalars = [value for value in root.values if isinstance(value, Scalar)]
    return [_entry(number, [value], value) for number, value in enumerate(scalars, 1)] if len(scalars) == count else []


def _number(written: str) -> int | None:
    found = _NUMBER.fullmatch(written)
    return int(found.group(1)) if found else None


def _table_entries(text: str) -> list[Entry]:
    """Rows whose first numbered cell is the item; the answer is the column named so, or the only other one."""
    entries: list[Entry] = []
    index_column, answer_column, width = 0, None, 0
    for row in _ROW.finditer(text):
        cells = _cells(row)
        names = [text[start:end].strip(" \t*_`") for start, end in cells]
        if all(re.fullmatch(r":?-+:?", name) for name in names if name):
            continue
        number = _number(names[index_column]) if index_column < len(names) else None
        if number is None:
            width = len(cells)
            index_column = next((at for at, name in enumerate(names) if folded_name(name) in _INDEX_NAMES), 0)
            answer_column = _answer_column(names, index_column)
            continue
        column = answer_column if answer_column is not None else 1 if len(cells) == 2 and not width else None
        if column is None or column >= len(cells):
            entries.append(Entry(number, None, None))
        else:
            span = _stripped(text, *cells[column])
            entries.append(Entry(number, text[slice(*span)], span))
    return entries


def _cells(row: re.Match[str]) -> list[Span]:
    start, end = row.span("cells")
    spans: list[Span] = []
    while start < end:
        cell = _CELL.match(row.string, start, end)
        stop = cell.end() if cell else end
        spans.append((start, stop))
        start = stop + 1
    return spans


def _answer_column(names: Sequence[str], index_column: int) -> int | None:
    exact = [at for at, name in enumerate(names) if folded_name(name) in {"answer", "final_answer"}]
    others = [at for at, name in enumerate(names) if at != index_column and is_verdict_name(name)]
    found = exact or others
    if not found and len(names) == 2:
        return 1 - index_column
    return found[0] if len(found) == 1 else None


def _line_entries(text: str) -> list[Entry]:
    """Each numbered line with the lines below it, up to the next number."""
    if (entries := _entries_on_one_line(text)) is not None:
        return entries
    heads = list(_NUMBERED.finditer(text))
    marked = [head for head in heads if head.group("separator") or head.group("word")]
    heads = marked or heads  # a bare number that begins a line may be prose
    entries = []
    for place, head in enumerate(heads):
        last = place + 1 == len(heads)
        span = _stripped(text, head.end(), len(text) if last else heads[place + 1].start())
        block = text[slice(*span)]
        if marked or len(block.split()) <= 4:
            entries.append(Entry(int(head.group("number")), block, span, block=True, last=last))
    return entries


def _entries_on_one_line(text: str) -> list[Entry] | None:
    """A reply such as "1: yes, 2: no, 3: yes"; None if it says anything else."""
    found = list(_ON_ONE_LINE.finditer(text))
    rest = _ON_ONE_LINE.sub("", text)
    if len(found) < 2 or "\n" in text.strip() or re.search(r"\w", rest):
        return None
    spans = [_stripped(text, *entry.span("answer")) for entry in found]
    if any(len(text[slice(*span)].split()) > 3 for span in spans):
        return None
    return [
        Entry(int(entry.group("number")), text[slice(*span)], span, last=entry is found[-1])
        for entry, span in zip(found, spans, strict=True)
    ]


def _stripped(text: str, start: int, end: int) -> Span:
    inside = text[start:end]
    start += len(inside) - len(inside.lstrip())
    return start, start + len(inside.strip())
