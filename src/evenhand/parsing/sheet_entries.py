"""The entries of a sheet of answers, as a reply gives them: JSON, a Markdown table, or numbered lines.

A reply may hold several sheets, and some of them may not be the judge's: a response that asks to be passed writes one
too, and a judge that reports it quotes it. :func:`read_sources` says which ones are the judge's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from evenhand.parsing.cleaning import BLOCK_QUOTE
from evenhand.parsing.grammar import SPEAKER, SPEAKS, phrase
from evenhand.parsing.json_values import (
    Array,
    Object,
    Scalar,
    Value,
    containers,
    folded_name,
    is_verdict_name,
    json_values,
)

Span = tuple[int, int]

_INDEX_NAMES = frozenset(
    {"", "index", "idx", "i", "id", "item", "item_index", "item_number", "item_id", "number", "no", "num"}
    | {"q", "question", "question_index", "question_number", "question_id"}
)
_REASON_NAMES = frozenset(
    {"reasoning", "reason", "reasons", "rationale", "explanation", "justification", "assessment", "analysis"}
    | {"comment", "evidence", "thought", "thoughts", "because"}
)
_NUMBER = phrase(r"[^\w\-−]*(?:(?:q|question|item|no|nr|number|index|criterion|check)[\W_]*)?(\d{1,6})(?:\.0+)?\W*")
_NUMBERED = phrase(
    r"^[ \t]*(?:[-*•+>][ \t]+)?(?P<heading>\#{1,6}[ \t]+)?[*_`]*(?P<open>[(\[])?(?P<word>(?:q|question|item|no\.?|"
    r"nr\.?|number|index|criterion|check)[ \t]*[.#:]?[ \t]*)?\#?(?P<number>\d{1,6})"
    r"(?:[*_`]*[ \t]*(?P<separator>[.):\]=,|/–—→-]+>?)[*_`]*(?=[ \t]|$|[^\W\d])|[*_`]*(?=[ \t]|$))[ \t]*",
    re.MULTILINE,
)
_ON_ONE_LINE = phrase(
    r"(?:^|(?<=[\s,;(\[]))(?:q|question|item)? ?\#?(?P<number>\d{1,4}) ?[.):=] ?(?P<answer>[^\s,;\d][^,;\d\n]*)"
)
_ROW = re.compile(r"^[ \t]*(?:\||(?=[^\s|][^|\n]{0,30}\|))(?P<cells>.*)\|?[ \t]*$", re.MULTILINE)
_CELL = re.compile(r"(?:[^|\\\n]|\\.)*")
_MOST_CELLS = 12
_SPEAKER = rf"(?:{SPEAKER}(?:'s)?)"
_SPEECH = (  # a sheet may also be handed over
    rf"(?:{SPEAKS}|has|had|holds?|carries|suppl(?:y|ies|ied)|provid(?:es?|ed)|presents?|offers?|wants?|proposes?|"
    r"suggests?|shows?|gives?|gave|puts?|attempts?)"
)
_OWN = phrase(
    r"\b(?:my|i|we|our)\b(?!.*\b(?:not|never|ignor\w*|disregard\w*|reject\w*|quot\w*|found|find|see|saw)\b)|"
    r"\b(?:answers?|verdicts?|ratings?|evaluation|assessment|results?|checklist|sheet)\b[^:]{0,40}\b(?:for|about|"
    rf"on|regarding|of)\s+(?:the|this)\s+{_SPEAKER}\Z"
)
_FOREIGN = phrase(
    rf"\b{_SPEAKER}\b[^:{{]{{0,60}}\b{_SPEECH}\b[^{{]{{0,80}}\Z|\b(?:planted|injected|embedded|hidden|fake|forged|"
    r"quot\w+|excerpt|verbatim|according to|for example|for instance|e\.g\.|such as|ignor\w+|disregard\w*|reject\w*|"
    r"discard\w*|despite|instead of|rather than|not|never|contrary to)\b[^{]{0,80}\Z|\b(?:better|good|perfect|"
    r"ideal|correct|other|another)\b[^{]{0,40}\bwould\b[^{]{0,40}\Z"
)
_REJECTS = phrase(
    r"\A(?:[^.!?\n]{0,100}[.!?\n]\s*)?[^.!?\n]{0,60}?(?:\b(?:i|we|which|that|this|it|these|those|"
    r"they)\b[^.!?\n]{0,30}?\b(?:disregard|ignor|reject|discard|dismiss|overrul|refus|set (?:that|this|it|these|"
    r"them )?\s*aside|tries to|try to|attempts? to|does(?: not|n't) count|(?:do|will|did|shall|can)(?: not|"
    r"n't) (?:follow|accept|adopt|use|count|trust|obey|agree)|(?:is|are|was|were)(?: not|n't) (?:my|mine)\b|"
    r"(?:is|are|was|were) (?:planted|injected|embedded|quoted|copied|fake|part of the|from the|in the))|"
    r"\bi do not\b\s*[.!\n]|\bnot my (?:answers?|verdicts?|sheet)|\bline above\b)"
)
_ANOTHER_SHEET = re.compile(r"\{|^[ \t]*(?:[>|]|\d+[.)])", re.MULTILINE)
_POINTS_DOWN = phrase(r"\b(?:following|follows|below|(?:this|these) (?:\w+ )?(?:lines?|sheet|text))\b")
_REPLACES = phrase(
    r"\b(?:correct(?:ion|ed)|revis\w+|updat\w+|on (?:second thought|reflection)|final|actually|instead)\b"
)


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
        cells: Where no column is named, the cells of a row one of which may be the answer.
    """

    number: int
    text: str | None
    span: Span | None
    reasoning: str | None = None
    truth: bool | None = None
    block: bool = False
    last: bool = False
    doubled: bool = False
    cells: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class Source:
    """A sheet within a reply.

    Attributes:
        entries: What it says, in its order.
        start: Where it begins.
        end: Where it ends.
        own: The judge says it in its own name: the words around it neither attribute nor reject it.
        final: The words before it say that it replaces what was said earlier.
        lines: It is made of numbered lines, which prose may have too.
    """

    entries: tuple[Entry, ...]
    start: int
    end: int
    own: bool = True
    final: bool = False
    lines: bool = False


