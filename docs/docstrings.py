"""Docstrings as Markdown: the roles of reStructuredText, with which they refer to each other, are taken out."""

import re
import textwrap

import griffe

ROLE = re.compile(r":\w+:`(?:~[\w.]*\.)?([^`]+)`")
DISPLAYED = re.compile(r"^([ \t]*)\.\. math:: ?(.*\n(?:\1[ \t]+\S.*\n?)*)", re.MULTILINE)


def plain(text):
    """
    >>> plain("A :class:`~evenhand.votes.Vote`, :math:`x^2` and ``code``.")
    'A `Vote`, `x^2` and `code`.'
    """
    shown = DISPLAYED.sub(
        lambda found: textwrap.indent(f"```text\n{textwrap.dedent(found[2]).strip()}\n```\n", found[1]), text
    )
    return ROLE.sub(r"`\1`", shown).replace("``", "`").replace("```", "```").replace("`text\n", "```text\n")


class Plain(griffe.Extension):
    """For every object that is loaded."""

    def on_instance(self, *, obj, **_):
        if obj.docstring:
            obj.docstring.value = plain(obj.docstring.value)
