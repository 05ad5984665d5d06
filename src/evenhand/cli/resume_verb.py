"""``evenhand resume``: what providers' batches have brought, into the journal; or a run that goes on."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from evenhand.cli.output import complain, say
from evenhand.errors import EvenhandError, InvalidInputError
from evenhand.files import expanded
from evenhand.numbers import format_count

if TYPE_CHECKING:
    from evenhand.engines.base import JudgeEngine
    from evenhand.engines.batches import BatchJudge, BatchRecord, Collected
    from evenhand.engines.journal import Journal

EXIT_FAILED = 1
SQLITE = b"SQLite format 3\0"


def resume(
    file: Annotated[
        Path | None,
        Parameter(
            name="FILE", help="A journal (the one that runs use by default), a run file, or a saved result of a run."
        ),
    ] = None,
    /,
    *,
    wait: Annotated[
        bool, Parameter(help="Wait for batches that have not ended, too.", negative=(), show_default=False)
    ] = False,
    forget: Annotated[
        str | None,
        Parameter(help="Give up this batch, whose replies are lost: they are asked for again."),
    ] = None,
) -> int:
    """Collect what providers' batches have brought, and ask for nothing: a journal, or the run of a run file.

    With a journal, every batch in it that has ended is read, and its replies are recorded; the same run again then
    finds them there. With a run file, its run goes on: it waits for its batches and sends nothing twice.
    """
    from evenhand.engines.journal import Journal, default_journal_path  # noqa: PLC0415 - a second of import

    path = default_journal_path() if file is None else expanded(file)
    if not path.is_file():
        raise InvalidInputError(f"there is no journal and no run file {str(path)!r}: name the one that the run had")
    with path.open("rb") as opened:
        if opened.read(len(SQLITE)) != SQLITE:
            return _run_again(str(file))
    with Journal(path) as journal:
        if forget is not None:
            return _forget(journal, forget)
        return _collect(journal, wait=wait)


def _run_again(file: str) -> int:
    from evenhand.cli.run_file import RunFile, settled, verb_named  # noqa: PLC0415 - as above
    from evenhand.cli.verbs import run_verb  # noqa: PLC0415 - as above

    run = RunFile.read(file)
    verb = verb_named(run)
    return run_verb(verb, settled(verb, run, {}))


def _forget(journal: Journal, named: str) -> int:
    from evenhand.engines.batches import BatchRecords  # noqa: PLC0415 - as above

    records = BatchRecords(journal)
    batches = records.all()
    found = [each for each in batches if each.name == named]
    if not found:
        there = ", ".join(each.name for each in batches) or "none"
        raise InvalidInputError(f"the journal {str(journal.path)!r} has no batch {named!r}; it has {there}")
    for each in found:
        records.forget(each)
        say(f"{each.name} is given up; its {format_count(each.requests, 'request')} may be asked for again")
    return 0


def _collect(journal: Journal, *, wait: bool) -> int:
    from evenhand.engines.batches import BatchRecords  # noqa: PLC0415 - as above
    from evenhand.engines.litellm import LiteLLMEngine  # noqa: PLC0415 - as above
    from evenhand.engines.openai_compatible import OpenAICompatibleEngine  # noqa: PLC0415 - as above

    kinds = {kind.__name__: kind for kind in (OpenAICompatibleEngine, LiteLLMEngine)}
    records, before = BatchRecords(journal), journal.count()
    sent = records.all()
    left: list[BatchRecord] = []
    failed = 0
    for identity in dict.fromkeys(record.identity for record in sent):
        own = [record for record in sent if record.identity == identity]
        described = own[-1].engine
        try:
            engine = kinds[described["engine"]](**described["fields"])
            judge = engine.changed(batch=True).to_judge()
            _check_same(judge, identity)
            collected = _collected(judge, journal, wait=wait)  # type: ignore[arg-type] # batch=True
        except EvenhandError as error:
            complain(f"{format_count(len(own), 'batch')}: {error}")
            failed += len(own)
            continue
        left += collected.left
        failed += len(collected.failed)
        for _, why in collected.failed:
            complain(why)
    new = journal.count() - before
    say(f"{format_count(new, 'new reply')} of {format_count(len(sent), 'batch')} in {journal.path}")
    _tell_left(left)
    return EXIT_FAILED if failed else 0


def _check_same(judge: JudgeEngine, identity: str) -> None:
    """Refuse to look for batches elsewhere: an address may stand in the environment, which is another one here.

    Raises:
        InvalidInputError: If this is not the engine that sent them.
    """
    from evenhand.engines.journal import canonical_json  # noqa: PLC0415 - as above

    here = dict(judge.identity() or {})
    if canonical_json(here) != identity:
        sent = json.loads(identity)
        differ = [name for name in sent if sent[name] != here.get(name)] or sorted(here.keys() - sent.keys())
        name = differ[0]
        raise InvalidInputError(
            f"they were sent by {judge.judge_id!r} with {name} {sent.get(name)!r}, which is {here.get(name)!r} here: "
            "set the environment as it was there (such as OPENAI_API_BASE), and run this again"
        )


def _collected(judge: BatchJudge, journal: Journal, *, wait: bool) -> Collected:
    import asyncio  # noqa: PLC0415 - as above

    async def collect() -> Collected:
        async with judge.running():
            judge.keep_in(journal)
            return await judge.collect(wait=wait)

    return asyncio.run(collect())


def _tell_left(left: Sequence[BatchRecord]) -> None:
    for each in left:
        say(f"  {each.name} of {format_count(each.requests, 'request')} has not ended")
    if left:
        say("Run the same again later, or wait with --wait.")
