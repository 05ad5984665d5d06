"""The pages that are made when the site is built: catalog, command line, options, Python names and notebooks.

They are not written down anywhere: what they show is read from the catalog and the package.
"""

import dataclasses
import html
import importlib
import json
import pkgutil
import re
from collections import defaultdict
from pathlib import Path

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, InclusionLevel

NAMES = {
    "judging": (
        "Judging and reading",
        [
            "Judge",
            "judge",
            "winrates",
            "checklist",
            "grade_scores",
            "run_mode",
            "reliability",
            "read_replies",
            "read_log",
            "aggregate_votes",
            "agreement",
            "from_results",
            "open",
            "load",
            "register",
            "evaluation_module",
            "match_closest_option",
            "Mode",
            "Subject",
        ],
    ),
    "results": ("Results", ["Results", "ReliabilityReport"]),
    "labels": (
        "Labels of people",
        [
            "correct",
            "CorrectedScores",
            "to_label",
            "read_labels",
            "plan",
        ],
    ),
    "engines": (
        "Engines",
        [
            "OpenAICompatibleEngine",
            "LiteLLMEngine",
            "BaselineEngine",
            "SimulatedEngine",
            "JudgeEngine",
        ],
    ),
    "metrics": (
        "Metrics of unitxt",
        [
            "DirectJudge",
            "RubricJudge",
            "ChecklistJudge",
            "PairwiseJudge",
            "BestOfJudge",
            "GradeScore",
            "ModeJudge",
            "VoteAggregation",
        ],
    ),
    "values": (
        "Values",
        [
            "Criterion",
            "Option",
            "Rubric",
            "Checklist",
            "ChecklistItem",
            "Question",
            "Completion",
            "Vote",
            "Verdict",
            "EvenhandError",
        ],
    ),
}
"""Page -> its title, and the public names on it."""

FOLDERS = {
    "criteria": "Criteria",
    "rubrics": "Rubrics",
    "checklists": "Checklists",
    "engines": "Engines",
    "metrics": "Metrics",
}


def on_files(files, config):
    """Add the pages."""
    reference = {**python_pages(), **catalog_pages(), "command-line": command_line(), "options": options()}
    pages = {f"reference/{name}.md": text for name, text in reference.items()}
    for source in Path(config["docs_dir"]).glob("notebooks/*.ipynb"):
        pages[f"notebooks/{source.stem}.md"] = notebook(json.loads(source.read_text(encoding="utf-8")))
    for path, text in pages.items():
        listed = (
            InclusionLevel.NOT_IN_NAV if ".evenhand." in path else InclusionLevel.INCLUDED
        )  # their index leads there
        files.append(File.generated(config, path, content=text, inclusion=listed))
    return files


def on_page_markdown(markdown, page, **_):
    """Append the names of all measures to the page about them."""
    return f"{markdown}\n{measure_tables()}" if page.file.src_uri == "measures.md" else markdown


def measure_tables():
    """Return one table per result class: the name, the kind and the meaning of each declared measure."""
    import evenhand

    lines = []
    for module in pkgutil.walk_packages(evenhand.__path__, "evenhand."):
        if module.name.split(".")[1] in {"__main__", "integrations"}:
            continue
        for owner in vars(importlib.import_module(module.name)).values():
            if not (isinstance(owner, type) and owner.__module__ == module.name and dataclasses.is_dataclass(owner)):
                continue
            declared = {
                field.name: field.metadata["measure"]
                for field in dataclasses.fields(owner)
                if "measure" in field.metadata
                and field.name in owner.__annotations__
                and (field.metadata["measure"].name != "" or "Interval" in str(owner.__annotations__[field.name]))
            }  # but for the parts without a name, which have tables of their own
            if declared:
                meanings = dict(re.findall(r"^ {8}(\w+): (.*(?:\n {9,}.*)*)", owner.__doc__ or "", re.MULTILINE))
                lines += ["", f"### {owner.__name__}", "", "| name | kind | meaning |", "|---|---|---|"]
                lines += [
                    f"| `{name if each.name is None else each.name or 'the score itself'}` | {each.kind} | {_cell(_prose(meanings.get(name, '')))} |"
                    for name, each in declared.items()
                ]
    return "\n".join(lines) + "\n"


