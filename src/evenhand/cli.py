"""The ``evenhand`` command: the verbs and option names of the Python functions, for the shell."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand import __version__
from evenhand.errors import EvenhandError, InvalidInputError, MissingDependencyError, TooManyFailuresError, did_you_mean

if TYPE_CHECKING:
    from evenhand.judging.run import RunEstimate

BASELINE = "engines.evenhand.baseline"
EXIT_BAD_INPUT = 2
EXIT_FAILED = 1
EXIT_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code (0 done, 1 the run failed, 2 bad input, 130 interrupted)."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given[:1] == ["unitxt"]:  # everything behind it belongs to unitxt's own parser
        return _unitxt(given[1:])
    options = _parser().parse_args(given)
    try:
        return int(options.run(options))
    except (InvalidInputError, MissingDependencyError) as error:
        print(f"evenhand: {error}", file=sys.stderr)
        return EXIT_BAD_INPUT
    except TooManyFailuresError as error:
        print(f"evenhand: {error}", file=sys.stderr)
        return EXIT_FAILED
    except EvenhandError as error:
        print(f"evenhand: {error}", file=sys.stderr)
        return EXIT_FAILED
    except KeyboardInterrupt:
        print("evenhand: interrupted; run the same again, and it goes on where it stopped", file=sys.stderr)
        return EXIT_INTERRUPTED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="evenhand",
        description="LLM judges for unitxt that say truthfully how far their judgement can be trusted.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"evenhand {__version__}")
    verbs = parser.add_subparsers(title="verbs", required=True, metavar="VERB")
    _add_demo(verbs)
    _add_judge(verbs)
    _add_catalog(verbs)
    verbs.add_parser("unitxt", help="unitxt-evaluate with evenhand's catalog registered; takes its options")
    return parser


def _add_verb(verbs: Any, name: str, summary: str, run: Callable[[argparse.Namespace], int]) -> argparse.ArgumentParser:  # noqa: ANN401 - argparse keeps the type private
    verb: argparse.ArgumentParser = verbs.add_parser(name, help=summary, description=summary, allow_abbrev=False)
    verb.set_defaults(run=run)
    return verb


def _add_demo(verbs: Any) -> None:  # noqa: ANN401 - as above
    verb = _add_verb(
        verbs, "demo", "Judge the data that ships with evenhand, offline unless an engine is given.", _demo
    )
    verb.add_argument("--engine", default=BASELINE, help=f"the judge's catalog id (default: {BASELINE})")
    _add_run_options(verb)


def _add_judge(verbs: Any) -> None:  # noqa: ANN401 - as above
    verb = _add_verb(verbs, "judge", "Assess the responses of a data set against criteria.", _judge)
    verb.add_argument("data", metavar="DATA", help="a .jsonl, .csv or .parquet file, or a saved Hugging Face data set")
    verb.add_argument(
        "--criteria", required=True, nargs="+", metavar="ID", help="catalog ids or JSON files of criteria"
    )
    verb.add_argument("--engine", required=True, nargs="+", metavar="ID", help="the judge; several form a panel")
    verb.add_argument("--response", required=True, nargs="+", metavar="COLUMN", help="response columns, one a system")
    verb.add_argument("--context", nargs="+", metavar="COLUMN", help="context columns, or NAME=COLUMN")
    verb.add_argument("--reference", metavar="COLUMN", help="the column with a known good answer")
    verb.add_argument("--gold", nargs="+", metavar="CRITERION=COLUMN", help="columns with labels that people gave")
    verb.add_argument("--split", help="which split of a saved Hugging Face data set")
    verb.add_argument("--out", type=Path, metavar="FILE", help="write the verdicts there as JSONL")
    verb.add_argument("--dry-run", action="store_true", help="print calls, tokens and cost without a call")
    _add_run_options(verb)


def _add_catalog(verbs: Any) -> None:  # noqa: ANN401 - as above
    verb = _add_verb(verbs, "catalog", "List, show, locate and check the entries of the catalog.", _catalog)
    verb.add_argument("action", choices=("list", "show", "path", "check"))
    verb.add_argument("entry", nargs="?", metavar="ID", help="an id; for list, a part of one")


def _add_run_options(verb: argparse.ArgumentParser) -> None:
    """The options of a run, under the names that the Python functions give them."""
    group = verb.add_argument_group("how to judge")
    group.add_argument("--flow", default="two_step", help="two_step (default) or one_step")
    group.add_argument("--orders", default="given", help="given (default), reversed, both, cyclic or shuffled")
    group.add_argument(
        "--check-positional-bias", default="true", metavar="true|false|SHARE", help="recheck (default: true)"
    )
    group.add_argument("--samples", type=int, default=1, help="draws of each prompt (default: 1)")
    group.add_argument("--aggregation", help="the panel rule (default: the scale's)")
    group.add_argument("--on-position-bias", help="average, tie, abstain or first (default: the scale's)")
    group.add_argument("--judge-weights", type=float, nargs="+", metavar="WEIGHT", help="one a judge")
    group.add_argument("--max-failure-rate", type=float, default=0.2, help="failed votes tolerated (default: 0.2)")
    group.add_argument("--max-calls", type=int, help="calls to launch at most")
    group.add_argument("--max-cost", type=float, help="US dollars after which no call is launched")
    group.add_argument("--level", type=float, default=0.95, help="of the intervals (default: 0.95)")
    group.add_argument("--seed", type=int, default=0, help="of everything random (default: 0)")
    group.add_argument("--journal", default="default", help="a file, 'none', or 'default' for the user cache directory")
    group.add_argument("--no-progress", action="store_true", help="show no progress bar")


def run_options(options: argparse.Namespace) -> dict[str, Any]:
    """The run's options as the Python functions take them."""
    return {
        "flow": options.flow,
        "orders": options.orders,
        "check_positional_bias": _bias_check(options.check_positional_bias),
        "samples": options.samples,
        "aggregation": options.aggregation,
        "on_position_bias": options.on_position_bias,
        "judge_weights": options.judge_weights,
        "max_failure_rate": options.max_failure_rate,
        "max_calls": options.max_calls,
        "max_cost": options.max_cost,
        "level": options.level,
        "seed": options.seed,
        "journal": None if options.journal == "none" else options.journal,
        "progress": not options.no_progress,
    }


