"""evenhand's part in unitxt: its catalog, and criteria, rubrics and checklists as artifacts.

``bases`` is the one module that imports unitxt; read :func:`evenhand.unitxt.loading.load` next.
"""
