"""``python -m evenhand``: the same as the ``evenhand`` command."""

import sys

from evenhand.cli import main

sys.exit(main())
