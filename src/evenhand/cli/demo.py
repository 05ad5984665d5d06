"""``evenhand demo``: the whole job on the data that ships with evenhand."""

from __future__ import annotations

import argparse
from typing import Any

from evenhand.cli.options import add_run_options, add_verb, run_options

BASELINE = "engines.evenhand.baseline"


def add_to(verbs: Any) -> None:  # noqa: ANN401 - argparse keeps the type private
    """Add the verb."""
    verb = add_verb(verbs, "demo", "Judge the data that ships with evenhand, offline unless an engine is given.", _run)
    verb.add_argument("--engine", default=BASELINE, help=f"the judge's catalog id (default: {BASELINE})")
    add_run_options(verb)


def _run(options: argparse.Namespace) -> int:
    from evenhand.demo import (  # noqa: PLC0415 - seconds of import
        COMPARISON,
        CRITERIA,
        GOLD_FIELDS,
        GOLD_PREFERENCE,
        SYSTEMS,
        load_demo_checklist,
        load_rows,
    )
    from evenhand.judging.settings import RunSettings  # noqa: PLC0415 - as above
    from evenhand.tables import checklist, judge, winrates  # noqa: PLC0415 - as above

    if options.engine == BASELINE:
        print(
            "No engine was given, so the judge is the embedded baseline: text statistics without a model. "
            "It shows how evenhand works, not how good an answer is. It never reads a question, so that it answers all "
            "questions of the checklist alike."
        )
    rows, how = load_rows(), run_options(options)
    RunSettings.from_options(how, ["ordinal", "pairwise"])  # what the second part refuses is refused before the first
    print(judge(rows, list(CRITERIA), options.engine, response_field=SYSTEMS, gold_fields=GOLD_FIELDS, **how))
    print(winrates(rows, SYSTEMS, COMPARISON, options.engine, gold_field=GOLD_PREFERENCE, **how))
    print(checklist(rows, load_demo_checklist(), options.engine, response_field=SYSTEMS, **_of_a_checklist(how)))
    print(
        "The same with a real model: evenhand demo --engine 'engines.evenhand.litellm[model=openai/gpt-4.1-mini]' "
        "or, for any OpenAI-compatible server, "
        "'engines.evenhand.openai_compatible[base_url=http://localhost:8000/v1,model=NAME]'"
    )
    return 0


def _of_a_checklist(how: dict[str, Any]) -> dict[str, Any]:
    """The options of the run that belong to a checklist; one rule for all scales does not fit yes and no."""
    left_out = {"flow", "scoring", "generate_summaries", "prompt"}
    if isinstance(how.get("aggregation"), str):
        left_out.add("aggregation")
    return {name: value for name, value in how.items() if name not in left_out}
