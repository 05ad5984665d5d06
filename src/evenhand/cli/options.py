"""Options that several verbs share."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.errors import InvalidInputError
from evenhand.numbers import format_cost

if TYPE_CHECKING:
    from evenhand.judging.estimate import RunEstimate


def add_verb(verbs: Any, name: str, summary: str, run: Callable[[argparse.Namespace], int]) -> argparse.ArgumentParser:  # noqa: ANN401 - argparse keeps the type private
    """A verb's parser, which knows what to run."""
    verb: argparse.ArgumentParser = verbs.add_parser(name, help=summary, description=summary, allow_abbrev=False)
    verb.set_defaults(run=run)
    return verb


def add_data_options(
    verb: argparse.ArgumentParser, *, judges: str = "several form a panel", written: str = "as JSONL"
) -> None:
    """What is judged by whom, and where the result goes."""
    verb.add_argument("data", metavar="DATA", help="a .jsonl, .csv or .parquet file, or a saved Hugging Face data set")
    verb.add_argument("--engine", required=True, nargs="+", metavar="ID", help=f"the judge; {judges}")
    verb.add_argument("--context", nargs="+", metavar="COLUMN", help="context columns, or NAME=COLUMN")
    verb.add_argument("--reference", metavar="COLUMN", help="the column with a known good answer")
    verb.add_argument("--split", help="which split of a saved Hugging Face data set")
    verb.add_argument("--out", type=Path, metavar="FILE", help=f"write the result there {written}")
    verb.add_argument("--dry-run", action="store_true", help="print calls, tokens and cost without a call")


def add_as_index(verb: argparse.ArgumentParser) -> None:
    """How numbers among labels are read."""
    verb.add_argument(
        "--as-index",
        action="store_true",
        help="labels that are numbers are places of options, 0 for the first (default: values of options)",
    )


def check_out(options: argparse.Namespace) -> None:
    """Check before the first call that the result can be written, and over nothing that the user gave.

    Raises:
        InvalidInputError: If ``--out`` is a folder, lies in none, or is a file that the run reads.
    """
    out: Path | None = options.out
    if out is None:
        return
    if out.is_dir():
        raise InvalidInputError(f"--out is {str(out)!r}, which is a folder; name a file in it")
    folder = out.resolve().parent
    if not folder.is_dir():
        raise InvalidInputError(f"--out is {str(out)!r}, but its folder does not exist; create it first")
    if not os.access(out if out.exists() else folder, os.W_OK):
        raise InvalidInputError(f"--out is {str(out)!r}, which may not be written; give another path")
    for given in (options.data, options.journal, *_files_read(options)):
        path = Path(given).expanduser()
        if out.exists() and path.exists() and out.samefile(path):
            raise InvalidInputError(f"--out is {str(out)!r}, the same file as the input {given!r}; give another path")


def _files_read(options: argparse.Namespace) -> list[str]:
    """What is judged and what is shown first, which may be files."""
    named = [getattr(options, name, None) for name in ("criteria", "rubric", "checklist", "examples")]
    return [each for given in named if given is not None for each in ([given] if isinstance(given, str) else given)]


def add_run_options(verb: argparse.ArgumentParser) -> None:
    """The options of a run, under the names that the Python functions give them."""
    group = verb.add_argument_group("how to judge")
    switch = argparse.BooleanOptionalAction
    group.add_argument("--flow", help="two_step (default; one_step for a rubric), one_step or verdict_only")
    group.add_argument("--prompt", help="the name of one of evenhand's prompts, or a file with your own")
    group.add_argument("--orders", help="given (default; shuffled for a rubric), reversed, both, cyclic or shuffled")
    group.add_argument("--shuffles", type=int, default=1, help="permutations that 'shuffled' draws (default: 1)")
    group.add_argument(
        "--check-positional-bias",
        metavar="true|false|SHARE",
        help="recheck in the reverse order (default: true; for a rubric false)",
    )
    group.add_argument("--samples", type=int, default=1, help="draws of each prompt (default: 1)")
    group.add_argument("--stop-early", action=switch, default=False, help="no draw that is not needed (default: no)")
    group.add_argument(
        "--confidence",
        default="predictive",
        metavar="predictive|SHARE|none",
        help="when --stop-early stops: once the outcome of all draws is 98.5 %% probable (the default), once the lead "
        "of an option is as probable as this share, or once nothing else is possible",
    )
    group.add_argument("--max-reasks", type=int, default=1, help="for a reply that names no option (default: 1)")
    group.add_argument("--generate-summaries", action=switch, default=False, help="of each assessment (default: no)")
    group.add_argument("--include-prompts-in-result", action=switch, default=True, help="keep prompts (default: yes)")
    group.add_argument(
        "--aggregation", nargs="+", metavar="RULE|SCALE=RULE", help="the panel rule (default: the scale's)"
    )
    group.add_argument("--on-position-bias", help="average, tie, abstain or first (default: the scale's)")
    group.add_argument("--scoring", default="selected", help="selected (default) or expected (log-probabilities)")
    group.add_argument("--min-mass", type=float, default=0.5, help="that log-probabilities must cover (default: 0.5)")
    group.add_argument("--judge-weights", type=float, nargs="+", metavar="WEIGHT", help="one a judge")
    group.add_argument("--max-failure-rate", type=float, default=0.2, help="failed votes tolerated (default: 0.2)")
    group.add_argument("--max-calls", type=int, help="calls to launch at most")
    group.add_argument("--max-cost", type=float, help="US dollars after which no call is launched")
    group.add_argument("--level", type=float, default=0.95, help="of the intervals (default: 0.95)")
    add_interval_options(group)
    group.add_argument("--seed", type=int, default=0, help="of everything random (default: 0)")
    group.add_argument("--journal", default="default", help="a file, 'none', or 'default' for the user cache directory")
    group.add_argument("--progress", action=switch, default=True, help="show a progress bar (default: yes)")


