"""HTML pages that need nothing else: they load nothing, send nothing, and run no script but their own."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from functools import cache
from importlib import resources
from typing import Any, Final

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

LARGE: Final = 256 * 1024
"""Characters from which on data are packed."""


def offline_page(package: str, name: str, **values: object) -> str:
    """Return a page of a package's folder ``page``, with its style and script and a policy that allows nothing else.

    Args:
        package: The package with the page.
        name: The name of the page: ``<name>.html.j2``, ``<name>.css`` and ``<name>.js``.
        **values: The values of the template's fields, in addition to ``style``, ``script`` and their hashes.
    """
    style, script = (_part(package, f"{name}.{ending}") for ending in ("css", "js"))
    text: str = _template(package, f"{name}.html.j2").render(
        style=Markup(style),  # noqa: S704 - our own file
        script=Markup(script),  # noqa: S704 - as above
        style_hash=_hash(style),
        script_hash=_hash(script),
        **values,
    )
    return text


def data_element(name: str, data: object) -> Markup:
    """Return a script element that holds data and runs nothing: JSON, or where it is large gzip of it in base64.

    Args:
        name: The id of the element.
        data: Plain JSON.
    """
    text = json.dumps(data, separators=(",", ":"))
    if len(text) < LARGE:
        return Markup('<script type="application/json" id="{}">{}</script>').format(name, within_page(text))
    packed = base64.b64encode(gzip.compress(text.encode(), 6, mtime=0)).decode()
    return Markup('<script type="application/json" id="{}" data-packed>{}</script>').format(name, packed)


def within_page(text: str) -> Markup:
    """Return JSON that cannot end the element that holds it: without the signs that HTML obeys."""
    escaped = text.replace("<", r"\u003c").replace(">", r"\u003e").replace("&", r"\u0026")
    return Markup(escaped)  # noqa: S704 - escaped as JSON, which entities would not be


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@cache
def _part(package: str, name: str) -> str:
    return (resources.files(package) / "page" / name).read_text(encoding="utf-8").replace("\r\n", "\n")


@cache
def _template(package: str, name: str) -> Any:  # noqa: ANN401 - a template
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(_part(package, name))