def _bias_check(text: str) -> bool | float:
    if text in {"true", "false"}:
        return text == "true"
    try:
        return float(text)
    except ValueError as error:
        raise InvalidInputError(
            f"--check-positional-bias is {text!r}; accepted: 'true', 'false', or a share such as 0.2"
        ) from error


def _demo(options: argparse.Namespace) -> int:
    from evenhand.demo import CRITERIA, GOLD_FIELDS, SYSTEMS, load_rows  # noqa: PLC0415 - seconds of import
    from evenhand.tables import judge  # noqa: PLC0415 - as above

    if options.engine == BASELINE:
        print(
            "No engine was given, so the judge is the embedded baseline: text statistics without a model. "
            "It shows how evenhand works, not how good an answer is."
        )
    table = judge(
        load_rows(),
        list(CRITERIA),
        options.engine,
        response_field=SYSTEMS,
        gold_fields=GOLD_FIELDS,
        **run_options(options),
    )
    print(table)
    print(
        "The same with a real model: evenhand demo --engine 'engines.evenhand.litellm[model=openai/gpt-4.1-mini]' "
        "or, for any OpenAI-compatible server, "
        "'engines.evenhand.openai_compatible[base_url=http://localhost:8000/v1,model=NAME]'"
    )
    return 0


def _judge(options: argparse.Namespace) -> int:
    from evenhand.tables import judge, read_file  # noqa: PLC0415 - seconds of import

    rows = read_file(options.data, options.split)
    if options.out is not None and not options.out.resolve().parent.is_dir():
        raise InvalidInputError(f"--out is {str(options.out)!r}, but its folder does not exist; create it first")
    given: dict[str, Any] = {
        "response_field": options.response,
        "context_fields": _pairs(options.context, "--context", bare=True),
        "reference_field": options.reference,
        "gold_fields": _pairs(options.gold, "--gold", bare=False),
        **run_options(options),
    }
    if options.dry_run:
        _print_estimate(judge(rows, options.criteria, options.engine, dry_run=True, **given))
        return 0
    table = judge(rows, options.criteria, options.engine, **given)
    print(table)
    if options.out is not None:
        table.save(options.out)
        print(f"{len(table.judgements)} verdicts written to {options.out}")
    return 0