def notebook(given):
    """A notebook as a page."""
    parts = []
    for cell in given["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
        else:
            parts += [f"```python\n{source}\n```", *map(_output, cell["outputs"])]
    return "\n\n".join(parts) + "\n"


def _output(output):
    data = output.get("data", {"text/plain": output.get("text", "")})
    if "image/png" in data:
        return f'<img alt="{html.escape("".join(data["text/plain"]))}" src="data:image/png;base64,{data["image/png"].strip()}">'
    if "text/html" in data:
        return f'<div class="output">{" ".join("".join(data["text/html"]).split())}</div>'
    return "```text\n" + re.sub(r"\x1b\[[0-9;]*m", "", "".join(data["text/plain"])).rstrip() + "\n```"


def python_pages():
    """A page for each group of public names, and one for the statistics."""
    import evenhand
    from evenhand import statistics

    placed = {name for _, names in NAMES.values() for name in names}
    if gone := placed - {*evenhand.__all__}:
        raise PluginError(f"docs/hooks.py names what is not public: {sorted(gone)}")
    NAMES["judging"][1].extend(sorted({*evenhand.__all__} - placed))  # the names that no page has
    pages = {
        page: f"# {title}\n\n" + "\n".join(f"::: evenhand.{name}\n" for name in names)
        for page, (title, names) in NAMES.items()
    }
    functions = "\n".join(f"::: evenhand.statistics.{name}\n" for name in statistics.__all__)
    pages["statistics"] = (
        "# Statistics\n\nArrays in, frozen results out; each says its formula, its source and what it makes of ties "
        f"and of what is missing. In words: [every measure](../measures.md).\n\n{functions}"
    )
    return pages


def command_line():
    """The verbs and their options, as cyclopts knows them."""
    from evenhand.cli.app import command_line as made

    text = made().generate_docs(output_format="markdown")
    head, _, verbs = text.partition("\n## Table of Contents\n")
    verbs = verbs[verbs.index("**Commands**") :]
    return _escaped(head.replace("# evenhand", "# The command line", 1)) + "\n" + _escaped(verbs)


def _escaped(text):
    """Text in which nothing is HTML."""
    parts = re.split(r"(```.*?```|`[^`\n]*`)", text, flags=re.DOTALL)
    return "".join(part if part.startswith("`") else part.replace("<", "&lt;") for part in parts)


def options():
    """Every option of a run, as it is declared."""
    from evenhand import options as declared
    from evenhand.engines import base, batches, free_engines, hosted, remote
    from evenhand.options import Options

    lines = [
        "# Options of a run",
        "",
        "Keyword arguments of the functions, fields of the metrics, options of the shell (`--max-cost`) and keys of run "
        "files are the same, and are declared once. The fields of engines follow.",
    ]
    kinds = [
        each for module in (declared, base, remote, batches, hosted, free_engines) for each in vars(module).values()
    ]
    for model in dict.fromkeys(each for each in kinds if isinstance(each, type) and Options in each.__mro__[1:]):
        own = {
            field: info for field, info in model.model_fields.items() if field in vars(model).get("__annotations__", {})
        }
        bases = [
            f"[{each.__name__}](#{each.__name__.lower()})" for each in model.__bases__ if Options in each.__mro__[1:]
        ]
        if own or bases:
            summary = (model.__doc__ or "").strip().splitlines()[0]
            lines += ["", f"## {model.__name__}", "", _prose(summary), "", f"With {', '.join(bases)}." if bases else ""]
        if own:
            lines += ["", "| option | default | what it does |", "|---|---|---|"]
            lines += [
                f"| `{field}` | `{_cell(repr(info.default))}` | {_cell(_prose(info.description or ''))} |"
                for field, info in own.items()
            ]
    return "\n".join(lines) + "\n"


def catalog_pages():
    """A page for every entry of the catalog, and one that lists them."""
    from evenhand.catalog import catalog_entries

    pages, listed = {}, defaultdict(list)
    for identifier, path in catalog_entries().items():
        entry = json.loads(path.read_text(encoding="utf-8"))
        folder = identifier.partition(".")[0]
        pages[f"catalog/{identifier}"] = _entry_page(identifier, folder, entry)
        listed[folder].append(f"| [`{identifier}`]({identifier}.md) | {_cell(entry['__description__'])} |")
    lines = [
        "# The catalog",
        "",
        "What can be judged by, and with, as it ships: give an id wherever a criterion, a rubric, a checklist, an engine or "
        "a metric may stand. In the shell: `evenhand catalog list`, `evenhand catalog show ID`.",
    ]
    for folder, title in FOLDERS.items():
        lines += ["", f"## {title}", "", "| id | |", "|---|---|", *listed[folder]]
    pages["catalog/index"] = "\n".join(lines) + "\n"
    return pages


def _entry_page(identifier, folder, entry):
    """What an entry says, as people read it."""
    lines = [f"# {identifier.split('.', 2)[2]}", "", f"`{identifier}`", "", _prose(entry["__description__"]), ""]
    if entry.get("description"):
        lines += [f"> {_prose(entry['description'])}", ""]
    if context := entry.get("context_fields"):
        shown = ", ".join(f"`{name}`" for name in ([context] if isinstance(context, str) else context))
        lines += [f"The judge is shown with the response: {shown}.", ""]
    if entry.get("options"):
        lines += _options(entry["options"], entry.get("option_map") or {}, entry.get("na_options") or [])
    for section in [entry, *(entry.get("sections") or [])]:
        if section is not entry:
            lines += [f"## {_prose(section['name'])}", ""]
        for each in [*(section.get("criteria") or []), *(section.get("items") or [])]:
            lines += _part(each)
    lines += [_how_to_use(identifier, folder), ""]
    tags = ", ".join(f"{name}: {value}" for name, value in (entry.get("__tags__") or {}).items())
    return "\n".join([*lines, f"Tags: {_prose(tags)}.", "" if folder in {"engines", "metrics"} else _source(entry)])


def _part(each):
    """A criterion of a rubric, or an item of a checklist."""
    if isinstance(each, str):
        return [f"- {_prose(each)}", ""]
    text = each.get("requirement") or each.get("question") or each.get("description") or ""
    details = {name: each[name] for name in ("weight", "category", "prerequisites") if name in each}
    lines = [f"**{_prose(str(each.get('name', '')))}** {_prose(text)}", ""]
    if details:
        lines += [", ".join(f"{name} {_prose(str(value))}" for name, value in details.items()), ""]
    return lines + (_options(each["options"], {}, []) if each.get("options") else [])


def _options(given, values, na):
    lines = ["| option | value | |", "|---|---|---|"]
    for option in given:
        label = option.get("name") or option.get("label")
        value = "does not apply" if label in na or option.get("na") else option.get("value", values.get(label, "–"))
        lines.append(f"| {_cell(_prose(str(label)))} | {value} | {_cell(_prose(option.get('description', '')))} |")
    return [*lines, ""]


def _how_to_use(identifier, folder):
    verb = {
        "criteria": f"judge rows.jsonl --response-fields answer --criteria {identifier} --engine ID",
        "rubrics": f"judge rows.jsonl --response-fields answer --criteria {identifier} --engine ID",
        "checklists": f"checklist rows.jsonl --response-fields answer --checklist {identifier} --engine ID",
    }.get(folder)
    if ".pairwise." in identifier:
        verb = f"winrates rows.jsonl --response-fields old new --criteria {identifier} --engine ID"
    return f"    evenhand {verb}" if verb else f"In a recipe: `{identifier}[…]`."


def _source(entry):
    shown = json.dumps({name: value for name, value in entry.items() if name != "__id__"}, indent=2, ensure_ascii=False)
    return f"\n## As it stands in the catalog\n\n```json\n{shown}\n```\n"


def _prose(text):
    """A text of the package as Markdown: marked code stays code, and nothing is HTML, a link or a table."""
    text = re.sub(r":\w+:`(?:~[\w.]*\.)?([^`]+)`", r"`\1`", text).replace("``", "`")
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(
        part if part.startswith("`") else re.sub(r"([\\*_\[\]#|])", r"\\\1", html.escape(part, quote=False))
        for part in parts
    )


def _cell(text):
    return " ".join(text.split()).replace("\\|", "|").replace("|", "\\|")
