"""The version of evenhand."""

__version__ = "0.1.0"
