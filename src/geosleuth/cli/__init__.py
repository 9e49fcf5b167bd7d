"""The command line: one module for each group of commands, loaded when it is asked for; arguments in, request out."""

from .entry import main

__all__ = ["main"]
