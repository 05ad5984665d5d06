"""The version of evenhand."""

__version__ = "0.2.0"
