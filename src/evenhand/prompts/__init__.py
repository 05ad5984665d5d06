"""The prompts: one Markdown (Jinja) file a stage, rendered in one pass.

Data are never parsed as templates, so braces in an answer stay braces. Every data slot stands between tags that carry
a nonce, which the data cannot know (:func:`nonce_for`).
"""

from __future__ import annotations

import hashlib
import json
from functools import cache
from importlib import resources
from typing import Literal, get_args

from jinja2 import Environment, FunctionLoader, StrictUndefined, Template, TemplateSyntaxError, meta, nodes

from evenhand.errors import InvalidPromptError, did_you_mean

PromptName = Literal[
    "direct_assessment",
    "direct_one_step",
    "comparison_assessment",
    "comparison_one_step",
    "selection",
    "reask",
    "summary",
]

PLACEHOLDERS: dict[PromptName, frozenset[str]] = {
    "direct_assessment": frozenset(
        {"criterion_name", "criterion_description", "context", "responses", "options", "nonce"}
    ),
    "direct_one_step": frozenset(
        {"criterion_name", "criterion_description", "context", "responses", "options", "nonce"}
    ),
    "comparison_assessment": frozenset(
        {"criterion_name", "criterion_description", "context", "responses", "lettered_responses", "nonce"}
    ),
    "comparison_one_step": frozenset(
        {"criterion_name", "criterion_description", "context", "responses", "lettered_responses", "options", "nonce"}
    ),
    "selection": frozenset({"criterion_name", "options"}),
    "reask": frozenset({"options"}),
    "summary": frozenset({"assessment", "nonce"}),
}
"""What each template is filled with; a template that names anything else, or leaves one out, is refused."""


def _read_source(name: str) -> str:
    return resources.files(__name__).joinpath(name).read_text(encoding="utf-8")


_ENVIRONMENT = Environment(
    loader=FunctionLoader(_read_source),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
    autoescape=False,  # noqa: S701 - the output is a prompt, not HTML
)


def undeclared_placeholders(name: str) -> frozenset[str]:
    """The placeholders that a template and the parts that it includes name."""
    tree = _ENVIRONMENT.parse(_read_source(name))
    found = set(meta.find_undeclared_variables(tree))
    for include in tree.find_all(nodes.Include):
        if isinstance(include.template, nodes.Const):
            found |= undeclared_placeholders(include.template.value)
    return frozenset(found)


@cache
def load_prompt(name: PromptName) -> Template:
    """The template of a stage.

    Raises:
        InvalidPromptError: If there is no such stage, or the file's placeholders are not the stage's.
    """
    if name not in get_args(PromptName):
        raise InvalidPromptError(f"there is no prompt {name!r}. {did_you_mean(name, get_args(PromptName))}")
    try:
        found = undeclared_placeholders(f"{name}.md")
        template = _ENVIRONMENT.get_template(f"{name}.md")
    except TemplateSyntaxError as error:
        raise InvalidPromptError(
            f"the prompt {name!r} is not a valid template: line {error.lineno}: {error}"
        ) from error
    if found != PLACEHOLDERS[name]:
        raise InvalidPromptError(
            f"the prompt {name!r} names {sorted(found)!r}; its stage is filled with {sorted(PLACEHOLDERS[name])!r}"
        )
    return template


def render_prompt(name: PromptName, **values: object) -> str:
    """The text of a prompt, filled in one pass.

    Raises:
        InvalidPromptError: If ``values`` are not exactly the stage's placeholders.
    """
    template = load_prompt(name)
    if values.keys() != PLACEHOLDERS[name]:
        raise InvalidPromptError(
            f"the prompt {name!r} was given {sorted(values)!r}; it takes {sorted(PLACEHOLDERS[name])!r}"
        )
    return template.render(values).strip()


def nonce_for(seed: int, *data: str) -> str:
    """Eight hexadecimal digits for the tags around these data, which the data do not contain.

    They are the same in every run with this seed, so that a journaled reply is found again.
    """
    salt = 0
    while True:
        material = json.dumps([seed, salt, data], ensure_ascii=False).encode("utf-8", "surrogatepass")
        nonce = hashlib.sha256(material).hexdigest()[:8]
        if not any(nonce in text for text in data):
            return nonce
        salt += 1