def add_interval_options(group: argparse._ActionsContainer) -> None:
    """Which rows belong together, and how intervals are made."""
    group.add_argument(
        "--cluster-field", "--cluster", metavar="COLUMN|none", help="rows with equal values there belong together"
    )
    group.add_argument(
        "--interval", default="auto", help="auto (default), bounded, t, t_logit, bootstrap, mid_p or exact"
    )


def interval_options(options: argparse.Namespace) -> dict[str, Any]:
    """The same as the Python functions take it; 'none' says that rows do not depend on each other."""
    return {
        "cluster_field": False if options.cluster_field == "none" else options.cluster_field,
        "interval": options.interval,
    }


def run_options(options: argparse.Namespace) -> dict[str, Any]:
    """The run's options as the Python functions take them; what has another default for a rubric only when given."""
    bias_check = None if options.check_positional_bias is None else _bias_check(options.check_positional_bias)
    own = {"flow": options.flow, "orders": options.orders, "check_positional_bias": bias_check}
    return {
        **{name: value for name, value in own.items() if value is not None},
        "shuffles": options.shuffles,
        "samples": options.samples,
        "stop_early": options.stop_early,
        "confidence": _confidence(options.confidence),
        "prompt": text_or_file(options.prompt),
        "max_reasks": options.max_reasks,
        "generate_summaries": options.generate_summaries,
        "include_prompts_in_result": options.include_prompts_in_result,
        "aggregation": _aggregation(options.aggregation),
        "scoring": options.scoring,
        "min_mass": options.min_mass,
        "on_position_bias": options.on_position_bias,
        "judge_weights": options.judge_weights,
        "max_failure_rate": options.max_failure_rate,
        "max_calls": options.max_calls,
        "max_cost": options.max_cost,
        "level": options.level,
        **interval_options(options),
        "seed": options.seed,
        "journal": None if options.journal == "none" else options.journal,
        "progress": options.progress,
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


def _confidence(text: str) -> float | str | None:
    if text in {"none", "predictive"}:
        return None if text == "none" else text
    try:
        return float(text)
    except ValueError as error:
        raise InvalidInputError(
            f"--confidence is {text!r}; accepted: 'predictive', a number such as 0.95, or 'none'"
        ) from error


def _aggregation(given: Sequence[str] | None) -> str | dict[str, str] | None:
    """One rule for all scales, or SCALE=RULE texts."""
    if given is None:
        return None
    if len(given) == 1 and "=" not in given[0]:
        return given[0]
    rules = {}
    for text in given:
        scale, equals, rule = text.partition("=")
        if not equals:
            raise InvalidInputError(
                f"--aggregation is {text!r} beside others; accepted: one rule, or SCALE=RULE as ordinal=median"
            )
        rules[scale] = rule
    return rules


def text_or_file(given: str | None) -> str | None:
    """What is given, or the text of the file that it names."""
    try:
        named = given is not None and Path(given).expanduser().is_file()
    except OSError:  # a text too long for a file's name
        named = False
    return Path(str(given)).expanduser().read_text(encoding="utf-8") if named else given


def print_estimate(estimate: RunEstimate) -> None:
    """What ``--dry-run`` prints."""
    cost = "unknown (no price for this engine)" if estimate.cost is None else format_cost(estimate.cost)
    print(f"votes: {estimate.votes}")
    print(f"calls: {estimate.calls} (and {estimate.cached} answered by the journal), re-asks and retries not counted")
    print(f"tokens: about {estimate.prompt_tokens} in and {estimate.completion_tokens} out")
    print(f"cost: {cost}")


def system_names(words: Sequence[str] | None, known: Collection[str]) -> list[str] | None:
    """The systems that are named: a word is split at its commas, unless it is a name as it stands.

    >>> system_names(["gpt,llama", "a, b"], {"gpt", "llama", "a, b"})
    ['gpt', 'llama', 'a, b']
    """
    if words is None:
        return None
    names = [name for word in words for name in ([word] if word in known else word.split(","))]
    return [name.strip() if name not in known else name for name in names if name.strip()]


def column_pairs(given: Sequence[str] | None, option: str, *, bare: bool) -> dict[str, str] | None:
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
