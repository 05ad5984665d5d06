"""Rubrics and checklists as a person writes them, in YAML or JSON, and as frozen values.

``text`` reads a file or a text to plain data; ``rubrics`` and ``checklists`` say what the data may be; ``fields`` words
what is wrong with them. A document is data: nothing in it names a class or is built.
"""

from evenhand.documents.checklists import checklist_document, read_checklist
from evenhand.documents.rubrics import CRITERION_FIELDS, read_criterion, read_rubric, rubric_document
from evenhand.documents.text import context_mapping, parse_json, plain, read_document, validation_message

__all__ = [
    "CRITERION_FIELDS",
    "checklist_document",
    "context_mapping",
    "parse_json",
    "plain",
    "read_checklist",
    "read_criterion",
    "read_document",
    "read_rubric",
    "rubric_document",
    "validation_message",
]
