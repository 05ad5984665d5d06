"""Docstrings as Markdown: the roles of reStructuredText, with which they refer to each other, are taken out."""

import re
import textwrap

import griffe

ROLE = re.compile(r":\w+:`(?:~[\w.]*\.)?([^`]+)`")
DISPLAYED = re.compile(r"^([ \t]*)\.\. math:: ?(.*\n(?:\1[ \t]+\S.*\n?)*)", re.MULTILINE)


def plain(text):
    """Return a docstring as Markdown.

    >>> plain("A :class:`~evenhand.votes.Vote`, :math:`x^2` and ``code``.")
    'A `Vote`, `x^2` and `code`.'
    """
    code = ROLE.sub(r"`\1`", text).replace("``", "`")
    return DISPLAYED.sub(lambda found: textwrap.indent(f"```text\n{found[2].strip()}\n```\n", found[1]), code)


class Plain(griffe.Extension):
    """For every object that is loaded."""

    def on_instance(self, *, obj, **_):
        if obj.docstring:
            obj.docstring.value = plain(obj.docstring.value)
