"""The prompts: one Markdown (Jinja) file per stage, rendered in one pass.

Data are never parsed as templates, so braces in an answer stay braces. Every data slot stands between tags that carry
a nonce, which the data cannot know (:func:`nonce_for`). A user's own prompt (:func:`render_own_prompt`) replaces what
the judge reads, not the tags around the data and not the form of the reply.

A file has sections, each begun by a line such as ``{# material #}``. What stands before ``material`` is the same for
all rows of a run, byte for byte, and knows neither their texts nor their nonce, so that a server that keeps the
beginnings of prompts (a prefix cache) reads it once. What the questions about one row differ in may stand at the very
end instead (:data:`Behind`), so that they share the row's texts as well.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Hashable, Iterable, Mapping
from functools import cache, lru_cache
from importlib import resources
from itertools import pairwise
from typing import Any, Literal, NamedTuple

from jinja2 import (
    Environment,
    FunctionLoader,
    StrictUndefined,
    Template,
    TemplateError,
    TemplateSyntaxError,
    UndefinedError,
    meta,
)
from jinja2.sandbox import ImmutableSandboxedEnvironment
from pydantic_core import to_json

from evenhand.errors import InvalidPromptError, did_you_mean

Section = Literal["criterion", "verdicts"]
Behind = tuple[Section, ...]
"""The sections at the end of a prompt, behind the judged material."""

FENCE_WORDS = "tags that end in"
"""The words that mark the code of a prompt's tags; the text behind them must not hold these words."""

Subject = Literal["response", "pair", "candidates", "sheet"]
"""The subject of a prompt: one response, two, the best of several, or one response and many questions."""

FIRST_PROMPTS: dict[tuple[Subject, str], tuple[str, ...]] = {
    ("response", "assessment"): ("direct_assessment",),
    ("response", "one_step"): ("direct_one_step", "checklist_item_reasoned"),
    ("response", "verdict"): ("direct_verdict", "checklist_item"),
    ("pair", "assessment"): ("comparison_assessment",),
    ("pair", "one_step"): ("comparison_one_step",),
    ("pair", "verdict"): ("comparison_verdict",),
    ("candidates", "assessment"): ("best_of_assessment",),
    ("candidates", "one_step"): (
        "best_of_evaluate_first",
        "best_of_select",
        "best_of_avoid_order_bias",
        "best_of_grade",
    ),
    ("candidates", "verdict"): ("best_of_verdict",),
    ("sheet", "sheet"): ("rubric_sheet", "checklist_sheet"),
}
"""The prompts with which a judge can be addressed first, the default first."""

PROMPT_NAMES = (
    *dict.fromkeys(name for names in FIRST_PROMPTS.values() for name in names),
    *("sheet_reask", "selection", "reask", "summary"),
)

_OWN_QUESTION = frozenset({"context", "guidelines", "criterion_name", "criterion_description", "options"})

OWN_PLACEHOLDERS: dict[Subject, frozenset[str]] = {
    "response": _OWN_QUESTION | {"response"},
    "pair": _OWN_QUESTION | {"responses"},
    "candidates": _OWN_QUESTION | {"responses"},
    "sheet": frozenset({"response", "context", "guidelines", "items"}),
}
"""The placeholders of a user's own prompt, with one for each context (``context_question``); those of the judged
material are required."""


@cache
def prompt_sources() -> bytes:
    """Return the texts of all our prompts, one after the other, as they stand in JSON."""
    held = sorted(resources.files(__package__).iterdir(), key=lambda file: file.name)
    return to_json("".join(file.read_text(encoding="utf-8") for file in held if file.name.endswith(".md")))


_INCLUDED = re.compile(r'\{% include "([^"]+)" %\}\n?')  # with the line's end, as trim_blocks has it


@cache
def whole_source(name: str) -> str:
    """Return the text of a template (``selection.md``) with the parts that it includes in their places."""
    source = resources.files(__name__).joinpath(name).read_text(encoding="utf-8")
    return _INCLUDED.sub(lambda included: whole_source(included[1]), source)


_AS_WRITTEN: Mapping[str, Any] = {
    "undefined": StrictUndefined,
    "trim_blocks": True,
    "lstrip_blocks": True,
    "keep_trailing_newline": True,
    "autoescape": False,  # the output is a prompt, not HTML
}
_ENVIRONMENT = Environment(loader=FunctionLoader(whole_source), **_AS_WRITTEN)  # noqa: S701 - as above
_SANDBOX = ImmutableSandboxedEnvironment(loader=FunctionLoader(whole_source), **_AS_WRITTEN)
"""The environment for users' templates: our own skip its checks, which are the slowest part of a prompt."""