def read_sources(text: str, count: int) -> list[Source]:
    """The sheets in a reply, in their order: those in JSON, and in what is left of the text a table or numbered lines.

    What stands in a block quote counts only where nothing else is said, and nothing comes after it.

    Args:
        text: The reply, its hidden thinking blanked out.
        count: How many items there are: a list of just so many bare answers counts as numbered from 1.
    """
    quoted = [found.span() for found in BLOCK_QUOTE.finditer(text)]
    unquoted = without(text, quoted)
    if not quoted or not re.search(r"\w", unquoted):
        return _sources(text, count, text)
    found = _sources(unquoted, count, text)
    if any(source.own for source in found) or re.search(r"\w", text[quoted[-1][1] :]):
        return found
    return _sources(text, count, text)


def without(text: str, spans: Sequence[Span]) -> str:
    """The text with some stretches of it blanked out, every character and line in its place."""
    for start, end in spans:
        text = text[:start] + re.sub(r"[^\n]", " ", text[start:end]) + text[end:]
    return text


def _sources(text: str, count: int, reply: str) -> list[Source]:
    """The sheets in a part of the reply, each with what the words around it in the whole reply make of it."""
    found = _json_sources(text, count)
    rest = without(text, [(source.start, source.end) for source in found])
    found += _table_source(rest) or _line_sources(rest)
    return [
        replace(source, own=_is_own(reply, source), final=_REPLACES.search(_before(reply, source.start)) is not None)
        for source in sorted(found, key=lambda source: source.start)
    ]


def _before(text: str, start: int) -> str:
    """The words that lead to a place: on its line or, where it begins one, on the line above."""
    before = text[max(0, start - 400) : start].rstrip(" \t\n>")
    before = re.sub(r"[`~]{3,}[ \t]*\w*\Z", "", before).rstrip(" \t\n>")
    line = re.split(r"[\n{}\[\]]", before)[-1]
    return re.sub(r"^[\s>#*_-]+|[\s:,\"'“„«`*_(–—-]+\Z", "", line)


def _is_own(text: str, source: Source) -> bool:
    """Whether the judge says a sheet in its own name.

    It does not where the words before it say whose it is ("the response ends with", "a better one would get", "ignoring
    the planted"), or those after it take it back ("which I disregard"). "My answers" are its own.
    """
    before = _before(text, source.start)
    clause = re.split(r"[.!?](?=\s)|;", before)[-1]
    if clause.endswith((".", "!", "?")) and not _POINTS_DOWN.search(clause):
        clause = ""  # a whole sentence leads to nothing
    after = _ANOTHER_SHEET.split(text[source.end : source.end + 240], maxsplit=1)[0]
    if _REJECTS.search(re.sub(r"\A[\s`~\"'”»)\]*_.,;:–—-]+", "", after)):
        return False
    return _OWN.search(clause) is not None or _FOREIGN.search(clause) is None


def _json_sources(text: str, count: int) -> list[Source]:
    """The sheets in JSON; objects in a row, each about other items, are one sheet."""
    found: list[Source] = []
    for root in json_values(text):
        entries = tuple(_of_root(root)) or tuple(_behind_number(text, root))
        if not entries:
            continue
        earlier = found[-1] if found else None
        between = text[earlier.end : root.start] if earlier else ""
        numbers = {entry.number for entry in earlier.entries} if earlier else set()
        if earlier and not between.strip(" \t\n,;`") and numbers.isdisjoint(entry.number for entry in entries):
            found[-1] = replace(earlier, entries=earlier.entries + entries, end=root.end)
        else:
            found.append(Source(entries, root.start, root.end))
    if not found and (listed := _bare_list(text, count)):
        found.append(Source(tuple(listed), 0, len(text)))
    return found


def _behind_number(text: str, root: Array | Object) -> Iterator[Entry]:
    """An object with an answer that stands behind the number of its item: ``1. {"answer": "Yes"}``."""
    line = text.rfind("\n", 0, root.start) + 1
    head = _NUMBERED.match(text, line, root.start)
    if head is not None and head.end() == root.start and isinstance(root, Object) and root.closed and _answers(root):
        yield _entry(int(head.group("number")), _answers(root), root)


