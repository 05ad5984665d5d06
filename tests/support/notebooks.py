"""The notebooks of docs/: run in one kernel, one behind the other, each with no name left of the one before.

``python -m tests.support.notebooks`` writes what they print into them.
"""

import os
import tempfile
from copy import deepcopy
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from tests.support.pages import COLUMNS, ROOT

NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
AS_A_STRANGER_HAS_IT = "%reset -f"


def read(path):
    return nbformat.read(path, as_version=4)


def executed(notebooks, folder):
    """The notebooks as they are after a run, their outputs as a reader sees them."""
    done = [deepcopy(each) for each in notebooks]
    cells = [cell for each in done for cell in (new_code_cell(AS_A_STRANGER_HAS_IT), *each.cells)]
    environment = {
        "COLUMNS": str(COLUMNS),
        "EVENHAND_CACHE_DIR": str(folder / "cache"),
        "MPLCONFIGDIR": str(folder),
        "UNITXT_DEFAULT_VERBOSITY": "error",
    }
    before = {name: os.environ.get(name) for name in environment}
    os.environ.update(environment)
    try:
        resources = {"metadata": {"path": str(folder)}}
        client = NotebookClient(new_notebook(cells=cells), timeout=300, kernel_name="python3", resources=resources)
        client.nb.metadata.kernelspec = {"name": "python3", "display_name": "Python 3"}
        client.execute()
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})
    for cell in cells:
        if cell.cell_type == "code":
            cell.outputs = _in_one([_seen(each) for each in cell.outputs if each.get("name") != "stderr"])
            cell.execution_count = None
            cell.metadata = {}
    return done


def _seen(output):
    """An output without the numbers of the run."""
    if output.output_type == "execute_result":
        output.execution_count = None
    return output


def _in_one(outputs):
    """What is printed without anything between as one text: a kernel sends it in as many pieces as it pleases."""
    found = []
    for each in outputs:
        if found and each.output_type == found[-1].output_type == "stream":
            found[-1].text += each.text
        else:
            found.append(each)
    return found


def shown(notebook):
    """What each cell of code shows: texts and HTML as they are, of a picture that there is one."""
    return [[_told(output) for output in cell.outputs] for cell in notebook.cells if cell.cell_type == "code"]


def _told(output):
    if output.output_type == "stream":
        return output.text
    if output.output_type == "error":
        return output.ename
    return {kind: text for kind, text in output.data.items() if not kind.startswith("image/")} | {
        kind: True for kind in output.data if kind.startswith("image/")
    }


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        for path, notebook in zip(NOTEBOOKS, executed([*map(read, NOTEBOOKS)], Path(place)), strict=True):
            nbformat.write(notebook, path)