def _placeholders_in(source: str) -> frozenset[str]:
    return frozenset(meta.find_undeclared_variables(_SANDBOX.parse(source)))


class _Loaded(NamedTuple):
    """The template of a stage, in two parts.

    Attributes:
        beginning: The part that all rows of a run share.
        common: The placeholders of it.
        rest: The judged material, and the text behind it.
        own: The placeholders of that.
    """

    beginning: Template
    common: tuple[str, ...]
    rest: Template
    own: tuple[str, ...]


_SECTION = re.compile(r"^\{# (\w+) #\}\n", re.MULTILINE)


@cache
def load_prompt(name: str, behind: Behind = ()) -> _Loaded:
    """Return the template of a stage."""
    first, *marked = _SECTION.split(whole_source(f"{name}.md"))
    sections = list(zip(marked[::2], marked[1::2], strict=True))
    place = next((place for place, (section, _) in enumerate(sections) if section == "material"), len(sections))
    before = [text for section, text in sections[:place] if section not in behind]
    moved = [text for section, text in sections[:place] if section in behind]
    after = [*(text for _, text in sections[place:]), *(["\n"] if moved else []), *moved]
    parts = "".join([first, *before]), "".join(after)
    (beginning, common), (rest, own) = (
        (_ENVIRONMENT.from_string(part), tuple(sorted(_placeholders_in(part)))) for part in parts
    )
    return _Loaded(beginning, common, rest, own)


@lru_cache(maxsize=256)
def _beginning(name: str, behind: Behind, values: tuple[Hashable, ...]) -> str:
    prompt = load_prompt(name, behind)
    return prompt.beginning.render(zip(prompt.common, values, strict=True)).lstrip()


def fill_prompt(name: str, values: Mapping[str, Any], behind: Behind = ()) -> str:
    """Return the text of a prompt, filled with those of the values that it takes."""
    prompt = load_prompt(name, behind)
    beginning = _beginning(name, behind, tuple([values[placeholder] for placeholder in prompt.common]))
    return (beginning + prompt.rest.render({placeholder: values[placeholder] for placeholder in prompt.own})).rstrip()


@cache
def describes_options(prompt: str) -> bool:
    """Return whether a prompt of ours, by its name, or a user's own text lists the options."""
    return "options" in _placeholders_in(whole_source(f"{prompt}.md") if is_prompt_name(prompt) else prompt)


def is_prompt_name(prompt: str) -> bool:
    """Return whether a prompt is one of ours, and no text of the user's own."""
    return prompt in PROMPT_NAMES


@lru_cache(maxsize=64)
def _compiled(text: str) -> Template:
    return _SANDBOX.from_string(text)


def check_first_prompt(prompt: str, subject: Subject, stage: str) -> None:
    """Check the name of a prompt, or a user's own text, before anything is asked.

    Raises:
        InvalidPromptError: If the prompt is for something else; or the text is not a template, names another
            placeholder, or leaves out what is judged.
    """
    if not is_prompt_name(prompt):
        _check_own_prompt(prompt, subject)
    elif prompt not in FIRST_PROMPTS[subject, stage]:
        raise InvalidPromptError(
            f"the prompt {prompt!r} does not fit here, where a judge is asked about a {subject} in the stage "
            f"{stage!r}; accepted: {', '.join(map(repr, FIRST_PROMPTS[subject, stage]))}, or a text of your own"
        )


def _check_own_prompt(text: str, subject: Subject) -> None:
    accepted = OWN_PLACEHOLDERS[subject]
    try:
        found = _placeholders_in(text)
        unknown = sorted(name for name in found - accepted if not name.startswith("context_"))
        missing = sorted((accepted & {"response", "responses", "items"}) - found)
        if unknown:
            raise InvalidPromptError(
                f"the prompt names {unknown[0]!r}, which is not one of its placeholders. "
                + did_you_mean(unknown[0], accepted)
            )
        if missing:
            shown = ", ".join(f"{{{{ {name} }}}}" for name in sorted(accepted))
            raise InvalidPromptError(
                f"the prompt {text[:80]!r} does not name {{{{ {missing[0]} }}}}. A text may name {shown}; the prompts "
                f"that have a name are {', '.join(PROMPT_NAMES)}"
            )
        _compiled(text).render(dict.fromkeys(accepted | found, "text"))
    except TemplateSyntaxError as error:
        raise InvalidPromptError(f"the prompt is not a valid template: line {error.lineno}: {error}") from error
    except (TemplateError, TypeError, ValueError) as error:
        raise InvalidPromptError(f"the prompt cannot be filled: {error}; every placeholder is one text") from error