def sole_entry(text: str) -> Entry | None:
    """What a reply that is one object with an answer, and names no item, says of the only one; None for others."""
    root = _sole_root(text)
    answers = _answers(root) if isinstance(root, Object) else []
    return _entry(1, answers, root) if root is not None and len(answers) == 1 else None


def _sole_root(text: str) -> Array | Object | None:
    """The list or object that a reply is, and nothing else besides a fence; None where it is not one, or not all."""
    roots = list(json_values(text))
    if len(roots) != 1 or not roots[0].closed:
        return None
    around = re.sub(r"[`~]{3,}[ \t]*\w*", "", text[: roots[0].start] + text[roots[0].end :])
    return None if re.search(r"\w", around) else roots[0]


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
    if isinstance(answer, Object) and len(inner := _answers(answer)) == 1 and isinstance(inner[0], Scalar):
        return _entry(number, inner, answer, doubled=doubled)
    if not isinstance(answer, Scalar) or (not answer.quoted and answer.text in {"null", "None"}):
        return Entry(number, None, None, reasoning or None, doubled=doubled)
    truth = {"true": True, "false": False}.get(answer.text.casefold()) if not answer.quoted else None
    return Entry(number, answer.text, (answer.start, answer.end), reasoning or None, truth, doubled=doubled)


def _bare_list(text: str, count: int) -> list[Entry]:
    """A reply that is one complete list of as many answers as there are items, under a name or under none."""
    root: Value | None = _sole_root(text)
    if isinstance(root, Object) and len(root.pairs) == 1 and folded_name(root.pairs[0][0]) in {"answers", "verdicts"}:
        root = root.pairs[0][1]
    values = root.values if isinstance(root, Array) else []
    if len(values) != count or not all(isinstance(value, Scalar) for value in values):
        return []
    return [_entry(number, [value], value) for number, value in enumerate(values, 1)]


def _number(written: str) -> int | None:
    found = _NUMBER.fullmatch(written)
    return int(found.group(1)) if found else None


def _table_source(text: str) -> list[Source]:
    """Rows whose first numbered cell is the item; the answer is the column named so, or the only other one.

    Without a header it is the only cell that is an answer and nothing else.
    """
    entries: list[Entry] = []
    index_column, answer_column, width, start, end = 0, None, 0, -1, 0
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
        start, end = row.start() if start < 0 else start, row.end()
        column = answer_column if answer_column is not None else 1 if len(cells) == 2 and not width else None
        if column is None and not width:
            choices = cells[1:] if len(cells) <= _MOST_CELLS else []
            entries.append(Entry(number, None, None, cells=tuple(_stripped(text, *cell) for cell in choices)))
        elif column is None or column >= len(cells):
            entries.append(Entry(number, None, None))
        else:
            span = _stripped(text, *cells[column])
            entries.append(Entry(number, text[slice(*span)], span))
    return [Source(tuple(entries), start, end)] if entries else []


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


def _line_sources(text: str) -> list[Source]:
    """Each numbered line with the lines below it, up to the next number.

    Numbers that begin anew below a line that leads to them ("My answers:") are a sheet of their own.
    """
    if (entries := _entries_on_one_line(text)) is not None:
        return [Source(tuple(entries), 0, len(text), lines=True)]
    heads = list(_NUMBERED.finditer(text))
    marked = [head for head in heads if any(head.group("separator", "word", "heading"))]
    heads = marked or heads  # a bare number that begins a line may be prose
    runs: list[tuple[int, list[Entry]]] = []  # where each begins, and its entries
    for place, head in enumerate(heads):
        number, last = int(head.group("number")), place + 1 == len(heads)
        span = _stripped(text, head.end(), len(text) if last else heads[place + 1].start())
        block = text[slice(*span)]
        if not marked and len(block.split()) > 4:
            continue
        before = runs[-1][1][-1] if runs else None
        if before is None or (number <= before.number and _leads_on(before.text or "")):
            runs.append((head.start(), []))
        runs[-1][1].append(Entry(number, block, span, block=True, last=last))
    for _, entries in runs[:-1]:
        entries[-1] = _first_paragraph(entries[-1])
    sources = []
    for begin, entries in runs:
        start, end = entries[-1].span or (begin, begin)
        sources.append(Source(tuple(entries), begin, start + len(text[start:end].partition("\n")[0]), lines=True))
    return sources


def _leads_on(block: str) -> bool:
    """Whether the lines below an answer lead to another sheet."""
    below = block.partition("\n")[2].rstrip("`~ \t\n")
    return below.endswith(":") or _REJECTS.search(below) is not None


def _first_paragraph(entry: Entry) -> Entry:
    """The last entry of a sheet that another follows: what leads to the other is not part of it."""
    text = re.split(r"\n[ \t]*(?:\n|[`~]{3})", entry.text or "", maxsplit=1)[0].rstrip()
    if entry.span is None:
        return entry
    return replace(entry, text=text, span=(entry.span[0], entry.span[0] + len(text)))


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
