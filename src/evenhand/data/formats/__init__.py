"""The files of other tools: recognised by their shape, and read as documents or rows of evenhand's own.

=============  =======================================================  ==========
format         what is recognised                                       what it is
=============  =======================================================  ==========
autorubric     criteria with a ``requirement``; a data set; a dump      rubric
autochecklist  items with an ``id``, ``source_method``; ``questions``   checklist
evalassist     ``to_evaluate_field``, options with a ``score``          criterion
healthbench    ``rubrics`` of ``criterion`` and ``points``              rubric
paperbench     ``requirements`` and ``sub_tasks``                       rubric
prometheus     ``criteria`` and ``score1_description`` …                criterion
wildbench      a row with a ``checklist`` of questions                  checklist
=============  =======================================================  ==========

Logs and recorded preferences of other tools are rows: :func:`~evenhand.data.rows.read_log`.

unitxt's own criteria are read wherever criteria are (:mod:`evenhand.data.documents`).
"""