_PARTS: Mapping[str, str] = {
    "response": "_response.md",
    "responses": "_responses.md",
    "context": "_context.md",
    "options": "_options.md",
    "items": "_items.md",
}
"""The placeholders of a user's own prompt that stand for a part of ours; the others are texts."""


def render_own_prompt(text: str, subject: Subject, stage: str, values: Mapping[str, Any]) -> str:
    """Return a user's own prompt, filled in one pass.

    The responses and every context stand between tags, as in our prompts; what follows the text says in which form to
    reply, so that the reply can be read.
    """
    parts = {**_PARTS, "responses": "_candidates.md"} if subject == "candidates" else _PARTS
    blocks = {name: _part(parts[name], values) if name in parts else values[name] for name in OWN_PLACEHOLDERS[subject]}
    for name, said in values["context"].items():
        blocks[f"context_{name}"] = _part("_context.md", {**values, "context": {name: said}})
    try:
        body = _compiled(text).render(blocks).strip()
    except UndefinedError as error:
        raise InvalidPromptError(
            f"the prompt names a context that is not shown ({error}): name its column with context_fields"
        ) from error
    return _ENVIRONMENT.get_template("_own.md").render({**values, "body": body, "stage": stage}).strip()


def _part(name: str, values: Mapping[str, object]) -> str:
    return _ENVIRONMENT.get_template(name).render(values).strip()


def nonce_for(seed: int, *data: str, others: Iterable[str] = ()) -> str:
    """Return eight hexadecimal digits for the tags around these data, which the data do not contain in any form.

    They are the same in every run with this seed, so that a journaled reply is found again. Who knows seed and data can
    compute them, and could try data until they hold their own digits in capitals, in other forms of Unicode or with
    something in between, which a judge may take for the same: such data get others.

    Args:
        seed: The seed of the run.
        data: The texts between the tags.
        others: The other texts of the prompt; they do not contain the digits either.
    """
    written = [text.encode("utf-8", "surrogatepass") for text in data]
    material = b"".join(part for text in written for part in (b"%d:" % len(text), text))
    text = "\n".join((*data, *others))
    plain = text if text.isascii() else unicodedata.normalize("NFKC", text)
    shown = plain.lower().encode("ascii", "ignore").translate(None, _NO_DIGITS)  # all hexadecimal digits
    salt = 0
    while True:
        nonce = hashlib.blake2b(material, digest_size=4, key=b"%d %d" % (seed, salt)).hexdigest()
        if nonce.encode() not in shown:
            return nonce
        salt += 1


_NO_DIGITS = bytes(byte for byte in range(256) if byte not in b"0123456789abcdef")


class PromptTexts(NamedTuple):
    """The texts between the tags of a prompt: name -> context, and the responses in the order shown, each once."""

    context: Mapping[str, str]
    responses: tuple[str, ...]


_FENCE = f"pairs of {FENCE_WORDS} the same code"
_SAID_LAST = re.compile(rf"^Nothing between {FENCE_WORDS} ([0-9a-f]{{8}}) is", re.MULTILINE)


_TAG_OF_TEXT = re.compile(r"context|response|(?:response|option)-\w+")
_CONTEXT_NAME = re.compile(r"Context, ([^\n]*):\n\Z")


def shown_texts(prompt: str) -> PromptTexts | None:
    """Read the texts in a sent prompt out of its tags: the data cannot hold their nonce.

    Args:
        prompt: The first message of a stage that shows what is judged.

    Returns:
        The texts as they were shown; None if the prompt has no such tags.
    """
    fence = prompt.find(_FENCE)
    nonces = [] if fence < 0 else _SAID_LAST.findall(prompt, fence)  # the last one stands behind the data
    if not nonces:
        return None
    nonce = nonces[-1]
    context: dict[str, str] = {}
    responses: dict[str, str] = {}
    parts = prompt.split(f"-{nonce}>")
    for before, held in pairwise(parts):
        head, _, tag = before.rpartition("<")
        end = f"\n</{tag}"
        if not _TAG_OF_TEXT.fullmatch(tag) or not held.startswith("\n") or not held[1:].endswith(end):
            continue
        text = held[1 : -len(end)]
        if tag != "context":
            responses[tag] = text
        elif name := _CONTEXT_NAME.search(head):
            context[name[1]] = text
    return PromptTexts(context, tuple(responses.values()))
