"""Run files to start from, and the JSON schema by which editors complete and check them: both read off declarations."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

from pydantic import create_model
from pydantic.fields import FieldInfo

from evenhand.cli.flags import plain
from evenhand.cli.run_file import SCHEMA_KEY, fields_of
from evenhand.cli.verb_table import VERBS, Verb
from evenhand.errors import InvalidInputError, did_you_mean
from evenhand.results.made_by import yaml_text

WIDTH: Final = 110
SCHEMA_FILE: Final = "run.schema.json"
SYSTEMS: Final = ["alder", "birch", "cedar"]
JUDGE: Final = "engines.evenhand.baseline"
JUDGE_SAID: Final = (
    "Who judges: a model as openai/gpt-4.1-mini (its key stands in OPENAI_API_KEY), a server's address with its model "
    "as http://localhost:8000/v1[model=NAME], or a catalog id; several are a panel. The baseline is text statistics "
    "without a model: put a real judge here."
)
DATA_SAID: Final = (
    "The rows: a .jsonl, .json, .csv or .parquet file, or a saved data set; 'demo' are those that ship with evenhand."
)
WRITTEN: Final = {"None": "null", "True": "true", "False": "false"}
LEFT_OUT: Final = ("dry_run", "log", "leave_out", "progress", "labels")
"""What templates do not show: it belongs to the shell, or is told where it belongs."""


@dataclass(frozen=True)
class Template:
    """A run file to start from.

    Attributes:
        job: The verb.
        told: What it is for.
        said: What it says: name -> value.
        why: Name -> a sentence that is more to the point than that of the declaration.
    """

    job: str
    told: str
    said: Mapping[str, Any]
    why: Mapping[str, str] = field(default_factory=dict)


CRITERION: Final = {
    "name": "tone",
    "description": "Is the response polite and calm, whatever it says?",
    "options": [
        {"label": "Yes", "value": 1, "description": "No word of it is rude, impatient or mocking."},
        {"label": "No", "value": 0, "description": "A reader could feel talked down to or pushed."},
    ],
}
RUBRIC: Final = {
    "name": "helpful_answer",
    "criteria": [
        {"name": "answers", "weight": 2, "requirement": "It answers the question that was asked."},
        {"name": "brief", "weight": 1, "requirement": "It says nothing that the reader does not need."},
    ],
}
CHECKLIST: Final = ["Does it answer the question that was asked?", "Is it free of claims that the context denies?"]
RESPONSES: Final = {"response_fields": SYSTEMS, "context_fields": ["question", "context"]}
PAIRS: Final = {"response_fields": ["birch", "cedar"], "context_fields": ["question", "context"]}
OVERALL: Final = "criteria.evenhand.pairwise.overall_quality"

TEMPLATES: Mapping[str, Template] = {
    "direct": Template(
        "judge",
        "A judge assesses every response by criteria.",
        {
            **RESPONSES,
            "engine": JUDGE,
            "criteria": ["criteria.evenhand.direct.relevance", CRITERION],
            "gold_fields": {"relevance": "{system}_relevance"},
        },
        {"criteria": "By what: catalog ids (evenhand catalog list criteria), files, plain sentences, or written out."},
    ),
    "rubric": Template(
        "judge",
        "A judge assesses every response by a rubric of weighted criteria.",
        {**RESPONSES, "engine": JUDGE, "rubric": RUBRIC},
        {"rubric": "By what: a catalog id (evenhand catalog list rubrics), a file, or written out, as here."},
    ),
    "checklist": Template(
        "checklist",
        "A judge answers yes/no questions about every response.",
        {**RESPONSES, "engine": JUDGE, "checklist": CHECKLIST},
        {"checklist": "The questions: a catalog id (evenhand catalog list checklists), a file, or written out."},
    ),
    "winrates": Template(
        "winrates",
        "A judge says which of two or more systems is better.",
        {**PAIRS, "engine": JUDGE, "criteria": OVERALL, "gold_fields": "preferred_{first}_{second}"},
    ),
    "panel": Template(
        "judge",
        "Several judges assess every response, and each vote counts.",
        {
            **RESPONSES,
            "engine": [JUDGE, "engines.evenhand.simulated"],
            "criteria": "criteria.evenhand.direct.relevance",
            "samples": 1,
        },
        {"engine": f"{JUDGE_SAID} The second is a simulated judge with known faults, which shows what a panel prints."},
    ),
    "local-server": Template(
        "judge",
        "A model on a server of yours (vLLM, Ollama, llama.cpp, LM Studio) judges.",
        {
            **RESPONSES,
            "engine": JUDGE,
            "criteria": "criteria.evenhand.direct.relevance",
            "flow": "one_step",
            "max_failure_rate": 0.2,
        },
        {"engine": "Put http://localhost:8000/v1[model=NAME] here, with the address of the server and its model."},
    ),
    "reliability": Template(
        "reliability",
        "How far a judge can be trusted: other orders, repeated draws, agreement with people.",
        {**PAIRS, "engine": JUDGE, "criteria": OVERALL, "gold_fields": "preferred_{first}_{second}", "samples": 3},
    ),
    "agreement": Template(
        "agreement",
        "How far recorded labels agree, without a judge being asked. (The demo has one annotator: these are labels of "
        "two systems, which need not agree.)",
        {
            "votes": ["alder_relevance", "birch_relevance"],
            "criteria": "criteria.evenhand.direct.relevance",
        },
    ),
}
"""Name -> a run file, each of which runs as it is, offline."""


def verb_of(job: str) -> Verb:
    """The verb of this name."""
    return next(verb for verb in VERBS if verb.name == job)


def run_template(name: str) -> str:
    """The text of a run file to start from; of ``list``, the names of all.

    Raises:
        InvalidInputError: If there is none of this name.
    """
    if name == "list":
        return "\n".join(f"{each:<14}{template.told}" for each, template in TEMPLATES.items())
    if name not in TEMPLATES:
        raise InvalidInputError(f"--template is {name!r}. {did_you_mean(name, TEMPLATES)}")
    template = TEMPLATES[name]
    verb = verb_of(template.job)
    fields = fields_of(verb)
    lines = [
        f"# yaml-language-server: $schema={SCHEMA_FILE}",
        *_comment(
            f"{template.told} It runs as it is, offline: evenhand run FILE. For completion in an editor: evenhand run "
            f"--schema > {SCHEMA_FILE}."
        ),
        f"job: {template.job}",
        "",
        *_entry("data", "demo", DATA_SAID),
    ]
    why = {"engine": JUDGE_SAID, **template.why}
    for each, value in template.said.items():
        lines += _entry(each, value, why.get(each) or _sentence(fields[each]))
    lines += _comment("All that follows may be left out; it stands here with its default.")
    for each, info in fields.items():
        if each not in {"data", *template.said, *LEFT_OUT} and each not in verb.one_of:
            lines += ["", *_comment(_sentence(info)), f"# {each}: {json.dumps(info.default)}"]
    return "\n".join(lines)


def _entry(name: str, value: object, why: str) -> list[str]:
    return [*_comment(why), *yaml_text({name: value}).splitlines(), ""]


def _comment(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False)


def _sentence(info: FieldInfo) -> str:
    text = plain(info.description or "", ())
    return re.sub(r"\b(None|True|False)\b", lambda found: WRITTEN[found[1]], text)


@cache
def run_schema() -> str:
    """The JSON schema of run files: the options of each job."""
    jobs = {verb.name: _schema_of(verb) for verb in VERBS}
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A run of evenhand",
        "type": "object",
        "required": ["job"],
        "properties": {"job": {"enum": list(jobs), "description": "What is done: the verb of the evenhand command."}},
        "allOf": [
            {
                "if": {"properties": {"job": {"const": name}}, "required": ["job"]},
                "then": {"$ref": f"#/$defs/{name}"},
            }
            for name in jobs
        ],
        "$defs": jobs,
    }
    return json.dumps(schema, indent=2, ensure_ascii=False)


def _schema_of(verb: Verb) -> dict[str, Any]:
    fields: Any = {name: (info.annotation, info) for name, info in fields_of(verb).items()}
    properties: dict[str, Any] = {}
    for name, each in create_model("Run", **fields).model_json_schema()["properties"].items():
        shape = {key: said for key, said in each.items() if key not in {"title", "accepted", "description"}}
        properties[name] = {"description": _sentence(fields[name][1]), **shape}
    named = {"job": {"const": verb.name}, SCHEMA_KEY: {"type": "string"}}
    return {"additionalProperties": False, "properties": {**named, **properties}}