def _print_estimate(estimate: RunEstimate) -> None:
    cost = "unknown (no price for this engine)" if estimate.cost is None else f"${estimate.cost:.4f}"
    print(f"votes: {estimate.votes}")
    print(f"calls: {estimate.calls} (and {estimate.cached} answered by the journal), re-asks and retries not counted")
    print(f"tokens: about {estimate.prompt_tokens} in and {estimate.completion_tokens} out")
    print(f"cost: {cost}")


def _pairs(given: Sequence[str] | None, option: str, *, bare: bool) -> dict[str, str] | None:
    """``NAME=COLUMN`` texts as a mapping; a bare ``COLUMN`` names itself where that is allowed."""
    if given is None:
        return None
    pairs = {}
    for text in given:
        name, equals, column = text.partition("=")
        if not equals and not bare:
            raise InvalidInputError(f"{option} is {text!r}; accepted: CRITERION=COLUMN, as relevance=gold_relevance")
        pairs[name] = column if equals else name
    return pairs


def _catalog(options: argparse.Namespace) -> int:
    from evenhand.registration import catalog_path, register  # noqa: PLC0415 - seconds of import

    root = catalog_path()
    entries = {".".join(path.relative_to(root).with_suffix("").parts): path for path in sorted(root.rglob("*.json"))}
    if options.action == "path":
        print(root if options.entry is None else _entry(entries, options.entry))
    elif options.action == "list":
        for identifier, path in entries.items():
            if options.entry is None or options.entry in identifier:
                print(f"{identifier:<58} {json.loads(path.read_text(encoding='utf-8')).get('__description__', '')}")
    elif options.action == "show":
        if options.entry is None:
            raise InvalidInputError("catalog show needs an id, such as criteria.evenhand.direct.relevance")
        print(_entry(entries, options.entry).read_text(encoding="utf-8"), end="")
    else:
        register()
        return _check_entries(entries)
    return 0


def _entry(entries: dict[str, Path], identifier: str) -> Path:
    if identifier not in entries:
        raise InvalidInputError(f"the catalog has no entry {identifier!r}. {did_you_mean(identifier, entries)}")
    return entries[identifier]


def _check_entries(entries: dict[str, Path]) -> int:
    """Build every entry; name those that cannot be built."""
    from evenhand.artifacts import check_entry  # noqa: PLC0415 - seconds of import

    faults = {identifier: fault for identifier, path in entries.items() if (fault := check_entry(path))}
    for identifier, fault in faults.items():
        print(f"{identifier}: {fault}", file=sys.stderr)
    print(f"{len(entries) - len(faults)} of {len(entries)} entries are sound")
    return EXIT_FAILED if faults else 0


def _unitxt(arguments: Sequence[str]) -> int:
    """Unitxt's own command line in this environment, with the catalog and the classes registered."""
    code = (
        "import sys; from evenhand.registration import register; register(); "
        "from unitxt.evaluate_cli import main; sys.argv[0] = 'evenhand unitxt'; sys.exit(main())"
    )
    return subprocess.run([sys.executable, "-c", code, *arguments], check=False).returncode  # noqa: S603 - the user's own words
