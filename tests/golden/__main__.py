"""``python -m tests.golden [NAME …]``: write the golden files anew. Read ``git diff`` before you commit them."""

import sys

from tests.golden.snapshot import RUNS, path_of, snapshot

for name in sys.argv[1:] or RUNS:
    path_of(name).write_text(snapshot(name), encoding="utf-8")
