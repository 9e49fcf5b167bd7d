"""Modules that take seconds to load, loaded when a test first uses them and not when tests are collected."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

import pytest


class _Later:
    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("_") or attribute == "pytestmark":
            # Plug-ins of pytest ask everything in a test module whether it is theirs.
            raise AttributeError(attribute)
        return getattr(import_module(self._name), attribute)


def later(name: str) -> Any:
    """A module of another package; tests of this file are skipped where it is not installed."""
    if find_spec(name) is None:
        pytest.skip(f"{name} is not installed; it comes with the extra dev", allow_module_level=True)
    return _Later(name)
