"""The ``evenhand`` command: the verbs and option names of the Python functions, for the shell."""

from evenhand.cli.command import main

__all__ = ["main"]
