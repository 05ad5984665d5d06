"""The files of other tools: told by their own shape, and read as they are there.

=============  =======================================================  ==========
format         what is recognised                                       what it is
=============  =======================================================  ==========
autorubric     criteria with a ``requirement``; a data set; a dump      rubric
autochecklist  items with an ``id``, ``source_method``; ``questions``   checklist
evalassist     ``to_evaluate_field``, options with a ``score``          criterion
evalassist     ``items`` with a ``criterion`` and a weight              rubric
healthbench    ``rubrics`` of ``criterion`` and ``points``              rubric
paperbench     ``requirements`` and ``sub_tasks``                       rubric
prometheus     ``criteria`` and ``score1_description`` …                criterion
wildbench      a row with a ``checklist`` of questions                  checklist
=============  =======================================================  ==========

Logs and recorded preferences of other tools are rows: :func:`~evenhand.data.formats.annotations.read_log`.

unitxt's own criteria are read wherever criteria are (:mod:`evenhand.data.documents`).
"""

from __future__ import annotations

from evenhand.data.formats.autorubric import data_set_rows
from evenhand.data.formats.importing import (
    FORMATS,
    ImportedRows,
    LeftOutWarning,
    format_of,
    import_file,
    translated,
)

__all__ = [
    "FORMATS",
    "ImportedRows",
    "LeftOutWarning",
    "data_set_rows",
    "format_of",
    "import_file",
    "translated",
]
