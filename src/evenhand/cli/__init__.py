"""The ``evenhand`` command: the verbs and option names of the Python functions, for the shell."""

from evenhand.cli.app import main

__all__ = ["main"]
